/* Which samples of a panel no other beats: larger x and smaller y are better. */
#include <math.h>
#include <stdlib.h>

#include "reports/page/samples.h"

static bool unbeaten(const struct panel *panel, const struct sample *one)
{
    for (size_t i = 0; i < panel->count; i++) {
        const struct sample *other = &panel->sample[i];
        if (samples_same_pair(other, one) && other->x >= one->x && other->y <= one->y &&
            (other->x > one->x || other->y < one->y))
            return false;
    }
    return true;
}

bool samples_leads(const struct panel *panel, const struct sample *series)
{
    bool any = false;
    for (size_t i = 0; i < panel->count; i++)
        any |= samples_same_pair(&panel->sample[i], panel->pair) &&
               samples_same_series(&panel->sample[i], series) && unbeaten(panel, &panel->sample[i]);
    return any;
}

/* As stairs: between two of its samples nothing is better than the one to the right. */
void samples_frontier(struct plot *plot, struct text *curves, const struct panel *panel,
                      struct point *point, struct edges edges)
{
    size_t found = 1; /* the first is on the left edge */
    for (size_t i = 0; i < panel->count; i++)
        if (samples_same_pair(&panel->sample[i], panel->pair) && unbeaten(panel, &panel->sample[i]))
            point[found++] = (struct point){panel->sample[i].x, panel->sample[i].y, NAN};
    qsort(point + 1, found - 1, sizeof *point, samples_by_x);
    point[0] = (struct point){edges.left, point[1].y, NAN};
    point[found] = (struct point){point[found - 1].x, edges.upper, NAN};
    text_add(&plot->data, "# what no other beats\n");
    samples_write(&plot->data, point, found + 1, edges);
    text_format(curves,
                ", \\\n    '%s.dat' index %zu using 1:2 with fsteps linecolor rgb 0x888888 title "
                "'the frontier'",
                plot->name, plot_data_end(plot));
}

static void add_beaten(struct plot *plot, struct text *curves, const struct panel *panel,
                       const struct sample *series, size_t k, struct point *point,
                       struct edges edges)
{
    struct text label = {0};
    size_t found = samples_points(point, panel, series);
    page_name(&label, series->method, series->chip, series->promote);
    page_asked(&label, series->workspace, series->algorithm);
    text_add(&plot->data, "# what others beat\n");
    samples_write(&plot->data, point, found, edges);
    text_format(curves,
                ", \\\n    '%s.dat' index %zu using 1:2 with points linecolor rgb 0xbbbbbb "
                "pointtype hollow[%zu] \\\n    pointsize 0.8 title ",
                plot->name, plot_data_end(plot), k % 13 + 1);
    plot_label(curves, text_string(&label) ? text_string(&label) : "", 38);
    text_free(&label);
}

void samples_others(struct plot *plot, struct text *curves, const struct panel *panel,
                    struct point *point, struct edges edges)
{
    size_t others = 0, few = 0;
    for (int write = 0; write < 2; write++) {
        for (size_t i = 0; i < panel->series->count; i++) {
            const struct sample *series = panel->series->first[i];
            size_t found = samples_points(point, panel, series);
            if (!samples_finite(point, found) || samples_leads(panel, series))
                continue;
            if (write == 0) {
                samples_rows(plot, panel, series, point, found);
                others++;
            } else if (others <= OTHERS_NAMED) {
                add_beaten(plot, curves, panel, series, few++, point, edges);
            } else {
                if (few++ == 0)
                    text_add(&plot->data, "# what others beat\n");
                samples_write(&plot->data, point, found, edges);
            }
        }
    }
    if (others > OTHERS_NAMED)
        text_format(curves,
                    ", \\\n    '%s.dat' index %zu using 1:2 with points linecolor rgb 0xbbbbbb "
                    "pointtype 7 \\\n    pointsize 0.5 title '%zu others'",
                    plot->name, plot_data_end(plot), others);
}
