/* Reads .npz: a zip file of .npy files. */
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "experiments/data/zip.h"

/* `a` is the member a.npy, or one of just that name. */
static bool is_named(const struct zip_entry *e, const char *name, size_t length)
{
    bool npy = e->name_length == length + 4 && memcmp(e->name + length, ".npy", 4) == 0;
    return (npy || e->name_length == length) && memcmp(e->name, name, length) == 0;
}

static bool is_array(const struct zip_entry *e)
{
    return e->name_length > 4 && memcmp(e->name + e->name_length - 4, ".npy", 4) == 0;
}

/* What a look through the directory finds. */
struct found {
    struct zip_entry e;
    size_t count, names_length;
    char names[256]; /* for messages */
};

static void note(struct found *f, const struct zip_entry *e)
{
    f->e = *e;
    f->count++;
    size_t length = e->name_length - (is_array(e) ? 4 : 0);
    if (f->names_length < sizeof f->names / 2)
        f->names_length += (size_t)snprintf(
            f->names + f->names_length, sizeof f->names - f->names_length, "%s%.*s",
            f->count > 1 ? ", " : "", length < 100 ? (int)length : 100, e->name);
}

/* The members of this name, or without one all arrays. */
static enum status look(struct found *f, const struct zip *z, const char *name, size_t length,
                        struct problem *p)
{
    struct zip_entry e;
    enum status status = STATUS_OK;
    *f = (struct found){0};
    for (size_t at = 0; status == STATUS_OK && at < z->size;) {
        status = zip_next(&e, &at, z, p);
        if (status == STATUS_OK && (name ? is_named(&e, name, length) : is_array(&e)))
            note(f, &e);
    }
    return status;
}

/* NAME, or NAME:FIELD of a structured dtype: a member's own name may have colons. */
static enum status choose(struct found *f, const char **field, const struct zip *z,
                          const char *member, struct problem *p)
{
    enum status status = STATUS_OK;
    *field = NULL;
    *f = (struct found){0};
    for (size_t length = member ? strlen(member) : 0;
         member && status == STATUS_OK && f->count == 0 && length > 0; length--)
        if (!member[length] || member[length] == ':') {
            *field = member[length] ? member + length + 1 : NULL;
            status = look(f, z, member, length, p);
        }
    if (status != STATUS_OK || f->count == 1)
        return status;
    if (f->count > 1)
        return problem(p, STATUS_DATA, "%s: found %zu members of the name '%.100s', expected one",
                       z->file->path, f->count, member);
    *field = NULL;
    status = look(f, z, NULL, 0, p);
    if (status != STATUS_OK || (f->count == 1 && !member))
        return status;
    if (f->count == 0)
        return problem(p, STATUS_DATA, "%s: found no .npy in this zip file, expected one",
                       z->file->path);
    return problem(p, STATUS_USAGE, "%s: found %s%.100s%s, expected %s:NAME with one of: %s%s",
                   z->file->path, member ? "no array '" : "several arrays", member ? member : "",
                   member ? "'" : "", z->file->path, f->names,
                   f->names_length < sizeof f->names / 2 ? "" : ", ...");
}

static enum status read_member(struct data_set *set, const struct zip *z, const struct zip_entry *e,
                               const char *field, const struct data_options *options,
                               struct problem *p)
{
    struct data_file member;
    char *path = NULL, *name = NULL;
    int length = (int)(e->name_length - (is_array(e) ? 4 : 0));
    enum status status = STATUS_MEMORY;
    if (asprintf(&path, "%s:%.*s", z->file->path, length, e->name) < 0 ||
        asprintf(&name, "%s:%.*s", z->file->name, length, e->name) < 0)
        status = problem(p, STATUS_MEMORY, "%s: out of memory", z->file->path);
    else
        status = zip_member_open(&member, z, e, path, name, p);
    if (status == STATUS_OK) {
        status = npy_reader.read(set, &member, field, options, p);
        zip_member_close(&member);
    }
    free(path);
    free(name);
    return status;
}

static enum status read_npz(struct data_set *set, struct data_file *file, const char *member,
                            const struct data_options *options, struct problem *p)
{
    struct zip z;
    struct found found;
    const char *field;
    enum status status = zip_open(&z, file, p);
    if (status != STATUS_OK)
        return status;
    status = choose(&found, &field, &z, member, p);
    if (status == STATUS_OK)
        status = read_member(set, &z, &found.e, field, options, p);
    zip_close(&z);
    return status;
}

/* A zip file whose first member is an array: others (.pt, .docx) are not read by their bytes alone.
 */
static bool begins_npz(const struct data_head *head)
{
    enum { NAME = 30 };
    const unsigned char *b = head->byte;
    size_t length = head->size > NAME ? b[26] | (size_t)b[27] << 8 : 0;
    return length > 4 && length <= head->size - NAME && memcmp(b, "PK\3\4", 4) == 0 &&
           memcmp(b + NAME + length - 4, ".npy", 4) == 0;
}

static const struct data_library zlib = {.name = "zlib",
                                         .version = ZLIB_VERSION,
                                         .gives = "reads .npz files",
                                         .install = "install zlib1g-dev, then build again"};

const struct data_reader npz_reader = {.what = "a .npz file",
                                       .library = &zlib,
                                       .members = "an array",
                                       .ending = {".npz"},
                                       .begins = begins_npz,
                                       .read = read_npz};
