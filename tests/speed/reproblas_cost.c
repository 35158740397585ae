/* ulpscope's all-reduces and sums over ranks beside those of ReproBLAS (Ahrens, Demmel, Nguyen,
 * "Algorithms for efficient reproducible floating point summation", ACM TOMS 46(3), 2020), which
 * -DULPSCOPE_REPROBLAS_DIR= names; fold 3, as it recommends.
 *
 *     mpirun -n RANKS build/reproblas_cost COST BITS [LOG2_MOST]
 *
 * Two questions of each: `vector` is one sum of all elements of all ranks, which ReproBLAS is made
 * for: a rank adds up its elements, and one state travels. `elements` is the all-reduce: a sum for
 * each element. ReproBLAS has none; a program makes it of an array of its states, one an element,
 * with its type and operation for MPI. reproblas/states is the time of that reduction alone.
 *
 * COST gets a row a method, format, input and n (elements of a rank): medians of turns, taken as
 * mpi_cost takes them; plain is MPI_SUM, for `vector` of sums that 32 partial ones make.
 * BITS gets a row a method, format and input: the same addends are dealt to 1, 2, ... RANKS ranks
 * in ten orders: how many results there are, and the largest error of any, in ulps of the exact
 * sum. Exit status 1 where one that shall not depend on the deal does, or an exact one is wrong. */
#include <binned.h>
#include <binnedBLAS.h>
#include <binnedMPI.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ulpscope_mpi.h>

#include "reference/format/hash_array.h"
#include "tests/speed/addends.h"

enum { FOLD = 3, STATE = 2 * FOLD, ORDERS = 10, ADDENDS = 12, MESSAGE = 1024, VECTOR = 1 << 15 };
enum { LANES = 32, DEALS_MOST = ORDERS * 64, CANCELLING = INPUTS };

/* A rank's part: `arrays` of n elements each, one after the other, of which n sums are due; of a
 * vector one array, of which one sum is due. */
struct part {
    const void *in;
    void *out;
    size_t arrays, n;
    enum format f;
    MPI_Comm comm;
};

static int rank, ranks, wrong;
static double *states, *sums; /* of ReproBLAS, one an element */

static _Noreturn void fail(int status, const char *what, const char *why)
{
    fprintf(stderr, "reproblas_cost: %s: %s\n", what, why);
    MPI_Abort(MPI_COMM_WORLD, status);
    exit(status);
}

static void *room(size_t bytes)
{
    void *data = malloc(bytes + 1);
    if (!data)
        fail(4, "memory", "out of memory");
    return data;
}

static void held(int is, const char *what)
{
    if (is != 0)
        fail(1, what, "failed");
}

/* --- sums of elements --- */

static void plain_elements(const struct part *p)
{
    MPI_Datatype type = p->f == FP64 ? MPI_DOUBLE : MPI_FLOAT;
    if (p->arrays == 1) {
        held(MPI_Allreduce(p->in, p->out, (int)p->n, type, MPI_SUM, p->comm), "MPI_Allreduce");
        return;
    }
    memcpy(p->out, p->in, array_bytes(p->f, p->n));
    for (size_t a = 1; a < p->arrays; a++)
        for (size_t i = 0; i < p->n; i++)
            if (p->f == FP64)
                ((double *)p->out)[i] += ((const double *)p->in)[a * p->n + i];
            else
                ((float *)p->out)[i] += ((const float *)p->in)[a * p->n + i];
    held(MPI_Allreduce(MPI_IN_PLACE, p->out, (int)p->n, type, MPI_SUM, p->comm), "MPI_Allreduce");
}

static void ours_elements(const struct part *p, unsigned folds)
{
    struct ulpscope_error error;
    if (ulpscope_mpi_allreduce(p->in, p->arrays, p->out, p->n, (enum ulpscope_format)p->f, folds,
                               p->comm, &error))
        fail(1, "ulpscope_mpi_allreduce", error.text);
}

static void exact_elements(const struct part *p)
{
    ours_elements(p, 0);
}

static void binned_elements(const struct part *p)
{
    ours_elements(p, FOLD);
}

static void add_states(void *from, void *to, const struct part *p)
{
    held(p->f == FP64 ? MPI_Allreduce(from, to, (int)p->n, binnedMPI_DOUBLE_BINNED(FOLD),
                                      binnedMPI_DBDBADD(FOLD), p->comm)
                      : MPI_Allreduce(from, to, (int)p->n, binnedMPI_FLOAT_BINNED(FOLD),
                                      binnedMPI_SBSBADD(FOLD), p->comm),
         "MPI_Allreduce of ReproBLAS' states");
}

static void reproblas_elements(const struct part *p)
{
    float *narrow = (float *)states;
    for (size_t i = 0; i < p->n; i++)
        if (p->f == FP64)
            binned_dbdconv(FOLD, ((const double *)p->in)[i], states + STATE * i);
        else
            binned_sbsconv(FOLD, ((const float *)p->in)[i], narrow + STATE * i);
    for (size_t a = 1; a < p->arrays; a++)
        for (size_t i = 0; i < p->n; i++)
            if (p->f == FP64)
                binned_dbdadd(FOLD, ((const double *)p->in)[a * p->n + i], states + STATE * i);
            else
                binned_sbsadd(FOLD, ((const float *)p->in)[a * p->n + i], narrow + STATE * i);
    add_states(MPI_IN_PLACE, states, p);
    for (size_t i = 0; i < p->n; i++)
        if (p->f == FP64)
            ((double *)p->out)[i] = binned_ddbconv(FOLD, states + STATE * i);
        else
            ((float *)p->out)[i] = binned_ssbconv(FOLD, narrow + STATE * i);
}

/* What reproblas_elements left there is added. */
static void reproblas_states(const struct part *p)
{
    add_states(states, sums, p);
}

/* --- one sum --- */

static void plain_vector(const struct part *p)
{
    double wide[LANES] = {0};
    float narrow[LANES] = {0};
    size_t whole = p->n / LANES * LANES;
    if (p->f == FP64) {
        const double *x = p->in;
        for (size_t i = 0; i < whole; i += LANES)
            for (size_t k = 0; k < LANES; k++)
                wide[k] += x[i + k];
        for (size_t i = whole; i < p->n; i++)
            wide[i - whole] += x[i];
        for (size_t k = LANES / 2; k > 0; k /= 2)
            for (size_t i = 0; i < k; i++)
                wide[i] += wide[i + k];
        held(MPI_Allreduce(wide, p->out, 1, MPI_DOUBLE, MPI_SUM, p->comm), "MPI_Allreduce");
    } else {
        const float *x = p->in;
        for (size_t i = 0; i < whole; i += LANES)
            for (size_t k = 0; k < LANES; k++)
                narrow[k] += x[i + k];
        for (size_t i = whole; i < p->n; i++)
            narrow[i - whole] += x[i];
        for (size_t k = LANES / 2; k > 0; k /= 2)
            for (size_t i = 0; i < k; i++)
                narrow[i] += narrow[i + k];
        held(MPI_Allreduce(narrow, p->out, 1, MPI_FLOAT, MPI_SUM, p->comm), "MPI_Allreduce");
    }
}

static enum format adding; /* an operation of MPI's is told no more than bytes */

static void merge(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int bytes;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *count; i++) {
        struct ulpscope_state *a, *b;
        char *to = (char *)inout + (size_t)i * (size_t)bytes;
        const char *from = (const char *)in + (size_t)i * (size_t)bytes;
        enum ulpscope_format f = (enum ulpscope_format)adding;
        held(ulpscope_state_read(&a, to, (size_t)bytes, f, NULL) ||
                 ulpscope_state_read(&b, from, (size_t)bytes, f, NULL) ||
                 ulpscope_state_merge(a, b, NULL),
             "merging states");
        ulpscope_state_write(a, to);
        ulpscope_state_free(a);
        ulpscope_state_free(b);
    }
}

static void ours_vector(const struct part *p, unsigned folds)
{
    static MPI_Op op = MPI_OP_NULL;
    enum ulpscope_format f = (enum ulpscope_format)p->f;
    const struct ulpscope_array a = {f, p->n, p->in};
    struct ulpscope_state *s;
    MPI_Datatype type;
    char bytes[1024];
    if (op == MPI_OP_NULL)
        MPI_Op_create(merge, 1, &op);
    adding = p->f;
    held(ulpscope_state_new(&s, folds, f, f, NULL) || ulpscope_state_add(s, &a, NULL), "a state");
    size_t size = ulpscope_state_bytes(s);
    if (size > sizeof bytes)
        fail(1, "a state", "found a longer one than expected");
    ulpscope_state_write(s, bytes);
    ulpscope_state_free(s);
    MPI_Type_contiguous((int)size, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    held(MPI_Allreduce(MPI_IN_PLACE, bytes, 1, type, op, p->comm), "MPI_Allreduce of states");
    MPI_Type_free(&type);
    held(ulpscope_state_read(&s, bytes, size, f, NULL), "a state");
    array_set_bits(&(struct array){p->f, 1, p->out}, 0, ulpscope_encode(f, ulpscope_state_sum(s)));
    ulpscope_state_free(s);
}

static void exact_vector(const struct part *p)
{
    ours_vector(p, 0);
}

static void binned_vector(const struct part *p)
{
    ours_vector(p, FOLD);
}

static void reproblas_vector(const struct part *p)
{
    const struct part of_state = {NULL, NULL, 1, 1, p->f, p->comm};
    double wide[STATE];
    float narrow[STATE];
    if (p->f == FP64) {
        binned_dbsetzero(FOLD, wide);
        binnedBLAS_dbdsum(FOLD, (int)p->n, p->in, 1, wide);
        add_states(MPI_IN_PLACE, wide, &of_state);
        *(double *)p->out = binned_ddbconv(FOLD, wide);
    } else {
        binned_sbsetzero(FOLD, narrow);
        binnedBLAS_sbssum(FOLD, (int)p->n, p->in, 1, narrow);
        add_states(MPI_IN_PLACE, narrow, &of_state);
        *(float *)p->out = binned_ssbconv(FOLD, narrow);
    }
}

/* --- the methods --- */

enum what { ELEMENTS, VECTOR_SUM, WHATS };
static const char *const what_name[WHATS] = {"elements", "vector"};

enum { WAYS = 5 };
static const struct way {
    const char *name;
    bool invariant, exact;
    void (*run)(const struct part *p); /* NULL: there is none */
} ways[WHATS][WAYS] = {
    [ELEMENTS] = {{"plain", false, false, plain_elements},
                  {"mpi/exact", true, true, exact_elements},
                  {"mpi/binned", true, false, binned_elements},
                  {"reproblas", true, false, reproblas_elements},
                  {"reproblas/states", true, false, reproblas_states}},
    [VECTOR_SUM] = {{"plain", false, false, plain_vector},
                    {"state/exact", true, true, exact_vector},
                    {"state/binned", true, false, binned_vector},
                    {"reproblas", true, false, reproblas_vector}},
};

/* Cancelling: each addend but for its last digits is taken off again by the next. Of a vector
 * addends are small enough that none of their sums is beyond the range. */
static uint64_t encoding(enum what what, enum format f, int input, size_t of, size_t i)
{
    size_t at = what == ELEMENTS ? of : i;
    double x = input == CANCELLING
                   ? addend(f, NORMAL, what == ELEMENTS ? of / 2 : 0, what == ELEMENTS ? i : i / 2)
                   : addend(f, (enum input)input, of, i);
    if (input == CANCELLING && at % 2)
        x = -x + ldexp(addend(f, NORMAL, of + 1000, i), -18);
    return format_encode(f, what == VECTOR_SUM && input == WIDE ? ldexp(x, -26) : x);
}

/* --- how long it takes --- */

static double turn(void (*run)(const struct part *p), const struct part *p, unsigned batch)
{
    double longest;
    MPI_Barrier(p->comm);
    double begun = MPI_Wtime();
    for (unsigned b = 0; b < batch; b++)
        run(p);
    double mine = (MPI_Wtime() - begun) / batch * 1e9;
    MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, p->comm);
    return longest;
}

static void time_all(FILE *csv, enum what what, int input, const struct part *p)
{
    static double ns[WAYS][TURNS_MOST + WARM_UP];
    int turns = turns_of(p->n);
    unsigned batch = batch_of(p->n);
    if (what == ELEMENTS)
        reproblas_elements(p); /* states to add */
    for (int t = 0; t < turns + WARM_UP; t++)
        for (int k = 0; k < WAYS; k++) { /* another one begins each time */
            const struct way *way = &ways[what][(k + t) % WAYS];
            if (way->run)
                ns[(k + t) % WAYS][t] = turn(way->run, p, batch);
        }
    for (int k = 0; k < WAYS; k++)
        qsort(ns[k] + WARM_UP, (size_t)turns, sizeof **ns, ascending);
    const double *plain = ns[0] + WARM_UP;
    for (int k = 0; csv && k < WAYS && ways[what][k].run; k++) {
        const double *its = ns[k] + WARM_UP;
        fprintf(csv, "%s,%s,%d,%s,%s,%zu,%d,%u,%.0f,%.0f,%.0f,%.3f,%.3f\n", what_name[what],
                ways[what][k].name, ranks, format_facts[p->f].name, input_name[input], p->n, turns,
                batch, its[turns / 2], its[0], its[turns - 1], its[turns / 2] / plain[turns / 2],
                its[0] / plain[0]);
        fflush(csv);
    }
}

/* --- what depends on the deal --- */

static void order_of(size_t *at, size_t count, int order)
{
    for (size_t i = 0; i < count; i++)
        at[i] = order == 1 ? count - 1 - i : i;
    for (size_t i = count; order > 1 && i-- > 1;) {
        size_t with = hard_mixed((uint64_t)order << 40 ^ i) % (i + 1), was = at[i];
        at[i] = at[with];
        at[with] = was;
    }
}

/* The largest error of the results, in ulps of the exact sums; *cond: the least condition number.
 */
static double error_of(enum what what, enum format f, int input, const void *out, double *cond,
                       double *of_bound)
{
    size_t outputs = what == ELEMENTS ? MESSAGE : 1, count = what == ELEMENTS ? ADDENDS : VECTOR;
    struct array all = {f, count, room(array_bytes(f, count))};
    double most = 0;
    *cond = 0;
    for (size_t i = 0; i < outputs; i++) {
        struct ulpscope_reference *reference;
        struct ulpscope_figures figures;
        for (size_t k = 0; k < count; k++)
            array_set_bits(&all, k,
                           what == ELEMENTS ? encoding(what, f, input, k, i)
                                            : encoding(what, f, input, 0, k));
        const struct ulpscope_array a = {(enum ulpscope_format)f, count, all.data};
        double is = format_decode(f, array_bits(&(struct array){f, outputs, (void *)out}, i));
        held(ulpscope_reference_new(&reference, &a, NULL) ||
                 ulpscope_measure(&figures, reference, a.format, is, NULL),
             "the exact sum");
        double sum = ulpscope_reference_sum(reference), large = 0;
        for (size_t k = 0; k < count; k++)
            large = fmax(large, fabs(format_decode(f, array_bits(&all, k))));
        double bound = f == FP64
                           ? binned_dbbound(FOLD, (int)count, large, sum)
                           : (double)binned_sbbound(FOLD, (int)count, (float)large, (float)sum);
        *of_bound = fmax(*of_bound, figures.err_abs / bound);
        *cond = fmax(*cond, ulpscope_reference_cond_log2(reference));
        if (!(figures.err_ulp <= most)) /* NaN, too */
            most = figures.err_ulp;
        ulpscope_reference_free(reference);
    }
    free(all.data);
    return most;
}

/* Rank r of q has the addends first .. first + count - 1 in an order; of a vector as elements of
 * one array. */
static void deal(void *in, struct part *p, enum what what, int input, const size_t *at, int q)
{
    size_t all = what == ELEMENTS ? ADDENDS : VECTOR, n = p->n;
    size_t first = all * (size_t)rank / (size_t)q,
           count = all * (size_t)(rank + 1) / (size_t)q - first;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < (what == ELEMENTS ? n : 1); i++)
            array_set_bits(&(struct array){p->f, all * n, in}, what == ELEMENTS ? k * n + i : k,
                           what == ELEMENTS ? encoding(what, p->f, input, at[first + k], i)
                                            : encoding(what, p->f, input, 0, at[first + k]));
    p->arrays = what == ELEMENTS ? count : 1;
    p->n = what == ELEMENTS ? n : count;
}

static void bits_of(FILE *csv, enum what what, enum format f, int input, void *in, void *out)
{
    static struct hash128 found[WAYS][DEALS_MOST];
    static size_t at[VECTOR];
    size_t distinct[WAYS] = {0}, outputs = what == ELEMENTS ? MESSAGE : 1;
    double most[WAYS] = {0}, of_bound[WAYS] = {0}, cond = 0;
    int deals = 0, alike[WAYS] = {1, 1, 1, 1, 1};
    for (int q = 1; q <= ranks; q++) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, rank < q ? 0 : MPI_UNDEFINED, rank, &comm);
        for (int order = 0; order < ORDERS && deals < DEALS_MOST; order++, deals++) {
            order_of(at, what == ELEMENTS ? ADDENDS : VECTOR, order);
            for (int k = 0; k < WAYS && rank < q; k++) {
                const struct way *way = &ways[what][k];
                struct part p = {in, out, 0, MESSAGE, f, comm};
                if (!way->run || way->run == reproblas_states)
                    continue;
                deal(in, &p, what, input, at, q);
                memset(out, 0x55, array_bytes(f, outputs));
                way->run(&p);
                struct hash128 mine = hash_array(&(struct array){f, outputs, out}), first = mine;
                MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, comm);
                int same = memcmp(&mine, &first, sizeof mine) == 0, all;
                MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, comm);
                alike[k] &= all;
                size_t d = 0;
                while (d < distinct[k] && memcmp(&found[k][d], &mine, sizeof mine) != 0)
                    d++;
                if (rank > 0 || d < distinct[k])
                    continue;
                found[k][distinct[k]++] = mine;
                most[k] = fmax(most[k], error_of(what, f, input, out, &cond, &of_bound[k]));
            }
        }
        if (comm != MPI_COMM_NULL)
            MPI_Comm_free(&comm);
    }
    for (int k = 0; csv && k < WAYS && ways[what][k].run; k++)
        if (ways[what][k].run != reproblas_states) {
            const struct way *way = &ways[what][k];
            fprintf(csv, "%s,%s,%d,%s,%s,%zu,%d,%.3g,%d,%zu,%d,%.3g,%.3g\n", what_name[what],
                    way->name, ranks, format_facts[f].name,
                    input == CANCELLING ? "cancelling" : input_name[input], outputs,
                    what == ELEMENTS ? ADDENDS : VECTOR, cond, deals, distinct[k], alike[k],
                    most[k], of_bound[k]);
            wrong |= (way->invariant && (distinct[k] > 1 || !alike[k])) ||
                     (way->exact && !(most[k] <= 0.5));
        }
}

static FILE *opened(const char *path, const char *heading)
{
    FILE *csv = rank == 0 ? fopen(path, "a") : NULL;
    if (rank == 0 && !csv)
        fail(3, path, "cannot be written");
    if (csv && fseek(csv, 0, SEEK_END) == 0 && ftell(csv) == 0)
        fputs(heading, csv);
    return csv;
}

int main(int argc, char **argv)
{
    static const enum format format[] = {FP32, FP64};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int log2_most = argc > 3 ? atoi(argv[3]) : 22;
    if (argc < 3 || argc > 4 || log2_most < LOG2_LEAST || log2_most > 26)
        fail(2, "expected COST BITS [LOG2_MOST]", "LOG2_MOST from 10 to 26");
    FILE *cost =
        opened(argv[1], "what,method,ranks,format,input,n,turns,batch,time_ns,time_least_ns,"
                        "time_most_ns,over_plain,least_over_plain\n");
    FILE *bits =
        opened(argv[2], "what,method,ranks,format,input,n,addends,cond_log2,deals,distinct,"
                        "ranks_alike,err_ulp,err_over_reproblas_bound\n");
    size_t most = (size_t)1 << log2_most,
           dealt = VECTOR > ADDENDS * MESSAGE ? VECTOR : ADDENDS * MESSAGE;
    size_t elements = most > dealt ? most : dealt;
    void *in = room(elements * 8), *out = room(elements * 8);
    states = room(elements * STATE * sizeof *states);
    sums = room(elements * STATE * sizeof *sums);
    for (enum what what = ELEMENTS; what < WHATS; what++)
        for (size_t k = 0; k < sizeof format / sizeof *format; k++)
            for (int input = UNIFORM; input <= CANCELLING; input++)
                bits_of(bits, what, format[k], input, in, out);
    for (int power = LOG2_LEAST; power <= log2_most; power += 2)
        for (enum what what = ELEMENTS; what < WHATS; what++)
            for (size_t k = 0; k < sizeof format / sizeof *format; k++)
                for (int input = UNIFORM; input < INPUTS; input++) {
                    struct part p = {in, out, 1, (size_t)1 << power, format[k], MPI_COMM_WORLD};
                    for (size_t i = 0; i < p.n; i++)
                        array_set_bits(&(struct array){p.f, p.n, in}, i,
                                       encoding(what, p.f, input, (size_t)rank, i));
                    time_all(cost, what, input, &p);
                }
    if ((cost && fclose(cost) != 0) || (bits && fclose(bits) != 0))
        fail(3, argv[1], "cannot be written");
    if (rank == 0)
        fprintf(stderr, "reproblas_cost: %s\n", wrong ? "bits DIFFER" : "all bits as they are due");
    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong;
}
