#include "reference/format/array.h"

#include <math.h>

#include "reference/format/encode.h"

size_t array_bytes(enum format f, size_t n)
{
    size_t width = (size_t)format_facts[f].bytes;
    return n > SIZE_MAX / width ? SIZE_MAX : n * width;
}

void array_decode(const struct array *a, size_t begin, size_t count, double *out)
{
    switch (a->format) {
    case FP16:
        for (size_t i = 0; i < count; i++)
            out[i] = format_decode(FP16, ((const uint16_t *)a->data)[begin + i]);
        break;
    case BF16:
        for (size_t i = 0; i < count; i++)
            out[i] = format_decode(BF16, ((const uint16_t *)a->data)[begin + i]);
        break;
    case FP32:
        for (size_t i = 0; i < count; i++)
            out[i] = ((const float *)a->data)[begin + i];
        break;
    case FP64:
        memcpy(out, (const double *)a->data + begin, count * sizeof *out);
        break;
    case E4M3:
        for (size_t i = 0; i < count; i++)
            out[i] = format_decode(E4M3, ((const uint8_t *)a->data)[begin + i]);
        break;
    case E5M2:
        for (size_t i = 0; i < count; i++)
            out[i] = format_decode(E5M2, ((const uint8_t *)a->data)[begin + i]);
    }
}

void array_encode(const struct array *a, size_t begin, size_t count, const double *in)
{
    uint64_t nan = format_facts[a->format].nan;
    switch (a->format) {
    case FP32:
        for (size_t i = 0; i < count; i++) {
            float x = in[i] == in[i] ? (float)in[i] : float_from_bits((uint32_t)nan);
            ((float *)a->data)[begin + i] = x;
        }
        break;
    case FP64:
        for (size_t i = 0; i < count; i++)
            ((double *)a->data)[begin + i] = in[i] == in[i] ? in[i] : double_from_bits(nan);
        break;
    case FP16:
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)a->data)[begin + i] = (uint16_t)encode_narrow(FP16, in[i]);
        break;
    case BF16:
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)a->data)[begin + i] = (uint16_t)encode_bf16(in[i]);
        break;
    case E4M3:
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)a->data)[begin + i] = (uint8_t)encode_narrow(E4M3, in[i]);
        break;
    case E5M2:
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)a->data)[begin + i] = (uint8_t)encode_narrow(E5M2, in[i]);
    }
}

void array_set_bits(const struct array *a, size_t i, uint64_t bits)
{
    uint16_t half = (uint16_t)bits;
    uint32_t single = (uint32_t)bits;
    switch (a->format) {
    case FP16:
    case BF16:
        memcpy((char *)a->data + i * sizeof half, &half, sizeof half);
        break;
    case FP32:
        memcpy((char *)a->data + i * sizeof single, &single, sizeof single);
        break;
    case FP64:
        memcpy((char *)a->data + i * sizeof bits, &bits, sizeof bits);
        break;
    case E4M3:
    case E5M2:
        ((uint8_t *)a->data)[i] = (uint8_t)bits;
    }
}

double array_get_narrow(const struct array *a, size_t i)
{
    return format_decode(a->format, array_bits(a, i));
}

#define CLEAR_SIGNS(bits_of)                                                                       \
    for (size_t i = 0; i < count; i++) {                                                           \
        bits_of bits;                                                                              \
        memcpy(&bits, from + i * sizeof bits, sizeof bits);                                        \
        bits = (bits_of)(bits << 1) >> 1;                                                          \
        memcpy(data + i * sizeof bits, &bits, sizeof bits);                                        \
    }

/* In every format the first bit is the sign. */
static void magnitudes(const struct array *to, const struct array *a, size_t begin, size_t count)
{
    size_t width = (size_t)format_facts[a->format].bytes;
    const char *from = (const char *)a->data + begin * width;
    char *data = to->data;
    if (width == 1)
        CLEAR_SIGNS(uint8_t)
    else if (width == 2)
        CLEAR_SIGNS(uint16_t)
    else if (width == 4)
        CLEAR_SIGNS(uint32_t)
    else
        CLEAR_SIGNS(uint64_t)
}

void array_terms(const struct array *to, const struct array *a, size_t begin, size_t count,
                 array_term *term)
{
    double x[ARRAY_BLOCK];
    if (term == fabs) {
        magnitudes(to, a, begin, count);
        return;
    }
    for (size_t i = 0, part; i < count; i += part) {
        part = count - i < ARRAY_BLOCK ? count - i : ARRAY_BLOCK;
        array_decode(a, begin + i, part, x);
        for (size_t j = 0; j < part; j++)
            x[j] = term(x[j]);
        array_encode(to, i, part, x);
    }
}
