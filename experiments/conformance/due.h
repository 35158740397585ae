/* What is due of a method: what the elements so far may give, as its theorem says that it adds. */
#pragma once

#include "experiments/conformance/judge.h"

/* The elements so far, of a dot product the products, what they may give, and what exactly. */
struct due {
    const struct conformance_subject *subject;
    enum additions way;
    struct any_order elements;    /* of sums and scans; */
    struct any_products products; /* of dot products */
    bool stale;                   /* what follows is that of fewer elements: due_make */
    struct possible possible;
    bool open;    /* the theorem's bound says more of finite numbers */
    double exact; /* the exact sum of the elements, rounded to the accumulator */
};

/* What is added up: the elements or, of a dot product, the products, each rounded once. */
const struct any_order *due_elements(const struct due *d);

/* Of no elements; the subject is kept. */
void due_begin(struct due *d, const struct conformance_subject *subject);
void due_add(struct due *d, double x);
void due_add_product(struct due *d, double x, double y);
void due_make(struct due *d);

/* The theorem of a run on n elements. */
struct theorem special_theorem(const struct conformance_subject *s, size_t n);

/* This result alone. */
void possible_just(struct possible *p, double x);

/* Is a partial sum, or what TwoSum makes of it, at the end of the range? */
bool due_near_overflow(const struct due *d);
