/* The rule of sum/sumk, sum/sumk4 and sum/sumk5. */
#include <math.h>

#include "kernels/blocks/pieces.h"
#include "kernels/method/two_sum.h"

/* error[]: what the additions of the word above lost, in the order in which they lost it. */
static struct piece join(const struct piece_rule *rule, enum format f, struct piece a,
                         struct piece b)
{
    double error[PIECE_WORDS] = {0};
    unsigned last = rule->words - 1;
    for (unsigned k = 0; k < last; k++) {
        struct two_sum s = two_sum(f, a.word[k], b.word[k]);
        for (unsigned i = 0; i < k; i++) {
            double from_above = error[i];
            error[i] = s.error;
            s = two_sum(f, s.sum, from_above);
        }
        error[k] = s.error;
        a.word[k] = s.sum;
    }
    double errors = error[0];
    for (unsigned i = 1; i < last; i++)
        errors = format_add(f, errors, error[i]);
    a.word[last] = format_add(f, a.word[last], format_add(f, b.word[last], errors));
    return a;
}

/* An element brings one error to each level. */
static struct piece add(const struct piece_rule *rule, enum format f, struct piece a, double x)
{
    unsigned last = rule->words - 1;
    for (unsigned k = 0; k < last; k++) {
        struct two_sum s = two_sum(f, a.word[k], x);
        a.word[k] = s.sum;
        x = s.error;
    }
    a.word[last] = format_add(f, a.word[last], x);
    return a;
}

static double value(const struct piece_rule *rule, enum format f, struct piece sum)
{
    double *w = sum.word;
    unsigned last = rule->words - 1, zeros = 0;
    for (unsigned k = 1; k <= last; k++) {
        if (!isfinite(w[k]))
            return w[0];
        zeros += w[k] == 0;
    }
    if (zeros == last)
        return w[0];
    for (unsigned sweep = 0; sweep < last; sweep++)
        for (unsigned k = last; k > 0; k--) {
            struct two_sum s = two_sum(f, w[k - 1], w[k]);
            if (!isfinite(s.sum))
                return s.sum;
            w[k - 1] = s.sum;
            w[k] = s.error;
        }
    double v = w[last];
    for (unsigned k = last; k > 0; k--)
        v = format_add(f, w[k - 1], v);
    return v;
}

#define RULE(K)                                                                                    \
    {                                                                                              \
        .kind = PIECE_SUMK, .words = K, .add = add, .join = join, .value = value                   \
    }
const struct piece_rule sumk_rule = RULE(3), sumk4_rule = RULE(4), sumk5_rule = RULE(5);
