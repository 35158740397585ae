#include "experiments/subjects/mpi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/subjects/foreign_state.h"
#include "experiments/subjects/mpi_models.h"
#include "experiments/subjects/mpi_told.h"
#include "experiments/system/machine.h"
#include "kernels/blocks/ranks.h"
#include "reports/text/near.h"

/* Each is a process of 30 MB or more. */
_Static_assert(MPI_RANKS_MOST == (int)FOREIGN_RANKS_MOST, "");

/* --- how ranks are begun --- */

/* $1: ranks, $2: the worker, $3: variables that ask for an algorithm, $4: what begins ranks.
 *
 * Where we are a rank ourselves, what our mpirun told us would make the one started here a part of
 * that job. */
#define AS_NO_RANK                                                                                 \
    "if [ -n \"$PMIX_RANK$PMI_RANK$OMPI_COMM_WORLD_RANK\" ]; then\n"                               \
    "for name in $(env | sed -n 's/^\\([A-Z]*_[A-Za-z0-9_]*\\)=.*/\\1/p'); do case $name in\n"     \
    "PMIX_*|PMI_*|HYDI_*|MPI_LOCAL*|OMPI_COMM*|OMPI_APP*|OMPI_NUM_APP*|OMPI_FIRST*|"               \
    "OMPI_FILE*|OMPI_UNIVERSE*|OMPI_ARGV|OMPI_MCA_orte_*|OMPI_MCA_ess*|OMPI_MCA_pmix*|"            \
    "OMPI_MCA_initial_wdir|OMPI_MCA_shmem_RUNTIME*) unset $name;; esac; done; fi\n"                \
    "[ -z \"$3\" ] || export $3\n"

/* All that Open MPI maps lies in a folder of its own. A shell in a session of its own removes that
 * when the end of a pipe tells that mpirun is gone, however it went, and hands on its exit status.
 * Where mpirun did not end by itself, a rank may be about to make files there: it removes them for
 * two seconds more.
 *
 * On other hosts, where nobody would remove it, there is no such folder: Open MPI removes its own.
 *
 * Variables rather than options, which other libraries' mpirun refuse. Two ranks on one processor
 * shall yield it, and copy through memory that both map: containers seldom allow more. */
static const char open_mpi_script[] = AS_NO_RANK
    "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
    "OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_orte_execute_quiet=1 "
    "OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none "
    "OMPI_MCA_btl_vader_single_copy_mechanism=none\n"
    "folder=$(mktemp -d /dev/shm/ulpscope-mpi.XXXXXX 2>/dev/null || "
    "mktemp -d -t ulpscope-mpi.XXXXXX) || exit 4\n"
    "export OMPI_MCA_orte_local_tmpdir_base=\"$folder\" "
    "OMPI_MCA_orte_remote_tmpdir_base=\"${folder%/*}\" "
    "OMPI_MCA_btl_vader_backing_directory=\"$folder\"\n"
    "exec 4>&1\n"
    "{ $4 -n $1 \"$2\" $1 >&4 4>&-; echo $?; } | "
    "setsid /bin/sh -c 'read ended; rm -rf \"$0\"; "
    "[ \"${ended:-4}\" = 0 ] && [ ! -e \"$0\" ] || "
    "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2; rm -rf \"$0\"; done & exit ${ended:-4}' "
    "\"$folder\" >/dev/null 2>&1 4>&-";

/* mpiexec hands its input on, but ends a job that does not read it fast enough, and says on its
 * output that a rank died: rank 0 has our ends of the pipes themselves. */
static const char mpich_script[] =
    AS_NO_RANK "export ULPSCOPE_QUESTIONS=3 ULPSCOPE_ANSWERS=4 ULPSCOPE_HOST=$(uname -n)\n"
               "exec $4 -n $1 \"$2\" $1 3<&0 4>&1 </dev/null >/dev/null";

/* A program of one process, or of one that begins the others. */
static const char nccl_script[] = "[ -z \"$3\" ] || export $3\n"
                                  "exec \"$2\" $1";

static const struct library {
    const char *prefix, *title, *packages, *package; /* of its launcher alone */
    const char *variable, *launcher; /* who names another one; this one, NULL: none is needed */
    const char *worker, *script;
    enum device_kind device;
    const struct mpi_algorithm *algorithm;
} libraries[MPI_LIBRARIES] = {
    [OPEN_MPI] = {"mpi/", "Open MPI", "openmpi-bin and libopenmpi-dev", "openmpi-bin",
                  "ULPSCOPE_MPIRUN", "mpirun", "ulpscope-mpi", open_mpi_script, DEVICE_CPU,
                  open_mpi_algorithms},
    [MPICH] = {"mpich/", "MPICH", "mpich and libmpich-dev", "mpich", "ULPSCOPE_MPIEXEC",
               ULPSCOPE_MPIEXEC, "ulpscope-mpich", mpich_script, DEVICE_CPU, mpich_algorithms},
    [NCCL] = {"nccl/", "NCCL", "libnccl-dev and the CUDA Toolkit", NULL, NULL, NULL,
              "ulpscope-nccl", nccl_script, DEVICE_CUDA, nccl_algorithms},
};

static const char *version_of(enum mpi_library l)
{
    const char *const version[] = {[OPEN_MPI] = ULPSCOPE_MPI ? ULPSCOPE_MPI : "",
                                   [MPICH] = mpich_version,
                                   [NCCL] = nccl_version};
    return *version[l] ? version[l] : NULL;
}

/* --- names --- */

const char *mpi_name(enum mpi_library l, size_t u)
{
    size_t count = 0;
    while (libraries[l].algorithm[count].name)
        count++;
    return u < count ? libraries[l].algorithm[u].name : NULL;
}

static enum mpi_library library_of(const char *name)
{
    enum mpi_library l = 0;
    while (l + 1 < MPI_LIBRARIES &&
           strncmp(name, libraries[l].prefix, strlen(libraries[l].prefix)) != 0)
        l++;
    return l;
}

static const struct mpi_algorithm *algorithm_named(const char *name)
{
    const struct mpi_algorithm *a = libraries[library_of(name)].algorithm;
    while (a->name && strcmp(a->name, name) != 0)
        a++;
    return a->name ? a : NULL;
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
static bool find_worker(enum mpi_library l, char path[PATH_MAX])
{
    static const char *const places[] = {"", "/../libexec/ulpscope"};
    char program[PATH_MAX];
    foreign_program_path(program);
    char *slash = strrchr(program, '/');
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++)
        if (snprintf(path, PATH_MAX, "%.*s%s/%s", (int)(slash - program), program, places[i],
                     libraries[l].worker) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
    return false;
}

static const char *launcher(enum mpi_library l)
{
    const char *variable = libraries[l].variable, *asked = variable ? getenv(variable) : NULL;
    asked = asked ? asked + strspn(asked, " ") : NULL;
    return asked && *asked ? asked : libraries[l].launcher;
}

bool mpi_there(enum mpi_library l, char text[MPI_TEXT])
{
    const struct library *is = &libraries[l];
    char worker[PATH_MAX];
    const char *program = launcher(l), *version = version_of(l);
    int length = program ? (int)strcspn(program, " ") : 0;
    bool built = version != NULL, complete = built && find_worker(l, worker);
    bool there = !program || on_path(program, (size_t)length);
    if (!built)
        snprintf(text, MPI_TEXT, "this build has no %s: install %s, then build again", is->title,
                 is->packages);
    else if (!complete)
        snprintf(text, MPI_TEXT,
                 "found no %s beside ulpscope, nor in ../libexec/ulpscope: copy it from the build",
                 is->worker);
    else if (!there)
        snprintf(text, MPI_TEXT, "found no %.200s: install %s, or set %s", program, is->package,
                 is->variable);
    else
        snprintf(text, MPI_TEXT, "%.200s", version);
    return complete && there;
}

static enum status no_such(const struct foreign *f, const char *where, struct problem *p)
{
    enum mpi_library l = library_of(f->name);
    struct near near = {.word = f->name};
    char known[1000] = "";
    for (size_t i = 0; mpi_name(l, i); i++) {
        size_t used = strlen(known);
        near_try(&near, mpi_name(l, i));
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", mpi_name(l, i));
    }
    if (near.found)
        return problem(p, STATUS_USAGE, "%s: found '%.200s': did you mean %s?", where, f->name,
                       near.found);
    return problem(p, STATUS_USAGE, "%s: found '%.200s', expected one of %s", where, f->name,
                   known);
}

/* Channels; 0: as many as the library takes. */
static struct shape resolve(size_t n, enum device_kind device, struct shape asked)
{
    (void)n, (void)device;
    return (struct shape){0, asked.blocks > NCCL_CHANNELS_MOST ? NCCL_CHANNELS_MOST : asked.blocks};
}

enum status mpi_make(struct foreign *f, const char *where, struct problem *p)
{
    char text[MPI_TEXT];
    const struct mpi_algorithm *algorithm = algorithm_named(f->name);
    if (!algorithm)
        return no_such(f, where, p);
    if (!mpi_there(library_of(f->name), text))
        return problem(p, STATUS_DEVICE, "%s: %s cannot run: %s", where, f->name, text);
    if (algorithm->in_shared_memory && !mpich_in_shared_memory())
        return problem(p, STATUS_DEVICE,
                       "%s: %s cannot run: found %s, expected a build with collectives in shared "
                       "memory, as with device ch4:ofi",
                       where, f->name, text);
    f->method.summary = algorithm->summary;
    f->method.operation = algorithm->operation;
    enum device_kind device = libraries[library_of(f->name)].device;
    f->method.pairs[device] = (struct format_pairs)FORMAT_PAIRS_ALL;
    if (algorithm->ours) { /* elements travel as they are: rounded before, they would be others */
        const struct method *ours = method_named(algorithm->ours);
        f->method.pairs[device] = (struct format_pairs)FORMAT_PAIRS_SAME_FROM_16;
        f->method.promise = ours->promise;
        f->method.beside = ours->beside;
        f->method.addition = ours->addition;
        f->method.bound = ours->bound;
        f->method.folds = ours->folds;
    }
    f->method.shape_read[device] = device == DEVICE_CUDA ? SHAPE_BLOCKS : 0;
    f->method.resolve = device == DEVICE_CUDA ? resolve : NULL;
    f->method.model = mpi_model;
    f->method.unmodelled = algorithm->unmodelled;
    f->times = TIMES_ITSELF;
    f->facts = json_pack("{ss}", "library", text);
    return f->facts ? STATUS_OK : problem(p, STATUS_MEMORY, "%s: out of memory", where);
}

/* --- runs --- */

/* Of Open MPI's parts that add, the one that is asked for an algorithm, and what it needs: han, sm
 * and others would take its place where a setting, a version or several hosts prefer them. */
#define TUNED_ALONE "OMPI_MCA_coll=tuned,libnbc,basic,self OMPI_MCA_coll_tuned_priority=100 "

/* As a shell exports them. */
static void write_variables(char *to, size_t size, const struct mpi_algorithm *a)
{
    static const char tuned[] = "OMPI_MCA_coll_tuned_";
    snprintf(to, size, "%s", a->variables ? a->variables : "");
    if (a->number > 0)
        snprintf(to, size, TUNED_ALONE "%suse_dynamic_rules=1 %s%s_algorithm=%u", tuned, tuned,
                 a->call, a->number);
    size_t used = strlen(to);
    if (a->segment > 0)
        snprintf(to + used, size - used, " %s%s_algorithm_segmentsize=%u", tuned, a->call,
                 a->segment);
}

enum status mpi_open(struct foreign *f, const char *device, struct problem *p)
{
    enum mpi_library l = library_of(f->name);
    char worker[PATH_MAX], ranks[24], variables[400];
    if (!find_worker(l, worker))
        return problem(p, STATUS_DEVICE, "%s: found no %s beside the program", f->name,
                       libraries[l].worker);
    snprintf(ranks, sizeof ranks, "%zu", f->ranks);
    write_variables(variables, sizeof variables, algorithm_named(f->name));
    const char *const argv[] = {"/bin/sh",           "-c",        libraries[l].script,
                                libraries[l].worker, ranks,       worker,
                                variables,           launcher(l), NULL};
    return foreign_open(f, argv, device, p);
}

/* The same bits on all ranks are what an all-reduce is for; but those of before the call are no
 * results. */
static enum status agree(const struct foreign *f, const struct mpi_told *told, enum format format,
                         struct problem *p)
{
    int digits = 2 * format_facts[format].bytes;
    if (told->unlike > 0 && told->left == MPI_TOLD_BEHIND)
        return problem(p, STATUS_DATA, "%s: rank %llu of %zu wrote behind the last of its results",
                       f->name, (unsigned long long)told->unlike - 1, f->ranks);
    if (told->unlike > 0 && told->left == MPI_TOLD_SENT)
        return problem(p, STATUS_DATA, "%s: rank %llu of %zu overwrote the elements that it sent",
                       f->name, (unsigned long long)told->unlike - 1, f->ranks);
    if (told->unlike > 0)
        return problem(p, STATUS_DATA,
                       "%s: rank %llu of %zu left result %llu as it was before the call", f->name,
                       (unsigned long long)told->unlike - 1, f->ranks,
                       (unsigned long long)told->left);
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
    char line[96];
    size_t bytes = array_bytes(x->format, t->of->bins);
    struct mpi_told told;
    snprintf(line, sizeof line, "%s %zu %s %u\n", algorithm_named(f->name)->call, t->of->bins,
             format_facts[x->format].name, t->shape.blocks);
    enum status status = foreign_ask(f,
                                     &(struct question){.line = line,
                                                        .data = x->data,
                                                        .bytes = array_bytes(x->format, x->n),
                                                        .answer = answer,
                                                        .due = bytes + sizeof told,
                                                        .timeout_s = timeout_s,
                                                        .limit = foreign_limit,
                                                        .stop = foreign_stop},
                                     t->device, p);
    /* Another number of channels takes a communicator of its own. */
    f->started |= f->channels != t->shape.blocks;
    f->channels = t->shape.blocks;
    if (status != STATUS_OK)
        return status;
    memcpy(t->out.data, answer, bytes);
    memcpy(&told, answer + bytes, sizeof told);
    f->time_ns = told.time_ns;
    f->timed = true;
    f->hosts[f->ranks] = (unsigned char)told.hosts;
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

/* On how many hosts so many ranks are; 0: they cannot be asked. */
static unsigned hosts_of(struct foreign *f, size_t ranks)
{
    struct {
        float element;
        struct mpi_told told;
    } __attribute__((packed)) answer;
    static const float nothing[MPI_RANKS_MOST];
    struct problem p = {0};
    if (ranks > MPI_RANKS_MOST)
        return 0;
    pthread_mutex_lock(&f->mutex);
    if (f->hosts[ranks] == 0) {
        if (f->ranks != ranks)
            change_ranks(f, ranks);
        if (foreign_ask(f,
                        &(struct question){.line = "hosts 1 fp32 0\n",
                                           .data = nothing,
                                           .bytes = ranks * sizeof *nothing,
                                           .answer = &answer,
                                           .due = sizeof answer,
                                           .timeout_s = foreign_timeout_s,
                                           .stop = foreign_stop},
                        -1, &p) == STATUS_OK)
            f->hosts[ranks] = (unsigned char)answer.told.hosts;
    }
    unsigned hosts = f->hosts[ranks];
    pthread_mutex_unlock(&f->mutex);
    return hosts;
}

/* What is known of them; NULL: it is no sum over ranks by a library. */
static struct foreign *subject_of(const struct method *m)
{
    struct foreign *f = foreign_all();
    while (f && (f->kind != FOREIGN_MPI || &f->method != m))
        f = f->next;
    return f;
}

json_t *mpi_hosts(const struct method *m)
{
    struct foreign *f = subject_of(m);
    json_t *hosts = NULL;
    for (size_t ranks = 1; f && ranks <= MPI_RANKS_MOST; ranks++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", ranks);
        if (f->hosts[ranks] && !hosts)
            hosts = json_object();
        if (f->hosts[ranks])
            json_object_set_new(hosts, number, json_integer(f->hosts[ranks]));
    }
    return hosts;
}

unsigned mpi_hosts_most(const struct method *m)
{
    struct foreign *f = subject_of(m);
    unsigned most = 0;
    for (size_t ranks = 1; f && ranks <= MPI_RANKS_MOST; ranks++)
        most = f->hosts[ranks] > most ? f->hosts[ranks] : most;
    return most;
}

void mpi_hosts_words(struct text *to, const struct method *m)
{
    struct foreign *f = subject_of(m);
    unsigned most = mpi_hosts_most(m);
    bool fewer = false;
    for (size_t ranks = 1; f && ranks <= MPI_RANKS_MOST; ranks++)
        fewer |= f->hosts[ranks] && f->hosts[ranks] < most;
    if (most > 0)
        text_format(to, " on %s%u host%s", fewer ? "up to " : "", most, text_s(most));
}

const char *mpi_model(const char *name, size_t ranks, size_t elements, enum format format)
{
    const struct mpi_algorithm *a = algorithm_named(name);
    struct foreign *f = foreign_all();
    /* Of two ranks there is one addition at most. */
    if (ranks <= 2 && !a->ours)
        return a->operation->fixed;
    const char *model = a->model(a, ranks, elements, format);
    const char *alike = a->all_alike ? getenv(a->all_alike) : NULL;
    if (!model || !a->by_host || (alike && strcmp(alike, "none") == 0))
        return model;
    while (f && (f->kind != FOREIGN_MPI || strcmp(f->name, name) != 0))
        f = f->next;
    unsigned hosts = f ? hosts_of(f, ranks) : 0;
    if (hosts > 1)
        f->method.unmodelled = a->by_host;
    return hosts == 1 ? model : NULL;
}

enum status mpi_run(const struct task *t, size_t runs, double timeout_s, struct problem *p)
{
    struct foreign *f = (struct foreign *)t->method;
    size_t n = t->of->in.n, ranks = t->of->bins ? n / t->of->bins : 0;
    struct array x = {t->out.format, n, malloc(array_bytes(t->out.format, n) + 1)};
    char *answer = malloc(array_bytes(x.format, t->of->bins) + sizeof(struct mpi_told));
    enum status status = STATUS_OK;
    bool halves = (ranks & (ranks - 1)) == 0 && ranks > 0 && t->of->bins % ranks == 0;
    if (algorithm_named(f->name)->halves_alone && !halves)
        status = problem(p, STATUS_USAGE,
                         "%s: found %zu ranks of %zu elements, expected a power of two of ranks, "
                         "which divides the elements: MPICH's algorithm takes no other",
                         f->name, ranks, t->of->bins);
    else if (ranks == 0 || ranks > MPI_RANKS_MOST || t->of->bins > INT_MAX)
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
