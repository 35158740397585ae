/* From bytes in a file to an array in native byte order, C order and the format asked for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <xxhash.h>

#include "reference/base/grow.h"
#include "experiments/data/file.h"
#include "experiments/system/memory.h"
#include "reference/base/visible.h"
#include "reports/text/text.h"

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

void data_saturate(enum format f, double x[], size_t count)
{
    double largest = format_facts[f].largest;
    for (size_t i = 0; i < count; i++)
        if (fabs(x[i]) > largest)
            x[i] = copysign(largest, x[i]);
}

static void convert(const struct array *to, const struct array *from, bool saturate)
{
    double block[ARRAY_BLOCK];
    for (size_t begin = 0; begin < from->n; begin += ARRAY_BLOCK) {
        size_t count = from->n - begin < ARRAY_BLOCK ? from->n - begin : ARRAY_BLOCK;
        array_decode(from, begin, count, block);
        if (saturate)
            data_saturate(to->format, block, count);
        array_encode(to, begin, count, block);
    }
}

enum { GATHERED = 1 << 18 }; /* bytes of records at once */

/* From records: of small ones many are read at once, of large ones what is wanted alone. */
static enum status read_records(const struct data_file *file, const struct data_layout *l,
                                size_t begin, size_t count, unsigned char *to, struct problem *p)
{
    size_t width = (size_t)format_facts[l->format].bytes, most = GATHERED / l->record;
    unsigned char *room = most > 0 ? malloc(GATHERED) : NULL;
    enum status status = STATUS_OK;
    if (most > 0 && !room)
        return problem(p, STATUS_MEMORY, "%s: out of memory", file->path);
    for (size_t i = begin, end = begin + count, record, first; i < end && status == STATUS_OK;) {
        record = i / l->run;
        first = l->offset + record * l->record;
        size_t records = (end - 1) / l->run + 1 - record;
        if (room && records > most)
            records = most;
        if (!room) {
            size_t in = i % l->run, piece = l->run - in < end - i ? l->run - in : end - i;
            status = data_file_read(file, first + l->field_at + in * width, piece * width, to, p);
            to += piece * width;
            i += piece;
            continue;
        }
        status = data_file_read(file, first, records * l->record, room, p);
        for (size_t k = 0; k < records && status == STATUS_OK; k++) {
            size_t in = i % l->run, piece = l->run - in < end - i ? l->run - in : end - i;
            memcpy(to, room + k * l->record + l->field_at + in * width, piece * width);
            to += piece * width;
            i += piece;
        }
    }
    free(room);
    return status;
}

/* What lies behind the last element that is wanted: a packed file tells a wrong checksum only where
 * it ends. */
static enum status read_rest(const struct data_file *file, const struct data_layout *l,
                             struct problem *p)
{
    unsigned char *room = malloc(GATHERED);
    enum status status =
        room ? STATUS_OK : problem(p, STATUS_MEMORY, "%s: out of memory", file->path);
    size_t width = (size_t)format_facts[l->format].bytes, records = l->n / l->run;
    size_t at = l->offset + (records - 1) * l->record + l->field_at + l->run * width;
    for (size_t count; status == STATUS_OK && at < file->size; at += count) {
        count = file->size - at < GATHERED ? file->size - at : GATHERED;
        status = data_file_read(file, at, count, room, p);
    }
    free(room);
    return status;
}

/* Elements begin .. begin+count-1 in the order in which they lie, in native byte order. */
static enum status read_elements(const struct data_file *file, const struct data_layout *l,
                                 size_t begin, size_t count, const struct array *to,
                                 struct problem *p)
{
    size_t width = (size_t)format_facts[l->format].bytes;
    enum status status =
        l->record ? read_records(file, l, begin, count, to->data, p)
                  : data_file_read(file, l->offset + begin * width, count * width, to->data, p);
    bool pieces = l->record > GATHERED && file->source;
    if (status == STATUS_OK && pieces && count > 0 && begin + count == l->n)
        status = read_rest(file, l, p);
    if (status == STATUS_OK && l->big_endian)
        swap_bytes(&(struct array){l->format, count, to->data});
    return status;
}

static enum status load_plain(struct array *a, struct data_file *file,
                              const struct data_layout *layout, struct problem *p)
{
    if (file->bytes && layout->last && !layout->record) {
        *a = (struct array){layout->format, layout->n, file->bytes};
        memmove(file->bytes, file->bytes + layout->offset, array_bytes(layout->format, layout->n));
        file->bytes = NULL;
        if (layout->big_endian)
            swap_bytes(a);
        return STATUS_OK;
    }
    enum status status = memory_array(a, layout->format, layout->n, file->path, p);
    return status == STATUS_OK ? read_elements(file, layout, 0, layout->n, a, p) : status;
}

size_t data_rows(size_t dimensions, const size_t shape[])
{
    size_t rows = 1;
    for (size_t d = 0; d + 1 < dimensions; d++)
        rows *= shape[d];
    return dimensions > 1 && shape[dimensions - 1] > 0 ? rows : 0;
}

static bool order_matters(const struct data_layout *layout)
{
    size_t longer_than_one = 0;
    for (size_t d = 0; d < layout->dimensions; d++)
        longer_than_one += layout->shape[d] > 1;
    return layout->fortran && layout->n > 0 && longer_than_one > 1;
}

/* Replaces an array by one of another order or, without a layout, of another format. */
static enum status rework(struct array *a, enum format f, const struct data_layout *layout,
                          bool saturate, const char *path, struct problem *p)
{
    struct array reworked;
    enum status status = memory_array(&reworked, f, a->n, path, p);
    if (status != STATUS_OK)
        return status;
    if (layout)
        permute(&reworked, a, layout);
    else
        convert(&reworked, a, saturate);
    free(a->data);
    *a = reworked;
    return STATUS_OK;
}

static enum status copy(struct array *to, const struct array *from, const char *path,
                        struct problem *p)
{
    enum status status = memory_array(to, from->format, from->n, path, p);
    if (status == STATUS_OK)
        memcpy(to->data, from->data, array_bytes(from->format, from->n));
    return status;
}

static char *item_name(const struct data_file *file, const char *tensor, const char *from,
                       bool saturated)
{
    const char mark[2] = {tensor ? file->mark : 0};
    struct text name = {0};
    text_format(&name, "%s%s%s%s%s%s", file->name, mark, tensor ? tensor : "", from ? ":from=" : "",
                from ? from : "", saturated ? ":saturated" : "");
    char *shown = text_string(&name) ? visible_name(text_string(&name)) : NULL;
    text_free(&name);
    return shown;
}

/* All but the data and its hash. The name is to be freed. */
static enum status describe(struct data *item, const struct data_file *file, const char *tensor,
                            const struct array *a, enum format file_format, bool saturated,
                            struct problem *p)
{
    bool converted = a->format != file_format;
    *item = (struct data){
        .array = *a, .file_format = file_format, .converted = converted, .saturated = saturated};
    item->name =
        item_name(file, tensor, converted ? format_facts[file_format].name : NULL, saturated);
    return item->name ? STATUS_OK : problem(p, STATUS_MEMORY, "%s: out of memory", file->path);
}

enum status data_stream_end(const struct data_stream *to, const struct data_file *file,
                            const char *tensor, const struct array *a, enum format file_format,
                            bool saturated, struct problem *p)
{
    struct data about;
    enum status status = describe(&about, file, tensor, a, file_format, saturated, p);
    if (status == STATUS_OK)
        status = to->end(to->context, &about, p);
    free(about.name);
    return status;
}

enum { STREAMED = 1 << 22 }; /* bytes of a block, in the wider format */

bool data_stream_idle(const struct data_stream *to)
{
    return to && to->index > 0;
}

/* Elements `first` up to `last`, whole blocks of `most`. */
static void share_of(size_t *first, size_t *last, const struct data_file *file, size_t n,
                     size_t most, const struct data_stream *to)
{
    size_t blocks = n / most + (n % most > 0), count = to->count > 0 ? to->count : 1;
    *first = 0;
    *last = data_stream_idle(to) ? 0 : n;
    if (file->source || count == 1)
        return;
    /* So that nothing overflows: the first blocks % count shares have one block more. */
    size_t each = blocks / count, more = blocks % count, k = to->index;
    size_t begin = k * each + (k < more ? k : more), end = begin + each + (k < more);
    *first = begin < blocks ? begin * most : n;
    *last = end < blocks ? end * most : n;
}

static enum status stream(const struct data_file *file, const char *tensor,
                          const struct data_layout *l, enum format wanted,
                          const struct data_options *options, struct problem *p)
{
    size_t from = (size_t)format_facts[l->format].bytes, to = (size_t)format_facts[wanted].bytes;
    size_t most = STREAMED / (from > to ? from : to);
    bool convert_it = wanted != l->format;
    struct array block = {l->format, most, NULL}, converted = {wanted, most, NULL};
    size_t first, last;
    share_of(&first, &last, file, l->n, most, options->stream);
    enum status status = memory_array(&block, l->format, most, file->path, p);
    if (status == STATUS_OK && convert_it)
        status = memory_array(&converted, wanted, most, file->path, p);
    for (size_t begin = first; begin < last && status == STATUS_OK; begin += block.n) {
        block.n = last - begin < most ? last - begin : most;
        status = read_elements(file, l, begin, block.n, &block, p);
        if (status == STATUS_OK && convert_it)
            convert(&(struct array){wanted, block.n, converted.data}, &block, options->saturate);
        converted.n = block.n;
        if (status == STATUS_OK)
            status =
                options->stream->take(options->stream->context, convert_it ? &converted : &block,
                                      (begin - first + block.n) * from, (last - first) * from, p);
    }
    free(block.data);
    free(converted.data);
    struct array whole = {wanted, l->n, NULL};
    return status == STATUS_OK ? data_stream_end(options->stream, file, tensor, &whole, l->format,
                                                 options->saturate && convert_it, p)
                               : status;
}

enum status data_load(struct data_set *set, struct data_file *file, const char *tensor,
                      const struct data_layout *layout, const struct data_options *options,
                      struct problem *p)
{
    enum format wanted = options->storage == FORMATS ? layout->format : options->storage;
    const char mark[2] = {tensor ? file->mark : 0}, *what = tensor ? tensor : "";
    if (wanted != layout->format && !options->convert)
        return problem(p, STATUS_USAGE,
                       "%s%s%s: holds %s, expected %s: add --convert to round it, or ask for %s",
                       file->path, mark, what, format_facts[layout->format].name,
                       format_facts[wanted].name, format_facts[layout->format].name);
    if (options->stream)
        return stream(file, tensor, layout, wanted, options, p);
    struct array a = {0};
    enum status status = load_plain(&a, file, layout, p);
    if (status == STATUS_OK && order_matters(layout))
        status = rework(&a, a.format, layout, false, file->path, p);
    struct array wide = {0};
    if (status == STATUS_OK && wanted != a.format && options->keep)
        status = copy(&wide, &a, file->path, p);
    if (status == STATUS_OK && wanted != a.format)
        status = rework(&a, wanted, NULL, options->saturate, file->path, p);
    if (status == STATUS_OK)
        status = data_append(set, file, tensor, &a, layout->format,
                             options->saturate && wanted != layout->format, p);
    else
        free(a.data);
    if (status != STATUS_OK) {
        free(wide.data);
        return status;
    }
    set->item[set->count - 1].rows = layout->rows;
    set->item[set->count - 1].wide = wide;
    return STATUS_OK;
}

static void hash_of(char text[33], const struct array *a)
{
    XXH128_hash_t hash = XXH3_128bits(a->data, array_bytes(a->format, a->n));
    snprintf(text, 33, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

enum status data_append(struct data_set *set, const struct data_file *file, const char *tensor,
                        struct array *array, enum format file_format, bool saturated,
                        struct problem *p)
{
    struct data item;
    enum status status = describe(&item, file, tensor, array, file_format, saturated, p);
    if (status != STATUS_OK || !grow(&set->item, set->count, sizeof *set->item)) {
        free(item.name);
        free(array->data);
        return problem(p, STATUS_MEMORY, "%s: out of memory", file->path);
    }
    hash_of(item.hash, array);
    set->item[set->count++] = item;
    return STATUS_OK;
}
