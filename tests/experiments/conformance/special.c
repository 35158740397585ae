/* All our methods on special inputs; and what is judged of single results. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "experiments/conformance/run.h"
#include "experiments/conformance/stand.h"
#include "experiments/conformance/statistic.h"
#include "reference/format/number.h"
#include "tests/support/special_classes.h"

/* One input in so many: other ones at each length and in each pair of formats. */
enum {
    EVERY_SUM = 64,
    EVERY_DOT = 64,
    EVERY_SCAN = 128,
    EVERY_OTHER = 64,
    EVERY_INDEX = 16,
    EVERY_STATISTIC = 16,
    EVERY_ROW = 40
};

static const char *words_of(const struct conformance_finding *f)
{
    static char words[INPUT_WORDS + POSSIBLE_TEXT + 256];
    char input[INPUT_WORDS], due[POSSIBLE_TEXT], number[NUMBER_TEXT];
    special_input_words(input, &f->in);
    special_due_words(due, &f->judgement);
    number_hex(number, f->judgement.result);
    snprintf(words, sizeof words, "%s/%s, %s: output %zu is %s, possible %s: %s",
             format_facts[f->subject.storage].name, format_facts[f->subject.accumulator].name,
             input, f->judgement.output, number, due, f->judgement.why);
    return words;
}

/* Indices have few pairs of formats. */
static unsigned every_of(const struct operation *o)
{
    if (o->array)
        return o->of_rows ? EVERY_ROW : EVERY_SCAN;
    enum exact_form form = exact_facts[o->of].form;
    if (form == FORM_MOMENTS || form == FORM_QUOTIENT)
        return EVERY_STATISTIC;
    return form == FORM_INDEX ? EVERY_INDEX
           : form != FORM_SUM ? EVERY_OTHER
           : o->inputs == 2   ? EVERY_DOT
                              : EVERY_SUM;
}

static void conforms(const struct method *m, struct conformance_report *r)
{
    struct problem p = {0};
    struct conformance_request request = {.method = m, .seed = 1, .every = every_of(m->operation)};
    /* The exact values of a row take long. */
    static const struct pairs few = {{{FP16, FP16}, {FP32, FP32}}, 2};
    if (special_is_statistic(m)) {
        request.pairs = few;
        request.seconds = 0.5; /* of which rows of a few elements need least */
    } else
        cr_assert(pairs_parse(&request.pairs, "all", &p) == STATUS_OK, "%s", p.text);
    cr_assert(conformance_run(r, &request, &p) == STATUS_OK, "%s", p.text);
    for (size_t k = 0; k < SPECIAL_CLASSES; k++) {
        const struct conformance_tally *t = &r->all[k];
        bool due = special_class[k] == &special_factors ? m->operation == &operation_product
                   : special_of_statistics(special_class[k])
                       ? special_is_statistic(m)
                       : special_class[k]->fill || m->operation->inputs == 2;
        cr_expect((t->cases + t->left > 0) == due && t->failed == 0, "%s: %s", m->name,
                  special_class[k]->name);
        cr_expect(t->impossible == 0 && !t->first, "%s, %s: %zu of %zu, as %s", m->name,
                  special_class[k]->name, t->impossible, t->cases,
                  t->first ? words_of(t->first) : "");
    }
    conformance_report_free(r);
}

/* What reads elements alone, of so many arrays, and writes an array or one result. */
static void registry(enum exact_form form, unsigned inputs, bool array)
{
    static struct conformance_report r;
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct operation *o = method_registry[i]->operation;
        if (method_registry[i]->cpu && exact_facts[o->of].form == form && operation_plain(o) &&
            o->inputs == inputs && o->array == array) {
            conforms(method_registry[i], &r);
            held++;
        }
    }
    cr_expect(held > 2, "%zu", held);
}

Test(special, our_sums_conform)
{
    registry(FORM_SUM, 1, false);
}

Test(special, our_scans_conform)
{
    registry(FORM_SUM, 1, true);
}

Test(special, our_dot_products_conform)
{
    registry(FORM_SUM, 2, false);
}

Test(special, our_norms_conform)
{
    registry(FORM_ROOT, 1, false);
}

Test(special, our_products_conform)
{
    registry(FORM_PRODUCT, 1, false);
}

/* Those of rows, and of arrays. */
static void statistics(bool of_rows)
{
    static struct conformance_report r;
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (!m->cpu || !special_is_statistic(m) || m->operation->of_rows != of_rows)
            continue;
        conforms(m, &r);
        held++;
    }
    cr_expect(held > 2, "%zu", held);
}

Test(special, our_means_and_variances_conform)
{
    statistics(false);
}

Test(special, our_statistics_of_rows_conform)
{
    statistics(true);
}

Test(special, our_sums_of_rows_conform)
{
    static struct conformance_report r;
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (m->cpu && m->operation->matrix && operation_adds_elements(m->operation)) {
            conforms(m, &r);
            held++;
        }
    }
    cr_expect(held > 2, "%zu", held);
}

Test(special, our_extrema_conform)
{
    registry(FORM_ELEMENT, 1, false);
    registry(FORM_INDEX, 1, false);
}

/* --- what is said of a result --- */

struct result {
    const char *method;
    enum format storage, accumulator;
    size_t n;
    double x[4], result;
    const char *said; /* "!" and why it is impossible, or what is noted, or nothing */
};

#define TOP        0x1.fffffep+127
#define HALF       0x1p+103 /* of an ulp of it */
#define ODD        "!a number that no order gives"
#define MUCH       "!beyond the bound of its theorem"
#define NAN_LOST   "!a NaN, or infinities of both signs, are lost"
#define ON_THE_WAY "overflow on the way to a sum that is in range"
#define AGAINST    "NaN from an infinity and an overflow to the other"
#define ONCE       "the exact sum rounded once, which no order of these additions gives"
#define BEGINS     "+0 though all elements are -0, as if the sum began with +0"
#define MINUS      "!-0, where not all elements are -0"

static const struct result results[] = {
    {"sum/tiled", FP32, FP32, 0, {0}, 0, ""},
    {"sum/tiled", FP32, FP32, 0, {0}, -0.0, MINUS},
    {"sum/tiled", FP32, FP32, 2, {-0.0, -0.0}, 0, "!+0, where all elements are -0"},
    {"sum/tiled", FP32, FP32, 2, {INFINITY, -INFINITY}, 1, NAN_LOST},
    {"sum/tiled", FP32, FP32, 2, {INFINITY, 1}, -INFINITY, "!another infinity than is due"},
    {"sum/tiled", FP32, FP32, 2, {INFINITY, 1}, 1, "!an infinity is lost"},
    {"sum/tiled", FP32, FP32, 2, {1, 1}, INFINITY, "!infinite, where no order overflows"},
    {"sum/tiled", FP32, FP32, 2, {1, 1}, NAN, "!NaN, which no order gives"},
    {"sum/tiled", FP32, FP32, 3, {1, 0x1p-24, 0x1p-24}, 1, ""},
    {"sum/tiled", FP32, FP32, 3, {1, 0x1p-24, 0x1p-24}, 0x1.000002p+0, ""},
    {"sum/tiled", FP32, FP32, 3, {1, 0x1p-24, 0x1p-24}, 0x1.000004p+0, ODD},
    {"sum/tiled", FP32, FP32, 3, {TOP, HALF, -HALF}, INFINITY, ON_THE_WAY},
    {"sum/tiled", FP32, FP32, 3, {TOP, HALF, -HALF}, TOP, ""},
    {"sum/tiled", FP32, FP32, 4, {TOP, HALF, -TOP, -HALF}, NAN, "NaN from overflows of both signs"},
    {"sum/tiled", FP32, FP32, 3, {INFINITY, -TOP, -TOP}, NAN, AGAINST},
    {"sum/tiled", FP32, FP16, 1, {65520}, INFINITY, ""},
    {"sum/tiled", FP32, FP32, 3, {0x1p24, 1, 0x1p-24}, 0x1.000002p24, ODD},
    {"cub/sum", FP32, FP32, 3, {0x1p24, 1, 0x1p-24}, 0x1.000002p24, ONCE},
    {"cub/sum", FP32, FP32, 3, {0x1p24, 1, 0x1p-24}, 0x1.000004p24, ODD},
    {"cub/sum", FP32, FP32, 2, {-0.0, -0.0}, 0, BEGINS},
    {"cub/sum", FP32, FP32, 0, {0}, -0.0, MINUS},
    {"sum/exact", FP32, FP32, 3, {TOP, TOP, -TOP}, TOP, ""},
    {"sum/exact", FP32, FP32, 3, {TOP, TOP, -TOP}, INFINITY, "!infinite, where the sum is not"},
    {"sum/exact", FP32, FP32, 3, {1, 0x1p-24, 0x1p-24}, 1, "!not the exact sum, rounded"},
    {"sum/exact", FP64, FP16, 1, {-0x1p-40}, -0.0, ""},
    {"sum/binned", FP32, FP32, 3, {1, 0x1p-24, 0x1p-24}, 1, MUCH},
    {"sum/binned", FP32, FP32, 2, {1, -1}, -0.0, MINUS},
    {"sum/binned", FP32, FP32, 3, {INFINITY, TOP, TOP}, TOP, "!an infinity is lost"},
    {"sum/sum2", FP32, FP32, 3, {1, 0x1p-24, 0x1p-24}, 0x1.000002p+0, ""},
    {"sum/sum2", FP32, FP32, 3, {1, 0x1p-24, 0x1p-24}, 1, MUCH},
    {"sum/sum2", FP32, FP32, 3, {1, 2, 3}, 0x1.800002p+2, ODD},
    {"sum/sum2", FP32, FP32, 3, {TOP, HALF / 2, HALF / 2}, TOP, ""},
    {"sum/widened", FP32, FP32, 3, {TOP, TOP, -TOP}, TOP, ""},
    {"sum/widened", FP32, FP32, 3, {1, 0x1p-24, 0x1p-24}, 1, ODD},
};

Test(special, judges_single_results)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        const struct result *r = &results[i];
        struct conformance_subject s = {.method = method_named(r->method),
                                        .storage = r->storage,
                                        .accumulator = r->accumulator};
        double data[4], got[1];
        char words[INPUT_WORDS];
        struct array in = {r->storage, r->n, data}, out = {r->accumulator, 1, got};
        struct judgement j;
        struct problem p = {0};
        array_encode(&in, 0, r->n, r->x);
        array_encode(&out, 0, 1, &r->result);
        cr_assert(conformance_judge(&j, &s, &(struct special_input){.x = in}, NULL, &out, &p) ==
                      STATUS_OK,
                  "%s", p.text);
        special_input_words(words, &(struct special_input){.x = in});
        bool wrong = *r->said == '!';
        const char *why = r->said + wrong;
        enum judged is = wrong ? JUDGED_IMPOSSIBLE : *why ? JUDGED_NOTED : JUDGED_FINE;
        cr_expect(j.is == is && strcmp(j.why ? j.why : "", why) == 0,
                  "%s, %s gives %a: judged %d: %s", r->method, words, r->result, (int)j.is,
                  j.why ? j.why : "");
    }
}

/* The bound of a sum by a GPU's atomic instructions in fp32 says that they may flush. */
Test(special, excuses_what_a_bound_says_is_flushed)
{
    static const struct {
        enum format f;
        double x, result;
        enum judged is;
    } cases[] = {
        {FP32, 0x1p-149, 0, JUDGED_NOTED},
        {FP32, 0x1p-149, 0x1p-149, JUDGED_FINE},
        {FP32, 1, 0, JUDGED_IMPOSSIBLE},
        {FP64, 0x1p-1074, 0, JUDGED_IMPOSSIBLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum format f = cases[i].f;
        struct conformance_subject s = {.method = method_named("sum/atomic"),
                                        .device = {DEVICE_CUDA, 0},
                                        .storage = f,
                                        .accumulator = f};
        double data[1], got[1];
        struct array in = {f, 1, data}, out = {f, 1, got};
        struct judgement j;
        struct problem p = {0};
        array_encode(&in, 0, 1, &cases[i].x);
        array_encode(&out, 0, 1, &cases[i].result);
        cr_assert(conformance_judge(&j, &s, &(struct special_input){.x = in}, NULL, &out, &p) ==
                      STATUS_OK,
                  "%s", p.text);
        cr_expect(j.is == cases[i].is, "%s: %a gives %a: judged %d", format_facts[f].name,
                  cases[i].x, cases[i].result, (int)j.is);
    }
}

/* What additions left over comes to more than what there is room for. */
Test(special, words_that_overflow_together_are_an_infinity)
{
    static const char *const name[] = {"sum/sum2", "sum/sumk", "sum/sumk4", "sum/sumk5"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        for (int sign = 1; sign > -2; sign -= 2) {
            struct conformance_subject s = {
                .method = method_named(name[i]), .storage = FP16, .accumulator = FP16};
            double data[1];
            struct array in = {FP16, 3, data};
            struct judgement j;
            struct problem p = {0};
            array_encode(&in, 0, 3, (double[]){sign * 65504.0, sign * 8.0, sign * 8.0});
            cr_assert(conformance_try(&j, &s, &(struct special_input){.x = in}, 1, &p) == STATUS_OK,
                      "%s", p.text);
            cr_expect(j.is != JUDGED_IMPOSSIBLE, "%s gives %a: %s", name[i], j.result, j.why);
        }
}

/* --- words --- */

static void words_are(const char *want, enum format f, size_t n, const double *x)
{
    double data[40];
    char words[INPUT_WORDS];
    struct array in = {f, n, data};
    array_encode(&in, 0, n, x);
    special_input_words(words, &(struct special_input){.x = in});
    cr_expect_str_eq(words, want, "%s", words);
}

Test(special, says_what_an_input_is)
{
    double x[40] = {0};
    words_are("n = 0", FP32, 0, x);
    words_are("n = 3: 0x1p+0, -0x0p+0, nan", FP16, 3, (double[]){1, -0.0, NAN});
    words_are("n = 40: all 0x0p+0", FP64, 40, x);
    x[39] = -INFINITY;
    x[3] = 0.5;
    words_are("n = 40: x[3] = 0x1p-1, x[39] = -inf, all others 0x0p+0", BF16, 40, x);
    for (size_t i = 0; i < 40; i++)
        x[i] = (double)i;
    words_are("n = 40: x[0] = 0x0p+0, x[1] = 0x1p+0, x[2] = 0x1p+1, x[3] = 0x1.8p+1, "
              "x[4] = 0x1p+2, x[5] = 0x1.4p+2, x[6] = 0x1.8p+2, x[7] = 0x1.cp+2, ...",
              FP32, 40, x);
}
