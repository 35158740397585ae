/* The operands by which a GPU's instructions are held to their models (tests/gpu/mma_cases.h): they
 * tell every row of the table from its mutants, and what a sanity check expects of integers is what
 * every model gives. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/gpu/mma_cases.h"

enum { GROUPS = 12 * CASE_KINDS, BYTES = 8 * MMA_BLOCK };
static const char *const kinds[] = CASE_NAMES, *const mutants[] = MUTANT_NAMES;

static bool shares(const struct mma_instruction *i)
{
    return i->unit == MMA_WGMMA;
}

/* How many vectors of a tile differ between the model and its mutant. */
static int differing(const struct mma_cases *s, const struct mma_rule *of, const struct mma_rule *r,
                     const struct mma_tile *t)
{
    unsigned char a[CASE_ROWS][BYTES], b[CASE_COLUMNS][BYTES];
    int different = 0;
    for (int i = 0; i < CASE_ROWS; i++)
        case_row(s, t, 0, i, a[i]);
    for (int i = 0; i < CASE_COLUMNS; i++)
        case_row(s, t, 1, i, b[i]);
    for (int i = 0; i < CASE_VECTORS; i++) {
        const int row = i / CASE_COLUMNS, column = i % CASE_COLUMNS;
        const uint64_t c = case_addend(s, t, row, column);
        different += !case_agrees(&s->result, mma_dot(of, (size_t)of->k, a[row], b[column], c),
                                  case_model(r->element, r->element, r, a[row], b[column], c));
    }
    return different;
}

/* The least M: no product is below it, or none has a bit that it cuts off. Zeros: 25 bits behind
 * the largest 8-bit number times the smallest normal one hold all of e4m3; those of e5m2 that they
 * do not hold are not aimed at. */
static bool hidden(enum mma_mutant m, const struct mma_rule *r)
{
    const struct mma_element_facts *e = &mma_elements[r->element];
    if (m == MUTANT_ZEROS)
        return e->bits == 8 && r->fraction == 25 && (r->c == MMA_C_LAST || r->result == FP16);
    return m == MUTANT_LEAST &&
           (2 * e->emin > r->least || 2 * (e->emin - e->fraction) > r->least - r->fraction);
}

Test(mma_cases, tell_every_row_from_its_mutants)
{
    for (size_t i = 0; i < mma_instruction_count; i++) {
        const struct mma_instruction *of = &mma_instructions[i];
        const struct mma_cases s = case_cases(&of->rule, of->rule.element, 20);
        char name[MMA_NAME];
        mma_name(name, of);
        for (int m = 0; m < MUTANTS; m++) {
            struct mma_rule rule = of->rule;
            if (!case_mutant((enum mma_mutant)m, &rule))
                continue;
            int different = 0;
            for (uint64_t g = 0; g < GROUPS && (m == MUTANT_NONE || !different); g++) {
                const struct mma_tile t = case_tile(&s, shares(of), g * CASE_TILES + g % 4);
                different += differing(&s, &of->rule, &rule, &t);
                cr_expect(m != MUTANT_NONE || !different, "%s, %s", name, kinds[t.kind]);
            }
            cr_expect(m == MUTANT_NONE || hidden((enum mma_mutant)m, &of->rule) == !different,
                      "%s: %s, %d differ", name, mutants[m], different);
        }
    }
}

Test(mma_cases, integers_are_exact)
{
    for (size_t i = 0; i < mma_instruction_count; i++) {
        const struct mma_rule *r = &mma_instructions[i].rule;
        struct mma_cases s = case_cases(r, r->element, 21);
        unsigned char a[BYTES], b[BYTES];
        s.only = CASE_INTEGERS;
        for (uint64_t tile = 0; tile < 50; tile++) {
            const struct mma_tile t = case_tile(&s, shares(&mma_instructions[i]), tile);
            const int row = (int)(tile % CASE_ROWS), column = (int)(tile % CASE_COLUMNS);
            case_row(&s, &t, 0, row, a);
            case_row(&s, &t, 1, column, b);
            const uint64_t c = case_addend(&s, &t, row, column);
            cr_assert(mma_dot(r, (size_t)r->k, a, b, c) ==
                      case_integral(&s.result, case_sum(&s, &t, row, column)));
        }
    }
}

Test(mma_cases, are_what_they_are_named_for)
{
    const struct mma_rule *r = &mma_find("h100", MMA_WGMMA, MMA_FP16, FP16)->rule;
    struct mma_cases s = case_cases(r, r->element, 22);
    bool nan = false, infinite = false, subnormal = false, minus_zero = false;
    for (uint64_t g = 0; g < GROUPS; g++) {
        const struct mma_tile t = case_tile(&s, true, g * CASE_TILES),
                              other = case_tile(&s, true, g * CASE_TILES + 1);
        cr_expect(t.kind == (int)(g % CASE_KINDS));
        for (int k = 0; k < s.k; k++) {
            const uint64_t x = case_factor(&s, &t, 0, 3, k);
            nan |= case_is_nan(&s.of[0], x);
            infinite |= (x & 0x7fff) == 0x7c00;
            subnormal |= (x & 0x7fff) != 0 && (x & 0x7c00) == 0;
            minus_zero |= x == 0x8000;
            /* The four share B, and none of A. */
            cr_assert(case_factor(&s, &t, 1, 2, k) == case_factor(&s, &other, 1, 2, k));
        }
        cr_expect(t.key[0] != other.key[0]);
    }
    cr_expect(nan && infinite && subnormal && minus_zero);
}
