/* Columns of CSV and TSV. */
#include "tests/support/files.h"

TestSuite(csv, .init = make_folder, .fini = remove_folder);

static const char *put_text(const char *name, const char *text)
{
    struct bytes b = {0};
    add_string(&b, text);
    const char *path = put_file(name, &b);
    clear_bytes(&b);
    return path;
}

/* text and column: the numbers, or what is said. */
static const struct {
    const char *text, *column;
    size_t n;
    double value[4];
} good[] = {
    {"a,b\n1,2\n3,4\n", ":b", 2, {2, 4}},
    {"a,b\n1,2\n3,4\n", ":1", 2, {1, 3}},
    {"a,b\n1,2\n3,4\n", "#a", 2, {1, 3}},
    {"a,b\r\n1,2\r\n3,4", ":b", 2, {2, 4}},
    {"1,2\n3,4\n", ":2", 2, {2, 4}},
    {"x\n1\n2\n", "", 2, {1, 2}},
    {"1\n2\n", "", 2, {1, 2}},
    {"# words\n\n1\n  \n# more\n2\n", "", 2, {1, 2}},
    {"\xef\xbb\xbf"
     "a,b\n1,2\n",
     ":a",
     1,
     {1}},
    {"\"a \"\"b\"\", c\",d\n\"1\",2\n", ":a \"b\", c", 1, {1}},
    {"d,w\n1,\"two\n# lines\n\n, of text\"\n2,\n", ":d", 2, {1, 2}},
    {"w,d\n\"x\ny\", 0x1p-3 \n,1e3\n", ":d", 2, {0.125, 1000}},
    {"2,x\n5,6\n", ":2", 1, {5}},
    {"a:b,c\n1,2\n", ":a:b", 1, {1}},
    {"time,v\n2020-01-01,0.1\n", ":v", 1, {0.1}},
};

Test(csv, columns)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char part[400];
        snprintf(part, sizeof part, "%s%s", put_text("x.csv", good[i].text), good[i].column);
        struct data_set set = expect_data(part, FORMATS, false, good[i].text);
        cr_expect(set.item[0].array.n == good[i].n, "%zu: %zu", i, set.item[0].array.n);
        for (size_t k = 0; k < good[i].n && k < set.item[0].array.n; k++)
            cr_expect(array_get(&set.item[0].array, k) == good[i].value[k], "%zu: %zu is %g", i, k,
                      array_get(&set.item[0].array, k));
        data_free(&set);
    }
    char part[400];
    snprintf(part, sizeof part, "%s:b, c", put_text("x.tsv", "a\tb, c\n1\t2\n3\t4\n"));
    struct data_set set = expect_data(part, FP16, false, "tsv");
    cr_expect(set.item[0].array.n == 2 && array_get(&set.item[0].array, 1) == 4);
    cr_expect_str_eq(set.item[0].name, "x.tsv:b, c");
    data_free(&set);
}

Test(csv, refused)
{
    static const struct {
        const char *text, *column, *said;
        enum status status;
    } bad[] = {
        {"a,b\n1,2\n", "", "one of a, b, or a number from 1 to 2", STATUS_USAGE},
        {"a,b\n1,2\n", ":c", "no column 'c'", STATUS_USAGE},
        {"a,b\n1,2\n", ":3", "no column '3'", STATUS_USAGE},
        {"a,b\n1,2\n", ":0", "no column '0'", STATUS_USAGE},
        {"a,b\n1,2\n", ":18446744073709551617", "no column", STATUS_USAGE},
        {"1,2\n3,4\n", "", "without a header", STATUS_USAGE},
        {"a,a\n1,2\n", ":a", "2 columns 'a'", STATUS_USAGE},
        {"a,b\n1,2\n3\n", ":a", "line 3: found 1 fields, expected 2", STATUS_DATA},
        {"a,b\n1,2\n3,4,5\n", ":a", "line 3: found 3 fields", STATUS_DATA},
        {"a,b\n1,\n", ":b", "line 2: column 2: found ''", STATUS_DATA},
        {"a,b\n1,NA\n", ":b", "found 'NA'", STATUS_DATA},
        {"a,b\n1,2 3\n", ":b", "found '2 3'", STATUS_DATA},
        {"a,b\n1,\"2\n", ":a", "does not end", STATUS_DATA},
        {"a,b\n1,\"2\"x\n", ":a", "malformed", STATUS_DATA},
        {"a,b\n", ":a", "found no number", STATUS_DATA},
        {"# a\n", "", "found no number", STATUS_DATA},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char part[400];
        snprintf(part, sizeof part, "%s%s", put_text("x.csv", bad[i].text), bad[i].column);
        expect_problem(part, FORMATS, bad[i].status, bad[i].said, bad[i].text);
    }
    struct bytes b = {0};
    add_string(&b, "a,b\n1,\"");
    size_t begin = b.size;
    for (size_t i = 0; i < (17 << 20) / 16; i++)
        add_string(&b, "0123456789abcdef");
    cr_assert(b.size > begin);
    char part[400];
    snprintf(part, sizeof part, "%s:a", put_file("x.csv", &b));
    expect_problem(part, FORMATS, STATUS_DATA, "more than 16777216 bytes", "a quote for ever");
    clear_bytes(&b);
}

static size_t total;
static double last;

static enum status take(void *context, const struct array *block, size_t done, size_t of,
                        struct problem *p)
{
    (void)context, (void)p;
    cr_expect(done <= of && block->n <= 1 << 18);
    for (size_t i = 0; i < block->n; i++)
        cr_assert(array_get(block, i) == (double)total + 0.5 && ++total);
    last = array_get(block, block->n - 1);
    return STATUS_OK;
}

static enum status end(void *context, const struct data *about, struct problem *p)
{
    (void)context, (void)p;
    cr_expect(about->array.n == total && strcmp(about->name, "x.csv:v") == 0);
    return STATUS_OK;
}

/* More than a chunk and a block, in whose middle lines and quoted fields lie; also in a stream. */
Test(csv, long_files)
{
    enum { ROWS = 300000 };
    struct bytes b = {0};
    char line[64], part[400];
    add_string(&b, "w,v\n");
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(line, sizeof line, "\"w\n# %zu, \",%zu.5\n", i, i);
        add_string(&b, line);
    }
    snprintf(part, sizeof part, "%s:v", put_file("x.csv", &b));
    struct data_set set = expect_data(part, FORMATS, false, "long");
    cr_assert(set.item[0].array.n == ROWS);
    for (size_t i = 0; i < ROWS; i++)
        cr_assert(array_get(&set.item[0].array, i) == (double)i + 0.5);
    data_free(&set);
    const struct data_stream stream = {.take = take, .end = end};
    struct problem p = {0};
    struct data_options options = {.storage = FORMATS, .stream = &stream};
    cr_expect(data_read(&set, part, &options, &p) == STATUS_OK, "%s", p.text);
    cr_expect(total == ROWS && last == ROWS - 0.5);
    clear_bytes(&b);
}
