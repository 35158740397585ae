/* `check --batch`: all numbers of rows that are asked for are tried while there is time, which of
 * them gave the same bits is told exactly, and nothing is said of those that were not tried. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "experiments/check/batches.h"
#include "experiments/check/pace.h"
#include "experiments/check/report.h"
#include "reference/base/hash.h"
#include "tests/support/check_found.h"
#include "tests/support/study.h"

static enum status as(const char *name, const struct task *t, struct problem *p)
{
    return method_named(name)->cpu(t, p);
}

static struct method subject_like(const char *name,
                                  enum status (*cpu)(const struct task *, struct problem *))
{
    struct method m = *method_named(name);
    m.name = "subject";
    m.cpu = cpu;
    return m;
}

/* Of this list alone, in fp32; 12 columns of 40 terms, or 40 rows of 40. */
static struct check_request asking(const struct method *m, const char *list, double seconds)
{
    static uint64_t n;
    static struct gemm_shape shape = {.m = 1, .n = 12, .k = 40};
    static struct input symmetric;
    struct request words = {0};
    struct problem p = {0};
    struct check_request r = request_for(m, seconds);
    ask(&words, (study_words){{"batch", list}, {"storage", "fp32"}, {NULL}});
    cr_assert(check_read_batches(&r, &words, &p) == STATUS_OK, "%s", p.text);
    request_free(&words);
    cr_assert(input_parse(&symmetric, "symmetric", &p) == STATUS_OK);
    r.pairs = (struct pairs){{{FP32, FP32}}, 1};
    r.input = &symmetric;
    r.inputs = 1;
    r.beside = m->beside;
    if (m->operation == &operation_gemm) {
        n = gemm_elements(&shape);
        r.setting.shape = &shape;
        r.setting.shapes = 1;
    } else {
        static struct layout row = {LAYOUT_ROW, 0, "row"};
        static uint64_t rows = 40;
        n = 1600;
        r.setting.layout = &row;
        r.setting.layouts = 1;
        r.setting.rows = (struct numbers){1, &rows};
    }
    r.n = (struct numbers){1, &n};
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r.tried[kind] = kind == CHECK_BATCH;
    return r;
}

static struct text said(const struct check_report *report)
{
    struct text text = {0};
    check_text(&text, report, "check", true);
    cr_assert(text_string(&text));
    return text;
}

static void expect_words(const struct check_report *report, const char *words)
{
    struct text text = said(report);
    cr_expect(strstr(text_string(&text), words), "no '%s' in:\n%s", words, text_string(&text));
    text_free(&text);
}

/* The first table's ranges: "1..15 A 15/15; ...". */
static void expect_ranges(const struct check_report *report, const char *ranges)
{
    struct text text = {0};
    check_batches_cell(&text, report);
    const char *all = text_string(&text), *from = all ? strstr(all, ": ") : NULL;
    const size_t length = strlen(ranges);
    cr_expect(from && strncmp(from + 2, ranges, length) == 0 &&
                  (!from[2 + length] || from[2 + length] == ' '),
              "found '%s', expected '%s'", all, ranges);
    text_free(&text);
}

/* --- what keeps its bits --- */

/* Every method that promises it survives every number; none is left out. */
Test(check_batches, every_number_is_tried)
{
    static const char *const name[] = {"gemm/tiled", "gemm/serial", "rows/tiled", "rows/exact"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct check_request r = asking(method_named(name[i]), "1..140,512,1000", 60);
        struct check_report report = checked(&r);
        struct check_rung is = check_rung(&report, PROMISE_BATCH_INVARIANT);
        cr_expect(is.state == CHECK_KEPT && is.attempts >= 141 && is.batches >= 142,
                  "%s: %s in %zu attempts, %zu batches: %s", name[i], check_state_name[is.state],
                  (size_t)is.attempts, is.batches, is.reason);
        expect_ranges(&report, "1..1000 A 142/142");
        expect_words(&report, "all 142 numbers of rows gave the same bits\n");
        expect_words(&report, " on cpu, batches of 142 numbers of rows from 1 to 1000: ");
        check_batches_free(&r);
    }
}

/* --- switches --- */

static size_t low, high; /* from so many on, to so many, another kernel runs */

static bool other_kernel(size_t rows)
{
    return rows >= low && rows <= high;
}

static enum status minds_m(const struct task *t, struct problem *p)
{
    return as(other_kernel(t->of->gemm.m) ? "gemm/tiled" : "gemm/serial", t, p);
}

static enum status minds_rows(const struct task *t, struct problem *p)
{
    return as(other_kernel(t->of->bins) ? "rows/serial" : "rows/tiled", t, p);
}

static const struct {
    const char *like;
    enum status (*cpu)(const struct task *, struct problem *);
} lies[] = {{"gemm/tiled", minds_m}, {"rows/tiled", minds_rows}};

/* Only the two numbers, as the command asks for them: the same bits. */
static void show_again(const struct check_request *asked, const struct check_report *report)
{
    const struct check_break *b = &report->tried[CHECK_BATCH].witness;
    char list[64];
    char *command = check_command(report, CHECK_BATCH, "check");
    const char *words = command ? strstr(command, "--batch ") : NULL;
    cr_assert(words && sscanf(words, "--batch %63[0-9,]", list) == 1, "%s", command);
    free(command);
    struct check_request r = asking(asked->method, list, 60);
    struct check_report again = checked(&r);
    const struct check_break *is = &again.tried[CHECK_BATCH].witness;
    cr_expect(again.tried[CHECK_BATCH].broken > 0 && is->bits[0] == b->bits[0] &&
                  is->bits[1] == b->bits[1] && is->index == b->index,
              "%s: other bits", list);
    check_batches_free(&r);
}

static void expect_switch(size_t from, size_t to, const char *list, const char *ranges,
                          size_t least)
{
    low = from;
    high = to;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const struct method m = subject_like(lies[i].like, lies[i].cpu);
        struct check_request r = asking(&m, list, 60);
        struct check_report report = checked(&r);
        char words[96];
        cr_expect_eq(check_rung(&report, PROMISE_BATCH_INVARIANT).state, CHECK_BROKEN);
        expect_ranges(&report, ranges);
        cr_assert(r.batches->tables > 0);
        const struct batch_table *t = &r.batches->table[0];
        cr_expect(t->least[0] == 1 && t->least[1] == least && t->unsteady == 0,
                  "%s: %zu and %zu, unsteady at %zu", lies[i].like, t->least[0], t->least[1],
                  t->unsteady);
        snprintf(words, sizeof words, "smallest pair that differs: 1 and %zu rows\n", least);
        expect_words(&report, words);
        expect_witness(&report, CHECK_BATCH, 10000);
        snprintf(words, sizeof words,
                 m.operation == &operation_gemm ? " of %zux12x40" : " of %zu rows", least);
        cr_expect(strstr(report.tried[CHECK_BATCH].witness.is[1], words), "%s",
                  report.tried[CHECK_BATCH].witness.is[1]);
        show_again(&r, &report);
        check_batches_free(&r);
    }
}

/* Wherever another kernel begins and ends, the ranges say it exactly. */
Test(check_batches, switches_are_found_exactly)
{
    expect_switch(2, SIZE_MAX, "1..40", "1..1 A 1/1; 2..40 B 39/39", 2);
    expect_switch(16, SIZE_MAX, "1..40", "1..15 A 15/15; 16..40 B 25/25", 16);
    expect_switch(33, 39, "1..64", "1..32 A 32/32; 33..39 B 7/7; 40..64 A 25/25", 33);
    expect_switch(64, 64, "1..100", "1..63 A 63/63; 64..64 B 1/1; 65..100 A 36/36", 64);
    expect_switch(1000, 1003, "1..16,990..1010",
                  "1..999 A 26/26; 1000..1003 B 4/4; 1004..1010 A 7/7", 1000);
}

/* Numbers between those that were asked for are in no range of their own. */
Test(check_batches, a_list_is_tried_as_it_stands)
{
    expect_switch(10, SIZE_MAX, "64,1,7,12,7,9..10", "1..9 A 3/3; 10..64 B 3/3", 10);
}

/* Once two kinds are known what lies between them comes first: the switch is exact although time
 * ran out, and what was not tried is told and no evidence. */
Test(check_batches, a_switch_is_pinned_down_before_time_runs_out)
{
    low = 777;
    high = SIZE_MAX;
    const struct method m = subject_like("rows/tiled", minds_rows);
    struct check_request r = asking(&m, "1..4096", 0.8);
    checked(&r);
    cr_assert(r.batches->tables > 0);
    const struct batch_table *t = &r.batches->table[0];
    cr_expect(t->tried < t->asked && t->least[1] == 777, "%zu tried, %zu", t->tried, t->least[1]);
    cr_expect(t->needed_s > 0);
    size_t count, at = 0;
    struct batch_range *range = check_batch_ranges(r.batches, t, &count);
    while (at < count && range[at].last != 776)
        at++;
    cr_expect(at + 1 < count && range[at + 1].first == 777 && range[at].kind != range[at + 1].kind,
              "no switch at 777");
    free(range);
    check_batches_free(&r);
}

static enum status never(const struct task *t, struct problem *p)
{
    return as("rows/tiled", t, p);
}

Test(check_batches, what_was_not_tried_is_no_evidence)
{
    const struct method m = subject_like("rows/tiled", never);
    struct check_request r = asking(&m, "1..4096", 0.8);
    struct check_report report = checked(&r);
    struct check_rung is = check_rung(&report, PROMISE_BATCH_INVARIANT);
    const struct batch_table *t = &r.batches->table[0];
    char words[96];
    cr_expect(is.state == CHECK_NOT_TRIED && is.attempts >= CHECK_LEAST, "%s in %zu attempts",
              check_state_name[is.state], (size_t)is.attempts);
    snprintf(words, sizeof words, "time ran out before: %zu of 4096 numbers of rows;",
             t->asked - t->tried);
    cr_expect(strstr(is.reason, words), "no '%s' in: %s", words, is.reason);
    cr_expect(check_unheld(&report, PROMISE_BATCH_INVARIANT));
    snprintf(words, sizeof words, "time ran out before %zu numbers of rows", t->asked - t->tried);
    expect_words(&report, words);
    check_batches_free(&r);
}

/* Where formats are asked for, all numbers are due in each of them. */
Test(check_batches, each_pair_that_is_asked_for_is_due)
{
    for (unsigned few = 0; few < 2; few++) {
        struct check_request r = asking(method_named("rows/tiled"), few ? "1..900" : "1..90", 3);
        r.pairs = (struct pairs){{{FP32, FP32}, {FP64, FP64}, {FP16, FP32}}, 3};
        struct check_report report = checked(&r);
        cr_expect_eq(r.batches->tables, 3);
        cr_expect_eq(check_rung(&report, PROMISE_BATCH_INVARIANT).state,
                     few ? CHECK_NOT_TRIED : CHECK_KEPT);
        check_batches_free(&r);
    }
}

/* One pair had all numbers, another had not: that counts where the pairs were asked for. */
Test(check_batches, all_numbers_in_one_pair_alone)
{
    uint64_t rows[] = {1, 2, 3};
    struct batch_table t[] = {{.at.pair = {FP32, FP32}, .at.n = 200, .asked = 3, .tried = 3},
                              {.at.pair = {FP64, FP64}, .at.n = 200, .asked = 3, .tried = 1}};
    struct check_batches b = {
        .rows = {3, rows}, .pairs = {{{FP32, FP32}, {FP64, FP64}}, 2}, .table = t, .tables = 2};
    static struct check_report r;
    struct check_tried *tried = &r.tried[CHECK_BATCH];
    char words[CHECK_REASON] = "";
    r.request = (struct check_request){.method = method_named("rows/tiled"), .batches = &b};
    r.request.tried[CHECK_BATCH] = true;
    cr_expect(!check_missed(words, &r, PROMISE_BATCH_INVARIANT), "%s", words);
    b.pairs_asked = true;
    cr_expect(check_missed(words, &r, PROMISE_BATCH_INVARIANT));
    cr_expect_str_eq(words, "2 of 3 numbers of rows");
    cr_expect(check_missed(NULL, &r, PROMISE_GPU_TO_GPU));
    cr_expect(!check_missed(NULL, &r, PROMISE_RUN_TO_RUN));
    /* A length of which there is no table, for lack of time. */
    b.pairs_asked = false;
    tried->due = (struct check_set){2, {200, 400}};
    tried->reached = (struct check_set){1, {200}};
    *words = 0;
    cr_expect(check_missed(words, &r, PROMISE_BATCH_INVARIANT));
    cr_expect(strstr(words, "3 of 3 numbers of rows"), "%s", words);
    tried->reached = tried->due; /* its turn came: there is no such case */
    cr_expect(!check_missed(words, &r, PROMISE_BATCH_INVARIANT), "%s", words);
    b.pairs_asked = true;
    r.request.tried[CHECK_BATCH] = false;
    cr_expect(!check_missed(words, &r, PROMISE_BATCH_INVARIANT), "%s", words);
}

/* Messages of ranks, which `check --all` asks too, have surroundings, and no rows. */
Test(check_batches, what_has_no_rows_is_tried_as_ever)
{
    static uint64_t n[] = {400};
    struct check_request r = asking(method_named("rows/tiled"), "1..20", 1);
    r.method = method_named("allreduce/ring");
    r.promise = r.method->promise;
    r.beside = r.method->beside;
    r.setting = (struct setting_axes){0};
    r.n = (struct numbers){1, n};
    struct check_report report = checked(&r);
    cr_expect(report.tried[CHECK_BATCH].attempts > 0 && r.batches->tables == 0);
    struct text text = said(&report);
    cr_expect(!strstr(text_string(&text), "numbers of rows") &&
                  !strstr(text_string(&text), "batches"),
              "%s", text_string(&text));
    text_free(&text);
    check_batches_free(&r);
}

/* Each has its turn, whatever the one before took. */
Test(check_batches, all_that_is_asked_for_is_begun)
{
    const struct check_tried tried = {.attempts = CHECK_LEAST};
    const struct check_case k = {.n = 200, .pair = {FP32, FP32}};
    struct pace t = {.tried = &tried, .done = 1, .first = 2, .most = 1e9, .deadline = 1000};
    cr_expect(!pace_time_for(&t, &k, 500));
    t.counted = true;
    cr_expect(pace_time_for(&t, &k, 500));
    cr_expect(!pace_time_for(&t, &k, 1000));
    t.done = 2;
    cr_expect(!pace_time_for(&t, &k, 500));
}

/* --- within one batch --- */

/* The rows behind the last whole tile of 16 are summed otherwise. */
static enum status minds_the_rest(const struct task *t, struct problem *p)
{
    const size_t rows = t->of->bins, whole = rows - rows % 16;
    enum status status = as("rows/tiled", t, p);
    for (size_t r = whole; whole > 0 && status == STATUS_OK && r < rows; r++)
        array_set_bits(&t->out, r, array_bits(&t->out, r) ^ 1);
    return status;
}

Test(check_batches, copies_of_a_row_that_differ_are_found)
{
    const struct method m = subject_like("rows/tiled", minds_the_rest);
    struct check_request r = asking(&m, "1..40", 60);
    struct check_report report = checked(&r);
    /* Rows followed are 16: the first 16 in whole tiles, and one copy behind them. */
    cr_expect(r.batches->table[0].least[1] == 17, "%zu", r.batches->table[0].least[1]);
    expect_words(&report, "differ (some copies): ");
    show_again(&r, &report);
    check_batches_free(&r);
    r = asking(&m, "17..20", 60);
    report = checked(&r);
    cr_expect_eq(check_rung(&report, PROMISE_BATCH_INVARIANT).state, CHECK_BROKEN);
    expect_words(&report, "in a batch of 17 rows copies of one row differ\n");
    char *command = check_command(&report, CHECK_BATCH, "check");
    cr_expect(command && strstr(command, " --batch 17,18"), "%s", command);
    free(command);
    check_batches_free(&r);
}

/* Its results change from run to run, whatever the number of rows. */
static enum status wavers(const struct task *t, struct problem *p)
{
    static uint64_t run;
    enum status status = as("rows/tiled", t, p);
    array_set_bits(&t->out, 0, array_bits(&t->out, 0) ^ (hash_mix(++run) & 255));
    return status;
}

Test(check_batches, what_differs_again_is_not_due_to_the_number_of_rows)
{
    const struct method m = subject_like("rows/tiled", wavers);
    struct check_request r = asking(&m, "1..40", 60);
    struct check_report report = checked(&r);
    cr_expect_eq(check_rung(&report, PROMISE_BATCH_INVARIANT).state, CHECK_BROKEN);
    cr_expect(r.batches->table[0].unsteady > 0);
    expect_words(&report, " gave other bits when it was run again");
    struct text text = said(&report);
    cr_expect(!strstr(text_string(&text), "smallest pair"), "%s", text_string(&text));
    text_free(&text);
    check_batches_free(&r);
}

/* --- layouts --- */

/* Numbers that a layout does not take are not asked of it, and not tried in another one. */
Test(check_batches, rows_that_a_layout_does_not_take)
{
    struct layout pairs = {LAYOUT_BATCH, 2, "batch:2"};
    uint64_t rows = 40;
    struct check_request r = asking(method_named("rows/tiled"), "1..40", 60);
    r.setting.layout = &pairs;
    r.setting.layouts = 1;
    r.setting.rows = (struct numbers){1, &rows};
    struct check_report report = checked(&r);
    cr_expect_eq(check_rung(&report, PROMISE_BATCH_INVARIANT).state, CHECK_KEPT);
    expect_ranges(&report, "2..40 A 20/20");
    check_batches_free(&r);
}

/* --- what is said --- */

/* Kinds as numbers: 0 is not tried. */
static void expect_cell(const uint32_t *kind, size_t count, const char *ranges)
{
    uint64_t rows[64];
    struct batch_kind is[64] = {{.some = false}};
    uint32_t copy[64];
    struct batch_table t = {.kind = copy, .is = is, .kinds = 64};
    struct check_batches b = {.rows = {count, rows}, .table = &t, .tables = 1};
    struct check_report report = {.request = {.method = method_named("rows/tiled"), .batches = &b}};
    t.at.setting.layout = &(struct layout){LAYOUT_ROW, 0, "row"};
    for (size_t i = 0; i < count; i++) {
        rows[i] = i + 1;
        copy[i] = kind[i];
    }
    expect_ranges(&report, ranges);
}

Test(check_batches, ranges)
{
#define RANGES(text, ...)                                                                          \
    expect_cell((uint32_t[]){__VA_ARGS__}, sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t), text)
    RANGES("1..3 A 3/3", 1, 1, 1);
    RANGES("1..1 A 1/1; 2..2 B 1/1; 3..3 A 1/1", 5, 2, 5);
    /* Between two kinds nothing is known; within one the gap is counted. */
    RANGES("1..2 A 2/2; 3..4 - 0/2; 5..5 B 1/1", 1, 1, 0, 0, 2);
    RANGES("1..3 A 2/3", 1, 0, 1);
    RANGES("1..2 A 2/2; 3..5 A 1/3", 1, 1, 0, 0, 1);
    RANGES("1..2 - 0/2; 3..3 A 1/1; 4..4 - 0/1", 0, 0, 7, 0);
    RANGES("1..1 A 1/1; 2..2 B 1/1; 3..3 C 1/1; 4..4 B 1/1", 3, 1, 2, 1);
    RANGES("1..4 A 2/2", 1, BATCH_CANNOT, BATCH_CANNOT, 1);
    RANGES("1..1 A 1/1; 2..2 - 0/1; 3..4 B 2/2; 5..5 - 0/1; 6..6 A 1/1", 1, 0, 2, 2, 0, 1);
}

Test(check_batches, letters_go_on)
{
    struct batch_range range[30];
    char letters[BATCH_LETTERS];
    for (size_t i = 0; i < 30; i++)
        range[i] = (struct batch_range){i, i, 1, 1, (uint32_t)(30 - i)};
    check_batch_letters(letters, range, 25);
    cr_expect_str_eq(letters, "Z");
    check_batch_letters(letters, range, 26);
    cr_expect_str_eq(letters, "AA");
    check_batch_letters(letters, range, 28);
    cr_expect_str_eq(letters, "AC");
}

/* Other kernels in turn: more ranges than fit are counted. */
static enum status minds_parity(const struct task *t, struct problem *p)
{
    return as(t->of->bins % 2 ? "rows/serial" : "rows/tiled", t, p);
}

Test(check_batches, a_table_has_an_end)
{
    const struct method m = subject_like("rows/tiled", minds_parity);
    struct check_request r = asking(&m, "1..100", 60);
    struct check_report report = checked(&r);
    expect_words(&report, "\nand 88 more ranges: --json, or --out FILE, has all\n");
    struct text text = said(&report);
    cr_expect(!strstr(text_string(&text), "\n13 "), "%s", text_string(&text));
    text_free(&text);
    json_t *all = check_json(&report, "check"), *table = json_object_get(all, "batches");
    cr_assert_eq(json_array_size(table), 1);
    cr_expect_eq(json_array_size(json_object_get(json_array_get(table, 0), "ranges")), 100);
    json_decref(all);
    check_batches_free(&r);
}

/* --- words --- */

static void expect_refused(const char *list, const char *words)
{
    struct check_request r = {0};
    struct request q = {0};
    struct problem p = {0};
    ask(&q, (study_words){{"batch", list}, {NULL}});
    cr_expect(check_read_batches(&r, &q, &p) == STATUS_USAGE && strstr(p.text, words),
              "no '%s' in: %s", words, p.text);
    request_free(&q);
    check_batches_free(&r);
}

Test(check_batches, words)
{
    static const uint64_t due[] = {1, 2, 3, 4, 8};
    struct check_request r = asking(method_named("gemm/tiled"), "8,1..3,2..4", 1);
    cr_assert_eq(r.batches->rows.count, 5);
    for (size_t i = 0; i < 5; i++)
        cr_expect_eq(r.batches->rows.item[i], due[i]);
    check_batches_free(&r);
    expect_refused("0,4", "option --batch: found 0, expected 1 to 1048576");
    expect_refused("some", "option --batch: found 'some'");
    expect_refused("9..2", "option --batch: found the range '9..2', expected it to ascend");
    expect_refused("1..2^21", "option --batch: found 2^21, expected 1 to 1048576");
    expect_refused("1..70000", "found 70000 numbers of rows, expected at most 65536");
    expect_refused("4,4", "option --batch: found one number of rows, 4, expected two or more");
}
