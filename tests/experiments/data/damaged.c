/* Files damaged at random must be refused or read, and never crash: bytes flipped, set to values
 * that headers count with, cut off, doubled, and pieces of headers put in. Run it under ASan. */
#include "tests/support/files.h"

TestSuite(data_fuzz, .init = make_folder, .fini = remove_folder);

enum { ROUNDS = 6000 };

static uint64_t state;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void damage(struct bytes *b)
{
    static const char *const pieces[] = {"{",       "}",
                                         "'",       "\"",
                                         "(",       ")",
                                         ",",       ":",
                                         "[",       "]",
                                         "0",       "-1",
                                         "9",       "18446744073709551615",
                                         "False",   "F64",
                                         "'descr'", "\xff\xff\xff\xff",
                                         "\n",      "#"};
    const char *piece = pieces[draw() % (sizeof pieces / sizeof *pieces)];
    size_t at = b->size > 0 ? draw() % (draw() % 2 && b->size > 160 ? 160 : b->size) : 0;
    struct bytes put = {0};
    if (b->size == 0)
        return;
    switch (draw() % 6) {
    case 0:
        b->data[at] ^= (unsigned char)(1 << draw() % 8);
        return;
    case 1:
        b->data[at] = (unsigned char)draw();
        return;
    case 2:
        b->data[at] = (const unsigned char[]){0, 1, 0x7f, 0x80, 0xff, ' '}[draw() % 6];
        return;
    case 3:
        b->size = at;
        return;
    case 4: /* put in */
        add_bytes(&put, b->data, at);
        add_string(&put, piece);
        add_bytes(&put, b->data + at, b->size - at);
        break;
    default: /* put in place of what stood there */
        add_bytes(&put, b->data, at);
        add_string(&put, piece);
        if (b->size - at > strlen(piece))
            add_bytes(&put, b->data + at + strlen(piece), b->size - at - strlen(piece));
    }
    clear_bytes(b);
    *b = put;
}

static volatile double sink;

/* Reads every element of what was read, so that ASan sees arrays that are not there. */
static void touch(const struct data_set *set, size_t most, const char *what)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct array *a = &set->item[i].array;
        cr_assert(set->item[i].name && strlen(set->item[i].hash) == 32, "%s", what);
        cr_assert(a->n <= most, "%s: %zu elements out of %zu bytes", what, a->n, most);
        for (size_t k = 0; k < a->n; k++)
            sink += array_get(a, k);
    }
}

static void fuzz(const char *name, const struct bytes *good)
{
    size_t outcome[STATUS_MEMORY + 1] = {0};
    state = UINT64_C(0x9e3779b97f4a7c15);
    printf("%s: seed %llu\n", name, (unsigned long long)state);
    for (size_t round = 0; round < ROUNDS; round++) {
        char what[64];
        snprintf(what, sizeof what, "%s, round %zu", name, round);
        struct bytes b = {0};
        add_bytes(&b, good->data, good->size);
        for (size_t hits = 1 + draw() % 3; hits > 0; hits--)
            damage(&b);
        struct data_options options = {.storage = draw() % (FORMATS + 1), .convert = draw() % 2};
        const char *path = put_file(name, &b);
        struct data_set set;
        struct problem p = {0};
        enum status status = data_read(&set, path, &options, &p);
        cr_assert(status == p.status &&
                      (status == STATUS_OK || status == STATUS_USAGE || status == STATUS_DATA),
                  "%s: status %d: %s", what, (int)status, p.text);
        cr_assert(status == STATUS_OK || (strstr(p.text, name) && strstr(p.text, "expected")),
                  "%s: %s", what, p.text);
        cr_assert(status == STATUS_OK || set.count == 0, "%s: a set remains", what);
        touch(&set, b.size, what);
        outcome[status]++;
        data_free(&set);
        clear_bytes(&b);
    }
    cr_expect(outcome[STATUS_DATA] > ROUNDS / 10, "%s: %zu refused: the damage does not bite", name,
              outcome[STATUS_DATA]);
    cr_expect(outcome[STATUS_OK] > 0, "%s: none read: the file was not good", name);
}

static void add_npy(struct bytes *b, int major, const char *header, const void *data, size_t size)
{
    add_string(b, "\x93NUMPY");
    add_number(b, (uint64_t)major, 1);
    add_number(b, 0, 1);
    add_number(b, strlen(header), major == 1 ? 2 : 4);
    add_string(b, header);
    add_bytes(b, data, size);
}

Test(data_fuzz, npy)
{
    static const double data[24] = {1, -2, 3e300};
    struct bytes b = {0};
    add_npy(&b, 1, "{'descr': '>f8', 'fortran_order': True, 'shape': (2, 3, 4), }        \n", data,
            sizeof data);
    fuzz("one.npy", &b);
    clear_bytes(&b);
    add_npy(&b, 2, "{'descr': '<V2', 'fortran_order': False, 'shape': (10,), }\n", data, 20);
    fuzz("two.npy", &b);
    clear_bytes(&b);
}

Test(data_fuzz, safetensors)
{
    static const char header[] =
        "{\"__metadata__\":{\"a\":\"b\"},"
        "\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
        "\"b\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[24,30]},"
        "\"i\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[30,31]},"
        "\"d\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[31,39]}}";
    struct bytes b = {0};
    add_number(&b, strlen(header), 8);
    add_string(&b, header);
    add_bytes(&b, "0123456789abcdef0123456789abcdef0123456", 39);
    fuzz("w.safetensors", &b);
    clear_bytes(&b);
}

Test(data_fuzz, text)
{
    struct bytes b = {0};
    add_string(&b, "# numbers\n1\n-2.5e-3\n0x1.8p+1\n\ninf\nnan\n123456789.123456789\r\n  7 \n");
    fuzz("numbers.txt", &b);
    clear_bytes(&b);
}

Test(data_fuzz, without_a_name)
{
    static const float data[4] = {1, -2, 3, 4};
    struct bytes b = {0};
    add_npy(&b, 3, "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n", data,
            sizeof data);
    fuzz("anything", &b);
    clear_bytes(&b);
}
