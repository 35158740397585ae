#include "tests/support/files.h"

TestSuite(safetensors, .init = make_folder, .fini = remove_folder);

static struct bytes tensors(const char *header, const void *data, size_t size)
{
    struct bytes b = {0};
    add_number(&b, strlen(header), 8);
    add_string(&b, header);
    add_bytes(&b, data, size);
    return b;
}

/* One tensor of each of our types, an integer one between, an empty one, a scalar; the one-byte
 * tensor puts all that follow at odd addresses. */
static const char all_types[] =
    "{\"__metadata__\": {\"format\": \"pt\", \"data_offsets\": \"no tensor\"},"
    "\"half\": {\"dtype\": \"F16\", \"shape\": [2], \"data_offsets\": [0, 4]},"
    "\"byte\": {\"dtype\": \"U8\", \"shape\": [1], \"data_offsets\": [4, 5]},"
    "\"brain\": {\"dtype\": \"BF16\", \"shape\": [1, 2], \"data_offsets\": [5, 9]},"
    "\"single\": {\"dtype\": \"F32\", \"shape\": [2, 1], \"data_offsets\": [9, 17]},"
    "\"none\": {\"dtype\": \"F32\", \"shape\": [3, 0], \"data_offsets\": [17, 17]},"
    "\"a#b\": {\"dtype\": \"F64\", \"shape\": [], \"data_offsets\": [17, 25]}}   ";

static struct bytes all_types_file(void)
{
    struct bytes data = {0};
    add_number(&data, 0x3c00, 2); /* 1 */
    add_number(&data, 0xc000, 2); /* -2 */
    add_number(&data, 0xff, 1);
    add_number(&data, 0x3f80, 2);                       /* 1 */
    add_number(&data, 0xc040, 2);                       /* -3 */
    add_number(&data, 0x3f800000, 4);                   /* 1 */
    add_number(&data, 0xc0800000, 4);                   /* -4 */
    add_number(&data, UINT64_C(0xc014000000000000), 8); /* -5 */
    struct bytes b = tensors(all_types, data.data, data.size);
    clear_bytes(&data);
    return b;
}

static void hold_item(const struct data *item, const char *name, enum format f, size_t n,
                      double last)
{
    cr_expect(strcmp(item->name, name) == 0, "%s, expected %s", item->name, name);
    cr_expect(item->array.format == f && item->file_format == f && !item->converted, "%s", name);
    cr_assert(item->array.n == n, "%s: n = %zu", name, item->array.n);
    if (n > 0)
        cr_expect(array_get(&item->array, n - 1) == last, "%s: %g", name,
                  array_get(&item->array, n - 1));
    if (n > 1)
        cr_expect(array_get(&item->array, 0) == 1, "%s: %g", name, array_get(&item->array, 0));
}

Test(safetensors, formats_of_8_bits)
{
    static const unsigned char data[] = {0x38, 0xfe, 0x3c, 0xfb};
    struct bytes b = tensors("{\"a\": {\"dtype\": \"F8_E4M3\", \"shape\": [2], "
                             "\"data_offsets\": [0, 2]},"
                             "\"b\": {\"dtype\": \"F8_E5M2\", \"shape\": [1, 2], "
                             "\"data_offsets\": [2, 4]}}",
                             data, sizeof data);
    struct data_set set = expect_data(put_file("f8", &b), FORMATS, false, "8 bits");
    cr_assert(set.count == 2, "%zu tensors", set.count);
    hold_item(&set.item[0], "f8#a", E4M3, 2, -448);
    hold_item(&set.item[1], "f8#b", E5M2, 2, -57344);
    data_free(&set);
    clear_bytes(&b);
}

Test(safetensors, all_tensors)
{
    struct bytes b = all_types_file();
    for (int named = 0; named < 2; named++) { /* by its name, by its first bytes */
        const char *path = put_file(named ? "m.safetensors" : "m", &b);
        struct data_set set = expect_data(path, FORMATS, false, "all");
        cr_assert(set.count == 5, "%zu tensors", set.count);
        hold_item(&set.item[0], named ? "m.safetensors#half" : "m#half", FP16, 2, -2);
        hold_item(&set.item[1], named ? "m.safetensors#brain" : "m#brain", BF16, 2, -3);
        if (named) {
            hold_item(&set.item[2], "m.safetensors#single", FP32, 2, -4);
            hold_item(&set.item[3], "m.safetensors#none", FP32, 0, 0);
            hold_item(&set.item[4], "m.safetensors#a#b", FP64, 1, -5);
        }
        data_free(&set);
    }
    clear_bytes(&b);
}

Test(safetensors, one_tensor)
{
    struct bytes b = all_types_file();
    char path[300];
    snprintf(path, sizeof path, "%s#single", put_file("m.safetensors", &b));
    struct data_set set = expect_data(path, FORMATS, false, path);
    cr_assert(set.count == 1);
    hold_item(&set.item[0], "m.safetensors#single", FP32, 2, -4);
    data_free(&set);
    snprintf(path, sizeof path, "%s#a#b", put_file("m.safetensors", &b));
    set = expect_data(path, FP64, false, path);
    hold_item(&set.item[0], "m.safetensors#a#b", FP64, 1, -5);
    data_free(&set);
    snprintf(path, sizeof path, "%s#single", put_file("a#file#too", &b));
    set = expect_data(path, FORMATS, false, path);
    hold_item(&set.item[0], "a#file#too#single", FP32, 2, -4);
    data_free(&set);
    snprintf(path, sizeof path, "%s#byte", put_file("m.safetensors", &b));
    expect_problem(path, FORMATS, STATUS_DATA, "'byte': found dtype 'U8', expected F16",
                   "an integer tensor");
    snprintf(path, sizeof path, "%s#nought", put_file("m.safetensors", &b));
    expect_problem(path, FORMATS, STATUS_USAGE, "half, byte, brain", "an unknown tensor");
    snprintf(path, sizeof path, "%s#__metadata__", put_file("m.safetensors", &b));
    expect_problem(path, FORMATS, STATUS_USAGE, "__metadata__", "no tensor");
    clear_bytes(&b);
}

Test(safetensors, conversion)
{
    struct bytes b = all_types_file();
    const char *path = put_file("m.safetensors", &b);
    expect_problem(path, FP64, STATUS_USAGE, "--convert", "without --convert");
    struct data_set set = expect_data(path, FP64, true, "converted");
    static const char *const name[] = {
        "m.safetensors#half:from=fp16", "m.safetensors#brain:from=bf16",
        "m.safetensors#single:from=fp32", "m.safetensors#none:from=fp32", "m.safetensors#a#b"};
    static const double last[] = {-2, -3, -4, 0, -5};
    for (size_t i = 0; i < 5; i++) {
        const struct data *item = &set.item[i];
        cr_expect(strcmp(item->name, name[i]) == 0, "%s", item->name);
        cr_expect(item->array.format == FP64 && item->converted == (i < 4), "%s", item->name);
        if (item->array.n > 0)
            cr_expect(array_get(&item->array, item->array.n - 1) == last[i], "%s", item->name);
    }
    data_free(&set);
    clear_bytes(&b);
}

/* Headers before 16 bytes of data, and what the message must say. */
#define F64(name, shape, offsets)                                                                  \
    "\"" name "\": {\"dtype\": \"F64\", \"shape\": " shape ", \"data_offsets\": " offsets "}"
static const struct bad {
    const char *header, *said;
} bad_headers[] = {
    {"", "JSON"},
    {"{", "JSON"},
    {"[]", "JSON object"},
    {"3", "JSON"},
    {"{\"a\": 1}", "'a'"},
    {"{\"a\": {}}", "dtype"},
    {"{\"a\": {\"dtype\": 4, \"shape\": [2], \"data_offsets\": [0, 16]}}", "dtype"},
    {"{\"a\": {\"dtype\": \"F64\", \"data_offsets\": [0, 16]}}", "shape"},
    {"{\"a\": {\"dtype\": \"F64\", \"shape\": [2]}}", "data_offsets"},
    {"{" F64("a", "2", "[0, 16]") "}", "shape"},
    {"{" F64("a", "[-2]", "[0, 16]") "}", "shape"},
    {"{" F64("a", "[2.0]", "[0, 16]") "}", "shape"},
    {"{" F64("a", "[4294967296, 4294967296, 2]", "[0, 16]") "}", "shape"},
    {"{" F64("a", "[2305843009213693954]", "[0, 16]") "}", "16 bytes"},
    {"{" F64("a", "[99999999999999999999]", "[0, 16]") "}", "JSON"},
    {"{" F64("a", "[3]", "[0, 16]") "}", "3 elements"},
    {"{" F64("a", "[1]", "[0, 16]") "}", "1 elements"},
    {"{" F64("a", "[2]", "[0]") "}", "data_offsets"},
    {"{" F64("a", "[2]", "[0, 16, 32]") "}", "data_offsets"},
    {"{" F64("a", "[2]", "[0, \"16\"]") "}", "data_offsets"},
    {"{" F64("a", "[2]", "[-16, 0]") "}", "data_offsets"},
    {"{" F64("a", "[2]", "[16, 0]") "}", "[16, 0]"},
    {"{" F64("a", "[2]", "[8, 24]") "}", "<= 16"},
    {"{" F64("a", "[1]", "[16, 24]") "}", "<= 16"},
    {"{" F64("a", "[2]", "[9223372036854775807, 9223372036854775807]") "}", "<= 16"},
    {"{" F64("a", "[1]", "[0, 8]") "}", "8 bytes after"},
    {"{" F64("a", "[1]", "[8, 16]") "}", "hole"},
    {"{" F64("a", "[2]", "[0, 16]") ", " F64("b", "[1]", "[8, 16]") "}", "overlap"},
    {"{" F64("a", "[2]", "[0, 16]") ", " F64("b", "[2]", "[0, 16]") "}", "overlap"},
    {"{" F64("a", "[1]", "[0, 8]") ", " F64("a", "[1]", "[8, 16]") "}", "JSON"},
    {"{" F64("a", "[2]", "[0, 16]") "} x", "JSON"},
    {"{\"a\": {\"dtype\": \"I64\", \"shape\": [2], \"data_offsets\": [0, 16]}}", "none of them"},
    {"{\"a\": {\"dtype\": \"I64\", \"shape\": [2], \"data_offsets\": [0, 32]}}", "<= 16"},
    {"{\"a\": {\"dtype\": \"U8\", \"shape\": [8], \"data_offsets\": [4, 16]}, "
     "\"b\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}}",
     "overlap"},
};

Test(safetensors, malformed_headers)
{
    for (size_t i = 0; i < sizeof bad_headers / sizeof *bad_headers; i++) {
        struct bytes b = tensors(bad_headers[i].header, "0123456789abcdef", 16);
        expect_problem(put_file("bad.safetensors", &b), FORMATS, STATUS_DATA, bad_headers[i].said,
                       bad_headers[i].header);
        clear_bytes(&b);
    }
    struct bytes empty = tensors("{}", "", 0);
    expect_problem(put_file("none.safetensors", &empty), FORMATS, STATUS_DATA, "0 tensors", "{}");
    clear_bytes(&empty);
}

Test(safetensors, truncated)
{
    struct bytes b = all_types_file();
    size_t whole = b.size;
    for (b.size = 0; b.size < whole; b.size++) {
        char what[64];
        snprintf(what, sizeof what, "%zu of %zu bytes", b.size, whole);
        expect_problem(put_file("short.safetensors", &b), FORMATS, STATUS_DATA, "expected", what);
    }
    clear_bytes(&b);
}

Test(safetensors, header_length_lies)
{
    static const char header[] = "{" F64("a", "[2]", "[0, 16]") "}";
    static const uint64_t lengths[] = {sizeof header - 1 + 16 + 1,
                                       sizeof header - 1 + 16 + 8,
                                       1000,
                                       100000001,
                                       UINT64_C(1) << 39,
                                       INT64_MAX,
                                       UINT64_MAX - 7,
                                       UINT64_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char said[64];
        struct bytes b = tensors(header, "0123456789abcdef", 16);
        memcpy(b.data, &lengths[i], 8);
        snprintf(said, sizeof said, "header length of %llu", (unsigned long long)lengths[i]);
        expect_problem(put_file("lie.safetensors", &b), FORMATS, STATUS_DATA, said, said);
        clear_bytes(&b);
    }
}
