/* A CSV file that only ever holds whole rows, and reading one.
 *
 * RFC 4180 with LF. Rows are gathered in memory and written together. A write that fails leaves the
 * rows that fitted and not a byte of the next; a process killed in a write may leave a torn last
 * row, which csv_read tells from the whole ones. */
#pragma once

#include "reference/base/problem.h"
#include "reports/columns/columns.h"

struct csv_file {
    int fd; /* -1: not open, or a write failed */
    char *path;
    struct text pending; /* whole rows, not yet written: append to it, then flush */
    uint64_t whole;      /* bytes of whole rows in the file */
    bool passing; /* set by who copies the rows elsewhere: closing does not wait for the disk */
    bool once;    /* set by who will not append to it in another run, for messages */
};

/* Opens a file to append to, cut off behind its first `keep` bytes; 0 creates it, or starts it
 * over, with the header. A file of an older schema version gets the columns that it lacks, empty.
 * STATUS_DATA where that cannot be; zero *f where it is not opened. */
enum status csv_file_open(struct csv_file *f, const char *path, uint64_t keep,
                          const struct column *(*column)(size_t), size_t columns,
                          struct problem *p);
enum status csv_file_flush(struct csv_file *f, struct problem *p);
/* Flushes, sees to it that the rows are on the disk, and closes. */
enum status csv_file_close(struct csv_file *f, struct problem *p);

/* Replaces NAME.csv in a folder by a file with these rows, whole or not at all. */
enum status csv_file_replace(const char *folder, const char *name, const struct text *rows,
                             const struct column *(*column)(size_t), size_t columns,
                             struct problem *p);

struct csv_row {
    const char *path;
    size_t line;              /* of the row's end, for messages */
    uint64_t begin, end;      /* its bytes in the file */
    const char *const *field; /* one for each column */
    size_t fields;            /* in the file: fewer in an older one, where the rest is empty */
};
typedef enum status (*csv_take)(void *context, const struct csv_row *row, struct problem *p);

/* Reads a file with just these columns, row by row, until `take` returns something else than
 * STATUS_OK. *whole is the number of bytes up to the end of the last whole row; a torn row behind
 * it is not reported. 0 where not even the header is whole. Another header, or a row that is no
 * such row, is STATUS_DATA. Of files of an older schema version the columns that came later are
 * empty. */
enum status csv_read(const char *path, const struct column *(*column)(size_t), size_t columns,
                     csv_take take, void *context, uint64_t *whole, struct problem *p);

/* The same, but for rows that `skip` says from their text are not wanted: most of a large file's
 * need no parsing then. A row with a quoted field is never skipped, nor is the header. */
typedef bool (*csv_skip)(void *context, const char *line);
enum status csv_read_but(const char *path, const struct column *(*column)(size_t), size_t columns,
                         csv_skip skip, csv_take take, void *context, uint64_t *whole,
                         struct problem *p);

/* The same of a file of a folder, wherever its last whole row ends. */
enum status csv_read_in(const char *folder, const char *name, column_at *column, size_t columns,
                        csv_take take, void *context, struct problem *p);

/* The same of a file that may be without columns that were added behind the first `least`: their
 * fields are "". */
enum status csv_read_since(const char *path, const struct column *(*column)(size_t), size_t least,
                           size_t columns, csv_take take, void *context, uint64_t *whole,
                           struct problem *p);

/* Rewrites a file, whole bytes long, without some of its rows; ascending. What fails leaves it as
 * it was. */
struct csv_range {
    uint64_t begin, end;
};
enum status csv_drop(const char *path, uint64_t *whole, const struct csv_range *drop, size_t count,
                     struct problem *p);

/* The number in a field; an empty one is not known. STATUS_DATA names the row and the column. */
enum status csv_figure(const struct csv_row *row, size_t field, const char *column,
                       struct figure *value, struct problem *p);
/* The whole number, decimal or hexadecimal (0x), in a field. */
enum status csv_whole(const struct csv_row *row, size_t field, const char *column, uint64_t *value,
                      struct problem *p);
