/* What a file is, and who reads it. */
#include "experiments/data/data.h"

#include <ctype.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "experiments/data/file.h"

enum { FIRST_BYTES = 4096 };

enum kind { NPY, SAFETENSORS, TEXT, RAW };

/* The first bytes, for a guess. */
struct head {
    unsigned char byte[FIRST_BYTES];
    size_t size;
};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcasecmp(text + length - wanted, end) == 0;
}

/* A length below 2^40, then the header's brace: no text has those zeros. */
static bool looks_like_safetensors(const struct head *head)
{
    return head->size > 8 && head->byte[8] == '{' && memcmp(head->byte + 5, "\0\0\0", 3) == 0;
}

static bool looks_like_text(const struct head *head)
{
    for (size_t i = 0; i < head->size; i++)
        if (head->byte[i] > 126 || !(isprint(head->byte[i]) || isspace(head->byte[i])))
            return false;
    return head->size > 0;
}

static enum kind kind_of(const struct data_file *file, const struct head *head,
                         const struct data_options *options)
{
    if (options->raw)
        return RAW;
    if (ends_with(file->name, ".npy") ||
        (head->size >= 6 && memcmp(head->byte, "\x93NUMPY", 6) == 0))
        return NPY;
    if (ends_with(file->name, ".safetensors") || looks_like_safetensors(head))
        return SAFETENSORS;
    if (strcmp(file->name, "-") == 0)
        return options->storage == FORMATS ? TEXT : RAW;
    static const char *const text[] = {".txt", ".csv", ".dat"}, *const raw[] = {".raw", ".bin"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (ends_with(file->name, text[i]))
            return TEXT;
    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++)
        if (ends_with(file->name, raw[i]))
            return RAW;
    return looks_like_text(head) ? TEXT : RAW;
}

static enum status read_kind(struct data_set *set, struct data_file *file, enum kind kind,
                             const char *tensor, const struct data_options *options,
                             struct problem *p)
{
    if (tensor && kind != SAFETENSORS)
        return problem(p, STATUS_USAGE, "%s: found no safetensors file, expected one for '#%s'",
                       file->path, tensor);
    switch (kind) {
    case NPY:
        return data_read_npy(set, file, options, p);
    case SAFETENSORS:
        return data_read_safetensors(set, file, tensor, options, p);
    case TEXT:
        return data_read_text(set, file, options->storage, p);
    default:
        return data_read_raw(set, file, options, p);
    }
}

static enum status read_open(struct data_set *set, struct data_file *file, const char *tensor,
                             const struct data_options *options, struct problem *p)
{
    struct head head;
    head.size = file->size < FIRST_BYTES ? file->size : FIRST_BYTES;
    enum status status = data_file_read(file, 0, head.size, head.byte, p);
    if (status != STATUS_OK)
        return status;
    enum kind kind = kind_of(file, &head, options);
    if (file->size == 0 && (kind == TEXT || kind == RAW))
        return problem(p, STATUS_DATA, "%s: found an empty file, expected numbers", file->path);
    if ((kind == TEXT || kind == RAW) && !options->raw)
        status = data_foreign(file->path, head.byte, head.size, file->size, p);
    return status == STATUS_OK ? read_kind(set, file, kind, tensor, options, p) : status;
}

/* Splits PATH#TENSOR in place, and returns the tensor or NULL. A file name may hold a # too: what
 * exists decides, the longest such name first. */
static char *split_tensor(char *path)
{
    struct stat facts;
    char *first = strchr(path, '#');
    if (!first || stat(path, &facts) == 0)
        return NULL;
    for (char *cut = path + strlen(path); cut > first; cut--)
        if (*cut == '#') {
            *cut = 0;
            if (stat(path, &facts) == 0)
                return cut + 1;
            *cut = '#';
        }
    *first = 0;
    return first + 1;
}

enum status data_read(struct data_set *set, const char *path, const struct data_options *options,
                      struct problem *p)
{
    *set = (struct data_set){0};
    char *file_path = strdup(path);
    if (!file_path)
        return problem(p, STATUS_DEVICE, "%s: out of memory", path);
    const char *tensor = split_tensor(file_path);
    struct data_file file;
    enum status status = data_file_open(&file, file_path, p);
    if (status == STATUS_OK)
        status = read_open(set, &file, tensor, options, p);
    data_file_close(&file);
    free(file_path);
    if (status != STATUS_OK)
        data_free(set);
    return status;
}

void data_free(struct data_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        free(set->item[i].name);
        free(set->item[i].array.data);
    }
    free(set->item);
    *set = (struct data_set){0};
}
