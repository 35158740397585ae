#include "reference/exact/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/base/variants.h"

/* Rows of A that a column of B is cut for at once; and elements of a window at most, unless a row
 * has more. */
enum { TALL = 8 * GRID_ROWS, WINDOW = 1 << 18 };

/* Bits that the largest sum may have, before C is added. */
enum { MOST_BITS = 124 };

/* A line's power of two; powers of two of sums are then exact doubles' own. */
enum { LOWEST_LEAST = -480, LOWEST_MOST = 300 };

/* ---- sums of products of whole numbers ---- */

static void baseline(size_t depth, const double *a, const double *b,
                     double sum[GRID_ROWS][GRID_COLUMNS])
{
    double s[GRID_ROWS][GRID_COLUMNS] = {{0}};
    for (size_t l = 0; l < depth; l++)
        for (int i = 0; i < GRID_ROWS; i++)
            for (int j = 0; j < GRID_COLUMNS; j++)
                s[i][j] += a[l * GRID_ROWS + i] * b[l * GRID_COLUMNS + j];
    memcpy(sum, s, sizeof s);
}

#ifdef __x86_64__
#include <immintrin.h>

__attribute__((target("avx2,fma"))) static void avx2(size_t depth, const double *a, const double *b,
                                                     double sum[GRID_ROWS][GRID_COLUMNS])
{
    enum { WIDE = GRID_COLUMNS / 4 };
    __m256d s[GRID_ROWS][WIDE];
    for (int i = 0; i < GRID_ROWS; i++)
        for (int j = 0; j < WIDE; j++)
            s[i][j] = _mm256_setzero_pd();
    for (size_t l = 0; l < depth; l++) {
        __m256d column[WIDE];
        for (int j = 0; j < WIDE; j++)
            column[j] = _mm256_loadu_pd(b + l * GRID_COLUMNS + 4 * j);
        for (int i = 0; i < GRID_ROWS; i++) {
            __m256d row = _mm256_set1_pd(a[l * GRID_ROWS + i]);
            for (int j = 0; j < WIDE; j++)
                s[i][j] = _mm256_fmadd_pd(row, column[j], s[i][j]);
        }
    }
    for (int i = 0; i < GRID_ROWS; i++)
        for (int j = 0; j < WIDE; j++)
            _mm256_storeu_pd(&sum[i][4 * j], s[i][j]);
}
#endif

const struct grid_variant grid_variant[] = {
#ifdef __x86_64__
    {"avx2", has_avx2_and_fma, avx2},
#endif
    {"baseline", always, baseline},
};
const size_t grid_variants = sizeof grid_variant / sizeof *grid_variant;

/* ---- slices ---- */

/* Lines side by side that are cut alike: GRID_ROWS rows of A, or GRID_COLUMNS columns of B. */
struct panel {
    int side, wide;
    size_t first;
    int slices;       /* 0: there are but zeros */
    bool negative;    /* an element is below 0 */
    double *slice[2]; /* of the numbers, and of their magnitudes: [slice][depth][wide] */
};

static int slices_of(const struct matrices_line *line)
{
    return line->bits <= 0 ? 0 : (line->bits + GRID_DIGITS - 1) / GRID_DIGITS;
}

static bool fits(const struct matrices_line *line)
{
    return line->bits <= GRID_SLICES * GRID_DIGITS &&
           (line->bits == 0 || (line->lowest >= LOWEST_LEAST && line->lowest <= LOWEST_MOST));
}

static const struct matrices_line *line_of(const struct matrices_packed *p, int side, size_t line)
{
    const struct matrices_line *of = &p->line[side][line];
    return line < (side == 0 ? p->m : p->n) && fits(of) ? of : NULL;
}

static void panel_begin(struct panel *to, const struct matrices_packed *p, size_t first)
{
    to->first = first;
    to->slices = 0;
    to->negative = false;
    for (int i = 0; i < to->wide; i++) {
        const struct matrices_line *line = line_of(p, to->side, first + i);
        if (line && slices_of(line) > to->slices)
            to->slices = slices_of(line);
        to->negative |= line && line->negative;
    }
}

/* Cuts elements begin .. begin+depth-1 of a line, x, into the panel's column i. What is rounded to
 * a multiple of the slice's unit is at most half of that unit above what is left. */
static void cut(const struct panel *of, const double *x, size_t depth, int lowest, int i,
                bool magnitudes)
{
    double *to = of->slice[magnitudes] + i;
    const size_t each = (size_t)GRID_DEPTH * of->wide, wide = of->wide;
    double left[GRID_DEPTH];
    for (size_t l = 0; l < depth; l++)
        left[l] = magnitudes ? __builtin_fabs(x[l]) : x[l];
    for (int s = of->slices - 1; s >= 0; s--) {
        const double unit = ldexp(1, lowest + GRID_DIGITS * s), inverse = 1 / unit;
        const double rounding = s > 0 ? 0x1.8p52 * unit : 0;
        for (size_t l = 0; l < depth; l++) {
            double part = (left[l] + rounding) - rounding;
            left[l] -= part;
            to[s * each + l * wide] = part * inverse;
        }
    }
}

static void panel_cut(const struct panel *of, const struct matrices_packed *p, size_t begin,
                      size_t depth, bool magnitudes)
{
    double room[GRID_DEPTH];
    for (int i = 0; i < of->wide; i++) {
        const struct matrices_line *line = line_of(p, of->side, of->first + i);
        if (line && line->bits > 0) {
            const double *x = matrices_elements(p, of->side, of->first + i, begin, depth, room);
            cut(of, x, depth, line->lowest, i, magnitudes);
            continue;
        }
        for (int s = 0; s < of->slices; s++)
            for (size_t l = 0; l < depth; l++)
                of->slice[magnitudes][((size_t)s * GRID_DEPTH + l) * of->wide + i] = 0;
    }
}

/* ---- a window ---- */

struct window {
    const struct matrices_packed *p;
    void (*tile)(size_t depth, const double *a, const double *b,
                 double sum[GRID_ROWS][GRID_COLUMNS]);
    size_t begin, end; /* elements */
    struct grid_sum *to;
    bool magnitudes;
};

static struct grid_sum *sum_of(const struct window *w, size_t row, size_t column)
{
    size_t output = row * w->p->n + column;
    bool in = row < w->p->m && column < w->p->n && output >= w->begin && output < w->end;
    return in ? &w->to[output - w->begin] : NULL;
}

static void add(__int128 *to, double x, int shift)
{
    *to = (__int128)((unsigned __int128)*to + ((unsigned __int128)(__int128)(int64_t)x << shift));
}

/* Adds `depth` products to the elements of a tile. Sums of those that are unknown may wrap. */
static void add_tile(const struct window *w, const struct panel *a, const struct panel *b,
                     size_t depth, bool of_magnitudes, bool both)
{
    double sum[GRID_ROWS][GRID_COLUMNS];
    for (int s = 0; s < a->slices; s++)
        for (int t = 0; t < b->slices; t++) {
            w->tile(depth, a->slice[of_magnitudes] + (size_t)s * GRID_DEPTH * a->wide,
                    b->slice[of_magnitudes] + (size_t)t * GRID_DEPTH * b->wide, sum);
            for (int i = 0; i < GRID_ROWS; i++)
                for (int j = 0; j < GRID_COLUMNS; j++) {
                    struct grid_sum *to = sum_of(w, a->first + i, b->first + j);
                    if (to && (both || !of_magnitudes))
                        add(&to->sum, sum[i][j], GRID_DIGITS * (s + t));
                    if (to && (both || of_magnitudes))
                        add(&to->sum_abs, sum[i][j], GRID_DIGITS * (s + t));
                }
        }
}

/* Is an element of these rows, up to TALL of them, in these columns? */
static bool any_of(const struct window *w, size_t row, size_t column)
{
    for (size_t i = 0; i < TALL; i++)
        for (size_t j = 0; j < GRID_COLUMNS; j++)
            if (sum_of(w, row + i, column + j))
                return true;
    return false;
}

static void add_rows(const struct window *w, struct panel a[TALL / GRID_ROWS], struct panel *b,
                     size_t row)
{
    const struct matrices_packed *p = w->p;
    const size_t last = (w->end - 1) / p->n;
    const int panels = last - row < TALL ? (int)(last - row) / GRID_ROWS + 1 : TALL / GRID_ROWS;
    bool negative = false;
    for (int i = 0; i < panels; i++) {
        panel_begin(&a[i], p, row + (size_t)i * GRID_ROWS);
        negative |= a[i].negative;
    }
    for (size_t begin = 0, depth; begin < p->k; begin += depth) {
        depth = p->k - begin < GRID_DEPTH ? p->k - begin : GRID_DEPTH;
        for (int i = 0; i < panels; i++)
            for (int magnitudes = 0; magnitudes <= w->magnitudes; magnitudes++)
                panel_cut(&a[i], p, begin, depth, magnitudes);
        for (size_t column = 0; column < p->n; column += GRID_COLUMNS) {
            if (!any_of(w, row, column))
                continue;
            panel_begin(b, p, column);
            const bool apart = w->magnitudes && (negative || b->negative);
            for (int magnitudes = 0; magnitudes <= apart; magnitudes++) {
                panel_cut(b, p, begin, depth, magnitudes);
                for (int i = 0; i < panels; i++)
                    add_tile(w, &a[i], b, depth, magnitudes, !apart);
            }
        }
    }
}

static int bits_of(size_t count)
{
    return count > 1 ? 64 - __builtin_clzll((unsigned long long)count - 1) : 0;
}

static bool is_known(const struct matrices_packed *p, size_t output)
{
    const struct matrices_line *a = line_of(p, 0, output / p->n), *b = line_of(p, 1, output % p->n);
    return a && b && a->bits + b->bits + bits_of(p->k) <= MOST_BITS;
}

/* Adds c, and finds what a sum is worth. */
static void finish(const struct matrices_packed *p, size_t output, bool magnitudes,
                   struct grid_sum *s)
{
    const struct matrices_line *a = &p->line[0][output / p->n], *b = &p->line[1][output % p->n];
    const double c = array_get(&p->c, output);
    struct matrices_line of_c = matrices_line_of(&c, 1);
    s->lowest = a->lowest + b->lowest;
    if (of_c.bits > 0) {
        int up = s->lowest - of_c.lowest, bits = a->bits + b->bits + bits_of(p->k);
        if (of_c.bits > 53 || bits + (up > 0 ? up : 0) > MOST_BITS ||
            of_c.bits - (up < 0 ? up : 0) > MOST_BITS) {
            s->unknown = true;
            return;
        }
        if (up > 0) {
            s->sum *= (__int128)1 << up;
            s->sum_abs *= (__int128)1 << (magnitudes ? up : 0);
            s->lowest = of_c.lowest;
        }
        __int128 whole = (__int128)ldexp(fabs(c), -of_c.lowest) << (up < 0 ? -up : 0);
        s->sum += c < 0 ? -whole : whole;
        if (magnitudes)
            s->sum_abs += whole;
    }
    s->unknown = s->sum == 0;
}

static size_t room_of(const struct panel *p)
{
    return (size_t)GRID_SLICES * GRID_DEPTH * p->wide;
}

void grid_sums_by(const struct grid_variant *v, const struct matrices_packed *p, size_t begin,
                  size_t count, bool magnitudes, struct grid_sum *to)
{
    const struct window w = {p, v->tile, begin, begin + count, to, magnitudes};
    struct panel a[TALL / GRID_ROWS], b = {.side = 1, .wide = GRID_COLUMNS};
    size_t most = 0, known = 0;
    for (int i = 0; i < TALL / GRID_ROWS; i++) {
        a[i] = (struct panel){.side = 0, .wide = GRID_ROWS};
        most += 2 * room_of(&a[i]);
    }
    for (size_t i = 0; i < count; i++) {
        to[i] = (struct grid_sum){.unknown = !is_known(p, begin + i)};
        known += !to[i].unknown;
    }
    double *memory = known > 0 ? malloc((most + 2 * room_of(&b)) * sizeof *memory) : NULL;
    for (size_t i = 0; !memory && i < count; i++)
        to[i].unknown = true;
    if (!memory)
        return;
    double *next = memory;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < TALL / GRID_ROWS; i++, next += room_of(&a[0]))
            a[i].slice[k] = next;
        b.slice[k] = next;
        next += room_of(&b);
    }
    for (size_t row = begin / p->n; row * p->n < begin + count; row += TALL)
        add_rows(&w, a, &b, row);
    for (size_t i = 0; i < count; i++)
        if (!to[i].unknown)
            finish(p, begin + i, magnitudes, &to[i]);
    free(memory);
}

void grid_sums(const struct matrices_packed *p, size_t begin, size_t count, bool magnitudes,
               struct grid_sum *to)
{
    const struct grid_variant *v = grid_variant;
    while (!v->available())
        v++;
    grid_sums_by(v, p, begin, count, magnitudes, to);
}

size_t grid_window(const struct matrices_packed *p)
{
    size_t rows = p->n > 0 ? WINDOW / p->n : 0;
    rows = rows < TALL ? rows : TALL;
    return rows > 0 ? rows * p->n : WINDOW;
}

/* ---- what a sum is ---- */

bool grid_pair(const struct grid_sum *s, bool magnitudes, double *hi, double *lo)
{
    const __int128 sum = magnitudes ? s->sum_abs : s->sum;
    const double first = (double)sum;
    const __int128 rest = sum - (__int128)first;
    const double second = (double)rest;
    *hi = ldexp(first, s->lowest);
    *lo = ldexp(second, s->lowest);
    return (__int128)second == rest;
}

double grid_round(const struct grid_sum *s, enum format f)
{
    struct exact e;
    exact_init(&e);
    exact_add_integer(&e, s->sum, s->lowest);
    return exact_round(&e, f);
}
