#include "experiments/reveal/matrix.h"

#include "reports/tree/text.h"

static const char *const verdicts[] = {
    [REVEAL_MATRIX_RULE] = "blocks of one rule, which gives the bits of all products tried",
    [REVEAL_MATRIX_TREE] = "a fixed tree",
    [REVEAL_MATRIX_OTHERWISE] =
        "a fixed tree, but the bits of other operands are not those of its rule",
    [REVEAL_MATRIX_EXACT] = "nothing is lost, so that no order shows",
    [REVEAL_MATRIX_NO_TREE] = "no tree of additions gives these answers",
    [REVEAL_MATRIX_CHANGES] = "not a fixed order: one question has two answers",
    [REVEAL_MATRIX_PLACES] = "elements of D that are made of the same numbers differ",
};

static const char *order_words(const struct mma_rule *r)
{
    switch (r->order) {
    case MMA_FORWARD:
        return "in order of k";
    case MMA_PAIRS:
        return "first the k with k mod 4 < 2, then the others";
    case MMA_BACKWARDS:
        return "the last of an instruction first";
    }
    return "";
}

static void print_rule(FILE *to, const struct reveal_matrix *r)
{
    const struct mma_rule *rule = &r->rule;
    fprintf(to, "K: %s%d product%s of a fused sum; blocks %s", r->block ? "" : "at least ",
            rule->block, rule->block == 1 ? "" : "s", order_words(rule));
    if (rule->c == MMA_C_LAST || rule->order != MMA_FORWARD)
        fprintf(to, ", %d products of an instruction", rule->k);
    fprintf(to, "\nC: %s\n",
            rule->c == MMA_C_FIRST ? "a term of the first block"
                                   : "added behind the last block of each instruction");
}

static void print_arithmetic(FILE *to, const struct reveal_matrix *r)
{
    const struct mma_rule *rule = &r->rule;
    if (rule->fraction == MMA_EXACT)
        return;
    fprintf(to, "F: %s%d bits behind the point of the largest exponent; %s\n",
            r->fraction ? "" : "at least ", rule->fraction,
            !r->alignment                        ? "what becomes of lower bits was not told"
            : rule->alignment == MMA_ROUND_TERMS ? "terms are rounded to nearest"
                                                 : "lower bits are cut off");
    fprintf(to, "result: %s%d bits behind the point, %s\n", r->kept ? "" : "at least ", rule->kept,
            !r->rounding                    ? "rounding was not told"
            : rule->rounding == MMA_NEAREST ? "rounded to nearest"
                                            : "rounded toward zero");
}

void reveal_matrix_print(FILE *to, const struct reveal_matrix *r,
                         const struct reveal_matrix_subject *s)
{
    fprintf(to, "%s x %s -> %s, %zu x %zu x %zu: %s\n", mma_elements[s->element].name,
            mma_elements[s->element].name, format_facts[s->result].name, s->m, s->n, s->k,
            verdicts[r->verdict]);
    if (r->words[0])
        fprintf(to, "%s\n", r->words);
    if (r->ordered)
        print_rule(to, r);
    if (r->tree.additions > 0) {
        print_arithmetic(to, r);
        fprintf(to, "tree (leaf %zu is C):\n", s->k);
        sum_tree_text(to, &r->tree, 0, NULL);
    }
    fprintf(to, "%llu questions", (unsigned long long)r->calls);
    if (r->held)
        fprintf(to, "; %llu products of other operands, %llu with other bits",
                (unsigned long long)r->held, (unsigned long long)r->differing);
    fprintf(to, "\nnot asked: subnormal results, overflow, infinities, NaNs, signs of zero%s\n",
            r->zeros ? "" : ", zeros among large terms");
}
