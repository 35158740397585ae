/* Functions of Python as subjects: their names, and the process that runs them. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/operations/operation.h"
#include "experiments/subjects/foreign_state.h"
#include "experiments/system/machine.h"
#include "reports/text/near.h"

static const char *const arrays[] = {"numpy", "torch", "cupy", "jax", "array"};
/* By what is asked for, in whichever order: `static` is compiled for each length alone. */
enum mode { DETERMINISTIC = 1, COMPILED = 2, STATIC = 4 };
static const struct {
    const char *name;
    unsigned asks;
} modes[] = {{"deterministic", DETERMINISTIC},
             {"compiled", COMPILED},
             {"deterministic@compiled", DETERMINISTIC | COMPILED},
             {"static", COMPILED | STATIC},
             {"deterministic@static", DETERMINISTIC | COMPILED | STATIC}};
enum { ARRAYS = sizeof arrays / sizeof *arrays, MODES = sizeof modes / sizeof *modes };

/* Where names leave it open. */
static const char *array_asked, *operation_asked;

static const struct operation *operation_word(const char *name, size_t length)
{
    for (size_t i = 0; operations[i]; i++)
        if (strlen(operations[i]->name) == length &&
            strncmp(operations[i]->name, name, length) == 0)
            return operations[i];
    return NULL;
}

static const char *word_of(const char *const *words, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == length && strncmp(words[i], name, length) == 0)
            return words[i];
    return NULL;
}

/* What this word, or words before it, ask for; 0: it is none. */
static unsigned mode_asked(const char *name, size_t length)
{
    for (size_t i = 0; i < MODES; i++)
        if (strlen(modes[i].name) == length && strncmp(modes[i].name, name, length) == 0)
            return modes[i].asks;
    return 0;
}

static const char *mode_name(unsigned asks)
{
    for (size_t i = 0; i < MODES; i++)
        if (modes[i].asks == asks)
            return modes[i].name;
    return NULL;
}

static const char *array_named(const char *name, size_t length)
{
    return word_of(arrays, ARRAYS, name, length);
}

enum status foreign_python(const char *array, const char *operation, struct problem *p)
{
    if (array && !array_named(array, strlen(array)))
        return near_unknown_option(p, "array", array, "numpy, torch, cupy, jax or array");
    char known[512] = "one of ";
    const struct operation *asked = operation ? NULL : &operation_sum;
    for (size_t i = 0; operations[i]; i++) {
        size_t used = strlen(known);
        if (!operation_served(operations[i]))
            continue;
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", operations[i]->name);
        if (operation && strcmp(operation, operations[i]->name) == 0)
            asked = operations[i];
    }
    if (!asked)
        return near_unknown_option(p, "operation", operation, known);
    array_asked = array;
    operation_asked = operation;
    return STATUS_OK;
}

/* What the name says of itself behind its function. */
struct words {
    size_t function;  /* bytes of the name without them */
    const char *mode; /* how its library is to run it, or NULL: as it is */
    const char *array;
    const struct operation *operation;
    bool differ; /* two libraries of arrays, or two operations */
};

static struct words words_of(const char *name)
{
    struct words w = {.function = strlen(name)};
    for (unsigned asked = 0;;) {
        size_t at = w.function;
        while (at > 0 && name[at - 1] != '@')
            at--;
        const char *array = at > 0 ? array_named(name + at, w.function - at) : NULL;
        const struct operation *o = at > 0 ? operation_word(name + at, w.function - at) : NULL;
        unsigned mode = at > 0 ? mode_asked(name + at, w.function - at) : 0;
        if (!array && !o && !mode)
            return w;
        asked |= mode;
        w.differ = w.differ || (array && w.array && array != w.array) ||
                   (o && w.operation && o != w.operation);
        w.mode = mode_name(asked);
        w.array = array ? array : w.array;
        w.operation = o ? o : w.operation;
        w.function = at - 1;
    }
}

enum status python_words_known(const char *where, const char *name, struct problem *p)
{
    struct words w = words_of(name);
    size_t at = w.function;
    if (w.differ)
        return problem(p, STATUS_USAGE,
                       "%s: %s: found '%s', expected one library of arrays and one operation",
                       where, name, name + at);
    while (at > 0 && !strchr("@.:", name[at - 1]))
        at--;
    if (at == 0 || name[at - 1] != '@')
        return STATUS_OK;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(w.function - at), name + at);
    struct near near = {.word = word};
    for (size_t i = 0; i < MODES; i++)
        near_try(&near, modes[i].name);
    for (size_t i = 0; i < ARRAYS; i++)
        near_try(&near, arrays[i]);
    for (size_t i = 0; operations[i]; i++)
        if (operation_served(operations[i]))
            near_try(&near, operations[i]->name);
    if (near.found)
        return problem(p, STATUS_USAGE, "%s: %s: found '@%s', did you mean @%s?", where, name, word,
                       near.found);
    return problem(p, STATUS_USAGE,
                   "%s: %s: found '@%s', expected @deterministic, @compiled, @static, a library of "
                   "arrays (@numpy, ...), or what it computes (@norm, ...)",
                   where, name, word);
}

char *python_name(const char *name)
{
    struct words w = words_of(name);
    const char *array = w.array ? w.array : array_asked;
    const char *operation = w.operation ? w.operation->name : operation_asked;
    char *full;
    int length = asprintf(&full, "%.*s%s%s%s%s%s%s", (int)w.function, name, w.mode ? "@" : "",
                          w.mode ? w.mode : "", array ? "@" : "", array ? array : "",
                          operation ? "@" : "", operation ? operation : "");
    return length < 0 ? NULL : full;
}

/* What functions of these names compute, in the libraries that have them. */
static const struct operation *usual(const char *function)
{
    static const struct {
        const char *name;
        const struct operation *operation;
    } known[] = {
        {"cumsum", &operation_scan},
        {"nancumsum", &operation_scan},
        {"cumulative_sum", &operation_scan},
        {"dot", &operation_dot},
        {"vdot", &operation_dot},
        {"inner", &operation_dot},
        {"vecdot", &operation_dot},
        {"norm", &operation_norm},
        {"vector_norm", &operation_norm},
        {"mean", &operation_mean},
        {"average", &operation_mean},
        {"nanmean", &operation_mean},
        {"fmean", &operation_mean},
        {"var", &operation_variance},
        {"pvariance", &operation_variance},
        {"bincount", &operation_scatter},
        {"index_add", &operation_scatter},
        {"index_add_", &operation_scatter},
        {"scatter_add", &operation_scatter},
        {"scatter_add_", &operation_scatter},
        {"scatter_reduce", &operation_scatter},
        {"segment_reduce", &operation_scatter},
        {"embedding_bag", &operation_scatter},
        {"histogram", &operation_scatter},
        {"segment_sum", &operation_scatter},
        {"at", &operation_scatter},
        {"prod", &operation_product},
        {"min", &operation_minimum},
        {"amin", &operation_minimum},
        {"max", &operation_maximum},
        {"amax", &operation_maximum},
        {"nanmin", &operation_minimum_number},
        {"nanmax", &operation_maximum_number},
        {"argmin", &operation_argmin},
        {"argmax", &operation_argmax},
        {"matmul", &operation_gemm},
        {"mm", &operation_gemm},
        {"addmm", &operation_gemm},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, function) == 0)
            return known[i].operation;
    return operation_word(function, strlen(function));
}

const struct operation *foreign_says(const char *name)
{
    if (!name_is_python(name))
        return NULL;
    struct words w = words_of(name);
    if (w.operation)
        return w.operation;
    char *function = strndup(name, w.function);
    char *last = function ? function + w.function : NULL;
    while (last > function && !strchr(".:", last[-1]))
        last--;
    const struct operation *o = function ? usual(last) : NULL;
    free(function);
    return o && operation_served(o) ? o : NULL;
}

const struct operation *python_operation(const char *name, const struct operation *asked)
{
    const struct operation *said = foreign_says(name);
    if (words_of(name).operation || !asked)
        return said ? said : &operation_sum;
    return asked;
}

enum status python_find(char path[PATH_MAX], const char *file, struct problem *p)
{
    static const char *const places[] = {"/../share/ulpscope/", "/../"};
    char program[PATH_MAX];
    foreign_program_path(program);
    char *slash = strrchr(program, '/');
    size_t folder = slash ? (size_t)(slash - program) : 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int length = snprintf(path, PATH_MAX, "%.*s%s%s", (int)folder, program, places[i], file);
        if (slash && length < PATH_MAX && access(path, R_OK) == 0)
            return STATUS_OK;
    }
    slash = strrchr(build_worker, '/');
    int length =
        snprintf(path, PATH_MAX, "%.*s%s", (int)(slash - build_worker + 1), build_worker, file);
    return length < PATH_MAX && access(path, R_OK) == 0
               ? STATUS_OK
               : problem(p, STATUS_DATA,
                         "python: found no %s: expected %.*s%s%s, where the program's "
                         "installation puts it",
                         file, (int)folder, program, places[0], file);
}

void foreign_wake(const struct method *m, int device)
{
    struct foreign *f = (struct foreign *)(uintptr_t)m;
    char answer[8];
    if (m->cpu != foreign_run || f->kind != FOREIGN_PYTHON)
        return;
    pthread_mutex_lock(&f->mutex);
    enum status status = foreign_ask(f,
                                     &(struct question){.line = "ready\n",
                                                        .answer = answer,
                                                        .due = sizeof answer,
                                                        .timeout_s = foreign_timeout_s,
                                                        .stop = foreign_stop},
                                     device, NULL);
    if (status != STATUS_OK)
        foreign_close(f);
    pthread_mutex_unlock(&f->mutex);
}

static const size_t prefix = sizeof "python:" - 1;

bool python_alike(const char *name, const char *other)
{
    struct words a = words_of(name), b = words_of(other);
    const char *x = name + prefix, *y = other + prefix;
    const char *end = strstr(x, ".py:");
    bool file = end && end < name + a.function;
    size_t length = file ? (size_t)(end - x) + strlen(".py:") : strcspn(x, ".@");
    const char *library = a.array ? a.array : array_named(x, length);
    const char *its = b.array ? b.array : array_named(y, strcspn(y, ".@"));
    if (a.mode != b.mode || library != its)
        return false;
    return (library && !file && !strstr(y, ".py:")) || strncmp(x, y, length + !file) == 0;
}

char *python_line(const struct foreign *f)
{
    struct words w = words_of(f->name);
    char *line;
    int length = asprintf(&line, "function\t%.*s\t%s\t%s\n", (int)(w.function - prefix),
                          f->name + prefix, f->method.operation->name, w.array ? w.array : "");
    return length < 0 ? NULL : line;
}

/* How it is called in all pairs of formats, once it was described; NULL: not known. A process that
 * is told so has called it on nothing before it is asked for a run. */
static const char *call_known(const struct foreign *f)
{
    const json_t *calls = json_object_get(f->facts, "calls");
    return json_array_size(calls) == 1 ? json_string_value(json_array_get(calls, 0)) : NULL;
}

enum status python_open(struct foreign *f, const char *device, struct problem *p)
{
    char worker[PATH_MAX];
    const char *python = getenv("ULPSCOPE_PYTHON");
    struct words w = words_of(f->name);
    enum status status = python_find(worker, "worker.py", p);
    char *function = strndup(f->name + prefix, w.function - prefix);
    if (status == STATUS_OK && !function)
        status = problem(p, STATUS_MEMORY, "%s: out of memory", f->name);
    /* By way of a shell, which looks python3 up on PATH, and says so where there is none. */
    const char *const argv[] = {"/bin/sh",
                                "-c",
                                "exec \"$0\" \"$@\"",
                                python && *python ? python : "python3",
                                worker,
                                function,
                                f->method.operation->name,
                                w.array ? w.array : "",
                                w.mode ? w.mode : "",
                                call_known(f),
                                NULL};
    if (status == STATUS_OK)
        status = foreign_open(f, argv, device, p);
    free(function);
    return status;
}
