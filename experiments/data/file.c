/* The bytes of a file: read in place where it is a regular file, held whole where it is not. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/data/file.h"
#include "experiments/system/memory.h"

enum { FIRST_CAPACITY = 1 << 16 };

static enum status unreadable(const struct data_file *file, struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: could not be read: %s", file->path, strerror(errno));
}

static enum status grow(struct data_file *file, size_t *capacity, struct problem *p)
{
    size_t wanted = *capacity ? 2 * *capacity : FIRST_CAPACITY;
    unsigned char *grown = memory_has(wanted - *capacity) ? realloc(file->bytes, wanted) : NULL;
    if (!grown)
        return problem(p, STATUS_DEVICE, "%s: out of memory after %zu bytes, and it goes on",
                       file->path, file->size);
    file->bytes = grown;
    *capacity = wanted;
    return STATUS_OK;
}

static enum status read_to_end(struct data_file *file, struct problem *p)
{
    size_t capacity = 0;
    for (;;) {
        if (file->size == capacity) {
            enum status status = grow(file, &capacity, p);
            if (status != STATUS_OK)
                return status;
        }
        ssize_t got = read(file->fd, file->bytes + file->size, capacity - file->size);
        if (got == 0)
            return STATUS_OK;
        if (got > 0)
            file->size += (size_t)got;
        else if (errno != EINTR)
            return unreadable(file, p);
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static enum status open_path(struct data_file *file, struct problem *p)
{
    struct stat facts;
    file->fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0)
        return problem(p, STATUS_DATA, "%s: could not be opened: %s", file->path, strerror(errno));
    if (fstat(file->fd, &facts) != 0)
        return unreadable(file, p);
    /* Files of /proc are regular and say that they are empty. */
    if (S_ISREG(facts.st_mode) && facts.st_size > 0) {
        file->size = (size_t)facts.st_size;
        return STATUS_OK;
    }
    return read_to_end(file, p);
}

enum status data_file_open(struct data_file *file, const char *path, struct problem *p)
{
    *file = (struct data_file){.path = path, .name = base_name(path), .fd = -1};
    if (strcmp(path, "-") != 0)
        return open_path(file, p);
    file->path = "standard input";
    file->fd = STDIN_FILENO;
    return read_to_end(file, p);
}

void data_file_close(struct data_file *file)
{
    if (file->fd > STDIN_FILENO)
        close(file->fd);
    free(file->bytes);
    file->bytes = NULL;
}

enum status data_file_read(const struct data_file *file, size_t offset, size_t size, void *to,
                           struct problem *p)
{
    if (file->bytes) {
        memcpy(to, file->bytes + offset, size);
        return STATUS_OK;
    }
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(file->fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (got == 0)
            return problem(p, STATUS_DATA, "%s: ended at byte %zu while it was read, expected %zu",
                           file->path, offset + done, file->size);
        if (got > 0)
            done += (size_t)got;
        else if (errno != EINTR)
            return unreadable(file, p);
    }
    return STATUS_OK;
}
