/* What a file is, and who reads it. */
#include "experiments/data/data.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "experiments/data/file.h"

/* A file is read by the first whose ending its name has or whose first bytes it begins with. */
static const struct data_reader *const readers[] = {&npy_reader,         &npz_reader, &hdf5_reader,
                                                    &safetensors_reader, &csv_reader, &text_reader,
                                                    &raw_reader};
enum { READERS = sizeof readers / sizeof *readers };

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcasecmp(text + length - wanted, end) == 0;
}

static bool has_ending(const struct data_reader *r, const char *name)
{
    for (size_t i = 0; i < sizeof r->ending / sizeof *r->ending && r->ending[i]; i++)
        if (ends_with(name, r->ending[i]))
            return true;
    return false;
}

/* What is told by its bytes alone is so before another's ending is looked at; of what any bytes
 * could be the ending counts first. */
static const struct data_reader *reader_of(const struct data_file *file,
                                           const struct data_head *head,
                                           const struct data_options *options)
{
    if (options->raw)
        return &raw_reader;
    for (size_t i = 0; i < READERS; i++)
        if (!readers[i]->plain && (has_ending(readers[i], file->name) ||
                                   (readers[i]->begins && readers[i]->begins(head))))
            return readers[i];
    if (strcmp(file->name, "-") == 0) /* it has no ending */
        return options->storage == FORMATS || text_reader.begins(head) ? &text_reader : &raw_reader;
    for (size_t i = 0; i < READERS; i++)
        if (has_ending(readers[i], file->name))
            return readers[i];
    return text_reader.begins(head) ? &text_reader : &raw_reader;
}

static enum status read_open(struct data_set *set, struct data_file *file, const char *member,
                             const struct data_options *options, struct problem *p)
{
    struct data_head head;
    head.size = file->size < DATA_HEAD_MOST ? file->size : DATA_HEAD_MOST;
    enum status status = data_file_read(file, 0, head.size, head.byte, p);
    if (status != STATUS_OK)
        return status;
    const struct data_reader *reader = reader_of(file, &head, options);
    if (file->size == 0 && reader->plain)
        return problem(p, STATUS_DATA, "%s: found an empty file, expected numbers", file->path);
    if (reader->plain && !options->raw)
        status = data_foreign(file->path, head.byte, head.size, file->size, p);
    if (status == STATUS_OK && member && !reader->members)
        status = problem(p, STATUS_USAGE,
                         "%s: found %s, which has no parts, expected a file with some for '%c%s'",
                         file->path, reader->what, file->mark, member);
    return status == STATUS_OK ? reader->read(set, file, member, options, p) : status;
}

/* Splits PATH#NAME or PATH:NAME in place: returns where the name begins, and the mark, or NULL. A
 * file's own name may hold both: what exists decides, the longest such name first. */
static char *split_member(char *path, char *mark)
{
    struct stat facts;
    char *first = strpbrk(path, "#:");
    if (!first || stat(path, &facts) == 0)
        return NULL;
    for (char *cut = path + strlen(path); cut >= first; cut--)
        if ((*mark = *cut) == '#' || *cut == ':') {
            *cut = 0;
            if (stat(path, &facts) == 0 && !S_ISDIR(facts.st_mode))
                return cut + 1;
            *cut = *mark;
        }
    first = strchr(path, '#');
    if (!first)
        return NULL;
    *mark = '#';
    *first = 0;
    return first + 1;
}

enum status data_read(struct data_set *set, const char *path, const struct data_options *options,
                      struct problem *p)
{
    *set = (struct data_set){0};
    char *file_path = strdup(path), mark = 0;
    if (!file_path)
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
    const char *member = split_member(file_path, &mark);
    struct data_file file;
    enum status status = data_file_open(&file, file_path, p);
    file.mark = member ? mark : '#';
    if (status == STATUS_OK)
        status = read_open(set, &file, member, options, p);
    data_file_close(&file);
    free(file_path);
    if (status != STATUS_OK)
        data_free(set);
    return status;
}

const struct data_library *data_library(size_t i)
{
    for (size_t k = 0; k < READERS; k++)
        if (readers[k]->library && i-- == 0)
            return readers[k]->library;
    return NULL;
}

void data_free(struct data_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        free(set->item[i].name);
        free(set->item[i].array.data);
        free(set->item[i].wide.data);
    }
    free(set->item);
    *set = (struct data_set){0};
}
