/* The trees that methods add by, as they declare them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/tree/text.h"
#include "reports/page/report.h"
#include "reports/tree/tree.h"

/* --- Larger trees, in outline --- */

enum { TREES_SMALL = 16, TREES_LARGE = 4096, TREES_MOST = 32 };

/* A tree, and which methods have it, with commas between. */
struct shown_tree {
    struct sum_tree tree;
    struct text methods;
};

struct shown_trees {
    struct shown_tree item[TREES_MOST];
    size_t count;
};

static enum status add_outline(struct text *to, struct shown_tree *shown, struct problem *p)
{
    char *outline = NULL;
    size_t length;
    FILE *file = open_memstream(&outline, &length);
    if (!file)
        return problem(p, STATUS_MEMORY, "report: out of memory for an outline");
    enum status status = sum_tree_text(file, &shown->tree, 0, p);
    if (fclose(file) != 0 && status == STATUS_OK)
        status = problem(p, STATUS_MEMORY, "report: out of memory for an outline");
    if (status == STATUS_OK) {
        text_add(to, "<details><summary>");
        html_text(to, text_string(&shown->methods) ? text_string(&shown->methods) : "");
        text_add(to, "</summary>\n<div class=\"wide\" tabindex=\"0\"><pre>");
        html_text(to, outline);
        text_add(to, "</pre></div></details>\n");
    }
    free(outline);
    return status;
}

/* Appends the trees, a line to a partial sum. */
static enum status add_outlines(struct page *r, struct shown_trees *trees, struct problem *p)
{
    enum status status = STATUS_OK;
    if (trees->count == 0)
        return STATUS_OK;
    text_format(&r->pictures,
                "<section id=\"outlines\"><h2>The trees of %d elements, in outline</h2>\n<p>A line "
                "is a partial sum of the elements named, below it are the two that it adds; "
                "<code>as</code> is one of the same shape, some elements further on; <code>by "
                "2</code>: every second element.</p>\n",
                TREES_LARGE);
    for (size_t i = 0; status == STATUS_OK && i < trees->count; i++)
        status = add_outline(&r->pictures, &trees->item[i], p);
    text_add(&r->pictures, "</section>\n");
    return status;
}

/* --- How deep elements lie in larger trees: how many additions each passes through --- */

enum { NEIGHBOURS = 16, NAMED_MOST = 10 };

/* Writes the most additions that an element of each group of neighbours passes through, where that
 * changes, as the corners of stairs. */
static enum status write_depths(struct plot *plot, const char *methods, const struct sum_tree *t,
                                uint32_t *highest, struct problem *p)
{
    struct text *to = &plot->data;
    struct sum_tree_nodes nodes;
    enum status status = sum_tree_nodes_make(&nodes, t, p);
    uint32_t before = 0;
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < t->leaves; i += NEIGHBOURS) {
        uint32_t most = 0;
        for (size_t k = i; k < t->leaves && k < i + NEIGHBOURS; k++)
            most = nodes.depth[k] > most ? nodes.depth[k] : most;
        if (i == 0 || most != before) {
            text_format(to, "%zu %u\n", i, most);
            plot_cell(plot, methods);
            plot_number(plot, (double)i);
            plot_number(plot, most);
            plot_row_end(plot);
        }
        before = most;
        *highest = most > *highest ? most : *highest;
    }
    text_format(to, "%zu %u\n", t->leaves, before);
    free(nodes.parent);
    return STATUS_OK;
}

/* "sum/serial", "sum/tiled and 8 more": the first few of a list. */
static void add_few(struct text *to, const char *methods, size_t most)
{
    const char *end = methods;
    size_t more = 0;
    for (size_t i = 0; i < most && *end; i++)
        end += *end == ',' ? 2 + strcspn(end + 2, ",") : strcspn(end, ",");
    for (const char *c = end; *c; c++)
        more += *c == ',';
    text_append(to, methods, (size_t)(end - methods));
    if (more)
        text_format(to, " and %zu more", more);
}

static void add_label(struct text *to, const char *methods)
{
    struct text label = {0};
    add_few(&label, methods, 1);
    plot_quote(to, text_string(&label) ? text_string(&label) : "");
    text_free(&label);
}

/* That of the first of a list: "sum/two_kernel (256 threads), sum/tiled". */
static struct ink ink_of(const char *methods)
{
    char first[64];
    snprintf(first, sizeof first, "%.*s", methods ? (int)strcspn(methods, ", ") : 0,
             methods ? methods : "");
    return page_ink(first);
}

/* Adds a panel: how many additions each element passes through. */
static enum status add_depths(struct plot *plot, struct shown_trees *trees, struct problem *p)
{
    struct text curves = {0};
    uint32_t highest = 1;
    char title[96];
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < trees->count; i++) {
        const char *methods = text_string(&trees->item[i].methods);
        text_format(&plot->data, "# %s: element, additions\n", methods ? methods : "");
        status = write_depths(plot, methods ? methods : "", &trees->item[i].tree, &highest, p);
        text_format(&curves,
                    "%s'%s.dat' index %zu using 1:2 with steps linecolor rgb colour[%zu] \\\n"
                    "    linewidth 2 dashtype %zu ",
                    i ? ", \\\n    " : "", plot->name, plot_data_end(plot), ink_of(methods).colour,
                    i % 5 + 1);
        text_add(&curves, i < NAMED_MOST ? "title " : "notitle");
        if (i < NAMED_MOST)
            add_label(&curves, methods ? methods : "");
    }
    if (status == STATUS_OK) {
        snprintf(title, sizeof title, "%d elements: how many additions each passes through",
                 TREES_LARGE);
        plot_panel(plot, 300 + 19 * fmin((double)trees->count, NAMED_MOST), title);
        text_format(&plot->script,
                    "set key noenhanced\nset grid\nset format x '%%g'\nset xtics %d font "
                    "'sans,13'\nset ytics autofreq\n"
                    "set xlabel \"element\\n \"\nset ylabel 'additions on the way'\n"
                    "set logscale y\nset xrange [0 : %d]\nset yrange [1 : %u]\nplot ",
                    TREES_LARGE / 4, TREES_LARGE, 2 * highest);
        text_join(&plot->script, &curves);
        text_add(&plot->script, "\n");
    }
    text_free(&curves);
    return status;
}

static void trees_free(struct shown_trees *trees)
{
    for (size_t i = 0; i < trees->count; i++) {
        sum_tree_free(&trees->item[i].tree);
        text_free(&trees->item[i].methods);
    }
}

/* "sum/two_kernel (256 threads)" where its order depends on the launch shape. */
static void add_name(struct text *to, const struct method *m, struct shape shape)
{
    text_add(to, to->length ? ", " : "");
    text_add(to, m->name);
    if (m->shape_order & SHAPE_THREADS)
        text_format(to, " (%u thread%s)", shape.threads, text_s(shape.threads));
}

/* The tree of n elements, of a scan that of its last output, in the launch shape of a case. */
static enum status add_tree(struct shown_trees *trees, const struct method *m,
                            const struct gathered_case *c, size_t n, struct problem *p)
{
    enum device_kind device =
        strncmp(c->field[CASE_DEVICE], "cuda", strlen("cuda")) == 0 ? DEVICE_CUDA : DEVICE_CPU;
    struct shape shape = {.threads = (unsigned)strtoul(c->field[CASE_THREADS], NULL, 10),
                          .blocks = (unsigned)strtoul(c->field[CASE_BLOCKS], NULL, 10)};
    struct sum_tree tree;
    struct order o;
    size_t i = 0, last = m->operation->outputs(n, 1) - 1;
    method_order(&o, m, device, n, shape, false, NULL);
    enum status status = sum_tree_of(&tree, &o, last, 0, n, p);
    order_free(&o);
    if (status != STATUS_OK)
        return status;
    while (i < trees->count && !sum_tree_equal(&trees->item[i].tree, &tree))
        i++;
    if (i == TREES_MOST || i < trees->count)
        sum_tree_free(&tree);
    else
        trees->item[trees->count++] = (struct shown_tree){.tree = tree};
    if (i < TREES_MOST)
        add_name(&trees->item[i].methods, m, method_shape(m, device, n, shape));
    return STATUS_OK;
}

/* Of n elements, each different tree of the methods that declare their order, in the order of the
 * study, in the launch shape of a method's first case. trees_free is due either way. */
static enum status trees_list(struct shown_trees *trees, const struct page *r, size_t n,
                              struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        const struct method *m = method_named(c->field[CASE_METHOD]);
        bool seen = !m || !m->order;
        for (size_t k = 0; !seen && k < i; k++)
            seen = strcmp(r->g.item[k].field[CASE_METHOD], m->name) == 0;
        if (!seen)
            status = add_tree(trees, m, c, n, p);
    }
    return status;
}

/* --- pictures --- */

enum { NODES_MOST = 2 * TREES_SMALL };

/* Where the nodes are: elements side by side, so that no lines cross; a sum in the middle above
 * what it adds, as high as the longest way down has additions. */
struct place {
    double x, y;
};

/* Places a node and all below it; *next is where the next element comes. */
static void place_node(struct place *place, const struct sum_tree *t, uint32_t node, size_t *next)
{
    if (node < t->leaves) {
        place[node] = (struct place){(double)(*next)++, 0};
        return;
    }
    uint32_t k = node - (uint32_t)t->leaves;
    place[node] = (struct place){0, 0};
    for (uint32_t i = t->begin[k]; i < t->begin[k + 1]; i++) {
        const struct place *child = &place[t->child[i]];
        place_node(place, t, t->child[i], next);
        place[node].x += child->x / (t->begin[k + 1] - t->begin[k]);
        place[node].y = child->y + 1 > place[node].y ? child->y + 1 : place[node].y;
    }
}

static void write_lines(struct text *to, const struct sum_tree *t, const struct place *place)
{
    text_add(to, "# lines from a sum to what it adds: x, y, on by x, by y\n");
    for (size_t k = 0; k < t->additions; k++)
        for (uint32_t i = t->begin[k]; i < t->begin[k + 1]; i++) {
            const struct place *sum = &place[t->leaves + k], *part = &place[t->child[i]];
            text_format(to, "%.9g %.9g %.9g %.9g\n", sum->x, sum->y, part->x - sum->x,
                        part->y - sum->y);
        }
}

static void draw_tree(struct plot *plot, struct shown_tree *shown)
{
    const struct sum_tree *t = &shown->tree;
    struct place place[NODES_MOST];
    struct text title = {0};
    size_t colour = ink_of(text_string(&shown->methods)).colour;
    size_t next = 0, root = t->leaves + t->additions - 1;
    place_node(place, t, (uint32_t)root, &next);
    write_lines(&plot->data, t, place);
    size_t lines = plot_data_end(plot);
    text_add(&plot->data, "# sums\n");
    for (size_t node = t->leaves; node <= root; node++)
        text_format(&plot->data, "%.9g %.9g\n", place[node].x, place[node].y);
    size_t sums = plot_data_end(plot);
    text_format(&title, "%d elements: ", TREES_SMALL);
    add_few(&title, text_string(&shown->methods) ? text_string(&shown->methods) : "", 3);
    plot_panel(plot, 300, text_string(&title) ? text_string(&title) : "");
    text_add(&plot->script, "unset key\nunset grid\nset xtics scale 0 font 'sans,11' (");
    for (size_t i = 0; i < t->leaves; i++)
        text_format(&plot->script, "%s'%zu' %.9g", i ? ", " : "", i, place[i].x);
    text_format(
        &plot->script,
        ")\nset xlabel 'element'\nset ylabel 'additions'\nset ytics %d\n"
        "set border 3\nset tics nomirror\nset xrange [-0.5 : %zu.5]\nset yrange [0 : %.9g]\n"
        "plot '%s.dat' index %zu using 1:2:3:4 with vectors nohead linecolor rgb colour[%zu] "
        "linewidth 1.5, \\\n"
        "    '' index %zu using 1:2 with points linecolor rgb colour[%zu] pointtype 7 pointsize "
        "0.7\n",
        place[root].y > 8 ? 5 : 1, t->leaves - 1, place[root].y + 0.4, plot->name, lines, colour,
        sums, colour);
    text_free(&title);
}

enum status page_trees(struct page *r, struct problem *p)
{
    struct plot plot;
    struct shown_trees small = {0}, large = {0};
    enum status status = trees_list(&small, r, TREES_SMALL, p);
    if (status == STATUS_OK)
        status = trees_list(&large, r, TREES_LARGE, p);
    plot_begin(&plot, "trees", "methods,from_element,additions");
    for (size_t i = 0; status == STATUS_OK && i < small.count && plot.panels < PANELS_MOST; i++)
        draw_tree(&plot, &small.item[i]);
    if (status == STATUS_OK && large.count > 0)
        status = add_depths(&plot, &large, p);
    enum status drawn =
        plot_end(&plot, r, "Summation trees",
                 "The order of additions that each method declares (<code>ulpscope reveal</code> "
                 "finds the same from results alone). A dot is an addition, rounded once, of what "
                 "is below it; the topmost is the result, of a scan its last. Each dot on an "
                 "element's way up is a rounding, so low trees err less than tall ones. Methods "
                 "that share a tree differ in what they do with rounding errors, or for longer "
                 "inputs: the last picture shows how many additions each of 4096 elements passes "
                 "through (of 16 neighbours the most).",
                 p);
    if (status == STATUS_OK)
        status = drawn;
    if (status == STATUS_OK)
        status = add_outlines(r, &large, p);
    trees_free(&small);
    trees_free(&large);
    return status;
}
