/* The tree of sum/tiled, walked over pieces: sums of several words.
 *
 * A piece stands for some consecutive elements: the rounded sum, and words below it that carry what
 * the additions lost. Columns of a tile of elements are added serially, piece plus element; all
 * else is piece plus piece, in the order that sum/tiled adds values. */
#pragma once

#include "kernels/blocks/tiled.h"

enum { PIECE_WORDS = 5 };

/* Rules of combination, named after the method whose fast path implements them. */
enum piece_kind {
    PIECE_PLAIN, /* no fast path */
    PIECE_KAHAN,
    PIECE_NEUMAIER,
    PIECE_SUM2,
    PIECE_SUMK,
    PIECE_DOUBLE_WORD,
    PIECE_BLOCKED /* sum/tiled */
};

struct piece {
    double word[PIECE_WORDS]; /* values of the accumulator, the sum first; of them `words` count */
};

/* How pieces add up. Each operation is rounded to the format f. An element x alone is the piece
 * (x, rest, .. rest). */
struct piece_rule {
    enum piece_kind kind;
    unsigned words;
    double rest; /* +0 or -0 */
    struct piece (*add)(const struct piece_rule *rule, enum format f, struct piece a, double x);
    struct piece (*join)(const struct piece_rule *rule, enum format f, struct piece a,
                         struct piece b);
    /* Instead of join for the columns of a tile of elements; NULL: join. */
    struct piece (*fold)(const struct piece_rule *rule, enum format f, struct piece a,
                         struct piece b);
    double (*value)(const struct piece_rule *rule, enum format f, struct piece sum);
};

extern const struct piece_rule kahan_rule, neumaier_rule, sum2_rule, sumk_rule, sumk4_rule,
    sumk5_rule, double_word_rule, blocked_rule;

/* The CPU side of a method: the value of all elements' piece. Its threads are a schedule. */
enum status pieces_sum(const struct piece_rule *rule, const struct task *t, struct problem *p);

/* piece[i] = that of tile first + i, for i < count. */
typedef void piece_tiles(const struct piece_rule *rule, const struct array *in, enum format f,
                         size_t first, size_t count, struct piece *piece);

/* The specification. The last tile may be short. */
piece_tiles pieces_plain;

/* The same at speed, as in tiled.h, for full tiles and kinds PIECE_KAHAN .. PIECE_DOUBLE_WORD. */
struct piece_variant {
    const char *name;
    bool (*available)(void);
    piece_tiles *tiles;
};
extern const struct piece_variant piece_variant[];
extern const size_t piece_variants;

/* Folds the pieces of a tile, 1 <= count <= TILE, as sum/tiled folds values: columns by join, then
 * the columns by halving. Overwrites v[]. */
struct piece pieces_fold(const struct piece_rule *rule, enum format f, struct piece *v,
                         size_t count);

/* Rules of two words (s, e), s + e being the sum: joining by Knuth's TwoSum, e = e1 + (e2 + d), d
 * what s1 + s2 lost; and their value s + e, but s where e is 0 or not finite. */
struct piece pair_join(const struct piece_rule *rule, enum format f, struct piece a,
                       struct piece b);
double pair_value(const struct piece_rule *rule, enum format f, struct piece sum);
