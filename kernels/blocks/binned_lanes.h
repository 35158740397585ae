/* The cutting of blocks of elements, in vectors of LINE bytes. Included by binned_fast.c alone,
 * once for each LINE, with a macro SIZED that makes names of it.
 *
 * Adding an anchor, 1.5 times the number whose last bit is worth the bin's unit, rounds an element
 * to a multiple of that unit, ties to even; and the sum's encoding, as an integer, is the anchor's
 * plus that multiple. So encodings are added up as integers, modulo their width, and the anchors'
 * are taken off in the end: of a block, a lane's sum stays below half of that.
 *
 * Near the largest numbers an anchor would overflow. There everything is scaled down by 2^64; what
 * becomes subnormal then is far below half a unit. */

typedef float SIZED(singles) __attribute__((vector_size(LINE)));
typedef uint32_t SIZED(words) __attribute__((vector_size(LINE)));
typedef double SIZED(doubles) __attribute__((vector_size(LINE)));
typedef uint64_t SIZED(longs) __attribute__((vector_size(LINE)));

/* Adds the parts of x[0 .. count-1] to the state's bins. `count` is a multiple of the lanes. */
INLINE void SIZED(cut_singles)(struct binned_state *s, const float *x, size_t count, int scale,
                               int kept)
{
    const size_t lanes = LINE / sizeof *x;
    float anchor[BINNED_KEPT_MOST];
    int finer[BINNED_KEPT_MOST]; /* no unit of a float is below 2^-149: one of a bin may be */
    SIZED(words) total[BINNED_KEPT_MOST] = {{0}};
    for (int k = 0; k < kept; k++) {
        int unit = binned_unit(&s->bins, s->window + k) + scale;
        finer[k] = unit < -149 ? -149 - unit : 0;
        anchor[k] = float_from_bits((uint32_t)(unit + finer[k] + 23 + 127) << 23 | 1u << 22);
    }
    for (size_t i = 0; i < count; i += lanes) {
        SIZED(singles) left;
        memcpy(&left, x + i, sizeof left);
        if (i * sizeof *x % 64 == 0)
            __builtin_prefetch(x + i + BLOCK);
        if (scale)
            left *= 0x1p-64f;
        for (int k = kept - 1; k > 0; k--) {
            SIZED(singles) cut = anchor[k] + left;
            total[k] += (SIZED(words))cut;
            left -= cut - anchor[k];
        }
        total[0] += (SIZED(words))(anchor[0] + left);
    }
    for (int k = 0; k < kept; k++) {
        uint32_t bits, each = (uint32_t)(count / lanes);
        memcpy(&bits, &anchor[k], sizeof bits);
        for (size_t lane = 0; lane < lanes; lane++) {
            int64_t sum = (int32_t)(total[k][lane] - each * bits);
            s->bin[k] += sum * (INT64_C(1) << finer[k]);
        }
    }
}

INLINE void SIZED(cut_singles_kept)(struct binned_state *s, const float *x, size_t count, int kept)
{
    if (binned_unit(&s->bins, s->window + kept - 1) + 23 <= 127)
        SIZED(cut_singles)(s, x, count, 0, kept);
    else
        SIZED(cut_singles)(s, x, count, -64, kept);
}

INLINE void SIZED(cut_block_singles)(struct binned_state *s, const float *x, size_t count)
{
    switch (s->bins.kept) {
    case 2:
        SIZED(cut_singles_kept)(s, x, count, 2);
        break;
    case 3:
        SIZED(cut_singles_kept)(s, x, count, 3);
        break;
    case 4:
        SIZED(cut_singles_kept)(s, x, count, 4);
        break;
    case 5:
        SIZED(cut_singles_kept)(s, x, count, 5);
        break;
    default:
        SIZED(cut_singles_kept)(s, x, count, 6);
    }
}

/* The same in double, where no unit is too fine. */
INLINE void SIZED(cut_doubles)(struct binned_state *s, const double *x, size_t count, int scale,
                               int kept)
{
    const size_t lanes = LINE / sizeof *x;
    double anchor[BINNED_KEPT_MOST];
    SIZED(longs) total[BINNED_KEPT_MOST] = {{0}};
    for (int k = 0; k < kept; k++) {
        int unit = binned_unit(&s->bins, s->window + k) + scale;
        anchor[k] = double_from_bits((uint64_t)(unit + 52 + 1023) << 52 | UINT64_C(1) << 51);
    }
    for (size_t i = 0; i < count; i += lanes) {
        SIZED(doubles) left;
        memcpy(&left, x + i, sizeof left);
        if (i * sizeof *x % 64 == 0)
            __builtin_prefetch(x + i + BLOCK);
        if (scale)
            left *= 0x1p-64;
        for (int k = kept - 1; k > 0; k--) {
            SIZED(doubles) cut = anchor[k] + left;
            total[k] += (SIZED(longs))cut;
            left -= cut - anchor[k];
        }
        total[0] += (SIZED(longs))(anchor[0] + left);
    }
    for (int k = 0; k < kept; k++) {
        uint64_t anchors = count / lanes * double_bits(anchor[k]);
        for (size_t lane = 0; lane < lanes; lane++)
            s->bin[k] += (int64_t)(total[k][lane] - anchors);
    }
}

INLINE void SIZED(cut_doubles_kept)(struct binned_state *s, const double *x, size_t count, int kept)
{
    if (binned_unit(&s->bins, s->window + kept - 1) + 52 <= 1023)
        SIZED(cut_doubles)(s, x, count, 0, kept);
    else
        SIZED(cut_doubles)(s, x, count, -64, kept);
}

INLINE void SIZED(cut_block_doubles)(struct binned_state *s, const double *x, size_t count)
{
    switch (s->bins.kept) {
    case 1:
        SIZED(cut_doubles_kept)(s, x, count, 1);
        break;
    case 4:
        SIZED(cut_doubles_kept)(s, x, count, 4);
        break;
    case 5:
        SIZED(cut_doubles_kept)(s, x, count, 5);
        break;
    default:
        SIZED(cut_doubles_kept)(s, x, count, 6);
    }
}

/* `count` is a multiple of SINGLES, at most BLOCK. False: nothing was added. */
INLINE bool SIZED(add_block)(struct binned_state *s, const struct array *a, size_t begin,
                             size_t count)
{
    if (a->format == FP64 || s->accumulator == FP64) {
        double buffer[BLOCK];
        const double *x = decode_doubles(a, begin, count, buffer);
        if (!survey(s, largest_double(x, count), 52, 1023))
            return false;
        SIZED(cut_block_doubles)(s, x, count);
    } else {
        float buffer[BLOCK];
        const float *x = decode_singles(a, begin, count, buffer);
        if (!survey(s, largest_single(x, count), 23, 127))
            return false;
        SIZED(cut_block_singles)(s, x, count);
    }
    s->terms += count;
    s->plain = true;
    return true;
}

INLINE void SIZED(add)(struct binned_state *s, const struct array *a, size_t begin, size_t count)
{
    for (size_t size; count > 0; begin += size, count -= size) {
        size = count < BLOCK ? count : BLOCK;
        size_t whole = size - size % SINGLES;
        if (whole > 0 && !SIZED(add_block)(s, a, begin, whole))
            whole = 0;
        binned_plain(s, a, begin + whole, size - whole);
    }
}

#undef LINE
#undef SIZED
