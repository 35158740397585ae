/* What the files of recommend share. */
#pragma once

#include "experiments/studies/recommend/recommend.h"

/* What became of a candidate on an array: the worst of its runs. */
struct recommend_outcome {
    double error, result; /* error: in the quantity; NaN where it failed */
    char id[CASE_ID_TEXT];
};
/* Runs it, measures, writes its rows. */
enum status recommend_run(const struct recommend_report *r, const struct recommend_candidate *c,
                          struct recommend_sample *s, struct recommend_outcome *o,
                          struct problem *p);
/* The parts of recommend(), each in its file. */
enum status recommend_time(struct recommend_report *r, struct problem *p);
enum status recommend_grow(struct recommend_report *r, uint64_t deadline, struct problem *p);
/* What the theorem guarantees of longer sums, and where the formats end. */
void recommend_theory(struct recommend_report *r, const struct reference *data);

/* Tells who asked what is done. */
void recommend_tell(const struct recommend_report *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Tries the candidate's promise, up to the one asked for, by check's own engine: half of the time
 * on the data, half on inputs that suit what is tried. STATUS_INTERRUPTED. */
enum status recommend_try_promise(struct recommend_report *r, struct recommend_candidate *c,
                                  double seconds, struct problem *p);

/* Tries all candidates on the data, its other orders, a few drawn arrays and the worst of its
 * magnitudes; fewer when time is up. STATUS_DATA where the data are not finite. */
enum status recommend_try_common(struct recommend_report *r, uint64_t deadline, struct problem *p);
/* For a candidate that has held so far: first, regardless of time, the orders and worst arrays that
 * not all were tried on; then drawn arrays until the confidence or the time limit is reached. */
enum status recommend_try_further(struct recommend_report *r, struct recommend_candidate *c,
                                  double seconds, struct problem *p);
/* For a candidate that only an adversarial array broke: drawn arrays until one breaks it too, as
 * many as the confidence asks for, within the time. */
enum status recommend_try_own(struct recommend_report *r, struct recommend_candidate *c,
                              double seconds, struct problem *p);

/* Puts the candidates in the order of cost: what is timed by rate, then by the accumulator's width;
 * then what is not timed, and at last what is simulated. */
void recommend_sort(struct recommend_report *r);
void recommend_find_cheaper(struct recommend_report *r);
void recommend_find_frontier(struct recommend_report *r);
