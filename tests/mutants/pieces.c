/* Sums that carry their errors, broken. */
#include <math.h>

#include "kernels/blocks/pieces.h"
#include "kernels/method/two_sum.h"
#include "tests/mutants/mutants.h"

/* A method's rule, walked as it is specified. */
static struct piece_rule plain(const struct piece_rule *of)
{
    struct piece_rule rule = *of;
    rule.kind = PIECE_PLAIN;
    return rule;
}

/* --- errors that get lost --- */

static struct piece add_without_error(const struct piece_rule *rule, enum format f, struct piece a,
                                      double x)
{
    (void)rule;
    a.word[0] = format_add(f, a.word[0], x);
    return a;
}

static enum status sum2_loses_errors(const struct task *t, struct problem *p)
{
    struct piece_rule rule = plain(&sum2_rule);
    rule.add = add_without_error;
    return pieces_sum(&rule, t, p);
}

static struct piece join_without_second(const struct piece_rule *rule, enum format f,
                                        struct piece a, struct piece b)
{
    b.word[1] = 0;
    return pair_join(rule, f, a, b);
}

static enum status sum2_drops_e2(const struct task *t, struct problem *p)
{
    struct piece_rule rule = plain(&sum2_rule);
    rule.join = join_without_second;
    return pieces_sum(&rule, t, p);
}

static double high_word(const struct piece_rule *rule, enum format f, struct piece sum)
{
    (void)rule;
    (void)f;
    return sum.word[0];
}

static enum status sum2_forgets_errors(const struct task *t, struct problem *p)
{
    struct piece_rule rule = plain(&sum2_rule);
    rule.value = high_word;
    return pieces_sum(&rule, t, p);
}

/* The last two words become one. */
static enum status sumk4_of_three(const struct task *t, struct problem *p)
{
    return pieces_sum(&sumk_rule, t, p);
}

/* --- errors that are not what was lost --- */

static struct piece add_branch_swapped(const struct piece_rule *rule, enum format f, struct piece a,
                                       double x)
{
    (void)rule;
    double s = format_add(f, a.word[0], x);
    double d = fabs(a.word[0]) < fabs(x) ? format_add(f, format_add(f, a.word[0], -s), x)
                                         : format_add(f, format_add(f, x, -s), a.word[0]);
    return (struct piece){{s, format_add(f, a.word[1], d)}};
}

static enum status neumaier_swaps_branches(const struct task *t, struct problem *p)
{
    struct piece_rule rule = plain(&neumaier_rule);
    rule.add = add_branch_swapped;
    return pieces_sum(&rule, t, p);
}

static struct piece add_against_kahan(const struct piece_rule *rule, enum format f, struct piece a,
                                      double x)
{
    a.word[1] = -a.word[1];
    return kahan_rule.add(rule, f, a, x);
}

static enum status kahan_wrong_sign(const struct task *t, struct problem *p)
{
    struct piece_rule rule = plain(&kahan_rule);
    rule.add = add_against_kahan;
    return pieces_sum(&rule, t, p);
}

/* SloppyDWPlusDW, algorithm 5 of Joldes, Muller and Popescu: no bound where high words cancel. */
static struct piece join_sloppily(const struct piece_rule *rule, enum format f, struct piece a,
                                  struct piece b)
{
    struct two_sum s = two_sum(f, a.word[0], b.word[0]);
    double v = format_add(f, s.error, format_add(f, a.word[1], b.word[1]));
    struct two_sum z = fast_two_sum(f, s.sum, v);
    if (z.sum == 0 || !isfinite(z.error))
        return double_word_rule.join(rule, f, a, b);
    return (struct piece){{z.sum, z.error}};
}

static enum status double_word_is_sloppy(const struct task *t, struct problem *p)
{
    struct piece_rule rule = plain(&double_word_rule);
    rule.join = join_sloppily;
    return pieces_sum(&rule, t, p);
}

/* --- zeros and infinities --- */

static double sum_of_words(const struct piece_rule *rule, enum format f, struct piece sum)
{
    (void)rule;
    return format_add(f, sum.word[0], sum.word[1]);
}

static enum status sum2_adds_zero(const struct task *t, struct problem *p)
{
    struct piece_rule rule = plain(&sum2_rule);
    rule.value = sum_of_words;
    return pieces_sum(&rule, t, p);
}

static struct piece add_unguarded(const struct piece_rule *rule, enum format f, struct piece a,
                                  double x)
{
    (void)rule;
    struct two_sum s = fast_two_sum(f, a.word[0], format_add(f, x, a.word[1]));
    return (struct piece){{s.sum, s.error}};
}

static enum status kahan_unguarded(const struct task *t, struct problem *p)
{
    struct piece_rule rule = plain(&kahan_rule);
    rule.add = add_unguarded;
    return pieces_sum(&rule, t, p);
}

static enum status kahan_from_positive_zero(const struct task *t, struct problem *p)
{
    struct piece_rule rule = plain(&kahan_rule);
    rule.rest = 0;
    return pieces_sum(&rule, t, p);
}

/* --- where errors are found --- */

static enum status blocked_everywhere(const struct task *t, struct problem *p)
{
    return pieces_sum(&sum2_rule, t, p);
}

static enum status blocked_nowhere(const struct task *t, struct problem *p)
{
    return method_named("sum/tiled")->cpu(t, p);
}

/* Plain additions throughout. */
static enum status not_widened(const struct task *t, struct problem *p)
{
    return method_named("sum/tiled")->cpu(t, p);
}

#define BREAK(name, fault)                                                                         \
    static void name(struct method *m)                                                             \
    {                                                                                              \
        m->cpu = fault;                                                                            \
    }
BREAK(break_loses_errors, sum2_loses_errors)
BREAK(break_drops_e2, sum2_drops_e2)
BREAK(break_forgets, sum2_forgets_errors)
BREAK(break_of_three, sumk4_of_three)
BREAK(break_branches, neumaier_swaps_branches)
BREAK(break_sign, kahan_wrong_sign)
BREAK(break_sloppy, double_word_is_sloppy)
BREAK(break_adds_zero, sum2_adds_zero)
BREAK(break_unguarded, kahan_unguarded)
BREAK(break_positive, kahan_from_positive_zero)
BREAK(break_everywhere, blocked_everywhere)
BREAK(break_nowhere, blocked_nowhere)
BREAK(break_not_widened, not_widened)

static void break_plain_height(struct method *m)
{
    m->plain_height = 0;
}

const struct mutant piece_mutants[] = {
    {"loses the errors of elements", "sum/sum2", break_loses_errors, holds_walk},
    {"loses the errors of elements", "sum/sum2", break_loses_errors, holds_bound},
    {"drops the second piece's error word", "sum/sum2", break_drops_e2, holds_walk},
    {"drops the second piece's error word", "sum/sum2", break_drops_e2, holds_bound},
    {"does not add the errors to the sum", "sum/sum2", break_forgets, holds_walk},
    {"does not add the errors to the sum", "sum/sum2", break_forgets, holds_bound},
    {"has a word less", "sum/sumk4", break_of_three, holds_walk},
    {"swaps the branches", "sum/neumaier", break_branches, holds_walk},
    {"swaps the branches", "sum/neumaier", break_branches, holds_bound},
    {"adds what was lost with the wrong sign", "sum/kahan", break_sign, holds_walk},
    {"adds what was lost with the wrong sign", "sum/kahan", break_sign, holds_bound},
    {"adds low words first", "sum/double_word", break_sloppy, holds_walk},
    {"adds an error of zero to the sum", "sum/sum2", break_adds_zero, holds_edges},
    {"lets an infinity into what was lost", "sum/kahan", break_unguarded, holds_edges},
    {"begins with nothing lost as +0", "sum/kahan", break_positive, holds_edges},
    {"finds errors in blocks too", "sum/blocked", break_everywhere, holds_walk},
    {"finds no errors across blocks", "sum/blocked", break_nowhere, holds_walk},
    {"declares blocks of one element", "sum/blocked", break_plain_height, holds_bound},
    {"is not widened", "sum/widened", break_not_widened, holds_walk},
    {"is not widened", "sum/widened", break_not_widened, holds_bound},
};
const size_t piece_mutant_count = sizeof piece_mutants / sizeof *piece_mutants;
