/* Arrays added up element by element: every variant held bit for bit to allreduce/exact,
 * allreduce/binned and the state of bins, in every format, of 1 to 17 arrays: of addends that sums
 * are hard to round of, of any encodings, and of what cancels. ULPSCOPE_SEED draws others. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/blocks/arrays.h"
#include "kernels/blocks/binned_state.h"
#include "kernels/blocks/ranks.h"
#include "tests/support/hard_addends.h"

enum { MOST = 17, N = 700, AROUND = 64 };

/* Behind these, blocks of each single one of the hard kinds: how a block is added depends on all of
 * its elements. */
enum kind { HARD, ANY, ALIKE, CANCELLING, HUGE_ONES, LEFT_BELOW, KINDS };

static uint64_t seed(void)
{
    const char *asked = getenv("ULPSCOPE_SEED");
    return asked ? strtoull(asked, NULL, 10) : 1;
}

/* Arrays of one format, each with what must stay as it is around its end. */
struct arrays {
    enum format f;
    size_t count;
    struct array of[MOST];
    const void *data[MOST];
    struct array all, due, out; /* all: one after the other, as the CPU's methods take them */
};

static struct array room(enum format f, size_t n)
{
    struct array a = {f, n, malloc(array_bytes(f, n) + AROUND)};
    cr_assert(a.data);
    memset((char *)a.data + array_bytes(f, n), 0x5a, AROUND);
    return a;
}

static double drawn(enum format f, enum kind kind, size_t k, size_t i, size_t count)
{
    uint64_t r = hard_mixed(seed() << 48 ^ (uint64_t)kind << 44 ^ (uint64_t)k << 32 ^ (uint64_t)i);
    uint64_t of_element = hard_mixed(seed() << 48 ^ (uint64_t)i);
    const struct format_facts *is = &format_facts[f];
    double x = (double)(int64_t)r * 0x1p-63;
    if (kind >= KINDS)
        return hard_addend(f, k, HARD_KINDS * (i + seed() * N) + (size_t)(kind - KINDS));
    switch (kind) {
    case HARD:
        return hard_addend(f, k, i + seed() * N);
    case ANY:
        return format_decode(f, r);
    case ALIKE:
        return format_round(f, x);
    case CANCELLING: /* in pairs, at one of many exponents; of an odd number of arrays, but for one
                      */
        if (k % 2)
            return -drawn(f, kind, k - 1, i, count);
        if (k + 1 == count)
            return format_round(f, ldexp(x, (int)(of_element >> 20) % 40 - 20));
        return format_round(f, ldexp(x, is->emin + (int)(r >> 7) % (is->emax - is->emin)));
    case HUGE_ONES: /* overflow on the way, or in the end */
        return (r & 1 ? 1 : -1) * is->largest * (r & 6 ? 1 : 0.5);
    case LEFT_BELOW: /* when two large ones have cancelled, of digits about the last that are kept
                      */
        if (k < 2)
            return k == 0 ? 1.5 : -1.5;
        int kept = RANKS_FOLDS * is->precision < 53 ? 53 : RANKS_FOLDS * is->precision;
        return format_round(f, ldexp(x, is->precision - kept + 10 - (int)(of_element >> 20) % 60));
    case KINDS:
        break;
    }
    return NAN;
}

static struct arrays make(enum format f, size_t count, enum kind kind)
{
    struct arrays a = {
        .f = f, .count = count, .all = room(f, count * N), .due = room(f, N), .out = room(f, N)};
    for (size_t k = 0; k < count; k++) {
        a.of[k] = room(f, N);
        a.data[k] = a.of[k].data;
        for (size_t i = 0; i < N; i++) {
            array_encode(&a.of[k], i, 1, &(double){drawn(f, kind, k, i, count)});
            array_set_bits(&a.all, k * N + i, array_bits(&a.of[k], i));
        }
    }
    return a;
}

static void end(struct arrays *a)
{
    for (size_t k = 0; k < a->count; k++)
        free(a->of[k].data);
    free(a->all.data);
    free(a->due.data);
    free(a->out.data);
}

/* What the methods on the CPU give; of other numbers of folds than theirs, the state of bins. Of 8
 * bits, which nothing is added in, each addend is a multiple of each unit: the exact sums. */
static void find_due(const struct arrays *a, unsigned folds)
{
    struct problem p = {0};
    struct operands of = {.in = a->all, .bins = N, .stride = N};
    struct task t = {.of = &of, .out = a->due, .accumulator = a->f, .device = -1};
    if (folds == 0 || a->f >= ACCUMULATORS) {
        cr_assert(ranks_exact(&t, &p) == STATUS_OK, "%s", p.text);
    } else if (folds == RANKS_FOLDS) {
        cr_assert(ranks_binned(&t, &p) == STATUS_OK, "%s", p.text);
    } else {
        for (size_t i = 0; i < N; i++) {
            double x[MOST], sum;
            struct binned_state s;
            for (size_t k = 0; k < a->count; k++)
                x[k] = array_get(&a->of[k], i);
            cr_assert(binned_state_init(&s, FP64, a->f, folds, &p) == STATUS_OK);
            binned_state_add(&s, &(struct array){FP64, a->count, x}, 0, a->count);
            sum = binned_state_finish(&s);
            array_encode(&a->due, i, 1, &sum);
        }
    }
}

static size_t hold(const struct arrays *a, unsigned folds, const char *what,
                   const struct array *out, size_t from, size_t count)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t is = array_bits(out, i), expected = array_bits(&a->due, from + i);
        expected = format_canonical(a->f, expected);
        if (is == expected || ++wrong > 3)
            continue;
        fprintf(stderr,
                "seed %llu, %s, %s, %zu arrays, %u folds, element %zu: 0x%llx, expected 0x%llx:",
                (unsigned long long)seed(), what, format_facts[a->f].name, a->count, folds,
                from + i, (unsigned long long)is, (unsigned long long)expected);
        for (size_t k = 0; k < a->count; k++)
            fprintf(stderr, " %a", array_get(&a->of[k], from + i));
        fputc('\n', stderr);
    }
    return wrong;
}

static bool untouched(const struct array *out, size_t n)
{
    const unsigned char *behind = (const unsigned char *)out->data + array_bytes(out->format, n);
    for (size_t i = 0; i < AROUND; i++)
        if (behind[i] != 0x5a)
            return false;
    return true;
}

static size_t try_variant(const struct arrays *a, unsigned folds, const struct arrays_variant *v,
                          size_t *left)
{
    memset(a->out.data, 0xa5, array_bytes(a->f, N));
    size_t undecided = v->sum(a->data, a->count, a->out.data, N, a->f, folds);
    cr_assert(untouched(&a->out, N), "%s wrote behind the end", v->name);
    *left += undecided;
    return hold(a, folds, v->name, &a->out, 0, N);
}

static void try_format(enum format f)
{
    enum { TRIED = KINDS + HARD_KINDS };
    size_t wrong = 0, left[TRIED] = {0}, all[TRIED] = {0};
    fprintf(stderr, "%s, seed %llu\n", format_facts[f].name, (unsigned long long)seed());
    for (size_t count = 1; count <= MOST; count++)
        for (int kind = HARD; kind < (count < 5 || count == MOST ? TRIED : KINDS); kind++) {
            struct arrays a = make(f, count, (enum kind)kind);
            for (unsigned folds = 0; folds <= 4; folds += folds ? 1 : 2) {
                find_due(&a, folds);
                for (size_t v = 0; v < arrays_variants; v++)
                    if (arrays_variant[v].available()) {
                        wrong += try_variant(&a, folds, &arrays_variant[v], &left[kind]);
                        all[kind] += N;
                    }
            }
            end(&a);
        }
    cr_expect(wrong == 0, "%s: %zu wrong", format_facts[f].name, wrong);
    /* Both ways were gone; what one expects is always decided. */
    cr_expect(left[HARD] > 0 && left[HARD] < all[HARD] / 2, "%zu of %zu", left[HARD], all[HARD]);
    cr_expect(left[ALIKE] == 0, "%zu", left[ALIKE]);
}

Test(arrays, sums_of_fp16_have_the_bits_of_the_cpus_methods, .timeout = 240)
{
    try_format(FP16);
}
Test(arrays, sums_of_bf16_have_the_bits_of_the_cpus_methods, .timeout = 240)
{
    try_format(BF16);
}
Test(arrays, sums_of_fp32_have_the_bits_of_the_cpus_methods, .timeout = 240)
{
    try_format(FP32);
}
Test(arrays, sums_of_fp64_have_the_bits_of_the_cpus_methods, .timeout = 240)
{
    try_format(FP64);
}
Test(arrays, sums_of_e4m3_have_the_bits_of_the_cpus_methods, .timeout = 240)
{
    try_format(E4M3);
}
Test(arrays, sums_of_e5m2_have_the_bits_of_the_cpus_methods, .timeout = 240)
{
    try_format(E5M2);
}

/* Unaligned to vectors, short and into one of the arrays; of an array, of none, of very many. */
Test(arrays, any_part_of_arrays_can_be_summed_in_place)
{
    for (enum format f = 0; f < FORMATS; f++)
        for (unsigned folds = 0; folds <= RANKS_FOLDS; folds += RANKS_FOLDS)
            for (size_t count = 1; count <= 5; count++) {
                struct arrays a = make(f, count, HARD);
                size_t from = 3 * count, n = 250 + 7 * count, target = count / 2;
                const void *part[MOST];
                find_due(&a, folds);
                for (size_t k = 0; k < count; k++)
                    part[k] = (char *)a.of[k].data + array_bytes(f, from);
                arrays_sum(part, count, (char *)a.of[target].data + array_bytes(f, from), n, f,
                           folds);
                struct array out = {f, n, (char *)a.of[target].data + array_bytes(f, from)};
                cr_expect(hold(&a, folds, "in place", &out, from, n) == 0);
                for (size_t i = from + n; i < N; i++)
                    cr_assert(array_bits(&a.of[target], i) == array_bits(&a.all, target * N + i));
                end(&a);
            }
    double none[3] = {1, 2, 3};
    arrays_sum(NULL, 0, none, 2, FP64, 0);
    cr_expect(none[0] == 0 && !signbit(none[0]) && none[1] == 0 && none[2] == 3);
}

/* More than fp16's own 40 bits and those of a count in a double. */
Test(arrays, of_very_many_arrays_nothing_is_lost)
{
    enum { MANY = 20001 };
    static const void *data[MANY];
    uint16_t half[4] = {0x7bff, 0xfbff, 0x0001, 0x8000}; /* +-65504, 2^-24, -0 */
    for (unsigned folds = 0; folds <= RANKS_FOLDS; folds += RANKS_FOLDS) {
        uint16_t out = 0;
        for (size_t k = 0; k < MANY; k++)
            data[k] = &half[k == 0 ? 2 : k > MANY / 2];
        arrays_sum(data, MANY, &out, 1, FP16, folds);
        cr_expect(out == half[2], "0x%x", out);
        for (size_t k = 0; k < MANY; k++)
            data[k] = &half[3];
        arrays_sum(data, MANY, &out, 1, FP16, folds);
        cr_expect(out == half[3], "0x%x", out);
    }
}

/* Where no more than twice the digits are kept, of two numbers a cut one shows: beside 2^31 the
 * unit of 2 folds is 2^-74, and what is cut off the other one makes a tie of what was none. */
Test(arrays, of_two_numbers_a_cut_one_shows)
{
    const double a = 0x1p31, b = -(0x1p-23 + 0x1p-75), x[2] = {a, b};
    const void *data[2] = {&a, &b};
    struct binned_state s;
    struct problem p = {0};
    cr_assert(binned_state_init(&s, FP64, FP64, 2, &p) == STATUS_OK);
    binned_state_add(&s, &(struct array){FP64, 2, (void *)x}, 0, 2);
    cr_assert(binned_state_finish(&s) == a);
    for (size_t v = 0; v < arrays_variants; v++) {
        double binned = 0, exact = 0;
        if (!arrays_variant[v].available())
            continue;
        arrays_variant[v].sum(data, 2, &binned, 1, FP64, 2);
        arrays_variant[v].sum(data, 2, &exact, 1, FP64, 0);
        cr_expect(binned == a && exact == a - 0x1p-22, "%a, %a", binned, exact);
    }
}
