/* Products, extrema and norms on special inputs: what is judged of single results; and methods that
 * are wrong in one thing each, found out by the smallest input that shows it. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/conformance/run.h"

/* --- what is said of a result --- */

struct result {
    const char *method;
    enum format storage, accumulator;
    size_t n;
    double x[4], result;
    const char *why; /* it is impossible; or nothing */
};

#define LOST       "a NaN is lost"
#define NO_NAN     "NaN, which is not due"
#define ZERO       "a zero of the other sign"
#define ANOTHER    "another value than the exact one"
#define SIGN       "a product of the other sign"
#define INFINITE   "infinite, where the product is not"
#define BEYOND     "beyond the bound of its theorem"
#define FIRST      "not the first of equal elements"
#define ELEMENT    "the index of another element"
#define NONE       "not the index of an element"
#define LARGE      "infinite, where the norm is not"
#define ON_THE_WAY "overflow on the way to a norm that is in range"

static const struct result results[] = {
    {"product/tree", FP32, FP32, 0, {0}, 1, ""},
    {"product/tree", FP32, FP32, 0, {0}, 0, ANOTHER},
    {"product/tree", FP32, FP32, 2, {3, -0.0}, -0.0, ""},
    {"product/tree", FP32, FP32, 2, {3, -0.0}, 0, ZERO},
    {"product/tree", FP32, FP32, 2, {INFINITY, -1}, -INFINITY, ""},
    {"product/tree", FP32, FP32, 2, {INFINITY, -1}, INFINITY, "an infinity is lost"},
    {"product/tree", FP32, FP32, 2, {INFINITY, 0}, NAN, ""},
    {"product/tree", FP32, FP32, 2, {INFINITY, 0}, 0, LOST},
    {"product/tree", FP32, FP32, 2, {NAN, 0}, 0, LOST},
    {"product/tree", FP32, FP32, 2, {2, 0}, NAN, NO_NAN},
    {"product/tree", FP32, FP32, 2, {2, 3}, NAN, "NaN of numbers"},
    {"product/tree", FP32, FP32, 2, {2, -3}, 6, SIGN},
    {"product/tree", FP32, FP32, 2, {2, 3}, 6, ""},
    {"product/tree", FP32, FP32, 2, {2, 3}, 0x1.800004p+2, BEYOND},
    {"product/tree", FP32, FP32, 3, {0x1p100, 0x1p100, 0x1p-100}, 0x1p100, ""},
    {"product/tree", FP32, FP32, 3, {0x1p100, 0x1p100, 0x1p-100}, INFINITY, INFINITE},
    {"product/tree", FP32, FP32, 3, {0x1p-100, -0x1p-100, 0x1p100}, -0.0, BEYOND},
    {"product/tree", FP32, FP32, 2, {0x1p100, -0x1p100}, -INFINITY, ""},
    {"product/tree", FP32, FP32, 2, {0x1p100, -0x1p100}, INFINITY, SIGN},
    {"product/tree", FP32, FP32, 2, {0x1p100, 0x1p100}, 0x1.fffffep+127, BEYOND},
    {"product/tree", FP32, FP32, 2, {0x1p-100, -0x1p-100}, -0.0, ""},
    {"product/tree", FP32, FP32, 2, {0x1p-100, 0x1p-49}, 0, BEYOND},
    {"product/exact", FP32, FP16, 2, {65519, 1}, 65504, ""},
    {"product/exact", FP32, FP16, 2, {65519, 1}, INFINITY, INFINITE},
    {"product/exact", FP32, FP32, 2, {0x1.000002p+0, 0x1.000002p+0}, 0x1.000002p+0, BEYOND},
    {"minimum/tree", FP32, FP32, 0, {0}, INFINITY, ""},
    {"minimum/tree", FP32, FP32, 0, {0}, 0, "an infinity is lost"},
    {"minimum/tree", FP32, FP32, 2, {0.0, -0.0}, -0.0, ""},
    {"minimum/tree", FP32, FP32, 2, {0.0, -0.0}, 0, ZERO},
    {"minimum/tree", FP32, FP32, 2, {1, NAN}, NAN, ""},
    {"minimum/tree", FP32, FP32, 2, {1, NAN}, 1, LOST},
    {"minimum_number/tree", FP32, FP32, 2, {1, NAN}, 1, ""},
    {"minimum_number/tree", FP32, FP32, 2, {1, NAN}, NAN, NO_NAN},
    {"minimum_number/tree", FP32, FP32, 1, {NAN}, INFINITY, LOST},
    {"maximum/tree", FP32, FP16, 2, {1, 0x1.002p+0}, 1, ""},
    {"maximum/tree", FP32, FP16, 2, {1, 0x1.002p+0}, 0x1.004p+0, ANOTHER},
    {"maximum/tree", FP32, FP16, 1, {70000}, INFINITY, ""},
    {"maximum/tree", FP32, FP32, 1, {70000}, INFINITY, "infinite, where the exact value is not"},
    {"argmax/tree", FP32, FP64, 0, {0}, -1, ""},
    {"argmax/tree", FP32, FP64, 0, {0}, 0, NONE},
    {"argmax/tree", FP32, FP64, 3, {1, 2, 2}, 1, ""},
    {"argmax/tree", FP32, FP64, 3, {1, 2, 2}, 2, FIRST},
    {"argmax/tree", FP32, FP64, 3, {1, 2, 2}, 0, ELEMENT},
    {"argmax/tree", FP32, FP64, 3, {1, 2, 2}, 3, NONE},
    {"argmax/tree", FP32, FP64, 3, {1, NAN, NAN}, 2, FIRST},
    {"argmax/tree", FP32, FP64, 3, {1, NAN, 2}, NAN, NONE},
    {"argmin/tree", FP32, FP64, 2, {0.0, -0.0}, 0, ELEMENT},
    {"norm/tiled", FP32, FP32, 0, {0}, 0, ""},
    {"norm/tiled", FP32, FP32, 0, {0}, NAN, NO_NAN},
    {"norm/tiled", FP32, FP32, 2, {0.0, -0.0}, -0.0, ZERO},
    {"norm/tiled", FP32, FP32, 2, {0.0, -0.0}, 0x1p-149, "another norm than 0"},
    {"norm/tiled", FP32, FP32, 2, {3, -4}, 5, ""},
    {"norm/tiled", FP32, FP32, 2, {3, -4}, -5, "a norm below 0"},
    {"norm/tiled", FP32, FP32, 2, {3, -4}, NAN, "NaN of numbers"},
    {"norm/tiled", FP32, FP32, 2, {3, -4}, 0x1.4001p+2, BEYOND},
    {"norm/tiled", FP32, FP32, 2, {3, -4}, INFINITY, LARGE},
    {"norm/tiled", FP32, FP32, 2, {-INFINITY, 1}, INFINITY, ""},
    {"norm/tiled", FP32, FP32, 2, {-INFINITY, 1}, 1, "an infinity is lost"},
    {"norm/tiled", FP32, FP32, 2, {NAN, 1}, 1, LOST},
    {"norm/tiled", FP32, FP32, 2, {NAN, INFINITY}, INFINITY, LOST},
    {"norm/tiled", FP32, FP32, 1, {0x1p-75}, 0, ""},
    {"norm/scaled", FP32, FP32, 1, {0x1p-75}, 0, BEYOND},
    {"norm/scaled", FP32, FP32, 1, {0x1p100}, INFINITY, LARGE},
    {"norm/exact", FP32, FP16, 2, {65504, 600}, 65504, ""},
    {"norm/exact", FP32, FP16, 2, {65504, 600}, INFINITY, LARGE},
    {"norm/exact", FP32, FP16, 2, {65504, 6000}, INFINITY, ""},
};

/* Possible, and yet worth a word. */
static const struct result noted[] = {
    {"norm/tiled", FP32, FP32, 1, {0x1p100}, INFINITY, ON_THE_WAY},
    {"norm/serial", FP32, FP16, 2, {300, 1}, INFINITY, ON_THE_WAY},
    {"cublas/norm",
     FP32,
     FP32,
     2,
     {NAN, INFINITY},
     INFINITY,
     "+inf of a NaN and an infinity, as hypot gives"},
};

static void hold_result(const struct result *r, enum judged is)
{
    struct conformance_subject s = {
        .method = method_named(r->method), .storage = r->storage, .accumulator = r->accumulator};
    double data[4], got[1];
    char words[INPUT_WORDS];
    struct array in = {r->storage, r->n, data}, out = {r->accumulator, 1, got};
    struct special_input input = {.x = in};
    struct judgement j;
    struct problem p = {0};
    array_encode(&in, 0, r->n, r->x);
    array_encode(&out, 0, 1, &r->result);
    cr_assert(conformance_judge(&j, &s, &input, NULL, &out, &p) == STATUS_OK, "%s", p.text);
    special_input_words(words, &input);
    cr_expect(j.is == is && strcmp(j.why ? j.why : "", r->why) == 0,
              "%s, %s gives %a: judged %d: %s", r->method, words, r->result, (int)j.is,
              j.why ? j.why : "");
}

Test(special_exact, judges_single_results)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        hold_result(&results[i], *results[i].why ? JUDGED_IMPOSSIBLE : JUDGED_FINE);
    for (size_t i = 0; i < sizeof noted / sizeof *noted; i++)
        hold_result(&noted[i], JUDGED_NOTED);
}

Test(special_exact, says_what_is_possible)
{
    static const struct {
        const char *method;
        double x[2], result;
        const char *due;
    } cases[] = {{"product/tree", {2, 3}, 7, "a number within its bound"},
                 {"product/tree", {0x1p100, -0x1p100}, 7, "a number within its bound or -inf"},
                 {"product/tree", {0x1p-100, -0x1p-100}, 7, "a number within its bound or -0x0p+0"},
                 {"product/tree", {0, -1}, 7, "-0x0p+0"},
                 {"minimum/tree", {1, NAN}, 1, "nan"},
                 {"maximum/tree", {1, 3}, 1, "0x1.8p+1"},
                 {"norm/tiled", {1, 3}, 7, "a number within its bound"},
                 {"norm/tiled", {1, 0x1p100}, 7, "a number within its bound or inf"},
                 {"norm/tiled", {0, -1}, NAN, "a number within its bound"},
                 {"norm/tiled", {0, 0}, 1, "0x0p+0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct conformance_subject s = {
            .method = method_named(cases[i].method), .storage = FP32, .accumulator = FP32};
        float data[2] = {(float)cases[i].x[0], (float)cases[i].x[1]};
        float got = (float)cases[i].result;
        struct array in = {FP32, 2, data}, out = {FP32, 1, &got};
        char words[POSSIBLE_TEXT];
        struct judgement j;
        cr_assert(conformance_judge(&j, &s, &(struct special_input){.x = in}, NULL, &out, NULL) ==
                  STATUS_OK);
        special_due_words(words, &j);
        cr_expect_str_eq(words, cases[i].due, "case %zu: %s", i, words);
    }
}

/* --- liars --- */

typedef double liar(const struct task *t, double honest);

static double element(const struct task *t, size_t i)
{
    return array_get(&t->of->in, i);
}

/* In the accumulator, exponents and all. */
static double plain(const struct task *t, double honest)
{
    (void)honest;
    double product = 1;
    for (size_t i = 0; i < t->of->in.n; i++)
        product = format_round(t->accumulator, product * element(t, i));
    return product;
}

static double flushes(const struct task *t, double honest)
{
    bool small = fabs(honest) < format_facts[t->accumulator].smallest_normal;
    return small ? copysign(0, honest) : honest;
}

static double has_no_sign(const struct task *t, double honest)
{
    (void)t;
    return fabs(honest);
}

static double stops_at_zero(const struct task *t, double honest)
{
    for (size_t i = 0; i < t->of->in.n; i++)
        if (element(t, i) == 0)
            return 0;
    return honest;
}

static double is_nothing_of_nothing(const struct task *t, double honest)
{
    return t->of->in.n > 0 ? honest : 0;
}

/* As if the last of more than 32 were not there. */
static double drops_last(const struct task *t, double honest)
{
    struct operands of = *t->of;
    struct task less = *t;
    less.of = &of;
    double result = honest;
    struct array out = {t->accumulator, 1, &result};
    of.in.n -= t->of->in.n > 32;
    less.out = out;
    array_encode(&out, 0, 1, &honest);
    method_named(t->method->name)->cpu(&less, NULL);
    return array_get(&out, 0);
}

/* C's comparisons: a NaN is never less, and zeros are equal. */
static double compares(const struct task *t, double honest)
{
    double least = t->of->in.n > 0 ? element(t, 0) : honest;
    for (size_t i = 1; i < t->of->in.n; i++)
        least = element(t, i) < least ? element(t, i) : least;
    return least;
}

/* As hypot does. */
static double forgets_nan(const struct task *t, double honest)
{
    for (size_t i = 0; i < t->of->in.n; i++)
        if (isinf(element(t, i)))
            return INFINITY;
    return honest;
}

static double finds_the_last(const struct task *t, double honest)
{
    size_t last = 0;
    for (size_t i = 1; i < t->of->in.n; i++)
        if (double_bits(element(t, i)) == double_bits(element(t, (size_t)honest)))
            last = i;
    return last > honest ? (double)last : honest;
}

static liar *lie; /* of the method at hand */

static enum status lies(const struct task *t, struct problem *p)
{
    enum status status = method_named(t->method->name)->cpu(t, p);
    double result = lie(t, array_get(&t->out, 0));
    array_encode(&t->out, 0, 1, &result);
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
    enum format f = exact_facts[m.operation->of].form == FORM_INDEX ? FP64 : FP32;
    size_t k = 0;
    m.cpu = lies;
    lie = e->lie;
    struct conformance_request request = {
        .method = &m, .pairs = {{{FP32, f}}, 1}, .seed = 1, .every = 4};
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

Test(special_exact, liars_are_found_out_by_the_smallest_input)
{
    static const struct expected expected[] = {
        {"underflows on the way", "product/serial", "factors", plain, BEYOND, 3},
        {"flushes subnormals", "product/serial", "subnormal", flushes, BEYOND, 1},
        {"has no sign", "product/serial", "factors", has_no_sign, SIGN, 1},
        {"has no sign", "product/serial", "zeros", has_no_sign, ZERO, 1},
        {"stops at a zero", "product/serial", "factors", stops_at_zero, LOST, 2},
        {"is 0 of nothing", "product/serial", "short", is_nothing_of_nothing, ANOTHER, 0},
        {"drops the last of many", "product/tree", "factors", drops_last, SIGN, 33},
        {"compares as C does", "minimum/serial", "nan", compares, LOST, 2},
        {"compares as C does", "minimum/serial", "zeros", compares, ZERO, 2},
        {"compares as C does", "minimum_number/serial", "nan", compares, NO_NAN, 2},
        {"drops the last of many", "maximum/tree", "edges", drops_last, ANOTHER, 33},
        {"finds the last", "argmin/serial", "zeros", finds_the_last, FIRST, 2},
        {"flushes subnormals", "norm/scaled", "subnormal", flushes, BEYOND, 1},
        {"drops the last of many", "norm/exact", "edges", drops_last, BEYOND, 33},
        {"gives inf beside a NaN", "norm/serial", "nan", forgets_nan, LOST, 2},
        {"is 0 of nothing", "argmax/serial", "short", is_nothing_of_nothing, NONE, 0},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        hold(&expected[i]);
}
