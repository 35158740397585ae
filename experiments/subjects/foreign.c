#include "experiments/subjects/foreign_state.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/operations/operation.h"
#include "reference/base/visible.h"

double foreign_timeout_s = 60;
const char *foreign_limit;
const volatile sig_atomic_t *foreign_stop;
const char *foreign_server_path = "/proc/self/exe";

static struct foreign *all;
static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;

void foreign_timeout(double seconds)
{
    foreign_timeout_s = seconds;
    foreign_limit = NULL;
}

void foreign_time_left(double seconds, const char *words)
{
    foreign_timeout_s = seconds;
    foreign_limit = words;
}

void foreign_interrupt(const volatile sig_atomic_t *stop)
{
    foreign_stop = stop;
}

void foreign_server(const char *path)
{
    foreign_server_path = path;
}

const char *foreign_program(void)
{
    return foreign_server_path;
}

void foreign_program_path(char path[PATH_MAX])
{
    ssize_t length = readlink(foreign_server_path, path, PATH_MAX - 1);
    if (length < 0)
        snprintf(path, PATH_MAX, "%s", foreign_server_path);
    else
        path[length] = 0;
}

void foreign_products(struct method *m)
{
    bool dot = operation_asks(m->operation, SETTING_PRODUCT);
    m->product = dot ? PRODUCT_UNKNOWN : PRODUCT_NONE;
    m->products = dot ? 1u << PRODUCT_UNKNOWN : 0;
}

static void free_one(struct foreign *f)
{
    pthread_mutex_destroy(&f->mutex);
    foreign_close(f);
    json_decref(f->facts);
    free(f->name);
    free(f->summary);
    free(f->undescribed);
    free(f);
}

/* Names stand in JSON, in CSV and in tables, and are read back from there. */
static enum status check_name(const char *where, const char *name, struct problem *p)
{
    if (!visible_all(name))
        return problem(
            p, STATUS_USAGE,
            "%s: found '%s', with a control character, or which is not UTF-8: expected one line of "
            "text",
            where, name);
    if (strchr("=+-@", *name)) /* a formula, to a spreadsheet that opens the CSV */
        return problem(p, STATUS_USAGE, "%s: found '%s', expected ./%s", where, name, name);
    return STATUS_OK;
}

/* What is known of any that computes this. Nobody says how it does so. */
static enum theorem_kind bound_of(const struct operation *o)
{
    enum exact_form form = exact_facts[o->of].form;
    if (operation_moves(o) || form == FORM_ELEMENT || form == FORM_INDEX)
        return THEOREM_EXTREMUM;
    return form == FORM_SUM ? THEOREM_ANY_ORDER : THEOREM_NONE;
}

static enum status make_program(struct foreign *f, const char *where,
                                const struct operation *operation, struct problem *p)
{
    const char *command = f->name + strlen("exec:");
    if (strspn(command, " \t") == strlen(command))
        return problem(p, STATUS_USAGE, "%s: found '%s', expected exec:COMMAND", where, f->name);
    f->method.summary = "a program of yours";
    f->method.operation = operation ? operation : &operation_sum;
    f->method.bound = bound_of(f->method.operation);
    foreign_products(&f->method);
    f->method.pairs[DEVICE_CPU] = f->method.pairs[DEVICE_CUDA] =
        (struct format_pairs)FORMAT_PAIRS_ALL;
    return STATUS_OK;
}

static enum status make_object(struct foreign *f, const char *where, struct problem *p)
{
    enum status status = foreign_describe(f, where, p);
    return status == STATUS_OK ? foreign_hash(f, where, p) : status;
}

static bool names_undescribed;

void foreign_name_undescribed(void)
{
    names_undescribed = true;
}

const char *foreign_undescribed(const struct method *m)
{
    return m->cpu == foreign_run ? ((const struct foreign *)m)->undescribed : NULL;
}

static enum status make_python(struct foreign *f, const char *where,
                               const struct operation *operation, struct problem *p)
{
    f->method.operation = operation;
    f->method.bound = bound_of(operation);
    f->times = TIMES_ITSELF;
    struct problem why = {0};
    enum status status = foreign_describe(f, where, &why);
    if (status == STATUS_OK || !names_undescribed || status == STATUS_INTERRUPTED ||
        status == STATUS_MEMORY)
        return status == STATUS_OK ? status : problem(p, status, "%s", why.text);
    size_t said = strlen(where) + strlen(": ");
    bool names = strncmp(why.text, where, strlen(where)) == 0 && strlen(why.text) > said;
    f->undescribed = strdup(why.text + (names ? said : 0));
    return f->undescribed ? STATUS_OK : problem(p, STATUS_MEMORY, "%s: out of memory", where);
}

static enum status make(struct foreign **made, const char *where, const char *name,
                        const struct operation *operation, struct problem *p)
{
    struct foreign *f = calloc(1, sizeof *f);
    if (!f || !(f->name = strdup(name))) {
        free(f);
        return problem(p, STATUS_MEMORY, "%s: out of memory", where);
    }
    pthread_mutex_init(&f->mutex, NULL);
    f->kind = name_is_object(name)   ? FOREIGN_OBJECT
              : name_is_python(name) ? FOREIGN_PYTHON
              : name_is_mpi(name)    ? FOREIGN_MPI
                                     : FOREIGN_PROGRAM;
    f->method = (struct method){.name = f->name,
                                .promise = PROMISE_NONE,
                                .foreign = true,
                                .addition = ADDITION_UNKNOWN,
                                .bound = THEOREM_ANY_ORDER,
                                .cpu = foreign_run};
    enum status status = check_name(where, name, p);
    if (status == STATUS_OK)
        status = f->kind == FOREIGN_OBJECT   ? make_object(f, where, p)
                 : f->kind == FOREIGN_PYTHON ? make_python(f, where, operation, p)
                 : f->kind == FOREIGN_MPI    ? mpi_make(f, where, p)
                                             : make_program(f, where, operation, p);
    *made = f;
    if (status != STATUS_OK)
        free_one(f);
    return status;
}

static enum status find(const struct method **m, const char *where, const char *name,
                        const struct operation *operation, struct problem *p)
{
    const struct operation *wanted = operation ? operation : &operation_sum;
    enum status status = STATUS_OK;
    pthread_mutex_lock(&all_mutex);
    struct foreign *f = all;
    while (f && !(strcmp(f->name, name) == 0 && f->threads == 0 &&
                  (f->kind == FOREIGN_OBJECT || f->kind == FOREIGN_MPI ||
                   f->method.operation == wanted)))
        f = f->next;
    if (!f) {
        status = make(&f, where, name, operation, p);
        if (status == STATUS_OK) {
            f->next = all;
            all = f;
        }
    }
    pthread_mutex_unlock(&all_mutex);
    *m = status == STATUS_OK ? &f->method : NULL;
    return status;
}

enum status foreign_named(const struct method **m, const char *where, const char *name,
                          const struct operation *operation, struct problem *p)
{
    if (operation && operation->ranks && (name_is_python(name) || name_is_program(name)))
        return problem(p, STATUS_USAGE,
                       "%s: found %s, expected a method of `ulpscope list`: no request tells a "
                       "program how many ranks the data of %s are of",
                       where, name, operation->name);
    if (!name_is_python(name))
        return find(m, where, name, operation, p);
    enum status status = python_words_known(where, name, p);
    if (status != STATUS_OK)
        return status;
    char *full = python_name(name);
    status = full ? find(m, where, full, python_operation(full, operation), p)
                  : problem(p, STATUS_MEMORY, "%s: out of memory", where);
    free(full);
    return status;
}

/* What libraries read the number of threads of their loops from. */
static const char *const thread_variables[] = {"OMP_NUM_THREADS",
                                               "OPENBLAS_NUM_THREADS",
                                               "MKL_NUM_THREADS",
                                               "BLIS_NUM_THREADS",
                                               "NUMBA_NUM_THREADS",
                                               "RAYON_NUM_THREADS",
                                               "NPROC"}; /* of JAX' XLA */
enum { THREAD_VARIABLES = sizeof thread_variables / sizeof *thread_variables };

/* A process that this thread starts has its processors. Sets *before to these. */
static bool hold_to_one(cpu_set_t *before)
{
    cpu_set_t one;
    int last = CPU_SETSIZE - 1;
    if (sched_getaffinity(0, sizeof *before, before) != 0)
        return false;
    while (last > 0 && !CPU_ISSET((size_t)last, before))
        last--;
    CPU_ZERO(&one);
    CPU_SET((size_t)last, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

enum status foreign_open(struct foreign *f, const char *const argv[], const char *device,
                         struct problem *p)
{
    char entry[1 + THREAD_VARIABLES][64];
    const char *variables[2 + THREAD_VARIABLES] = {entry[0]};
    snprintf(entry[0], sizeof *entry, "ULPSCOPE_DEVICE=%s", device);
    for (size_t i = 0; f->threads && i < THREAD_VARIABLES; i++) {
        snprintf(entry[1 + i], sizeof *entry, "%s=%u", thread_variables[i], f->threads);
        variables[1 + i] = entry[1 + i];
    }
    cpu_set_t before;
    bool held = f->alone && hold_to_one(&before);
    enum status status = process_open(&f->process, f->name, argv, variables, p);
    if (held)
        sched_setaffinity(0, sizeof before, &before);
    return status;
}

/* What is known of a subject, without a process. */
static struct foreign *copy_of(const struct foreign *f, unsigned threads, bool alone)
{
    struct foreign *to = calloc(1, sizeof *to);
    char *name = strdup(f->name), *summary = f->summary ? strdup(f->summary) : NULL;
    if (!to || !name || (f->summary && !summary)) {
        free(to);
        free(name);
        free(summary);
        return NULL;
    }
    to->kind = f->kind;
    to->method = f->method;
    to->method.name = to->name = name;
    to->summary = summary;
    to->method.summary = summary ? summary : f->method.summary;
    to->facts = f->facts ? json_incref(f->facts) : NULL;
    to->placed = f->placed;
    to->times = f->times;
    to->start_s = f->start_s;
    to->threads = threads;
    to->alone = alone;
    memcpy(to->fingerprint, f->fingerprint, sizeof to->fingerprint);
    pthread_mutex_init(&to->mutex, NULL);
    return to;
}

static enum status variant(const struct method **m, const struct method *of, unsigned threads,
                           bool alone, struct problem *p)
{
    const struct foreign *like = (const struct foreign *)of;
    pthread_mutex_lock(&all_mutex);
    struct foreign *f = all;
    while (f && !(f->threads == threads && f->alone == alone && strcmp(f->name, like->name) == 0 &&
                  f->method.operation == of->operation))
        f = f->next;
    if (!f && (f = copy_of(like, threads, alone))) {
        f->next = all;
        all = f;
    }
    pthread_mutex_unlock(&all_mutex);
    *m = f ? &f->method : NULL;
    return f ? STATUS_OK : problem(p, STATUS_MEMORY, "%s: out of memory", of->name);
}

enum status foreign_with_threads(const struct method **m, const struct method *of, unsigned threads,
                                 struct problem *p)
{
    return variant(m, of, threads, false, p);
}

enum status foreign_on_one_processor(const struct method **m, const struct method *of,
                                     struct problem *p)
{
    return variant(m, of, foreign_threads(of), true, p);
}

unsigned foreign_threads(const struct method *m)
{
    return m->cpu == foreign_run ? ((const struct foreign *)m)->threads : 0;
}

void foreign_ask_threads(const struct method *m, int device)
{
    if (foreign_threads(m) && !((const struct foreign *)m)->threads_said)
        foreign_wake(m, device);
}

unsigned foreign_threads_made(const struct method *m)
{
    unsigned asked = foreign_threads(m),
             made = asked ? ((const struct foreign *)m)->threads_made : 0;
    return made ? made : asked;
}

double foreign_start_s(const struct method *m)
{
    return m->cpu == foreign_run ? ((const struct foreign *)m)->start_s : 0;
}

bool foreign_times(const struct method *m)
{
    const struct foreign *f = (const struct foreign *)m;
    return m->cpu == foreign_run && (f->kind == FOREIGN_OBJECT || f->times == TIMES_ITSELF);
}

bool foreign_time(const struct method *m, uint64_t *time_ns)
{
    const struct foreign *f = (const struct foreign *)m;
    bool timed = m->cpu == foreign_run && f->timed;
    *time_ns = timed ? f->time_ns : 0;
    return timed;
}

const char *foreign_fingerprint(const struct method *m)
{
    const struct foreign *f = (const struct foreign *)m;
    return m->cpu == foreign_run && f->kind == FOREIGN_OBJECT ? f->fingerprint : NULL;
}

const json_t *foreign_facts(const struct method *m)
{
    return m->cpu == foreign_run ? ((const struct foreign *)m)->facts : NULL;
}

bool foreign_places(const struct method *m)
{
    return m->cpu == foreign_run && ((const struct foreign *)m)->placed;
}

bool foreign_restarts(const struct method *m)
{
    return m->cpu == foreign_run && !((const struct foreign *)m)->lent;
}

struct foreign *foreign_all(void)
{
    pthread_mutex_lock(&all_mutex);
    struct foreign *first = all;
    pthread_mutex_unlock(&all_mutex);
    return first;
}

void foreign_close(struct foreign *f)
{
    process_close(f->process);
    f->process = NULL;
    f->holds = f->borrowed = f->describes = false;
    for (size_t i = 0; i < FOREIGN_OTHERS; i++) {
        process_close(f->others[i].process);
        f->others[i] = (struct foreign_ranks){0};
    }
}

void foreign_end(const struct method *m)
{
    for (struct foreign *f = foreign_all(); f; f = f->next) {
        if (m && m != &f->method)
            continue;
        pthread_mutex_lock(&f->mutex);
        foreign_close(f);
        pthread_mutex_unlock(&f->mutex);
    }
}
