/* Rewriting a CSV file without some of its rows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "reports/csv/file.h"
#include "reports/text/file.h"

static bool copy(FILE *to, FILE *from, uint64_t count)
{
    char block[1 << 16];
    while (count > 0) {
        size_t wanted = count < sizeof block ? (size_t)count : sizeof block;
        size_t got = fread(block, 1, wanted, from);
        if (got == 0 || fwrite(block, 1, got, to) < got)
            return false;
        count -= got;
    }
    return true;
}

static bool copy_rest(FILE *to, FILE *from, uint64_t whole, const struct csv_range *drop,
                      size_t count)
{
    uint64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (!copy(to, from, drop[i].begin - at) || fseeko(from, (off_t)drop[i].end, SEEK_SET) != 0)
            return false;
        at = drop[i].end;
    }
    return copy(to, from, whole - at) && fflush(to) == 0 && fsync(fileno(to)) == 0;
}

enum status csv_drop(const char *path, uint64_t *whole, const struct csv_range *drop, size_t count,
                     struct problem *p)
{
    char *part = file_part(path);
    if (!part)
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
    FILE *from, *to = NULL;
    if (file_open(&from, path, p) != STATUS_OK) {
        free(part);
        return p->status;
    }
    unlink(part);
    to = fopen(part, "wxe");
    bool good = to && copy_rest(to, from, *whole, drop, count);
    int error = errno;
    fclose(from);
    if (to && fclose(to) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && rename(part, path) != 0) {
        good = false;
        error = errno;
    }
    if (!good && to)
        unlink(part);
    for (size_t i = 0; good && i < count; i++)
        *whole -= drop[i].end - drop[i].begin;
    free(part);
    return good ? STATUS_OK
                : problem(p, STATUS_DATA, "%s: could not be rewritten: %s", path, strerror(error));
}
