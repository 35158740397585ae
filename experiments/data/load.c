/* From bytes in a file to an array in native byte order, C order and the format asked for. */
#include <stdio.h>
#include <stdlib.h>

#include <xxhash.h>

#include "reference/base/grow.h"
#include "experiments/data/file.h"
#include "experiments/system/memory.h"
#include "reference/base/visible.h"

static void swap_bytes(const struct array *a)
{
    switch (a->format) {
    case FP16:
    case BF16:
        for (size_t i = 0; i < a->n; i++)
            ((uint16_t *)a->data)[i] = __builtin_bswap16(((uint16_t *)a->data)[i]);
        break;
    case FP32:
        for (size_t i = 0; i < a->n; i++)
            ((uint32_t *)a->data)[i] = __builtin_bswap32(((uint32_t *)a->data)[i]);
        break;
    case FP64:
        for (size_t i = 0; i < a->n; i++)
            ((uint64_t *)a->data)[i] = __builtin_bswap64(((uint64_t *)a->data)[i]);
        break;
    case E4M3:
    case E5M2:
        break;
    }
}

/* In C order the last index runs fastest, in Fortran order the first: `from` keeps the place in
 * Fortran order while the indices count in C order. */
static void permute(const struct array *to, const struct array *fortran,
                    const struct data_layout *layout)
{
    size_t index[DATA_DIMENSIONS] = {0}, stride[DATA_DIMENSIONS], step = 1, from = 0;
    for (size_t d = 0; d < layout->dimensions; d++) {
        stride[d] = step;
        step *= layout->shape[d];
    }
    for (size_t i = 0; i < to->n; i++) {
        array_set_bits(to, i, array_bits(fortran, from));
        for (size_t d = layout->dimensions; d-- > 0;) {
            from += stride[d];
            if (++index[d] < layout->shape[d])
                break;
            from -= stride[d] * layout->shape[d];
            index[d] = 0;
        }
    }
}

static void convert(const struct array *to, const struct array *from)
{
    double block[ARRAY_BLOCK];
    for (size_t begin = 0; begin < from->n; begin += ARRAY_BLOCK) {
        size_t count = from->n - begin < ARRAY_BLOCK ? from->n - begin : ARRAY_BLOCK;
        array_decode(from, begin, count, block);
        array_encode(to, begin, count, block);
    }
}

static enum status load_plain(struct array *a, struct data_file *file,
                              const struct data_layout *layout, struct problem *p)
{
    size_t bytes = array_bytes(layout->format, layout->n);
    if (file->bytes && layout->last) {
        *a = (struct array){layout->format, layout->n, file->bytes};
        memmove(file->bytes, file->bytes + layout->offset, bytes);
        file->bytes = NULL;
    } else {
        enum status status = memory_array(a, layout->format, layout->n, file->path, p);
        if (status == STATUS_OK)
            status = data_file_read(file, layout->offset, bytes, a->data, p);
        if (status != STATUS_OK)
            return status;
    }
    if (layout->big_endian)
        swap_bytes(a);
    return STATUS_OK;
}

static bool order_matters(const struct data_layout *layout)
{
    size_t longer_than_one = 0;
    for (size_t d = 0; d < layout->dimensions; d++)
        longer_than_one += layout->shape[d] > 1;
    return layout->fortran && layout->n > 0 && longer_than_one > 1;
}

/* Replaces an array by one of another format or order. */
static enum status rework(struct array *a, enum format f, const struct data_layout *layout,
                          const char *path, struct problem *p)
{
    struct array reworked;
    enum status status = memory_array(&reworked, f, a->n, path, p);
    if (status != STATUS_OK)
        return status;
    if (layout)
        permute(&reworked, a, layout);
    else
        convert(&reworked, a);
    free(a->data);
    *a = reworked;
    return STATUS_OK;
}

enum status data_load(struct data_set *set, struct data_file *file, const char *tensor,
                      const struct data_layout *layout, const struct data_options *options,
                      struct problem *p)
{
    enum format wanted = options->storage == FORMATS ? layout->format : options->storage;
    const char *mark = tensor ? "#" : "", *what = tensor ? tensor : "";
    if (wanted != layout->format && !options->convert)
        return problem(p, STATUS_USAGE,
                       "%s%s%s: holds %s, expected %s: add --convert to round it, or ask for %s",
                       file->path, mark, what, format_facts[layout->format].name,
                       format_facts[wanted].name, format_facts[layout->format].name);
    struct array a = {0};
    enum status status = load_plain(&a, file, layout, p);
    if (status == STATUS_OK && order_matters(layout))
        status = rework(&a, a.format, layout, file->path, p);
    if (status == STATUS_OK && wanted != a.format)
        status = rework(&a, wanted, NULL, file->path, p);
    if (status == STATUS_OK)
        return data_append(set, file->name, tensor, &a, layout->format, p);
    free(a.data);
    return status;
}

static char *item_name(const char *file, const char *tensor, const char *from)
{
    int size = snprintf(NULL, 0, "%s#%s:from=%s", file, tensor ? tensor : "", from ? from : "");
    char *name = malloc((size_t)size + 1);
    if (name)
        snprintf(name, (size_t)size + 1, "%s%s%s%s%s", file, tensor ? "#" : "",
                 tensor ? tensor : "", from ? ":from=" : "", from ? from : "");
    char *shown = name ? visible_name(name) : NULL;
    free(name);
    return shown;
}

static void hash_of(char text[33], const struct array *a)
{
    XXH128_hash_t hash = XXH3_128bits(a->data, array_bytes(a->format, a->n));
    snprintf(text, 33, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

enum status data_append(struct data_set *set, const char *file, const char *tensor,
                        struct array *array, enum format file_format, struct problem *p)
{
    struct data item = {.array = *array, .file_format = file_format};
    item.converted = array->format != file_format;
    item.name = item_name(file, tensor, item.converted ? format_facts[file_format].name : NULL);
    if (!item.name || !grow(&set->item, set->count, sizeof *set->item)) {
        free(item.name);
        free(array->data);
        return problem(p, STATUS_DEVICE, "%s: out of memory", file);
    }
    hash_of(item.hash, array);
    set->item[set->count++] = item;
    return STATUS_OK;
}
