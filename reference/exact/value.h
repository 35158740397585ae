/* The kinds of exact values: the rows of values.def, and their properties. */
#pragma once

#include "reference/exact/epsilon.h"
#include "reference/format/array.h"

enum exact_value {
#define VALUE(constant, ...) EXACT_##constant,
#include "reference/exact/values.def"
    EXACT_VALUES
};

/* How it comes from the elements. */
enum exact_form {
    FORM_SUM,      /* of terms: elements, what `term` makes of them, or products of two arrays' */
    FORM_ROOT,     /* of such a sum */
    FORM_QUOTIENT, /* of such a sum, by n */
    FORM_MOMENTS,  /* of several sums */
    FORM_PRODUCT,
    FORM_ELEMENT, /* one of the elements */
    FORM_INDEX,   /* of an element */
    FORM_ROW      /* of the exponentials, or of the moments, of a row */
};

struct exact_facts {
    const char *name; /* "sum of elements": what it is, for messages */
    enum exact_form form;
    array_term *term;        /* what an element adds to the sum, never below 0; NULL: itself */
    bool largest, nan_loses; /* of an element or an index: which one is sought */
    bool log, each;          /* of a row: a logarithm; each element has a value */
    double epsilon;          /* of elements divided by a root: what is added under it; */
    bool centred;            /* is the mean taken from them? */
    const struct exact_rules *rules; /* how it is computed: reference_parts.h */
};
extern const struct exact_facts exact_facts[EXACT_VALUES];

/* The term that an element adds to the sum. */
static inline double exact_term(enum exact_value of, double x)
{
    return exact_facts[of].term ? exact_facts[of].term(x) : x;
}
