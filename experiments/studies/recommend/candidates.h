/* What the files of recommend share. */
#pragma once

#include "experiments/studies/recommend/recommend.h"

/* What became of a candidate on an array: the worst of its runs. */
struct recommend_outcome {
    double error, result;         /* error: in the quantity; NaN where it failed */
    double exact;                 /* what the result should be, */
    size_t output;                /* which it is, where there are several, */
    struct recommend_place place; /* and where it lies */
    char id[CASE_ID_TEXT];
};
/* Runs it, measures, writes its rows. */
enum status recommend_run(const struct recommend_report *r, const struct recommend_candidate *c,
                          struct recommend_sample *s, struct recommend_outcome *o,
                          struct problem *p);
/* Does what failed end the whole? An interruption, and files that cannot be written. */
bool recommend_ends(const struct recommend_report *r, enum status status);
/* What promises nothing may give another result each time. */
uint64_t recommend_runs(const struct method *m);
/* The row of a run that failed. */
void recommend_fail(const struct recommend_report *r, const struct text *exact, uint64_t run,
                    struct problem *p);

/* Makes a sample's array and source: the data itself, or by `fill` from its elements. */
typedef enum status recommend_fill(void *context, const struct array *to, const struct array *from,
                                   enum recommend_kind kind, uint64_t seed, struct problem *p);
enum status recommend_sample_begin(struct recommend_sample *s, const struct source *from,
                                   enum recommend_kind kind, uint64_t draw, size_t n, uint64_t seed,
                                   recommend_fill *fill, void *context, struct problem *p);
/* Such an array of a sum, or of one row; of as many elements but for RECOMMEND_EXTENDED. */
enum status recommend_arrange(const struct array *to, const struct array *from,
                              enum recommend_kind kind, uint64_t seed, struct problem *p);
/* The other end of recommend_sample_free: of what holds the exact elements. */
void recommend_product_free(struct recommend_product *product);

/* A line for each choice that the candidates answer: intervals of promotion. */
void recommend_choices(struct text *to, const struct recommend_report *r);
/* "element (3,4) is ", of a product; "row 3 is ", of a statistic; else nothing. */
void recommend_say_place(struct text *to, const struct recommend_place *at);
/* How well a chip's model is known to be the chip; nothing of other candidates. */
void recommend_held(struct text *to, const struct recommend_report *r,
                    const struct recommend_candidate *c);
/* Of what follows the grid, as split-K: how many slices. */
size_t recommend_slices(const struct recommend_report *r, const struct recommend_candidate *c);
/* Where nothing is timed: what ranks candidates, in words; else NULL. */
const char *recommend_costs(const struct recommend_report *r);
/* The candidate in words: its method, formats, chip, interval. */
void recommend_label(struct text *to, const struct recommend_candidate *c);
/* The same in a table's cell. */
void recommend_cell(struct text *to, const struct recommend_candidate *c);

/* Of products: tries a part of D where there is no time for all of it; of statistics some rows. */
enum status recommend_part(struct recommend_report *r, double seconds, struct problem *p);
enum status recommend_part_of_rows(struct recommend_report *r, double seconds, struct problem *p);
void recommend_part_free(struct recommend_report *r);
bool recommend_is_part(const struct recommend_report *r);
/* The row and the column of D of an output, of all of D. */
size_t recommend_row_of(const struct recommend_report *r, size_t output);
size_t recommend_column_of(const struct recommend_report *r, size_t output);

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
/* What puts `cheaper` before the chosen candidate. BY_TIMES also where there are not both of them
 * and some candidate was timed. */
enum recommend_order { BY_TIMES, BY_STATED_COST, AS_GIVEN };
enum recommend_order recommend_order_of(const struct recommend_report *r);
void recommend_find_frontier(struct recommend_report *r);
