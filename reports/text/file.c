#include "reports/text/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a directory"
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* Not waiting for who writes to a FIFO. */
enum status file_open(FILE **file, const char *path, struct problem *p)
{
    struct stat facts;
    *file = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return problem(p, STATUS_DATA, "%s: %s", path, strerror(errno));
    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        close(fd);
        return problem(p, STATUS_DATA, "%s: found %s, expected a regular file", path,
                       kind_of(facts.st_mode));
    }
    *file = fdopen(fd, "r");
    if (*file)
        return STATUS_OK;
    close(fd);
    return problem(p, STATUS_MEMORY, "%s: out of memory", path);
}

static bool write_whole(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

char *file_part(const char *path)
{
    char *part;
    return asprintf(&part, "%s.part", path) < 0 ? NULL : part;
}

static enum status replace(const char *path, const char *bytes, size_t count, bool lasting,
                           struct problem *p)
{
    char *part = file_part(path);
    if (!part)
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
    unlink(part);
    int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool good = fd >= 0 && write_whole(fd, bytes, count) && (!lasting || fsync(fd) == 0);
    int error = errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && rename(part, path) != 0) {
        good = false;
        error = errno;
    }
    if (!good && fd >= 0)
        unlink(part);
    free(part);
    return good ? STATUS_OK
                : problem(p, STATUS_DATA, "%s: could not be written: %s", path, strerror(error));
}

enum status file_replace(const char *path, const char *bytes, size_t count, struct problem *p)
{
    return replace(path, bytes, count, true, p);
}

enum status file_replace_passing(const char *path, const char *bytes, size_t count,
                                 struct problem *p)
{
    return replace(path, bytes, count, false, p);
}
