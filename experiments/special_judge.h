/* Conformance: is this a result that rounded additions of the input's elements, in any order, can
 * give? Of methods that do not add plainly: one that their theorem allows.
 *
 * A method whose theorem speaks of plain additions (THEOREM_ANY_ORDER, THEOREM_TREE) is held to
 * reference/any_order.h and to its own bound; THEOREM_WIDENED's to the same in the wider format,
 * rounded; THEOREM_CORRECTLY_ROUNDED's to what reference/exact.h says of the sum, rounded, and
 * THEOREM_BINNED's to its special values and the bound. Those that carry errors beside their sums
 * (all other theorems) are held to what any order says of NaN, infinities, zeros and exact sums,
 * and to their bound; where a partial sum comes near overflow, for which no theorem speaks, to
 * three times the bound for any order. Of a scan all that is said of each prefix. */
#ifndef ULPSCOPE_SPECIAL_JUDGE_H
#define ULPSCOPE_SPECIAL_JUDGE_H

#include "experiments/device.h"
#include "reference/any_order.h"

/* What is run. Outputs are of the accumulator's format. */
struct special_subject {
    const struct method *method;
    struct device device;
    enum format storage, accumulator;
    struct shape shape; /* as asked for */
    bool exclusive;     /* of scans, as `segment`: */
    size_t segment;     /* elements; 0: one segment */
};

enum judged { JUDGED_FINE, JUDGED_NOTED, JUDGED_IMPOSSIBLE };

struct judgement {
    enum judged is;
    const char *why;     /* in words; NULL where it is fine. One text for each reason */
    size_t output;       /* of a scan, the first of which it is said */
    double result;       /* that output */
    struct possible due; /* what is possible there, but for the bound */
};

/* Judges the outputs of one run; heads as the run's. STATUS_DEVICE when memory is short. */
enum status special_judge(struct judgement *j, const struct special_subject *s,
                          const struct array *in, const uint8_t *heads, const struct array *out,
                          struct problem *p);

/* What is possible, in words: "NaN", "0x1p+0 or 0x1.8p+0", "from 0x1p+0 to 0x1p+1, or inf". */
enum { POSSIBLE_TEXT = 256 };
void special_words(char text[POSSIBLE_TEXT], const struct possible *p);

#endif
