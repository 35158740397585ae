#include "reports/csv/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static enum status unwritable(const struct csv_file *f, int error, struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: could not be written: %s%s", f->path, strerror(error),
                   !f->whole ? ""
                   : f->once ? "; the rows before are kept"
                             : "; the rows before are kept: run again to resume");
}

enum status csv_file_open(struct csv_file *f, const char *path, uint64_t keep,
                          const struct column *(*column)(size_t), size_t columns, struct problem *p)
{
    *f = (struct csv_file){.path = strdup(path), .whole = keep};
    if (!f->path)
        return problem(p, STATUS_DEVICE, "%s: out of memory", path);
    f->fd = -1;
    enum status status = keep ? csv_upgrade(path, &keep, column, columns, p) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    f->whole = keep;
    /* A FIFO that nobody reads is refused rather than waited for. */
    f->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | (keep ? 0 : O_TRUNC), 0666);
    if (f->fd >= 0)
        fcntl(f->fd, F_SETFL, 0);
    /* A device file cannot be cut off, and need not be. */
    if (f->fd >= 0 && ftruncate(f->fd, (off_t)keep) != 0 && errno != EINVAL) {
        close(f->fd);
        f->fd = -1;
    }
    if (f->fd < 0 || lseek(f->fd, (off_t)keep, SEEK_SET) < 0)
        return unwritable(f, errno, p);
    if (keep == 0)
        columns_header(&f->pending, column, columns);
    return csv_file_flush(f, p);
}

/* Where the last whole row ends among the first `count` bytes of rows. */
static size_t last_row_end(const char *rows, size_t count)
{
    bool quoted = false;
    size_t end = 0;
    for (size_t i = 0; i < count; i++) {
        quoted ^= rows[i] == '"';
        if (rows[i] == '\n' && !quoted)
            end = i + 1;
    }
    return end;
}

/* Keeps the rows that fitted and gives the file up. */
static enum status give_up(struct csv_file *f, size_t written, int error, struct problem *p)
{
    f->whole += last_row_end(f->pending.data, written);
    while (ftruncate(f->fd, (off_t)f->whole) != 0 && errno == EINTR)
        ;
    close(f->fd);
    f->fd = -1;
    return unwritable(f, error, p);
}

enum status csv_file_flush(struct csv_file *f, struct problem *p)
{
    if (f->fd < 0)
        return unwritable(f, EBADF, p);
    if (f->pending.failed)
        return problem(p, STATUS_DEVICE, "%s: out of memory for rows", f->path);
    for (size_t at = 0; at < f->pending.length;) {
        ssize_t written = write(f->fd, f->pending.data + at, f->pending.length - at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return give_up(f, at, written < 0 ? errno : ENOSPC, p);
        at += (size_t)written;
    }
    f->whole += f->pending.length;
    text_clear(&f->pending);
    return STATUS_OK;
}

enum status csv_file_close(struct csv_file *f, struct problem *p)
{
    enum status status = STATUS_OK;
    if (f->path && f->fd >= 0) {
        status = csv_file_flush(f, p);
        if (f->fd >= 0 && fdatasync(f->fd) != 0 && errno != EINVAL && status == STATUS_OK)
            status = unwritable(f, errno, p);
        if (f->fd >= 0)
            close(f->fd);
    }
    text_free(&f->pending);
    free(f->path);
    *f = (struct csv_file){.fd = -1};
    return status;
}
