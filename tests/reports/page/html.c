/* HTML: what means something to it is escaped, and what is no text becomes U+FFFD. */
#include <criterion/criterion.h>

#include "reports/page/html.h"

#define NONE "\xef\xbf\xbd"

Test(html, text_is_escaped)
{
    static const struct {
        const char *text, *due;
    } row[] = {
        {"", ""},
        {"a & b < c > d", "a &amp; b &lt; c &gt; d"},
        {"\"'`", "&quot;&#39;`"},
        {"&lt;", "&amp;lt;"},
        {"x\ty\nz", "x\ty\nz"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\x01\x1b[0m\x7f", NONE NONE "[0m" NONE},
        {"\xc2\x85", NONE NONE},                   /* a control character of C1 */
        {"\xff\xfe\x80", NONE NONE NONE},          /* no UTF-8 */
        {"\xc0\xaf", NONE NONE},                   /* overlong */
        {"\xe0\x80\xaf", NONE NONE NONE},          /* overlong */
        {"\xed\xa0\x80", NONE NONE NONE},          /* a surrogate */
        {"\xf4\x90\x80\x80", NONE NONE NONE NONE}, /* beyond the last character */
        {"\xe2\x82", NONE NONE},                   /* cut off */
        {"\xe2\x82<", NONE NONE "&lt;"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct text t = {0};
        html_text(&t, row[i].text);
        html_format(&t, "%s", row[i].text);
        size_t length = strlen(row[i].due);
        cr_expect(t.length == 2 * length && memcmp(text_string(&t), row[i].due, length) == 0 &&
                      memcmp(t.data + length, row[i].due, length) == 0,
                  "%zu: found '%s', expected '%s' twice", i, text_string(&t), row[i].due);
        text_free(&t);
    }
}

Test(html, table)
{
    struct text t = {0};
    struct html_table table;
    html_table_begin(&table, &t, "lr");
    for (int i = 0; i < 4; i++)
        html_cell(&table, "<%d>", i);
    html_table_end(&table);
    cr_expect_str_eq(text_string(&t),
                     "<div class=\"wide\" tabindex=\"0\"><table>\n"
                     "<thead><tr><th>&lt;0&gt;</th><th class=\"r\">&lt;1&gt;</th></tr>\n"
                     "</thead><tbody>\n<tr><td>&lt;2&gt;</td><td class=\"r\">&lt;3&gt;</td></tr>\n"
                     "</tbody></table></div>\n");
    text_free(&t);
}

/* The last surrogate is no character; what follows it is. */
Test(html, the_last_surrogate)
{
    struct text text = {0};
    html_text(&text, "\xed\xbf\xbf|\xee\x80\x80");
    cr_expect_str_eq(text_string(&text), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xee\x80\x80");
    text_free(&text);
}

/* No line ends behind the hyphen of an exponent; names with one, and a full stop, are as they were.
 */
Test(html, numbers_are_whole)
{
    static const char *const is[][2] = {
        {"<li>an error of 3.3e-08.</li>", "<li>an error of <span class=\"o\">3.3e-08</span>.</li>"},
        {"1e-7 and 2e-07", "<span class=\"o\">1e-7</span> and <span class=\"o\">2e-07</span>"},
        {"the-1 e-1 1e- 3e", "the-1 e-1 1e- 3e"},
        {"", ""}};
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        struct text told = {0};
        html_whole_numbers(&told, is[i][0], strlen(is[i][0]));
        cr_expect_str_eq(text_string(&told), is[i][1]);
        text_free(&told);
    }
}
