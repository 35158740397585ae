/* The user's own arrays: .npy, safetensors, raw, text, standard input. */
#pragma once

#include "reference/format/array.h"
#include "reference/base/problem.h"

struct data_options {
    enum format storage; /* asked for with --storage, or FORMATS: as the file has it */
    bool convert;        /* --convert: data in another format is rounded to `storage` */
    bool raw;            /* --raw: raw numbers, whatever the file looks like */
};

struct data {
    char *name;         /* for the column `input`: the file's base name, `#TENSOR` appended for
                           a tensor, `:from=fp64` appended when converted; as visible_name has
                           it, so that tables, CSV and JSON can hold it */
    struct array array; /* storage format, C order */
    enum format file_format;
    bool converted;
    char hash[33]; /* XXH3 128 of the array's bytes after conversion, hexadecimal */
};

struct data_set {
    struct data *item;
    size_t count;
};

/* Reads PATH, or PATH#TENSOR for one tensor of a safetensors file, or `-` for standard input
 * (where .npy and safetensors are known by their first bytes; else raw with a storage given,
 * text without). All tensors of a floating-point type are read when none is named; naming one
 * of another type is an error, and so is a file with none. What a file is, is told by its first
 * bytes and its name: .npy, .safetensors; .txt, .csv, .dat: text, one number a line; .raw, .bin:
 * raw little-endian, which needs `storage`; any other: text if its first 4096 bytes are, else raw.
 * What begins as files of other formats do (HDF5, zip, ...) is refused in place of raw or text.
 * A text file's numbers are rounded once, from decimal or hexadecimal, to the storage asked for
 * (fp64 where none is); blank lines and lines that begin with # are skipped. A file in another
 * format than asked for is STATUS_USAGE without `convert`. Malformed, unreadable, or a text or
 * raw file of no numbers: STATUS_DATA; too large for memory: STATUS_DEVICE. On failure the set
 * is empty; after success data_free is due. Regular files are read, not mapped, and only the
 * parts that are wanted, straight into their arrays. */
enum status data_read(struct data_set *set, const char *path, const struct data_options *options,
                      struct problem *p);
void data_free(struct data_set *set);

/* Writes a one-dimensional .npy (version 1.0, little-endian): '<f2', '<f4', '<f8', '<V2' for
 * bf16, and '|u1', the bytes, for e4m3 and e5m2. `-` is standard output. A failure leaves no
 * partial file behind, and what stood at PATH as it was. */
enum status data_write_npy(const char *path, const struct array *a, struct problem *p);
