#include "reports/text/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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

/* Is what was opened still what has this name? */
static bool is_there(int fd, const char *path)
{
    struct stat ours, there;
    return fstat(fd, &ours) == 0 && lstat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

/* Removes the part that a process which was killed has left. Whose part it is holds a lock on it,
 * and so does who removes it: no other can come between. 0; EWOULDBLOCK: it is being written. */
static int remove_left(const char *part)
{
    int error = 0, fd = open(part, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        error = EWOULDBLOCK;
    else if ((fd < 0 || is_there(fd, part)) && unlink(part) != 0 && errno != ENOENT)
        error = errno;
    if (fd >= 0)
        close(fd);
    return error;
}

/* A new part, locked. Another process that writes one is waited for, but not for ever. */
static int open_part(const char *part)
{
    enum { WAITS = 500, WAIT_MS = 10 };
    for (int i = 0; i < WAITS; i++) {
        int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), error = errno;
        if (fd >= 0) { /* not every file server has locks */
            bool ours = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
            if (ours && is_there(fd, part))
                return fd;
            close(fd);
            continue;
        }
        if (error == EEXIST)
            error = remove_left(part);
        if (error == EWOULDBLOCK)
            poll(NULL, 0, WAIT_MS);
        errno = error;
        if (error != 0 && error != EWOULDBLOCK)
            break;
    }
    return -1;
}

static enum status unwritten(const char *path, int error, struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: could not be written: %s", path, strerror(error));
}

static enum status replace(const char *path, const char *bytes, size_t count, bool lasting,
                           struct problem *p)
{
    char *part = file_part(path);
    if (!part)
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
    int fd = open_part(part), held = fd < 0 ? -1 : dup(fd); /* the lock, until it has its name */
    bool good = held >= 0 && write_whole(fd, bytes, count) && (!lasting || fsync(fd) == 0);
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
    if (held >= 0)
        close(held);
    free(part);
    return good ? STATUS_OK : unwritten(path, error, p);
}

enum status file_writable(const char *path, struct problem *p)
{
    char *part = file_part(path);
    if (!part)
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
    int fd = open_part(part), error = errno;
    if (fd >= 0) {
        unlink(part);
        close(fd);
    }
    free(part);
    return fd >= 0 ? STATUS_OK : unwritten(path, error, p);
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
