/* What the readers of data.h share. */
#pragma once

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
    bool big_endian, fortran; /* shape is needed for Fortran order only */
    size_t offset, n;         /* bytes; elements, the product of the shape */
    size_t dimensions, shape[DATA_DIMENSIONS];
    bool last; /* nothing will be read from the file after this: its memory may be taken over */
};

/* Reads an array into native byte order and C order and, where `options` ask for it, converts
 * it; then appends it to the set. The caller has seen to it that it lies within the file. */
enum status data_load(struct data_set *set, struct data_file *file, const char *tensor,
                      const struct data_layout *layout, const struct data_options *options,
                      struct problem *p);

/* Appends an array, which the set then owns (it is freed on failure too). */
enum status data_append(struct data_set *set, const char *file, const char *tensor,
                        struct array *array, enum format file_format, struct problem *p);

/* The readers. storage may be FORMATS. */
enum status data_read_npy(struct data_set *set, struct data_file *file,
                          const struct data_options *options, struct problem *p);
/* tensor: NULL for all of a floating-point type. */
enum status data_read_safetensors(struct data_set *set, struct data_file *file, const char *tensor,
                                  const struct data_options *options, struct problem *p);
enum status data_read_text(struct data_set *set, struct data_file *file, enum format storage,
                           struct problem *p);
enum status data_read_raw(struct data_set *set, struct data_file *file,
                          const struct data_options *options, struct problem *p);

/* STATUS_DATA if the first bytes are the signature of an unsupported format: HDF5, zip, gzip and
 * others. */
enum status data_foreign(const char *path, const unsigned char *head, size_t size, size_t whole,
                         struct problem *p);

/* The dictionary in a .npy header. */
enum { NPY_TYPE_TEXT = 64 };
struct npy_header {
    char type[NPY_TYPE_TEXT]; /* descr, when a string: "<f8" */
    bool fortran;
    size_t dimensions, shape[DATA_DIMENSIONS];
};
/* Finds and reads a file's header; the array begins at byte *offset. STATUS_DATA. */
enum status npy_header_read(struct npy_header *header, size_t *offset, const struct data_file *file,
                            struct problem *p);
