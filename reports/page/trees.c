/* The trees that methods add by, as they declare them. */
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/trees.h"

void report_trees_free(struct shown_trees *trees)
{
    for (size_t i = 0; i < trees->count; i++) {
        reveal_tree_free(&trees->item[i].tree);
        text_free(&trees->item[i].methods);
    }
}

/* "sum/two_kernel (256 threads)" where its order depends on the launch shape. */
static void add_name(struct text *to, const struct method *m, struct shape shape)
{
    text_add(to, to->length ? ", " : "");
    text_add(to, m->name);
    if (m->shape_order & SHAPE_THREADS)
        text_format(to, " (%u threads)", shape.threads);
}

/* The tree of n elements, of a scan that of its last output, in the launch shape of a case. */
static enum status add_tree(struct shown_trees *trees, const struct method *m,
                            const struct gathered_case *c, size_t n, struct problem *p)
{
    enum device_kind device =
        strncmp(c->field[CASE_DEVICE], "cuda", strlen("cuda")) == 0 ? DEVICE_CUDA : DEVICE_CPU;
    struct shape shape = {.threads = (unsigned)strtoul(c->field[CASE_THREADS], NULL, 10),
                          .blocks = (unsigned)strtoul(c->field[CASE_BLOCKS], NULL, 10)};
    struct reveal_tree tree;
    struct order o;
    size_t i = 0, last = m->operation == &operation_scan ? n - 1 : 0;
    method_order(&o, m, device, n, shape, false, NULL);
    enum status status = reveal_tree_of(&tree, &o, last, 0, n, p);
    order_free(&o);
    if (status != STATUS_OK)
        return status;
    while (i < trees->count && !reveal_tree_equal(&trees->item[i].tree, &tree))
        i++;
    if (i == TREES_MOST || i < trees->count)
        reveal_tree_free(&tree);
    else
        trees->item[trees->count++] = (struct shown_tree){.tree = tree};
    if (i < TREES_MOST)
        add_name(&trees->item[i].methods, m, method_shape(m, device, n, shape));
    return STATUS_OK;
}

enum status report_trees_list(struct shown_trees *trees, const struct report *r, size_t n,
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
static void place_node(struct place *place, const struct reveal_tree *t, uint32_t node,
                       size_t *next)
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

static void write_lines(struct text *to, const struct reveal_tree *t, const struct place *place)
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
    const struct reveal_tree *t = &shown->tree;
    struct place place[NODES_MOST];
    struct text title = {0};
    size_t next = 0, root = t->leaves + t->additions - 1;
    place_node(place, t, (uint32_t)root, &next);
    write_lines(&plot->data, t, place);
    size_t lines = plot_data_end(plot);
    text_add(&plot->data, "# sums\n");
    for (size_t node = t->leaves; node <= root; node++)
        text_format(&plot->data, "%.9g %.9g\n", place[node].x, place[node].y);
    size_t sums = plot_data_end(plot);
    text_format(&title, "%d elements: %s", TREES_SMALL,
                text_string(&shown->methods) ? text_string(&shown->methods) : "");
    plot_panel(plot, 300, text_string(&title) ? text_string(&title) : "");
    text_add(&plot->script, "unset key\nunset grid\nset xtics scale 0 font 'sans,11' (");
    for (size_t i = 0; i < t->leaves; i++)
        text_format(&plot->script, "%s'%zu' %.9g", i ? ", " : "", i, place[i].x);
    text_format(
        &plot->script,
        ")\nset xlabel 'element'\nset ylabel 'additions'\nset ytics %d\n"
        "set border 3\nset tics nomirror\nset xrange [-0.5 : %zu.5]\nset yrange [0 : %.9g]\n"
        "plot '%s.dat' index %zu using 1:2:3:4 with vectors nohead linetype 1, \\\n"
        "    '' index %zu using 1:2 with points linetype 1 pointsize 0.7\n",
        place[root].y > 8 ? 5 : 1, t->leaves - 1, place[root].y + 0.4, plot->name, lines, sums);
    text_free(&title);
}

enum status report_trees(struct report *r, struct problem *p)
{
    struct plot plot;
    struct shown_trees small = {0}, large = {0};
    enum status status = report_trees_list(&small, r, TREES_SMALL, p);
    if (status == STATUS_OK)
        status = report_trees_list(&large, r, TREES_LARGE, p);
    plot_begin(&plot, "trees");
    for (size_t i = 0; status == STATUS_OK && i < small.count && plot.panels < PANELS_MOST; i++)
        draw_tree(&plot, &small.item[i]);
    if (status == STATUS_OK && large.count > 0)
        status = report_depths(&plot, &large, p);
    enum status drawn =
        plot_end(&plot, r, "Summation trees",
                 "Which sums are added to which, of the methods that have a fixed order, as they "
                 "declare it (<code>ulpscope reveal</code> finds the same from their results "
                 "alone). A dot is an addition, rounded once, of the two below it; the topmost is "
                 "the result, of a scan its last. An element's way up passes as many roundings as "
                 "it meets dots, and the height bounds the error: a low tree errs less than a tall "
                 "one. Elements stand where no lines cross; their numbers are below. Methods that "
                 "share a tree differ in what they do with the rounding errors, or for longer "
                 "inputs: of those the last picture shows how many additions each element passes "
                 "through (of 16 neighbours the most).",
                 p);
    if (status == STATUS_OK)
        status = drawn;
    if (status == STATUS_OK)
        status = report_outlines(r, &large, p);
    report_trees_free(&small);
    report_trees_free(&large);
    return status;
}
