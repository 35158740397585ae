/* From a manifest to entries: what it says is held to the table of its members, and then, as
 * options of the command line are, to all that it names. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/gate/gate.h"
#include "experiments/gate/members.h"
#include "experiments/gate/place.h"
#include "experiments/subjects/subject.h"
#include "reference/base/grow.h"
#include "reference/format/number.h"
#include "reports/text/file.h"

/* More evidence than a run of days would give. */
#define LEAST_DIFFERING 1e-7
#define MOST_CONFIDENCE 0.999999

uint64_t gate_runs(double confidence, double differing)
{
    return differing >= 1 ? 1 : (uint64_t)ceil(log1p(-confidence) / log1p(-differing));
}

/* --- Members --- */

static enum status known_members(const char *path, size_t index, const json_t *object,
                                 struct problem *p)
{
    const char *name, *known[GATE_MEMBERS_MOST];
    json_t *value;
    size_t count = 0;
    for (const struct gate_member *m = gate_members; m->name; m++)
        if (index == SIZE_MAX ? m->whole : m->own)
            known[count++] = m->name;
    json_object_foreach ((json_t *)object, name, value) {
        size_t i = 0;
        struct gate_place at = {path, index, ""};
        while (i < count && strcmp(known[i], name) != 0)
            i++;
        if (i < count)
            continue;
        return gate_not_among(&at, name, known, count, p);
    }
    return STATUS_OK;
}

/* An entry's own, or the manifest's for all. */
static const json_t *member_of(struct gate_place *at, const json_t *own, const json_t *all,
                               const char *name)
{
    const json_t *value = json_object_get(own, name);
    at->member = name;
    if (value)
        return value;
    value = json_object_get(all, name);
    if (value)
        at->index = SIZE_MAX;
    return value;
}

static enum status read_string(const char **to, struct gate_place at, const json_t *own,
                               const json_t *all, const char *name, struct problem *p)
{
    const json_t *value = member_of(&at, own, all, name);
    *to = json_string_value(value);
    return !value || (*to && **to) ? STATUS_OK
                                   : gate_expected(&at, value, "a string that is not empty", p);
}

static enum status read_real(double *to, struct gate_place at, const json_t *own, const json_t *all,
                             const char *name, double least, double most, const char *what,
                             struct problem *p)
{
    const json_t *value = member_of(&at, own, all, name);
    if (!value)
        return STATUS_OK;
    *to = json_number_value(value);
    return json_is_number(value) && *to >= least && *to <= most
               ? STATUS_OK
               : gate_expected(&at, value, what, p);
}

/* A word of an axis: a string, or a whole number. Words are not split: a list has them apart. */
static enum status add_word(struct list *list, const struct gate_place *at, const json_t *value,
                            struct problem *p)
{
    char digits[32];
    const char *word = json_string_value(value);
    double number = json_number_value(value);
    if (json_is_number(value) && number >= 0 && number < 1e15 && number == floor(number)) {
        snprintf(digits, sizeof digits, "%.0f", fabs(number)); /* to JSON 1e6 is one, too */
        word = digits;
    }
    if (!word || !*word)
        return gate_expected(at, value, "a string or a whole number from 0 on, or a list of these",
                             p);
    return list_append(list, word, strlen(word), p);
}

static enum status read_axis(struct request *words, struct gate_place at, const json_t *own,
                             const json_t *all, const struct gate_member *m, struct problem *p)
{
    const json_t *value = member_of(&at, own, all, m->name);
    struct list *list = &words->axis[m->axis];
    size_t i;
    json_t *word;
    enum status status = STATUS_OK;
    if (!value)
        return STATUS_OK;
    if (m->flag && json_is_boolean(value))
        return json_is_true(value) ? list_append(list, "yes", 3, p) : STATUS_OK;
    if (m->flag)
        return gate_expected(&at, value, "true or false", p);
    if (!json_is_array(value))
        return add_word(list, &at, value, p);
    if (json_array_size(value) == 0)
        return gate_expected(&at, value, "one word at least", p);
    json_array_foreach ((json_t *)value, i, word) {
        if (status == STATUS_OK)
            status = add_word(list, &at, word, p);
    }
    return status == STATUS_OK ? list_distinct(list, p) : status;
}

/* --- What they mean --- */

/* What is said of an option is said of the member, the manifest's where the entry has none. */
static enum status relocate(struct gate_place at, const json_t *own, enum status status,
                            const struct problem *why, struct problem *p)
{
    char name[32] = "", where[512];
    const char *rest = why->text;
    int length = 0;
    if (sscanf(why->text, "option --%31[a-z]: %n", name, &length) == 1 && length > 0) {
        rest += length;
        at.member = name;
        at.index = json_object_get(own, name) ? at.index : SIZE_MAX;
    }
    gate_place_text(where, &at);
    return problem(p, status, "%s: %s", where, rest);
}

static enum status read_promise(struct gate_entry *e, struct gate_place at, const json_t *own,
                                const json_t *all, struct problem *p)
{
    const char *word;
    enum status status = read_string(&word, at, own, all, "promise", p);
    e->promise = e->method->promise;
    e->beside = e->method->beside;
    if (status != STATUS_OK || !word)
        return status;
    const char *known[PROMISES_ALL];
    size_t count = 0;
    for (enum promise promise = 0; promise < PROMISES_ALL; promise++)
        if (promise != PROMISES && operation_may_promise(e->method->operation, promise))
            known[count++] = promise_name[promise];
    e->promise = promise_named(word);
    e->beside = e->promise > PROMISES ? 1u << e->promise : 0;
    if (e->promise != PROMISES && operation_may_promise(e->method->operation, e->promise))
        return STATUS_OK;
    at.member = "promise";
    return gate_not_among(&at, word, known, count, p);
}

static enum status read_tolerance(struct gate_entry *e, struct gate_place at, const json_t *own,
                                  const json_t *all, struct problem *p)
{
    const char *quantity;
    char digits[64];
    struct problem why = {0};
    enum status status = read_string(&quantity, at, own, all, "quantity", p);
    const json_t *value = status == STATUS_OK ? member_of(&at, own, all, "tolerance") : NULL;
    const char *text = json_string_value(value);
    if (status == STATUS_OK && !value && json_object_get(own, "quantity")) {
        at.member = "quantity";
        return gate_wrong(&at, p, "found it without a tolerance, expected both");
    }
    if (status == STATUS_OK && !value && quantity) { /* for other entries: a word all the same */
        status = recommend_tolerance_parse(&e->tolerance, "0", quantity, &why);
        return status == STATUS_OK ? STATUS_OK : relocate(at, own, status, &why, p);
    }
    if (!value)
        return status;
    if (json_is_number(value)) {
        snprintf(digits, sizeof digits, "%.17g", json_number_value(value));
        if (strtod(digits, NULL) == json_number_value(value))
            snprintf(digits, sizeof digits, "%.15g", json_number_value(value));
        text = digits;
    }
    if (!text)
        return gate_expected(&at, value, "a number from 0 on, \"4ulp\" or \"0.5bits\"", p);
    e->tolerant = true;
    status = recommend_tolerance_parse(&e->tolerance, text, quantity, &why);
    if (status != STATUS_OK)
        return relocate(at, own, status, &why, p);
    if (operation_makes_array(e->method->operation))
        return gate_wrong(
            &at, p,
            "%s makes an array, expected a subject with one result: a sum, a dot product, a norm",
            e->method->name);
    if (e->words.axis[AXIS_DATA].count + e->words.axis[AXIS_INPUT].count == 0)
        return gate_wrong(&at, p,
                          "found neither data nor input, expected what the error is held on");
    return STATUS_OK;
}

static enum status read_confidence(struct gate_entry *e, struct gate_place at, const json_t *own,
                                   const json_t *all, struct problem *p)
{
    e->confidence = 0.95;
    e->differing = 0.01;
    e->seconds = 10;
    enum status status = read_real(&e->confidence, at, own, all, "confidence", 1e-6,
                                   MOST_CONFIDENCE, "a number from 1e-6 to 0.999999", p);
    if (status == STATUS_OK)
        status = read_real(&e->differing, at, own, all, "differing", LEAST_DIFFERING, 0.999999,
                           "a number from 1e-7 to 0.999999: the share of runs that may differ", p);
    if (status == STATUS_OK)
        status = read_real(&e->seconds, at, own, all, "seconds", 1e-3, 1e7,
                           "a number from 0.001 to 1e7", p);
    if (status == STATUS_OK)
        e->wanted = gate_runs(e->confidence, e->differing);
    return status;
}

/* What it was to promise, to be told. */
static enum status read_promise_only(struct gate_entry *e, struct gate_place at, const json_t *own,
                                     const json_t *all, struct problem *p)
{
    const char *word;
    enum status status = read_string(&word, at, own, all, "promise", p);
    enum promise promise = status == STATUS_OK && word ? promise_named(word) : PROMISE_NONE;
    e->promise = promise < PROMISES_ALL && promise != PROMISES ? promise : PROMISE_NONE;
    return status;
}

static enum status read_subject(struct gate_entry *e, struct gate_place at, const json_t *own,
                                struct problem *p)
{
    const char *name, *called;
    char where[512];
    const struct list *axis = e->words.axis;
    enum status status = read_string(&name, at, own, NULL, "subject", p);
    if (status == STATUS_OK && !name)
        return gate_wrong(&at, p,
                          "found no subject, expected one: a method, ./FILE.so:NAME, exec:COMMAND, "
                          "python:FUNCTION");
    if (status == STATUS_OK)
        status = read_string(&called, at, own, NULL, "name", p);
    if (status != STATUS_OK)
        return status;
    const struct operation *operation =
        axis[AXIS_SCAN].count                             ? operation_asking(SETTING_SCAN)
        : axis[AXIS_KEYS].count + axis[AXIS_BINS].count   ? operation_asking(SETTING_KEYS)
        : axis[AXIS_ROWS].count + axis[AXIS_LAYOUT].count ? operation_asking(SETTING_ROWS)
                                                          : NULL;
    at.member = "subject";
    gate_place_text(where, &at);
    struct problem why = {0};
    enum status found = subject_named(&e->method, where, name, operation, &why);
    if (found != STATUS_OK && found != STATUS_DATA && found != STATUS_DEVICE)
        return problem(p, found, "%s", why.text);
    if (!(e->name = strdup(called ? called : name)))
        status = problem(p, STATUS_MEMORY, "gate: out of memory");
    if (status == STATUS_OK)
        status = list_append(&e->words.axis[AXIS_METHOD], name, strlen(name), p);
    if (status != STATUS_OK || found == STATUS_OK)
        return status;
    bool placed = strncmp(why.text, where, strlen(where)) == 0;
    return gate_stand_in(e, found, why.text + (placed ? strlen(where) + strlen(": ") : 0), p);
}

/* Does the subject read what it is given? */
static enum status check_settings(const struct gate_entry *e, struct gate_place at,
                                  struct problem *p)
{
    for (const struct gate_member *m = gate_members; m->name; m++)
        for (enum setting_option i = 0; i < SETTING_OPTIONS; i++)
            if (m->axis != AXIS_METHOD && strcmp(m->name, setting_options[i].name) == 0 &&
                e->words.axis[m->axis].count > 0 && !setting_read(e->method, i)) {
                at.member = m->name;
                return gate_wrong(&at, p, "found it with %s, expected %s", e->method->name,
                                  setting_options[i].method);
            }
    return STATUS_OK;
}

/* Numbers of rows are tried where a promise that is asked for is about them. */
static enum status check_batch_counts(const struct gate_entry *e, struct gate_place at,
                                      struct problem *p)
{
    at.member = "batch";
    if (e->words.axis[AXIS_BATCH].count == 0)
        return STATUS_OK;
    if (operation_sides(e->method->operation) == 0)
        return gate_wrong(
            &at, p, "found it with %s, expected a matrix product, or sums or statistics of rows",
            e->method->name);
    return gate_holds(e, PROMISE_GPU_TO_GPU) || gate_holds(e, PROMISE_BATCH_INVARIANT)
               ? STATUS_OK
               : gate_wrong(
                     &at, p,
                     "found it without a promise that it is about, expected batch_invariant or "
                     "gpu_to_gpu");
}

/* A device that is not there costs the entry alone. */
static void miss_device(struct gate_entry *e, const struct gate_place *at,
                        const struct problem *why)
{
    char where[512];
    const struct list *names = &e->words.axis[AXIS_DEVICE];
    for (size_t i = 0; i < names->count; i++)
        if (device_parse(&e->device, names->item[i], NULL) != STATUS_OK)
            break;
    gate_place_text(where, at);
    if (e->result.verdict != GATE_FAILED)
        e->result.status = why->status;
    gate_judge(e, GATE_FAILED, "%s: %s", where, why->text);
}

/* Reads what is asked for as options do, and data, once, so that nothing runs for long before a
 * fault is told. */
static enum status check_words(struct gate_entry *e, const struct gate_place *at, const json_t *own,
                               struct problem *p)
{
    struct device device[CHECK_DEVICES];
    struct check_request request = {0};
    struct problem why = {0}, absent = {0};
    size_t devices;
    for (size_t i = 0; i < e->words.axis[AXIS_DATA].count; i++)
        if (strcmp(e->words.axis[AXIS_DATA].item[i], "-") == 0) {
            struct gate_place data = {at->path, at->index, "data"};
            return gate_wrong(
                &data, p, "found '-', standard input, expected a file: it is read more than once");
        }
    enum status status = check_devices(device, &devices, &e->words, &why);
    if (status == STATUS_DEVICE) {
        absent = why;
        status = STATUS_OK;
    } else if (status == STATUS_OK && devices != 1)
        status = problem(&why, STATUS_USAGE, "option --device: found %zu devices, expected one",
                         devices);
    else
        e->device = device[0];
    if (status == STATUS_OK)
        status = check_asked(&request, &e->words, &why);
    check_request_free(&request);
    if (status == STATUS_OK && absent.status != STATUS_OK)
        miss_device(e, at, &absent);
    return status == STATUS_OK ? STATUS_OK : relocate(*at, own, status, &why, p);
}

static enum status read_entry(struct gate_entry *e, struct gate_place at, const json_t *own,
                              const json_t *all, struct problem *p)
{
    if (!json_is_object(own))
        return gate_expected(&at, own, "an object with a subject", p);
    enum status status = known_members(at.path, at.index, own, p);
    for (const struct gate_member *m = gate_members; m->name && status == STATUS_OK; m++)
        if (m->axis != AXIS_METHOD)
            status = read_axis(&e->words, at, own, all, m, p);
    if (status == STATUS_OK)
        status = read_subject(e, at, own, p);
    if (status == STATUS_OK && e->result.verdict == GATE_FAILED) {
        status = read_promise_only(e, at, own, all, p);
        if (status == STATUS_OK)
            status = read_confidence(e, at, own, all, p);
        return status == STATUS_OK ? check_words(e, &at, own, p) : status;
    }
    if (status == STATUS_OK)
        status = check_settings(e, at, p);
    if (status == STATUS_OK)
        status = read_promise(e, at, own, all, p);
    if (status == STATUS_OK)
        status = check_batch_counts(e, at, p);
    if (status == STATUS_OK)
        status = read_tolerance(e, at, own, all, p);
    if (status == STATUS_OK)
        status = read_confidence(e, at, own, all, p);
    if (status == STATUS_OK)
        status = check_words(e, &at, own, p);
    if (status == STATUS_OK && e->promise == PROMISE_NONE && !e->beside && !e->tolerant)
        status =
            gate_wrong(&at, p, "%s promises none, expected a promise to hold it to, or a tolerance",
                       e->method->name);
    return status;
}

static enum status read_entries(struct gate *g, const json_t *all, struct problem *p)
{
    struct gate_place at = {g->path, SIZE_MAX, "subjects"};
    const json_t *subjects = json_object_get(all, "subjects"),
                 *version = json_object_get(all, "schema");
    size_t i;
    json_t *own;
    enum status status = known_members(g->path, SIZE_MAX, all, p);
    if (status == STATUS_OK && version && json_number_value(version) != 1) {
        at.member = "schema";
        return gate_expected(&at, version, "1", p);
    }
    if (status == STATUS_OK && !(json_is_array(subjects) && json_array_size(subjects) > 0))
        return subjects ? gate_expected(&at, subjects, "a list of one subject at least", p)
                        : gate_wrong(&at, p, "found none, expected a list of one subject at least");
    json_array_foreach ((json_t *)subjects, i, own) {
        if (status != STATUS_OK)
            break;
        if (!grow(&g->entry, g->entries, sizeof *g->entry))
            return problem(p, STATUS_MEMORY, "%s: out of memory", g->path);
        struct gate_entry *e = &g->entry[g->entries++];
        *e = (struct gate_entry){.result.worst = SIZE_MAX};
        struct gate_place of = {g->path, i, ""};
        status = read_entry(e, of, own, all, p);
        for (size_t k = 0; k < i && status == STATUS_OK; k++)
            if (strcmp(g->entry[k].name, e->name) == 0) {
                of.member = "name";
                status =
                    gate_wrong(&of, p,
                               "found '%.60s', as subjects[%zu] is called, expected another: give "
                               "it a name of its own",
                               e->name, k);
            }
    }
    return status;
}

enum status gate_read(struct gate *g, const char *path, struct problem *p)
{
    json_error_t error;
    FILE *file;
    *g = (struct gate){.path = path};
    enum status status = file_open(&file, path, p);
    if (status != STATUS_OK)
        return status;
    json_t *all = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    if (!all)
        return problem(p, STATUS_USAGE,
                       "%s: line %d, column %d: %s; expected the JSON of a manifest", path,
                       error.line, error.column, error.text);
    if (json_is_object(all))
        status = read_entries(g, all, p);
    else
        status = problem(p, STATUS_USAGE, "%s: found %s, expected an object with subjects", path,
                         json_is_array(all) ? "a list" : "no object");
    json_decref(all);
    return status;
}
