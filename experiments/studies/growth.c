#include "experiments/studies/growth.h"

#include <math.h>
#include <mpfr.h>

enum { PRECISION = 320 };

static struct figure known(const mpfr_t x)
{
    return (struct figure){true, mpfr_get_d(x, MPFR_RNDN)};
}

static bool fits(double n, double y)
{
    return isfinite(n) && isfinite(y) && n > 0 && y > 0;
}

struct sums {
    mpfr_t x, y, xx, xy, yy; /* means of the logarithms; then sums of products about them */
};

static void logarithm(mpfr_t to, double x)
{
    mpfr_set_d(to, x, MPFR_RNDN);
    mpfr_log(to, to, MPFR_RNDN);
}

/* flat: all y are the same, so that their mean is one of them. */
static void add_up(struct sums *s, const double *n, const double *y, size_t count, size_t points,
                   bool flat)
{
    mpfr_t a, b;
    mpfr_inits2(PRECISION, a, b, (mpfr_ptr)0);
    for (size_t i = 0; i < count; i++)
        if (fits(n[i], y[i])) {
            logarithm(a, n[i]);
            logarithm(b, y[i]);
            mpfr_add(s->x, s->x, a, MPFR_RNDN);
            mpfr_add(s->y, s->y, b, MPFR_RNDN);
        }
    mpfr_div_ui(s->x, s->x, points, MPFR_RNDN);
    mpfr_div_ui(s->y, s->y, points, MPFR_RNDN);
    if (flat)
        mpfr_set(s->y, b, MPFR_RNDN);
    for (size_t i = 0; i < count; i++)
        if (fits(n[i], y[i])) {
            logarithm(a, n[i]);
            logarithm(b, y[i]);
            mpfr_sub(a, a, s->x, MPFR_RNDN);
            mpfr_sub(b, b, s->y, MPFR_RNDN);
            mpfr_fma(s->xx, a, a, s->xx, MPFR_RNDN);
            mpfr_fma(s->xy, a, b, s->xy, MPFR_RNDN);
            mpfr_fma(s->yy, b, b, s->yy, MPFR_RNDN);
        }
    mpfr_clears(a, b, (mpfr_ptr)0);
}

/* Of what the line leaves: yy - xy^2 / xx, which rounding may have made a little negative. */
static void residue(mpfr_t to, const struct sums *s)
{
    mpfr_sqr(to, s->xy, MPFR_RNDN);
    mpfr_div(to, to, s->xx, MPFR_RNDN);
    mpfr_sub(to, s->yy, to, MPFR_RNDN);
    if (mpfr_sgn(to) < 0)
        mpfr_set_zero(to, 1);
}

static void draw_line(struct growth *g, const struct sums *s)
{
    mpfr_t slope, t;
    mpfr_inits2(PRECISION, slope, t, (mpfr_ptr)0);
    mpfr_div(slope, s->xy, s->xx, MPFR_RNDN);
    g->exponent = known(slope);
    mpfr_mul(t, slope, s->x, MPFR_RNDN);
    mpfr_sub(t, s->y, t, MPFR_RNDN);
    mpfr_exp(t, t, MPFR_RNDN);
    g->factor = known(t);
    residue(t, s);
    if (g->points > 2) {
        mpfr_div_ui(slope, t, g->points - 2, MPFR_RNDN);
        mpfr_div(slope, slope, s->xx, MPFR_RNDN);
        mpfr_sqrt(slope, slope, MPFR_RNDN);
        g->standard_error = known(slope);
    }
    if (g->points > 2 && mpfr_sgn(s->yy) > 0) {
        mpfr_div(t, t, s->yy, MPFR_RNDN);
        mpfr_ui_sub(t, 1, t, MPFR_RNDN);
        g->r_squared = known(t);
    }
    mpfr_clears(slope, t, (mpfr_ptr)0);
}

void growth_fit(struct growth *g, const double *n, const double *y, size_t count)
{
    struct sums s;
    double least = INFINITY, most = -INFINITY, low = INFINITY, high = -INFINITY;
    *g = (struct growth){0};
    for (size_t i = 0; i < count; i++)
        if (fits(n[i], y[i])) {
            g->points++;
            least = fmin(least, n[i]);
            most = fmax(most, n[i]);
            low = fmin(low, y[i]);
            high = fmax(high, y[i]);
        }
    g->left_out = count - g->points;
    if (!(least < most))
        return;
    mpfr_inits2(PRECISION, s.x, s.y, s.xx, s.xy, s.yy, (mpfr_ptr)0);
    mpfr_set_zero(s.x, 1);
    mpfr_set_zero(s.y, 1);
    mpfr_set_zero(s.xx, 1);
    mpfr_set_zero(s.xy, 1);
    mpfr_set_zero(s.yy, 1);
    add_up(&s, n, y, count, g->points, low == high);
    draw_line(g, &s);
    mpfr_clears(s.x, s.y, s.xx, s.xy, s.yy, (mpfr_ptr)0);
}
