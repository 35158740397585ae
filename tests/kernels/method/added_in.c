/* What a method says that it adds in, held against what its sums lose. */
#include <criterion/criterion.h>
#include <math.h>

#include "experiments/studies/recommend/recommend.h"
#include "kernels/blocks/tiled.h"

enum { LEVELS = 6, SPREAD = 4 * TILE };

/* The sum of n elements of f by a method that is told of them all as one: one bin, or one row. */
static double sum_of(const struct method *m, enum format f, const double *x, size_t n)
{
    static double data[SPREAD], second[SPREAD], outputs[SPREAD];
    static uint32_t keys[SPREAD];
    const struct operation *o = m->operation;
    struct problem p = {0};
    struct operands of = {.in = {f, n, data},
                          .product = m->product,
                          .keys = o->keys ? keys : NULL,
                          .bins = 1,
                          .stride = 1};
    struct task t = {.of = &of,
                     .out = {f, o->outputs(n, 1), outputs},
                     .accumulator = f,
                     .shape = method_shape(m, DEVICE_CPU, n, (struct shape){0}),
                     .method = m,
                     .device = -1};
    for (size_t i = 0; i < n; i++) {
        array_encode(&t.of->in, i, 1, &x[i]);
        array_encode(&(struct array){f, n, second}, i, 1, &(double){1});
    }
    if (o->inputs == 2)
        of.in2 = (struct array){f, n, second};
    cr_assert_eq(m->cpu(&t, &p), STATUS_OK, "%s: %s", m->name, p.text);
    return array_get(&t.out, t.out.n - 1);
}

/* Is it one whose result is the sum of the elements, or of its products with ones? */
static bool sums(const struct method *m)
{
    return m->cpu && !m->foreign && !m->operation->mask && !m->operation->matrices &&
           !m->operation->ranks &&
           (m->operation->of == EXACT_SUM || m->operation->of == EXACT_DOT) &&
           m->addition != ADDITION_NONE;
}

/* `count` magnitudes, each `apart` binades below the one before it, the last once, the others once
 * with each sign; the sum is the last. Is it found in so many orders of them? apart_in: elements
 * from one to the next, with zeros between them. */
static bool survives(const struct method *m, enum format f, int count, int apart, size_t apart_in)
{
    static double x[SPREAD];
    double value[2 * LEVELS + 2], last = 0;
    size_t n = 0;
    uint64_t state = 1;
    for (int k = 0; k < count; k++) {
        last = ldexp(1, format_facts[f].emax - 3 - k * apart);
        value[n++] = last;
        if (k + 1 < count)
            value[n++] = -last;
    }
    for (int order = 0; order < 40; order++) {
        for (size_t i = n - 1; i > 0; i--) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            size_t at = (size_t)(state >> 33) % (i + 1);
            double swapped = value[i];
            value[i] = value[at];
            value[at] = swapped;
        }
        memset(x, 0, sizeof x);
        for (size_t i = 0; i < n; i++)
            x[i * apart_in] = value[i];
        if (sum_of(m, f, x, (n - 1) * apart_in + 1) != last)
            return false;
    }
    return true;
}

/* Binades from three below the largest number down to the smallest. */
static int range_of(enum format f)
{
    return format_facts[f].emax - 3 - (int)log2(format_facts[f].smallest);
}

/* The digits that a running sum holds, at most those that the range allows. */
static int digits_of(const struct method *m, enum format f)
{
    int digits = 1;
    while (digits <= range_of(f) && survives(m, f, 2, digits, 1))
        digits++;
    return digits;
}

/* The words of a sum: how many magnitudes it holds that are too far from each other for one. */
static int words_of(const struct method *m, enum format f)
{
    int words = 1, apart = format_facts[f].precision + 3;
    while (words < LEVELS && words * apart <= range_of(f) && survives(m, f, words + 1, apart, 1))
        words++;
    return words;
}

static bool in_range(enum format f, int words)
{
    return words * (format_facts[f].precision + 3) <= range_of(f);
}

static void hold(const struct method *m, enum format f)
{
    int precision = format_facts[method_adds_in(m, f)].precision, words = words_of(m, f);
    const char *name = format_facts[f].name;
    char said[ADDED_IN_TEXT];
    method_added_in(said, m, f);
    switch (m->addition) {
    case ADDITION_BLOCKS:
        cr_expect(survives(m, f, 2, format_facts[f].precision + 3, TILE), "%s in %s: '%s'", m->name,
                  name, said);
        /* fall through */
    case ADDITION_PLAIN:
        cr_expect_eq(digits_of(m, f), precision, "%s in %s: '%s', but sums hold %d digits", m->name,
                     name, said, digits_of(m, f));
        return;
    case ADDITION_PAIRS:
    case ADDITION_FOLDS:
        precision = m->addition == ADDITION_PAIRS ? 2 : (int)m->folds;
        cr_expect(words == precision || !in_range(f, words), "%s in %s: '%s', but sums hold %d",
                  m->name, name, said, words);
        return;
    case ADDITION_BINS:
        cr_expect(words >= 2 || !in_range(f, 2), "%s in %s: '%s'", m->name, name, said);
        cr_expect(words < LEVELS || !in_range(f, LEVELS), "%s in %s: '%s', but is exact", m->name,
                  name, said);
        return;
    case ADDITION_EXACT:
        cr_expect(words == LEVELS || !in_range(f, words), "%s in %s: '%s', but sums hold %d",
                  m->name, name, said, words);
        return;
    case ADDITION_TWO_LEVEL:
    case ADDITION_FUSED: /* of products alone */
    case ADDITION_NONE:
    case ADDITION_UNDOCUMENTED:
    case ADDITION_UNKNOWN:
        cr_expect(false, "%s in %s: '%s' of one of ours", m->name, name, said);
    }
}

Test(added_in, is_what_sums_show)
{
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++)
        for (enum format f = 0; f < ACCUMULATORS && sums(method_registry[i]); f++)
            if (method_supports(method_registry[i], DEVICE_CPU, f, f)) {
                hold(method_registry[i], f);
                held++;
            }
    cr_expect(held > 150, "only %zu held", held);
}

/* A wrong word is found: of each kind, taken for each other. */
Test(added_in, the_check_sees_a_wrong_word)
{
    const struct method *const one[] = {method_named("sum/serial"), method_named("sum/sum2"),
                                        method_named("sum/sumk"), method_named("sum/widened"),
                                        method_named("sum/exact")};
    cr_expect_eq(digits_of(one[0], FP32), 24);
    cr_expect_eq(digits_of(one[3], FP16), 24, "sum/widened in fp16: %d", digits_of(one[3], FP16));
    cr_expect_eq(digits_of(one[3], FP32), 53);
    const int words[] = {1, 2, 3, 2, LEVELS};
    for (size_t i = 0; i < 5; i++)
        cr_expect_eq(words_of(one[i], FP32), words[i], "%s: %d", one[i]->name,
                     words_of(one[i], FP32));
}

Test(added_in, words)
{
    static const struct {
        const char *method;
        enum format accumulator;
        const char *words;
        unsigned bytes;
    } row[] = {
        {"sum/tiled", FP16, "fp16", 2},
        {"sum/widened", FP16, "fp32", 4},
        {"sum/widened", BF16, "fp32", 4},
        {"sum/widened", FP32, "fp64", 8},
        {"sum/widened", FP64, "fp64", 8},
        {"sum/double_word", FP32, "fp32 pairs", 8},
        {"sum/sumk", FP32, "fp32 triples", 12},
        {"sum/sumk4", FP64, "fp64 4-tuples", 32},
        {"sum/blocked", BF16, "bf16 then pairs", 4},
        {"sum/binned", FP32, "fp32 bins", 12},
        {"sum/exact", FP16, "exact", UINT32_MAX},
        {"minimum/tree", FP32, "none", 4},
        {"transpose/tiled", FP32, "none", 4},
        {"cublas/sum_by_dot_16", FP16, "fp32", 4},
        {"cublas/norm", BF16, "fp32", 4},
        {"cublas/norm", FP64, "fp64", 8},
        {"cublas/sum_by_gemm_16", FP16, "undocumented", 2},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char said[ADDED_IN_TEXT];
        const struct method *m = method_named(row[i].method);
        cr_assert(m, "%s", row[i].method);
        method_added_in(said, m, row[i].accumulator);
        cr_expect_str_eq(said, row[i].words, "%s: %s", m->name, said);
        cr_expect_eq(method_sum_bytes(m, row[i].accumulator), row[i].bytes, "%s: %u", m->name,
                     method_sum_bytes(m, row[i].accumulator));
    }
    char said[ADDED_IN_TEXT];
    method_added_in(said, &recommend_promoted[0].method, FP32);
    cr_expect_str_eq(said, "fp16 then fp32", "%s", said);
}
