/* CSV files: which are read, which fields are numbers, and rows that are taken out. */
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "reports/csv/file.h"
#include "reports/results/summary.h"
#include "tests/support/files.h"

static enum status count_row(void *context, const struct csv_row *row, struct problem *p)
{
    (void)row, (void)p;
    ++*(size_t *)context;
    return STATUS_OK;
}

static enum status first_field(void *context, const struct csv_row *row, struct problem *p)
{
    (void)p;
    snprintf(context, 16, "%s", row->field[0]);
    return STATUS_OK;
}

Test(csv_file, blanks_are_kept, .init = make_folder, .fini = remove_folder)
{
    struct text text = {0};
    struct bytes b = {0};
    struct problem p = {0};
    char found[16] = "";
    uint64_t whole;
    columns_header(&text, summary_column, SUMMARY_COLUMNS);
    text_add(&text, " a ");
    for (size_t i = 1; i < SUMMARY_COLUMNS; i++)
        text_add(&text, ",");
    text_add(&text, "\n");
    add_string(&b, text_string(&text));
    const char *path = put_file("summary.csv", &b);
    cr_expect_eq(csv_read(path, summary_column, SUMMARY_COLUMNS, first_field, found, &whole, &p),
                 STATUS_OK, "%s", p.text);
    cr_expect_str_eq(found, " a ");
    text_free(&text);
    clear_bytes(&b);
}

static enum status all_fields(void *context, const struct csv_row *row, struct problem *p)
{
    (void)p;
    for (size_t i = 0; i < row->fields; i++) {
        text_add(context, row->field[i]);
        text_add(context, "|");
    }
    text_format(context, "%zu %zu\n", row->fields, row->line);
    return STATUS_OK;
}

/* The fields of rows, with one of them in quotes or none. */
static void read_fields(struct text *found, const char *const *rows, size_t count, bool quoted)
{
    struct text text = {0};
    struct bytes b = {0};
    struct problem p = {0};
    uint64_t whole;
    columns_header(&text, summary_column, SUMMARY_COLUMNS);
    for (size_t k = 0; k < count; k++) {
        size_t first = strcspn(rows[k], ",");
        text_format(&text, quoted ? "\"%.*s\"%s" : "%.*s%s", (int)first, rows[k], rows[k] + first);
        size_t commas = 0;
        for (const char *at = rows[k]; *at; at++)
            commas += *at == ',';
        for (; commas < SUMMARY_COLUMNS - 1; commas++)
            text_add(&text, ",");
        text_add(&text, "\n");
    }
    text_add(&text, "a torn one,");
    add_string(&b, text_string(&text));
    const char *path = put_file("summary.csv", &b);
    cr_expect_eq(csv_read(path, summary_column, SUMMARY_COLUMNS, all_fields, found, &whole, &p),
                 STATUS_OK, "%s", p.text);
    cr_expect_eq(whole, text.length - strlen("a torn one,"));
    text_free(&text);
    clear_bytes(&b);
}

/* Rows without quotes are read in another way than those with. */
Test(csv_file, rows_without_quotes_have_the_fields_of_those_with, .init = make_folder,
     .fini = remove_folder)
{
    static const char *const rows[] = {"a,b,c", ",,", " , x ,;", "1,,2,,,3", "a,\x80\t,"};
    struct text plain = {0}, quoted = {0};
    read_fields(&plain, rows, sizeof rows / sizeof *rows, false);
    read_fields(&quoted, rows, sizeof rows / sizeof *rows, true);
    cr_expect_str_eq(text_string(&plain), text_string(&quoted));
    cr_expect(strstr(text_string(&plain), "a|b|c|||") && strstr(text_string(&plain), " | x |;|"));
    text_free(&plain);
    text_free(&quoted);
}

static void expect_refused(const char *bytes, const char *said)
{
    struct bytes b = {0};
    struct problem p = {0};
    size_t rows = 0;
    uint64_t whole;
    add_string(&b, bytes);
    const char *path = put_file("summary.csv", &b);
    cr_expect_eq(csv_read(path, summary_column, SUMMARY_COLUMNS, count_row, &rows, &whole, &p),
                 STATUS_DATA, "'%s' was taken", bytes);
    cr_expect(strstr(p.text, "summary.csv") && strstr(p.text, said), "'%s': %s", bytes, p.text);
    clear_bytes(&b);
}

Test(csv_file, what_is_no_such_file_is_refused, .init = make_folder, .fini = remove_folder)
{
    struct text good = {0}, bad = {0};
    columns_header(&good, summary_column, SUMMARY_COLUMNS);
    expect_refused("\n1,2\n", "column 1");
    expect_refused("experiment,case_id\n", "column 3: found '', expected 'method'");
    text_join(&bad, &good);
    bad.length--;
    text_add(&bad, ",more\n");
    expect_refused(text_string(&bad), "fields");
    const char *const rows[] = {"a,b\n", "a\"b\n", "\"a\"b\n", "\x80\n"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        text_clear(&bad);
        text_join(&bad, &good);
        text_add(&bad, rows[i]);
        expect_refused(text_string(&bad), "line 2");
    }
    text_clear(&bad);
    text_join(&bad, &good);
    for (size_t i = 0; i <= SUMMARY_COLUMNS; i++)
        text_add(&bad, i < SUMMARY_COLUMNS ? "," : "\n"); /* a field too many */
    expect_refused(text_string(&bad), "line 2");
    text_clear(&bad);
    text_join(&bad, &good);
    text_add(&bad, "\"a,b\n"); /* more than the torn end of one row */
    for (size_t i = 1; i <= SUMMARY_COLUMNS; i++)
        text_add(&bad, i < SUMMARY_COLUMNS ? "," : "\n");
    expect_refused(text_string(&bad), "line 2: found a quote that nothing closes");
    text_free(&good);
    text_free(&bad);
    struct problem p = {0};
    uint64_t whole;
    cr_expect_eq(
        csv_read("/dev/zero", summary_column, SUMMARY_COLUMNS, count_row, NULL, &whole, &p),
        STATUS_DATA, "a device is no file");
    cr_expect_eq(
        csv_read(in_folder("none"), summary_column, SUMMARY_COLUMNS, count_row, NULL, &whole, &p),
        STATUS_DATA);
}

Test(csv_file, fields_that_are_no_numbers)
{
    const char *const figures[] = {"x", "1x", " 1", "1 ", "+1", "1,5", "--1"};
    const char *const wholes[] = {"", "x", "1.5", "-1", " 1", "0x", "0xg", "99999999999999999999"};
    const char *field[1];
    struct csv_row row = {.path = "f.csv", .line = 7, .field = field};
    struct problem p = {0};
    struct figure f;
    uint64_t u;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        field[0] = figures[i];
        cr_expect_eq(csv_figure(&row, 0, "err_abs", &f, &p), STATUS_DATA, "'%s'", figures[i]);
    }
    cr_expect(strstr(p.text, "f.csv: line 7: err_abs: found 'x'"), "%s", p.text);
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        field[0] = wholes[i];
        cr_expect_eq(csv_whole(&row, 0, "run", &u, NULL), STATUS_DATA, "'%s'", wholes[i]);
    }
    field[0] = "0xffffffffffffffff";
    cr_expect(csv_whole(&row, 0, "result_bits", &u, NULL) == STATUS_OK && u == UINT64_MAX);
    field[0] = "-inf";
    cr_expect(csv_figure(&row, 0, "min", &f, NULL) == STATUS_OK && f.value == -INFINITY);
    field[0] = "";
    cr_expect(csv_figure(&row, 0, "min", &f, NULL) == STATUS_OK && !f.known);
}

Test(csv_file, rows_are_taken_out, .init = make_folder, .fini = remove_folder)
{
    const char *path = in_folder("results.csv");
    struct bytes b = {0};
    struct problem p = {0};
    add_string(&b, "head\nrow 1\nrow 2\nrow 3\nrow 4\ntor");
    put_file("results.csv", &b);
    uint64_t whole = b.size - 3;
    const struct csv_range drop[] = {{11, 17}, {23, 29}};
    cr_assert_eq(csv_drop(path, &whole, drop, 2, &p), STATUS_OK, "%s", p.text);
    struct bytes left = get_file(path);
    cr_expect(whole == 17 && left.size == 17 && memcmp(left.data, "head\nrow 1\nrow 3\n", 17) == 0);
    cr_expect_neq(access(in_folder("results.csv.part"), F_OK), 0, "a temporary file remains");
    clear_bytes(&b);
    clear_bytes(&left);
}

/* A field that a reader might trim, or take for several, is quoted; no other is. */
Test(csv_file, which_fields_are_quoted)
{
    static const struct {
        const char *is, *due;
    } field[] = {{"", ""},           {"a b", "a b"},        {" a", "\" a\""},
                 {"a ", "\"a \""},   {"\ta", "\"\ta\""},    {"a\t", "\"a\t\""},
                 {" ", "\" \""},     {"a,b", "\"a,b\""},    {"a\nb", "\"a\nb\""},
                 {"a\r", "\"a\r\""}, {"a\"b", "\"a\"\"b\""}};
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        struct text text = {0};
        text_field(&text, field[i].is);
        cr_expect_str_eq(text_string(&text), field[i].due);
        text_free(&text);
    }
}

/* A disk that is full amid a quoted field, behind a line break in it: whole rows alone are kept. */
Test(csv_file, rows_that_did_not_fit_are_cut_off, .init = make_folder, .fini = remove_folder)
{
    static const char fits[] = "a,\"one\ntwo\"\n", cut[] = "b,\"three\nfo", rest[] = "ur\"\n";
    struct csv_file f;
    struct problem p = {0};
    const char *path = in_folder("summary.csv");
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(csv_file_open(&f, path, 0, summary_column, SUMMARY_COLUMNS, &p), STATUS_OK, "%s",
                 p.text);
    uint64_t due = f.whole + strlen(fits);
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = due + strlen(cut);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    text_format(&f.pending, "%s%s%s", fits, cut, rest);
    cr_expect_eq(csv_file_flush(&f, &p), STATUS_DATA);
    cr_expect(strstr(p.text, "the rows before are kept"), "%s", p.text);
    cr_expect(f.whole == due && f.fd < 0, "%llu", (unsigned long long)f.whole);
    csv_file_close(&f, NULL);
    struct bytes left = get_file(path);
    cr_expect_eq(left.size, due, "%zu", left.size);
    clear_bytes(&left);
}

/* A text for which memory was short says so wherever it is put. */
Test(csv_file, a_failed_text_fails_what_it_joins)
{
    struct text whole = {0};
    const struct text failed = {.failed = true};
    text_add(&whole, "a");
    text_join(&whole, &failed);
    cr_expect_null(text_string(&whole));
    text_free(&whole);
}
