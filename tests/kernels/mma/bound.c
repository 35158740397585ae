/* Results of matrix instructions, promoted or not, against their theorem, and how large errors are
 * of e4m3 products on Hopper. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/inputs/philox.h"
#include "reference/exact/products.h"
#include "tests/support/fused.h"

static double element(enum mma_element e, const void *from, size_t i)
{
    const size_t bytes = (size_t)mma_elements[e].bits / 8;
    uint64_t bits = 0;
    memcpy(&bits, (const unsigned char *)from + i * bytes, bytes);
    return format_decode(mma_elements[e].stored,
                         bits & ~((UINT64_C(1) << mma_elements[e].ignored) - 1));
}

/* |found - exact|, rounded up; *exact is rounded. NaN where something is no number. */
static double error(const struct mma_rule *r, size_t k, const void *a, const void *b, uint64_t c,
                    uint64_t found, double *exact)
{
    struct products sum;
    double z = format_decode(r->result, found);
    products_init(&sum);
    products_add_one(&sum, format_decode(r->result, c), 1);
    for (size_t i = 0; i < k; i++)
        products_add_one(&sum, element(r->element, a, i), element(r->element, b, i));
    *exact = products_round(&sum, FP64);
    if (!isfinite(z) || !isfinite(*exact))
        return NAN;
    mpfr_t x;
    mpfr_init2(x, 64);
    products_get(x, &sum);
    mpfr_sub_d(x, x, z, MPFR_RNDN);
    double far = nextafter(fabs(mpfr_get_d(x, MPFR_RNDA)), INFINITY);
    bool none = mpfr_zero_p(x);
    mpfr_clear(x);
    return none ? 0 : far;
}

/* Returns the largest part of its bound that an error took, of vectors of this rule. */
static double hold(const struct mma_instruction *of, size_t every, size_t *held)
{
    const struct mma_rule *r = &of->rule;
    static struct fused_vector v;
    double most = 0, exact;
    for (uint64_t i = 0; i < 20 * FUSED_AIMS; i++) {
        size_t k = i % 3 ? FUSED_MOST : 1 + (size_t)i % FUSED_MOST;
        fused_vector(&v, r, k, i);
        uint64_t found = mma_promoted(r, r->element, every, k, v.a, v.b, v.c);
        double far = error(r, k, v.a, v.b, v.c, found, &exact);
        double bound = mma_bound(r, every, k, mma_weight(r, k, v.a, v.b, v.c));
        char name[MMA_NAME];
        mma_name(name, of);
        if (isnan(far) || !isfinite(bound))
            continue;
        ++*held;
        cr_expect(far <= bound, "%s every %zu, vector %d: error %g, bound %g", name, every, (int)i,
                  far, bound);
        if (bound > 0 && far / bound > most)
            most = far / bound;
    }
    return most;
}

Test(mma_bound, no_row_errs_by_more)
{
    static const size_t every[] = {0, 16, 32, 50, 128};
    for (size_t i = 0; i < mma_instruction_count; i++)
        for (size_t e = 0; e < sizeof every / sizeof *every; e++) {
            size_t held = 0;
            double most = hold(&mma_instructions[i], every[e], &held);
            cr_expect(held > 40, "row %zu: %zu vectors held", i, held);
            cr_expect(most > 1e-3, "row %zu, every %zu: %g of the bound", i, every[e], most);
        }
}

/* A block with nothing to spare but one bit a term: one large product, and K + 1 terms just cut. */
Test(mma_bound, alignment_is_what_it_loses)
{
    const struct mma_rule *r = &mma_find("h100", MMA_WGMMA, MMA_E4M3, FP32)->rule;
    unsigned char a[32], b[32];
    double exact;
    memset(a, (int)format_encode(E4M3, 0x1.ep-5), sizeof a);
    memset(b, (int)format_encode(E4M3, 0x1.ep-5), sizeof b);
    a[0] = b[0] = (unsigned char)format_encode(E4M3, 4);
    uint64_t found = mma_dot(r, 32, a, b, 0);
    double far = error(r, 32, a, b, 0, found, &exact);
    double bound = mma_bound(r, 0, 32, mma_weight(r, 32, a, b, 0));
    cr_expect(far > bound / 16 && far <= bound, "error %g, bound %g", far, bound);
}

/* A subnormal number counts as the smallest normal one: its product cuts others off far higher. */
Test(mma_bound, subnormal_operands_cut_more)
{
    const struct mma_rule *r = &mma_find("h100", MMA_WGMMA, MMA_E4M3, FP32)->rule;
    unsigned char a[32], b[32];
    double exact;
    memset(a, (int)format_encode(E4M3, 0x1.cp-5), sizeof a);
    memset(b, (int)format_encode(E4M3, 0x1.2p-6), sizeof b);
    a[0] = (unsigned char)format_encode(E4M3, 0x1p-9);
    b[0] = (unsigned char)format_encode(E4M3, 448);
    double far = error(r, 32, a, b, 0, mma_dot(r, 32, a, b, 0), &exact);
    double bound = mma_bound(r, 0, 32, mma_weight(r, 32, a, b, 0));
    cr_expect(far <= bound, "error %g, bound %g", far, bound);
    cr_expect(far > mma_bound(r, 0, 32, exact), "error %g: no more than of normal numbers", far);
}

enum { LENGTH = 4096, DOTS = 60 };

/* The largest relative error of 60 dot products of e4m3, uniform on (0, 1), or normal, or
 * normal and the error that of W. */
enum { UNIFORM, NORMAL, NORMAL_OF_WEIGHT, KINDS };
static double worst(const struct mma_rule *r, size_t every, int kind)
{
    static unsigned char a[LENGTH], b[LENGTH];
    const bool normal = kind != UNIFORM;
    double most = 0, exact;
    for (uint64_t d = 0; d < DOTS; d++) {
        for (uint64_t i = 0; i < LENGTH; i++) {
            struct draw x = random_draw(2 * d + 1, RANDOM_VALUES, i);
            struct draw y = random_draw(2 * d + 2, RANDOM_VALUES, i);
            a[i] = (unsigned char)format_encode(
                E4M3, format_round(E4M3, normal ? random_normal(x) : random_unit(x.word[0])));
            b[i] = (unsigned char)format_encode(
                E4M3, format_round(E4M3, normal ? random_normal(y) : random_unit(y.word[0])));
        }
        double far =
            error(r, LENGTH, a, b, 0, mma_promoted(r, r->element, every, LENGTH, a, b, 0), &exact);
        double of = kind == NORMAL_OF_WEIGHT ? mma_weight(r, LENGTH, a, b, 0) : fabs(exact);
        most = fmax(most, far / of);
    }
    return most;
}

/* Measured with these inputs. Other uniform draws give nearly these; of normal ones the largest is
 * that of the sum that cancels most, up to twenty times as large from seed to seed. */
Test(mma_bound, e4m3_on_hopper)
{
    const struct mma_rule *wgmma = &mma_find("h100", MMA_WGMMA, MMA_E4M3, FP32)->rule;
    const struct mma_rule *sync = &mma_find("h100", MMA_SYNC, MMA_E4M3, FP32)->rule;
    static const char *const inputs[] = {"uniform", "normal", "normal, of W"};
    const struct {
        const char *name;
        const struct mma_rule *rule;
        size_t every;
        const char *due[KINDS];
    } rows[] = {
        {"wgmma", wgmma, 0, {"6.9e-02", "3.5e-02", "2.3e-04"}},
        {"wgmma, promoted every 128", wgmma, 128, {"5.5e-04", "2.9e-02", "1.1e-05"}},
        {"mma.sync", sync, 0, {"2.6e-07", "1.5e-07", "5.7e-09"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            char found[32];
            snprintf(found, sizeof found, "%.1e", worst(rows[i].rule, rows[i].every, kind));
            cr_expect_str_eq(found, rows[i].due[kind], "%s, %s: %s, expected %s", rows[i].name,
                             inputs[kind], found, rows[i].due[kind]);
        }
}
