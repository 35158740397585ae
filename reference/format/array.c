#include "reference/format/array.h"

#include <math.h>

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
    }
}

void array_encode(const struct array *a, size_t begin, size_t count, const double *in)
{
    const uint64_t nan = format_encode(a->format, NAN);
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
    case BF16:
        for (size_t i = 0; i < count; i++)
            array_set_bits(a, begin + i, format_encode(a->format, in[i]));
    }
}

uint64_t array_bits(const struct array *a, size_t i)
{
    uint64_t bits = 0;
    size_t width = (size_t)format_facts[a->format].bytes;
    memcpy(&bits, (const char *)a->data + i * width, width);
    return bits;
}

void array_set_bits(const struct array *a, size_t i, uint64_t bits)
{
    size_t width = (size_t)format_facts[a->format].bytes;
    memcpy((char *)a->data + i * width, &bits, width);
}

double array_get(const struct array *a, size_t i)
{
    return format_decode(a->format, array_bits(a, i));
}
