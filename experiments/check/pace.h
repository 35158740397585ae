/* How the time of a kind of attempt goes. */
#pragma once

#include "experiments/check/attempts.h"

/* What a case takes is judged by others in the same formats: by an element, of so many at least, so
 * that what each run costs counts little. */
struct pace {
    bool foreign;
    const struct check_tried *tried;
    uint64_t deadline;
    uint64_t least;      /* the first few small cases are tried until then */
    size_t done, passed; /* passed: cases in a row that were not tried */
    size_t first;        /* cases that the time is for, in equal turns, at first */
    uint64_t turn;       /* that one has at least */
    double share;        /* of the time left, that a case of more than a few elements may take */
    bool counted;        /* numbers of rows are asked for, so that all are begun */
    size_t stale;        /* cases in a row without an attempt that is a new one */
    double ns[FORMATS][FORMATS], most; /* an element; 0: not known */
};
/* Of cases: that come to nothing, in a row, and that are no other attempts than those before. */
enum { PASSED_MOST = 4096, STALE_MOST = 12 };

/* What a case has at least, where it may have few attempts. */
enum { PACE_LEAST_NS = 300000000 };

void pace_begin(struct pace *t, const struct check *c, enum check_kind kind,
                const struct check_tried *tried, uint64_t deadline);
/* Until when runs of this kind may begin. */
uint64_t pace_last(const struct check *c, enum check_kind kind);
/* Are there so few attempts that a small case is tried, whatever the time is? */
bool pace_few(const struct pace *t, uint64_t now);
bool pace_time_for(const struct pace *t, const struct check_case *k, uint64_t now);
/* Until when the next case has time. What is asked for has its turn each, before the rest of the
 * time goes to any of it. */
uint64_t pace_until(const struct pace *t, uint64_t now);
void pace_note(struct pace *t, const struct check_case *k, uint64_t took_ns);
