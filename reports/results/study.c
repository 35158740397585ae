#include "reports/results/study.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/method/method.h"
#include "reference/base/visible.h"
#include "reports/columns/columns.h"
#include "reports/text/file.h"

/* By blocks: json_loadf locks the file for each byte. */
static size_t read_block(void *to, size_t size, void *file)
{
    return fread(to, 1, size, file);
}

/* Of data and of files of keys, by name; studies without either have none. */
static bool hashes_are_objects(const json_t *study, const char *path, struct problem *p)
{
    static const char *const member[] = {"inputs", "keys"};
    for (size_t i = 0; i < sizeof member / sizeof *member; i++) {
        const json_t *hashes = json_object_get(study, member[i]);
        if (hashes && !json_is_object(hashes)) {
            problem(p, STATUS_DATA, "%s: %s: found no object, expected a hash for each: edited",
                    path, member[i]);
            return false;
        }
    }
    return true;
}

enum status study_read(json_t **study, const char *path, struct problem *p)
{
    json_error_t error;
    FILE *file;
    enum status status = file_open(&file, path, p);
    if (status != STATUS_OK)
        return status;
    *study = json_load_callback(read_block, file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    if (!*study)
        return problem(p, STATUS_DATA, "%s: line %d: %s; expected the JSON of a study", path,
                       error.line, error.text);
    json_t *version = json_object_get(*study, "schema_version");
    if (!json_is_integer(version))
        problem(p, STATUS_DATA, "%s: found no schema_version: not the study.json of a study", path);
    else if (json_integer_value(version) < 1 || json_integer_value(version) > SCHEMA_VERSION)
        problem(p, STATUS_DATA, "%s: found schema version %lld, expected 1 to %d", path,
                (long long)json_integer_value(version), SCHEMA_VERSION);
    else if (!json_is_string(json_object_get(*study, "experiment")) ||
             !json_is_object(json_object_get(*study, "axes")))
        problem(p, STATUS_DATA, "%s: found no experiment with axes: not the study.json of a study",
                path);
    else if (hashes_are_objects(*study, path, p))
        return STATUS_OK;
    json_decref(*study);
    *study = NULL;
    return STATUS_DATA;
}

#define MERGING "merging"

bool study_merging(const json_t *study)
{
    return json_is_true(json_object_get(study, MERGING));
}

bool study_set_merging(json_t *study, bool merging)
{
    if (merging)
        return json_object_set_new(study, MERGING, json_true()) == 0;
    json_object_del(study, MERGING);
    return true;
}

enum status study_write(const json_t *study, const char *path, struct problem *p)
{
    char *text = json_dumps(study, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    struct text whole = {0};
    if (text) {
        text_add(&whole, text);
        text_add(&whole, "\n");
    }
    enum status status = text && !whole.failed
                             ? file_replace(path, whole.data, whole.length, p)
                             : problem(p, STATUS_MEMORY, "%s: out of memory", path);
    text_free(&whole);
    free(text);
    return status;
}

json_t *study_path(const char *path)
{
    char *shown = visible_escape(path);
    json_t *string = shown ? json_string(shown) : NULL;
    free(shown);
    return string;
}

/* The axis as short text for a message. */
static void axis_text(const json_t *axis, char text[128])
{
    char *all = axis ? json_dumps(axis, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    snprintf(text, 128, "%.100s%s", all ? all : "nothing", all && strlen(all) > 100 ? "..." : "");
    free(all);
}

static enum status differ(const char *path, const char *what, const json_t *found,
                          const json_t *asked, struct problem *p)
{
    char there[128], here[128];
    axis_text(found, there);
    axis_text(asked, here);
    return problem(
        p, STATUS_USAGE,
        "%s: describes another study: its %s is %s, asked for is %s: give another --out, "
        "or --force to start over",
        path, what, there, here);
}

/* The words of an axis, none twice, methods by their first names: what earlier versions wrote has
 * those that were asked for. */
static json_t *distinct(const json_t *axis)
{
    size_t i;
    json_t *word, *words = json_array(), *seen = json_object();
    json_array_foreach (axis, i, word) {
        const char *text = json_string_value(word);
        if (!text) {
            json_array_append(words, word);
        } else if (!json_object_get(seen, method_first_name(text))) {
            json_array_append_new(words, json_string(method_first_name(text)));
            json_object_set_new(seen, method_first_name(text), json_true());
        }
    }
    json_decref(seen);
    return words;
}

static bool same_axis(const json_t *a, const json_t *b)
{
    if (json_equal(a, b) || !json_is_array(a) || !json_is_array(b))
        return json_equal(a, b);
    json_t *of_a = distinct(a), *of_b = distinct(b);
    bool same = json_equal(of_a, of_b);
    json_decref(of_a);
    json_decref(of_b);
    return same;
}

/* Functions of Python whose files have changed. A study that does not say which they were had
 * others, or an earlier version. */
static enum status same_files(const json_t *found, const json_t *asked, const char *path,
                              struct problem *p)
{
    const char *name;
    json_t *function;
    const json_t *theirs = json_object_get(found, "python");
    json_object_foreach (json_object_get(asked, "python"), name, function) {
        const json_t *was = json_object_get(json_object_get(theirs, name), "sha256"),
                     *is = json_object_get(function, "sha256");
        if (was && is && !json_equal(was, is)) {
            char what[300];
            snprintf(what, sizeof what, "file of %.200s (sha256)", name);
            return differ(path, what, was, is, p);
        }
    }
    return STATUS_OK;
}

enum status study_same(const json_t *found, const json_t *asked, const char *path,
                       struct problem *p)
{
    const char *name;
    json_t *axis;
    const json_t *theirs = json_object_get(found, "axes"), *ours = json_object_get(asked, "axes");
    if (!json_equal(json_object_get(found, "experiment"), json_object_get(asked, "experiment")))
        return differ(path, "experiment", json_object_get(found, "experiment"),
                      json_object_get(asked, "experiment"), p);
    json_object_foreach ((json_t *)ours, name, axis) {
        if (!same_axis(json_object_get(theirs, name), axis))
            return differ(path, name, json_object_get(theirs, name), axis, p);
    }
    json_object_foreach ((json_t *)theirs, name, axis) {
        if (!json_object_get(ours, name))
            return differ(path, name, axis, NULL, p);
    }
    if (!json_equal(json_object_get(found, "shard"), json_object_get(asked, "shard")) &&
        (json_object_get(found, "shard") || json_object_get(asked, "shard")))
        return differ(path, "shard", json_object_get(found, "shard"),
                      json_object_get(asked, "shard"), p);
    theirs = json_object_get(found, "objects"), ours = json_object_get(asked, "objects");
    return json_equal(theirs, ours) || (!theirs && !ours)
               ? same_files(found, asked, path, p)
               : differ(path, "shared objects", theirs, ours, p);
}
