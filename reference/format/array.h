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

/* The encoding of element i, and writing one. Each copy has a constant size, so the compiler emits
 * a move instead of a call of memcpy. */
static inline uint64_t array_bits(const struct array *a, size_t i)
{
    uint16_t half;
    uint32_t single;
    uint64_t whole;
    switch (a->format) {
    case FP16:
    case BF16:
        memcpy(&half, (const char *)a->data + i * sizeof half, sizeof half);
        return half;
    case FP32:
        memcpy(&single, (const char *)a->data + i * sizeof single, sizeof single);
        return single;
    case FP64:
        break;
    case E4M3:
    case E5M2:
        return ((const uint8_t *)a->data)[i];
    }
    memcpy(&whole, (const char *)a->data + i * sizeof whole, sizeof whole);
    return whole;
}

void array_set_bits(const struct array *a, size_t i, uint64_t bits);

/* Element i as a double. */
double array_get_narrow(const struct array *a, size_t i); /* of one or two bytes */
static inline double array_get(const struct array *a, size_t i)
{
    float single;
    double whole;
    if (a->format == FP32) {
        memcpy(&single, (const char *)a->data + i * sizeof single, sizeof single);
        return single;
    }
    if (a->format != FP64)
        return array_get_narrow(a, i);
    memcpy(&whole, (const char *)a->data + i * sizeof whole, sizeof whole);
    return whole;
}

#ifdef __cplusplus
}
#endif
