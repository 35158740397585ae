/* Structured dtypes: FILE.npy:FIELD. */
#include "tests/support/files.h"

TestSuite(npy_fields, .init = make_folder, .fini = remove_folder);

enum { RECORDS = 5000 };

static struct bytes npy(const char *type, const char *shape, bool fortran)
{
    struct bytes b = {0};
    char header[1024];
    int length = snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': %s, 'shape': %s}",
                          type, fortran ? "True" : "False", shape);
    add_string(&b, "\x93NUMPY\x01");
    add_number(&b, 0, 1);
    add_number(&b, (uint64_t)length, 2);
    add_string(&b, header);
    return b;
}

static void add_double(struct bytes *b, double x, bool big_endian)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    add_number(b, big_endian ? __builtin_bswap64(bits) : bits, sizeof bits);
}

static void expect_values(const char *path, size_t n, size_t rows, double (*due)(size_t i))
{
    struct data_set set = expect_data(path, FORMATS, false, path);
    const struct array *a = &set.item[0].array;
    cr_assert(a->n == n && set.count == 1, "%s: %zu elements", path, a->n);
    cr_expect(set.item[0].rows == rows, "%s: %zu rows, expected %zu", path, set.item[0].rows, rows);
    for (size_t i = 0; i < n; i++)
        cr_assert(array_get(a, i) == due(i), "%s: element %zu is %g", path, i, array_get(a, i));
    data_free(&set);
}

static double field_x(size_t i)
{
    return (double)i + 0.5;
}

static double field_y(size_t i)
{
    return -(double)i;
}

static double field_b(size_t i)
{
    return 1e6 + (double)i;
}

static double transposed(size_t i)
{
    return field_x(i % 100 * 50 + i / 100);
}

/* Padding, titles, both byte orders, arrays and records in records, what is not a number. */
Test(npy_fields, read)
{
    const char *type = "[('x', '<f8'), ('', '|V3'), (('a title', 'y'), '>f8', (2, 3)), "
                       "('in', [('a', '|S5'), ('b', '<f8')]), ('t', '<M8[ns]')]";
    struct bytes b = npy(type, "(5000,)", false);
    for (size_t i = 0; i < RECORDS; i++) {
        add_double(&b, field_x(i), false);
        add_bytes(&b, "\xff\xff\xff", 3);
        for (size_t k = 0; k < 6; k++)
            add_double(&b, field_y(6 * i + k), true);
        add_bytes(&b, "text.", 5);
        add_double(&b, field_b(i), false);
        add_number(&b, ~UINT64_C(0), 8);
    }
    const char *path = put_file("s.npy", &b);
    char part[320];
    snprintf(part, sizeof part, "%s:x", path);
    expect_values(part, RECORDS, 0, field_x);
    snprintf(part, sizeof part, "%s:y", path);
    expect_values(part, 6 * RECORDS, 2 * RECORDS, field_y);
    snprintf(part, sizeof part, "%s:in.b", path);
    expect_values(part, RECORDS, 0, field_b);
    expect_problem(path, FORMATS, STATUS_USAGE, "s.npy:FIELD, of x, y, in.a, in.b, t", "no field");
    static const char *const wrong[] = {":z", ":in", ":", ":x.y"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(part, sizeof part, "%s%s", path, wrong[i]);
        struct data_set set;
        struct problem p = {0};
        enum status status = data_read(&set, part, &(struct data_options){.storage = FORMATS}, &p);
        cr_expect(status == STATUS_USAGE && strstr(p.text, "x, y, in.a, in.b, t"), "%s", p.text);
    }
    clear_bytes(&b);
}

/* Records longer than what is read at once, and records in Fortran order. */
Test(npy_fields, long_records_and_fortran_order)
{
    char *filler = calloc(1, 300000), part[320];
    struct bytes b = npy("[('p', '|S300000'), ('x', '<f8', (3,)), ('q', '|u1')]", "(4,)", false);
    for (size_t i = 0; i < 4; i++) {
        add_bytes(&b, filler, 300000);
        for (size_t k = 0; k < 3; k++)
            add_double(&b, field_x(3 * i + k), false);
        add_number(&b, 255, 1);
    }
    snprintf(part, sizeof part, "%s:x", put_file("long.npy", &b));
    expect_values(part, 12, 4, field_x);
    clear_bytes(&b);
    free(filler);
    b = npy("[('i', '<i4'), ('x', '<f8')]", "(50, 100)", true);
    for (size_t i = 0; i < RECORDS; i++) {
        add_number(&b, ~UINT64_C(0), 4);
        add_double(&b, field_x(i), false);
    }
    snprintf(part, sizeof part, "%s:x", put_file("fortran.npy", &b));
    expect_values(part, RECORDS, 50, transposed);
    clear_bytes(&b);
}

/* Headers of version 1 and 2 are in Latin-1, those of version 3 in UTF-8: a name is typed and told
 * in UTF-8. */
Test(npy_fields, names_beyond_ascii)
{
    static const char *const name[] = {"\xb5m", "\xb5m", "\xc2\xb5m"};
    for (int version = 1; version <= 3; version++) {
        char type[64], part[320];
        struct bytes b = {0}, one;
        snprintf(type, sizeof type, "[('%s', '<f8'), ('', '|V1'), ('b', '|u1')]",
                 name[version - 1]);
        one = npy(type, "(2,)", false);
        add_string(&b, "\x93NUMPY");
        add_number(&b, (uint64_t)version, 2);
        add_number(&b, one.size - 10, version == 1 ? 2 : 4);
        add_bytes(&b, one.data + 10, one.size - 10);
        for (size_t i = 0; i < 2; i++) {
            add_double(&b, field_x(i), false);
            add_number(&b, 0, 2);
        }
        const char *path = put_file("named.npy", &b);
        snprintf(part, sizeof part, "%s:\xc2\xb5m", path);
        expect_values(part, 2, 0, field_x);
        expect_problem(path, FORMATS, STATUS_USAGE, "FIELD, of \xc2\xb5m, b", part);
        clear_bytes(&one);
        clear_bytes(&b);
    }
}

/* A single field needs no name, as a file with a single part needs none. */
Test(npy_fields, a_single_one)
{
    struct bytes b = npy("[('', '|V2'), ('r', [('x', '<f8', (2,))])]", "(3,)", false);
    for (size_t i = 0; i < 3; i++) {
        add_number(&b, ~UINT64_C(0), 2);
        add_double(&b, field_x(2 * i), false);
        add_double(&b, field_x(2 * i + 1), false);
    }
    expect_values(put_file("one.npy", &b), 6, 3, field_x);
    clear_bytes(&b);
    b = npy("[]", "(0,)", false);
    expect_problem(put_file("none.npy", &b), FORMATS, STATUS_DATA, "no fields", "no field");
    clear_bytes(&b);
}

/* Of a file whose own name has a colon all of it is the name. */
Test(npy_fields, colons_in_names)
{
    struct bytes plain = npy("'<f8'", "(1,)", false), record = npy("[('x', '<f8')]", "(1,)", false);
    add_double(&plain, 0.5, false);
    add_double(&record, 0.5, false);
    char part[320];
    put_file("a.npy", &record);
    expect_values(put_file("a.npy:x", &plain), 1, 0, field_x);
    snprintf(part, sizeof part, "%s:x", put_file("b:c.npy", &record));
    expect_values(part, 1, 0, field_x);
    clear_bytes(&plain);
    clear_bytes(&record);
}

Test(npy_fields, malformed)
{
    static const struct {
        const char *type, *shape, *said;
    } bad[] = {
        {"[('x', '<f8')", "(1,)", "a field such as"},
        {"[('x', '<f8'", "(1,)", "')'"},
        {"[('x' '<f8')]", "(1,)", "','"},
        {"[('x', '<f8', 3)]", "(1,)", "')'"},
        {"[('x', '<f8', (2,)), ('y', 'f')]", "(1,)", "known size"},
        {"[('x', '|O')]", "(1,)",
         "found dtype '|O' (pickled Python objects) in field 'x', expected types of a known size"},
        {"[3]", "(1,)", "a field such as"},
        {"[[[[[[[[[[[[", "(1,)", "a field such as"},
        {"[('a',[('a',[('a',[('a',[('a',[('a',[('a',[('a',[('a',[('a',[(", "(1,)", "at most 8"},
        {"[('x', '<f8', (4294967296, 4294967296))]", "(1,)", "2^64"},
        {"[('p', '|V9223372036854775807'), ('x', '|V9223372036854775807')]", "(1,)", "2^63"},
        {"[('p', '|V99999999999999999999999')]", "(1,)", "known size"},
        {"[('x', '<f8'), ('p', '|V4611686018427387904')]", "(4,)", "2^64"},
        {"[('x', '<f8')]", "(2,)", "expected 16 for 2 records"},
        {"[('x', '<f8', (0,))]", "(9,)", "no elements"},
        {"[('x', '<i8')]", "(1,)", "'<i8'"},
        {"[('r', [('x', '<f8')], (2,))]", "(1,)", "no field 'x', expected one of: r.x"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bytes b = npy(bad[i].type, bad[i].shape, false);
        add_double(&b, 1, false);
        char part[320];
        snprintf(part, sizeof part, "%s:x", put_file("bad.npy", &b));
        struct data_set set;
        struct problem p = {0};
        enum status status = data_read(&set, part, &(struct data_options){.storage = FORMATS}, &p);
        cr_expect(status == (strstr(p.text, "no field") ? STATUS_USAGE : STATUS_DATA) &&
                      strstr(p.text, bad[i].said),
                  "%s: %s", bad[i].type, p.text);
        clear_bytes(&b);
    }
    struct bytes b = npy("[('r', [('x', '<f8')], (2,))]", "(1,)", false);
    char part[320];
    snprintf(part, sizeof part, "%s:r.x", put_file("bad.npy", &b));
    expect_problem(part, FORMATS, STATUS_DATA, "no array of records", "records in an array");
    clear_bytes(&b);
}

/* A message that cannot name all fields says so. */
Test(npy_fields, more_than_a_message_names)
{
    enum { FIELDS = 30 };
    char type[1000] = "[", part[320];
    for (int i = 0; i < FIELDS; i++) {
        size_t used = strlen(type);
        snprintf(type + used, sizeof type - used, "('a_long_name_%d', '<f8'), ", i);
    }
    strcat(type, "]");
    struct bytes b = npy(type, "(1,)", false);
    for (int i = 0; i < FIELDS; i++)
        add_double(&b, 1, false);
    snprintf(part, sizeof part, "%s:x", put_file("many.npy", &b));
    expect_problem(part, FORMATS, STATUS_USAGE, "a_long_name_16, ...", "no such field");
    clear_bytes(&b);
}

/* Bits that are kept as unsigned integers. */
Test(npy_fields, bits_as_integers)
{
    struct bytes b = npy("'<u2'", "(2,)", false);
    add_number(&b, 0x3fc0, 2); /* 1.5 in bf16, 1.9375 in fp16 */
    add_number(&b, 0xbfc0, 2);
    const char *path = put_file("u2.npy", &b);
    struct data_set set = expect_data(path, BF16, false, path);
    cr_expect(array_get(&set.item[0].array, 0) == 1.5 && array_get(&set.item[0].array, 1) == -1.5);
    data_free(&set);
    set = expect_data(path, FP16, false, path);
    cr_expect(array_get(&set.item[0].array, 0) == 1.9375);
    data_free(&set);
    expect_problem(path, FORMATS, STATUS_USAGE, "--storage bf16 or fp16", "no storage");
    clear_bytes(&b);
}

/* A matrix keeps its rows, in either order; of other shapes all lengths but the last. */
Test(npy_fields, rows)
{
    static const struct {
        const char *shape;
        size_t rows;
    } of[] = {{"(24,)", 0},   {"(4, 6)", 4}, {"(2, 3, 4)", 6}, {"(24, 1)", 24},
              {"(1, 24)", 1}, {"(0, 6)", 0}, {"(6, 0)", 0},    {"()", 0}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int fortran = 0; fortran < 2; fortran++) {
            struct bytes b = npy("'<f8'", of[i].shape, fortran);
            size_t n = strchr(of[i].shape, '0') ? 0 : strcmp(of[i].shape, "()") == 0 ? 1 : 24;
            for (size_t k = 0; k < n; k++)
                add_double(&b, field_x(k), false);
            const char *path = put_file("rows.npy", &b);
            struct data_set set = expect_data(path, FORMATS, false, of[i].shape);
            cr_expect(set.item[0].rows == of[i].rows, "%s: %zu", of[i].shape, set.item[0].rows);
            data_free(&set);
            clear_bytes(&b);
        }
}
