#include "experiments/inputs/family.h"

#include <math.h>

enum status fill_elements(const struct fill *f, double (*element)(const struct fill *, size_t),
                          struct problem *p)
{
    double block[ARRAY_BLOCK];
    for (size_t begin = 0; begin < f->to.n; begin += ARRAY_BLOCK) {
        size_t count = f->to.n - begin < ARRAY_BLOCK ? f->to.n - begin : ARRAY_BLOCK;
        double most = 0;
        for (size_t i = 0; i < count; i++) {
            block[i] = element(f, begin + i);
            most = fabs(block[i]) > most ? fabs(block[i]) : most;
        }
        if (!isfinite(format_round(f->to.format, most)))
            return problem(p, STATUS_USAGE,
                           "input %s: an element of %g is beyond the largest %s, %g; choose "
                           "smaller parameters",
                           f->family->name, most, f->facts->name, f->facts->largest);
        array_encode(&f->to, begin, count, block);
    }
    return STATUS_OK;
}

size_t fill_place(const struct fill *f, size_t k, size_t specials)
{
    unsigned __int128 n = f->to.n;
    size_t begin = (size_t)(n * k / specials), end = (size_t)(n * (k + 1) / specials);
    return begin + random_below(random_draw(f->seed, RANDOM_PLACING, k).word[0], end - begin);
}

enum status fill_check_gap(const struct fill *f, double gap, struct problem *p)
{
    int most = f->facts->emax - f->facts->precision;
    if (gap <= most)
        return STATUS_OK;
    return problem(p, STATUS_USAGE, "input %s: gap=%g is beyond the range of %s: at most %d",
                   f->family->name, gap, f->facts->name, most);
}

/* Sums in fp64 may have been rounded down to the largest number; in narrower formats they are
 * exact where they are close. */
bool sum_fits(double sum_abs, enum format storage)
{
    double largest = format_facts[storage].largest;
    return storage == FP64 ? sum_abs < largest : sum_abs <= largest;
}

double random_sum(size_t n, double mean, double most)
{
    double usual = (double)n * mean + most * sqrt(44.4 * (double)n), worst = (double)n * most;
    return 1.01 * (usual < worst ? usual : worst);
}
