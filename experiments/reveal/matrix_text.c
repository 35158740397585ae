#include "experiments/reveal/matrix.h"

#include "experiments/reveal/matrix_chains.h"
#include "reports/tree/text.h"

static const char *const verdicts[] = {
    [REVEAL_MATRIX_RULE] = "blocks of one rule, which gives the bits of all products tried",
    [REVEAL_MATRIX_TREE] = "masks show one tree, which was compared with nothing else",
    [REVEAL_MATRIX_OTHERWISE] =
        "masks show one tree, but the bits of other operands are not those of its rule",
    [REVEAL_MATRIX_EXACT] = "no order shows: it adds exactly, or keeps what rounding loses",
    [REVEAL_MATRIX_NO_TREE] = "no tree of additions gives these answers",
    [REVEAL_MATRIX_CHANGES] = "not a fixed order: one question has two answers",
    [REVEAL_MATRIX_PLACES] = "elements of D that are made of the same numbers differ",
    [REVEAL_MATRIX_ADDS] = "additions in this order, which give the bits of all products tried",
    [REVEAL_MATRIX_NO_PRODUCT] = "not the product of these matrices",
    [REVEAL_MATRIX_IRREGULAR] =
        "neither one chain nor chains of one length go on from the first products over all of k",
    [REVEAL_MATRIX_NOT_TOLD] = "not told: no rule was found that gives the bits of other operands",
    [REVEAL_MATRIX_DATA] = "the order depends on the data",
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

static void print_rule(FILE *to, const struct reveal_matrix *r,
                       const struct reveal_matrix_subject *s)
{
    const struct mma_rule *rule = &r->rule;
    fprintf(to, "K: %s%d product%s of a fused sum; blocks %s", r->block ? "" : "at least ",
            rule->block, rule->block == 1 ? "" : "s", order_words(rule));
    if (rule->c == MMA_C_LAST || rule->order != MMA_FORWARD)
        fprintf(to, "\ninstruction: %s%d products",
                r->tree.leaves - !s->no_c > (size_t)rule->k ? "" : "at least ", rule->k);
    fprintf(to, "\nC: %s\n",
            s->no_c                  ? matrix_c_words(MATRIX_C_NONE, s->c_left_out)
            : rule->c == MMA_C_FIRST ? "a term of the first block"
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
    if (r->narrowed)
        fprintf(to, "D: rounded to its format from fp32, to nearest, in the end\n");
}

static void print_reads(FILE *to, const struct reveal_matrix *r,
                        const struct reveal_matrix_subject *s)
{
    const int low = format_facts[FP32].precision - r->digits;
    char format[32];
    if (s->element != MMA_TF32 || s->tree_only || r->tree.additions == 0)
        return;
    if (low == 13 || low == 16)
        snprintf(format, sizeof format, "%s", low == 13 ? "tf32" : "bf16");
    else
        snprintf(format, sizeof format, "numbers of %d bits", r->digits);
    fprintf(to, "operands: ");
    if (r->reads == REVEAL_READS_ALL)
        fprintf(to, "all bits are read");
    else if (r->reads == REVEAL_READS_CUT)
        fprintf(to, "read as %s, without the low %d bits", format, low);
    else if (r->reads == REVEAL_READS_ROUNDED)
        fprintf(to, "rounded to %s", format);
    else
        fprintf(to, "which bits are read was not told");
    if (reveal_matrix_reads_more(r))
        fprintf(to, "; other products were tried with %s alone", format);
    fprintf(to, "\n");
}

/* Additions of two. */
static void print_plain(FILE *to, const struct reveal_matrix *r)
{
    if (r->verdict == REVEAL_MATRIX_NOT_TOLD) {
        fprintf(to, "additions: two at a time; how they round was not told\n");
        return;
    }
    fprintf(to, "additions: two at a time, ");
    if ((int)r->adds < ACCUMULATORS)
        fprintf(to, "in %s, rounded to nearest\n", format_facts[r->adds].name);
    else if (r->kept)
        fprintf(to, "%d bits behind the point, %s\n", r->rule.kept,
                !r->rounding                      ? "rounding was not told"
                : r->rule.rounding == MMA_NEAREST ? "rounded to nearest"
                                                  : "rounded toward zero");
    else
        fprintf(to, "at least %d bits behind the point\n", r->rule.kept);
    if (r->held)
        fprintf(to, "products: %s\n",
                r->products == REVEAL_PRODUCTS_ALL ? "exact in it, so that fused and rounded ones "
                                                     "have the same bits"
                : r->products & REVEAL_ROUNDED     ? "rounded before they are added"
                : r->products                      ? "fused into the additions: one rounding"
                              : "neither rounded before they are added nor fused "
                                "into the additions");
}

/* Trees of many fused sums are deep, and say no more than the lines above. */
static void print_tree(FILE *to, const struct reveal_matrix *r,
                       const struct reveal_matrix_subject *s)
{
    enum { SUMS = 24 };
    if ((!r->plain || r->first) && r->tree.additions > SUMS) {
        fprintf(to, "tree: %zu sums (--json and --dot have them)\n", r->tree.additions);
        return;
    }
    if (s->no_c)
        fprintf(to, "tree:\n");
    else
        fprintf(to, "tree (leaf %zu is C):\n", s->k);
    sum_tree_text(to, &r->tree, 0, NULL);
}

static bool has_order(const struct reveal_matrix *r)
{
    return r->verdict == REVEAL_MATRIX_RULE || r->verdict == REVEAL_MATRIX_ADDS ||
           r->verdict == REVEAL_MATRIX_TREE || r->verdict == REVEAL_MATRIX_OTHERWISE ||
           r->verdict == REVEAL_MATRIX_NOT_TOLD;
}

const char *reveal_matrix_verdict(const struct reveal_matrix *r)
{
    enum reveal_matrix_verdict verdict =
        r->verdict == REVEAL_MATRIX_RULE && r->tree.additions > 0 && !reveal_matrix_one_chain(r)
            ? REVEAL_MATRIX_ADDS
            : r->verdict;
    return verdicts[verdict];
}

void reveal_matrix_details(FILE *to, const struct reveal_matrix *r,
                           const struct reveal_matrix_subject *s)
{
    struct matrix_chains chains;
    const bool differing = r->differing > 0 && r->verdict != REVEAL_MATRIX_DATA;
    if (r->words[0] && !differing)
        fprintf(to, "%s\n", r->words);
    if (r->verdict == REVEAL_MATRIX_NOT_TOLD)
        fprintf(to, "observed with the operands of the questions alone:\n");
    if (has_order(r) && !reveal_matrix_one_chain(r) &&
        matrix_chains_of(&chains, &r->tree, s->k, NULL) == STATUS_OK)
        matrix_chains_print(to, &chains, r->plain, s->c_left_out);
    else if (has_order(r))
        print_rule(to, r, s);
    if (has_order(r)) {
        if (r->plain)
            print_plain(to, r);
        else
            print_arithmetic(to, r);
        print_reads(to, r, s);
        print_tree(to, r, s);
    }
    if (r->first)
        fprintf(to, "told apart: the first %zu of %zu products", r->first, s->k);
    if (r->sampled)
        fprintf(to, "; the others by %llu questions over all of k", (unsigned long long)r->sampled);
    fputs(r->first ? "\n" : "", to);
    fprintf(to, "%llu questions", (unsigned long long)r->calls);
    if (r->held)
        fprintf(to, "; %llu products of other operands, %llu with other bits",
                (unsigned long long)r->held, (unsigned long long)r->differing);
    else if (has_order(r))
        fprintf(to, "; held to no products of other operands, as no rule was told");
    if (differing)
        fprintf(to, ":\n%s", r->words);
    fprintf(to, "\nnot asked: subnormal results, overflow, infinities, NaNs, signs of zero%s\n",
            r->zeros || r->plain ? "" : ", zeros among large terms");
}

void reveal_matrix_print(FILE *to, const struct reveal_matrix *r,
                         const struct reveal_matrix_subject *s)
{
    const char *name = r->reads == REVEAL_READS_ALL || r->reads == REVEAL_READS_ROUNDED
                           ? format_facts[mma_elements[s->element].stored].name
                           : mma_elements[s->element].name;
    fprintf(to, "%s x %s -> %s, %zu x %zu x %zu: %s\n", name, name, format_facts[s->result].name,
            s->m, s->n, s->k, reveal_matrix_verdict(r));
    reveal_matrix_details(to, r, s);
}
