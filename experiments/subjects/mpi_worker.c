/* A rank under mpirun, for experiments/subjects/mpi.c. Rank 0 is asked through its standard input,
 * or the file that ULPSCOPE_QUESTIONS numbers, one line and then the elements, rank after rank:
 *
 *     CALL ELEMENTS FORMAT CHANNELS
 *
 * CALL is one of `calls`, of which `hosts` adds nothing, ELEMENTS is a rank's, and CHANNELS is not
 * read. The answer is the array of sums, as mpi_told.h says, and a struct mpi_told, to standard
 * output or the file that ULPSCOPE_ANSWERS numbers. The end of the input is the end of all ranks.
 * Its argument is how many ranks there are to be. fp32 and fp64 are MPI's own sums; formats that it
 * has no type for are added by an operation of ours, which rounds each addition to the format.
 *
 * MPI_COMM_WORLD has no other calls than those that are asked for: a library may count them. */
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "experiments/subjects/mpi_invariant.h"
#include "experiments/subjects/mpi_told.h"
#include "experiments/subjects/rank_worker.h"
#include "kernels/blocks/ranks.h"
#include "reference/format/array.h"
#include "reference/format/hash_array.h"

enum { NOTHING_MORE, A_CASE };
struct header {
    uint64_t what, call, elements, format;
};

/* A rank of so many, and what is asked of all. */
struct part {
    int rank, ranks;
    struct array mine, sum; /* as many elements; the sum is whole on rank 0 in the end */
    MPI_Datatype type;
    MPI_Op op;
    struct hash128 sent; /* of what the call is given */
    struct mpi_told told;
};

static enum format format_of_wire;
static MPI_Comm among_us; /* the same ranks, for all but what is asked for */
static FILE *questions, *answers;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    struct array x = {format_of_wire, (size_t)*count, in}, sum = {format_of_wire, x.n, inout};
    (void)type;
    for (size_t i = 0; i < x.n; i++) {
        double s = format_add(format_of_wire, array_get(&x, i), array_get(&sum, i));
        array_encode(&sum, i, 1, &s);
    }
}

/* Ranks wait for a case asleep: spinning, as MPI does, would take the processors from others. */
static void receive(struct header *h)
{
    long pause_ns = 20000;
    int there = 0;
    while (MPI_Iprobe(0, 0, among_us, &there, MPI_STATUS_IGNORE), !there) {
        nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
        pause_ns += pause_ns < 2000000 ? pause_ns / 4 : 0;
    }
    MPI_Recv(h, sizeof *h, MPI_BYTE, 0, 0, among_us, MPI_STATUS_IGNORE);
}

static void send(const struct header *h, int ranks)
{
    for (int r = 1; r < ranks; r++)
        MPI_Send(h, sizeof *h, MPI_BYTE, r, 0, among_us);
}

/* Nothing that MPI says when it ends all ranks comes behind the reason. */
static _Noreturn void fail(const char *why)
{
    fprintf(stderr, "%s\n", why);
    fflush(stderr);
    if (!freopen("/dev/null", "w", stderr))
        close(STDERR_FILENO);
    MPI_Abort(MPI_COMM_WORLD, 3);
    _exit(3);
}

static void *room(size_t bytes)
{
    void *data = malloc(bytes + 1);
    if (!data)
        fail("out of memory for the elements of a rank");
    return data;
}

/* Waits without taking the processor from ranks that are yet to come. */
static void await(MPI_Request request)
{
    int done = 0;
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
        sched_yield();
}

/* --- what results were before the call --- */

/* A signaling NaN, which no addition gives. */
static uint64_t fill_of(enum format f)
{
    return format_encode(f, INFINITY) | 5;
}

/* Room for a call's results, and for one more, that is not to be written. */
static struct array room_of_results(enum format f, size_t n)
{
    struct array to = {f, n, room(array_bytes(f, n + 1))};
    for (size_t i = 0; i <= n; i++)
        array_set_bits(&to, i, fill_of(f));
    return to;
}

/* Tells of the first rank that has not these results, or more, or sent what is no longer there. The
 * fill is a result only of a single rank that was given it. */
static void expect_written(struct part *p, const struct array *sent, const struct array *is)
{
    const uint64_t fill = fill_of(is->format), written = UINT64_MAX - 2;
    const struct hash128 now = hash_array(sent);
    uint64_t found = written, *all = room((size_t)p->ranks * sizeof *all);
    size_t i = 0;
    if (memcmp(&now, &p->sent, sizeof now) != 0)
        found = MPI_TOLD_SENT;
    if (array_bits(is, is->n) != fill)
        found = MPI_TOLD_BEHIND;
    while (i < is->n && (p->ranks == 1 || array_bits(is, i) != fill))
        i++;
    if (i < is->n)
        found = i;
    MPI_Request request;
    MPI_Igather(&found, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, among_us, &request);
    await(request);
    for (int r = 0; p->rank == 0 && r < p->ranks && p->told.unlike == 0; r++)
        if (all[r] != written) {
            p->told.unlike = 1 + (uint64_t)r;
            p->told.left = all[r];
        }
    free(all);
}

/* --- what is called --- */

/* The first rank that has other bits than rank 0, whose array all are sent. */
static void compare(struct part *p)
{
    const struct array *mine = &p->sum;
    struct array first = {mine->format, mine->n, room(array_bytes(mine->format, mine->n))};
    uint64_t found[3] = {mine->n, 0, 0}, *all = room((size_t)p->ranks * sizeof found);
    memcpy(first.data, mine->data, array_bytes(mine->format, mine->n));
    MPI_Request request;
    MPI_Ibcast(first.data, (int)mine->n, p->type, 0, among_us, &request);
    await(request);
    for (size_t i = 0; i < mine->n && found[0] == mine->n; i++) {
        uint64_t due = format_canonical(mine->format, array_bits(&first, i));
        uint64_t is = format_canonical(mine->format, array_bits(mine, i));
        if (is != due)
            found[0] = i, found[1] = due, found[2] = is;
    }
    MPI_Igather(found, 3, MPI_UINT64_T, all, 3, MPI_UINT64_T, 0, among_us, &request);
    await(request);
    for (int r = 1; p->rank == 0 && r < p->ranks && p->told.rank == 0; r++)
        if (all[3 * r] < mine->n) {
            p->told.rank = (uint64_t)r;
            p->told.element = all[3 * r];
            p->told.bits[0] = all[3 * r + 1];
            p->told.bits[1] = all[3 * r + 2];
        }
    free(first.data);
    free(all);
}

/* The file that a variable numbers, or a standard one; rank 0's alone. */
static FILE *open_numbered(const char *variable, FILE *standard, const char *mode, int rank)
{
    const char *number = getenv(variable);
    if (!number)
        return standard;
    if (rank == 0)
        return fdopen(atoi(number), mode);
    close(atoi(number));
    return standard;
}

/* Files of other hosts have numbers, too, but are not those that we are asked by. */
static void expect_host(void)
{
    char here[256] = "", why[700];
    const char *due = getenv("ULPSCOPE_HOST");
    if (!due || gethostname(here, sizeof here - 1) != 0 || strcmp(here, due) == 0)
        return;
    snprintf(why, sizeof why,
             "rank 0 is on %s, expected it on %.200s, where ulpscope asks it: put %.200s first in "
             "the host file or options of mpiexec",
             here, due, due);
    fail(why);
}

/* A launcher may have options that say another number, or be that of another MPI, whose ranks are
 * then each by itself: their sums would be taken for those that were asked for. */
static void expect_ranks(int ranks, const char *due)
{
    char why[200];
    if (atoi(due) == ranks)
        return;
    snprintf(why, sizeof why,
             "found %d rank%s, expected %.20s: is the launcher (ULPSCOPE_MPIRUN, "
             "ULPSCOPE_MPIEXEC) that of another MPI, or told another number?",
             ranks, ranks == 1 ? "" : "s", due);
    fail(why);
}

static double begin(void)
{
    MPI_Request request;
    MPI_Ibarrier(among_us, &request);
    await(request);
    return MPI_Wtime();
}

static void end(struct part *p, double begun)
{
    p->told.time_ns = (uint64_t)((MPI_Wtime() - begun) * 1e9);
}

static void allreduce(struct part *p)
{
    uint64_t before = PLANTED("short") && p->sum.n > 0 ? array_bits(&p->sum, p->sum.n - 1) : 0;
    p->sent = hash_array(&p->mine);
    double begun = begin();
    MPI_Allreduce(p->mine.data, p->sum.data, (int)p->mine.n, p->type, p->op, MPI_COMM_WORLD);
    end(p, begun);
    if (PLANTED("lie") && p->rank == p->ranks - 1)
        *(char *)p->sum.data ^= 1;
    if (PLANTED("overwrite"))
        *(char *)p->mine.data ^= 1;
    if (PLANTED("short") || PLANTED("long"))
        array_set_bits(&p->sum, p->sum.n - PLANTED("short"), before);
    expect_written(p, &p->mine, &p->sum);
    compare(p);
}

static void invariant(struct part *p, unsigned folds)
{
    p->sent = hash_array(&p->mine);
    double begun = begin();
    const char *why =
        mpi_invariant(p->mine.data, p->sum.data, p->mine.n, p->mine.format, folds, MPI_COMM_WORLD);
    end(p, begun);
    if (why)
        fail(why);
    expect_written(p, &p->mine, &p->sum);
    compare(p);
}

static void exact(struct part *p)
{
    invariant(p, 0);
}

static void binned(struct part *p)
{
    invariant(p, RANKS_FOLDS);
}

/* Gathers the blocks that ranks own to rank 0's sum. */
static void gather(struct part *p, const void *own, int *lengths, int *begins)
{
    MPI_Request request;
    MPI_Igatherv(own, lengths[p->rank], p->type, p->sum.data, lengths, begins, p->type, 0, among_us,
                 &request);
    await(request);
}

/* The blocks that ranks own. */
static void find_blocks(const struct part *p, int *lengths, int *begins)
{
    size_t n = p->mine.n, ranks = (size_t)p->ranks;
    for (size_t r = 0; r < ranks; r++) {
        begins[r] = (int)ranks_begin(n, ranks, r);
        lengths[r] = (int)(ranks_begin(n, ranks, r + 1) - ranks_begin(n, ranks, r));
    }
}

static void reduce_scatter(struct part *p)
{
    int *lengths = room(2 * (size_t)p->ranks * sizeof *lengths), *begins = lengths + p->ranks;
    find_blocks(p, lengths, begins);
    struct array own = room_of_results(p->mine.format, (size_t)lengths[p->rank]);
    p->sent = hash_array(&p->mine);
    double begun = begin();
    MPI_Reduce_scatter(p->mine.data, own.data, lengths, p->type, p->op, MPI_COMM_WORLD);
    end(p, begun);
    expect_written(p, &p->mine, &own);
    gather(p, own.data, lengths, begins);
    free(own.data);
    free(lengths);
}

/* Blocks of one length are all that it takes: shorter ones are filled up with -0 at their end. */
static void reduce_scatter_block(struct part *p)
{
    int *lengths = room(2 * (size_t)p->ranks * sizeof *lengths), *begins = lengths + p->ranks;
    find_blocks(p, lengths, begins);
    enum format f = p->mine.format;
    size_t longest = (size_t)lengths[0], n = longest * (size_t)p->ranks;
    struct array all = {f, n, room(array_bytes(f, n))};
    struct array own = room_of_results(f, longest);
    for (size_t i = 0; i < n; i++) {
        size_t r = i / longest, k = i % longest;
        if (k < (size_t)lengths[r])
            array_set_bits(&all, i, array_bits(&p->mine, (size_t)begins[r] + k));
        else
            array_encode(&all, i, 1, &(double){-0.0});
    }
    p->sent = hash_array(&all);
    double begun = begin();
    MPI_Reduce_scatter_block(all.data, own.data, (int)longest, p->type, p->op, MPI_COMM_WORLD);
    end(p, begun);
    expect_written(p, &all, &own);
    gather(p, own.data, lengths, begins);
    free(all.data);
    free(own.data);
    free(lengths);
}

/* On how many hosts ranks are: those of one can share memory. */
static uint64_t count_hosts(void)
{
    MPI_Comm here;
    int rank;
    uint64_t first, sum;
    MPI_Request request;
    MPI_Comm_split_type(among_us, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &rank);
    MPI_Comm_free(&here);
    first = rank == 0;
    MPI_Iallreduce(&first, &sum, 1, MPI_UINT64_T, MPI_SUM, among_us, &request);
    await(request);
    return sum;
}

/* Nothing is added, and MPI_COMM_WORLD is left as it was. */
static void hosts(struct part *p)
{
    (void)p;
}

static const struct {
    const char *name;
    void (*function)(struct part *p);
} calls[] = {{"allreduce", allreduce},
             {"exact", exact},
             {"binned", binned},
             {"reduce_scatter", reduce_scatter},
             {"reduce_scatter_block", reduce_scatter_block},
             {"hosts", hosts}};
enum { CALLS = sizeof calls / sizeof *calls };

static void read_case(struct header *h)
{
    char line[96], call[32], name[16];
    size_t elements, c = 0;
    *h = (struct header){.what = NOTHING_MORE};
    if (!fgets(line, sizeof line, questions))
        return;
    if (sscanf(line, "%31s %zu %15s", call, &elements, name) != 3)
        fail("found another request than CALL ELEMENTS FORMAT");
    while (c < CALLS && strcmp(call, calls[c].name) != 0)
        c++;
    if (c == CALLS)
        fail("found a call of no name that is known");
    for (enum format f = 0; f < FORMATS; f++)
        if (strcmp(name, format_facts[f].name) == 0)
            *h = (struct header){A_CASE, c, elements, f};
    if (h->what != A_CASE)
        fail("found a format of no name that is known");
}

static void write_all(const void *data, size_t bytes)
{
    if (fwrite(data, 1, bytes, answers) != bytes || fflush(answers) != 0)
        fail("the answer could not be written");
}

static void run_case(const struct header *h, int rank, int ranks, MPI_Op added, uint64_t on)
{
    enum format f = (enum format)h->format;
    size_t bytes = array_bytes(f, h->elements);
    struct part p = {.rank = rank,
                     .ranks = ranks,
                     .mine = {f, h->elements, room(bytes)},
                     .sum = room_of_results(f, h->elements),
                     .type = f == FP64   ? MPI_DOUBLE
                             : f == FP32 ? MPI_FLOAT
                                         : MPI_UINT16_T,
                     .op = f == FP64 || f == FP32 ? MPI_SUM : added,
                     .told = {.hosts = on}};
    void *all = NULL;
    int count = (int)h->elements;
    format_of_wire = f;
    if (rank == 0) {
        all = room(bytes * (size_t)ranks);
        if (fread(all, bytes, (size_t)ranks, questions) != (size_t)ranks)
            fail("found the end of the input among elements");
        send(h, ranks);
    }
    MPI_Request request;
    MPI_Iscatter(all, count, p.type, p.mine.data, count, p.type, 0, among_us, &request);
    await(request);
    if (PLANTED("die") && rank == ranks - 1)
        _exit(7);
    if (PLANTED("crash") && rank == ranks - 1)
        raise(SIGKILL);
    while (PLANTED("hang") && rank == ranks - 1)
        pause();
    calls[h->call].function(&p);
    if (rank == 0) {
        write_all(p.sum.data, bytes);
        write_all(&p.told, sizeof p.told);
    }
    free(all);
    free(p.mine.data);
    free(p.sum.data);
}

/* mpirun was told folders. One that files are to be mapped in is of its own host: others do not
 * have it. The others it makes one of for all ranks, which then are not to be told two. */
static void leave_folders(void)
{
    static const char mapped[] = "OMPI_MCA_btl_vader_backing_directory";
    const char *folder = getenv(mapped);
    if (folder && access(folder, W_OK) != 0)
        unsetenv(mapped);
    unsetenv("OMPI_MCA_orte_local_tmpdir_base");
    unsetenv("OMPI_MCA_orte_remote_tmpdir_base");
}

int main(int argc, char **argv)
{
    int rank, ranks, level;
    MPI_Op added;
    leave_folders();
    if (!rank_ends_with_parent() ||
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return 3;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &among_us);
    MPI_Op_create(add, 1, &added);
    if (rank == 0) {
        expect_host();
        expect_ranks(ranks, argc > 1 ? argv[1] : "");
    }
    questions = open_numbered("ULPSCOPE_QUESTIONS", stdin, "r", rank);
    answers = open_numbered("ULPSCOPE_ANSWERS", stdout, "w", rank);
    if (!questions || !answers)
        fail("found no way to be asked or to answer");
    const uint64_t on = count_hosts();
    for (struct header h;;) {
        if (rank == 0)
            read_case(&h);
        else
            receive(&h);
        if (h.what != A_CASE) {
            if (rank == 0)
                send(&h, ranks);
            break;
        }
        run_case(&h, rank, ranks, added, on);
    }
    MPI_Op_free(&added);
    MPI_Comm_free(&among_us);
    MPI_Finalize();
    return 0;
}
