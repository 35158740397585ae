/* Arrays that are read block by block: the same elements as at once, in bounded memory. */
#include "reference/exact/reference.h"
#include "tests/support/files.h"

TestSuite(stream, .init = make_folder, .fini = remove_folder);

struct taken {
    struct reference_blocks blocks;
    struct bytes bytes;
    size_t ends, done, of, largest, n;
    char name[64];
};

static enum status take(void *context, const struct array *block, size_t done, size_t of,
                        struct problem *p)
{
    struct taken *t = context;
    (void)p;
    cr_expect(done > t->done && done <= of, "%zu bytes after %zu, of %zu", done, t->done, of);
    t->done = done;
    t->of = of;
    size_t bytes = array_bytes(block->format, block->n);
    t->largest = bytes > t->largest ? bytes : t->largest;
    add_bytes(&t->bytes, block->data, bytes);
    reference_blocks_add(&t->blocks, block);
    return STATUS_OK;
}

static enum status end(void *context, const struct data *about, struct problem *p)
{
    struct taken *t = context;
    (void)p;
    t->ends++;
    t->n = about->array.n;
    snprintf(t->name, sizeof t->name, "%s", about->name);
    cr_expect(!about->array.data);
    return STATUS_OK;
}

/* As what data_read gives at once. */
static void expect_same(const char *path, enum format storage, bool convert)
{
    struct taken t = {0};
    const struct data_stream stream = {.take = take, .end = end, .context = &t};
    struct data_options options = {.storage = storage, .convert = convert, .stream = &stream};
    struct data_set set, none;
    struct problem p = {0};
    reference_blocks_begin(&t.blocks);
    enum status status = data_read(&none, path, &options, &p);
    cr_assert(status == STATUS_OK && none.count == 0 && t.ends == 1, "%s: %s", path, p.text);
    set = expect_data(path, storage, convert, path);
    const struct array *a = &set.item[0].array;
    cr_expect(t.n == a->n && t.done == t.of, "%s: %zu of %zu", path, t.n, a->n);
    cr_expect_str_eq(t.name, set.item[0].name);
    cr_expect(t.largest <= (size_t)16 << 20, "%s: a block of %zu bytes", path, t.largest);
    cr_expect(t.bytes.size == array_bytes(a->format, a->n) &&
                  (a->n == 0 || memcmp(t.bytes.data, a->data, t.bytes.size) == 0),
              "%s: other elements", path);
    struct reference whole, blocks;
    cr_assert(reference_compute(&whole, a, REFERENCE_MPFR, &p) == STATUS_OK);
    reference_blocks_end(&blocks, &t.blocks);
    cr_expect(reference_equal(&whole, &blocks), "%s: another exact sum", path);
    reference_free(&whole);
    reference_free(&blocks);
    data_free(&set);
    clear_bytes(&t.bytes);
}

Test(stream, raw)
{
    struct bytes b = {0};
    uint64_t state = 1;
    for (size_t i = 0; i < 1500001; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        add_number(&b, state >> 32, 4);
    }
    expect_same(put_file("x.raw", &b), FP32, false);
    b.size = 6000000;
    expect_same(put_file("x.raw", &b), FP64, false);
    expect_same(put_file("x.raw", &b), E4M3, false);
    clear_bytes(&b);
}

/* Records whose arrays do not end where blocks do; numbers that are converted. */
Test(stream, records)
{
    struct bytes b = {0};
    static const char header[] =
        "{'descr': [('i', '|S5'), ('x', '>f4', (7,))], 'fortran_order': False, 'shape': (200000,)}";
    add_string(&b, "\x93NUMPY\x01");
    add_number(&b, 0, 1);
    add_number(&b, strlen(header), 2);
    add_string(&b, header);
    for (size_t i = 0; i < 200000; i++) {
        add_bytes(&b, "12345", 5);
        for (size_t k = 0; k < 7; k++)
            add_number(&b, __builtin_bswap32((uint32_t)(0x3f800000 + 7919 * (7 * i + k))), 4);
    }
    char part[320];
    snprintf(part, sizeof part, "%s:x", put_file("x.npy", &b));
    expect_same(part, FORMATS, false);
    expect_same(part, FP64, true);
    expect_same(part, BF16, true);
    clear_bytes(&b);
}

Test(stream, text)
{
    struct bytes b = {0};
    char line[64];
    add_string(&b, "\xef\xbb\xbf# numbers\n\n");
    for (size_t i = 0; i < 250000; i++) {
        snprintf(line, sizeof line, "%s%.17g%s", i % 7 ? "" : " ", 1e3 / (double)(i + 1),
                 i % 5 ? "\n" : "\r\n");
        add_string(&b, line);
    }
    b.size--; /* the last line has no end */
    expect_same(put_file("x.txt", &b), FORMATS, false);
    expect_same(put_file("x.txt", &b), FP16, false);
    struct taken t = {0};
    const struct data_stream stream = {.take = take, .end = end, .context = &t};
    struct data_options options = {.storage = FORMATS, .stream = &stream};
    struct data_set none;
    struct problem p = {0};
    add_string(&b, "\r\nx\n");
    enum status status = data_read(&none, put_file("x.txt", &b), &options, &p);
    cr_expect(status == STATUS_DATA && strstr(p.text, "line 250003: found 'x'"), "%s", p.text);
    clear_bytes(&t.bytes);
    memset(b.data, '1', b.size);
    p = (struct problem){0};
    t = (struct taken){0};
    status = data_read(&none, put_file("x.txt", &b), &options, &p);
    cr_expect(status == STATUS_DATA && strstr(p.text, "line 1: found more than"), "%s", p.text);
    clear_bytes(&t.bytes);
    clear_bytes(&b);
}
