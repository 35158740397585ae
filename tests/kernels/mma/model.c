/* The models of matrix instructions against rationals, bit for bit, on random and adversarial
 * operands; and that these operands tell a wrong model from a right one. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/fused.h"

enum { VECTORS = 60 * FUSED_AIMS, MUTANTS = 13 };

/* Two instructions, and one that is not full. */
static size_t length(const struct mma_rule *r, uint64_t number)
{
    size_t k = (size_t)r->k;
    return number % 5 == 4 ? 2 * k - 1 : 2 * k;
}

/* Each rule of the table once. */
static size_t rules(const struct mma_instruction *of[], size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < mma_instruction_count; i++) {
        bool there = false;
        for (size_t j = 0; j < count; j++)
            there |= memcmp(&of[j]->rule, &mma_instructions[i].rule, sizeof of[j]->rule) == 0;
        if (!there && count < most)
            of[count++] = &mma_instructions[i];
    }
    return count;
}

enum { RULES = 64 };
static struct fused_vector vectors[VECTORS];
static uint64_t expected[VECTORS];

static void make(const struct mma_rule *r)
{
    for (uint64_t i = 0; i < VECTORS; i++) {
        struct fused_vector *v = &vectors[i];
        fused_vector(v, r, length(r, i), i);
        expected[i] = fused_oracle(r, v->k, v->a, v->b, v->c);
    }
}

static size_t differing(const struct mma_rule *r, char text[FUSED_TEXT])
{
    size_t different = 0;
    for (size_t i = 0; i < VECTORS; i++) {
        const struct fused_vector *v = &vectors[i];
        uint64_t found = mma_dot(r, v->k, v->a, v->b, v->c);
        if (found == expected[i] || different++ > 0)
            continue;
        fused_text(text, v, r);
        size_t at = strlen(text);
        snprintf(text + at, FUSED_TEXT - at, ": %llx, expected %llx", (unsigned long long)found,
                 (unsigned long long)expected[i]);
    }
    return different;
}

Test(mma_model, every_row_is_the_rationals)
{
    const struct mma_instruction *of[RULES];
    size_t count = rules(of, RULES);
    cr_expect(count >= 20 && count < RULES, "%zu", count);
    for (size_t i = 0; i < count; i++) {
        char name[MMA_NAME], text[FUSED_TEXT] = "";
        mma_name(name, of[i]);
        make(&of[i]->rule);
        size_t different = differing(&of[i]->rule, text);
        cr_expect(different == 0, "%s: %zu of %d: %s", name, different, (int)VECTORS, text);
    }
}

/* Mutants of a rule; false where a rule has none of this kind. */
static bool mutated(struct mma_rule *m, int kind, const char **name)
{
    bool chained = m->k > m->block && m->order == MMA_FORWARD;
    switch (kind) {
    case 0:
        *name = "F + 1";
        m->fraction++;
        return true;
    case 1:
        *name = "F - 1";
        m->fraction--;
        return true;
    case 2:
        *name = "K halved";
        m->block /= 2;
        return m->order == MMA_FORWARD;
    case 3:
        *name = "K doubled";
        m->block *= 2;
        m->k = m->k < m->block ? m->block : m->k;
        return m->order == MMA_FORWARD;
    case 4:
        *name = "halves swapped";
        m->order = MMA_BACKWARDS;
        return chained;
    case 5:
        *name = "halves, the high one first";
        m->order = MMA_BACKWARDS;
        m->block /= 2;
        return m->order == MMA_FORWARD || !chained;
    case 6:
        *name = "C elsewhere";
        m->c = m->c == MMA_C_FIRST ? MMA_C_LAST : MMA_C_FIRST;
        return true;
    case 7:
        *name = "a sticky bit";
        m->alignment = MMA_STICKY;
        return true;
    case 8:
        *name = "terms rounded";
        m->alignment = MMA_ROUND_TERMS;
        return true;
    case 9:
        *name = "the result rounded otherwise";
        m->rounding = m->rounding == MMA_NEAREST ? MMA_TOWARD_ZERO : MMA_NEAREST;
        return true;
    case 10:
        *name = "pairs";
        m->order = m->order == MMA_PAIRS ? MMA_FORWARD : MMA_PAIRS;
        return m->k == 2 * m->block;
    case 11:
        *name = "a bit less kept";
        m->kept--;
        return true;
    case 12:
        *name = "zeros take part";
        m->zeros = true;
        return m->element != MMA_E4M3 || m->c == MMA_C_FIRST; /* else it never matters */
    default:
        return false;
    }
}

Test(mma_model, mutants_are_caught)
{
    const struct mma_instruction *of[RULES];
    size_t count = rules(of, RULES), mutants = 0;
    for (size_t i = 0; i < count; i++) {
        const struct mma_rule *r = &of[i]->rule;
        if (r->fraction == MMA_EXACT)
            continue;
        make(r);
        for (int kind = 0; kind < MUTANTS; kind++) {
            struct mma_rule m = *r;
            const char *what;
            char name[MMA_NAME], text[FUSED_TEXT];
            if (!mutated(&m, kind, &what))
                continue;
            mma_name(name, of[i]);
            cr_expect(differing(&m, text) > 0, "%s: not caught: %s", name, what);
            mutants++;
        }
    }
    cr_expect(mutants > 200, "%zu", mutants);
}

/* Kernels pad k with zeros to whole instructions; +0 added to -0 is +0. An H100's gemm/mma gives
 * these. */
Test(mma_model, zeros_behind_the_last_product_of_doubles)
{
    const struct mma_instruction *of[RULES];
    size_t count = rules(of, RULES), tried = 0;
    for (size_t i = 0; i < count; i++) {
        const struct mma_rule *r = &of[i]->rule;
        double a[16], b[16], negative = -0.0;
        uint64_t c, d;
        if (r->fraction != MMA_EXACT)
            continue;
        cr_assert(r->k <= 16);
        for (size_t k = 0; k < 16; k++) {
            a[k] = -0x1p-600;
            b[k] = 0x1p-600;
        }
        memcpy(&c, &negative, sizeof c);
        for (size_t k = 1; k <= (size_t)r->k; k++) {
            d = mma_dot(r, k, a, b, c);
            cr_expect(d == (k == (size_t)r->k ? c : 0), "%zu of %d: %#llx", k, r->k,
                      (unsigned long long)d);
            tried++;
        }
    }
    cr_expect(tried > 0);
}
