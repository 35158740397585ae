#include <math.h>

#include "kernels/scatter/ordered.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"
#include "tests/support/scatter_case.h"

static double tiled(const double *x, size_t count, enum format f)
{
    uint64_t bits = 0;
    struct task task = {.of = &(struct operands){.in = {FP64, count, (void *)x}},
                        .out = {f, 1, &bits},
                        .accumulator = f,
                        .shape = {1, 0}};
    return method_named("sum/tiled")->cpu(&task, NULL) == STATUS_OK ? format_decode(f, bits) : NAN;
}

static bool is_tiled(struct scatter *s, size_t bin, const double *x, const size_t *index,
                     size_t count, char why[WHY])
{
    (void)index;
    return scatter_is(s, bin, tiled(x, count, s->accumulator), why);
}

static bool is_rounded(struct scatter *s, size_t bin, const double *x, const size_t *index,
                       size_t count, char why[WHY])
{
    struct array a = {FP64, count, (void *)x};
    mpfr_t sum;
    (void)index;
    mpfr_init2(sum, MPFR_PREC_MIN);
    oracle_sum(sum, &a, false);
    double due = oracle_round(s->accumulator, sum);
    mpfr_clear(sum);
    return scatter_is(s, bin, due, why);
}

/* Some of a bin's elements, or none: what a node of the tree is of. */
struct part {
    bool any;
    double sum;
};

static struct part joined(enum format f, struct part a, struct part b)
{
    if (!a.any || !b.any)
        return a.any ? a : b;
    return (struct part){true, oracle_add(f, a.sum, b.sum)};
}

/* The elements of rank first .. end-1 of a row, in twos of twos. */
static struct part by_rank(enum format f, const double *x, size_t first, size_t end, size_t size)
{
    if (first >= end)
        return (struct part){0};
    if (size == 1)
        return (struct part){true, format_round(f, x[first])};
    return joined(f, by_rank(f, x, first, end, size / 2),
                  by_rank(f, x, first + size / 2, end, size / 2));
}

/* Those of the elements whose index lies in begin .. end-1, of one piece. */
static struct part by_row(enum format f, const double *x, const size_t *index, size_t count,
                          size_t begin, size_t end)
{
    struct part sum = {0};
    for (size_t row = begin; row < end; row += ORDERED_ROW) {
        size_t first = 0, last;
        while (first < count && index[first] < row)
            first++;
        for (last = first; last < count && index[last] < row + ORDERED_ROW;)
            last++;
        sum = joined(f, sum, by_rank(f, x, first, last, ORDERED_ROW));
    }
    return sum;
}

/* Pieces first .. first + size - 1, size a power of two. */
static struct part by_piece(enum format f, const double *x, const size_t *index, size_t count,
                            size_t n, size_t first, size_t size)
{
    size_t piece = ordered_piece(n);
    if (first * piece >= n)
        return (struct part){0};
    if (size == 1)
        return by_row(f, x, index, count, first * piece, (first + 1) * piece);
    return joined(f, by_piece(f, x, index, count, n, first, size / 2),
                  by_piece(f, x, index, count, n, first + size / 2, size / 2));
}

/* Of more than ORDERED_BINS bins, too. */
static bool is_ordered(struct scatter *s, size_t bin, const double *x, const size_t *index,
                       size_t count, char why[WHY])
{
    if (s->bins > ORDERED_BINS)
        return is_tiled(s, bin, x, index, count, why);
    struct part due = by_piece(s->accumulator, x, index, count, s->in.n, 0, 8);
    return scatter_is(s, bin, due.sum, why);
}

static bool sample_bits(struct scatter *s, size_t k, char why[WHY])
{
    static const size_t bins[] = {1, ORDERED_BINS + 1, 1000, 2, ORDERED_BINS};
    static const size_t lengths[] = {SCATTER_MOST, 2000, 1500, 33, 400};
    s->bins = bins[k % 5];
    s->in = (struct array){(enum format)(k % ACCUMULATORS), lengths[k % 5], s->in.data};
    s->accumulator = (enum format)(k / 4 % ACCUMULATORS);
    enum sample kind = (enum sample)(k % SAMPLES);
    bool tiled = strcmp(s->method->name, "scatter/sort") == 0;
    if (!method_supports(s->method, DEVICE_CPU, s->in.format, s->accumulator))
        return true;
    sample_fill(&s->in, kind, s->accumulator, k);
    scatter_keys_fill(s->key, s->in.n, s->bins, (enum scatter_keys)(k % SCATTER_KEYS), k);
    scatter_shape(s);
    if (!scatter_run(s, why))
        return false;
    if (s->method->promise == PROMISE_CORRECTLY_ROUNDED)
        return scatter_each_bin(s, why, is_rounded);
    return scatter_each_bin(s, why, tiled ? is_tiled : is_ordered);
}

/* In every bin a tie but for a bit that fp64 has no room for: 1 + u + u 2^-60. */
static bool hard_to_round(struct scatter *s, char why[WHY])
{
    s->bins = 3;
    s->in = (struct array){FP64, 9, s->in.data};
    for (s->accumulator = 0; s->accumulator < FP64; s->accumulator++) {
        double u = format_facts[s->accumulator].unit_roundoff, part[] = {1, u, u * 0x1p-60};
        if (!method_supports(s->method, DEVICE_CPU, FP64, s->accumulator))
            continue;
        for (size_t i = 0; i < 9; i++) {
            s->key[i] = (uint32_t)(i % 3);
            array_encode(&s->in, i, 1, &part[i / 3]);
        }
        scatter_shape(s);
        if (!scatter_run(s, why) || !scatter_each_bin(s, why, is_rounded))
            return false;
    }
    return true;
}

bool holds_scatter_bits(const struct method *m, char why[WHY])
{
    struct scatter *s = scatter_new(m);
    bool fine = m->promise < PROMISE_CORRECTLY_ROUNDED || hard_to_round(s, why);
    for (size_t k = 0; k < 80 && fine; k++)
        fine = sample_bits(s, k, why);
    return scatter_free(s, fine);
}
