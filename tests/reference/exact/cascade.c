/* Cascades of three words in vectors of every width that this machine has: what they give out is
 * right, and what they say of their error holds. */
#include <criterion/criterion.h>

#include <float.h>
#include <math.h>

#include "experiments/inputs/philox.h"
#include "reference/exact/cascade.h"
#include "reference/exact/running.h"

enum { BLOCKS = 12 };

/* Numbers of either sign whose exponents lie within 2^-reach .. 2^reach. */
static void draw(double *x, size_t count, int reach, uint64_t seed, size_t first)
{
    for (size_t i = 0; i < count; i++) {
        struct draw d = random_draw(seed, RANDOM_VALUES, first + i);
        int exponent = (int)random_below(d.word[1], 2 * (uint64_t)reach + 1) - reach;
        double size = ldexp(1 + random_unit(d.word[0]), exponent);
        x[i] = d.word[1] & 1 ? -size : size;
    }
}

/* Is the sum of the words within `error` of the exact sum? What is left is rounded once. */
static bool within(const struct cascade *c, const struct running *exact)
{
    struct running left = *exact;
    double rest;
    for (int i = 0; i < 3; i++)
        running_add(&left, -c->word[i]);
    running_read(&left, &rest, 1);
    return fabs(rest) <= c->error * (1 + 0x1p-52);
}

static void begin_anew(struct cascade *c, const struct running *exact)
{
    bool rest = running_read(exact, c->word, 3);
    c->error = rest ? fabs(c->word[2]) * 0x1p-53 + 0x1p-1074 : 0;
}

/* Blocks one after the other; returns how many the variant did. */
static size_t follow(const struct cascade_variant *v, int reach, uint64_t seed)
{
    static double x[CASCADE_MOST], hi[CASCADE_MOST], lo[CASCADE_MOST];
    static double due_hi[CASCADE_MOST], due_lo[CASCADE_MOST];
    struct cascade c = {{0}, 0, 0};
    struct running exact;
    size_t done = 0;
    running_zero(&exact);
    for (size_t block = 0; block < BLOCKS; block++) {
        size_t count = CASCADE_CHUNK * (1 + (seed + block) % (CASCADE_MOST / CASCADE_CHUNK));
        draw(x, count, reach, seed, block * CASCADE_MOST);
        running_block(&exact, x, count, due_hi, due_lo);
        if (!v->block(&c, x, count, hi, lo)) {
            begin_anew(&c, &exact);
            continue;
        }
        done++;
        for (size_t i = 0; i < count; i++)
            cr_assert(hi[i] == due_hi[i] && lo[i] == due_lo[i],
                      "%s, reach %d, seed %lu, block %zu, element %zu: %a + %a, expected %a + %a",
                      v->name, reach, seed, block, i, hi[i], lo[i], due_hi[i], due_lo[i]);
        cr_assert(within(&c, &exact), "%s, reach %d, seed %lu, block %zu: not within %a", v->name,
                  reach, seed, block, c.error);
    }
    return done;
}

Test(cascade, pairs_and_errors_are_those_of_the_exact_sum)
{
    static const int reach[] = {1, 10, 40, 60, 80, 120, 300, 600, 1000};
    for (size_t k = 0; k < cascade_variants; k++) {
        const struct cascade_variant *v = &cascade_variant[k];
        if (!v->available())
            continue;
        for (size_t i = 0; i < sizeof reach / sizeof *reach; i++) {
            size_t done = 0;
            for (uint64_t seed = 1; seed <= 20; seed++)
                done += follow(v, reach[i], seed);
            /* Those that use three words: the first block of all begins at 0, where pairs are
             * exact, and fails. */
            if (reach[i] >= 60 && reach[i] <= 600)
                cr_expect(done > 20 * BLOCKS / 2, "%s, reach %d: did %zu of %d blocks", v->name,
                          reach[i], done, 20 * BLOCKS);
        }
    }
}

/* Sums at ties and next to them, which no bound on what was lost can tell apart. */
Test(cascade, gives_out_nothing_that_may_be_wrong)
{
    static const struct cascade at[] = {
        {{1, 0x1p-53, 0x1p-150}, 0x1p-200, 0},   /* hi: above the tie */
        {{1, 0x1p-53, -0x1p-150}, 0x1p-200, 0},  /* below it */
        {{1, 0x1p-53, 0}, 0x1p-200, 0},          /* at it, or not */
        {{1, -0x1p-54, -0x1p-150}, 0x1p-200, 0}, /* below a power of two */
        {{1, 0x1p-60, 0x1p-113}, 0x1p-180, 0},   /* lo: the same */
        {{1, 0x1p-60, -0x1p-114}, 0x1p-180, 0},  /* below a power of two */
        {{1, -0x1p-60, 0x1p-114}, 0x1p-180, 0},
        {{1, 0x1.8p-60, 0x1.8p-114}, 0x1p-114, 0}, /* a tie within the error */
        {{1, 0x1.8p-60, -0x1.8p-114}, 0x1p-114, 0},
        {{1, 0x1.8p-60, 0x1p-113 - 0x1p-166}, 0x1p-165, 0},  /* barely within it */
        {{1, 0x1.8p-60, -0x1p-113 + 0x1p-166}, 0x1p-165, 0}, /* the same on the other side */
        {{1, 0, 0}, 0x1p-300, 0},                            /* lo may be anything so small */
        {{1, 0, 0x1p-300}, 0x1p-301, 0},
        {{0, 0, 0}, 0x1p-1074, 0},
        {{1, 0x1p-1070, 0}, 0x1p-1074, 0},
    };
    static const double none[CASCADE_CHUNK];
    double hi[CASCADE_CHUNK], lo[CASCADE_CHUNK];
    for (size_t k = 0; k < cascade_variants; k++)
        for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
            struct cascade c = at[i];
            if (cascade_variant[k].available())
                cr_expect(!cascade_variant[k].block(&c, none, CASCADE_CHUNK, hi, lo),
                          "%s: %zu: gave %a + %a", cascade_variant[k].name, i, hi[0], lo[0]);
        }
}

/* At each place in turn: every lane is looked at. */
Test(cascade, one_wrong_place)
{
    static const double wrong[] = {INFINITY, -INFINITY, NAN, DBL_MAX};
    double x[CASCADE_CHUNK] = {0}, hi[CASCADE_CHUNK], lo[CASCADE_CHUNK];
    const struct cascade good = {{1, 0x1.8p-60, 0x1p-120}, 0x1p-180, 0};
    for (size_t k = 0; k < cascade_variants; k++) {
        const struct cascade_variant *v = &cascade_variant[k];
        struct cascade c = good;
        if (!v->available())
            continue;
        cr_expect(v->block(&c, x, CASCADE_CHUNK, hi, lo), "%s", v->name);
        for (size_t i = 0; i < CASCADE_CHUNK; i++)
            for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
                c = good;
                if (wrong[w] == DBL_MAX)
                    c.word[0] = DBL_MAX;
                x[i] = wrong[w];
                cr_expect(!v->block(&c, x, CASCADE_CHUNK, hi, lo), "%s: %g at %zu", v->name,
                          wrong[w], i);
                x[i] = 0;
            }
        /* A tie for one element, undone by the next. */
        for (size_t i = 0; i + 1 < CASCADE_CHUNK; i++) {
            c = good;
            x[i] = 0x1p-53 - 0x1.8p-60;
            x[i + 1] = -x[i];
            cr_expect(!v->block(&c, x, CASCADE_CHUNK, hi, lo), "%s: a tie at %zu", v->name, i);
            x[i] = x[i + 1] = 0;
        }
    }
}

/* Each addition to the third word loses nearly half an ulp, and always to one side. */
Test(cascade, says_all_that_may_be_lost)
{
    double x[CASCADE_MOST], hi[CASCADE_MOST], lo[CASCADE_MOST];
    for (size_t k = 0; k < cascade_variants; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            struct cascade c = {{0x1p200, 0x1.8p100, 1}, 0, 0};
            struct running exact;
            if (!cascade_variant[k].available())
                continue;
            running_zero(&exact);
            for (int i = 0; i < 3; i++)
                running_add(&exact, c.word[i]);
            for (size_t i = 0; i < CASCADE_MOST; i++) {
                x[i] = sign > 0 ? 0x1.fffffp-54 : -0x1.fffffp-55; /* ulps are half as large below */
                running_add(&exact, x[i]);
            }
            cr_assert(cascade_variant[k].block(&c, x, CASCADE_MOST, hi, lo));
            cr_expect(c.word[2] == 1 && within(&c, &exact), "%s: %a, within %a",
                      cascade_variant[k].name, c.word[2], c.error);
        }
}
