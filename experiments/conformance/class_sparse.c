/* Special inputs of few numbers, most of them among zeros: all their trees can be tried, at any
 * length. */
#include <math.h>

#include "experiments/conformance/class.h"

/* --- powers of two --- */

static int lowest(const struct conformance_setting *s)
{
    return format_facts[s->storage].emin - format_facts[s->storage].precision + 1;
}

/* Every exponent where n is small; where not, some that differ from length to length. */
enum { STRIDE = 29 };

static size_t exponents(const struct conformance_setting *s)
{
    size_t all = (size_t)(format_facts[s->storage].emax - lowest(s) + 1);
    return s->n <= 3 ? all : (all + STRIDE - 1 - s->n % STRIDE) / STRIDE;
}

static double power(const struct conformance_setting *s, size_t k)
{
    return ldexp(1, lowest(s) + (int)(s->n <= 3 ? k : k * STRIDE + s->n % STRIDE));
}

static size_t power_cases(const struct conformance_setting *s)
{
    return s->n > 0 ? exponents(s) : 0;
}

static void power_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    special_put(to, special_draw(s, k, 0) % s->n, k % 2 ? -power(s, k) : power(s, k));
}

const struct special_class special_power = {
    .name = "power",
    .summary = "each power of two of the storage's range, alone among zeros",
    .cases = power_cases,
    .fill = power_fill,
};

/* A number and what cancels it, with or without a third that is left; at last the whole array
 * pairs. */
static size_t pair_cases(const struct conformance_setting *s)
{
    return s->n > 1 ? exponents(s) + 1 : 0;
}

static void pair_fill_all(const struct conformance_setting *s, const struct array *to)
{
    int range = format_facts[s->storage].emax - lowest(s) + 1;
    for (size_t i = 0; i + 1 < s->n; i += 2) {
        double x = ldexp(1, lowest(s) + (int)(i / 2 % (size_t)range));
        special_put(to, i, x);
        special_put(to, i + 1, -x);
    }
}

static void pair_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    if (k + 1 == pair_cases(s)) {
        pair_fill_all(s, to);
        return;
    }
    size_t first = special_draw(s, k, 0) % s->n, apart = 1 + special_draw(s, k, 1) % (s->n - 1);
    special_put(to, first, power(s, k));
    special_put(to, (first + apart) % s->n, -power(s, k));
    if (s->n < 3 || k % 3 == 0)
        return;
    size_t rest = apart == 1 ? s->n - 1 : 1; /* neither of these places */
    int range = format_facts[s->storage].emax - lowest(s) + 1;
    double left = ldexp(1, lowest(s) + (int)(special_draw(s, k, 2) % (uint64_t)range));
    special_put(to, (first + rest) % s->n, k % 2 ? -left : left);
}

const struct special_class special_pair = {
    .name = "cancelling",
    .summary = "each power of two and its negative, alone or with a third number that is left",
    .cases = pair_cases,
    .fill = pair_fill,
};

/* --- few numbers among many zeros --- */

static size_t sparse_cases(const struct conformance_setting *s)
{
    return s->n > 3 ? 12 : 0;
}

static void sparse_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    for (size_t i = 0; k % 2 == 1 && i < s->n; i++)
        special_put(to, i, -0.0);
    for (size_t i = 0; i < 1 + k / 2; i++) {
        uint64_t draw = special_draw(s, k, i), place = special_draw(s, k, i + s->n) % s->n;
        double size = 1 + (double)(draw >> 8 & 1023) / 1024;
        int exponent = (int)(draw >> 20 & 15) - 8;
        special_put(to, place, ldexp(draw & 1 ? -size : size, exponent));
    }
}

const struct special_class special_sparse = {
    .name = "sparse",
    .summary = "one to six numbers among zeros of either sign",
    .cases = sparse_cases,
    .fill = sparse_fill,
};

/* --- two elements at most --- */

enum { CORNERS = 32 };

/* Numbers at which something changes, in either format; of either sign. */
static uint64_t corner(const struct conformance_setting *s, size_t k)
{
    const struct format_facts *a = &format_facts[s->storage], *b = &format_facts[s->accumulator];
    const double size[CORNERS / 2] = {
        0,
        a->smallest,
        a->smallest_normal - a->smallest,
        a->smallest_normal,
        1,
        1 + 2 * b->unit_roundoff,
        1 / b->unit_roundoff,
        special_top(s),
        INFINITY,
        NAN,
        b->smallest,
        b->smallest * 0.5, /* where the storage holds it: a tie with 0 */
        b->smallest * 0.75,
        b->largest,
        b->largest + 0.5 * format_ulp(s->accumulator, b->largest),
        a->largest,
    };
    return format_encode(s->storage, k % 2 ? -size[k / 2] : size[k / 2]);
}

static size_t short_cases(const struct conformance_setting *s)
{
    return s->n == 0 ? 1 : s->n == 1 ? CORNERS : s->n == 2 ? CORNERS * CORNERS : 0;
}

static void short_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    for (size_t i = 0; i < s->n; i++, k /= CORNERS)
        array_set_bits(to, i, corner(s, k % CORNERS));
}

const struct special_class special_short = {
    .name = "short",
    .summary = "nothing, each of 32 numbers at which something changes, and each two of them",
    .cases = short_cases,
    .fill = short_fill,
};

/* --- edges of tiles: who is left out, who is added twice --- */

static const size_t edge[] = {31,   32,   33,   255,  256,  257,  1023, 1024, 1025,
                              2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192};
enum { EDGES = sizeof edge / sizeof *edge, WHOLE = 4 };

static size_t edge_cases(const struct conformance_setting *s)
{
    size_t lone = 0;
    while (lone < EDGES && edge[lone] < s->n)
        lone++;
    return s->n > 0 ? WHOLE + lone : 0;
}

static void edge_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    /* As many ones as are added up without rounding. */
    size_t most = (size_t)fmin((double)s->n, 1 / format_facts[s->accumulator].unit_roundoff);
    if (k >= WHOLE) {
        special_put(to, edge[k - WHOLE], 1);
        return;
    }
    for (size_t i = 0; i < s->n; i++)
        special_put(to, i, k == 1 ? -0.0 : k == 2 ? (i % 2 ? -1 : 1) : 0);
    for (size_t i = 0; i < most && k == 0; i++)
        special_put(to, special_place(s->n, i, most), 1);
    if (k == 1)
        special_put(to, s->n - 1, 1);
    for (size_t i = 0; i < s->n && k == 3; i++)
        special_put(to, i, (double)(special_draw(s, k, i) % 3) - 1);
}

const struct special_class special_edge = {
    .name = "edges",
    .summary = "a lone one at each edge of a tile; ones and minus ones, as many as are exact",
    .cases = edge_cases,
    .fill = edge_fill,
};
