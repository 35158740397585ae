/* Parts of recommend called one by one, with a method whose errors the test sets. */
#include <math.h>

#include "experiments/system/clock.h"
#include "experiments/studies/recommend/candidates.h"
#include "tests/support/recommends.h"

/* The relative error of the method below on its next array. */
static double (*error_of_next)(const struct array *a);

static enum status wrong(const struct task *t, struct problem *p)
{
    double sum = 0;
    (void)p;
    for (size_t i = 0; i < t->of->in.n; i++)
        sum += array_get(&t->of->in, i);
    sum *= 1 + error_of_next(&t->of->in);
    array_encode(&t->out, 0, 1, &sum);
    return STATUS_OK;
}

static struct method wrong_method = {.name = "sum/wrong",
                                     .operation = &operation_sum,
                                     .promise = PROMISE_RUN_TO_RUN,
                                     .pairs = {FORMAT_PAIRS_ALL},
                                     .bound = THEOREM_NONE,
                                     .cpu = wrong};

/* One candidate, and files for its rows. */
struct asked {
    uint64_t seed;
    struct axes axes;
    struct plan plan;
    struct results results;
    struct csv_file summary, times;
    struct source source;
    struct recommend_candidate candidate[2];
    struct recommend_report r;
};

static void ask_of(struct asked *a, const struct method *m, const struct array *array)
{
    const struct data data = {.name = "few", .array = *array};
    *a = (struct asked){0};
    a->axes.seed = (struct numbers){.item = &a->seed, .count = 1};
    a->plan.axes = &a->axes;
    cr_assert_eq(source_data(&a->source, &data, array->n, NULL), STATUS_OK);
    cr_assert_eq(results_open(&a->results, in_folder("results.csv"), 0, COLUMNS_OF_SUMS, NULL),
                 STATUS_OK);
    cr_assert_eq(csv_file_open(&a->summary, in_folder("summary.csv"), 0, summary_column,
                               SUMMARY_COLUMNS, NULL),
                 STATUS_OK);
    cr_assert_eq(
        csv_file_open(&a->times, in_folder("times.csv"), 0, times_column, TIMES_COLUMNS, NULL),
        STATUS_OK);
    for (size_t i = 0; i < 2; i++)
        a->candidate[i] = (struct recommend_candidate){.method = m, .accumulator = FP64};
    a->r = (struct recommend_report){.request = {.plan = &a->plan,
                                                 .tolerance = {.limit = 0x1p-10, .text = "2^-10"},
                                                 .promise = PROMISES,
                                                 .confidence = 0.99,
                                                 .seconds = 1000,
                                                 .results = &a->results,
                                                 .summary = &a->summary,
                                                 .times = &a->times},
                                     .source = &a->source,
                                     .candidate = a->candidate,
                                     .count = 1,
                                     .chosen = SIZE_MAX,
                                     .cheaper = SIZE_MAX};
}

static void answer_of(struct asked *a)
{
    results_close(&a->results, NULL);
    csv_file_close(&a->summary, NULL);
    csv_file_close(&a->times, NULL);
    source_free(&a->source);
}

static double few[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const struct array few_array = {FP64, 8, few};

/* Errors by the number of the array. */
static double scripted[64];
static size_t next_array;

static double next_error(const struct array *a)
{
    (void)a;
    return scripted[next_array++];
}

static void begin_script(struct asked *a)
{
    memset(scripted, 0, sizeof scripted);
    next_array = 0;
    error_of_next = next_error;
    ask_of(a, &wrong_method, &few_array);
}

static uint64_t in_an_hour(void)
{
    return clock_ns() + UINT64_C(3600000000000);
}

/* An adversarial array breaks it, then another one, and at last a drawn one: this is told. Only
 * arrays that all candidates were tried on count in `error`. */
Test(recommend_units, an_own_break_replaces_an_adversarial_one, .init = make_folder,
     .fini = remove_folder)
{
    struct asked a;
    begin_script(&a);
    const struct recommend_candidate *c = &a.candidate[0];
    scripted[0] = 0x1p-12;
    scripted[3] = 0x1p-11;
    scripted[13] = 0x1p-5; /* of one sign */
    scripted[14] = 0x1p-4;
    scripted[16] = 0x1p-3; /* drawn for it alone */
    cr_assert_eq(recommend_try_common(&a.r, in_an_hour(), NULL), STATUS_OK);
    cr_expect(a.r.common == 15 && c->tried == 15 && c->drawn == 8 && c->drawn_held == 8,
              "%zu, %zu, %llu", a.r.common, c->tried, (unsigned long long)c->drawn_held);
    cr_expect(c->broken && c->broke.kind == RECOMMEND_ONE_SIGN && c->broke.error == 0x1p-5);
    cr_expect_str_eq(c->broke.input, "few:worst=one-sign");
    cr_expect(c->error == 0x1p-4 && c->most == 0x1p-4 && c->data_error == 0x1p-12);
    cr_expect_str_eq(c->worst, "few:worst=one-sign,largest-first");
    a.r.draws_wanted = 30;
    cr_assert_eq(recommend_try_own(&a.r, &a.candidate[0], 3600, NULL), STATUS_OK);
    cr_expect(c->tried == 17 && c->drawn == 10 && c->drawn_held == 9);
    cr_expect(c->broke.kind == RECOMMEND_SHUFFLE && c->broke.draw == 5 &&
              c->broke.error == 0x1p-3 && c->broke.result == 40.5 && c->broke.exact == 36);
    cr_expect_str_eq(c->broke.input, "few:shuffle=5");
    cr_expect(c->error == 0x1p-4 && c->most == 0x1p-3);
    answer_of(&a);
}

/* The first break by the user's own arrays stays, whatever breaks it later. */
Test(recommend_units, the_first_own_break_stays, .init = make_folder, .fini = remove_folder)
{
    struct asked a;
    begin_script(&a);
    const struct recommend_candidate *c = &a.candidate[0];
    scripted[5] = 0x1p-5;
    scripted[6] = 0x1p-4;
    scripted[13] = 0x1p-3;
    cr_assert_eq(recommend_try_common(&a.r, in_an_hour(), NULL), STATUS_OK);
    cr_expect(c->broke.kind == RECOMMEND_RESAMPLE && c->broke.draw == 1 &&
              c->broke.error == 0x1p-5);
    cr_expect_str_eq(c->broke.input, "few:resample=1");
    cr_expect(c->drawn_held == 6 && c->error == 0x1p-3 && c->data_error == 0);
    answer_of(&a);
}

/* Out and back only where errors are relative to sum|x|; nothing adversarial where that was
 * declined; past the deadline the data alone. */
Test(recommend_units, which_arrays_all_are_tried_on, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        enum recommend_quantity quantity;
        bool without, late;
        size_t due;
    } cases[] = {{RECOMMEND_REL, false, false, 15},
                 {RECOMMEND_BACKWARD, false, false, 16},
                 {RECOMMEND_ULP, true, false, 13},
                 {RECOMMEND_BACKWARD, true, false, 13},
                 {RECOMMEND_REL, false, true, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct asked a;
        begin_script(&a);
        a.r.request.tolerance.quantity = cases[i].quantity;
        a.r.request.no_adversarial = cases[i].without;
        cr_assert_eq(recommend_try_common(&a.r, cases[i].late ? 0 : in_an_hour(), NULL), STATUS_OK);
        cr_expect(a.r.common == cases[i].due && next_array == cases[i].due, "%zu: %zu", i,
                  a.r.common);
        answer_of(&a);
    }
}

/* What not all were tried on counts in `most`, not in `error`. */
Test(recommend_units, tried_further_alone, .init = make_folder, .fini = remove_folder)
{
    struct asked a;
    begin_script(&a);
    const struct recommend_candidate *c = &a.candidate[0];
    scripted[0] = 0x1p-12;
    scripted[2] = 0x1p-11;
    cr_assert_eq(recommend_try_common(&a.r, 0, NULL), STATUS_OK);
    a.r.draws_wanted = 3;
    cr_assert_eq(recommend_try_further(&a.r, &a.candidate[0], 3600, NULL), STATUS_OK);
    cr_expect(c->tried == 1 + 4 + 2 + 3 && c->drawn == 3 && c->drawn_held == 3, "%zu", c->tried);
    cr_expect(c->error == 0x1p-12 && c->most == 0x1p-11);
    cr_expect_str_eq(c->worst, "few");
    answer_of(&a);
}

/* Rows that cannot be written end the whole: it is not the candidate that failed. */
Test(recommend_units, unwritable_rows_end_it, .init = make_folder, .fini = remove_folder)
{
    for (int summary = 0; summary <= 1; summary++) {
        struct asked a;
        struct problem p = {0};
        begin_script(&a);
        struct csv_file *file = summary ? &a.summary : &a.results.file;
        close(file->fd);
        file->fd = -1;
        cr_expect_eq(recommend_try_common(&a.r, in_an_hour(), &p), STATUS_DATA, "%d", summary);
        cr_expect_not(a.candidate[0].failed);
        answer_of(&a);
    }
}

/* A method that promises nothing is run three times, and its worst result counts. */
Test(recommend_units, the_worst_of_three_runs, .init = make_folder, .fini = remove_folder)
{
    struct asked a;
    struct recommend_sample s;
    struct recommend_outcome o;
    begin_script(&a);
    wrong_method.promise = PROMISE_NONE;
    scripted[0] = 0x1p-12;
    scripted[1] = 0x1p-5;
    scripted[2] = 0x1p-11;
    cr_assert_eq(
        recommend_sample_make(&s, &a.source, RECOMMEND_DATA, 0, 8, 0, (struct device){0}, NULL),
        STATUS_OK);
    cr_assert_eq(recommend_run(&a.r, &a.candidate[0], &s, &o, NULL), STATUS_OK);
    cr_expect(next_array == 3 && o.error == 0x1p-5 && o.result == 36 + 36 * 0x1p-5, "%zu, %g",
              next_array, o.error);
    recommend_sample_free(&s);
    answer_of(&a);
}

static enum status failing(const struct task *t, struct problem *p)
{
    (void)t;
    return problem(p, STATUS_DEVICE, "nothing came of it");
}

/* What fails has no error, not an error of 0; its row has the seed of the input. */
Test(recommend_units, a_failed_run, .init = make_folder, .fini = remove_folder)
{
    struct asked a;
    struct input in;
    struct source made;
    struct recommend_sample s;
    struct recommend_outcome o = {0};
    begin_script(&a);
    wrong_method.cpu = failing;
    cr_assert_eq(input_parse(&in, "uniform", NULL), STATUS_OK);
    cr_assert_eq(source_generated(&made, &in, FP64, 10, 12345, 0, NULL), STATUS_OK);
    cr_assert_eq(source_load(&made, NULL), STATUS_OK);
    cr_assert_eq(
        recommend_sample_make(&s, &made, RECOMMEND_DATA, 0, 10, 0, (struct device){0}, NULL),
        STATUS_OK);
    cr_expect_eq(recommend_run(&a.r, &a.candidate[0], &s, &o, NULL), STATUS_DEVICE);
    cr_expect(isnan(o.error), "%g", o.error);
    recommend_sample_free(&s);
    source_free(&made);
    answer_of(&a);
    struct rows rows = rows_read(folder, false);
    cr_assert_eq(rows.count, 1);
    cr_expect_str_eq(case_field(&rows, 0, CASE_SEED), "12345");
    cr_expect_str_eq(field_of(&rows, 0, RESULTS_STATUS), "error");
    rows_free(&rows);
}

/* Growth: the lengths that were tried, in order; the method breaks from one of them on. */
enum { LENGTHS = 1000, FAR = 40000 };
static size_t tried[LENGTHS], lengths, breaks_from, stop_after;
static volatile sig_atomic_t stop;

static double error_by_length(const struct array *a)
{
    stop = a->n == stop_after || a->n > FAR || lengths + 1 == LENGTHS;
    tried[lengths++] = a->n;
    return a->n >= breaks_from;
}

/* Of n ones. */
static enum status grow(struct asked *a, size_t n, size_t breaks, size_t stopped)
{
    static double ones[300];
    for (size_t i = 0; i < n; i++)
        ones[i] = 1;
    error_of_next = error_by_length;
    lengths = 0;
    stop = 0;
    breaks_from = breaks;
    stop_after = stopped;
    ask_of(a, &wrong_method, &(struct array){FP64, n, ones});
    a->r.chosen = 0;
    a->r.request.stop = &stop;
    return recommend_grow(&a->r, in_an_hour(), NULL);
}

static bool was_tried(size_t n)
{
    for (size_t i = 0; i < lengths; i++)
        if (tried[i] == n)
            return true;
    return false;
}

/* Lengths next to the data's, both neighbours of edges, no length twice, none beyond a break. */
Test(recommend_units, lengths_of_growth, .init = make_folder, .fini = remove_folder, .timeout = 60)
{
    static const size_t data_n[] = {100, 256, 300};
    for (size_t k = 0; k < 3; k++)
        for (size_t limit = 5000; limit < 5003; limit++) {
            struct asked a;
            size_t shortest = SIZE_MAX, others = 0, n = data_n[k];
            cr_assert_eq(grow(&a, n, limit, 0), STATUS_OK);
            cr_expect(a.r.growth.holds_to == limit - 1 && a.r.growth.breaks_at == limit,
                      "%zu, %zu: %llu", n, limit, (unsigned long long)a.r.growth.holds_to);
            cr_expect_eq(a.r.growth.lengths, lengths);
            for (size_t i = 0; i < lengths; i++) {
                cr_expect(tried[i] > n && tried[i] < shortest, "%zu", tried[i]);
                shortest = tried[i] >= limit && tried[i] < shortest ? tried[i] : shortest;
                for (size_t j = 0; j < i; j++)
                    cr_expect(tried[j] != tried[i], "%zu twice", tried[i]);
                others += tried[i] > n + 64 && (tried[i] + 1) % 256 > 2;
            }
            for (size_t i = n + 1; i <= n + 64; i++)
                cr_expect(was_tried(i), "%zu", i);
            for (size_t edge = 512; edge <= (n / 256 + 16) * 256; edge += 256)
                cr_expect(was_tried(edge - 1) && was_tried(edge) && was_tried(edge + 1), "%zu",
                          edge);
            cr_expect(others > 40, "%zu", others);
            answer_of(&a);
        }
}

/* What holds below a longer length that held does not bring the end nearer. */
Test(recommend_units, holds_to_the_longest, .init = make_folder, .fini = remove_folder,
     .timeout = 60)
{
    struct asked a;
    cr_expect_eq(grow(&a, 100, 5000, 768), STATUS_INTERRUPTED);
    cr_expect(a.r.growth.holds_to == 4999 && a.r.growth.breaks_at == 5000, "%llu",
              (unsigned long long)a.r.growth.holds_to);
    answer_of(&a);
}

/* Between the longest that held and the shortest that broke nothing is known. */
Test(recommend_units, holds_to_what_was_tried, .init = make_folder, .fini = remove_folder,
     .timeout = 60)
{
    struct asked a;
    cr_expect_eq(grow(&a, 100, 5000, 8191), STATUS_INTERRUPTED);
    cr_expect(a.r.growth.holds_to == 4097 && a.r.growth.breaks_at == 8191, "%llu",
              (unsigned long long)a.r.growth.holds_to);
    answer_of(&a);
}

/* Each candidate is told its own time, and the raw read's as times.csv has it. */
Test(recommend_units, times, .init = make_folder, .fini = remove_folder)
{
    struct asked a;
    float ones[1000];
    for (size_t i = 0; i < 1000; i++)
        ones[i] = 1;
    ask_of(&a, method_named("sum/tiled"), &(struct array){FP32, 1000, ones});
    a.r.request.seconds = 0;
    a.r.count = 2;
    a.candidate[0].accumulator = FP32;
    cr_assert_eq(recommend_time(&a.r, NULL), STATUS_OK);
    cr_assert_eq(a.r.count, 2, "%zu", a.r.count);
    const struct recommend_candidate c[2] = {a.candidate[0], a.candidate[1]};
    answer_of(&a);
    struct rows rows = rows_of(folder, "times", times_column, TIMES_COLUMNS);
    cr_assert_eq(rows.count, 3);
    double raw = 1000 * strtod(field_of(&rows, 0, TIMES_TIME), NULL);
    for (size_t i = 0; i < 2; i++) {
        double own = 1000 * strtod(field_of(&rows, i + 1, TIMES_TIME), NULL);
        cr_expect(own > 0 && fabs(c[i].time_ns / own - 1) < 1e-4 &&
                      fabs(c[i].raw_ns / raw - 1) < 1e-4,
                  "%g, %g, %g, %g", own, c[i].time_ns, raw, c[i].raw_ns);
    }
    rows_free(&rows);
}
