/* How deep elements lie in larger trees: how many additions each passes through. */
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/trees.h"

enum { NEIGHBOURS = 16 };

/* Writes the most additions that an element of each group of neighbours passes through, where that
 * changes, as the corners of stairs. */
static enum status write_depths(struct text *to, const struct reveal_tree *t, uint32_t *highest,
                                struct problem *p)
{
    struct reveal_nodes nodes;
    enum status status = reveal_nodes_make(&nodes, t, p);
    uint32_t before = 0;
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < t->leaves; i += NEIGHBOURS) {
        uint32_t most = 0;
        for (size_t k = i; k < t->leaves && k < i + NEIGHBOURS; k++)
            most = nodes.depth[k] > most ? nodes.depth[k] : most;
        if (i == 0 || most != before)
            text_format(to, "%zu %u\n", i, most);
        before = most;
        *highest = most > *highest ? most : *highest;
    }
    text_format(to, "%zu %u\n", t->leaves, before);
    free(nodes.parent);
    return STATUS_OK;
}

/* "sum/serial", "sum/tiled and 8 more". */
static void add_label(struct text *to, const char *methods)
{
    struct text label = {0};
    size_t first = strcspn(methods, ","), more = 0;
    for (const char *c = methods; *c; c++)
        more += *c == ',';
    text_append(&label, methods, first);
    if (more)
        text_format(&label, " and %zu more", more);
    plot_quote(to, text_string(&label) ? text_string(&label) : "");
    text_free(&label);
}

enum status report_depths(struct plot *plot, struct shown_trees *trees, struct problem *p)
{
    struct text curves = {0};
    uint32_t highest = 1;
    char title[96];
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < trees->count; i++) {
        const char *methods = text_string(&trees->item[i].methods);
        text_format(&plot->data, "# %s: element, additions\n", methods ? methods : "");
        status = write_depths(&plot->data, &trees->item[i].tree, &highest, p);
        text_format(
            &curves,
            "%s'%s.dat' index %zu using 1:2 with steps linetype %zu linewidth 2 dashtype %zu "
            "title ",
            i ? ", \\\n    " : "", plot->name, plot_data_end(plot), i + 1, i % 5 + 1);
        add_label(&curves, methods ? methods : "");
    }
    if (status == STATUS_OK) {
        snprintf(title, sizeof title, "%d elements: how many additions each passes through",
                 TREES_LARGE);
        plot_panel(plot, 300 + 19 * (double)trees->count, title);
        text_format(
            &plot->script,
            "set key noenhanced\nset grid\nset xtics %d font 'sans,13'\nset ytics autofreq\n"
            "set xlabel \"element\\n \"\nset ylabel 'additions on the way'\n"
            "set logscale y\nset xrange [0 : %d]\nset yrange [1 : %u]\nplot ",
            TREES_LARGE / 4, TREES_LARGE, 2 * highest);
        text_join(&plot->script, &curves);
        text_add(&plot->script, "\n");
    }
    text_free(&curves);
    return status;
}
