/* How an error travels: a status, and one line that says what was wrong.
 *
 * A status is never folded into a sum: a NaN is a result, not an error. Library
 * code fills in a problem and returns; only the program prints it. */
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum status {
    STATUS_OK = 0,
    STATUS_FAILED = 1,       /* a check failed or a row broke its bound */
    STATUS_USAGE = 2,        /* unknown name, option or value */
    STATUS_DATA = 3,         /* unreadable or malformed input, unwritable output */
    STATUS_DEVICE = 4,       /* a device that is not there or does not run this; no more threads */
    STATUS_MEMORY = 5,       /* out of memory, the host's or a GPU's, as the line says */
    STATUS_INTERRUPTED = 130 /* interrupted and resumable */
};

struct problem {
    enum status status;
    char text[1024]; /* one line, no newline: what, found, expected */
    /* Of STATUS_DEVICE: a library of the device's says that it does not do this, though it does
     * others; nothing has gone wrong. */
    bool unsupported;
};

/* Records the first problem only (a later one is a consequence) and returns
 * the status, so that `return problem(p, STATUS_USAGE, "...", ...)` reads well.
 * p may be NULL. What is not to be shown stands as \xHH (visible.h). */
enum status problem(struct problem *p, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The program's exit status: a status' number, but 4 for STATUS_MEMORY too. */
int status_exit(enum status status);

#ifdef __cplusplus
}
#endif
