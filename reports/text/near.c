#include "reports/text/near.h"

#include <stdio.h>
#include <string.h>

enum { LENGTH = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters must be left out, added, exchanged or swapped with their neighbour to make one
 * word of the other, each letter once. */
static size_t distance(const char *a, size_t height, const char *b, size_t width)
{
    size_t rows[3][LENGTH + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; i <= height; i++) {
        size_t *oldest = before;
        before = last, last = row, row = oldest;
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            row[j] = least(least(row[j - 1], last[j]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[width];
}

/* The distance of words of which one may be meant by the other; else FAR. */
enum { FAR = 2 * LENGTH };
static size_t near_enough(const char *a, size_t height, const char *b, size_t width)
{
    size_t away = distance(a, height, b, width);
    return away <= 1 + height / 4 && away < height ? away : FAR;
}

/* Each part of FAMILY/NAME by itself: a long family is no reason to take one name for another. */
static size_t between(const char *word, const char *known)
{
    const char *slash = strchr(word, '/'), *due = strchr(known, '/');
    if (!slash != !due)
        return FAR;
    if (!slash)
        return near_enough(word, strlen(word), known, strlen(known));
    return near_enough(word, (size_t)(slash - word), known, (size_t)(due - known)) +
           near_enough(slash + 1, strlen(slash + 1), due + 1, strlen(due + 1));
}

void near_try(struct near *n, const char *known)
{
    if (strlen(n->word) > LENGTH || strlen(known) > LENGTH)
        return;
    size_t away = between(n->word, known);
    if (away >= FAR || (n->found && away >= n->distance))
        return;
    n->found = known;
    n->distance = away;
}

/* Tries a word, and of RUNG/ATTEMPT each part too. */
static void try_parts(struct near *n, char *word)
{
    char *slash = strchr(word, '/');
    near_try(n, word);
    if (!slash || strchr(n->word, '/'))
        return;
    near_try(n, slash + 1);
    *slash = 0;
    near_try(n, word);
    if (n->found != word)
        *slash = '/';
}

enum status near_unknown(struct problem *p, const char *where, const char *found,
                         const char *expected)
{
    enum { WORDS = 1024 };
    char words[WORDS], *rest = NULL;
    struct near near = {.word = found};
    snprintf(words, sizeof words, "%s", expected);
    for (char *word = strtok_r(words, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest))
        if (strcmp(word, "or") != 0)
            try_parts(&near, word);
    return near.found
               ? problem(p, STATUS_USAGE, "%s: found '%s', expected %s: did you mean %s?", where,
                         found, expected, near.found)
               : problem(p, STATUS_USAGE, "%s: found '%s', expected %s", where, found, expected);
}

enum status near_unknown_option(struct problem *p, const char *option, const char *found,
                                const char *expected)
{
    char where[64];
    snprintf(where, sizeof where, "option --%s", option);
    return near_unknown(p, where, found, expected);
}
