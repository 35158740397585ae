/* Raw numbers, little-endian, back to back: nothing tells their format but the user. */
#include "experiments/data/file.h"

enum status data_read_raw(struct data_set *set, struct data_file *file,
                          const struct data_options *options, struct problem *p)
{
    if (options->storage == FORMATS)
        return problem(p, STATUS_USAGE,
                       "%s: found no known file type (.npy, safetensors, text), expected --storage "
                       "to say what the raw numbers are",
                       file->path);
    size_t width = (size_t)format_facts[options->storage].bytes;
    if (file->size % width != 0)
        return problem(p, STATUS_DATA, "%s: found %zu bytes, expected a multiple of %zu for raw %s",
                       file->path, file->size, width, format_facts[options->storage].name);
    struct data_layout layout = {.format = options->storage, .n = file->size / width, .last = true};
    return data_load(set, file, NULL, &layout, options, p);
}
