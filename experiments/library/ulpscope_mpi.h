/* libulpscope over MPI: an all-reduce that gives the same bits whatever the number and placement of
 * ranks, the algorithm and the message are.
 *
 *     #include <ulpscope_mpi.h>
 *
 *     float x[n], sum[n];
 *     if (ulpscope_mpi_allreduce(x, 1, sum, n, ULPSCOPE_FP32, 0, MPI_COMM_WORLD, NULL)) ...
 *
 *     mpicc program.c $(pkg-config --cflags --libs ulpscope)
 *
 * Each rank receives one block of the elements from all ranks, adds them exactly, rounds once, and
 * all ranks gather the rounded blocks: as many bytes as a ring's all-reduce sends. No sum of MPI's
 * is used. Long messages go in pieces, so that a rank takes about a megabyte beside its arrays.
 *
 * All of it stands in this header, so that the library needs no MPI and serves every one. C and
 * C++. */
#ifndef ULPSCOPE_ULPSCOPE_MPI_H
#define ULPSCOPE_ULPSCOPE_MPI_H

#include <float.h>
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ulpscope.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of other ranks' elements that a rank receives at a time, and up to which it receives all of
 * a message: then each rank adds all of it. Every rank must be compiled with the same ones. */
#ifndef ULPSCOPE_MPI_RECEIVED
#define ULPSCOPE_MPI_RECEIVED (1 << 20)
#endif
#ifndef ULPSCOPE_MPI_GATHERED
#define ULPSCOPE_MPI_GATHERED (1 << 12)
#endif

static inline enum ulpscope_status
ulpscope_mpi_failed(struct ulpscope_error *error, enum ulpscope_status status, const char *text)
{
    if (error) {
        error->status = status;
        snprintf(error->text, sizeof error->text, "ulpscope_mpi_allreduce: %s", text);
    }
    return status;
}

static inline MPI_Datatype ulpscope_mpi_type(size_t bytes)
{
    return bytes == 8   ? MPI_UINT64_T
           : bytes == 4 ? MPI_UINT32_T
           : bytes == 2 ? MPI_UINT16_T
                        : MPI_UINT8_T;
}

/* What all ranks know of a call, and what this one has for it. */
struct ulpscope_mpi_call {
    const char *in;
    char *out;
    size_t arrays, n, bytes; /* of this rank; of each array; of an element */
    enum ulpscope_format f;
    unsigned folds;
    MPI_Comm comm;
    MPI_Datatype type;
    int rank, ranks;
    uint64_t *first;    /* rank r has the arrays first[r] .. first[r + 1] - 1 of all ranks' */
    size_t total, most; /* arrays of all ranks together; of the rank with the most */
    size_t block;       /* elements that a rank adds up at a time; 0: all elements */
    const void **array; /* where each array's block is */
    char *received;     /* blocks of other ranks' arrays, each of `room` elements */
    size_t room;
    int *sends, *sends_at, *gets, *gets_at; /* what MPI is told */
};

static inline void ulpscope_mpi_end(struct ulpscope_mpi_call *c)
{
    free(c->first);
    free((void *)c->array);
    free(c->received);
    free(c->sends);
    c->first = NULL;
    c->array = NULL;
    c->received = NULL;
    c->sends = NULL;
}

/* Memory for as many arrays as c->first says; 0: there is not enough. */
static inline int ulpscope_mpi_begin(struct ulpscope_mpi_call *c)
{
    size_t ranks = (size_t)c->ranks, total, others, share = c->n / ranks + (c->n % ranks > 0);
    c->most = 0;
    for (size_t r = 0; r < ranks; r++)
        c->most = c->first[r + 1] - c->first[r] > c->most ? c->first[r + 1] - c->first[r] : c->most;
    total = c->total = (size_t)c->first[ranks];
    if (total > INT_MAX / 64)
        return 0;
    others = ranks == 1 ? 0 : total;
    c->block = 0;
    c->room = c->n;
    if (others > 0 && c->n > ULPSCOPE_MPI_GATHERED / (others * c->bytes)) {
        size_t most = ULPSCOPE_MPI_RECEIVED / (others * c->bytes);
        most = most > 64 ? most / 64 * 64 : most < 1 ? 1 : most;
        c->block = c->room = share < most ? share : most;
    }
    c->array = (const void **)malloc((total + 1) * sizeof *c->array);
    c->received = (char *)malloc(others * c->room * c->bytes + 1);
    c->sends = (int *)malloc(4 * ranks * sizeof *c->sends);
    c->sends_at = c->sends + ranks;
    c->gets = c->sends + 2 * ranks;
    c->gets_at = c->sends + 3 * ranks;
    return c->array && c->received && c->sends;
}

/* Where rank r's block begins of `count` elements that ranks share. */
static inline size_t ulpscope_mpi_share(const struct ulpscope_mpi_call *c, size_t count, int r)
{
    size_t each = count / (size_t)c->ranks, more = count % (size_t)c->ranks, rank = (size_t)r;
    return rank * each + (rank < more ? rank : more);
}

/* Adds the elements begin .. begin + count - 1 of all arrays; of other ranks' these are received.
 */
static inline void ulpscope_mpi_add(const struct ulpscope_mpi_call *c, size_t begin, size_t count)
{
    for (size_t k = 0; k < c->total; k++) {
        size_t own = k - c->first[c->rank]; /* wraps round for those of ranks before */
        c->array[k] = own < c->arrays ? c->in + (own * c->n + begin) * c->bytes
                                      : c->received + k * c->room * c->bytes;
    }
    ulpscope_sum_arrays(c->out + begin * c->bytes, c->array, c->total, count, c->f, c->folds, NULL);
}

/* All ranks receive all arrays whole. */
static inline int ulpscope_mpi_whole(const struct ulpscope_mpi_call *c)
{
    for (int r = 0; r < c->ranks; r++) {
        c->gets[r] = (int)((c->first[r + 1] - c->first[r]) * c->n);
        c->gets_at[r] = (int)(c->first[r] * c->n);
    }
    if (MPI_Allgatherv(c->in, (int)(c->arrays * c->n), c->type, c->received, c->gets, c->gets_at,
                       c->type, c->comm) != MPI_SUCCESS)
        return 0;
    ulpscope_mpi_add(c, 0, c->n);
    return 1;
}

/* Elements begin .. begin + count - 1, of which each rank adds its share. */
static inline int ulpscope_mpi_piece(const struct ulpscope_mpi_call *c, size_t begin, size_t count)
{
    size_t at = ulpscope_mpi_share(c, count, c->rank);
    size_t mine = ulpscope_mpi_share(c, count, c->rank + 1) - at;
    for (size_t a = 0; a < c->most; a++) {
        const char *from = a < c->arrays ? c->in + (a * c->n + begin) * c->bytes : c->out;
        for (int r = 0; r < c->ranks; r++) {
            size_t to = ulpscope_mpi_share(c, count, r);
            size_t its = ulpscope_mpi_share(c, count, r + 1) - to,
                   has = c->first[r + 1] - c->first[r];
            c->sends[r] = r != c->rank && a < c->arrays ? (int)its : 0;
            c->sends_at[r] = (int)to;
            c->gets[r] = r != c->rank && a < has ? (int)mine : 0;
            c->gets_at[r] = a < has ? (int)((c->first[r] + a) * c->room) : 0;
        }
        if (MPI_Alltoallv(from, c->sends, c->sends_at, c->type, c->received, c->gets, c->gets_at,
                          c->type, c->comm) != MPI_SUCCESS)
            return 0;
    }
    ulpscope_mpi_add(c, begin + at, mine);
    for (int r = 0; r < c->ranks; r++) {
        c->gets_at[r] = (int)ulpscope_mpi_share(c, count, r);
        c->gets[r] = (int)(ulpscope_mpi_share(c, count, r + 1) - (size_t)c->gets_at[r]);
    }
    return MPI_Allgatherv(MPI_IN_PLACE, 0, c->type, c->out + begin * c->bytes, c->gets, c->gets_at,
                          c->type, c->comm) == MPI_SUCCESS;
}

/* Do all ranks call alike, and go on? Every rank asks it, whatever went wrong on it. *alike: have
 * all as many arrays? */
static inline enum ulpscope_status ulpscope_mpi_agree(const struct ulpscope_mpi_call *c,
                                                      enum ulpscope_status mine, int *alike,
                                                      struct ulpscope_error *error)
{
    int64_t is[7] = {(int64_t)mine, (int64_t)c->n, (int64_t)c->f * 8 + (int64_t)c->folds,
                     (int64_t)c->arrays};
    int64_t of_all[7];
    for (int k = 1; k < 4; k++)
        is[k + 3] = -is[k];
    if (MPI_Allreduce(is, of_all, 7, MPI_INT64_T, MPI_MAX, c->comm) != MPI_SUCCESS)
        return ulpscope_mpi_failed(error, ULPSCOPE_UNAVAILABLE, "MPI_Allreduce failed");
    *alike = of_all[3] == -of_all[6];
    if (of_all[0] == ULPSCOPE_OK && (of_all[1] != -of_all[4] || of_all[2] != -of_all[5]))
        return ulpscope_mpi_failed(error, ULPSCOPE_USAGE,
                                   "found another n, format or folds on another rank, expected the "
                                   "same on all");
    if (of_all[0] == mine)
        return mine;
    return ulpscope_mpi_failed(error, (enum ulpscope_status)of_all[0],
                               of_all[0] == ULPSCOPE_MEMORY ? "out of memory on another rank"
                                                            : "called wrongly on another rank");
}

/* Ranks that have different numbers of arrays tell them. */
static inline enum ulpscope_status ulpscope_mpi_tell(struct ulpscope_mpi_call *c,
                                                     struct ulpscope_error *error)
{
    uint64_t mine = c->arrays, *first = c->first;
    int alike = 0;
    if (MPI_Allgather(&mine, 1, MPI_UINT64_T, first + 1, 1, MPI_UINT64_T, c->comm) != MPI_SUCCESS)
        return ulpscope_mpi_failed(error, ULPSCOPE_UNAVAILABLE, "MPI_Allgather failed");
    for (int r = 0; r < c->ranks; r++)
        first[r + 1] += first[r];
    c->first = NULL;
    ulpscope_mpi_end(c);
    c->first = first;
    enum ulpscope_status room = ULPSCOPE_OK;
    if (!ulpscope_mpi_begin(c))
        room = ulpscope_mpi_failed(error, ULPSCOPE_MEMORY, "out of memory");
    return ulpscope_mpi_agree(c, room, &alike, error);
}

static inline enum ulpscope_status ulpscope_mpi_check(const struct ulpscope_mpi_call *c,
                                                      struct ulpscope_error *error)
{
    if (c->bytes == 0)
        return ulpscope_mpi_failed(error, ULPSCOPE_USAGE, "no such format");
    if (c->folds == 1 || c->folds > 4)
        return ulpscope_mpi_failed(error, ULPSCOPE_USAGE,
                                   "expected 0 folds (exact), or 2 to 4 (binned)");
    if (c->n > SIZE_MAX / 64 || c->arrays > INT_MAX / 64 ||
        (c->arrays > 0 && c->n > SIZE_MAX / 16 / c->arrays))
        return ulpscope_mpi_failed(error, ULPSCOPE_USAGE, "found more elements than memory holds");
    if (c->n > 0 && (!c->out || (c->arrays > 0 && !c->in)))
        return ulpscope_mpi_failed(error, ULPSCOPE_USAGE, "found no array");
    return ULPSCOPE_OK;
}

/* Element i of `out` on every rank is the sum of element i of the `arrays` arrays that each rank
 * has, n elements each, one after the other in `in`: ranks may have different numbers of them, and
 * none. `in` may be `out`, or MPI_IN_PLACE where there is one array, which is in `out` then.
 * Formats: all that ulpscope.h has. folds 0: the exact sum, rounded once, as allreduce/exact. 2, 3
 * or 4: binned, each element rounded to a unit that the largest one sets, then exact; 3 as
 * allreduce/binned. Special values are those of ulpscope_sum_arrays.
 *
 * All ranks of the communicator call it, no intercommunicator, with the same n, format and folds.
 * They agree before anything else is sent: where one fails, all return its status, the largest
 * where several do. ULPSCOPE_USAGE: no such format or folds, no array, n or these are others on
 * another rank, an intercommunicator; ULPSCOPE_MEMORY; ULPSCOPE_UNAVAILABLE: MPI failed, where its
 * error handler returns; `out` is undefined then. */
static inline enum ulpscope_status ulpscope_mpi_allreduce(const void *in, size_t arrays, void *out,
                                                          size_t n, enum ulpscope_format f,
                                                          unsigned folds, MPI_Comm comm,
                                                          struct ulpscope_error *error)
{
    struct ulpscope_mpi_call c;
    enum ulpscope_status status;
    int between = 0, alike = 1, sent = 1;
    if (comm == MPI_COMM_NULL || MPI_Comm_test_inter(comm, &between) != MPI_SUCCESS || between)
        return ulpscope_mpi_failed(error, ULPSCOPE_USAGE, "expected an intracommunicator");
    memset(&c, 0, sizeof c);
    c.in = (const char *)(in == MPI_IN_PLACE && arrays <= 1 ? out : in);
    c.out = (char *)out;
    c.arrays = arrays;
    c.n = n;
    c.bytes = ulpscope_format_bytes(f);
    c.f = f;
    c.folds = folds;
    c.comm = comm;
    c.type = ulpscope_mpi_type(c.bytes);
    MPI_Comm_rank(comm, &c.rank);
    MPI_Comm_size(comm, &c.ranks);
    status = ulpscope_mpi_check(&c, error);
    if (status == ULPSCOPE_OK && in == MPI_IN_PLACE && arrays > 1)
        status =
            ulpscope_mpi_failed(error, ULPSCOPE_USAGE, "found MPI_IN_PLACE, expected one array");
    if (status == ULPSCOPE_OK) { /* as if all had as many arrays as this one */
        c.first = (uint64_t *)malloc(((size_t)c.ranks + 1) * sizeof *c.first);
        for (int r = 0; c.first && r <= c.ranks; r++)
            c.first[r] = (uint64_t)r * arrays;
        if (!c.first || !ulpscope_mpi_begin(&c))
            status = ulpscope_mpi_failed(error, ULPSCOPE_MEMORY, "out of memory");
    }
    if (c.ranks > 1)
        status = ulpscope_mpi_agree(&c, status, &alike, error);
    if (status == ULPSCOPE_OK && !alike)
        status = ulpscope_mpi_tell(&c, error);
    if (status == ULPSCOPE_OK && c.ranks == 1)
        ulpscope_mpi_add(&c, 0, n);
    else if (status == ULPSCOPE_OK && n > 0 && c.block == 0)
        sent = ulpscope_mpi_whole(&c);
    else if (status == ULPSCOPE_OK) {
        size_t step = c.block * (size_t)c.ranks;
        for (size_t begin = 0; begin < n && sent; begin += step)
            sent = ulpscope_mpi_piece(&c, begin, n - begin < step ? n - begin : step);
    }
    ulpscope_mpi_end(&c);
    return sent ? status : ulpscope_mpi_failed(error, ULPSCOPE_UNAVAILABLE, "MPI failed");
}

/* --- the same of words of fixed places: faster, and nearly exact ---
 *
 * The largest exponent E of an element's addends is found by a maximum. Each addend is cut into two
 * integers, in units of 2^(E - 39) and 2^(E - 79), what is below forgotten; and integers are added,
 * which no order changes. 20 bytes an element travel. */

/* Elements whose words are sent at a time. */
enum { ULPSCOPE_MPI_PIECE = 4096 };

/* Of no rounding's concern: above all exponents, below all. */
enum {
    ULPSCOPE_MPI_SPECIAL = 1 << 20,
    ULPSCOPE_MPI_ZERO = -(1 << 20),
    ULPSCOPE_MPI_MINUS_ZERO = -(1 << 21),
    ULPSCOPE_MPI_NOTHING = -(1 << 22) /* of no addends: their sum is +0 */
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
            double scaled = ldexp(x, 39 - exponent); /* `high` as large as x may be out of range */
            high = rint(scaled);
            low = rint(ldexp(scaled - high, 40));
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
 * N 2^-80 max|x| + u|sum|. Where one rank fails, all do, as there. */
static inline enum ulpscope_status
ulpscope_mpi_allreduce_fixed(const void *in, size_t arrays, void *out, size_t n,
                             enum ulpscope_format f, MPI_Comm comm, struct ulpscope_error *error)
{
    struct ulpscope_mpi_call c;
    size_t bytes = ulpscope_format_bytes(f);
    int *exponent = NULL, between = 1, alike = 1, failed = 0;
    int64_t(*word)[2] = NULL;
    enum ulpscope_status status;
    if (comm == MPI_COMM_NULL || MPI_Comm_test_inter(comm, &between) != MPI_SUCCESS || between)
        return ulpscope_mpi_failed(error, ULPSCOPE_USAGE, "expected an intracommunicator");
    if (in == MPI_IN_PLACE && arrays <= 1) /* a piece is read before it is written */
        in = out;
    memset(&c, 0, sizeof c);
    c.in = (const char *)in;
    c.out = (char *)out;
    c.arrays = arrays;
    c.n = n;
    c.bytes = bytes;
    c.f = f;
    c.comm = comm;
    status = ulpscope_mpi_check(&c, error);
    if (status == ULPSCOPE_OK && in == MPI_IN_PLACE)
        status =
            ulpscope_mpi_failed(error, ULPSCOPE_USAGE, "found MPI_IN_PLACE, expected one array");
    if (status == ULPSCOPE_OK) {
        exponent = (int *)malloc(ULPSCOPE_MPI_PIECE * sizeof *exponent);
        word = (int64_t(*)[2])malloc(ULPSCOPE_MPI_PIECE * sizeof *word);
        if (!exponent || !word)
            status = ulpscope_mpi_failed(error, ULPSCOPE_MEMORY, "out of memory");
    }
    status = ulpscope_mpi_agree(&c, status, &alike, error);
    for (size_t first = 0; first < n && status == ULPSCOPE_OK; first += ULPSCOPE_MPI_PIECE) {
        size_t left = n - first, piece = ULPSCOPE_MPI_PIECE, count = left < piece ? left : piece;
        for (size_t i = 0; i < count; i++) {
            exponent[i] = ULPSCOPE_MPI_NOTHING;
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
