/* Conformance: is this a result that rounded additions of the input's elements, in any order, can
 * give? Of methods that do not add plainly: one that their theorem allows.
 *
 * A method whose theorem speaks of plain additions, or that has none, is held to
 * reference/possible/any_order.h and to its own bound; THEOREM_WIDENED's to the same in the wider
 * format, rounded; THEOREM_CORRECTLY_ROUNDED's to what reference/exact/exact.h says of the sum,
 * rounded, and THEOREM_BINNED's to its special values and the bound. Those that carry errors beside
 * their sums (all other theorems) are held to what any order says of NaN, infinities, zeros and
 * exact sums, and to their bound; where a partial sum comes near overflow, for which no theorem
 * speaks, to three times the bound for any order. Of a scan all that is said of each prefix; of a
 * dot product, of products in place of elements, by how they are formed
 * (reference/possible/any_products.h). Products of all elements and extrema are held to their exact
 * values (experiments/conformance/exact.h), statistics of a row to theirs
 * (experiments/conformance/statistic.h). */
#pragma once

#include "experiments/system/device.h"
#include "reference/possible/any_products.h"

/* What is run. Outputs are of the accumulator's format. A matrix is one row. */
struct conformance_subject {
    const struct method *method;
    struct device device;
    enum format storage, accumulator;
    struct shape shape;        /* as asked for */
    bool exclusive;            /* of scans, as `segment`: */
    size_t segment;            /* elements; 0: one segment */
    enum product_kind product; /* of dot products: how they are formed */
    const char *chip;          /* of models of matrix instructions; NULL: MMA_CHIP */
};

enum judged { JUDGED_FINE, JUDGED_NOTED, JUDGED_IMPOSSIBLE };

struct judgement {
    enum judged is;
    const char *why;     /* in words; NULL where it is fine. One text for each reason */
    size_t output;       /* of several, the first of which it is said */
    double result;       /* that output */
    struct possible due; /* what is possible there */
    bool open;           /* where finite and not 0, it is up to the bound what of that is */
};

/* An input: of a dot product two arrays, of one length and format; else y.data is NULL. */
struct special_input {
    struct array x, y;
};
/* The elements; there is room for as many. */
void special_input_copy(const struct special_input *to, const struct special_input *from);

/* Judges the outputs of one run; heads as the run's. STATUS_MEMORY when memory is short. */
enum status conformance_judge(struct judgement *j, const struct conformance_subject *s,
                              const struct special_input *in, const uint8_t *heads,
                              const struct array *out, struct problem *p);

/* What is possible, in words: "nan", "0x1p+0 or 0x1.8p+0", "from 0x1p+0 to 0x1p+1 or inf". */
enum { POSSIBLE_TEXT = 256 };
void special_due_words(char text[POSSIBLE_TEXT], const struct judgement *j);

/* An input, in a line: "n = 3: 0x1p+0, -0x0p+0, inf"; where it is long, the value that most of it
 * has and the others, as far as they fit. Of two arrays, "n = 1: 0x1p+0 * 0x1.8p+1"; where they are
 * long, one after the other. */
enum { INPUT_WORDS = 512 };
void special_input_words(char text[INPUT_WORDS], const struct special_input *in);

/* The encoding that most elements have, for n > 0, and how many have another. */
uint64_t special_common(const struct array *in, size_t *others);
