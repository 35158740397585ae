#include "reports/results/results.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/format/number.h"
#include "reports/results/errors.h"

enum { SCAN_FACTS = RESULTS_SCAN_COLUMNS - RESULTS_ERR_ULP_RMS, HASH_DIGITS = 32 };

enum status results_open(struct results *r, const char *path, uint64_t keep, enum columns_of of,
                         struct problem *p)
{
    *r = (struct results){.of = of};
    return csv_file_open(&r->file, path, keep, results_column_of(of), results_columns(of), p);
}

enum status results_close(struct results *r, struct problem *p)
{
    text_free(&r->head);
    text_free(&r->middle);
    text_free(&r->tail);
    return csv_file_close(&r->file, p);
}

void results_case_behind(struct text *t, enum columns_of of, const char *const *text)
{
    size_t begin, end;
    columns_case_behind(of, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        text_add(t, ",");
        text_field(t, text[i]);
    }
}

void results_case_added(struct text *t, const char *const *text)
{
    for (size_t i = CASE_ADDED_IN; i <= CASE_RESULT_FORMAT; i++) {
        text_add(t, ",");
        text_field(t, text[i]);
    }
}

void results_case(struct results *r, const char *const *text)
{
    text_clear(&r->head);
    text_clear(&r->middle);
    text_clear(&r->tail);
    for (size_t i = 0; i < CASE_COLUMNS; i++) {
        struct text *part = i < CASE_METHOD ? &r->head : &r->middle;
        text_field(part, text[i]);
        text_add(part, ",");
    }
    results_case_added(&r->tail, text);
    results_case_behind(&r->tail, r->of, text);
}

void results_value(struct text *t, enum format accumulator, double value)
{
    char digits[NUMBER_TEXT];
    number_decimal(digits, value);
    text_add(t, digits);
    text_add(t, ",");
    number_hex(digits, value);
    text_add(t, digits);
    text_add(t, ",");
    number_bits(digits, accumulator, value);
    text_add(t, digits);
    text_add(t, ",");
}

void results_hash(struct text *t, struct figure last, struct hash128 hash)
{
    char digits[NUMBER_TEXT];
    text_figure(t, last);
    text_add(t, ",");
    if (last.known) {
        number_hex(digits, last.value);
        text_add(t, digits);
    }
    text_format(t, ",0x%016" PRIx64 "%016" PRIx64 ",", hash.word[0], hash.word[1]);
}

void results_exact(struct text *t, const char *decimal, const char *hex)
{
    text_add(t, decimal);
    text_add(t, ",");
    text_add(t, hex);
    text_add(t, ",");
}

void results_errors(struct text *t, const struct measure *m)
{
    const struct figure figure[] = {m->err_abs,      m->err_rel, m->err_ulp,
                                    m->err_backward, m->bound,   m->err_over_bound};
    for (size_t i = 0; i < sizeof figure / sizeof *figure; i++) {
        text_figure(t, figure[i]);
        text_add(t, ",");
    }
}

/* The facts in the order of their columns. */
static void facts_of(struct scan_facts *s, struct figure *figure[SCAN_FACTS])
{
    struct figure *const in_order[SCAN_FACTS] = {
        &s->err_ulp_rms,   &s->worst_index,       &s->differing,
        &s->mean_rel_diff, &s->first_diff,        &s->decreases,
        &s->run_differing, &s->run_mean_rel_diff, &s->run_first_diff};
    memcpy(figure, in_order, sizeof in_order);
}

void results_scan(struct text *t, const struct scan_facts *s)
{
    struct scan_facts copy = *s;
    struct figure *figure[SCAN_FACTS];
    facts_of(&copy, figure);
    for (size_t i = 0; i < SCAN_FACTS; i++) {
        text_add(t, i ? "," : "");
        text_figure(t, *figure[i]);
    }
}

/* Behind the case's columns. */
static void append_scan(struct text *t, const struct text *scan)
{
    text_append(t, ",", 1);
    if (scan)
        text_join(t, scan);
    else
        text_append(t, ",,,,,,,,", SCAN_FACTS - 1);
}

void results_append(struct results *r, const struct results_row *row)
{
    struct text *t = &r->file.pending;
    text_join(t, &r->head);
    text_unsigned(t, row->run);
    text_append(t, ",", 1);
    text_join(t, &r->middle);
    if (row->value)
        text_join(t, row->value);
    else
        text_append(t, ",,,", 3);
    if (row->exact)
        text_join(t, row->exact);
    else
        text_append(t, ",,", 2);
    if (row->errors)
        text_join(t, row->errors);
    else
        text_append(t, ",,,,,,", 6);
    if (row->timed)
        text_unsigned(t, row->time_ns);
    text_append(t, ",", 1);
    text_add(t, outcome_name[row->outcome]);
    text_join(t, &r->tail);
    if (columns_of_arrays(r->of))
        append_scan(t, row->scan);
    text_append(t, "\n", 1);
}

enum status results_parse_hash(struct hash128 *hash, const struct csv_row *row, struct problem *p)
{
    const char *text = row->field[RESULTS_RESULT_BITS];
    char end;
    if (strlen(text) == 2 + HASH_DIGITS && strspn(text + 2, "0123456789abcdef") == HASH_DIGITS &&
        sscanf(text, "0x%16" SCNx64 "%16" SCNx64 "%c", &hash->word[0], &hash->word[1], &end) == 2)
        return STATUS_OK;
    return problem(p, STATUS_DATA,
                   "%s: line %zu: result_bits: found '%s', expected 0x and %d hexadecimal digits",
                   row->path, row->line, text, HASH_DIGITS);
}

enum status results_parse_bits(struct hash128 *bits, const struct csv_row *row, struct problem *p)
{
    const char *text = row->field[RESULTS_RESULT_BITS];
    size_t digits = strncmp(text, "0x", 2) == 0 ? strlen(text + 2) : 0;
    if (digits == 0 || digits > 32 || strspn(text + 2, "0123456789abcdefABCDEF") != digits)
        return problem(p, STATUS_DATA,
                       "%s: line %zu: result_bits: found '%s', expected 0x and hexadecimal digits",
                       row->path, row->line, text);
    *bits = (struct hash128){{0, 0}};
    for (const char *c = text + 2; *c; c++) {
        uint64_t digit = (uint64_t)(*c <= '9' ? *c - '0' : (*c | 0x20) - 'a' + 10);
        bits->word[0] = bits->word[0] << 4 | bits->word[1] >> 60;
        bits->word[1] = bits->word[1] << 4 | digit;
    }
    return STATUS_OK;
}

enum status results_parse_scan(struct scan_facts *s, const struct csv_row *row, enum columns_of of,
                               struct problem *p)
{
    struct figure *figure[SCAN_FACTS];
    enum status status = STATUS_OK;
    facts_of(s, figure);
    for (size_t i = 0; status == STATUS_OK && i < SCAN_FACTS; i++)
        status = csv_figure(row, results_facts(of) + i,
                            results_column(RESULTS_ERR_ULP_RMS + i)->name, figure[i], p);
    return status;
}

/* --- What a row of results.csv says in several ways is one thing --- */

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
    if (status == STATUS_OK)
        status = check_exact(row, p);
    return status == STATUS_OK ? errors_check(row, p) : status;
}

enum status results_check_status(const struct csv_row *row, struct problem *p)
{
    const char *text = row->field[RESULTS_STATUS];
    const bool result = *row->field[RESULTS_RESULT_BITS];
    for (enum outcome o = 0; o < OUTCOMES; o++)
        if (strcmp(text, outcome_name[o]) == 0 && result == (o < OUTCOME_UNSUPPORTED))
            return STATUS_OK;
    return problem(p, STATUS_DATA, "%s: line %zu: status: found '%s', expected %s: edited",
                   row->path, row->line, text,
                   result ? "ok, overflow or nan, as there is a result"
                          : "unsupported or error, as there is no result");
}
