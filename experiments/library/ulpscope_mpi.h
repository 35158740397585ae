/* libulpscope over MPI: an all-reduce that gives the same bits whatever the number and placement of
 * ranks, the algorithm and the message are. What travels is a state of each element's sum
 * (ulpscope.h, "sums that merge"), and MPI's reduction merges states.
 *
 *     #include <ulpscope_mpi.h>
 *
 *     float x[n], sum[n];
 *     if (ulpscope_mpi_allreduce(x, 1, sum, n, ULPSCOPE_FP32, 0, MPI_COMM_WORLD, NULL)) ...
 *
 *     mpicc program.c $(pkg-config --cflags --libs ulpscope)
 *
 * All of it stands in this header, so that the library needs no MPI and serves every one. C and
 * C++. A state has 560 bytes where it is exact, 120 where it is binned: far more than an element.
 */
#ifndef ULPSCOPE_ULPSCOPE_MPI_H
#define ULPSCOPE_ULPSCOPE_MPI_H

#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ulpscope.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Elements whose states are sent at a time. */
enum { ULPSCOPE_MPI_PIECE = 4096 };

static inline enum ulpscope_status
ulpscope_mpi_failed(struct ulpscope_error *error, enum ulpscope_status status, const char *text)
{
    if (error) {
        error->status = status;
        snprintf(error->text, sizeof error->text, "ulpscope_mpi_allreduce: %s", text);
    }
    return status;
}

/* An operation of MPI on states: inout[i] = inout[i] merged with in[i]. It cannot fail, so what
 * could not be merged becomes bytes that are no state, which all ranks find at the end. */
static inline void ulpscope_mpi_merge(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int size = 0;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *count; i++) {
        char *from = (char *)in + (size_t)i * (size_t)size;
        char *to = (char *)inout + (size_t)i * (size_t)size;
        struct ulpscope_state *a = NULL, *b = NULL;
        int merged =
            ulpscope_state_read(&a, from, (size_t)size, ULPSCOPE_FP64, NULL) == ULPSCOPE_OK;
        if (merged)
            merged = ulpscope_state_read(&b, to, (size_t)size, ULPSCOPE_FP64, NULL) == ULPSCOPE_OK;
        else
            a = NULL;
        if (merged)
            merged = ulpscope_state_merge(b, a, NULL) == ULPSCOPE_OK;
        else
            b = NULL;
        if (merged)
            ulpscope_state_write(b, to);
        else
            memset(to, 0xff, (size_t)size);
        ulpscope_state_free(a);
        ulpscope_state_free(b);
    }
}

/* The state of one element of this rank: of `arrays` addends, `n` elements apart. */
static inline enum ulpscope_status ulpscope_mpi_state(struct ulpscope_state **s, const void *in,
                                                      size_t arrays, size_t n, size_t i,
                                                      void *addends, unsigned folds,
                                                      enum ulpscope_format f,
                                                      struct ulpscope_error *error)
{
    size_t bytes = ulpscope_format_bytes(f);
    struct ulpscope_array a;
    enum ulpscope_status status = ulpscope_state_new(s, folds, f, f, error);
    if (status != ULPSCOPE_OK)
        return status;
    for (size_t k = 0; k < arrays; k++)
        memcpy((char *)addends + k * bytes, (const char *)in + (k * n + i) * bytes, bytes);
    a.format = f;
    a.n = arrays;
    a.data = addends;
    status = ulpscope_state_add(*s, &a, error);
    if (status != ULPSCOPE_OK) {
        ulpscope_state_free(*s);
        *s = NULL;
    }
    return status;
}

static inline enum ulpscope_status ulpscope_mpi_piece(const void *in, size_t arrays, void *out,
                                                      size_t n, size_t first, size_t count,
                                                      enum ulpscope_format f, unsigned folds,
                                                      size_t size, MPI_Datatype type, MPI_Op op,
                                                      MPI_Comm comm, char *states, void *addends,
                                                      struct ulpscope_error *error)
{
    size_t bytes = ulpscope_format_bytes(f);
    enum ulpscope_status status = ULPSCOPE_OK;
    for (size_t i = 0; i < count; i++) {
        struct ulpscope_state *s = NULL;
        enum ulpscope_status made =
            ulpscope_mpi_state(&s, in, arrays, n, first + i, addends, folds, f, error);
        if (made == ULPSCOPE_OK)
            ulpscope_state_write(s, states + i * size);
        else /* the others wait in the reduction: they are told there */
            memset(states + i * size, 0xff, size);
        ulpscope_state_free(s);
    }
    if (MPI_Allreduce(MPI_IN_PLACE, states, (int)count, type, op, comm) != MPI_SUCCESS)
        return ulpscope_mpi_failed(error, ULPSCOPE_UNAVAILABLE, "MPI_Allreduce failed");
    for (size_t i = 0; i < count && status == ULPSCOPE_OK; i++) {
        struct ulpscope_state *s = NULL;
        status = ulpscope_state_read(&s, states + i * size, size, f, NULL);
        if (status != ULPSCOPE_OK)
            return ulpscope_mpi_failed(error, status, "a rank could not make or merge its states");
        uint64_t is = ulpscope_encode(f, ulpscope_state_sum(s));
        memcpy((char *)out + (first + i) * bytes, &is, bytes);
        ulpscope_state_free(s);
    }
    return status;
}

/* Element i of `out` on every rank is the sum of element i of the `arrays` arrays that each rank
 * has, n elements each, one after the other in `in`: ranks may have different numbers of them.
 * folds 0: the exact sum, rounded once. 2, 3 or 4: binned, smaller and faster (ulpscope.h).
 *
 * All ranks call it with the same n, format and folds. ULPSCOPE_USAGE: no such format or folds;
 * ULPSCOPE_MEMORY; ULPSCOPE_DATA: another rank failed; ULPSCOPE_UNAVAILABLE: MPI did. */
static inline enum ulpscope_status ulpscope_mpi_allreduce(const void *in, size_t arrays, void *out,
                                                          size_t n, enum ulpscope_format f,
                                                          unsigned folds, MPI_Comm comm,
                                                          struct ulpscope_error *error)
{
    struct ulpscope_state *empty = NULL;
    MPI_Datatype type;
    MPI_Op op;
    enum ulpscope_status status = ulpscope_state_new(&empty, folds, f, f, error);
    if (status != ULPSCOPE_OK)
        return status;
    size_t size = ulpscope_state_bytes(empty);
    ulpscope_state_free(empty);
    char *states = (char *)malloc(ULPSCOPE_MPI_PIECE * size);
    void *addends = malloc(arrays * ulpscope_format_bytes(f) + 1);
    int room = states && addends, all = 0;
    /* Ranks go on together, or not at all. */
    if (MPI_Allreduce(&room, &all, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        status = ulpscope_mpi_failed(error, ULPSCOPE_UNAVAILABLE, "MPI_Allreduce failed");
    else if (!all)
        status = ulpscope_mpi_failed(error, ULPSCOPE_MEMORY, "out of memory on a rank");
    if (status == ULPSCOPE_OK) {
        MPI_Type_contiguous((int)size, MPI_BYTE, &type);
        MPI_Type_commit(&type);
        MPI_Op_create(ulpscope_mpi_merge, 1, &op);
        /* To the end, whatever fails here: the other ranks wait in each reduction. */
        for (size_t i = 0; i < n; i += ULPSCOPE_MPI_PIECE) {
            enum ulpscope_status piece = ulpscope_mpi_piece(
                in, arrays, out, n, i, n - i < ULPSCOPE_MPI_PIECE ? n - i : ULPSCOPE_MPI_PIECE, f,
                folds, size, type, op, comm, states, addends, error);
            status = status == ULPSCOPE_OK ? piece : status;
        }
        MPI_Op_free(&op);
        MPI_Type_free(&type);
    }
    free(states);
    free(addends);
    return status;
}

/* --- the same of words of fixed places: faster, and nearly exact ---
 *
 * The largest exponent E of an element's addends is found by a maximum. Each addend is cut into two
 * integers, in units of 2^(E - 39) and 2^(E - 79), what is below forgotten; and integers are added,
 * which no order changes. 20 bytes an element travel. */

/* Of no rounding's concern: above all exponents, below all. */
enum {
    ULPSCOPE_MPI_SPECIAL = 1 << 20,
    ULPSCOPE_MPI_ZERO = -(1 << 20),
    ULPSCOPE_MPI_MINUS_ZERO = -(1 << 21)
};

static inline double ulpscope_mpi_get(const void *in, size_t i, enum ulpscope_format f)
{
    size_t bytes = ulpscope_format_bytes(f);
    uint64_t bits = 0;
    float narrow;
    double x;
    if (f == ULPSCOPE_FP32) {
        memcpy(&narrow, (const char *)in + i * bytes, sizeof narrow);
        return narrow;
    }
    if (f == ULPSCOPE_FP64) {
        memcpy(&x, (const char *)in + i * bytes, sizeof x);
        return x;
    }
    memcpy(&bits, (const char *)in + i * bytes, bytes);
    return ulpscope_decode(f, bits);
}

static inline int ulpscope_mpi_exponent(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int biased = (int)(bits >> 52 & 0x7ff);
    if (biased == 0x7ff)
        return ULPSCOPE_MPI_SPECIAL;
    if (biased > 0)
        return biased - 1023;
    return x != 0 ? ilogb(x) : bits >> 63 ? ULPSCOPE_MPI_MINUS_ZERO : ULPSCOPE_MPI_ZERO;
}

/* Of infinities and NaN the words count: NaN and inf above 2^40, -inf. */
static inline void ulpscope_mpi_cut(int64_t word[2], double x, int exponent)
{
    if (exponent == ULPSCOPE_MPI_SPECIAL) {
        word[0] += x != x;
        word[1] += x > DBL_MAX ? (int64_t)1 << 31 : x < -DBL_MAX;
    } else if (exponent > ULPSCOPE_MPI_ZERO) {
        double high, low;
        if (exponent > -900 && exponent < 900) { /* each scaling is exact */
            double up = ldexp(1, 39 - exponent), down = ldexp(1, exponent - 39);
            high = rint(x * up);
            low = rint((x - high * down) * up * 0x1p40);
        } else {
            high = rint(ldexp(x, 39 - exponent));
            low = rint(ldexp(x - ldexp(high, exponent - 39), 79 - exponent));
        }
        word[0] += (int64_t)high;
        word[1] += (int64_t)low;
    }
}

/* The sum of both, rounded once (of subnormal results in fp64, twice). */
static inline double ulpscope_mpi_join(const int64_t word[2], int exponent, enum ulpscope_format f)
{
    if (exponent == ULPSCOPE_MPI_SPECIAL) {
        int64_t above = word[1] >> 31, below = word[1] & 0x7fffffff;
        return word[0] || (above && below) ? NAN : above ? INFINITY : -INFINITY;
    }
    if (exponent <= ULPSCOPE_MPI_ZERO)
        return exponent == ULPSCOPE_MPI_MINUS_ZERO ? -0.0 : 0;
    __int128 all = (__int128)word[0] * ((__int128)1 << 40) + word[1];
    if (f == ULPSCOPE_FP64)
        return ldexp((double)all, exponent - 79);
    unsigned __int128 size = all < 0 ? -(unsigned __int128)all : (unsigned __int128)all;
    int shift = 0;
    int rest = 0; /* rounded to odd, so that rounding to f is the only one */
    for (; size >> 53; shift++) {
        rest |= (int)(size & 1);
        size >>= 1;
    }
    double value = (double)(uint64_t)(size | (unsigned)rest);
    return ldexp(all < 0 ? -value : value, shift + exponent - 79);
}

/* As ulpscope_mpi_allreduce: the same bits for every number and placement of ranks and every order.
 * Of N <= 2^22 addends in all, 2^31 at most of them infinite, the error is at most
 * N 2^-80 max|x| + u|sum|. ULPSCOPE_USAGE, ULPSCOPE_MEMORY, ULPSCOPE_UNAVAILABLE. */
static inline enum ulpscope_status
ulpscope_mpi_allreduce_fixed(const void *in, size_t arrays, void *out, size_t n,
                             enum ulpscope_format f, MPI_Comm comm, struct ulpscope_error *error)
{
    size_t bytes = ulpscope_format_bytes(f);
    int *exponent = (int *)malloc(ULPSCOPE_MPI_PIECE * sizeof *exponent);
    int64_t(*word)[2] = (int64_t(*)[2])malloc(ULPSCOPE_MPI_PIECE * sizeof *word);
    int room = exponent && word, all = 0, failed = 0;
    enum ulpscope_status status = ULPSCOPE_OK;
    if (bytes == 0)
        status = ulpscope_mpi_failed(error, ULPSCOPE_USAGE, "no such format");
    else if (MPI_Allreduce(&room, &all, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        status = ulpscope_mpi_failed(error, ULPSCOPE_UNAVAILABLE, "MPI_Allreduce failed");
    else if (!all)
        status = ulpscope_mpi_failed(error, ULPSCOPE_MEMORY, "out of memory on a rank");
    for (size_t first = 0; first < n && status == ULPSCOPE_OK; first += ULPSCOPE_MPI_PIECE) {
        size_t count = n - first < ULPSCOPE_MPI_PIECE ? n - first : ULPSCOPE_MPI_PIECE;
        for (size_t i = 0; i < count; i++) {
            exponent[i] = ULPSCOPE_MPI_MINUS_ZERO;
            word[i][0] = word[i][1] = 0;
        }
        for (size_t k = 0; k < arrays; k++)
            for (size_t i = 0; i < count; i++) {
                int e = ulpscope_mpi_exponent(ulpscope_mpi_get(in, k * n + first + i, f));
                exponent[i] = e > exponent[i] ? e : exponent[i];
            }
        failed |= MPI_Allreduce(MPI_IN_PLACE, exponent, (int)count, MPI_INT, MPI_MAX, comm);
        for (size_t k = 0; k < arrays; k++)
            for (size_t i = 0; i < count; i++)
                ulpscope_mpi_cut(word[i], ulpscope_mpi_get(in, k * n + first + i, f), exponent[i]);
        failed |= MPI_Allreduce(MPI_IN_PLACE, word, 2 * (int)count, MPI_INT64_T, MPI_SUM, comm);
        for (size_t i = 0; i < count; i++) {
            uint64_t is = ulpscope_encode(f, ulpscope_mpi_join(word[i], exponent[i], f));
            memcpy((char *)out + (first + i) * bytes, &is, bytes);
        }
    }
    if (status == ULPSCOPE_OK && failed)
        status = ulpscope_mpi_failed(error, ULPSCOPE_UNAVAILABLE, "MPI_Allreduce failed");
    free(exponent);
    free(word);
    return status;
}

#ifdef __cplusplus
}
#endif
#endif
