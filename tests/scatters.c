#include "tests/scatters.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/input.h"
#include "kernels/scatter/ordered.h"
#include "reference/measure.h"
#include "tests/oracle.h"
#include "tests/samples.h"

enum { MOST = 5000, BINS_MOST = 1 << 20 };

void scatter_keys_fill(uint32_t *keys, size_t n, size_t bins, enum scatter_keys how, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t x = sample_next(&seed) >> 32;
        keys[i] = (uint32_t)(x % bins);
        if (how == SCATTER_ONE)
            keys[i] = (uint32_t)(bins / 2);
        if (how == SCATTER_SORTED)
            keys[i] = (uint32_t)(i * bins / n);
        if (how == SCATTER_SKEWED && (x & 7))
            keys[i] = (uint32_t)((x >> 3) % (bins < 3 ? bins : 3));
    }
}

/* A case, and what a run of it gives. */
struct scatter {
    const struct method *method;
    struct array in;
    enum format accumulator;
    size_t bins;
    uint32_t key[MOST];
    struct shape shape;
    struct array out; /* data of BINS_MOST doubles */
};

static struct scatter *scatter_new(const struct method *m)
{
    struct scatter *s = calloc(1, sizeof *s);
    s->method = m;
    s->in.data = calloc(MOST, sizeof(double));
    s->out.data = calloc(BINS_MOST, sizeof(double));
    return s;
}

static bool scatter_free(struct scatter *s, bool fine)
{
    free(s->in.data);
    free(s->out.data);
    free(s);
    return fine;
}

static bool failed(const struct scatter *s, char why[WHY], size_t bin, const char *what)
{
    return check_failed(why, s->method, s->in.format, s->accumulator, s->in.n, s->shape,
                        "%zu bins, bin %zu: %s", s->bins, bin, what);
}

static bool run(struct scatter *s, char why[WHY])
{
    s->out.format = s->accumulator;
    s->out.n = s->bins;
    memset(s->out.data, 0x55, array_bytes(s->accumulator, s->bins));
    struct task task = {.in = s->in,
                        .out = s->out,
                        .accumulator = s->accumulator,
                        .shape = s->shape,
                        .keys = s->key,
                        .bins = s->bins};
    return s->method->cpu(&task, NULL) == STATUS_OK || failed(s, why, 0, "it could not be run");
}

static void default_shape(struct scatter *s)
{
    s->shape = method_shape(s->method, DEVICE_CPU, s->in.n, (struct shape){0});
}

/* The elements of a bin, by a look at every key. Returns how many. */
static size_t gather(const struct scatter *s, size_t bin, double *x, size_t *index)
{
    size_t count = 0;
    for (size_t i = 0; i < s->in.n; i++)
        if (s->key[i] == bin) {
            index[count] = i;
            x[count++] = array_get(&s->in, i);
        }
    return count;
}

/* Calls visit for each bin with elements, once, and holds all others to +0. */
static bool each_bin(struct scatter *s, char why[WHY],
                     bool (*visit)(struct scatter *s, size_t bin, const double *x,
                                   const size_t *index, size_t count, char why[WHY]))
{
    static uint8_t seen[BINS_MOST];
    static double x[MOST];
    static size_t index[MOST];
    bool fine = true;
    for (size_t i = 0; i < s->in.n; i++)
        seen[s->key[i]] = 1;
    for (size_t b = 0; b < s->bins && fine; b++)
        if (seen[b])
            fine = visit(s, b, x, index, gather(s, b, x, index), why);
        else if (array_bits(&s->out, b) != 0)
            fine = failed(s, why, b, "nothing is not +0");
    for (size_t i = 0; i < s->in.n; i++)
        seen[s->key[i]] = 0;
    return fine;
}

/* ---- theorems ---- */

static bool within_bound(struct scatter *s, size_t bin, const double *x, const size_t *index,
                         size_t count, char why[WHY])
{
    struct array a = {FP64, count, (void *)x};
    struct reference r;
    struct measure m;
    const struct method *method = s->method;
    struct theorem theorem = {.kind = method->bound,
                              .height =
                                  method->bin_height ? method->bin_height(count, s->in.n) : 0};
    (void)index;
    if (reference_compute(&r, &a, REFERENCE_MPFR, NULL) != STATUS_OK)
        return failed(s, why, bin, "no reference");
    measure(&m, &r, s->in.format, s->accumulator, array_get(&s->out, bin), &theorem);
    reference_free(&r);
    return !m.broken || failed(s, why, bin, "its theorem is broken");
}

static bool family_within_bound(struct scatter *s, size_t family, char why[WHY])
{
    static const size_t bins[] = {1, 2, 100, BINS_MOST}, lengths[] = {300, 64, 400, 40};
    struct input input;
    if (input_parse(&input, input_families[family]->name, NULL) != STATUS_OK)
        return failed(s, why, 0, "no input");
    for (enum format f = 0; f < FORMATS; f++) {
        size_t k = (family + f) % 4;
        enum scatter_keys how = (enum scatter_keys)((family / 4 + f) % SCATTER_KEYS);
        s->bins = k == 3 && family % 3 ? 1000 : bins[k];
        s->in = (struct array){f, lengths[k], s->in.data};
        if (input_generate(&input, &s->in, family + 1, 0, NULL) != STATUS_OK)
            continue; /* the family may not have a member of this size in this format */
        scatter_keys_fill(s->key, s->in.n, s->bins, how, family);
        default_shape(s);
        for (s->accumulator = 0; s->accumulator < FORMATS; s->accumulator++)
            if (method_supports(s->method, DEVICE_CPU, f, s->accumulator) &&
                (!run(s, why) || !each_bin(s, why, within_bound)))
                return false;
    }
    return true;
}

bool check_scatter_bound(const struct method *m, char why[WHY])
{
    struct scatter *s = scatter_new(m);
    bool fine = true;
    for (size_t i = 0; i < input_family_count && fine; i++)
        fine = family_within_bound(s, i, why);
    return scatter_free(s, fine);
}

/* ---- bits ---- */

static bool is(const struct scatter *s, size_t bin, double due, char why[WHY])
{
    char what[128];
    double got = array_get(&s->out, bin);
    snprintf(what, sizeof what, "found %a, expected %a", got, due);
    return same_double(got, due) || failed(s, why, bin, what);
}

static double tiled(const double *x, size_t count, enum format f)
{
    uint64_t bits = 0;
    struct task task = {
        .in = {FP64, count, (void *)x}, .out = {f, 1, &bits}, .accumulator = f, .shape = {1, 0}};
    return method_named("sum/tiled")->cpu(&task, NULL) == STATUS_OK ? format_decode(f, bits) : NAN;
}

static bool is_tiled(struct scatter *s, size_t bin, const double *x, const size_t *index,
                     size_t count, char why[WHY])
{
    (void)index;
    return is(s, bin, tiled(x, count, s->accumulator), why);
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
    return is(s, bin, due, why);
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
    return is(s, bin, due.sum, why);
}

static bool sample_bits(struct scatter *s, size_t k, char why[WHY])
{
    static const size_t bins[] = {1, ORDERED_BINS + 1, 1000, 2, ORDERED_BINS};
    static const size_t lengths[] = {MOST, 2000, 1500, 33, 400};
    s->bins = bins[k % 5];
    s->in = (struct array){(enum format)(k % FORMATS), lengths[k % 5], s->in.data};
    s->accumulator = (enum format)(k / 4 % FORMATS);
    enum sample kind = (enum sample)(k % SAMPLES);
    bool tiled = strcmp(s->method->name, "scatter/sort") == 0;
    if (!method_supports(s->method, DEVICE_CPU, s->in.format, s->accumulator))
        return true;
    sample_fill(&s->in, kind, s->accumulator, k);
    scatter_keys_fill(s->key, s->in.n, s->bins, (enum scatter_keys)(k % SCATTER_KEYS), k);
    default_shape(s);
    if (!run(s, why))
        return false;
    if (s->method->promise == PROMISE_CORRECTLY_ROUNDED)
        return each_bin(s, why, is_rounded);
    return each_bin(s, why, tiled ? is_tiled : is_ordered);
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
        default_shape(s);
        if (!run(s, why) || !each_bin(s, why, is_rounded))
            return false;
    }
    return true;
}

bool check_scatter_bits(const struct method *m, char why[WHY])
{
    struct scatter *s = scatter_new(m);
    bool fine = m->promise < PROMISE_CORRECTLY_ROUNDED || hard_to_round(s, why);
    for (size_t k = 0; k < 80 && fine; k++)
        fine = sample_bits(s, k, why);
    return scatter_free(s, fine);
}

/* ---- promises ---- */

static void permute(struct scatter *s, uint64_t seed)
{
    for (size_t i = s->in.n; i-- > 1;) {
        size_t k = sample_next(&seed) % (i + 1);
        uint64_t bits = array_bits(&s->in, i);
        uint32_t key = s->key[i];
        array_set_bits(&s->in, i, array_bits(&s->in, k));
        array_set_bits(&s->in, k, bits);
        s->key[i] = s->key[k];
        s->key[k] = key;
    }
}

static bool same_outputs(struct scatter *s, const void *first, char why[WHY])
{
    struct array due = s->out;
    due.data = (void *)first;
    for (size_t b = 0; b < s->bins; b++)
        if (array_bits(&s->out, b) != array_bits(&due, b))
            return failed(s, why, b, "other bits than the first run's");
    return true;
}

static bool keeps(struct scatter *s, char why[WHY])
{
    struct shape shape[CHECK_SHAPES];
    size_t shapes = check_shapes(s->method, s->in.n, shape);
    void *first = malloc(array_bytes(s->accumulator, s->bins));
    bool fine = true;
    default_shape(s);
    for (size_t k = 0; k < shapes + 3 && fine; k++) {
        if (s->method->promise >= PROMISE_GPU_TO_GPU && k < shapes)
            s->shape = shape[k];
        if (s->method->promise >= PROMISE_ORDER_INVARIANT && k > 0)
            permute(s, k);
        fine = run(s, why);
        if (fine && k == 0)
            memcpy(first, s->out.data, array_bytes(s->accumulator, s->bins));
        fine = fine && same_outputs(s, first, why);
    }
    free(first);
    return fine;
}

bool check_scatter_promise(const struct method *m, char why[WHY])
{
    static const size_t lengths[] = {0, 1, 31, 257, MOST}, bins[] = {1, 2, 1000};
    struct scatter *s = scatter_new(m);
    bool fine = true;
    for (size_t k = 0; k < 15 && fine && m->promise > PROMISE_NONE; k++) {
        s->in = (struct array){(enum format)(k % 4), lengths[k % 5], s->in.data};
        s->accumulator = (enum format)(k / 2 % 4);
        s->bins = bins[k % 3];
        sample_fill(&s->in, SAMPLE_NEAR, s->accumulator, k);
        scatter_keys_fill(s->key, s->in.n, s->bins, (enum scatter_keys)(k % SCATTER_KEYS), k);
        fine = !method_supports(m, DEVICE_CPU, s->in.format, s->accumulator) || keeps(s, why);
    }
    return scatter_free(s, fine);
}

/* ---- edges ---- */

/* Bins 1, 2, ..: -0 alone; an inf; a NaN; both infinities; zeros of both signs; 2. Bin 0: nothing.
 */
static bool edges(struct scatter *s, size_t n, char why[WHY])
{
    static const double due[] = {0, -0.0, INFINITY, NAN, NAN, 0, 2};
    static const double odd[][2] = {{-0.0, -0.0},          {INFINITY, 1}, {NAN, 1},
                                    {INFINITY, -INFINITY}, {0.0, -0.0},   {1, 1}};
    s->bins = 7;
    s->in.n = n;
    for (size_t i = 0; i < n; i++) {
        size_t bin = 1 + i / 2 % 6;
        double x = i < 12 ? odd[bin - 1][i % 2] : -0.0;
        s->key[i] = (uint32_t)bin;
        array_encode(&s->in, i, 1, &x);
    }
    default_shape(s);
    if (!run(s, why))
        return false;
    for (size_t b = 0; b < (n ? s->bins : 1); b++)
        if (!is(s, b, n ? due[b] : 0, why))
            return false;
    return true;
}

bool check_scatter_edges(const struct method *m, char why[WHY])
{
    struct scatter *s = scatter_new(m);
    bool fine = true;
    for (enum format f = 0; f < FORMATS && fine; f++)
        for (enum format a = 0; a < FORMATS && fine; a++) {
            s->in.format = f;
            s->accumulator = a;
            if (method_supports(m, DEVICE_CPU, f, a))
                fine = edges(s, 0, why) && edges(s, 12, why) && edges(s, 3000, why);
        }
    return scatter_free(s, fine);
}
