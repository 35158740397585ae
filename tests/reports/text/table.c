/* No table is wider than 100 columns, unless it is asked for. */
#include <criterion/criterion.h>

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

/* What may not be left out does not make it wider: of long names the end is shown. */
Test(table_width, first_column_gives_way)
{
    struct table table = {.align = "lr"};
    struct text text = {0};
    table_cell(&table, "method");
    table_cell(&table, "%068d", 1);
    table_cell(&table, "\u00e4/long/path/to/an/object.so:function");
    table_cell(&table, "7");
    table_cell(&table, "sum/exact");
    table_cell(&table, "8");
    table_draw(&text, &table);
    cr_assert(text_string(&text));
    cr_expect(strstr(text.data, "\n...th/to/an/object.so:function  ") &&
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
    cr_expect(strstr(text_string(&text), "\u00e4/long/path/to/an/object.so:function  "), "%s",
              text.data);
    table_free(&table);
    text_free(&text);
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
