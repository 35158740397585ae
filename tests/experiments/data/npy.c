#include <math.h>
#include "tests/support/files.h"

TestSuite(npy, .init = make_folder, .fini = remove_folder);

/* A .npy file built by hand. */
static struct bytes npy(int major, const char *header, const void *data, size_t size)
{
    struct bytes b = {0};
    add_string(&b, "\x93NUMPY");
    add_number(&b, (uint64_t)major, 1);
    add_number(&b, 0, 1);
    add_number(&b, strlen(header), major == 1 ? 2 : 4);
    add_string(&b, header);
    add_bytes(&b, data, size);
    return b;
}

static const struct type {
    const char *name;
    enum format format;
} types[] = {{"f2", FP16}, {"f4", FP32}, {"f8", FP64}, {"V2", BF16}};

static const struct shape_case {
    const char *text;
    size_t dimension[3]; /* trailing ones where there are fewer */
} shapes[] = {
    {"()", {1, 1, 1}},     {"(1,)", {1, 1, 1}},      {"(5,)", {5, 1, 1}},
    {"(7L,)", {7, 1, 1}},  {"(2, 3)", {2, 3, 1}},    {"(3,2,)", {3, 2, 1}},
    {"(1, 5)", {1, 5, 1}}, {"(2, 3, 4)", {2, 3, 4}}, {"( 4 ,1, 2 )", {4, 1, 2}},
    {"(0,)", {0, 1, 1}},   {"(3, 0, 2)", {3, 0, 2}}, {"(18446744073709551615, 0, 3)", {0, 0, 0}},
};

/* The bits of the element that is c-th in C order; no two alike, no byte like another. */
static uint64_t bits_of(enum format f, size_t c)
{
    uint64_t bits = UINT64_C(0x3f1122a4c5d6e708) + c * UINT64_C(0x0101010101010102);
    return f == FP64 ? bits : bits & ((UINT64_C(1) << (8 * format_facts[f].bytes)) - 1);
}

static size_t fill(unsigned char *data, enum format f, const size_t d[3], bool big, bool fortran)
{
    size_t width = (size_t)format_facts[f].bytes;
    for (size_t i = 0; i < d[0]; i++)
        for (size_t j = 0; j < d[1]; j++)
            for (size_t k = 0; k < d[2]; k++) {
                size_t c = (i * d[1] + j) * d[2] + k, at = fortran ? i + d[0] * (j + d[1] * k) : c;
                uint64_t bits = bits_of(f, c);
                for (size_t byte = 0; byte < width; byte++)
                    data[at * width + (big ? width - 1 - byte : byte)] =
                        (unsigned char)(bits >> (8 * byte));
            }
    return d[0] * d[1] * d[2];
}

static void hold_layout(const struct type *t, const struct shape_case *s, int major, char order,
                        bool fortran)
{
    char header[256], what[300];
    unsigned char data[64 * 8];
    size_t n = fill(data, t->format, s->dimension, order == '>', fortran);
    snprintf(header, sizeof header, "{'descr': '%c%s', 'fortran_order': %s, 'shape': %s, } \n",
             order, t->name, fortran ? "True" : "False", s->text);
    snprintf(what, sizeof what, "version %d %s", major, header);
    struct bytes b = npy(major, header, data, n * (size_t)format_facts[t->format].bytes);
    enum format asked = t->format == BF16 ? BF16 : FORMATS;
    struct data_set set = expect_data(put_file("a.npy", &b), asked, false, what);
    clear_bytes(&b);
    cr_assert(set.count == 1, "%s: %zu arrays", what, set.count);
    const struct data *item = &set.item[0];
    cr_expect(item->array.format == t->format && item->file_format == t->format &&
                  !item->converted && strcmp(item->name, "a.npy") == 0,
              "%s: format %d, name %s", what, (int)item->array.format, item->name);
    cr_assert(item->array.n == n, "%s: n = %zu, expected %zu", what, item->array.n, n);
    for (size_t c = 0; c < n; c++)
        cr_assert(array_bits(&item->array, c) == bits_of(t->format, c),
                  "%s: element %zu is %llx, expected %llx", what, c,
                  (unsigned long long)array_bits(&item->array, c),
                  (unsigned long long)bits_of(t->format, c));
    data_free(&set);
}

Test(npy, layouts)
{
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int major = 1; major <= 3; major++)
                for (const char *order = types[t].format == BF16 ? "<|" : "<>="; *order; order++)
                    for (int fortran = 0; fortran < 2; fortran++)
                        hold_layout(&types[t], &shapes[s], major, *order, fortran);
}

/* Headers that other writers make: any order of keys, either quotes, no blanks, any length. */
Test(npy, header_styles)
{
    static const char *const headers[] = {
        "{'shape':(2,),'fortran_order':False,'descr':'<f4'}",
        "{\"descr\": \"<f4\", \"shape\": (2,), \"fortran_order\": True}\n",
        " { 'descr' : '<f4' ,\n'fortran_order' : False , 'shape' : ( 2 , ) , } \n\n",
        "{'descr': 'f4', 'fortran_order': False, 'shape': (2,)}",
    };
    const float data[] = {1.5f, -2};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct bytes b = npy(1, headers[i], data, sizeof data);
        struct data_set set = expect_data(put_file("style.npy", &b), FP32, false, headers[i]);
        cr_expect(set.item[0].array.n == 2 && array_get(&set.item[0].array, 0) == 1.5 &&
                      array_get(&set.item[0].array, 1) == -2,
                  "%s", headers[i]);
        data_free(&set);
        clear_bytes(&b);
    }
    char header[70000];
    memset(header, ' ', sizeof header);
    memcpy(header, headers[0], strlen(headers[0]));
    header[sizeof header - 1] = 0;
    struct bytes b = npy(2, header, data, sizeof data);
    struct data_set set = expect_data(put_file("long", &b), FP32, false, "69999 bytes of header");
    cr_expect(set.item[0].array.n == 2 && array_get(&set.item[0].array, 1) == -2);
    data_free(&set);
    clear_bytes(&b);
}

/* What NumPy 2.4 with ml_dtypes 0.6 writes: '<V1' for float8_e4m3fn, '<f1' for float8_e5m2; and
 * bytes, viewed as '|u1'. 1, 2, a NaN, and the largest or -inf. */
Test(npy, formats_of_8_bits)
{
    const struct {
        const char *descr;
        enum format format;
        bool typed;
        uint8_t bytes[4];
        double last;
    } files[] = {{"<V1", E4M3, false, {0x38, 0x40, 0xff, 0x7e}, 448},
                 {"|V1", E4M3, false, {0x38, 0x40, 0x7f, 0xfe}, -448},
                 {"|u1", E4M3, false, {0x38, 0x40, 0x7f, 0x7e}, 448},
                 {"<f1", E5M2, true, {0x3c, 0x40, 0x7e, 0xfc}, -INFINITY},
                 {"|u1", E5M2, false, {0x3c, 0x40, 0x7f, 0x7b}, 57344}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char header[128];
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (4,)}",
                 files[i].descr);
        struct bytes b = npy(1, header, files[i].bytes, 4);
        const char *path = put_file("bytes.npy", &b);
        enum format asked = files[i].typed ? FORMATS : files[i].format;
        if (!files[i].typed)
            expect_problem(path, FORMATS, STATUS_USAGE, "--storage e4m3 or e5m2", header);
        expect_problem(path, FP16, STATUS_USAGE, files[i].typed ? "holds e5m2" : "e4m3 or e5m2",
                       header);
        struct data_set set = expect_data(path, asked, false, header);
        const struct array *a = &set.item[0].array;
        cr_assert(a->format == files[i].format && a->n == 4, "%s", header);
        cr_expect(array_get(a, 0) == 1 && array_get(a, 1) == 2 && isnan(array_get(a, 2)) &&
                      array_get(a, 3) == files[i].last,
                  "%s: %g", header, array_get(a, 3));
        data_free(&set);
        clear_bytes(&b);
    }
}

Test(npy, two_bytes_of_no_type)
{
    const uint16_t data[] = {0x3f80, 0xc000};
    static const char *const descr[] = {"<V2", "|V2", "V2", ">V2"};
    for (size_t i = 0; i < 4; i++) {
        char header[128];
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (2,)}",
                 descr[i]);
        struct bytes b = npy(1, header, data, sizeof data);
        const char *path = put_file("v2.npy", &b);
        bool known = i < 3;
        expect_problem(path, FORMATS, known ? STATUS_USAGE : STATUS_DATA,
                       known ? "--storage bf16" : ">V2", descr[i]);
        expect_problem(path, FP16, known ? STATUS_USAGE : STATUS_DATA, descr[i], descr[i]);
        if (known) {
            struct data_set set = expect_data(path, BF16, false, descr[i]);
            cr_expect(array_get(&set.item[0].array, 0) == 1 &&
                          array_get(&set.item[0].array, 1) == -2,
                      "%s", descr[i]);
            data_free(&set);
        }
        clear_bytes(&b);
    }
}

/* Malformed headers before two elements of fp64, and what the message must say. */
static const struct bad {
    const char *header, *said;
} bad_headers[] = {
    {"", "ends"},
    {"{", "'descr'"},
    {"hello", "dictionary"},
    {"{}", "descr"},
    {"{'descr': '<f8', 'fortran_order': False}", "'shape'"},
    {"{'descr': '<f8', 'shape': (2,)}", "'fortran_order'"},
    {"{'fortran_order': False, 'shape': (2,)}", "'descr'"},
    {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", "one each"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'x': 1}", "one each"},
    {"{'descr': '<f8' 'fortran_order': False, 'shape': (2,)}", "','"},
    {"{'descr' '<f8', 'fortran_order': False, 'shape': (2,)}", "':'"},
    {"{'descr': '<f8', 'fortran_order': 0, 'shape': (2,)}", "True or False"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)", "'}'"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)} x", "nothing after"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2)}", "tuple"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': 2}", "shape"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (,)}", "length"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,,)}", "length"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 1)}", "','"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (-2,)}", "-2"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -2)}", "-1"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2.0,)}", "','"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551618,)}", "below 2^64"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (184467440737095516160,)}", "below 2^64"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (30000000000000000002,)}", "below 2^64"},
    {"{'descr': '<f8                                                                             "
     "             ', 'fortran_order': False, 'shape': (2,)}",
     "found dtype '<f8  "},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "2^64"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808, 2, 2)}", "2^64"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693954,)}", "2^64"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", "expected 24"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "expected 8"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (0,)}", "expected 0"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", "pickled"},
    {"{'descr': 'O', 'fortran_order': False, 'shape': (2,)}", "pickled"},
    {"{'descr': ('<f8', (2,)), 'fortran_order': False, 'shape': (1,)}", "structured"},
    {"{'descr': '<i8', 'fortran_order': False, 'shape': (2,)}", "'<i8'"},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", "'<c8'"},
    {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}", "'<f16'"},
    {"{'descr': '|f8', 'fortran_order': False, 'shape': (2,)}", "'|f8'"},
    {"{'descr': '<V8', 'fortran_order': False, 'shape': (2,)}", "'<V8'"},
    {"{'descr': '', 'fortran_order': False, 'shape': (2,)}", "dtype ''"},
    {"{'descr': '<', 'fortran_order': False, 'shape': (2,)}", "dtype '<'"},
    {"{'descr': 3, 'fortran_order': False, 'shape': (2,)}", "dtype"},
    {"{'descr': '<f8, 'fortran_order': False, 'shape': (2,)}", "','"},
    {"{'desc\\x72': '<f8', 'fortran_order': False, 'shape': (2,)}", "one each"},
};

Test(npy, malformed_headers)
{
    const double data[] = {1, 2};
    for (size_t i = 0; i < sizeof bad_headers / sizeof *bad_headers; i++)
        for (int major = 1; major <= 3; major++) {
            struct bytes b = npy(major, bad_headers[i].header, data, sizeof data);
            expect_problem(put_file("bad.npy", &b), FORMATS, STATUS_DATA, bad_headers[i].said,
                           bad_headers[i].header);
            clear_bytes(&b);
        }
}

Test(npy, too_many_dimensions)
{
    struct bytes header = {0};
    add_string(&header, "{'descr': '<f8', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < 65; i++)
        add_string(&header, "1,");
    add_string(&header, ")}");
    header.data[header.size] = 0;
    struct bytes b = npy(1, (const char *)header.data, "12345678", 8);
    expect_problem(put_file("deep.npy", &b), FORMATS, STATUS_DATA, "64 dimensions", "65 of them");
    clear_bytes(&header);
    clear_bytes(&b);
}

/* Every file that ends too early, and lengths that lie. */
Test(npy, truncated)
{
    const double data[] = {1, 2};
    for (int major = 1; major <= 2; major++) {
        struct bytes b = npy(major, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n",
                             data, sizeof data);
        size_t whole = b.size;
        for (b.size = 0; b.size < whole; b.size++) {
            char what[64];
            snprintf(what, sizeof what, "version %d, %zu of %zu bytes", major, b.size, whole);
            expect_problem(put_file("short.npy", &b), FORMATS, STATUS_DATA,
                           b.size == 0 ? "empty file" : "expected", what);
        }
        b.size = whole;
        memset(b.data + 8, 0xff, major == 1 ? 2 : 4);
        expect_problem(put_file("huge.npy", &b), FORMATS, STATUS_DATA,
                       major == 1 ? "65535" : "4294967295", "huge header length");
        b.data[6] = 4;
        expect_problem(put_file("new.npy", &b), FORMATS, STATUS_DATA, "version 4.0", "version");
        b.data[6] = 1, b.data[7] = 1;
        expect_problem(put_file("new.npy", &b), FORMATS, STATUS_DATA, "version 1.1", "version");
        b.data[0] = 'x';
        expect_problem(put_file("other.npy", &b), FORMATS, STATUS_DATA, "expected .npy", "magic");
        clear_bytes(&b);
    }
}
