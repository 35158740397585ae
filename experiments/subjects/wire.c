#include "experiments/subjects/wire.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "reports/text/text.h"

void wire_write(char line[WIRE_LINE], const struct wire_request *r)
{
    char rest[REQUEST_TEXT];
    request_write(rest, r);
    snprintf(line, WIRE_LINE, "%s %zu %s %s%s\n", r->operation->name, r->n,
             format_facts[r->storage].name, format_facts[r->accumulator].name, rest);
}

enum { WORDS = 12, FIRST = 4 }; /* what all have */

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
    if (!operations[known] || words < FIRST)
        return false;
    *r = (struct wire_request){.operation = operations[known],
                               .storage = format_named(word[2]),
                               .accumulator = format_named(word[3])};
    r->output = r->accumulator;
    return r->storage < FORMATS && r->accumulator < FORMATS && request_number(&r->n, word[1]) &&
           request_read(r, word + FIRST, words - FIRST);
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
    struct text others = {0};
    for (size_t i = 0; operations[i]; i++) { /* those that are asked alike together */
        const char *rest = request_rest(operations[i]);
        bool said = !*rest;
        for (size_t k = 0; k < i && !said; k++)
            said = strcmp(request_rest(operations[k]), rest) == 0;
        for (size_t k = i; operations[k] && !said; k++)
            if (strcmp(request_rest(operations[k]), rest) == 0)
                text_format(&others, "%s%s", k == i ? ", or '" : "|", operations[k]->name);
        if (!said)
            text_format(&others, " N STORAGE ACCUMULATOR %s'", rest);
    }
    const char *known = text_string(&others);
    enum status status =
        problem(p, STATUS_DATA,
                "request: found '%.100s', expected 'OPERATION N STORAGE ACCUMULATOR', OPERATION "
                "sum, dot, norm, product, minimum or another that is listed%s",
                line, known ? known : "");
    text_free(&others);
    return status;
}
