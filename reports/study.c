#include "reports/study.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/columns.h"

enum status study_read(json_t **study, const char *path, struct problem *p)
{
    json_error_t error;
    FILE *file = fopen(path, "re");
    if (!file)
        return problem(p, STATUS_DATA, "%s: %s", path, strerror(errno));
    *study = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    if (!*study)
        return problem(p, STATUS_DATA, "%s: line %d: %s; expected the JSON of a study", path,
                       error.line, error.text);
    json_t *version = json_object_get(*study, "schema_version");
    if (!json_is_integer(version))
        problem(p, STATUS_DATA, "%s: found no schema_version: not the study.json of a study", path);
    else if (json_integer_value(version) != SCHEMA_VERSION)
        problem(p, STATUS_DATA, "%s: found schema version %lld, expected %d", path,
                (long long)json_integer_value(version), SCHEMA_VERSION);
    else if (!json_is_string(json_object_get(*study, "experiment")) ||
             !json_is_object(json_object_get(*study, "axes")))
        problem(p, STATUS_DATA, "%s: found no experiment with axes: not the study.json of a study",
                path);
    else
        return STATUS_OK;
    json_decref(*study);
    *study = NULL;
    return STATUS_DATA;
}

static int write_whole(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return -1;
        text += written;
        length -= (size_t)written;
    }
    return 0;
}

enum status study_write(const json_t *study, const char *path, struct problem *p)
{
    char *part = NULL;
    char *text = json_dumps(study, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    if (!text || asprintf(&part, "%s.part", path) < 0) {
        free(text);
        return problem(p, STATUS_DEVICE, "%s: out of memory", path);
    }
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool good = fd >= 0 && write_whole(fd, text, strlen(text)) == 0 &&
                write_whole(fd, "\n", 1) == 0 && fsync(fd) == 0;
    int error = errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && rename(part, path) != 0) {
        good = false;
        error = errno;
    }
    if (!good && fd >= 0)
        unlink(part);
    free(part);
    free(text);
    return good ? STATUS_OK
                : problem(p, STATUS_DATA, "%s: could not be written: %s", path, strerror(error));
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

/* The words of an axis, none twice: what earlier versions wrote has those that were asked for. */
static json_t *distinct(const json_t *axis)
{
    size_t i;
    json_t *word, *words = json_array(), *seen = json_object();
    json_array_foreach(axis, i, word)
    {
        const char *text = json_string_value(word);
        if (text && json_object_get(seen, text))
            continue;
        json_array_append(words, word);
        if (text)
            json_object_set_new(seen, text, json_true());
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

enum status study_same(const json_t *found, const json_t *asked, const char *path,
                       struct problem *p)
{
    const char *name;
    json_t *axis;
    const json_t *theirs = json_object_get(found, "axes"), *ours = json_object_get(asked, "axes");
    if (!json_equal(json_object_get(found, "experiment"), json_object_get(asked, "experiment")))
        return differ(path, "experiment", json_object_get(found, "experiment"),
                      json_object_get(asked, "experiment"), p);
    json_object_foreach((json_t *)ours, name, axis)
    {
        if (!same_axis(json_object_get(theirs, name), axis))
            return differ(path, name, json_object_get(theirs, name), axis, p);
    }
    json_object_foreach((json_t *)theirs, name, axis)
    {
        if (!json_object_get(ours, name))
            return differ(path, name, axis, NULL, p);
    }
    theirs = json_object_get(found, "objects"), ours = json_object_get(asked, "objects");
    return json_equal(theirs, ours) || (!theirs && !ours)
               ? STATUS_OK
               : differ(path, "shared objects", theirs, ours, p);
}
