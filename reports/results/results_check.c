/* What a row of results.csv says in several ways is one thing. */
#include <stdio.h>
#include <stdlib.h>

#include "reference/format/number.h"
#include "reports/results/results.h"

enum { HASH_TEXT = 2 + 32 };

static enum status differs(const struct csv_row *row, enum results_column column,
                           const char *expected, enum results_column from, struct problem *p)
{
    return problem(p, STATUS_DATA,
                   "%s: line %zu: %s: found '%s', expected '%s', as %s says: edited", row->path,
                   row->line, results_column(column)->name, row->field[column], expected,
                   results_column(from)->name);
}

static enum status hold(const struct csv_row *row, enum results_column column, const char *due,
                        enum results_column from, struct problem *p)
{
    return strcmp(row->field[column], due) == 0 ? STATUS_OK : differs(row, column, due, from, p);
}

/* The value behind an encoding, whose width tells the format where the accumulator's is another. */
static enum status check_bits(const struct csv_row *row, struct problem *p)
{
    const char *bits = row->field[RESULTS_RESULT_BITS];
    enum format f = format_named(row->field[RESULTS_METHOD + CASE_ACCUMULATOR - CASE_METHOD]);
    char due[NUMBER_TEXT], *end;
    if (strlen(bits) == HASH_TEXT || f >= FORMATS ||
        strlen(bits) != 2 + 2 * (size_t)format_facts[f].bytes)
        return STATUS_OK;
    double value = format_decode(f, strtoull(bits, &end, 16));
    number_decimal(due, value);
    enum status status = hold(row, RESULTS_RESULT, due, RESULTS_RESULT_BITS, p);
    number_hex(due, value);
    return status == STATUS_OK ? hold(row, RESULTS_RESULT_HEX, due, RESULTS_RESULT_BITS, p)
                               : status;
}

/* Of arrays, whose bits are a hash, the two texts of the last output. */
static enum status check_texts(const struct csv_row *row, struct problem *p)
{
    char due[NUMBER_TEXT];
    if (!*row->field[RESULTS_RESULT_HEX])
        return hold(row, RESULTS_RESULT, "", RESULTS_RESULT_HEX, p);
    number_decimal(due, strtod(row->field[RESULTS_RESULT_HEX], NULL));
    return hold(row, RESULTS_RESULT, due, RESULTS_RESULT_HEX, p);
}

static enum status check_exact(const struct csv_row *row, struct problem *p)
{
    const char *hex = row->field[RESULTS_EXACT_HEX];
    char due[NUMBER_TEXT] = "";
    mpfr_t exact;
    mpfr_init2(exact, 4 * (mpfr_prec_t)strlen(hex) + 64);
    if (*hex && mpfr_set_str(exact, hex, 0, MPFR_RNDN) == 0)
        number_decimal_mpfr(due, exact);
    mpfr_clear(exact);
    return hold(row, RESULTS_EXACT, due, RESULTS_EXACT_HEX, p);
}

enum status results_check(const struct csv_row *row, struct problem *p)
{
    enum status status = check_bits(row, p);
    if (status == STATUS_OK)
        status = check_texts(row, p);
    return status == STATUS_OK ? check_exact(row, p) : status;
}
