/* What was told of a matrix product, held to products of other operands. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/inputs/philox.h"
#include "experiments/reveal/matrix_ask.h"
#include "kernels/blocks/product.h"
#include "reference/format/array.h"

enum { PRODUCTS = 500, PLAIN_WAYS = 3, WAYS = PLAIN_WAYS * ACCUMULATORS };

/* How an element of D may come about, by a rule or by the tree. */
struct way {
    unsigned products;    /* of plain trees: REVEAL_ROUNDED ..., */
    enum format adds;     /* in this format; else fused sums by: */
    struct mma_rule rule; /* whose result is then rounded to D's format */
};

/* What a way was found to give. */
struct outcome {
    uint64_t differing, product, bits, due; /* how many, and the first of them */
};

struct holding {
    struct matrix_asker *a;
    bool by_rule; /* else by the tree */
    struct way way;
    double *value;        /* of each node */
    unsigned char *x, *y; /* room for the products of a fused sum */
};

/* A number of fp32 without the bits that are not read. */
static double as_read(const struct reveal_matrix *r, double x)
{
    const uint64_t mask = ~((UINT64_C(1) << (format_facts[FP32].precision - r->digits)) - 1);
    return format_decode(FP32, format_encode(FP32, x) & mask);
}

static double operand(const struct matrix_asker *a, const unsigned char *from, size_t i)
{
    const enum format f = mma_elements[a->of->element].stored;
    const struct array in = {f, a->of->k, (void *)(uintptr_t)from};
    const double x = array_get(&in, i);
    return a->found->reads == REVEAL_READS_CUT ? as_read(a->found, x) : x;
}

/* A node of a plain tree. */
static double added(const struct holding *h, uint32_t one, uint32_t other)
{
    const struct matrix_asker *a = h->a;
    const size_t k = a->of->k;
    const enum format f = h->way.adds;
    if (one < k && other < k && (h->way.products == REVEAL_FUSED_OTHERS) == (one < other)) {
        uint32_t swap = one;
        one = other;
        other = swap;
    } else if (one < k && other >= k) {
        uint32_t swap = one;
        one = other;
        other = swap;
    }
    /* Now `other` is a product, which may be fused, or none of both is one. */
    double sum =
        one < k ? product_rounded(f, operand(a, a->a, one), operand(a, a->b, one)) : h->value[one];
    if (other >= k)
        return format_add(f, sum, h->value[other]);
    double x = operand(a, a->a, other), y = operand(a, a->b, other);
    return h->way.products == REVEAL_ROUNDED ? format_add(f, sum, product_rounded(f, x, y))
                                             : product_fused(f, sum, x, y);
}

/* A node with products: a fused sum of these and of what else is added. */
static double fused(const struct holding *h, const uint32_t *child, size_t children)
{
    const struct matrix_asker *a = h->a;
    const size_t bytes = (size_t)mma_elements[a->of->element].bits / 8;
    struct mma_rule rule = h->way.rule;
    double sum = 0;
    size_t products = 0;
    for (size_t i = 0; i < children; i++)
        if (child[i] < a->of->k) {
            memcpy(h->x + products * bytes, a->a + child[i] * bytes, bytes);
            memcpy(h->y + products++ * bytes, a->b + child[i] * bytes, bytes);
        } else {
            sum = h->value[child[i]];
        }
    rule.k = rule.block = (int)products;
    rule.order = MMA_FORWARD;
    rule.c = MMA_C_FIRST;
    uint64_t bits = mma_dot(&rule, products, h->x, h->y, format_encode(rule.result, sum));
    return format_decode(rule.result, bits);
}

/* D by the tree. */
static double by_tree(const struct holding *h)
{
    const struct matrix_asker *a = h->a;
    const struct sum_tree *t = &a->found->tree;
    const size_t k = a->of->k;
    const bool plain = h->way.products != 0;
    const enum format f = plain ? h->way.adds : h->way.rule.result;
    if (a->leaves > k)
        h->value[k] = format_round(f, format_round(a->of->result, a->c));
    for (size_t i = 0; i < t->additions; i++) {
        const uint32_t *child = t->child + t->begin[i];
        const size_t children = t->begin[i + 1] - t->begin[i];
        bool products = false;
        for (size_t c = 0; c < children; c++)
            products |= child[c] < k;
        h->value[t->leaves + i] = plain ? added(h, child[0], child[1])
                                  : products
                                      ? fused(h, child, children)
                                      : format_add(f, h->value[child[0]], h->value[child[1]]);
    }
    return h->value[t->leaves + t->additions - 1];
}

static uint64_t due_bits(const struct holding *h)
{
    const struct matrix_asker *a = h->a;
    const struct reveal_matrix_subject *s = a->of;
    const enum format inner = h->way.rule.result;
    double d;
    if (h->by_rule) {
        const uint64_t c = format_encode(inner, format_round(s->result, a->c)),
                       bits = mma_dot(&h->way.rule, s->k, a->a, a->b, c);
        if (inner == s->result)
            return bits;
        d = format_decode(inner, bits);
    } else {
        d = by_tree(h);
    }
    return format_encode(s->result, format_round(s->result, d));
}

/* Operands of product q, whose sizes differ about as much as F bits do, with C. Two in five have
 * products of one sign, small enough that their sum does not overflow; half of these are within a
 * factor of four of each other: an order that depends on the data is not to pass for a fixed one.
 */
static void draw_operands(struct matrix_asker *a, uint64_t seed, uint64_t q)
{
    int spread = (int)(q % 3) * 10, middle = (a->top < 8 ? a->top : 8) - spread, sum = 0;
    uint64_t kind = q / 3 % 5, width = kind == 4 ? 1 : (uint64_t)(2 * spread + 5);
    while (kind >= 3 && a->leaves >> sum > 0)
        sum++;
    matrix_clear(a);
    for (size_t i = 0; i < a->leaves; i++) {
        struct draw d = random_draw(seed, RANDOM_VALUES, q * (a->of->k + 1) + i);
        int e = middle + (int)random_below(d.word[0], width) - spread - sum;
        e = e > a->top - 8 ? a->top - 8 : e < a->low ? a->low : e;
        double value = 1 + random_unit(d.word[1]), sign = kind < 3 && d.word[1] & 1 ? -1 : 1;
        matrix_set(a, i, i < a->of->k ? sign : sign * value, e);
        if (i < a->of->k) { /* other significands, which are rounded to the format */
            a->x[i] *= 1 + random_unit(d.word[1] * 3);
            a->y[i] *= 1 + random_unit(d.word[0] * 5);
            if (reveal_matrix_reads_more(a->found)) { /* what all readings keep */
                a->x[i] = as_read(a->found, a->x[i]);
                a->y[i] = as_read(a->found, a->y[i]);
            }
        }
    }
}

/* Fused sums of fp32, whose last one is rounded to a narrower D: what of their bits is kept shows
 * where they meet the next sum, but for what that cuts off too. */
static size_t narrowed_ways(struct matrix_asker *a, struct way *way)
{
    const struct reveal_matrix *r = a->found;
    const enum format f = a->of->result;
    const int most = a->top - a->low;
    size_t leaf[3], count = 0;
    int d = 1;
    if (format_facts[f].precision >= format_facts[FP32].precision || !matrix_three(a, leaf))
        return 0;
    while (d <= most && matrix_third(a, leaf, 1, a->top - d) == ldexp(1, a->top - d))
        d++;
    if (d > most)
        return 0;
    for (int whole = 0; whole < (d - 1 < 23 ? 2 : 1); whole++)
        for (int nearest = 0; nearest < 2; nearest++) {
            way[count] = (struct way){.rule = r->rule};
            way[count].rule.result = FP32;
            way[count].rule.kept = whole || d - 1 > 23 ? 23 : d - 1;
            way[count++].rule.rounding = nearest ? MMA_NEAREST : MMA_TOWARD_ZERO;
        }
    return count;
}

/* Additions of two: in the format that shows, or in any where none does. */
static size_t plain_ways(const struct reveal_matrix *r, struct way way[WAYS])
{
    static const unsigned products[PLAIN_WAYS] = {REVEAL_ROUNDED, REVEAL_FUSED,
                                                  REVEAL_FUSED_OTHERS};
    const bool any = (int)r->adds >= ACCUMULATORS && !r->rounding;
    size_t count = 0;
    for (enum format f = 0; (int)f < ACCUMULATORS; f++)
        for (size_t w = 0; w < PLAIN_WAYS && (any || f == r->adds); w++)
            way[count++] = (struct way){.products = products[w], .adds = f};
    return count;
}

/* Fused sums: how results are rounded, and to how many bits, is tried where it does not show. */
static size_t fused_ways(const struct reveal_matrix *r, struct way *way)
{
    const int all = format_facts[r->rule.result].precision - 1;
    size_t count = 0;
    for (int whole = 0; whole < (r->kept || r->rule.kept >= all ? 1 : 2); whole++)
        for (int other = 0; other < (r->rounding ? 1 : 2); other++) {
            way[count] = (struct way){.rule = r->rule};
            way[count].rule.kept = whole ? all : r->rule.kept;
            if (!r->rounding)
                way[count].rule.rounding = other ? MMA_NEAREST : MMA_TOWARD_ZERO;
            count++;
        }
    return count;
}

/* What can be held. */
static size_t ways_of(struct holding *h, struct way way[WAYS])
{
    const struct reveal_matrix *r = h->a->found;
    const struct sum_tree *t = &r->tree;
    size_t count = 0;
    if (r->plain)
        return plain_ways(r, way);
    if (!r->fraction || !r->alignment || r->reads == REVEAL_READS_ALL)
        return 0;
    h->by_rule = r->ordered;
    /* A fused sum has MMA_BLOCK products at most; sums without products are of two. */
    for (size_t i = 0; i < t->additions && !h->by_rule; i++) {
        size_t children = t->begin[i + 1] - t->begin[i], products = 0;
        for (uint32_t c = t->begin[i]; c < t->begin[i + 1]; c++)
            products += t->child[c] < h->a->of->k;
        if (products > MMA_BLOCK || (products ? children - products > 1 : children != 2))
            return 0;
    }
    if (r->rule.result != BF16) /* no rule has that */
        count = fused_ways(r, way);
    return count + narrowed_ways(h->a, way + count);
}

/* The format of additions, where it shows in other operands alone, and in one way. */
static void tell_format(struct reveal_matrix *r, const struct way *way, const struct outcome *of,
                        size_t ways)
{
    size_t fits = 0;
    enum format adds = FORMATS;
    for (size_t w = 0; w < ways; w++)
        if (of[w].differing == 0 && way[w].adds != adds) {
            adds = way[w].adds;
            fits++;
        }
    r->adds = fits == 1 ? adds : FORMATS;
}

/* Of results, what the ways that fit have in common, of which the first is the rule. */
static void tell_results(struct reveal_matrix *r, const struct way *way, const struct outcome *of,
                         size_t ways)
{
    const int all = format_facts[r->rule.result].precision - 1;
    bool kept = true, rounding = true;
    for (size_t w = 0; w < ways; w++)
        if (of[w].differing == 0 && way[w].rule.result == r->rule.result) {
            kept &= way[w].rule.kept == r->rule.kept;
            rounding &= way[w].rule.rounding == r->rule.rounding;
        }
    r->kept |= kept && r->rule.kept < all;
    r->rounding |= rounding;
}

/* What the products tell: the ways that give all bits, or the one that gives the most. */
static void tell(struct holding *h, const struct way *way, const struct outcome *of, size_t ways)
{
    struct reveal_matrix *r = h->a->found;
    const bool told = r->plain ? (int)r->adds < ACCUMULATORS : r->kept && r->rounding;
    size_t best = 0;
    for (size_t w = 0; w < ways; w++) {
        r->products |= of[w].differing ? 0 : way[w].products;
        best = of[w].differing < of[best].differing ? w : best;
    }
    r->differing = of[best].differing;
    if (!r->plain && (told || !r->differing)) {
        r->narrowed = way[best].rule.result != r->rule.result;
        r->rule = way[best].rule;
        if (!told)
            tell_results(r, way, of, ways);
    } else if (r->plain && !told) {
        tell_format(r, way, of, ways);
    }
    if (r->differing)
        snprintf(r->words, sizeof r->words, "product %llu of other operands is %llx, by %s%s %llx",
                 (unsigned long long)of[best].product, (unsigned long long)of[best].bits,
                 told || !r->plain ? "the rule" : "additions in ",
                 told || !r->plain ? "" : format_facts[way[best].adds].name,
                 (unsigned long long)of[best].due);
    else if (!r->ordered || r->plain)
        r->words[0] = 0; /* that no chain of blocks has this order is told by the order */
    /* Fused multiply-adds of fp64 onto C are what instructions of fp64 do. */
    const bool chain = r->plain && r->ordered && r->rule.block == 1 && r->adds == FP64 &&
                       r->rule.element == MMA_FP64 && r->rule.c == MMA_C_FIRST &&
                       r->products & REVEAL_FUSED;
    r->verdict = r->differing          ? (told ? REVEAL_MATRIX_OTHERWISE : REVEAL_MATRIX_NOT_TOLD)
                 : h->by_rule || chain ? REVEAL_MATRIX_RULE
                                       : REVEAL_MATRIX_ADDS;
}

static void hold(struct holding *h, const struct way way[WAYS], size_t ways, uint64_t seed)
{
    struct matrix_asker *a = h->a;
    struct outcome of[WAYS] = {0};
    uint64_t bits = 0;
    for (uint64_t q = 0; q < PRODUCTS; q++) {
        draw_operands(a, seed, q);
        matrix_ask(a, &bits);
        if (a->status != STATUS_OK || a->broken)
            return;
        for (size_t w = 0; w < ways; w++) {
            h->way = way[w];
            const uint64_t due = due_bits(h);
            if (bits != due && of[w].differing++ == 0)
                of[w] = (struct outcome){1, q, bits, due};
        }
        a->found->held++;
    }
    tell(h, way, of, ways);
}

void matrix_hold(struct matrix_asker *a, uint64_t seed)
{
    struct reveal_matrix *r = a->found;
    const size_t bytes = (size_t)mma_elements[a->of->element].bits / 8;
    struct holding h = {.a = a};
    struct way way[WAYS];
    size_t ways = ways_of(&h, way);
    if (ways == 0) {
        r->verdict = REVEAL_MATRIX_NOT_TOLD;
        matrix_threes(a, seed);
        return;
    }
    h.value = malloc((r->tree.leaves + r->tree.additions) * sizeof *h.value);
    h.x = malloc(2 * MMA_BLOCK * bytes);
    h.y = h.x ? h.x + MMA_BLOCK * bytes : NULL;
    if (h.value && h.x)
        hold(&h, way, ways, seed);
    else
        a->status = problem(a->p, STATUS_MEMORY, "no memory for a tree of %zu leaves", a->leaves);
    free(h.value);
    free(h.x);
    if (a->status == STATUS_OK && !a->broken && !reveal_matrix_held(r))
        matrix_threes(a, seed);
}
