#include "reports/results/verdicts.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/method/method.h"

static enum status contradicts(const struct csv_row *row, enum check_column column,
                               const char *expected, struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: line %zu: %s: found '%s', expected %s: edited", row->path,
                   row->line, check_column(column)->name, row->field[column], expected);
}

/* The sum of "repeat 5, process 3". */
static uint64_t sum_of_kinds(const char *kinds)
{
    uint64_t sum = 0;
    for (const char *c = strchr(kinds, ' '); c; c = strchr(c + 1, ' '))
        sum += strtoull(c + 1, NULL, 10);
    return sum;
}

static enum status check_rung(const struct csv_row *row, struct problem *p)
{
    const enum promise rung = promise_named(row->field[CHECK_RUNG]),
                       promise = promise_named(row->field[CHECK_PROMISE]);
    if (rung == PROMISE_NONE || rung == PROMISES)
        return contradicts(row, CHECK_RUNG, "a rung, or batch_invariant or rank_invariant", p);
    if (promise >= PROMISES)
        return contradicts(row, CHECK_PROMISE, "none or a rung", p);
    if (*row->field[CHECK_PROMISED] && rung < PROMISES && /* older files have none */
        (strcmp(row->field[CHECK_PROMISED], "1") == 0) != (rung <= promise))
        return contradicts(row, CHECK_PROMISE, "what promised says", p);
    return STATUS_OK;
}

static enum status check_verdict(const struct csv_row *row, uint64_t differing, struct problem *p)
{
    const char *verdict = row->field[CHECK_VERDICT];
    const enum promise rung = promise_named(row->field[CHECK_RUNG]),
                       kept = promise_named(row->field[CHECK_KEEPS]);
    const bool is_kept = strcmp(verdict, "kept") == 0, is_broken = strcmp(verdict, "broken") == 0;
    if (!is_kept && !is_broken && strcmp(verdict, "not tried") != 0 &&
        strcmp(verdict, "failed") != 0)
        return contradicts(row, CHECK_VERDICT, "kept, broken, not tried or failed", p);
    if (differing > 0 && !is_broken)
        return contradicts(row, CHECK_VERDICT, "'broken', as attempts differ", p);
    if (rung < PROMISES && kept < PROMISES && rung <= kept &&
        (is_broken || (rung == kept && !is_kept)))
        return contradicts(row, CHECK_KEEPS, "no rung that the verdict denies", p);
    return STATUS_OK;
}

enum status verdicts_check(const struct csv_row *row, struct problem *p)
{
    uint64_t attempts, differing;
    char due[80];
    enum status status = csv_whole(row, CHECK_ATTEMPTS, "attempts", &attempts, p);
    if (status == STATUS_OK)
        status = csv_whole(row, CHECK_DIFFERING, "differing", &differing, p);
    if (status != STATUS_OK)
        return status;
    const uint64_t tried = sum_of_kinds(row->field[CHECK_TRIED]),
                   differed = sum_of_kinds(row->field[CHECK_DIFFERED]);
    if (attempts != tried) {
        snprintf(due, sizeof due, "'%llu', the sum in tried", (unsigned long long)tried);
        return contradicts(row, CHECK_ATTEMPTS, due, p);
    }
    if (differing > attempts)
        return contradicts(row, CHECK_DIFFERING, "no more than attempts", p);
    if (*row->field[CHECK_DIFFERED] && differing != differed) { /* older files have none */
        snprintf(due, sizeof due, "'%llu', the sum in differed", (unsigned long long)differed);
        return contradicts(row, CHECK_DIFFERING, due, p);
    }
    status = check_rung(row, p);
    return status == STATUS_OK ? check_verdict(row, differing, p) : status;
}
