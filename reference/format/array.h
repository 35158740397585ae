/* An array in its storage format.
 *
 * Arrays stay encoded (little-endian, no padding) and are never decoded whole:
 * readers decode a block at a time. The data need only be aligned to the width
 * of one element. */
#pragma once

#include "reference/format/format.h"

#ifdef __cplusplus
extern "C" {
#endif

struct array {
    enum format format;
    size_t n;   /* elements */
    void *data; /* n * format_facts[format].bytes bytes; a host or a device address */
};

/* A block size that fits in the first-level cache as doubles. */
enum { ARRAY_BLOCK = 1024 };

/* Bytes of n elements, or SIZE_MAX where that does not fit in a size_t. */
size_t array_bytes(enum format f, size_t n);

/* Elements begin .. begin+count-1 as doubles (exact; NaN payloads are lost). */
void array_decode(const struct array *a, size_t begin, size_t count, double *out);

/* Writes doubles into elements begin .. begin+count-1, each rounded to the format. */
void array_encode(const struct array *a, size_t begin, size_t count, const double *in);

/* The term that a sum adds for an element x; NULL for the element itself. */
typedef double array_term(double x);
/* Writes what it makes of elements begin .. begin+count-1 to the first elements of `to`. */
void array_terms(const struct array *to, const struct array *a, size_t begin, size_t count,
                 array_term *term);

/* The encoding of element i, and writing one. */
uint64_t array_bits(const struct array *a, size_t i);
void array_set_bits(const struct array *a, size_t i, uint64_t bits);

/* Element i as a double. */
double array_get(const struct array *a, size_t i);

#ifdef __cplusplus
}
#endif
