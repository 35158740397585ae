/* Panels of samples: their points, and where their axes end. */
#pragma once

#include "reports/page/report.h"

/* Where the axes of a panel end; what lies beyond stands on the edge. */
struct edges {
    double left, right, lower, upper;
    double drawn; /* the largest y that is drawn */
};

/* The pairs of formats or the series among the samples, in the order of interest. */
struct groups {
    const struct sample **first; /* of each */
    size_t count;
};

struct point {
    double x, y, bound;
};

/* Samples of one panel, and of one series in it. */
struct panel {
    const struct look *look;
    const struct sample *sample;
    size_t count;
    const struct sample *pair;
    const struct groups *series;
    bool chips; /* has any sample of the picture a chip? */
};

bool samples_same_pair(const struct sample *a, const struct sample *b);
bool samples_same_series(const struct sample *a, const struct sample *b);
struct ink samples_ink(const struct sample *s); /* that of its method, or its own colour */

int samples_by_word(const char *a, const char *b); /* NULL as "" */
int samples_by_x(const void *a, const void *b);
/* The points of a series in a panel, sorted, one for each x. Returns how many. */
size_t samples_points(struct point *point, const struct panel *panel, const struct sample *series);
bool samples_finite(const struct point *point, size_t count); /* is any? */

/* The axes of a panel, appended as gnuplot's. `point` has room for those of any series. */
struct edges samples_axes(struct text *script, const struct panel *panel, struct point *point);
/* Names the place of what is 0 on a logarithmic axis, and leaves no label where it would touch. */
void samples_zero(struct text *script, struct edges edges);
void samples_write(struct text *to, const struct point *point, size_t count, struct edges edges);
/* As they were measured: nothing stands on an edge. */
void samples_rows(struct plot *plot, const struct panel *panel, const struct sample *series,
                  const struct point *point, size_t count);

/* How far marks that would cover each other are nested: 0 the innermost. */
enum { NESTED_MOST = 8 };
/* Sets the place of each drawn series, in drawing order: its marks enclose those of later series
 * that they share a position with. `point` has room for the points of two. */
void samples_nest(size_t place[], const struct panel *panel, const struct sample *const drawn[],
                  size_t count, struct edges edges, struct point *point, struct point *other);

/* Is a sample of the series one that no other of the panel beats: as large an x with a smaller y,
 * or a larger x with as small a y? */
bool samples_leads(const struct panel *panel, const struct sample *series);
/* The line along those, and what others beat, in grey, as one. */
void samples_frontier(struct plot *plot, struct text *curves, const struct panel *panel,
                      struct point *point, struct edges edges);
void samples_others(struct plot *plot, struct text *curves, const struct panel *panel,
                    struct point *point, struct edges edges);
