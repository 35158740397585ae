/* What the other rows, or columns, of a batch hold. */
#include <math.h>
#include <string.h>

#include "experiments/check/attempts.h"

static double infinity(int byte)
{
    return byte == CHECK_PLUS ? (double)INFINITY : -(double)INFINITY;
}

const char *check_others_are(int byte)
{
    return byte == 0xff          ? ", among NaN"
           : byte == 0           ? ", among zeros"
           : byte == 0x3c        ? ", among small numbers"
           : byte == 0x7b        ? ", among large numbers"
           : byte == CHECK_PLUS  ? ", among infinities"
           : byte == CHECK_MINUS ? ", among negative infinities"
                                 : ", among large negative numbers";
}

bool check_others_can(enum format f, int byte)
{
    return byte <= 0xff || isinf(format_round(f, infinity(byte)));
}

void check_others_fill(const struct array *in, size_t n, int byte)
{
    if (byte <= 0xff) {
        memset(in->data, byte, array_bytes(in->format, n));
        return;
    }
    const uint64_t bits = format_encode(in->format, infinity(byte));
    for (size_t i = 0; i < n; i++)
        array_set_bits(in, i, bits);
}
