/* What a study of the promise ladder found: of each method what its promise costs, and how far it
 * is kept. */
#pragma once

#include "experiments/cases/plan.h"

/* A row of times.csv. */
struct ladder_time {
    const struct method *method; /* NULL: the raw read */
    char device[DEVICE_TEXT];
    enum format storage, accumulator; /* of the raw read FORMATS */
    char *input;
    size_t n;
    unsigned threads;
    struct figure time_us, gb_per_s, of_raw, memory;
    char note[16]; /* its first word: "skipped" */
    bool in_cache;
};

/* A result of a case; each once, ascending. */
struct ladder_bits {
    size_t number;
    uint64_t bits;
};

struct ladder {
    const struct plan *plan;
    char **base; /* of each source: its name as it is generated, whatever its elements' order */
    struct ladder_time *time;
    size_t times;
    struct ladder_bits *bits;
    size_t bits_count;
};

/* Reads results.csv and times.csv. ladder_free is due, also after failure. */
enum status ladder_read(struct ladder *l, const struct plan *plan, const char *out,
                        struct problem *p);
void ladder_free(struct ladder *l);

/* What stands in one table: cases that add up so many elements of these formats on this device. */
struct ladder_view {
    const struct ladder *ladder;
    struct device device;
    enum format storage, accumulator;
    size_t n;
};

/* Is it a finished case in view? */
bool ladder_shows(const struct ladder_view *v, const struct study_case *t);

/* The time of a method on an input (by its base's name), or of the raw read where it is NULL; NULL
 * where there is none. */
const struct ladder_time *ladder_time(const struct ladder_view *v, const struct method *m,
                                      const char *input);

/* The largest err_ulp of a method's cases on an input in any order; NaN where any is. */
struct figure ladder_error(const struct ladder_view *v, const struct method *m, const char *input);

/* How many different results a method gave, the most on any input and seed: of the runs of a case;
 * of the same elements in the same order, in any launch shape and on any device; in any order. The
 * method of a view. */
struct ladder_results {
    uint64_t runs, launches, orders;
    /* The most launch shapes (and devices) of one case, and orders of one input: with one alone
     * there is nothing to compare. */
    uint64_t launches_tried, orders_tried;
};
struct ladder_results ladder_results(const struct ladder_view *v, const struct method *m);

/* Do they refute its promise? */
bool ladder_broken(const struct method *m, const struct ladder_results *r);
