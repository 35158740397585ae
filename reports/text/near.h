/* "did you mean": the known word nearest to one that was mistyped. */
#pragma once

#include <stddef.h>

#include "reference/base/problem.h"

struct near {
    const char *word;  /* as typed */
    const char *found; /* the nearest so far, if it is near enough to be meant; or NULL */
    size_t distance;   /* letters left out, added, exchanged or swapped */
};

/* Takes a known word, which is kept. Of equally near words the first stays. */
void near_try(struct near *n, const char *known);

/* STATUS_USAGE for a value that is none of those expected, with the nearest of them where one is
 * near enough: "option --device: found 'cdua', expected cpu, cuda, cuda:N or auto: did you mean
 * cuda?". The words of `expected` stand between commas, "or" and blanks; what is not a word to type
 * does no harm there. */
enum status near_unknown(struct problem *p, const char *where, const char *found,
                         const char *expected);
/* The same of `option --NAME`. */
enum status near_unknown_option(struct problem *p, const char *option, const char *found,
                                const char *expected);
