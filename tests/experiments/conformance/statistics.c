/* Means, variances, exponentials and norms of a row on special inputs: what is judged of single
 * results; and methods that are wrong in one thing each, found out by the smallest row that shows
 * it. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/conformance/run.h"

/* --- what is said of a result --- */

enum { MOST = 4 };

struct result {
    const char *method;
    enum format storage, accumulator;
    size_t n;
    double x[MOST], result[MOST]; /* of each element, or the first */
    const char *why;              /* it is impossible; or nothing */
};

#define LOST     "a NaN is lost"
#define NO_NAN   "NaN, which is not due"
#define INF      "an infinity is lost"
#define ZERO     "a zero of the other sign"
#define ANOTHER  "another value than 0"
#define NUMBERS  "NaN of numbers"
#define INFINITE "infinite, where the exact value is not"
#define BEYOND   "beyond the bound of its theorem"
#define ROUNDED  "not the exact value, rounded"
#define BELOW    "a share below 0, or a sum of exponentials"
#define LESS     "less than the exponential of the greatest, which is 1"
#define ON_WAY   "overflow on the way to a value that is in range"
#define MASKED   (-INFINITY)

static const struct result results[] = {
    /* A row of -inf, one +inf, a NaN. */
    {"softmax/tiled", FP32, FP32, 2, {MASKED, MASKED}, {NAN, NAN}, ""},
    {"softmax/tiled", FP32, FP32, 2, {MASKED, MASKED}, {0.5, NAN}, LOST},
    {"softmax/online", FP32, FP32, 2, {1, INFINITY}, {NAN, NAN}, ""},
    {"softmax/online", FP32, FP32, 2, {1, INFINITY}, {0, NAN}, LOST},
    {"softmax/flash", FP32, FP32, 2, {1, NAN}, {NAN, 0}, LOST},
    {"logsumexp/tiled", FP32, FP32, 2, {MASKED, MASKED}, {MASKED}, ""},
    {"logsumexp/tiled", FP32, FP32, 2, {MASKED, MASKED}, {NAN}, NO_NAN},
    {"logsumexp/tiled", FP32, FP32, 2, {1, INFINITY}, {INFINITY}, ""},
    {"logsumexp/tiled", FP32, FP32, 2, {1, INFINITY}, {NAN}, NO_NAN},
    {"logsumexp/tiled", FP32, FP32, 2, {1, INFINITY}, {100}, INF},
    {"logsumexp/tiled", FP32, FP32, 2, {INFINITY, NAN}, {INFINITY}, LOST},
    {"sumexp/serial", FP32, FP32, 2, {MASKED, MASKED}, {0}, LOST},
    {"sumexp/serial", FP32, FP32, 0, {0}, {0}, ""},
    {"sumexp/serial", FP32, FP32, 0, {0}, {-0.0}, ZERO},
    {"logsumexp/serial", FP32, FP32, 0, {0}, {MASKED}, ""},
    {"logsumexp/serial", FP32, FP32, 0, {0}, {0}, INF},
    /* Masked elements. */
    {"softmax/tiled", FP32, FP32, 2, {MASKED, 7}, {0, 1}, ""},
    {"softmax/tiled", FP32, FP32, 2, {MASKED, 7}, {-0.0, 1}, ZERO},
    {"softmax/tiled", FP32, FP32, 2, {MASKED, 7}, {0x1p-149, 1}, ANOTHER},
    {"softmax/tiled", FP32, FP32, 2, {MASKED, 7}, {NAN, NAN}, NO_NAN},
    {"logsumexp/tiled", FP32, FP32, 2, {MASKED, 7}, {7}, ""},
    {"logsumexp/tiled", FP32, FP32, 2, {MASKED, 7}, {7.5}, BEYOND},
    {"sumexp/online", FP32, FP32, 2, {MASKED, 7}, {1}, ""},
    {"sumexp/online", FP32, FP32, 2, {MASKED, 7}, {2}, BEYOND},
    /* Equal, and large. */
    {"softmax/split", FP32, FP32, 2, {1000, 1000}, {0.5, 0.5}, ""},
    {"softmax/split", FP32, FP32, 2, {1000, 1000}, {NAN, NAN}, NUMBERS},
    {"softmax/split", FP32, FP32, 2, {0, 0}, {-0.5, 0.5}, BELOW},
    {"softmax/exact", FP32, FP32, 2, {0, 0}, {0x1.fffffep-2, 0.5}, ROUNDED},
    {"logsumexp/flash", FP32, FP32, 2, {1000, 1000}, {INFINITY}, INFINITE},
    {"logsumexp/exact", FP32, FP32, 1, {-0.0}, {0}, ""},
    {"sumexp/tiled", FP32, FP32, 2, {0, -200}, {0x1.fffffep-1}, LESS},
    {"sumexp/tiled", FP32, FP32, 2, {0, -200}, {1}, ""},
    {"softmax/tiled", FP16, FP16, 2, {-60000, 60000}, {0, 1}, ""},
    /* Means and variances. */
    {"rowmean/tiled", FP32, FP32, 2, {INFINITY, -INFINITY}, {NAN}, ""},
    {"rowmean/tiled", FP32, FP32, 2, {INFINITY, 1}, {INFINITY}, ""},
    {"rowmean/tiled", FP32, FP32, 2, {INFINITY, 1}, {NAN}, NO_NAN},
    {"rowmean/tiled", FP32, FP32, 0, {0}, {NAN}, ""},
    {"rowmean/tiled", FP32, FP32, 0, {0}, {0}, LOST},
    {"mean/tiled", FP32, FP32, 2, {1, 2}, {1.25}, BEYOND},
    {"rowvariance/two_pass", FP32, FP32, 2, {1, 1}, {0}, ""},
    {"rowvariance/two_pass", FP32, FP32, 2, {1000, 1000.5}, {-0x1p-20}, "a variance below 0"},
    {"rowvariance/two_pass", FP32, FP32, 2, {1, INFINITY}, {INFINITY}, LOST},
    {"rowvariance/welford", FP32, FP32, 2, {1000, 1000}, {NAN}, NUMBERS},
    /* Norms. */
    {"rmsnorm/tiled", FP32, FP32, 2, {0, -0.0}, {0, -0.0}, ""},
    {"rmsnorm/tiled", FP32, FP32, 2, {0, -0.0}, {0, 0}, ZERO},
    {"rmsnorm/tiled", FP32, FP32, 2, {0, 0}, {NAN, NAN}, NO_NAN},
    {"rmsnorm/tiled", FP32, FP32, 2, {-1, INFINITY}, {-0.0, NAN}, ""},
    {"rmsnorm/tiled", FP32, FP32, 2, {-1, INFINITY}, {-0.0, INFINITY}, LOST},
    {"rmsnorm/tiled", FP32, FP32, 2, {-1, NAN}, {-0.0, NAN}, LOST},
    {"rmsnorm/tiled", FP32, FP32, 1, {3}, {1}, ""},
    {"rmsnorm/tiled", FP32, FP32, 1, {3}, {3}, BEYOND},
    {"rmsnorm/tiled", FP32, FP32, 1, {3}, {0}, BEYOND},
    {"rmsnorm/exact", FP16, FP16, 2, {300, 300}, {0, 0}, ROUNDED},
    {"layernorm/two_pass", FP32, FP32, 2, {5, 5}, {0, 0}, ""},
    {"layernorm/two_pass", FP32, FP32, 2, {5, 5}, {NAN, NAN}, NUMBERS},
    {"layernorm/two_pass", FP32, FP32, 2, {5, INFINITY}, {-0.0, NAN}, LOST},
    {"layernorm/two_pass", FP32, FP32, 2, {-1, 1}, {-1, 1}, BEYOND},
};

/* Possible, and yet worth a word. */
static const struct result noted[] = {
    {"rmsnorm/tiled", FP16, FP16, 2, {300, 300}, {0, 0}, ON_WAY},
    {"layernorm/two_pass", FP16, FP16, 2, {-300, 300}, {-0.0, 0}, ON_WAY},
    {"softmax/tiled", FP32, FP16, 2, {70000, 0}, {NAN, NAN}, ON_WAY},
    {"rowmean/tiled", FP16, FP16, 2, {60000, 60000}, {INFINITY}, ON_WAY},
    {"rowmean/running",
     FP32,
     FP32,
     2,
     {INFINITY, 1},
     {NAN},
     "NaN of an infinity, which a running mean corrects by inf - inf"},
    {"rowvariance/textbook",
     FP32,
     FP32,
     2,
     {1000, 1000.0001},
     {-0x1p-10},
     "a variance below 0, as the textbook's"},
    {"layernorm/textbook",
     FP32,
     FP32,
     3,
     {1e6, 1e6, 1e6 + 1},
     {NAN, NAN, NAN},
     "not finite, as of a textbook variance that cancels"},
};

static void hold_result(const struct result *r, enum judged is)
{
    const struct method *m = method_named(r->method);
    struct conformance_subject s = {
        .method = m, .storage = r->storage, .accumulator = r->accumulator};
    double data[MOST], got[MOST];
    char words[INPUT_WORDS];
    struct array in = {r->storage, r->n, data};
    struct array out = {r->accumulator, m->operation->outputs(r->n, 1), got};
    struct special_input input = {.x = in};
    struct judgement j;
    struct problem p = {0};
    array_encode(&in, 0, r->n, r->x);
    array_encode(&out, 0, out.n, r->result);
    cr_assert(conformance_judge(&j, &s, &input, NULL, &out, &p) == STATUS_OK, "%s", p.text);
    special_input_words(words, &input);
    cr_expect(j.is == is && strcmp(j.why ? j.why : "", r->why) == 0,
              "%s, %s gives %a: judged %d: %s", r->method, words, r->result[0], (int)j.is,
              j.why ? j.why : "");
}

Test(special_statistics, judges_single_results)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        hold_result(&results[i], *results[i].why ? JUDGED_IMPOSSIBLE : JUDGED_FINE);
    for (size_t i = 0; i < sizeof noted / sizeof *noted; i++)
        hold_result(&noted[i], JUDGED_NOTED);
}

/* --- liars --- */

typedef void liar(const struct task *t, double *y);

static double element(const struct task *t, size_t i)
{
    return array_get(&t->of->in, i);
}

/* Without taking the greatest element first. */
static void overflows(const struct task *t, double *y)
{
    double sum = 0;
    for (size_t i = 0; i < t->of->in.n; i++)
        sum = format_add(t->accumulator, sum, format_round(t->accumulator, exp(element(t, i))));
    for (size_t i = 0; i < t->out.n; i++)
        y[i] = format_round(t->accumulator, format_round(t->accumulator, exp(element(t, i))) / sum);
}

/* m begins at 0, not at -inf. */
static void begins_at_zero(const struct task *t, double *y)
{
    bool below = t->of->in.n > 0;
    for (size_t i = 0; i < t->of->in.n; i++)
        below = below && element(t, i) < -110;
    for (size_t i = 0; i < t->out.n && below; i++)
        y[i] = NAN;
}

/* Masked by a large number, where all is masked. */
static void is_uniform(const struct task *t, double *y)
{
    bool all = t->of->in.n > 0;
    for (size_t i = 0; i < t->of->in.n; i++)
        all = all && element(t, i) == -INFINITY;
    for (size_t i = 0; i < t->out.n && all; i++)
        y[i] = 1 / (double)t->out.n;
}

static void forgets_nan(const struct task *t, double *y)
{
    for (size_t i = 0; i < t->out.n; i++)
        y[i] = isnan(element(t, i)) ? NAN : isnan(y[i]) ? 0 : y[i];
}

static void has_no_epsilon(const struct task *t, double *y)
{
    double squares = 0;
    for (size_t i = 0; i < t->of->in.n; i++)
        squares += element(t, i) * element(t, i);
    for (size_t i = 0; i < t->out.n; i++)
        y[i] = format_round(t->accumulator, element(t, i) / sqrt(squares / (double)t->of->in.n));
}

/* As if the last of more than 32 were not there. */
static void drops_last(const struct task *t, double *y)
{
    double sum = 0;
    if (t->of->in.n <= 32)
        return;
    for (size_t i = 0; i + 1 < t->of->in.n; i++)
        sum = format_add(t->accumulator, sum, format_round(t->accumulator, element(t, i)));
    *y = format_round(t->accumulator, sum / (double)t->of->in.n);
}

/* By n - 1. */
static void is_of_a_sample(const struct task *t, double *y)
{
    double n = (double)t->of->in.n;
    *y = format_round(t->accumulator, *y * n / (n - 1));
}

static void is_zero_of_nothing(const struct task *t, double *y)
{
    if (t->of->in.n == 0)
        *y = 0;
}

static liar *lie; /* of the method at hand */

static enum status lies(const struct task *t, struct problem *p)
{
    enum status status = method_named(t->method->name)->cpu(t, p);
    double *y = malloc((t->out.n + 1) * sizeof *y);
    cr_assert(y);
    array_decode(&t->out, 0, t->out.n, y);
    lie(t, y);
    array_encode(&t->out, 0, t->out.n, y);
    free(y);
    return status;
}

struct expected {
    const char *fault, *method, *class;
    liar *lie;
    const char *why;
    size_t n; /* what it is shrunk to */
};

static void hold(const struct expected *e)
{
    static struct conformance_report r;
    struct method m = *method_named(e->method);
    struct problem p = {0};
    size_t k = 0;
    m.cpu = lies;
    lie = e->lie;
    struct conformance_request request = {
        .method = &m, .pairs = {{{FP32, FP32}}, 1}, .seed = 1, .every = 8};
    cr_assert(conformance_run(&r, &request, &p) == STATUS_OK, "%s", p.text);
    while (k < SPECIAL_CLASSES && strcmp(special_class[k]->name, e->class) != 0)
        k++;
    cr_assert(k < SPECIAL_CLASSES, "%s", e->class);
    const struct conformance_finding *found = r.all[k].first;
    cr_assert(found, "%s %s: not found by %s", e->method, e->fault, e->class);
    cr_expect_str_eq(found->judgement.why, e->why, "%s %s: %s", e->method, e->fault,
                     found->judgement.why);
    cr_expect(found->in.x.n == e->n, "%s %s: shrunk to n = %zu", e->method, e->fault,
              found->in.x.n);
    conformance_report_free(&r);
}

Test(special_statistics, liars_are_found_out_by_the_smallest_row)
{
    static const struct expected expected[] = {
        {"overflows", "softmax/serial", "scores", overflows, NUMBERS, 1},
        {"overflows", "softmax/serial", "equal", overflows, NUMBERS, 1},
        {"begins at 0", "sumexp/serial", "mean", begins_at_zero, NUMBERS, 1},
        {"is uniform where all is masked", "softmax/flash", "masked", is_uniform, LOST, 1},
        {"forgets a NaN", "layernorm/two_pass", "nan", forgets_nan, LOST, 2},
        {"forgets a NaN", "rmsnorm/tiled", "nan", forgets_nan, LOST, 2},
        {"has no epsilon", "rmsnorm/serial", "squares", has_no_epsilon, BEYOND, 1},
        {"has no epsilon", "rmsnorm/serial", "zeros", has_no_epsilon, NO_NAN, 1},
        {"drops the last of many", "rowmean/serial", "equal", drops_last, BEYOND, 33},
        {"is of a sample", "rowvariance/chan", "mean", is_of_a_sample, BEYOND, 2},
        {"is 0 of nothing", "logsumexp/tiled", "short", is_zero_of_nothing, INF, 0},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        hold(&expected[i]);
}

/* --- the user's own --- */

/* A matrix is tried row by row: here the second alone shows it. */
Test(special_statistics, tries_each_row_of_a_matrix)
{
    static struct conformance_report r;
    float data[3][2] = {{1, 2}, {-INFINITY, -INFINITY}, {3, 4}};
    struct method m = *method_named("softmax/tiled");
    struct special_input in = {.x = {FP32, 6, data}};
    struct problem p = {0};
    m.cpu = lies;
    lie = is_uniform;
    struct conformance_request request = {
        .method = &m, .pairs = {{{FP32, FP32}}, 1}, .every = 1, .data = &in, .rows = 3};
    cr_assert(conformance_run(&r, &request, &p) == STATUS_OK, "%s", p.text);
    cr_expect(r.all[0].cases == 3 && r.all[0].impossible == 1, "%zu of %zu", r.all[0].impossible,
              r.all[0].cases);
    cr_assert(r.all[0].first);
    cr_expect(r.all[0].first->in.x.n == 1 && array_get(&r.all[0].first->in.x, 0) == -INFINITY);
    conformance_report_free(&r);
}
