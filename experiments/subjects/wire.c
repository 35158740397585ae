#include "experiments/subjects/wire.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/operations/operation.h"
#include "experiments/inputs/keys.h"
#include "experiments/operations/layout.h"
#include "experiments/system/memory.h"
#include "experiments/operations/scan.h"

void wire_write(char line[WIRE_LINE], const struct wire_request *r)
{
    int length = snprintf(line, WIRE_LINE, "%s %zu %s %s", r->operation->name, r->n,
                          format_facts[r->storage].name, format_facts[r->accumulator].name);
    if (operation_asks(r->operation, SETTING_SCAN))
        length += snprintf(line + length, WIRE_LINE - (size_t)length, " %s %s",
                           scan_name[r->exclusive], format_facts[r->output].name);
    if (operation_asks(r->operation, SETTING_BINS))
        length += snprintf(line + length, WIRE_LINE - (size_t)length, " %zu", r->bins);
    if (operation_asks(r->operation, SETTING_ROWS))
        length +=
            snprintf(line + length, WIRE_LINE - (size_t)length, " %zu %zu", r->bins, r->stride);
    snprintf(line + length, WIRE_LINE - (size_t)length, "\n");
}

enum { WORDS = 6 };

/* The words between single blanks; more than WORDS, or an empty one, is 0. */
static size_t split(char copy[WIRE_LINE], char *word[WORDS])
{
    size_t count = 0;
    for (char *at = copy; at; count++) {
        char *blank = strchr(at, ' ');
        if (count == WORDS || at == blank || !*at)
            return 0;
        word[count] = at;
        at = blank ? blank + 1 : NULL;
        if (blank)
            *blank = 0;
    }
    return count;
}

static bool read_length(size_t *n, const char *word)
{
    char *end;
    uint64_t value = strtoull(word, &end, 10);
    *n = value;
    return isdigit((unsigned char)*word) && !*end && strlen(word) < 20 &&
           value <= MEMORY_ELEMENTS_MAX;
}

static bool read_kind(struct wire_request *r, char *const word[WORDS])
{
    r->exclusive = strcmp(word[4], scan_name[SCAN_EXCLUSIVE]) == 0;
    r->output = format_named(word[5]);
    return r->output < FORMATS && (r->exclusive || strcmp(word[4], scan_name[SCAN_INCLUSIVE]) == 0);
}

static bool read_rows(struct wire_request *r, char *const word[WORDS])
{
    return read_length(&r->bins, word[4]) && read_length(&r->stride, word[5]) && r->bins > 0 &&
           r->bins <= LAYOUT_ROWS_MAX && r->n % r->bins == 0 && r->stride > 0 &&
           r->bins % r->stride == 0;
}

static bool parse(struct wire_request *r, const char *line)
{
    char copy[WIRE_LINE], *word[WORDS];
    if (strlen(line) >= sizeof copy)
        return false;
    strcpy(copy, line);
    size_t words = split(copy, word);
    size_t known = 0;
    while (words > 0 && operations[known] && strcmp(word[0], operations[known]->name) != 0)
        known++;
    if (!operations[known])
        return false;
    bool scan = operation_asks(operations[known], SETTING_SCAN);
    bool keys = operation_asks(operations[known], SETTING_BINS);
    bool matrix = operation_asks(operations[known], SETTING_ROWS);
    if (words != (scan || matrix ? 6 : keys ? 5 : 4))
        return false;
    *r = (struct wire_request){.operation = operations[known],
                               .storage = format_named(word[2]),
                               .accumulator = format_named(word[3])};
    r->output = r->accumulator;
    return r->storage < FORMATS && r->accumulator < FORMATS && read_length(&r->n, word[1]) &&
           (!scan || read_kind(r, word)) && (!matrix || read_rows(r, word)) &&
           (!keys || (read_length(&r->bins, word[4]) && r->bins > 0 && r->bins <= KEYS_BINS_MAX));
}

bool wire_timed(const char **line, size_t *runs)
{
    int length = 0;
    if (sscanf(*line, "time %zu %n", runs, &length) != 1 || length == 0 ||
        !isdigit((unsigned char)(*line)[5]) || *runs < 1 || *runs > WIRE_RUNS_MAX)
        return false;
    *line += length;
    return true;
}

enum status wire_parse(struct wire_request *r, const char *line, struct problem *p)
{
    if (parse(r, line))
        return STATUS_OK;
    return problem(p, STATUS_DATA,
                   "request: found '%.100s', expected 'OPERATION N STORAGE ACCUMULATOR', OPERATION "
                   "sum, dot, norm, product, minimum or another that is listed, or 'scan N STORAGE "
                   "ACCUMULATOR inclusive|exclusive OUTPUT', or 'scatter N STORAGE ACCUMULATOR "
                   "BINS', or 'rows N STORAGE ACCUMULATOR ROWS STRIDE', or 'transpose N STORAGE "
                   "ACCUMULATOR ROWS STRIDE'",
                   line);
}
