#include "experiments/subjects/mpi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/subjects/foreign_state.h"
#include "experiments/subjects/mpi_models.h"
#include "experiments/subjects/mpi_told.h"
#include "experiments/system/machine.h"
#include "reports/text/near.h"

#define INSTALL "install openmpi-bin and libopenmpi-dev, then build anew"

/* Each is a process of 30 MB or more. */
enum { MPI_RANKS_MOST = 64 };

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
    const struct mpi_algorithm *algorithm = mpi_algorithm_named(f->name);
    if (!algorithm) {
        struct near near = {.word = f->name};
        char known[800] = "";
        for (size_t i = 0; mpi_name(i); i++) {
            size_t used = strlen(known);
            near_try(&near, mpi_name(i));
            snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", mpi_name(i));
        }
        if (near.found)
            return problem(p, STATUS_USAGE, "%s: found '%.200s': did you mean %s?", where, f->name,
                           near.found);
        return problem(p, STATUS_USAGE, "%s: found '%.200s', expected one of %s", where, f->name,
                       known);
    }
    if (!mpi_there(text))
        return problem(p, STATUS_DEVICE, "%s: %s cannot run: %s", where, f->name, text);
    f->method.summary = algorithm->summary;
    f->method.operation = algorithm->operation;
    f->method.pairs[DEVICE_CPU] = (struct format_pairs)FORMAT_PAIRS_ALL;
    f->method.model = mpi_model;
    f->times = TIMES_ITSELF;
    f->facts = json_pack("{ss}", "library", text);
    return f->facts ? STATUS_OK : problem(p, STATUS_MEMORY, "%s: out of memory", where);
}

/* --- runs --- */

/* $1: ranks, $2: the worker, $3: what is called, $4: its algorithm, $5: the bytes of a segment. All
 * that Open MPI maps lies in a folder of its own. A shell in a session of its own removes that when
 * the end of a pipe tells that mpirun is gone, however it went, and hands on its exit status. Where
 * mpirun did not end by itself, a rank may be about to make files there: it removes them for two
 * seconds more.
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
    "[ $4 = 0 ] || export OMPI_MCA_coll_tuned_use_dynamic_rules=1 "
    "OMPI_MCA_coll_tuned_$3_algorithm=$4\n"
    "[ $5 = 0 ] || export OMPI_MCA_coll_tuned_$3_algorithm_segmentsize=$5\n"
    "folder=$(mktemp -d /dev/shm/ulpscope-mpi.XXXXXX 2>/dev/null || "
    "mktemp -d -t ulpscope-mpi.XXXXXX) || exit 4\n"
    "export OMPI_MCA_orte_tmpdir_base=\"$folder\" "
    "OMPI_MCA_btl_vader_backing_directory=\"$folder\"\n"
    "exec 4>&1\n"
    "{ ${ULPSCOPE_MPIRUN:-mpirun} -n $1 \"$2\" >&4 4>&-; echo $?; } | "
    "setsid /bin/sh -c 'read ended; rm -rf \"$0\"; "
    "[ \"${ended:-4}\" = 0 ] && [ ! -e \"$0\" ] || "
    "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2; rm -rf \"$0\"; done & exit ${ended:-4}' "
    "\"$folder\" >/dev/null 2>&1 4>&-";

enum status mpi_open(struct foreign *f, const char *device, struct problem *p)
{
    const struct mpi_algorithm *a = mpi_algorithm_named(f->name);
    char worker[PATH_MAX], ranks[24], number[24], segment[24];
    if (!find_worker(worker))
        return problem(p, STATUS_DEVICE, "%s: found no ulpscope-mpi beside the program", f->name);
    snprintf(ranks, sizeof ranks, "%zu", f->ranks);
    snprintf(number, sizeof number, "%u", a->number);
    snprintf(segment, sizeof segment, "%u", a->segment);
    const char *const argv[] = {"/bin/sh", "-c",    script, "ulpscope-mpi", ranks,
                                worker,    a->call, number, segment,        NULL};
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
    snprintf(line, sizeof line, "%s %zu %s\n", mpi_algorithm_named(f->name)->call, t->of->bins,
             format_facts[x->format].name);
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
