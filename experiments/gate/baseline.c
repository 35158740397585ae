/* DIR/baseline.json: the bits and errors that a later run is held to. A case stands on one line, so
 * that a change is read as a difference of lines. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/gate/gate.h"
#include "reports/text/file.h"

enum { VERSION = 1 };

static char *path_of(const char *dir)
{
    char *path;
    return asprintf(&path, "%s/baseline.json", dir) < 0 ? NULL : path;
}

static enum status malformed(const char *path, const char *what, struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: %s: not a baseline that gate --update wrote", path, what);
}

/* A number, or the word that stands for one that JSON has not; null where it is not known. */
static bool is_error(const json_t *ulps)
{
    const char *word = json_string_value(ulps);
    return json_is_number(ulps) || json_is_null(ulps) ||
           (word && (strcmp(word, "inf") == 0 || strcmp(word, "nan") == 0));
}

static enum status check_shape(const json_t *all, const char *path, struct problem *p)
{
    const char *name, *key;
    json_t *entry, *one, *entries = json_object_get(all, "entries");
    if (json_integer_value(json_object_get(all, "schema_version")) != VERSION)
        return malformed(path, "found no schema_version 1", p);
    if (!json_is_object(entries))
        return malformed(path, "found no entries", p);
    json_object_foreach (entries, name, entry) {
        json_t *cases = json_object_get(entry, "cases");
        if (!json_is_string(json_object_get(entry, "promise")) ||
            !json_is_string(json_object_get(entry, "subject")) || !json_is_object(cases))
            return malformed(path, "found an entry without subject, promise and cases", p);
        json_object_foreach (cases, key, one) {
            if (!json_is_string(json_object_get(one, "bits")) ||
                !json_is_string(json_object_get(one, "input")) ||
                !is_error(json_object_get(one, "err_ulp")))
                return malformed(path, "found a case without bits, input and err_ulp", p);
        }
    }
    return STATUS_OK;
}

enum status gate_baseline_read(struct gate *g, const char *dir, bool create, struct problem *p)
{
    json_error_t error;
    FILE *file = NULL;
    struct stat facts;
    struct problem why = {0};
    char *path = path_of(dir);
    if (!path)
        return problem(p, STATUS_MEMORY, "%s: out of memory", dir);
    enum status status = STATUS_OK;
    if (stat(path, &facts) != 0 && errno == ENOENT) {
        g->baseline = create ? json_pack("{s{}}", "entries") : NULL;
        status =
            create ? STATUS_OK
                   : problem(p, STATUS_DATA,
                             "%s: found no such file, expected what `gate --baseline %s --update` "
                             "records",
                             path, dir);
    } else if ((status = file_open(&file, path, &why)) != STATUS_OK) {
        problem(p, status, "%s", why.text);
    } else {
        g->baseline = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
        fclose(file);
        status = g->baseline ? check_shape(g->baseline, path, p)
                             : problem(p, STATUS_DATA, "%s: line %d: %s; expected a baseline", path,
                                       error.line, error.text);
    }
    free(path);
    return status;
}

/* The recorded error; NaN where there is none. */
static double ulps_of(const json_t *one)
{
    const json_t *value = json_object_get(one, "err_ulp");
    const char *word = json_string_value(value);
    return json_is_number(value)              ? json_number_value(value)
           : word && strcmp(word, "inf") == 0 ? INFINITY
                                              : NAN;
}

static enum promise promise_of(const json_t *recorded)
{
    const char *word = json_string_value(json_object_get(recorded, "promise"));
    return promise_named(word ? word : "");
}

/* Does the entry promise less than what was recorded? What is beside the ladder is another thing
 * than a rung. */
static bool lessened(const struct gate_entry *e, const json_t *recorded)
{
    enum promise was = promise_of(recorded);
    return was < PROMISES && e->promise < PROMISES ? was > e->promise : was != e->promise;
}

struct difference {
    const struct gate_case *first; /* whose bits differ */
    const char *was;               /* its recorded bits */
    const struct gate_case *worse; /* whose error grew most, */
    double from;                   /* from this */
    const struct gate_case *other; /* that read another input than was recorded */
    const struct gate_case *moved; /* whose error is another, of the recorded bits; */
    double had;                    /* that was this */
    size_t bits;                   /* how many cases have other bits */
};

/* Is it the error that was recorded? Of another machine the last digits may differ. */
static bool same_error(double now, double then)
{
    return now == then || (isnan(now) && isnan(then)) || fabs(now - then) <= 1e-9 * fabs(then);
}

static void compare(struct gate_result *r, const struct gate_case *c, const json_t *one,
                    struct difference *d)
{
    const char *bits = json_string_value(json_object_get(one, "bits"));
    if (strcmp(json_string_value(json_object_get(one, "input")), c->input) != 0) {
        d->other = d->other ? d->other : c;
        return;
    }
    double from = ulps_of(one), now = c->ulps.known ? c->ulps.value : NAN;
    bool same = strcmp(bits, c->bits) == 0;
    if (same && same_error(now, from)) {
        r->same++;
        return;
    }
    r->changed++;
    if (same) {
        if (!d->moved)
            d->had = from;
        d->moved = d->moved ? d->moved : c;
        return;
    }
    if (d->bits++ == 0) {
        d->first = c;
        d->was = bits;
    }
    bool grew = !isnan(from) && (isnan(now) || now > from);
    if (grew && (!d->worse || !(now - from <= d->worse->ulps.value - d->from))) {
        d->worse = c;
        d->from = from;
    }
}

static void say_difference(struct gate_entry *e, const struct difference *d, const json_t *recorded)
{
    struct gate_result *r = &e->result;
    char **to = &r->difference;
    enum promise was = promise_of(recorded);
    if (lessened(e, recorded))
        gate_say(to, "the promise was %s, and is %s now",
                 promise_name[was] ? promise_name[was] : "another", promise_name[e->promise]);
    if (d->first)
        gate_say(to, "bits of %zu of %zu cases differ, first %s: %s, recorded %s", d->bits,
                 r->case_count, d->first->key, d->first->bits, d->was);
    if (d->worse)
        gate_say(to, "the error grew from %.3g to %.3g ulp (%s)", d->from, d->worse->ulps.value,
                 d->worse->key);
    if (d->first && !d->worse)
        gate_say(to, "no error grew");
    if (d->moved)
        gate_say(to, "the error of the recorded bits is %.3g ulp, recorded %.3g (%s)",
                 d->moved->ulps.known ? d->moved->ulps.value : NAN, d->had, d->moved->key);
    if (d->other)
        gate_say(to, "the data of %s are not those recorded", d->other->key);
    if (r->gone > 0)
        gate_say(to, "%zu recorded cases were not run", r->gone);
}

static void hold(struct gate_entry *e, const json_t *recorded)
{
    struct gate_result *r = &e->result;
    struct difference d = {0};
    const char *key;
    json_t *one, *cases = json_object_get(recorded, "cases");
    r->compared = true;
    for (size_t i = 0; i < r->case_count; i++) {
        one = json_object_get(cases, r->cases[i].key);
        if (one)
            compare(r, &r->cases[i], one, &d);
        else
            r->added++;
    }
    json_object_foreach (cases, key, one) {
        size_t i = 0;
        while (i < r->case_count && strcmp(r->cases[i].key, key) != 0)
            i++;
        r->gone += i == r->case_count;
    }
    if (recorded)
        say_difference(e, &d, recorded);
    if (r->added > 0)
        gate_say(&r->difference, "%zu of %zu cases were not recorded before", r->added,
                 r->case_count);
}

/* Was it run, with bits that are the same again? */
static bool has_bits(const struct gate_entry *e)
{
    return e->promise > PROMISE_NONE && e->result.case_count > 0;
}

void gate_baseline_hold(struct gate *g, bool accept)
{
    const char *name;
    json_t *recorded, *entries = json_object_get(g->baseline, "entries");
    for (size_t i = 0; i < g->entries; i++) {
        struct gate_entry *e = &g->entry[i];
        if (!has_bits(e)) {
            if (e->promise == PROMISE_NONE && e->result.verdict != GATE_FAILED)
                gate_say(&e->result.note, "promises none: its bits are not held");
            continue;
        }
        hold(e, json_object_get(entries, e->name));
        if (accept || !e->result.difference)
            continue;
        recorded = json_object_get(entries, e->name);
        bool lost = recorded && (e->result.changed + e->result.gone > 0 || lessened(e, recorded));
        gate_judge(e, lost ? GATE_CHANGED : GATE_NOT_TRIED, "baseline: %s%s", e->result.difference,
                   lost ? "" : " (--update records them)");
    }
    json_object_foreach (entries, name, recorded) {
        size_t i = 0;
        while (i < g->entries && strcmp(g->entry[i].name, name) != 0)
            i++;
        if (i == g->entries)
            gate_say(&g->gone, "%s", name);
    }
}

static json_t *record_of(const struct gate_entry *e)
{
    json_t *cases = json_object();
    for (size_t i = 0; i < e->result.case_count; i++) {
        const struct gate_case *c = &e->result.cases[i];
        json_t *ulps = !c->ulps.known ? json_null()
                       : isfinite(c->ulps.value)
                           ? json_real(c->ulps.value)
                           : json_string(isnan(c->ulps.value) ? "nan" : "inf");
        json_object_set_new(
            cases, c->key,
            json_pack("{ss so ss}", "bits", c->bits, "err_ulp", ulps, "input", c->input));
    }
    return json_pack("{ss ss so}", "subject", e->method->name, "promise", promise_name[e->promise],
                     "cases", cases);
}

/* A string as JSON has it. */
static void add_string(struct text *to, const char *string)
{
    json_t *value = json_string(string);
    char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    to->failed |= !dumped;
    text_add(to, dumped ? dumped : "");
    free(dumped);
    json_decref(value);
}

static void add_entry(struct text *to, const char *name, const json_t *entry)
{
    const char *key, *before = "";
    json_t *one;
    text_add(to, "  ");
    add_string(to, name);
    text_add(to, ": {\"subject\": ");
    add_string(to, json_string_value(json_object_get(entry, "subject")));
    text_add(to, ", \"promise\": ");
    add_string(to, json_string_value(json_object_get(entry, "promise")));
    text_add(to, ", \"cases\": {");
    json_object_foreach (json_object_get(entry, "cases"), key, one) {
        char *dumped = json_dumps(one, JSON_REAL_PRECISION(17));
        to->failed |= !dumped;
        text_format(to, "%s\n   ", before);
        add_string(to, key);
        text_format(to, ": %s", dumped ? dumped : "");
        free(dumped);
        before = ",";
    }
    text_add(to, "}}");
}

/* What is to be recorded: of what is kept, this; of the rest what was there. */
static json_t *merged(const struct gate *g)
{
    json_t *entries = json_object(), *old = json_object_get(g->baseline, "entries");
    for (size_t i = 0; i < g->entries; i++) {
        const struct gate_entry *e = &g->entry[i];
        json_t *was = json_object_get(old, e->name);
        if (has_bits(e) && e->result.verdict == GATE_KEPT)
            json_object_set_new(entries, e->name, record_of(e));
        else if (was && (e->promise > PROMISE_NONE || e->result.verdict == GATE_FAILED))
            json_object_set(entries, e->name, was);
    }
    return entries;
}

enum status gate_baseline_writable(const char *dir, struct problem *p)
{
    char *path = path_of(dir);
    if (!path)
        return problem(p, STATUS_MEMORY, "%s: out of memory", dir);
    bool made = mkdir(dir, 0777) == 0;
    enum status status =
        made || errno == EEXIST
            ? gate_writable(path, p)
            : problem(p, STATUS_DATA, "%s: could not be made: %s", dir, strerror(errno));
    if (made)
        rmdir(dir);
    free(path);
    return status;
}

enum status gate_baseline_write(const struct gate *g, const char *dir, struct problem *p)
{
    struct text all = {0};
    const char *name, *before = "";
    json_t *entry, *entries = merged(g);
    char *path = path_of(dir);
    text_format(&all, "{\"schema_version\": %d, \"entries\": {", VERSION);
    json_object_foreach (entries, name, entry) {
        text_format(&all, "%s\n", before);
        add_entry(&all, name, entry);
        before = ",";
    }
    text_add(&all, "\n}}\n");
    enum status status = STATUS_OK;
    if (!path || all.failed)
        status = problem(p, STATUS_MEMORY, "%s: out of memory", dir);
    else if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        status = problem(p, STATUS_DATA, "%s: could not be made: %s", dir, strerror(errno));
    else
        status = file_replace(path, all.data, all.length, p);
    json_decref(entries);
    text_free(&all);
    free(path);
    return status;
}
