/* The user's own arrays: .npy, safetensors, raw, text, standard input. */
#pragma once

#include "reference/format/array.h"
#include "reference/base/problem.h"

struct data;

/* Who takes arrays block by block, in bounded memory, in place of a set that holds them. */
struct data_stream {
    /* Elements in the format asked for, in the order in which they lie: in Fortran order where the
     * array does. done of `of` bytes of the file are read with it. */
    enum status (*take)(void *context, const struct array *block, size_t done, size_t of,
                        struct problem *p);
    /* After the last of an array: about->array has no data. */
    enum status (*end)(void *context, const struct data *about, struct problem *p);
    void *context;
    /* The index-th of `count` shares, from 0, is read: all have the same ends, and together the
     * blocks of the whole. What lies as plain numbers is cut; text and what is packed is the first
     * share's. 0 of 0: the whole. */
    uint32_t index, count;
};

struct data_options {
    enum format storage;  /* asked for with --storage, or FORMATS: as the file has it */
    bool convert;         /* --convert: data in another format is rounded to `storage` */
    bool keep;            /* what is converted is kept too, as `wide` */
    bool saturate;        /* --saturate: rounding clamps to the largest number of `storage`,
                             infinities too; else overflow gives infinity, or NaN */
    bool raw;             /* --raw: raw numbers, whatever the file looks like */
    const char *expected; /* what a .npy of another type is told; NULL: --storage */
    const struct data_stream *stream; /* arrays go there, and the set stays empty; or NULL */
};

struct data {
    char *name;         /* for the column `input`: the file's base name, `#TENSOR` appended for
                           a tensor, `:from=fp64` appended when converted, `:saturated` when that
                           saturates; as visible_name has it, so that tables, CSV and JSON can hold it */
    struct array array; /* storage format, C order */
    struct array wide;  /* what was converted, where that is kept; else its data is NULL */
    enum format file_format;
    bool converted, saturated;
    size_t rows;   /* of a matrix: all lengths of its shape but the last, multiplied; else 0 */
    char hash[33]; /* XXH3 128 of the array's bytes after conversion, hexadecimal */
    /* Of arrays that were joined what goes with them, "scales", and its hash; else NULL, and "". */
    const char *with;
    char beside[33];
};

struct data_set {
    struct data *item;
    size_t count;
};

/* Reads PATH, or PATH:NAME (or PATH#NAME) for one part of it, a tensor of a safetensors file, an
 * array of a .npz or a dataset of an HDF5 file (which are named unless there is one), a column of a
 * CSV file, by name or number, or a field of a structured dtype, or `-` for
 * standard input (where .npy and safetensors are known by their first bytes; else raw with a
 * storage given, text without). All tensors of a floating-point type are read when none is named;
 * naming one of another type is an error, and so is a file with none. What a file is, is told by
 * its first bytes and its name: .npy, .safetensors; .txt, .csv, .dat: text, one number a line;
 * .raw, .bin: raw little-endian, which needs `storage`; any other: text if its first 4096 bytes
 * are, else raw. What begins as files of other formats do (HDF5, zip, ...) is refused in place of
 * raw or text. A text file's numbers are rounded once, from decimal or hexadecimal, to the storage
 * asked for (fp64 where none is); blank lines and lines that begin with # are skipped. A file in
 * another format than asked for is STATUS_USAGE without `convert`. Malformed, unreadable, or a text
 * or raw file of no numbers: STATUS_DATA; too large for memory: STATUS_MEMORY. On failure the set
 * is empty; after success data_free is due. Regular files are read, not mapped, and only the
 * parts that are wanted, straight into their arrays. */
enum status data_read(struct data_set *set, const char *path, const struct data_options *options,
                      struct problem *p);
void data_free(struct data_set *set);

/* A library that reads a format of file, where the build found it. */
struct data_library {
    const char *name, *version; /* NULL: this build is without it */
    const char *gives, *install;
    const char *(*missing)(void); /* what was built but is not there, and what to do; or NULL */
};
/* The i-th; NULL after the last. */
const struct data_library *data_library(size_t i);

/* Writes a one-dimensional .npy (version 1.0, little-endian): '<f2', '<f4', '<f8', '<V2' for
 * bf16, and '|u1', the bytes, for e4m3 and e5m2. `-` is standard output. A failure leaves no
 * partial file behind, and what stood at PATH as it was. */
enum status data_write_npy(const char *path, const struct array *a, struct problem *p);
/* The same of a matrix of so many rows, which divide a->n; to a file. */
enum status data_write_npy_rows(const char *path, const struct array *a, size_t rows,
                                struct problem *p);
