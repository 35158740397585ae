#include "experiments/data/zip.h"

#include <stdlib.h>
#include <zlib.h>

#include "experiments/system/memory.h"

/* The format: APPNOTE.TXT, 4.3. Nothing that the file says of itself is believed before it is held
 * against the bytes that are there. */

enum {
    END = 22,
    END64 = 56,
    LOCATOR64 = 20,
    ENTRY = 46,
    HEADER = 30,
    COMMENT_MOST = 65535,
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1,
    RATIO_MOST = 1032 /* of deflate: 258 bytes from two bits */
};

static uint64_t get(const unsigned char *at, unsigned width)
{
    uint64_t value = 0;
    while (width-- > 0)
        value = value << 8 | at[width];
    return value;
}

static enum status malformed(const struct data_file *file, const char *what, struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: malformed zip file: %s", file->path, what);
}

/* Where the directory is, by what ends the file. */
static enum status find_directory(uint64_t *offset, uint64_t *size, const unsigned char *tail,
                                  size_t length, const struct data_file *file, struct problem *p)
{
    size_t at = length - END;
    while (!(memcmp(tail + at, "PK\5\6", 4) == 0 && get(tail + at + 20, 2) == length - END - at))
        if (at-- == 0)
            return malformed(file, "found no end of its directory", p);
    *size = get(tail + at + 12, 4);
    *offset = get(tail + at + 16, 4);
    size_t end = file->size - length + at;
    if (at < LOCATOR64 || memcmp(tail + at - LOCATOR64, "PK\6\7", 4) != 0)
        return *size <= end && *offset == end - *size
                   ? STATUS_OK
                   : malformed(file, "its directory does not end where it says", p);
    unsigned char end64[END64];
    uint64_t place = get(tail + at - LOCATOR64 + 8, 8);
    if (end < LOCATOR64 + END64 || place > end - LOCATOR64 - END64)
        return malformed(file, "its zip64 directory lies outside it", p);
    enum status status = data_file_read(file, (size_t)place, END64, end64, p);
    if (status != STATUS_OK)
        return status;
    *size = get(end64 + 40, 8);
    *offset = get(end64 + 48, 8);
    return memcmp(end64, "PK\6\6", 4) == 0 && *size <= place && *offset == place - *size
               ? STATUS_OK
               : malformed(file, "its zip64 directory does not end where it says", p);
}

enum status zip_open(struct zip *z, const struct data_file *file, struct problem *p)
{
    size_t length =
        file->size < COMMENT_MOST + END + LOCATOR64 ? file->size : COMMENT_MOST + END + LOCATOR64;
    uint64_t offset = 0, size = 0;
    *z = (struct zip){.file = file};
    if (length < END)
        return malformed(file, "too short", p);
    unsigned char *tail = malloc(length);
    enum status status = STATUS_MEMORY;
    if (!tail)
        return problem(p, status, "%s: out of memory", file->path);
    status = data_file_read(file, file->size - length, length, tail, p);
    if (status == STATUS_OK)
        status = find_directory(&offset, &size, tail, length, file, p);
    free(tail);
    if (status != STATUS_OK)
        return status;
    z->size = (size_t)size;
    z->end = (size_t)offset;
    z->directory = memory_has(z->size) ? malloc(z->size + 1) : NULL;
    if (!z->directory)
        return problem(p, STATUS_MEMORY, "%s: out of memory for a directory of %zu bytes",
                       file->path, z->size);
    status = data_file_read(file, z->end, z->size, z->directory, p);
    if (status != STATUS_OK)
        zip_close(z);
    return status;
}

void zip_close(struct zip *z)
{
    free(z->directory);
    z->directory = NULL;
}

/* Sizes and places that do not fit in 32 bits stand in an extra field, in this order. */
static bool take_zip64(struct zip_entry *e, const unsigned char *extra, size_t length)
{
    uint64_t *const wide[] = {&e->size, &e->packed, &e->header};
    bool due = false;
    for (size_t i = 0; i < 3; i++)
        due |= *wide[i] == UINT32_MAX;
    while (due && length >= 4) {
        size_t size = (size_t)get(extra + 2, 2);
        if (size > length - 4)
            return false;
        if (get(extra, 2) == 1) {
            const unsigned char *at = extra + 4, *end = at + size;
            for (size_t i = 0; i < 3; i++) {
                if (*wide[i] != UINT32_MAX)
                    continue;
                if (end - at < 8)
                    return false;
                *wide[i] = get(at, 8);
                at += 8;
            }
            return true;
        }
        extra += 4 + size;
        length -= 4 + size;
    }
    return !due;
}

enum status zip_next(struct zip_entry *e, size_t *at, const struct zip *z, struct problem *p)
{
    const unsigned char *entry = z->directory + *at;
    if (z->size - *at < ENTRY || memcmp(entry, "PK\1\2", 4) != 0)
        return malformed(z->file, "found no entry where its directory has one", p);
    size_t name = (size_t)get(entry + 28, 2), extra = (size_t)get(entry + 30, 2);
    size_t comment = (size_t)get(entry + 32, 2);
    *e = (struct zip_entry){.name = (const char *)entry + ENTRY,
                            .name_length = name,
                            .flags = (unsigned)get(entry + 8, 2),
                            .method = (unsigned)get(entry + 10, 2),
                            .crc = (uint32_t)get(entry + 16, 4),
                            .packed = get(entry + 20, 4),
                            .size = get(entry + 24, 4),
                            .header = get(entry + 42, 4)};
    if (name + extra + comment > z->size - *at - ENTRY)
        return malformed(z->file, "an entry goes beyond its directory", p);
    if (!take_zip64(e, entry + ENTRY + name, extra))
        return malformed(z->file, "an entry lacks its zip64 sizes", p);
    *at += ENTRY + name + extra + comment;
    return STATUS_OK;
}

/* --- A member --- */

enum { HEAD = 1 << 16, BLOCK = 1 << 16 };

struct member {
    const struct data_file *file;
    const char *path;
    struct zip_entry e;
    size_t begin;    /* of its packed bytes */
    uint64_t read;   /* of those */
    uint64_t at;     /* of the unpacked ones */
    uint32_t crc;    /* of these, so far */
    z_stream stream; /* where it is deflated */
    bool streaming, ended;
    unsigned char in[BLOCK];
    unsigned char head[HEAD]; /* its first bytes, for those who come back to them */
};

static enum status broken(const struct member *m, const char *what, struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: damaged in its zip file: %s", m->path, what);
}

static enum status begin(struct member *m, struct problem *p)
{
    if (m->streaming)
        inflateEnd(&m->stream);
    m->streaming = m->ended = false;
    m->read = m->at = 0;
    m->crc = 0;
    m->stream = (z_stream){0};
    if (m->e.method == STORED)
        return STATUS_OK;
    m->streaming = inflateInit2(&m->stream, -MAX_WBITS) == Z_OK;
    return m->streaming ? STATUS_OK : problem(p, STATUS_MEMORY, "%s: out of memory", m->path);
}

static enum status refill(struct member *m, struct problem *p)
{
    uint64_t left = m->e.packed - m->read;
    size_t count = left < BLOCK ? (size_t)left : BLOCK;
    enum status status = data_file_read(m->file, m->begin + (size_t)m->read, count, m->in, p);
    m->read += count;
    m->stream.next_in = m->in;
    m->stream.avail_in = (unsigned)count;
    return status;
}

/* The next bytes, as many as are asked for. */
static enum status inflate_next(struct member *m, unsigned char *to, size_t size, struct problem *p)
{
    enum status status = STATUS_OK;
    m->stream.next_out = to;
    m->stream.avail_out = (unsigned)size;
    while (m->stream.avail_out > 0 && status == STATUS_OK) {
        if (m->ended)
            return broken(m, "it ends before the size that its directory says", p);
        if (m->stream.avail_in == 0 && m->read < m->e.packed)
            status = refill(m, p);
        if (status != STATUS_OK)
            break;
        unsigned before = m->stream.avail_out;
        int found = inflate(&m->stream, Z_NO_FLUSH);
        m->ended = found == Z_STREAM_END;
        if (found == Z_MEM_ERROR)
            return problem(p, STATUS_MEMORY, "%s: out of memory", m->path);
        if (found != Z_OK && found != Z_STREAM_END &&
            !(found == Z_BUF_ERROR && m->read < m->e.packed && before == m->stream.avail_out))
            return broken(m,
                          found == Z_BUF_ERROR ? "its packed bytes end too early"
                                               : "its packed bytes are no deflate stream",
                          p);
    }
    return status;
}

static enum status next(struct member *m, unsigned char *to, size_t size, struct problem *p)
{
    enum status status = m->e.method == STORED
                             ? data_file_read(m->file, m->begin + (size_t)m->at, size, to, p)
                             : inflate_next(m, to, size, p);
    if (status != STATUS_OK)
        return status;
    m->crc = (uint32_t)crc32_z(m->crc, to, size);
    if (m->at < HEAD)
        memcpy(m->head + m->at, to, size < HEAD - m->at ? size : (size_t)(HEAD - m->at));
    m->at += size;
    if (m->at == m->e.size && m->crc != m->e.crc)
        return broken(m, "its checksum is not the one that its directory says", p);
    return STATUS_OK;
}

/* Unpacks without keeping. */
static enum status skip(struct member *m, uint64_t to, struct problem *p)
{
    unsigned char *room = malloc(BLOCK);
    enum status status = room ? STATUS_OK : problem(p, STATUS_MEMORY, "%s: out of memory", m->path);
    while (status == STATUS_OK && m->at < to)
        status = next(m, room, to - m->at < BLOCK ? (size_t)(to - m->at) : BLOCK, p);
    free(room);
    return status;
}

static enum status read_member(void *state, size_t offset, size_t size, void *to, struct problem *p)
{
    enum { PIECE = 1 << 20 }; /* so that what is unpacked is still in the cache for its checksum */
    struct member *m = state;
    unsigned char *put = to;
    if (offset < m->at && offset < HEAD) {
        size_t there = m->at < HEAD ? (size_t)m->at : HEAD;
        size_t count = there - offset < size ? there - offset : size;
        memcpy(put, m->head + offset, count);
        put += count;
        offset += count;
        size -= count;
    }
    enum status status = STATUS_OK;
    if (size > 0 && offset < m->at)
        status = begin(m, p);
    if (status == STATUS_OK && size > 0 && offset > m->at)
        status = skip(m, offset, p);
    for (size_t part; status == STATUS_OK && size > 0; size -= part, put += part) {
        part = size < PIECE ? size : PIECE;
        status = next(m, put, part, p);
    }
    return status;
}

/* The header before a member's bytes must say the same name: its lengths place them. */
static enum status find_bytes(struct member *m, const struct zip *z, struct problem *p)
{
    unsigned char header[HEADER];
    const struct zip_entry *e = &m->e;
    if (z->end < HEADER || e->header > z->end - HEADER)
        return broken(m, "its header lies outside", p);
    enum status status = data_file_read(z->file, (size_t)e->header, HEADER, header, p);
    if (status != STATUS_OK)
        return status;
    size_t name = (size_t)get(header + 26, 2), extra = (size_t)get(header + 28, 2);
    m->begin = (size_t)e->header + HEADER + name + extra;
    if (memcmp(header, "PK\3\4", 4) != 0 || name != e->name_length || m->begin > z->end ||
        e->packed > z->end - m->begin)
        return broken(m, "its header and its directory disagree", p);
    char *said = malloc(name + 1);
    if (!said)
        return problem(p, STATUS_MEMORY, "%s: out of memory", m->path);
    status = data_file_read(z->file, (size_t)e->header + HEADER, name, said, p);
    bool same = status == STATUS_OK && memcmp(said, e->name, name) == 0;
    free(said);
    return same || status != STATUS_OK ? status : broken(m, "its header names another member", p);
}

static enum status check_entry(const struct member *m, struct problem *p)
{
    const struct zip_entry *e = &m->e;
    if (e->flags & ENCRYPTED)
        return problem(p, STATUS_DATA, "%s: found an encrypted member, expected one that is not",
                       m->path);
    if (e->method != STORED && e->method != DEFLATED)
        return problem(p, STATUS_DATA,
                       "%s: found compression method %u, expected stored or deflated, as "
                       "numpy.savez and savez_compressed write",
                       m->path, e->method);
    if (e->method == STORED ? e->size != e->packed : e->size / RATIO_MOST > e->packed)
        return broken(m, "its packed bytes cannot be of the size that its directory says", p);
    return STATUS_OK;
}

enum status zip_member_open(struct data_file *member, const struct zip *z,
                            const struct zip_entry *e, const char *path, const char *name,
                            struct problem *p)
{
    struct member *m = calloc(1, sizeof *m);
    if (!m)
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
    m->file = z->file;
    m->path = path;
    m->e = *e;
    enum status status = check_entry(m, p);
    if (status == STATUS_OK)
        status = find_bytes(m, z, p);
    if (status == STATUS_OK)
        status = begin(m, p);
    *member = (struct data_file){.path = path,
                                 .name = name,
                                 .fd = -1,
                                 .source = read_member,
                                 .state = m,
                                 .size = (size_t)e->size,
                                 .mark = ':'};
    if (status != STATUS_OK)
        zip_member_close(member);
    return status;
}

void zip_member_close(struct data_file *member)
{
    struct member *m = member->state;
    if (m && m->streaming)
        inflateEnd(&m->stream);
    free(m);
    member->state = NULL;
}
