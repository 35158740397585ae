/* Addends of a few ranks that sums are hard to round of: near and far exponents, cancellation, ties
 * and what breaks them from afar, subnormal numbers, overflow on the way, zeros of both signs,
 * infinities and NaN. The same wherever they are asked for. */
#pragma once

#include <math.h>

#include "reference/format/format.h"

static inline uint64_t hard_mixed(uint64_t z)
{
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

enum { HARD_KINDS = 16 };

/* Addend i of a rank, a value of the format. */
static inline double hard_addend(enum format f, size_t rank, size_t i)
{
    const struct format_facts *is = &format_facts[f];
    uint64_t r = hard_mixed((uint64_t)rank << 40 ^ (uint64_t)i ^ (uint64_t)f << 60);
    uint64_t all = hard_mixed((uint64_t)i); /* of the element, alike on all ranks */
    double x = (double)(int64_t)r * 0x1p-63, sign = r & 1 ? 1 : -1;
    int low = is->emin - is->precision + 1, range = is->emax - low;
    switch (i % HARD_KINDS) {
    case 0:
    case 1: /* what one expects */
        break;
    case 2:
        x = ldexp(x, (int)(r >> 8 & 31) - 16);
        break;
    case 3: /* anywhere */
        x = ldexp(x, low + (int)(r >> 40) % range);
        break;
    case 4: /* cancels, but for what a last rank has */
        x = (rank % 2 ? -1 : 1) * ldexp((double)(all >> 12), (int)(all % 64) - 80);
        break;
    case 5: /* a tie, and less than half of what is far below */
        x = rank == 0   ? 1
            : rank == 1 ? ldexp(1, -is->precision)
                        : sign * ldexp(1, -is->precision - (int)(r >> 8 & 127));
        break;
    case 6: /* the same from below, of an odd number */
        x = rank == 0   ? 1 + ldexp(3, 1 - is->precision)
            : rank == 1 ? -ldexp(1, -is->precision)
                        : sign * ldexp(1, low + (int)(r >> 8 & 3));
        break;
    case 7: /* subnormal */
        x = ldexp((double)(r >> 8 & 7) * sign, low);
        break;
    case 8: /* too large on the way, or in the end */
        x = sign * ldexp(2 - ldexp(1, 1 - is->precision), is->emax - (int)(r >> 8 & 1));
        break;
    case 9: /* powers of two by which bins are chosen */
        x = sign * ldexp(1, -(int)(r >> 8 & 255));
        break;
    case 10:
        x = r & 2 ? 0 : -0.0;
        break;
    case 11:
        x = -0.0;
        break;
    case 12:
        x = r % 5 == 0 ? (double)INFINITY : r % 7 == 0 ? -(double)INFINITY : x;
        break;
    case 13:
        x = r % 11 == 0 ? (double)NAN : x;
        break;
    case 14: /* a large one and its opposite, and small ones */
        x = rank == 0 ? ldexp(1, is->emax - 2) : rank == 2 ? -ldexp(1, is->emax - 2) : x;
        break;
    case 15:
        x = rank == all % 8 ? x : 0;
        break;
    }
    return format_round(f, x);
}
