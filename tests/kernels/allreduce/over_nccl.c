/* ulpscope_nccl.h without a GPU: the arithmetic that its kernels share held to allreduce/exact and
 * allreduce/binned, bit for bit, both in doubles where these decide and as integers; and the whole
 * all-reduce, over an NCCL that is played among threads. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ULPSCOPE_NCCL_PLAYED
#include "kernels/allreduce/ulpscope_nccl.h"
#include "kernels/method/method.h"
#include "kernels/blocks/ranks.h"
#include "reference/format/array.h"
#include "tests/support/hard_addends.h"

static ncclDataType_t type_of(enum format f)
{
    static const ncclDataType_t type[] = {
        [FP16] = ncclFloat16, [BF16] = ncclBfloat16, [FP32] = ncclFloat32, [FP64] = ncclFloat64};
    return type[f];
}

/* The elements of all ranks, one after the other, and what they are due to. */
struct sums {
    enum format f;
    size_t arrays, n; /* of all ranks */
    size_t ranks;     /* that share them */
    unsigned folds;
    struct array in, due;
};

static struct array room(enum format f, size_t n)
{
    struct array a = {f, n, malloc(array_bytes(f, n) + 1)};
    cr_assert(a.data);
    return a;
}

static struct sums make(enum format f, size_t arrays, size_t n, size_t first)
{
    struct sums s = {.f = f,
                     .arrays = arrays,
                     .n = n,
                     .ranks = arrays,
                     .in = room(f, arrays * n),
                     .due = room(f, n)};
    for (size_t r = 0; r < arrays; r++)
        for (size_t i = 0; i < n; i++)
            array_encode(&s.in, r * n + i, 1, &(double){hard_addend(f, r, first + i)});
    return s;
}

static void due(struct sums *s, unsigned folds)
{
    struct problem p = {0};
    struct operands of = {.in = s->in, .bins = s->n, .stride = s->n};
    const struct method *m = method_named(folds ? "allreduce/binned" : "allreduce/exact");
    struct task t = {.of = &of, .out = s->due, .accumulator = s->f, .method = m, .device = -1};
    cr_assert(m->cpu(&t, &p) == STATUS_OK, "%s", p.text);
    s->folds = folds;
}

static void end(struct sums *s)
{
    free(s->in.data);
    free(s->due.data);
}

/* --- the arithmetic --- */

static void hold(const struct sums *s, size_t i, const char *how, uint64_t is, size_t *wrong)
{
    uint64_t expected = format_canonical(s->f, array_bits(&s->due, i));
    if (format_canonical(s->f, is) == expected || ++*wrong > 5)
        return;
    fprintf(stderr, "%s, %zu arrays, %u folds, element %zu, %s: 0x%llx, expected 0x%llx:",
            format_facts[s->f].name, s->arrays, s->folds, i, how, (unsigned long long)is,
            (unsigned long long)expected);
    for (size_t r = 0; r < s->arrays; r++)
        fprintf(stderr, " %a", array_get(&s->in, r * s->n + i));
    fputc('\n', stderr);
}

Test(over_nccl, a_few_addends_have_the_bits_of_the_cpus_methods, .timeout = 120)
{
    enum { N = 4000 };
    size_t wrong = 0, decided = 0, enclosed = 0, all = 0;
    for (enum format f = FP16; f <= FP64; f++)
        for (size_t ranks = 1; ranks <= 17; ranks += ranks < 5 ? 1 : 4)
            for (unsigned folds = 0; folds <= RANKS_FOLDS; folds += RANKS_FOLDS) {
                struct sums s = make(f, ranks, N, N * ranks);
                due(&s, folds);
                struct ulpscope_nccl_addends a = {NULL, s.in.data, 0, N, -1, 0, (int)ranks};
                for (size_t i = 0; i < N; i++) {
                    struct ulpscope_nccl_sum sum = {0, 0, 0, 0, 0};
                    uint64_t bits;
                    for (size_t r = 0; r < ranks; r++)
                        ulpscope_nccl_add(&sum, type_of(f), (int)folds, array_get(&s.in, r * N + i),
                                          r == 0);
                    if (ulpscope_nccl_decided(&sum, type_of(f), (int)folds, &bits)) {
                        hold(&s, i, "in doubles", bits, &wrong);
                        decided++;
                        enclosed += sum.t > 0;
                    }
                    bits = ulpscope_nccl_any(&a, type_of(f), (int)folds, i);
                    hold(&s, i, "as integers", bits, &wrong);
                    bits = ulpscope_nccl_undecided(&a, type_of(f), (int)folds, i, sum.most);
                    hold(&s, i, "rounded to the unit, in doubles", bits, &wrong);
                    all++;
                }
                end(&s);
            }
    fprintf(stderr, "%zu of %zu decided in doubles, %zu by an enclosure\n", decided, all, enclosed);
    cr_expect(wrong == 0, "%zu wrong", wrong);
    cr_expect(2 * decided > all && decided < all && enclosed > 1000);
}

Test(over_nccl, encoding_is_the_formats)
{
    for (enum format f = FP16; f <= BF16; f++)
        for (uint64_t bits = 0; bits < 1 << 16; bits++) {
            double x = format_decode(f, bits), is = ulpscope_nccl_decode(type_of(f), bits);
            cr_assert(is == x || (is != is && x != x), "%s 0x%llx", format_facts[f].name,
                      (unsigned long long)bits);
            if (x != x)
                continue;
            cr_assert(ulpscope_nccl_encode(type_of(f), x) == bits, "%s 0x%llx",
                      format_facts[f].name, (unsigned long long)bits);
        }
    static const enum format wide[] = {FP32, BF16};
    for (size_t k = 0; k < 2; k++)
        for (uint64_t i = 0; i < 200000; i++) { /* halfway, a bit more, a bit less */
            double x = format_decode(FP32, hard_mixed(i) >> 32 & ~(i % 3 ? 0u : 0xffffu));
            double y = ldexp(fabs(x) > 0x1p120 ? 0 : x, -24) * (double)((int)(i % 5) - 2) * 0.5;
            double sum = x, rest = ulpscope_nccl_lost(&sum, y);
            if (!(fabs(sum) < (double)INFINITY))
                continue;
            cr_assert(rest == 0, "%a + %a", x, y);
            uint64_t is = ulpscope_nccl_encode(type_of(wide[k]), ulpscope_nccl_odd(sum, rest));
            cr_assert(is == format_encode(wide[k], format_round(wide[k], sum)), "%s %a",
                      format_facts[wide[k]].name, sum);
        }
}

/* --- the all-reduce --- */

struct part {
    const struct sums *s;
    int rank, in_place;
    ncclUniqueId id;
    struct array out;
    ncclResult_t result;
};

static void *be_rank(void *context)
{
    struct part *p = context;
    const struct sums *s = p->s;
    ncclComm_t comm;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    size_t bytes = array_bytes(s->f, s->n), arrays = s->arrays / s->ranks;
    const char *in = (const char *)s->in.data + (size_t)p->rank * arrays * bytes;
    void *scratch = malloc(ulpscope_nccl_scratch(s->n, arrays, type_of(s->f), (int)s->ranks));
    memset(p->out.data, 0x55, bytes);
    if (p->in_place)
        memcpy(p->out.data, in, bytes);
    ncclCommInitRankConfig(&comm, (int)s->ranks, p->id, p->rank, &config);
    p->result = ulpscope_nccl_allreduce(p->in_place ? p->out.data : in, arrays, p->out.data, s->n,
                                        type_of(s->f), s->folds, scratch, comm, NULL);
    ncclCommDestroy(comm);
    free(scratch);
    return NULL;
}

static void expect_all_ranks(const struct sums *s, int in_place)
{
    struct part part[8] = {0};
    pthread_t thread[8];
    ncclGetUniqueId(&part[0].id);
    for (size_t r = 0; r < s->ranks; r++) {
        part[r] = (struct part){.s = s, .rank = (int)r, .in_place = in_place, .id = part[0].id};
        part[r].out = room(s->f, s->n);
        cr_assert(pthread_create(&thread[r], NULL, be_rank, &part[r]) == 0);
    }
    for (size_t r = 0; r < s->ranks; r++) {
        size_t wrong = 0;
        pthread_join(thread[r], NULL);
        cr_expect(part[r].result == ncclSuccess);
        for (size_t i = 0; i < s->n; i++)
            hold(s, i, "all ranks", array_bits(&part[r].out, i), &wrong);
        cr_expect(wrong == 0, "%s, rank %zu of %zu, %zu elements, %u folds, %s: %zu wrong",
                  format_facts[s->f].name, r, s->ranks, s->n, s->folds,
                  in_place ? "in place" : "to another array", wrong);
        free(part[r].out.data);
    }
}

/* Below and above what is gathered whole, and with every kind of rest. */
static void hold_lengths(size_t ranks)
{
    static const size_t length[] = {1, 2, 63, 64, 1000};
    for (enum format f = FP16; f <= FP64; f++) {
        size_t whole = ULPSCOPE_NCCL_GATHERED / (size_t)format_facts[f].bytes / (ranks - 1);
        size_t lengths[8], count = 0;
        for (size_t k = 0; k < sizeof length / sizeof *length; k++)
            lengths[count++] = length[k];
        lengths[count++] = whole;
        lengths[count++] = whole + 1;
        lengths[count++] = (whole / 64 / ranks + 1) * 64 * ranks;
        for (size_t k = f % 2; k < count; k += k < 5 ? 2 : 1) {
            struct sums s = make(f, ranks, lengths[k], k);
            size_t bytes = (size_t)format_facts[f].bytes;
            cr_expect((ulpscope_nccl_block(s.n, 1, bytes, (int)ranks) > 0) == (lengths[k] > whole));
            due(&s, k % 2 ? RANKS_FOLDS : 0);
            expect_all_ranks(&s, (int)(k / 2 % 2));
            end(&s);
        }
    }
}

Test(over_nccl, two_ranks_of_any_length, .timeout = 300)
{
    hold_lengths(2);
}

Test(over_nccl, three_ranks_of_any_length, .timeout = 300)
{
    hold_lengths(3);
}

Test(over_nccl, eight_ranks_of_any_length, .timeout = 300)
{
    hold_lengths(8);
}

/* 24 arrays, dealt to ranks: long enough to be cut into blocks on all but one. */
Test(over_nccl, arrays_have_one_sum_on_any_number_of_ranks, .timeout = 300)
{
    for (enum format f = BF16; f <= FP32; f++)
        for (size_t n = 999; n < 200000; n *= 150) {
            struct sums s = make(f, 24, n, 0);
            for (s.ranks = 1; s.ranks <= 8; s.ranks *= 2) {
                due(&s, s.ranks % 3 ? RANKS_FOLDS : 0);
                expect_all_ranks(&s, 0);
            }
            s.ranks = 3;
            due(&s, 0);
            expect_all_ranks(&s, 0);
            end(&s);
        }
}

Test(over_nccl, one_rank_has_its_own_elements)
{
    struct sums s = make(FP32, 1, 1000, 0);
    due(&s, 0);
    expect_all_ranks(&s, 0);
    due(&s, RANKS_FOLDS);
    expect_all_ranks(&s, 1);
    end(&s);
}

Test(over_nccl, what_it_cannot_do_is_refused)
{
    float x = 0, y = 0;
    char scratch[8];
    cr_expect(ulpscope_nccl_allreduce(&x, 1, &y, 1, ncclFloat32, 1, scratch, NULL, NULL) ==
              ncclInvalidArgument);
    cr_expect(ulpscope_nccl_allreduce(&x, 1, &y, 1, ncclFloat32, 5, scratch, NULL, NULL) ==
              ncclInvalidArgument);
    cr_expect(ulpscope_nccl_allreduce(&x, 1, &y, 1, ncclFloat32, 0, NULL, NULL, NULL) ==
              ncclInvalidArgument);
    cr_expect(ulpscope_nccl_allreduce(&x, 1, &y, 1, (ncclDataType_t)99, 0, scratch, NULL, NULL) ==
              ncclInvalidArgument);
    cr_expect(ulpscope_nccl_allreduce(&x, 0, &y, 1, ncclFloat32, 0, scratch, NULL, NULL) ==
              ncclInvalidArgument);
    cr_expect(ulpscope_nccl_scratch(10, 1, (ncclDataType_t)99, 2) == 0);
    cr_expect(ulpscope_nccl_scratch(10, 1, ncclFloat32, 0) == 0);
}
