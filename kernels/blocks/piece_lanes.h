/* Tiles of pieces in `real`, for pieces_fast.c, which includes this once with float and once with
 * double. NAME(x) is x with a suffix, ROUND(f, x) is x rounded to the format f, MAGNITUDE(x) is
 * |x|; none of them outlives it. The rules are those of kahan.c, neumaier.c, sumk.c (sum/sum2 with
 * two words) and double_word.c. w[] is a piece, which what is added to it overwrites. Loops over
 * words are unrolled: inside the loop over columns, any that is left keeps gcc from making vector
 * code of it. */

INLINE real NAME(plus)(enum format f, real a, real b)
{
    return ROUND(f, a + b);
}

/* *a becomes a + b; returns what that loses. */
INLINE real NAME(two_sum)(enum format f, real *a, real b)
{
    real sum = NAME(plus)(f, *a, b);
    real of_b = NAME(plus)(f, sum, -*a), of_a = NAME(plus)(f, sum, -of_b);
    real error = NAME(plus)(f, NAME(plus)(f, *a, -of_a), NAME(plus)(f, b, -of_b));
    *a = sum;
    return error;
}

INLINE real NAME(fast_two_sum)(enum format f, real *a, real b)
{
    real sum = NAME(plus)(f, *a, b), error = NAME(plus)(f, b, -NAME(plus)(f, sum, -*a));
    *a = sum;
    return error;
}

INLINE real NAME(by_branch)(enum format f, real *a, real b)
{
    bool ordered = MAGNITUDE(*a) >= MAGNITUDE(b);
    real large = ordered ? *a : b, small = ordered ? b : *a;
    *a = NAME(plus)(f, *a, b);
    return NAME(plus)(f, NAME(plus)(f, large, -*a), small);
}

INLINE void NAME(add_kahan)(enum format f, real *w, real x)
{
    real y = NAME(plus)(f, x, w[1]), s = NAME(plus)(f, w[0], y);
    real c = NAME(plus)(f, y, -NAME(plus)(f, s, -w[0]));
    w[0] = s;
    w[1] = MAGNITUDE(c) < (real)INFINITY ? c : 0;
}

INLINE void NAME(add_neumaier)(enum format f, real *w, real x)
{
    real d = NAME(by_branch)(f, &w[0], x);
    w[1] = NAME(plus)(f, w[1], d);
}

INLINE void NAME(join_neumaier)(enum format f, real *w, const real *b)
{
    real d = NAME(by_branch)(f, &w[0], b[0]);
    w[1] = NAME(plus)(f, w[1], NAME(plus)(f, b[1], d));
}

INLINE void NAME(add_words)(unsigned words, enum format f, real *w, real x)
{
#pragma GCC unroll 8
    for (unsigned k = 0; k + 1 < words; k++)
        x = NAME(two_sum)(f, &w[k], x);
    w[words - 1] = NAME(plus)(f, w[words - 1], x);
}

INLINE void NAME(join_words)(unsigned words, enum format f, real *w, const real *b)
{
    real error[PIECE_WORDS] = {0};
#pragma GCC unroll 8
    for (unsigned k = 0; k + 1 < words; k++) {
        real lost = NAME(two_sum)(f, &w[k], b[k]);
#pragma GCC unroll 8
        for (unsigned i = 0; i < k; i++) {
            real from_above = error[i];
            error[i] = lost;
            lost = NAME(two_sum)(f, &w[k], from_above);
        }
        error[k] = lost;
    }
    real errors = error[0];
    for (unsigned i = 1; i + 1 < words; i++)
        errors = NAME(plus)(f, errors, error[i]);
    w[words - 1] = NAME(plus)(f, w[words - 1], NAME(plus)(f, b[words - 1], errors));
}

/* The piece high + low, or sum alone. */
INLINE void NAME(keep)(real *w, real high, real low, real sum)
{
    bool kept = (high != 0) & (MAGNITUDE(low) < (real)INFINITY);
    w[0] = kept ? high : sum;
    w[1] = kept ? low : 0;
}

INLINE void NAME(add_double_word)(enum format f, real *w, real x)
{
    real sum = w[0], error = NAME(two_sum)(f, &sum, x);
    real high = sum, low = NAME(fast_two_sum)(f, &high, NAME(plus)(f, w[1], error));
    NAME(keep)(w, high, low, sum);
}

INLINE void NAME(join_double_word)(enum format f, real *w, const real *b)
{
    real sum = w[0], error = NAME(two_sum)(f, &sum, b[0]);
    real low = w[1], lost = NAME(two_sum)(f, &low, b[1]);
    real high = sum, rest = NAME(fast_two_sum)(f, &high, NAME(plus)(f, error, low));
    low = NAME(fast_two_sum)(f, &high, NAME(plus)(f, lost, rest));
    NAME(keep)(w, high, low, sum);
}

INLINE void NAME(add)(enum piece_kind kind, unsigned words, enum format f, real *w, real x)
{
    if (kind == PIECE_KAHAN)
        NAME(add_kahan)(f, w, x);
    else if (kind == PIECE_NEUMAIER)
        NAME(add_neumaier)(f, w, x);
    else if (kind == PIECE_DOUBLE_WORD)
        NAME(add_double_word)(f, w, x);
    else
        NAME(add_words)(words, f, w, x);
}

INLINE void NAME(join)(enum piece_kind kind, unsigned words, enum format f, real *w, const real *b)
{
    if (kind == PIECE_NEUMAIER)
        NAME(join_neumaier)(f, w, b);
    else if (kind == PIECE_DOUBLE_WORD)
        NAME(join_double_word)(f, w, b);
    else
        NAME(join_words)(words, f, w, b);
}

/* The piece of a full tile of elements that are values of f. Meanwhile what is stored at `next` is
 * fetched, a row at a time. */
INLINE struct piece NAME(tile)(enum piece_kind kind, unsigned words, enum format f, const real *x,
                               struct stored next)
{
    fetch_row(&next);
    real column[PIECE_WORDS][TILE_COLUMNS];
    for (size_t c = 0; c < TILE_COLUMNS; c++) {
        column[0][c] = x[c];
        for (unsigned k = 1; k < words; k++)
            column[k][c] = kind == PIECE_KAHAN ? -(real)0 : 0;
    }
    for (size_t row = TILE_COLUMNS; row < TILE; row += TILE_COLUMNS) {
        fetch_row(&next);
        for (size_t c = 0; c < TILE_COLUMNS; c++) {
            real w[PIECE_WORDS];
            for (unsigned k = 0; k < words; k++)
                w[k] = column[k][c];
            NAME(add)(kind, words, f, w, x[row + c]);
            for (unsigned k = 0; k < words; k++)
                column[k][c] = w[k];
        }
    }
    for (size_t stride = TILE_COLUMNS / 2; stride > 0; stride /= 2)
        for (size_t c = 0; c < stride; c++) {
            real a[PIECE_WORDS], b[PIECE_WORDS];
            for (unsigned k = 0; k < words; k++) {
                a[k] = column[k][c];
                b[k] = column[k][c + stride];
            }
            NAME(join)(kind, words, f, a, b);
            for (unsigned k = 0; k < words; k++)
                column[k][c] = a[k];
        }
    struct piece piece = {{0}};
    for (unsigned k = 0; k < words; k++)
        piece.word[k] = column[k][0];
    return piece;
}
#undef real
#undef NAME
#undef ROUND
#undef MAGNITUDE
