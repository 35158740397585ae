/* No table is wider than 100 columns, unless it is asked for. */
#include <criterion/criterion.h>

#include <math.h>

#include "reports/text/table.h"

static struct text drawn(const char *align, int width)
{
    struct table table = {.align = align};
    struct text text = {0};
    for (int row = 0; row < 2; row++)
        for (size_t i = 0; align[i]; i++)
            table_cell(&table, "%c%0*d", (int)('a' + i), width - 1, row);
    table_draw(&text, &table);
    table_free(&table);
    cr_assert(text_string(&text));
    return text;
}

Test(table_width, leaves_out_the_last_that_may_be)
{
    struct text fits = drawn("lLrR", 23), wide = drawn("lLRrr", 23); /* 4 * 23 + 3 * 2 = 98 */
    cr_expect(strcspn(fits.data, "\n") == 98 && !strstr(fits.data, "left out"), "%s", fits.data);
    cr_expect(strcspn(wide.data, "\n") == 98, "%s", wide.data);
    cr_expect(strstr(wide.data, "columns left out (--wide has them): c0000"), "%s", wide.data);
    cr_expect(!strstr(wide.data, "  c000") && strstr(wide.data, "b000"), "%s", wide.data);
    text_free(&fits);
    text_free(&wide);
    table_set_wide(true);
    wide = drawn("lLRrr", 23);
    table_set_wide(false);
    cr_expect(strcspn(wide.data, "\n") == 123 && !strstr(wide.data, "left out"), "%s", wide.data);
    text_free(&wide);
}

/* What may not be left out does not make it wider: of long names the middle is not shown. */
Test(table_width, first_column_gives_way)
{
    struct table table = {.align = "lr"};
    struct text text = {0};
    table_cell(&table, "method");
    table_cell(&table, "%068d", 1);
    table_cell(&table, "/long/path/t\u00f6/an/object.so:function");
    table_cell(&table, "7");
    table_cell(&table, "sum/exact");
    table_cell(&table, "8");
    table_draw(&text, &table);
    cr_assert(text_string(&text));
    cr_expect(strstr(text.data, "\n/long/...an/object.so:function  ") &&
                  strstr(text.data, "\nsum/exact                       "),
              "%s", text.data);
    for (const char *at = text.data; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        cr_expect(strcspn(at, "\n") == 100 || !*at, "%s", text.data);
    }
    text_clear(&text);
    table_set_wide(true);
    table_draw(&text, &table);
    table_set_wide(false);
    cr_expect(strstr(text_string(&text), "/long/path/t\u00f6/an/object.so:function  "), "%s",
              text.data);
    table_free(&table);
    text_free(&text);
}

/* However long names are, a column of data stands beside them: all that fit, and one at least. */
Test(table_width, data_beside_long_names)
{
    static const char *const align[] = {"lR", "lLR", "lRR", "lRRRRRR"};
    for (int length = 10; length <= 300; length += 10)
        for (size_t k = 0; k < sizeof align / sizeof *align; k++) {
            struct table table = {.align = align[k]};
            struct text text = {0};
            size_t columns = strlen(align[k]);
            for (size_t i = 0; i < 2 * columns; i++)
                if (i % columns == 0)
                    table_cell(&table, "%*s", i ? length : 6, i ? "end" : "method");
                else
                    table_cell(&table, "%c%0*d", (int)('a' + i % columns), 9, i >= columns);
            table_draw(&text, &table);
            const char *head = text_string(&text), *row = strchr(head, '\n') + 1;
            cr_expect(strcspn(head, "\n") <= 100 && strcspn(row, "\n") <= 100, "%s", head);
            cr_expect(strstr(row, "end  b000000001"), "%d: %s", length, head);
            /* 60 + 3 (2 + 10) = 96 */
            cr_expect(!strstr(head, "d000000001") == (columns < 5), "%d: %s", length, head);
            cr_expect(!!strstr(head, "left out") == (columns == 7 && length > 28), "%d: %s", length,
                      head);
            table_free(&table);
            text_free(&text);
        }
}

/* Also where data are wide: names give way further. */
Test(table_width, wide_data_beside_long_names)
{
    for (int data = 50; data <= 78; data++) {
        struct table table = {.align = "lRR"};
        struct text text = {0};
        table_cell(&table, "method");
        table_cell(&table, "%*s", data, "a");
        table_cell(&table, "b");
        table_cell(&table, "%0*d", 120, 7);
        table_cell(&table, "1");
        table_cell(&table, "123456789");
        table_draw(&text, &table);
        for (const char *at = text_string(&text); at && *at; at += strcspn(at, "\n") + 1)
            cr_expect(strcspn(at, "\n") <= 100, "%d: %s", data, text.data);
        cr_expect(strstr(text.data, " a\n") && strstr(text.data, "007  ") &&
                      strstr(text.data, " 1\ncolumns left out (--wide has them): b\n"),
                  "%d: %s", data, text.data);
        table_free(&table);
        text_free(&text);
    }
}

/* Words are kept whole, and in their order. */
Test(table_width, text_is_wrapped)
{
    struct text to = {0}, line = {0};
    text_add(&line, "one two three four five six aaaaaaaaaaaaaaaaaaaaaaaa seven");
    text_wrapped(&to, &line, 13, 2);
    cr_expect_str_eq(text_string(&to),
                     "one two three\n  four five\n  six\n  aaaaaaaaaaaaaaaaaaaaaaaa\n  seven\n");
    cr_expect(line.length == 0);
    text_clear(&to);
    text_add(&line, "   one two three");
    text_wrapped(&to, &line, 13, 5);
    cr_expect_str_eq(text_string(&to), "   one two\n     three\n");
    text_free(&to);
}

/* printf tells the sign of a NaN, which means nothing. */
Test(table_width, nan_has_no_sign)
{
    struct table table = {.align = "rr"};
    struct text text = {0};
    for (int i = 0; i < 4; i++)
        table_figure(&table, "%.3g", (struct figure){true, i % 2 ? -NAN : NAN});
    table_draw(&text, &table);
    cr_expect_str_eq(text_string(&text), "nan  nan\nnan  nan\n");
    text_free(&text);
    table_free(&table);
}
