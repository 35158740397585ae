#include "experiments/subjects/mpi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/subjects/foreign_state.h"
#include "experiments/subjects/mpi_told.h"
#include "experiments/system/machine.h"
#include "reports/text/near.h"

#define INSTALL "install openmpi-bin and libopenmpi-dev, then build anew"

/* As coll_tuned_allreduce_algorithm numbers them; 0: Open MPI decides. */
static const struct algorithm {
    const char *name, *summary;
} algorithms[] = {
    {"mpi/allreduce", "MPI_Allreduce, whichever algorithm the library chooses"},
    {"mpi/basic_linear", "MPI_Allreduce, Open MPI's algorithm 1: reduced to rank 0, then sent"},
    {"mpi/nonoverlapping", "MPI_Allreduce, Open MPI's algorithm 2: MPI_Reduce, then MPI_Bcast"},
    {"mpi/recursive_doubling", "MPI_Allreduce, Open MPI's algorithm 3"},
    {"mpi/ring", "MPI_Allreduce, Open MPI's algorithm 4"},
    {"mpi/segmented_ring", "MPI_Allreduce, Open MPI's algorithm 5, in segments of 4 KiB"},
    {"mpi/rabenseifner", "MPI_Allreduce, Open MPI's algorithm 6"},
};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };
enum {
    DECIDED,
    BASIC_LINEAR,
    NONOVERLAPPING,
    RECURSIVE_DOUBLING,
    RING,
    SEGMENTED_RING,
    RABENSEIFNER
};

/* Each is a process of 30 MB or more. */
enum { MPI_RANKS_MOST = 64 };

const char *mpi_name(size_t u)
{
    return u < ALGORITHMS ? algorithms[u].name : NULL;
}

static size_t number_of(const char *name)
{
    size_t number = 0;
    while (number < ALGORITHMS && strcmp(algorithms[number].name, name) != 0)
        number++;
    return number;
}

/* --- which model has its bits --- */

/* What Open MPI 4.1 and 5.0 choose by the bytes of a rank, of sums that commute. */
static size_t decided(size_t ranks, size_t bytes)
{
    if (ranks < 4)
        return bytes < 8        ? RING
               : bytes < 4096   ? RECURSIVE_DOUBLING
               : bytes < 8192   ? RING
               : bytes < 16384  ? RECURSIVE_DOUBLING
               : bytes < 65536  ? RING
               : bytes < 262144 ? SEGMENTED_RING
                                : RABENSEIFNER;
    if (ranks < 8)
        return bytes < 16 ? RING : bytes < 8192 ? RECURSIVE_DOUBLING : RABENSEIFNER;
    if (ranks < 16)
        return bytes < 8192 ? RECURSIVE_DOUBLING : RABENSEIFNER;
    if (ranks < 32)
        return bytes < 64 ? SEGMENTED_RING : bytes < 4096 ? RECURSIVE_DOUBLING : RABENSEIFNER;
    if (ranks < 64)
        return bytes < 128 ? SEGMENTED_RING : RABENSEIFNER;
    return bytes < 262144 ? RECURSIVE_DOUBLING : RABENSEIFNER;
}

const char *mpi_model(const char *name, size_t ranks, size_t elements, enum format f)
{
    size_t number = number_of(name), power = 1;
    while (power <= ranks / 2)
        power *= 2;
    if (number == DECIDED)
        number = decided(ranks, elements * (size_t)format_facts[f].bytes);
    if (ranks <= 2) /* there is one addition at most */
        return "allreduce/rank_order";
    switch (number) {
    case BASIC_LINEAR:
        return "allreduce/linear";
    case RECURSIVE_DOUBLING:
        return "allreduce/recursive_doubling";
    case RING:
    case SEGMENTED_RING: /* a block's segments go the block's way */
        return elements < ranks ? "allreduce/recursive_doubling" : "allreduce/ring";
    case RABENSEIFNER:
        return elements < power ? "allreduce/linear" : "allreduce/rabenseifner";
    default: /* MPI_Reduce chooses among trees, chains and pipelines of its own */
        return NULL;
    }
}

/* --- what is there --- */

static bool on_path(const char *program, size_t length)
{
    char path[PATH_MAX];
    if (memchr(program, '/', length)) {
        snprintf(path, sizeof path, "%.*s", (int)length, program);
        return access(path, X_OK) == 0;
    }
    for (const char *at = getenv("PATH"); at && *at;) {
        size_t folder = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%.*s", (int)folder, at, (int)length, program);
        if (access(path, X_OK) == 0)
            return true;
        at += folder + (at[folder] == ':');
    }
    return false;
}

/* Beside the program, or where an installation has it. */
static bool find_worker(char path[PATH_MAX])
{
    static const char *const places[] = {"/ulpscope-mpi", "/../libexec/ulpscope/ulpscope-mpi"};
    char program[PATH_MAX];
    foreign_program_path(program);
    char *slash = strrchr(program, '/');
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++)
        if (snprintf(path, PATH_MAX, "%.*s%s", (int)(slash - program), program, places[i]) <
                PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
    return false;
}

static const char *mpirun(void)
{
    const char *asked = getenv("ULPSCOPE_MPIRUN");
    asked = asked ? asked + strspn(asked, " ") : NULL;
    return asked && *asked ? asked : "mpirun";
}

bool mpi_there(char text[MPI_TEXT])
{
    char worker[PATH_MAX];
    const char *program = mpirun(), *version = ULPSCOPE_MPI;
    int length = (int)strcspn(program, " ");
    if (!version || !find_worker(worker))
        snprintf(text, MPI_TEXT, "this build has no MPI: " INSTALL);
    else if (!on_path(program, (size_t)length))
        snprintf(text, MPI_TEXT, "found no %.200s: install openmpi-bin, or set ULPSCOPE_MPIRUN",
                 program);
    else
        snprintf(text, MPI_TEXT, "%.200s", version);
    return version && find_worker(worker) && on_path(program, (size_t)length);
}

enum status mpi_make(struct foreign *f, const char *where, struct problem *p)
{
    char text[MPI_TEXT];
    size_t number = number_of(f->name);
    if (number == ALGORITHMS) {
        struct near near = {.word = f->name};
        char known[400] = "";
        for (size_t i = 0; i < ALGORITHMS; i++) {
            size_t used = strlen(known);
            near_try(&near, algorithms[i].name);
            snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", algorithms[i].name);
        }
        if (near.found)
            return problem(p, STATUS_USAGE, "%s: found '%.200s': did you mean %s?", where, f->name,
                           near.found);
        return problem(p, STATUS_USAGE, "%s: found '%.200s', expected one of %s", where, f->name,
                       known);
    }
    if (!mpi_there(text))
        return problem(p, STATUS_DEVICE, "%s: %s cannot run: %s", where, f->name, text);
    f->method.summary = algorithms[number].summary;
    f->method.operation = &operation_allreduce;
    f->method.pairs[DEVICE_CPU] = (struct format_pairs)FORMAT_PAIRS_ALL;
    f->method.model = mpi_model;
    f->times = TIMES_ITSELF;
    f->facts = json_pack("{ss}", "library", text);
    return f->facts ? STATUS_OK : problem(p, STATUS_MEMORY, "%s: out of memory", where);
}

/* --- runs --- */

/* $1: the algorithm, $2: ranks, $3: the worker. All that Open MPI maps lies in a folder of its own.
 * A shell in a session of its own removes that when the end of a pipe tells that mpirun is gone,
 * however it went, and hands on its exit status. Where mpirun did not end by itself, a rank may be
 * about to make files there: it removes them for two seconds more.
 *
 * Variables rather than options, which other libraries' mpirun refuse. Two ranks on one processor
 * shall yield it, and copy through memory that both map: containers seldom allow more.
 *
 * Where we are a rank ourselves, what our mpirun told us would make the one started here a part of
 * that job. */
static const char script[] =
    "if [ -n \"$PMIX_RANK$PMI_RANK$OMPI_COMM_WORLD_RANK\" ]; then\n"
    "for name in $(env | sed -n 's/^\\([A-Z]*_[A-Za-z0-9_]*\\)=.*/\\1/p'); do case $name in\n"
    "PMIX_*|PMI_*|OMPI_COMM*|OMPI_APP*|OMPI_NUM_APP*|OMPI_FIRST*|OMPI_FILE*|OMPI_UNIVERSE*|"
    "OMPI_ARGV|OMPI_MCA_orte_*|OMPI_MCA_ess*|OMPI_MCA_pmix*|OMPI_MCA_initial_wdir|"
    "OMPI_MCA_shmem_RUNTIME*) unset $name;; esac; done; fi\n"
    "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
    "OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_orte_execute_quiet=1 "
    "OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none "
    "OMPI_MCA_btl_vader_single_copy_mechanism=none\n"
    "[ $1 = 0 ] || export OMPI_MCA_coll_tuned_use_dynamic_rules=1 "
    "OMPI_MCA_coll_tuned_allreduce_algorithm=$1\n"
    "[ $1 != 5 ] || export OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize=4096\n"
    "folder=$(mktemp -d /dev/shm/ulpscope-mpi.XXXXXX 2>/dev/null || "
    "mktemp -d -t ulpscope-mpi.XXXXXX) || exit 4\n"
    "export OMPI_MCA_orte_tmpdir_base=\"$folder\" "
    "OMPI_MCA_btl_vader_backing_directory=\"$folder\"\n"
    "exec 4>&1\n"
    "{ ${ULPSCOPE_MPIRUN:-mpirun} -n $2 \"$3\" >&4 4>&-; echo $?; } | "
    "setsid /bin/sh -c 'read ended; rm -rf \"$0\"; "
    "[ \"${ended:-4}\" = 0 ] && [ ! -e \"$0\" ] || "
    "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2; rm -rf \"$0\"; done & exit ${ended:-4}' "
    "\"$folder\" >/dev/null 2>&1 4>&-";

enum status mpi_open(struct foreign *f, const char *device, struct problem *p)
{
    char worker[PATH_MAX], number[24], ranks[24];
    if (!find_worker(worker))
        return problem(p, STATUS_DEVICE, "%s: found no ulpscope-mpi beside the program", f->name);
    snprintf(number, sizeof number, "%zu", number_of(f->name));
    snprintf(ranks, sizeof ranks, "%zu", f->ranks);
    const char *const argv[] = {"/bin/sh", "-c",  script, "ulpscope-mpi",
                                number,    ranks, worker, NULL};
    return foreign_open(f, argv, device, p);
}

/* The same bits on all ranks are what an all-reduce is for. */
static enum status agree(const struct foreign *f, const struct mpi_told *told, enum format format,
                         struct problem *p)
{
    int digits = 2 * format_facts[format].bytes;
    if (told->rank == 0)
        return STATUS_OK;
    return problem(p, STATUS_FAILED,
                   "%s: ranks disagree: element %llu is 0x%0*llx on rank 0 and 0x%0*llx on rank "
                   "%llu of %zu",
                   f->name, (unsigned long long)told->element, digits,
                   (unsigned long long)told->bits[0], digits, (unsigned long long)told->bits[1],
                   (unsigned long long)told->rank, f->ranks);
}

static enum status ask(struct foreign *f, const struct task *t, const struct array *x, char *answer,
                       double timeout_s, struct problem *p)
{
    char line[64];
    size_t bytes = array_bytes(x->format, t->of->bins);
    struct mpi_told told;
    snprintf(line, sizeof line, "allreduce %zu %s\n", t->of->bins, format_facts[x->format].name);
    enum status status = foreign_ask(f,
                                     &(struct question){.line = line,
                                                        .data = x->data,
                                                        .bytes = array_bytes(x->format, x->n),
                                                        .answer = answer,
                                                        .due = bytes + sizeof told,
                                                        .timeout_s = timeout_s,
                                                        .stop = foreign_stop},
                                     t->device, p);
    if (status != STATUS_OK)
        return status;
    memcpy(t->out.data, answer, bytes);
    memcpy(&told, answer + bytes, sizeof told);
    f->time_ns = told.time_ns;
    f->timed = true;
    return agree(f, &told, x->format, p);
}

/* Idle ranks sleep, but each has its memory: together no more than this many stay for later. */
enum { RANKS_KEPT = 64 };

/* Puts the process at hand aside, the newest first, and takes the one of so many ranks, if any. */
static void change_ranks(struct foreign *f, size_t ranks)
{
    struct foreign_ranks now = {f->ranks, f->process}, found = {0};
    size_t sum = ranks, kept = 0;
    struct foreign_ranks all[FOREIGN_OTHERS + 1] = {now};
    memcpy(all + 1, f->others, sizeof f->others);
    memset(f->others, 0, sizeof f->others);
    for (size_t i = 0; i <= FOREIGN_OTHERS; i++) {
        if (!all[i].process)
            continue;
        if (all[i].ranks == ranks && !found.process)
            found = all[i];
        else if (kept < FOREIGN_OTHERS && sum + all[i].ranks <= RANKS_KEPT) {
            f->others[kept++] = all[i];
            sum += all[i].ranks;
        } else
            process_close(all[i].process);
    }
    f->process = found.process;
    f->ranks = ranks;
}

enum status mpi_run(const struct task *t, size_t runs, double timeout_s, struct problem *p)
{
    struct foreign *f = (struct foreign *)t->method;
    size_t n = t->of->in.n, ranks = t->of->bins ? n / t->of->bins : 0;
    struct array x = {t->out.format, n, malloc(array_bytes(t->out.format, n) + 1)};
    char *answer = malloc(array_bytes(x.format, t->of->bins) + sizeof(struct mpi_told));
    enum status status = STATUS_OK;
    if (ranks == 0 || ranks > MPI_RANKS_MOST || t->of->bins > INT_MAX)
        status = problem(p, STATUS_USAGE,
                         "%s: found %zu ranks of %zu elements, expected 1 to %d ranks of at most "
                         "%d",
                         f->name, ranks, t->of->bins, MPI_RANKS_MOST, INT_MAX);
    else if (!x.data || !answer)
        status = problem(p, STATUS_MEMORY, "%s: out of memory for %zu elements", f->name, n);
    for (size_t i = 0; status == STATUS_OK && i < n; i++) {
        double rounded = format_round(x.format, array_get(&t->of->in, i));
        array_encode(&x, i, 1, &rounded);
    }
    if (status == STATUS_OK) {
        pthread_mutex_lock(&f->mutex);
        if (f->ranks != ranks)
            change_ranks(f, ranks);
        uint64_t time_ns = 0;
        for (; runs > 0 && status == STATUS_OK; runs--) {
            status = ask(f, t, &x, answer, timeout_s, p);
            time_ns += f->time_ns;
        }
        f->time_ns = time_ns;
        pthread_mutex_unlock(&f->mutex);
    }
    free(x.data);
    free(answer);
    return status;
}
