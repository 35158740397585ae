/* What a subject says of itself, asked of a process that may die of it. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/subjects/foreign_state.h"
#include "experiments/subjects/subject.h"
#include "experiments/system/clock.h"
#include "experiments/options/pairs.h"

enum { DESCRIPTION_MAX = 1 << 16 };

static const char *described_only = "";

static bool names_only;

void foreign_names_only(void)
{
    names_only = true;
}

void foreign_describe_only(const char *devices_and_pairs)
{
    described_only = devices_and_pairs;
}

static struct format_pairs read_pairs(const json_t *list)
{
    size_t i;
    json_t *word;
    struct pairs pairs = {0};
    struct format_pairs set = {0};
    json_array_foreach (list, i, word)
        pairs_parse(&pairs, json_is_string(word) ? json_string_value(word) : "", NULL);
    for (i = 0; i < pairs.count; i++)
        format_pairs_add(&set, pairs.item[i].storage, pairs.item[i].accumulator);
    return set;
}

static unsigned read_shape(const json_t *list)
{
    size_t i;
    json_t *word;
    unsigned flags = 0;
    json_array_foreach (list, i, word)
        flags |= json_is_string(word) && strcmp(json_string_value(word), "blocks") == 0
                     ? SHAPE_BLOCKS
                     : SHAPE_THREADS;
    return flags;
}

static const char *word_of(const json_t *object, const char *key)
{
    const char *word = json_string_value(json_object_get(object, key));
    return word ? word : "";
}

/* The JSON that experiments/program/method_json.h writes. */
static bool take(struct foreign *f, const json_t *object)
{
    static const char *const device[DEVICE_KINDS] = {"cpu", "cuda"};
    struct method *m = &f->method;
    const char *operation = word_of(object, "operation");
    size_t known = 0;
    while (operations[known] && strcmp(operation, operations[known]->name) != 0)
        known++;
    m->operation = operations[known] ? operations[known] : &operation_sum;
    foreign_products(m);
    f->summary = strdup(word_of(object, "summary"));
    m->summary = f->summary;
    m->promise = promise_named(word_of(object, "promise"));
    size_t i;
    json_t *beside;
    json_array_foreach (json_object_get(object, "beside"), i, beside) {
        enum promise promise =
            promise_named(json_is_string(beside) ? json_string_value(beside) : "");
        m->beside |= operation_may_promise(m->operation, promise) ? 1u << promise : 0;
    }
    for (enum device_kind d = 0; d < DEVICE_KINDS; d++) {
        m->pairs[d] = read_pairs(json_object_get(json_object_get(object, "pairs"), device[d]));
        m->shape_read[d] = read_shape(json_object_get(json_object_get(object, "reads"), device[d]));
    }
    m->no_c = json_is_true(json_object_get(object, "no_c"));
    f->lent = json_is_false(json_object_get(object, "process"));
    f->placed = !json_is_false(json_object_get(object, "places"));
    f->facts = json_incref(json_object_get(object, "facts"));
    return f->summary && m->promise < PROMISES && strcmp(operation, m->operation->name) == 0;
}

/* What the process said in its last line, without our name; else what we know of its end. */
static enum status refused(struct process *c, const char *where, enum status status,
                           const struct problem *why, struct problem *p)
{
    static const char us[] = "ulpscope: ";
    const char *words = process_last_words(c);
    int exit_status = process_exit_status(c);
    if (exit_status < STATUS_USAGE || exit_status > STATUS_DEVICE || !*words)
        return problem(p, status, "%s: %s", where, why->text);
    words += strncmp(words, us, strlen(us)) == 0 ? strlen(us) : 0;
    return problem(p, (enum status)exit_status, "%s: %s", where, words);
}

enum status foreign_hash(struct foreign *f, const char *where, struct problem *p)
{
    char *path = strdup(f->name), *end = path ? strstr(path, ".so:") : NULL;
    if (!end)
        return problem(p, STATUS_MEMORY, "%s: out of memory", f->name);
    end[3] = 0;
    if (!subject_hash_file(f->fingerprint, path))
        problem(p, STATUS_DATA, "%s: %s: could not be read: %s", where, path, strerror(errno));
    free(path);
    return p->status;
}

/* The function that was described last. Functions are named one after the other. */
static struct foreign *last;

/* A process that has loaded the same, and done nothing but describe, describes this, too: many
 * functions of a library cost one import. Not where one function is the caller's own. */
static bool take_process(struct foreign *f)
{
    bool takes = false;
    if (!last || getenv("ULPSCOPE_CALLED") || !python_alike(last->name, f->name))
        return false;
    pthread_mutex_lock(&last->mutex);
    if (last->process && last->describes) {
        takes = f->borrowed = true;
        f->process = last->process;
        f->start_s = last->start_s;
        last->process = NULL;
        last->borrowed = last->describes = false; /* what it starts next is its own */
        process_rename(f->process, f->name);
    }
    pthread_mutex_unlock(&last->mutex);
    return takes;
}

/* Sees to its process, and to what that is asked. The caller frees the line. */
static enum status begin(struct foreign *f, char **line, struct problem *p)
{
    const char *const argv[] = {foreign_server_path, "serve", f->name, "--describe", NULL};
    bool python = f->kind == FOREIGN_PYTHON, taken = python && take_process(f);
    char *function = taken ? python_line(f) : NULL;
    int length = (taken && !function) ? -1
                 : python ? asprintf(line, "%sdescribe %s\n", taken ? function : "", described_only)
                          : asprintf(line, "%s", "");
    free(function);
    if (length < 0) {
        *line = NULL;
        return problem(p, STATUS_MEMORY, "%s: out of memory", f->name);
    }
    return taken ? STATUS_OK : python ? python_open(f, "cpu", p) : foreign_open(f, argv, "cpu", p);
}

/* A shared object's process ends when it has described it; Python's stays, and is asked for runs or
 * for other functions next, so its answer has a length that is known. */
static enum status ask(struct foreign *f, const char *where, char text[DESCRIPTION_MAX],
                       bool *shared, struct problem *p)
{
    bool python = f->kind == FOREIGN_PYTHON;
    struct problem why = {0};
    char *line = NULL;
    size_t found = DESCRIPTION_MAX;
    uint64_t started = clock_ns();
    enum status status = begin(f, &line, p);
    *shared = f->borrowed;
    if (status == STATUS_OK)
        status = process_ask(f->process,
                             &(struct question){.line = line,
                                                .answer = text,
                                                .due = DESCRIPTION_MAX,
                                                .found = python ? NULL : &found,
                                                .timeout_s = foreign_timeout_s,
                                                .stop = foreign_stop},
                             &why);
    if (!f->borrowed)
        f->start_s = status == STATUS_OK ? (double)(clock_ns() - started) / 1e9 : 0;
    json_t *object = status == STATUS_OK ? json_loadb(text, found, 0, NULL) : NULL;
    if (status == STATUS_OK && found == 0)
        status = problem(p, STATUS_DATA,
                         "%s: %s: its process ended while it was loaded, with exit status %d: "
                         "expected a description",
                         where, f->name, process_exit_status(f->process));
    else if (status == STATUS_OK && !(object && take(f, object)))
        status = problem(p, STATUS_DATA, "%s: %s: its description is none: found %zu bytes: %.*s",
                         where, f->name, found, found < 200 ? (int)found : 200, text);
    else if (f->process && status != STATUS_OK)
        status = refused(f->process, where, status, &why, p);
    if (!python || status != STATUS_OK)
        foreign_close(f);
    json_decref(object);
    free(line);
    return status;
}

enum status foreign_describe(struct foreign *f, const char *where, struct problem *p)
{
    struct problem found = {0};
    bool shared = false;
    if (f->kind == FOREIGN_PYTHON && names_only)
        return STATUS_OK;
    char *text = malloc(DESCRIPTION_MAX);
    f->device = -1;
    enum status status = text ? ask(f, where, text, &shared, &found)
                              : problem(&found, STATUS_MEMORY, "%s: out of memory", f->name);
    /* What was described there before may have left that process unfit: an error of a GPU stays. */
    if (status != STATUS_OK && status != STATUS_INTERRUPTED && shared) {
        found = (struct problem){0};
        status = ask(f, where, text, &shared, &found);
    }
    if (p && p->status == STATUS_OK)
        *p = found;
    f->describes = f->process != NULL;
    last = f->describes ? f : last;
    free(text);
    return status;
}
