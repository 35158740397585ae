/* The axes of a panel of samples: from where to where they go. */
#include <math.h>

#include "reports/page/report.h"

bool report_same_pair(const struct sample *a, const struct sample *b)
{
    return strcmp(a->storage, b->storage) == 0 && strcmp(a->accumulator, b->accumulator) == 0;
}

struct extent {
    double x_least, x_most, y_least, y_most; /* of y: of what is above 0 and finite */
};

static struct extent extent_of(const struct sample *sample, size_t count, const struct sample *pair)
{
    struct extent e = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++) {
        if (!report_same_pair(&sample[i], pair))
            continue;
        e.x_least = fmin(e.x_least, sample[i].x);
        e.x_most = fmax(e.x_most, sample[i].x);
        for (int bound = 0; bound < 2; bound++) {
            double y = bound ? sample[i].bound : sample[i].y;
            if (y > 0 && isfinite(y)) {
                e.y_least = bound ? e.y_least : fmin(e.y_least, y);
                e.y_most = fmax(e.y_most, y);
            }
        }
    }
    return e;
}

/* From the least x, or a span below the largest, with a label at 1, 2 and 5 of each power of ten.
 */
static double set_span(struct text *script, const struct extent *e, double span)
{
    double left = fmax(e->x_least, e->x_most / span) / 1.12, right = e->x_most * 1.12;
    const char *comma = "";
    text_format(script, "set logscale x\nset xrange [%.9g : %.9g]\nset xtics (", left, right);
    for (double ten = pow(10, floor(log10(left))); ten < right; ten *= 10)
        for (int step = 1; step <= 5; step += step == 1 ? 1 : 3) {
            text_format(script, "%s%.6g", comma, step * ten);
            comma = ", ";
        }
    text_add(script, ")\n");
    return left;
}

/* Whole powers of ten around the samples, with room for what is 0 below. */
static struct edges set_ranges(struct text *script, const struct look *look, const struct extent *e)
{
    bool any = isfinite(e->y_least);
    double top = any ? fmin(ceil(log10(e->y_most) + 0.05), look->top_most) : 1,
           bottom = any ? fmax(floor(log10(e->y_least) - 0.05), top - look->decades_most) - 1 : -1;
    text_format(script, "set logscale y\nset yrange [1e%.0f : 1e%.0f]\n", bottom, top);
    double left = look->log_x ? pow(10, floor(log10(e->x_least))) : e->x_least - 1;
    if (look->x_span > 0)
        left = set_span(script, e, look->x_span);
    else if (look->log_x)
        text_format(script, "set logscale x\nset format x '10^{%%T}'\nset xrange [%.6g : 1e%.0f]\n",
                    left, ceil(log10(e->x_most) + 1e-9));
    else
        text_format(script, "set xrange [%.6g : %.6g]\n", left, e->x_most + 1);
    return (struct edges){left, pow(10, bottom), pow(10, top)};
}

struct edges report_edges(struct text *script, const struct look *look, const struct sample *sample,
                          size_t count, const struct sample *pair)
{
    struct extent extent = extent_of(sample, count, pair);
    return set_ranges(script, look, &extent);
}
