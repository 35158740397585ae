#include "reports/results/errors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/exact/mpfr.h"
#include "reference/format/number.h"
#include "reference/measure/measure.h"

enum { HASH_TEXT = 2 + 32 };

/* An exact value whose bits go on is shown cut, towards zero: it lies from exact[0] to exact[1]. */
struct due {
    mpfr_t exact[2];
    double result;
    enum format f;
    struct measure at[2]; /* with either as the exact value */
};

static void measure_with(struct due *d, size_t end)
{
    struct reference r = {.of = EXACT_SUM};
    mpfr_inits2(mpfr_get_prec(d->exact[end]), r.sum, r.sum_abs, (mpfr_ptr)0);
    mpfr_set(r.sum, d->exact[end], MPFR_RNDN);
    mpfr_set_ui(r.sum_abs, 0, MPFR_RNDN);
    measure(&d->at[end], &r, d->f, d->f, d->result, &(struct theorem){.kind = THEOREM_NONE});
    mpfr_clears(r.sum, r.sum_abs, (mpfr_ptr)0);
}

/* As if it was not cut. */
static bool due_make(struct due *d, const struct csv_row *row)
{
    const char *hex = row->field[RESULTS_EXACT_HEX];
    const mpfr_prec_t digits = 4 * (mpfr_prec_t)strlen(hex) + REFERENCE_HEX_DIGITS;
    *d = (struct due){
        .result = strtod(row->field[RESULTS_RESULT_HEX], NULL),
        .f = format_named(row->field[RESULTS_METHOD + CASE_ACCUMULATOR - CASE_METHOD])};
    mpfr_inits2(digits, d->exact[0], d->exact[1], (mpfr_ptr)0);
    if (d->f >= FORMATS || mpfr_set_str(d->exact[0], hex, 0, MPFR_RNDN) != 0)
        return false;
    mpfr_set(d->exact[1], d->exact[0], MPFR_RNDN);
    measure_with(d, 0);
    d->at[1] = d->at[0];
    return true;
}

static void due_widen(struct due *d)
{
    mpfr_prec_round(d->exact[1], REFERENCE_HEX_DIGITS, MPFR_RNDZ);
    if (mpfr_sgn(d->exact[1]) < 0)
        mpfr_nextbelow(d->exact[1]);
    else
        mpfr_nextabove(d->exact[1]);
    measure_with(d, 1);
}

static enum status contradicts(const struct csv_row *row, enum results_column column,
                               const char *expected, const char *from, struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: line %zu: %s: found '%s', expected '%s', as %s say: edited",
                   row->path, row->line, results_column(column)->name, row->field[column], expected,
                   from);
}

/* Is it from one to the other, or a NaN as both are? */
static bool between(double x, double one, double other)
{
    return (isnan(x) && isnan(one)) || (x >= fmin(one, other) && x <= fmax(one, other));
}

static enum status hold(const struct csv_row *row, enum results_column column, struct figure one,
                        struct figure other, struct problem *p)
{
    struct figure found;
    char due[NUMBER_TEXT] = "";
    enum status status = csv_figure(row, column, results_column(column)->name, &found, p);
    if (status != STATUS_OK ||
        (found.known == one.known && (!one.known || between(found.value, one.value, other.value))))
        return status;
    if (one.known)
        number_decimal(due, one.value);
    return contradicts(row, column, due, "result_bits and exact_hex", p);
}

/* The least or the largest |result - exact| over a bound; infinite where there is no result. */
static double share(const struct due *d, double bound, mpfr_rnd_t rounding)
{
    double of[2];
    if (!isfinite(d->result) || bound == 0)
        return INFINITY;
    for (size_t i = 0; i < 2; i++) {
        mpfr_t error;
        mpfr_init2(error, mpfr_get_prec(d->exact[i]) + 4096);
        mpfr_sub_d(error, d->exact[i], d->result, MPFR_RNDN);
        mpfr_abs(error, error, MPFR_RNDN);
        mpfr_prec_round(error, 64, rounding);
        mpfr_div_d(error, error, bound, rounding);
        of[i] = mpfr_get_d(error, rounding);
        mpfr_clear(error);
    }
    return rounding == MPFR_RNDD ? fmin(of[0], of[1]) : fmax(of[0], of[1]);
}

/* The bound was rounded up to its column; the share is of both before that. */
static enum status hold_share(const struct csv_row *row, const struct due *d, struct problem *p)
{
    struct figure bound, found;
    char words[2 * NUMBER_TEXT + 20] = "", digits[2][NUMBER_TEXT];
    enum status status = csv_figure(row, RESULTS_BOUND, "bound", &bound, p);
    if (status == STATUS_OK)
        status = csv_figure(row, RESULTS_ERR_OVER_BOUND, "err_over_bound", &found, p);
    if (status != STATUS_OK)
        return status;
    if (bound.known && !(bound.value >= 0))
        return contradicts(row, RESULTS_BOUND, "a number from 0 on", "theorems", p);
    bool none =
        !bound.known || (bound.value == 0 && d->at[0].err_abs.known && d->at[0].err_abs.value == 0);
    if (none && !found.known)
        return STATUS_OK;
    if (!none) {
        double least = share(d, bound.value, MPFR_RNDD),
               most = share(d, nextafter(bound.value, 0), MPFR_RNDU);
        if (found.known && between(found.value, least, most))
            return STATUS_OK;
        number_decimal(digits[0], least);
        number_decimal(digits[1], most);
        snprintf(words, sizeof words, "%s to %s", digits[0], digits[1]);
    }
    return contradicts(row, RESULTS_ERR_OVER_BOUND, words, "err_abs and bound", p);
}

/* Of an exact value beyond the range, older versions called every infinity the right one. */
static enum status hold_outcome(const struct csv_row *row, const struct due *d, struct problem *p)
{
    const char *due = outcome_name[d->at[0].outcome];
    if (!isfinite(round_mpfr(d->exact[0], d->f)) || strcmp(row->field[RESULTS_STATUS], due) == 0)
        return STATUS_OK;
    return contradicts(row, RESULTS_STATUS, due, "result_bits and exact_hex", p);
}

static enum status hold_all(const struct csv_row *row, const struct due *d, struct problem *p)
{
    enum status status = hold(row, RESULTS_ERR_ABS, d->at[0].err_abs, d->at[1].err_abs, p);
    if (status == STATUS_OK)
        status = hold(row, RESULTS_ERR_REL, d->at[0].err_rel, d->at[1].err_rel, p);
    if (status == STATUS_OK)
        status = hold(row, RESULTS_ERR_ULP, d->at[0].err_ulp, d->at[1].err_ulp, p);
    if (status == STATUS_OK)
        status = hold_outcome(row, d, p);
    return status == STATUS_OK ? hold_share(row, d, p) : status;
}

enum status errors_check(const struct csv_row *row, struct problem *p)
{
    struct due d;
    if (!*row->field[RESULTS_EXACT_HEX] || strlen(row->field[RESULTS_RESULT_BITS]) == HASH_TEXT)
        return STATUS_OK;
    enum status status = STATUS_OK;
    if (due_make(&d, row) && hold_all(row, &d, NULL) != STATUS_OK) {
        due_widen(&d);
        status = hold_all(row, &d, p);
    }
    mpfr_clears(d.exact[0], d.exact[1], (mpfr_ptr)0);
    return status;
}
