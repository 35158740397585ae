/* Zip files (zip64 too) through zlib: their directory, and a member as a file of its own. */
#pragma once

#include "experiments/data/file.h"

struct zip_entry {
    const char *name; /* not ended by a zero */
    size_t name_length;
    unsigned flags, method;
    uint32_t crc;
    uint64_t packed, size, header; /* bytes in the file and unpacked; where its header is */
};

struct zip {
    const struct data_file *file;
    unsigned char *directory;
    size_t size, end; /* bytes of the directory; where it begins in the file: members end there */
};

/* Reads the directory. STATUS_DATA where it is none; zip_close is due on success. The file is kept,
 * not copied. */
enum status zip_open(struct zip *z, const struct data_file *file, struct problem *p);
void zip_close(struct zip *z);

/* The entry at byte *at of the directory, and moves on; *at == z->size after the last. STATUS_DATA
 * for a malformed one. */
enum status zip_next(struct zip_entry *e, size_t *at, const struct zip *z, struct problem *p);

/* Opens a member: stored or deflated. Its bytes are unpacked as they are read, forward, in bounded
 * memory; reading again what lies far behind begins anew. What does not unpack to just the size and
 * the checksum in the directory is STATUS_DATA. path and name (for messages and rows) are kept, not
 * copied. zip_member_close is due on success. */
enum status zip_member_open(struct data_file *member, const struct zip *z,
                            const struct zip_entry *e, const char *path, const char *name,
                            struct problem *p);
void zip_member_close(struct data_file *member);
