/* The user's keys: integers of any width. */
#include <stdbool.h>
#include <stdlib.h>

#include "experiments/data/file.h"
#include "experiments/inputs/keys.h"
#include "experiments/system/memory.h"

enum { BLOCK = 1 << 16 };

/* How they lie in the file. */
struct layout {
    size_t offset, count;
    unsigned width;
    bool is_signed, big_endian;
};

/* Of a .npy: "<i4", "|u1", ... */
static enum status read_type(struct layout *l, const struct data_file *file, const char *type,
                             struct problem *p)
{
    char order = strchr("<>=|", *type) && *type ? *type : '=';
    const char *name = type + (order == *type);
    bool whole = (*name == 'i' || *name == 'u') && strchr("1248", name[1]) && name[1] && !name[2];
    if (!whole)
        return problem(p, STATUS_DATA,
                       "%s: found dtype '%s', expected integers: i1, i2, i4, i8, u1, u2, u4 or u8",
                       file->path, type);
    l->width = (unsigned)(name[1] - '0');
    l->is_signed = *name == 'i';
    l->big_endian = order == '>';
    return STATUS_OK;
}

static enum status read_npy(struct layout *l, const struct data_file *file, struct problem *p)
{
    struct npy_header header = {0};
    enum status status = npy_header_read(&header, &l->offset, file, p);
    if (status == STATUS_OK)
        status = read_type(l, file, header.type, p);
    if (status != STATUS_OK)
        return status;
    if (header.shape.dimensions != 1)
        return problem(p, STATUS_DATA, "%s: found %zu dimensions, expected keys in one", file->path,
                       header.shape.dimensions);
    l->count = header.shape.length[0];
    size_t present = file->size - l->offset;
    if (present % l->width != 0 || present / l->width != l->count)
        return problem(p, STATUS_DATA,
                       "%s: found %zu bytes after the header, expected %zu keys of %u", file->path,
                       present, l->count, l->width);
    return STATUS_OK;
}

static enum status find_layout(struct layout *l, const struct data_file *file, struct problem *p)
{
    unsigned char first[6] = {0};
    size_t got = file->size < sizeof first ? file->size : sizeof first;
    enum status status = data_file_read(file, 0, got, first, p);
    *l = (struct layout){.width = 4, .count = file->size / 4};
    if (status == STATUS_OK && memcmp(first, "\x93NUMPY", sizeof first) == 0)
        return read_npy(l, file, p);
    if (status == STATUS_OK && file->size % l->width != 0)
        return problem(p, STATUS_DATA,
                       "%s: found %zu bytes, expected .npy, or a multiple of 4 for raw unsigned "
                       "integers",
                       file->path, file->size);
    return status;
}

static uint64_t decode(const struct layout *l, const unsigned char *bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < l->width; i++)
        value = value << 8 | bytes[l->big_endian ? i : l->width - 1 - i];
    return value;
}

/* Keys begin .. begin+count-1. */
static enum status take(struct keys *k, const struct layout *l, const char *path,
                        const unsigned char *bytes, size_t begin, size_t count, struct problem *p)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = decode(l, bytes + i * l->width), sign = UINT64_C(1) << (8 * l->width - 1);
        if (l->is_signed && (value & sign)) /* extended, it is a negative number */
            return problem(p, STATUS_DATA, "%s: key %zu: found %lld, expected 0 or more", path,
                           begin + i, (long long)((value ^ sign) - sign));
        if (value >= KEYS_BINS_MAX)
            return problem(p, STATUS_DATA, "%s: key %zu: found %llu, expected less than 2^20", path,
                           begin + i, (unsigned long long)value);
        k->given[begin + i] = (uint32_t)value;
    }
    return STATUS_OK;
}

static enum status read_all(struct keys *k, const struct layout *l, const struct data_file *file,
                            struct problem *p)
{
    unsigned char *bytes = malloc((size_t)BLOCK * 8);
    bool room = l->count < SIZE_MAX / sizeof *k->given && memory_has(l->count * sizeof *k->given);
    k->given = room ? malloc((l->count + 1) * sizeof *k->given) : NULL;
    k->count = l->count;
    enum status status = STATUS_OK;
    if (!bytes || !k->given)
        status = problem(p, STATUS_MEMORY, "%s: out of memory for %zu keys", file->path, l->count);
    for (size_t i = 0, count; status == STATUS_OK && i < l->count; i += count) {
        count = l->count - i < BLOCK ? l->count - i : BLOCK;
        status = data_file_read(file, l->offset + i * l->width, count * l->width, bytes, p);
        if (status == STATUS_OK)
            status = take(k, l, file->path, bytes, i, count, p);
    }
    free(bytes);
    return status;
}

enum status keys_read(struct keys *k, const char *path, struct problem *p)
{
    struct data_file file;
    struct layout layout;
    enum status status = data_file_open(&file, path, p);
    if (status == STATUS_OK)
        status = find_layout(&layout, &file, p);
    if (status == STATUS_OK)
        status = read_all(k, &layout, &file, p);
    data_file_close(&file);
    return status;
}
