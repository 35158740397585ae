/* What the readers of data.h share. */
#pragma once

#include <mpfr.h>

#include "experiments/data/data.h"

/* A regular file is read where it is needed and into its place at once; what is not regular (a
 * pipe, standard input) is read to its end first. Never mapped: a file that another program
 * shortens meanwhile would kill this one. */
struct data_file {
    const char *path;     /* for messages */
    const char *name;     /* for the column `input` */
    int fd;               /* -1 where `bytes` holds everything */
    unsigned char *bytes; /* NULL where fd is read */
    size_t size;
    /* Of a part of another file that is unpacked as it is read; else NULL. */
    enum status (*source)(void *state, size_t offset, size_t size, void *to, struct problem *p);
    void *state;
    char mark; /* between its name and a part's: FILE#TENSOR, FILE:COLUMN */
};

/* path is kept, not copied. `-` is standard input. */
enum status data_file_open(struct data_file *file, const char *path, struct problem *p);
void data_file_close(struct data_file *file);
enum status data_file_read(const struct data_file *file, size_t offset, size_t size, void *to,
                           struct problem *p);

/* How an array lies in a file. */
enum { DATA_DIMENSIONS = 64 };
struct data_layout {
    enum format format;
    bool big_endian, fortran;
    size_t offset, n; /* bytes; elements, the product of the shape */
    /* Of elements that lie in records: bytes of a record, and before its first element; elements
     * in each, next to each other. record 0: all back to back. */
    size_t record, field_at, run;
    size_t dimensions, shape[DATA_DIMENSIONS];
    size_t rows; /* data_rows of the shape */
    bool last;   /* nothing will be read from the file after this: its memory may be taken over */
};

/* The rows of a matrix: the product of all lengths but the last. 0 for other arrays, and for rows
 * of no elements. The product of the shape does not overflow. */
size_t data_rows(size_t dimensions, const size_t shape[]);

/* Reads an array into native byte order and C order and, where `options` ask for it, converts
 * it; then appends it to the set. The caller has seen to it that it lies within the file. */
enum status data_load(struct data_set *set, struct data_file *file, const char *tensor,
                      const struct data_layout *layout, const struct data_options *options,
                      struct problem *p);

/* Appends an array, which the set then owns (it is freed on failure too). */
enum status data_append(struct data_set *set, const struct data_file *file, const char *tensor,
                        struct array *array, enum format file_format, bool saturated,
                        struct problem *p);

/* Is a share asked for that has nothing of what is not cut? */
bool data_stream_idle(const struct data_stream *to);

/* Tells who takes blocks that an array is at its end. */
enum status data_stream_end(const struct data_stream *to, const struct data_file *file,
                            const char *tensor, const struct array *a, enum format file_format,
                            bool saturated, struct problem *p);

/* Clamps to the format's largest number, infinities too; NaNs stay. */
void data_saturate(enum format f, double x[], size_t count);

/* The first bytes of a file, for a guess. */
enum { DATA_HEAD_MOST = 4096 };
struct data_head {
    unsigned char byte[DATA_HEAD_MOST];
    size_t size;
};

/* A format of file: one row of the table in data.c, in a file of its own. */
struct data_reader {
    const char *what;      /* "a safetensors file", for messages */
    const char *members;   /* what PATH#NAME names: "a tensor"; NULL where it has no parts */
    const char *ending[4]; /* of file names, NULL after the last */
    bool (*begins)(const struct data_head *head); /* do its first bytes tell? NULL: no */
    const struct data_library *library;           /* that reads it; or NULL */
    bool plain; /* any bytes could be one: refused where they begin as other formats do */
    /* member: NULL where none is named. options->storage may be FORMATS. */
    enum status (*read)(struct data_set *set, struct data_file *file, const char *member,
                        const struct data_options *options, struct problem *p);
};
extern const struct data_reader npy_reader, npz_reader, hdf5_reader, safetensors_reader, csv_reader,
    text_reader, raw_reader;

/* The number that a text is, decimal or hexadecimal, inf or nan, between blanks; rounded once to a
 * format. x: room, of any precision. False for another text. */
bool data_number(double *value, mpfr_t x, const char *text, enum format f);

/* STATUS_DATA if the first bytes are the signature of an unsupported format: HDF5, zip, gzip and
 * others. */
enum status data_foreign(const char *path, const unsigned char *head, size_t size, size_t whole,
                         struct problem *p);

/* The dictionary in a .npy header. */
enum { NPY_TYPE_TEXT = 256 };
struct npy_shape {
    size_t dimensions, length[DATA_DIMENSIONS];
};
struct npy_header {
    const char *wanted; /* set by the caller: a field of a structured dtype, `a.b` for one of a
                           field that is a record; or NULL: the only one */
    char type[NPY_TYPE_TEXT]; /* descr, when a string: "<f8"; else that of the field found */
    bool fortran;
    struct npy_shape shape;
    /* Of a structured dtype: */
    bool structured, found;
    size_t named;            /* how many fields have a name */
    size_t record, field_at; /* bytes of a record, and before the field in it */
    struct npy_shape field_shape;
    char fields[512]; /* their names, for messages */
};
/* Finds and reads a file's header; the array begins at byte *offset. STATUS_DATA. */
enum status npy_header_read(struct npy_header *header, size_t *offset, const struct data_file *file,
                            struct problem *p);
