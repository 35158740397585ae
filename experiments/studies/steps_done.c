/* The weights of `run steps` that are finished, so that a study resumes behind them: a line each,
 * written behind its rows. Numbers are hexadecimal, so that they are read as they were.
 *
 *     WEIGHT BYTES weight exact err_abs err_ulp over_bound signed_error sum_abs STILL PREDICTED
 *     FLAGS
 *
 * WEIGHT counts from 0, BYTES are those of steps.csv up to its last row. Whatever is torn, or of a
 * longer steps.csv than there is, is not finished. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "experiments/studies/steps_study.h"

enum { CONSTANT = 1, BROKEN = 2, MISPREDICTED = 4, BOUNDED = 8, ZERO = 16, OVERFLOW = 32 };
enum { FIELDS = 12 };

static bool read_line(struct steps_case *c, size_t number, uint64_t *bytes, const char *line)
{
    size_t index;
    unsigned flags;
    double weight, exact, err_abs, err_ulp, over_bound, signed_error, sum_abs;
    uint64_t still_from, predicted, end;
    char newline;
    int fields =
        sscanf(line, "%zu %" SCNu64 " %la %la %la %la %la %la %la %" SCNu64 " %" SCNu64 " %u%c",
               &index, &end, &weight, &exact, &err_abs, &err_ulp, &over_bound, &signed_error,
               &sum_abs, &still_from, &predicted, &flags, &newline);
    if (fields != FIELDS + 1 || newline != '\n' || index != number || end <= *bytes)
        return false;
    *bytes = c->rows_end = end;
    c->constant = flags & CONSTANT;
    c->zero = flags & ZERO;
    c->broken = flags & BROKEN;
    c->mispredicted = flags & MISPREDICTED;
    c->over_bound = (struct figure){flags & BOUNDED, over_bound};
    c->weight = (struct figure){true, weight};
    c->exact = (struct figure){true, exact};
    c->err_abs = (struct figure){isfinite(exact) || !isnan(err_abs), err_abs};
    c->err_ulp = (struct figure){isfinite(exact), err_ulp};
    c->signed_error = signed_error;
    c->sum_abs = sum_abs;
    c->still_from = still_from;
    c->predicted = (struct steps_end){predicted, flags & OVERFLOW};
    return true;
}

size_t steps_done_read(struct steps_study *s, const char *path, const char *rows, uint64_t *bytes)
{
    char line[512];
    struct stat of_rows;
    size_t done = 0;
    uint64_t end = 0;
    FILE *f = fopen(path, "r");
    *bytes = 0;
    if (f && stat(rows, &of_rows) == 0)
        while (done < s->count && fgets(line, sizeof line, f)) {
            struct steps_case c = s->item[done];
            if (!read_line(&c, done, &end, line) || end > (uint64_t)of_rows.st_size)
                break;
            s->item[done++] = c;
            *bytes = end;
        }
    if (f)
        fclose(f);
    return done;
}

static bool write_line(FILE *f, const struct steps_case *c, size_t number)
{
    unsigned flags = (c->constant ? CONSTANT : 0) | (c->broken ? BROKEN : 0) |
                     (c->mispredicted ? MISPREDICTED : 0) | (c->over_bound.known ? BOUNDED : 0) |
                     (c->zero ? ZERO : 0) | (c->predicted.overflow ? OVERFLOW : 0);
    return fprintf(f, "%zu %" PRIu64 " %a %a %a %a %a %a %a %" PRIu64 " %" PRIu64 " %u\n", number,
                   c->rows_end, c->weight.value, c->exact.value, c->err_abs.value, c->err_ulp.value,
                   c->over_bound.value, c->signed_error, c->sum_abs, c->still_from,
                   c->predicted.still, flags) > 0;
}

enum status steps_done_write(const struct steps_study *s, const char *path, size_t done, bool anew,
                             struct problem *p)
{
    FILE *f = fopen(path, anew ? "w" : "a");
    bool written = f != NULL;
    for (size_t i = anew ? 0 : done - 1; written && i < done; i++)
        written = write_line(f, &s->item[i], i);
    if (f)
        written &= fclose(f) == 0;
    return written ? STATUS_OK : problem(p, STATUS_DATA, "%s: could not be written", path);
}
