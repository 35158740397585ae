/* Keys: which bin each element of a scatter-add goes to.
 *
 *     uniform      each bin as likely as any other
 *     zipf:s=1.1   bin b with a probability in proportion to (b + 1)^-s, 0 <= s <= 16
 *     one          all in bin 0
 *     sorted       those of uniform, ascending
 *     file:PATH    the user's: integers in a .npy of one dimension, of 1 to 8 bytes, of either byte
 *                  order; else raw little-endian unsigned integers of 4 bytes
 *
 * Generated keys depend on the specification, the number of bins, the seed and the index alone
 * (sorted: and on n). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "reference/base/problem.h"

enum { KEYS_BINS_MAX = 1 << 20, KEYS_HASH_TEXT = 17 };

enum keys_kind { KEYS_UNIFORM, KEYS_ZIPF, KEYS_ONE, KEYS_SORTED, KEYS_FILE, KEYS_KINDS };

struct keys {
    enum keys_kind kind;
    double s;        /* zipf's exponent */
    char *asked;     /* canonical specification, with the path of a file */
    char *name;      /* column `keys`: the same, of a file its name without the folders */
    uint32_t *given; /* a file's */
    size_t count;
    char hash[KEYS_HASH_TEXT]; /* of a file's keys, XXH64; else "" */
};

/* Reads a specification, and the file of one. STATUS_USAGE for what is none; STATUS_DATA for a file
 * that cannot be read, or holds no integers, a negative key, or one of KEYS_BINS_MAX and more. On
 * success keys_free is due. */
enum status keys_parse(struct keys *k, const char *text, struct problem *p);
void keys_free(struct keys *k);

/* Are there n keys, all below `bins`? Of generated ones always. STATUS_USAGE: a file has fewer;
 * STATUS_DATA: the first that is not below. */
enum status keys_fit(const struct keys *k, size_t n, size_t bins, struct problem *p);

/* The first n keys; they fit. STATUS_MEMORY when memory is short. */
enum status keys_fill(const struct keys *k, uint32_t *to, size_t n, size_t bins, uint64_t seed,
                      struct problem *p);

/* What keys_parse reads of a file into `given` and `count`. */
enum status keys_read(struct keys *k, const char *path, struct problem *p);
