/* Writes .npy, version 1.0. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/data/data.h"

enum { PREFIX = 10, HEADER = 128 }; /* the whole header; a multiple of 64 aligns the data */

static const char *type_name(enum format f)
{
    switch (f) {
    case FP16:
        return "<f2";
    case BF16:
        return "<V2";
    case FP32:
        return "<f4";
    case FP64:
        break;
    case E4M3:
    case E5M2:
        return "|u1";
    }
    return "<f8";
}

/* rows 0: one dimension. */
static void make_header(char header[HEADER], const struct array *a, size_t rows)
{
    char text[HEADER - PREFIX], columns[24] = "";
    if (rows > 0)
        snprintf(columns, sizeof columns, " %zu", a->n / rows);
    int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,%s), }",
                 type_name(a->format), rows > 0 ? rows : a->n, columns);
    memset(header, ' ', HEADER);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = HEADER - PREFIX;
    header[9] = 0;
    memcpy(header + PREFIX, text, (size_t)length);
    header[HEADER - 1] = '\n';
}

static bool write_all(int fd, const char *from, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, from, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        from += put;
        size -= (size_t)put;
    }
    return true;
}

static bool write_array(int fd, const struct array *a, size_t rows)
{
    char header[HEADER];
    make_header(header, a, rows);
    return write_all(fd, header, sizeof header) &&
           write_all(fd, a->data, array_bytes(a->format, a->n));
}

static enum status unwritable(const char *path, struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: could not be written: %s", path, strerror(errno));
}

/* Devices, pipes: nothing to replace, nothing to take back. */
static enum status write_in_place(const char *path, const struct array *a, size_t rows,
                                  struct problem *p)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return unwritable(path, p);
    bool written = write_array(fd, a, rows);
    if (!written)
        unwritable(path, p);
    if (close(fd) != 0 || !written)
        return unwritable(path, p);
    return STATUS_OK;
}

/* Written beside its place and then moved there: what stood there stays until all is well. */
static enum status write_beside(const char *path, const char *beside, const struct array *a,
                                size_t rows, struct problem *p)
{
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return unwritable(path, p);
    bool written = write_array(fd, a, rows);
    if (!written)
        unwritable(path, p);
    bool closed = close(fd) == 0;
    if (written && closed && rename(beside, path) == 0)
        return STATUS_OK;
    enum status status = unwritable(path, p); /* before unlink changes errno */
    unlink(beside);
    return status;
}

static enum status write_file(const char *path, const struct array *a, size_t rows,
                              struct problem *p)
{
    struct stat facts;
    bool exists = stat(path, &facts) == 0;
    if (exists && !S_ISREG(facts.st_mode))
        return write_in_place(path, a, rows, p);
    /* Through a symbolic link, the file that it leads to is replaced, not the link. */
    char *target = exists ? realpath(path, NULL) : strdup(path);
    size_t size = (target ? strlen(target) : 0) + 32;
    char *beside = malloc(size);
    enum status status = STATUS_MEMORY;
    if (target && beside) {
        snprintf(beside, size, "%s.%ld.partial", target, (long)getpid());
        status = write_beside(target, beside, a, rows, p);
    } else {
        problem(p, status, "%s: out of memory", path);
    }
    free(beside);
    free(target);
    return status;
}

enum status data_write_npy(const char *path, const struct array *a, struct problem *p)
{
    if (strcmp(path, "-") != 0)
        return write_file(path, a, 0, p);
    return write_array(STDOUT_FILENO, a, 0) ? STATUS_OK : unwritable("standard output", p);
}

enum status data_write_npy_rows(const char *path, const struct array *a, size_t rows,
                                struct problem *p)
{
    return write_file(path, a, rows, p);
}
