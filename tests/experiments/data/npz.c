/* .npz, written here as NumPy writes it and as nobody should. */
#include <zlib.h>

#include "tests/support/files.h"

TestSuite(npz, .init = make_folder, .fini = remove_folder);

/* A zip file: members first, then their directory. */
struct zip {
    struct bytes b, directory;
    unsigned count;
    bool wide; /* zip64: sizes in an extra field of the directory, too */
};

struct member {
    const char *name;
    struct bytes data;
    bool deflated;
    /* What its headers say, where that is not so: */
    uint64_t size, packed, at;
    uint32_t crc;
    unsigned flags, method;
    const char *header_name;
};

static struct bytes deflated(const struct bytes *data)
{
    struct bytes out = {0};
    unsigned char room[4096];
    z_stream z = {.next_in = data->data, .avail_in = (unsigned)data->size};
    cr_assert(deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    for (int end = Z_OK; end == Z_OK;) {
        z.next_out = room;
        z.avail_out = sizeof room;
        end = deflate(&z, Z_FINISH);
        add_bytes(&out, room, sizeof room - z.avail_out);
    }
    deflateEnd(&z);
    return out;
}

static void add_member(struct zip *z, const struct member *m)
{
    struct bytes packed = m->deflated ? deflated(&m->data) : (struct bytes){0};
    const struct bytes *put = m->deflated ? &packed : &m->data;
    uint64_t size = m->size ? m->size : m->data.size, count = m->packed ? m->packed : put->size;
    uint64_t at = m->at ? m->at : z->b.size;
    uint32_t crc = m->crc ? m->crc : (uint32_t)crc32_z(0, m->data.data, m->data.size);
    const char *header_name = m->header_name ? m->header_name : m->name;
    unsigned method = m->method ? m->method : m->deflated ? 8 : 0;
    add_string(&z->b, "PK\3\4");
    add_number(&z->b, 20 | (uint64_t)m->flags << 16 | (uint64_t)method << 32, 6);
    add_number(&z->b, 0, 4);
    add_number(&z->b, crc, 4);
    add_number(&z->b, 0xffffffff, 4); /* as numpy.savez does: zip64 in an extra field */
    add_number(&z->b, 0xffffffff, 4);
    add_number(&z->b, strlen(header_name), 2);
    add_number(&z->b, 20, 2);
    add_string(&z->b, header_name);
    add_number(&z->b, 1 | 16 << 16, 4);
    add_number(&z->b, size, 8);
    add_number(&z->b, count, 8);
    add_bytes(&z->b, put->data, put->size);
    struct bytes *d = &z->directory;
    add_string(d, "PK\1\2");
    add_number(d, 20 | 20 << 16 | (uint64_t)m->flags << 32 | (uint64_t)method << 48, 8);
    add_number(d, 0, 4);
    add_number(d, crc, 4);
    add_number(d, z->wide ? 0xffffffff : count, 4);
    add_number(d, z->wide ? 0xffffffff : size, 4);
    add_number(d, strlen(m->name), 2);
    add_number(d, z->wide ? 32 : 0, 2);
    add_number(d, 0, 2 + 2 + 2);
    add_number(d, 0, 4);
    add_number(d, z->wide ? 0xffffffff : at, 4);
    add_string(d, m->name);
    if (z->wide) { /* behind an extra field of others */
        add_number(d, 0x7777 | 0 << 16, 4);
        add_number(d, 1 | 24 << 16, 4);
        add_number(d, size, 8);
        add_number(d, count, 8);
        add_number(d, at, 8);
    }
    z->count++;
    clear_bytes(&packed);
}

static const char *end_zip(struct zip *z, const char *name, const char *comment)
{
    size_t at = z->b.size, size = z->directory.size;
    add_bytes(&z->b, z->directory.data, size);
    if (z->wide) {
        size_t end = z->b.size;
        add_string(&z->b, "PK\6\6");
        add_number(&z->b, 44, 8);
        add_number(&z->b, 0, 2 + 2);
        add_number(&z->b, 0, 4 + 4);
        add_number(&z->b, z->count, 8);
        add_number(&z->b, z->count, 8);
        add_number(&z->b, size, 8);
        add_number(&z->b, at, 8);
        add_string(&z->b, "PK\6\7");
        add_number(&z->b, 0, 4);
        add_number(&z->b, end, 8);
        add_number(&z->b, 1, 4);
    }
    add_string(&z->b, "PK\5\6");
    add_number(&z->b, 0, 4);
    add_number(&z->b, z->count, 2);
    add_number(&z->b, z->count, 2);
    add_number(&z->b, z->wide ? 0xffffffff : size, 4);
    add_number(&z->b, z->wide ? 0xffffffff : at, 4);
    add_number(&z->b, strlen(comment), 2);
    add_string(&z->b, comment);
    const char *path = put_file(name, &z->b);
    clear_bytes(&z->b);
    clear_bytes(&z->directory);
    return path;
}

/* Of `count` doubles: i + first. */
static struct bytes npy(size_t count, double first)
{
    struct bytes b = {0};
    char header[128];
    int length = snprintf(header, sizeof header,
                          "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu,), }", count);
    add_string(&b, "\x93NUMPY\x01");
    add_number(&b, 0, 1);
    add_number(&b, (uint64_t)length, 2);
    add_string(&b, header);
    for (size_t i = 0; i < count; i++) {
        double x = first + (double)i;
        add_bytes(&b, &x, sizeof x);
    }
    return b;
}

static void expect_numbers(const char *path, const char *member, size_t count, double first)
{
    char part[320];
    snprintf(part, sizeof part, "%s%s", path, member);
    struct data_set set = expect_data(part, FORMATS, false, part);
    const struct array *a = &set.item[0].array;
    cr_assert(set.count == 1 && a->n == count && a->format == FP64, "%s: %zu", part, a->n);
    for (size_t i = 0; i < count; i++)
        cr_assert(array_get(a, i) == first + (double)i, "%s: element %zu", part, i);
    data_free(&set);
}

Test(npz, members)
{
    static const char *const comment[] = {"", "a comment"};
    for (unsigned how = 0; how < 8; how++) {
        struct zip z = {.wide = how & 1};
        struct member m[] = {{.name = "x.npy", .data = npy(50000, 1), .deflated = how & 2},
                             {.name = "a:b.npy", .data = npy(3, -1), .deflated = !(how & 2)},
                             {.name = "notes.txt", .data = npy(1, 0)},
                             {.name = "none.npy", .data = npy(0, 0), .deflated = how & 2}};
        for (size_t i = 0; i < 4; i++)
            add_member(&z, &m[i]);
        const char *path = end_zip(&z, "x.npz", comment[how >> 2]);
        expect_numbers(path, ":x", 50000, 1);
        expect_numbers(path, ":x.npy", 50000, 1);
        expect_numbers(path, "#a:b", 3, -1);
        expect_numbers(path, ":none", 0, 0);
        expect_problem(path, FORMATS, STATUS_USAGE, "x, a:b, none", "several");
        for (size_t i = 0; i < 4; i++)
            clear_bytes(&m[i].data);
    }
    struct zip z = {0};
    struct member m = {.name = "arr_0.npy", .data = npy(4, 2)};
    add_member(&z, &m);
    expect_numbers(end_zip(&z, "by_its_bytes", ""), "", 4, 2);
    clear_bytes(&m.data);
}

Test(npz, lies)
{
    static const struct {
        struct member m;
        const char *said;
    } lie[] = {
        {{.crc = 7}, "checksum"},
        {{.crc = 7, .deflated = true}, "checksum"},
        {{.size = 700}, "cannot be of the size"},
        {{.size = 700, .deflated = true}, "after the header, expected 576"},
        {{.size = UINT64_C(1) << 31, .deflated = true}, "cannot be of the size"},
        {{.size = 40, .deflated = true}, "header length"},
        {{.packed = 50, .size = 50}, "header length"},
        {{.packed = 1 << 20, .size = 1 << 20}, "disagree"},
        {{.packed = 1 << 20, .deflated = true}, "disagree"},
        {{.packed = 60, .deflated = true}, "end too early"},
        {{.at = 1}, "disagree"},
        {{.at = 1 << 20}, "lies outside"},
        {{.flags = 1}, "encrypted"},
        {{.method = 12}, "compression method 12"},
        {{.method = 8}, "damaged"},
        {{.header_name = "y.npy"}, "names another"},
        {{.header_name = "longer.npy"}, "disagree"},
    };
    for (size_t i = 0; i < sizeof lie / sizeof *lie; i++)
        for (int wide = 0; wide < 2; wide++) {
            struct zip z = {.wide = wide};
            struct member m = lie[i].m;
            m.name = "x.npy";
            m.data = npy(i == 3 ? 72 : 100, 0);
            add_member(&z, &m);
            expect_problem(end_zip(&z, "lie.npz", ""), FORMATS, STATUS_DATA, lie[i].said,
                           lie[i].said);
            clear_bytes(&m.data);
        }
}

/* Of records longer than what is read at once a field is read alone: the checksum is of all bytes,
 * and told before a stream's end is. */
static enum status note_end(void *context, const struct data *about, struct problem *p)
{
    (void)about, (void)p;
    *(bool *)context = true;
    return STATUS_OK;
}

static enum status take_any(void *context, const struct array *block, size_t done, size_t of,
                            struct problem *p)
{
    (void)context, (void)block, (void)done, (void)of, (void)p;
    return STATUS_OK;
}

Test(npz, checksum_of_long_records)
{
    static const char header[] = "{'descr': [('x', '<f8'), ('p', '|S300000')], "
                                 "'fortran_order': False, 'shape': (2,)}";
    char *filler = calloc(1, 300000), part[320];
    struct bytes data = {0};
    add_string(&data, "\x93NUMPY\x01");
    add_number(&data, 0, 1);
    add_number(&data, strlen(header), 2);
    add_string(&data, header);
    for (size_t i = 0; i < 2; i++) {
        double x = 1.5;
        add_bytes(&data, &x, sizeof x);
        add_bytes(&data, filler, 300000);
    }
    for (int how = 0; how < 8; how++) {
        struct zip z = {0};
        struct member m = {
            .name = "x.npy", .data = data, .deflated = how & 1, .crc = how & 2 ? 7 : 0};
        add_member(&z, &m);
        snprintf(part, sizeof part, "%s:x:x", end_zip(&z, "long.npz", ""));
        bool ended = false;
        const struct data_stream stream = {.take = take_any, .end = note_end, .context = &ended};
        struct data_options options = {.storage = FORMATS, .stream = how & 4 ? &stream : NULL};
        struct data_set set;
        struct problem p = {0};
        enum status status = data_read(&set, part, &options, &p);
        cr_expect(status == (how & 2 ? STATUS_DATA : STATUS_OK), "%d: %d %s", how, (int)status,
                  p.text);
        cr_expect(!(how & 2) || strstr(p.text, "checksum"), "%d: '%s'", how, p.text);
        cr_expect(ended == (how == 4 || how == 5), "%d: ended %d", how, ended);
        data_free(&set);
    }
    clear_bytes(&data);
    free(filler);
}

/* However it is cut off or a byte of it changes: refused, or the same numbers. */
Test(npz, cut_off_and_changed)
{
    for (unsigned how = 0; how < 4; how++) {
        struct zip z = {.wide = how & 1};
        struct member m = {.name = "x.npy", .data = npy(20, 1), .deflated = how & 2};
        add_member(&z, &m);
        struct bytes whole = get_file(end_zip(&z, "x.npz", ""));
        for (size_t i = 0; i < 2 * whole.size; i++) {
            struct bytes b = {0};
            struct data_set set;
            struct problem p = {0};
            add_bytes(&b, whole.data, i < whole.size ? i : whole.size);
            if (i >= whole.size)
                b.data[i - whole.size] ^= (unsigned char)(1 << i % 8);
            enum status status = data_read(&set, put_file("x.npz", &b),
                                           &(struct data_options){.storage = FORMATS}, &p);
            cr_expect(status == STATUS_DATA || (status == STATUS_OK && i >= whole.size),
                      "%zu: status %d: %s", i, (int)status, p.text);
            for (size_t k = 0; status == STATUS_OK && k < set.item[0].array.n; k++)
                cr_assert(array_get(&set.item[0].array, k) == 1 + (double)k, "byte %zu", i);
            data_free(&set);
            clear_bytes(&b);
        }
        clear_bytes(&whole);
        clear_bytes(&m.data);
    }
}
