#include "reports/tree/text.h"

#include <stdlib.h>
#include <string.h>

#include "reference/base/hash.h"

struct depths {
    uint32_t least, most;
    double mean;
};

static struct depths depths_of(const struct sum_tree_nodes *nodes, size_t leaves)
{
    struct depths d = {UINT32_MAX, 0, 0};
    for (size_t i = 0; i < leaves; i++) {
        uint32_t depth = nodes->depth[i];
        d.least = depth < d.least ? depth : d.least;
        d.most = depth > d.most ? depth : d.most;
        d.mean += (double)depth / (double)leaves;
    }
    return d;
}

enum status sum_tree_facts(FILE *to, const struct sum_tree *t, struct problem *p)
{
    struct sum_tree_nodes nodes;
    size_t two = 0, most = 2;
    enum status status = sum_tree_nodes_make(&nodes, t, p);
    if (status != STATUS_OK)
        return status;
    for (size_t k = 0; k < t->additions; k++) {
        size_t children = t->begin[k + 1] - t->begin[k];
        two += children == 2;
        most = children > most ? children : most;
    }
    struct depths d = depths_of(&nodes, t->leaves);
    fprintf(to, "%zu addition%s of two", two, two == 1 ? "" : "s");
    if (two < t->additions)
        fprintf(to, ", %zu of more at once (up to %zu)", t->additions - two, most);
    if (d.least == d.most)
        fprintf(to, "; every element passes through %u\n", d.most);
    else
        fprintf(to, "; an element passes through %u to %u of them, %.4g on average\n", d.least,
                d.most, d.mean);
    free(nodes.parent);
    return STATUS_OK;
}

/* A name may be any command line. */
static void print_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

void sum_tree_dot(FILE *to, const struct sum_tree *t, size_t first, const char *title)
{
    fputs("graph order {\n    label = ", to);
    print_quoted(to, title);
    fputs("; labelloc = t; fontname = \"sans-serif\";\n"
          "    nodesep = 0.12; ranksep = 0.25; splines = line; ordering = out;\n"
          "    node [fontname = \"sans-serif\", fontsize = 11, height = 0.25, width = 0.25, "
          "margin = 0.03];\n"
          "    node [shape = box, style = filled, fillcolor = \"#dbe9f6\", color = \"#dbe9f6\"];\n",
          to);
    for (size_t i = 0; i < t->leaves; i++)
        fprintf(to, "    %zu [label = \"%zu\"];\n", i, first + i);
    fprintf(to, "    node [shape = circle, fixedsize = true, fillcolor = white, color = black, "
                "label = \"+\"];\n");
    for (size_t k = 0; k < t->additions; k++) {
        size_t children = t->begin[k + 1] - t->begin[k];
        if (children > 2)
            fprintf(to,
                    "    %zu [shape = box, fixedsize = false, fillcolor = \"#fde5c8\", label = "
                    "\"%zu at once\"];\n",
                    t->leaves + k, children);
        else
            fprintf(to, "    %zu;\n", t->leaves + k);
        for (uint32_t c = t->begin[k]; c < t->begin[k + 1]; c++)
            fprintf(to, "    %zu -- %u;\n", t->leaves + k, t->child[c]);
    }
    fprintf(to, "}\n");
}

enum { EXPRESSION = 16, LINES = 60 };

/* Two nodes of one shape have the same tree, the elements of the one being those of the other some
 * numbers further on. */
struct drawing {
    FILE *to;
    const struct sum_tree *tree;
    struct sum_tree_nodes nodes;
    size_t first;
    uint64_t *shape;
    uint32_t drawn[LINES]; /* nodes whose shape was drawn */
    size_t drawings, lines;
    enum status status;
    struct problem *p;
};

static const uint32_t *children(const struct sum_tree *t, uint32_t node, size_t *count)
{
    const uint32_t *begin = &t->begin[node - t->leaves];
    *count = begin[1] - begin[0];
    return &t->child[begin[0]];
}

static void find_shapes(struct drawing *d)
{
    const struct sum_tree *t = d->tree;
    for (uint32_t i = 0; i < t->leaves + t->additions; i++) {
        uint64_t hash = hash_mix(i < t->leaves ? 1 : 2);
        size_t count = 0;
        const uint32_t *child = i < t->leaves ? NULL : children(t, i, &count);
        for (size_t c = 0; c < count; c++)
            hash = hash_mix(hash + 3 * d->shape[child[c]] + 5 * c +
                            hash_mix(d->nodes.least[child[c]] - d->nodes.least[i]));
        d->shape[i] = hash;
    }
}

/* --- small trees --- */

static void print_expression(struct drawing *d, uint32_t node, bool outermost)
{
    size_t count;
    if (node < d->tree->leaves) {
        fprintf(d->to, "%zu", d->first + node);
        return;
    }
    const uint32_t *child = children(d->tree, node, &count);
    bool two = count == 2;
    if (!outermost || !two)
        fputs(two ? "(" : "[", d->to);
    for (size_t c = 0; c < count; c++) {
        fputs(c ? " + " : "", d->to);
        print_expression(d, child[c], false);
    }
    if (!outermost || !two)
        fputs(two ? ")" : "]", d->to);
}

/* --- large ones --- */

/* What is added one after the other, the first first: elements, or nodes of one shape with or
 * without another one before them. term[]: room for all leaves. */
struct terms {
    uint32_t *term;
    size_t count;
};

static void reverse(struct terms *x)
{
    for (size_t i = 0; i < x->count / 2; i++) {
        uint32_t other = x->term[x->count - 1 - i];
        x->term[x->count - 1 - i] = x->term[i];
        x->term[i] = other;
    }
}

/* The first two commute: as they stand in line with the third. */
static void line_up(const struct drawing *d, struct terms *x)
{
    uint32_t *t = x->term, first = t[0];
    if (x->count < 2)
        return;
    uint32_t a = d->nodes.least[t[0]], b = d->nodes.least[t[1]];
    uint32_t c = x->count > 2 ? d->nodes.least[t[2]] : UINT32_MAX;
    bool falling = x->count > 2 && a > b && b > c;
    if ((b < a && !falling) || (a < b && a > c)) {
        t[0] = t[1];
        t[1] = first;
    }
}

static void find_terms(const struct drawing *d, uint32_t node, struct terms *x)
{
    uint64_t shape = 0;
    x->count = 0;
    while (node >= d->tree->leaves) {
        size_t count;
        const uint32_t *child = children(d->tree, node, &count);
        bool swap = count == 2 && d->nodes.size[child[1]] > d->nodes.size[child[0]];
        uint32_t side = child[!swap];
        if (count != 2 || (x->count > 0 && d->shape[side] != shape))
            break;
        shape = d->shape[side];
        x->term[x->count++] = side;
        node = child[swap];
    }
    x->term[x->count++] = node;
    reverse(x);
    line_up(d, x);
}

static void print_set(struct drawing *d, uint32_t node)
{
    char text[SUM_TREE_SET] = "";
    if (d->status == STATUS_OK)
        d->status = sum_tree_set_text(text, d->tree, node, d->first, d->p);
    fputs(text, d->to);
}

/* Begins a line, unless there are too many. */
static bool begin_line(struct drawing *d, const char *indent, const char *branch)
{
    if (d->lines++ >= LINES)
        return false;
    fprintf(d->to, "%s%s", indent, branch);
    return true;
}

static bool drawn_before(struct drawing *d, uint32_t node)
{
    for (size_t i = 0; i < d->drawings; i++)
        if (d->shape[d->drawn[i]] == d->shape[node]) {
            fputs(": as ", d->to);
            print_set(d, d->drawn[i]);
            return true;
        }
    if (d->drawings < LINES)
        d->drawn[d->drawings++] = node;
    return false;
}

/* How many elements from the i-th on are equally far apart. */
static size_t run_of(const struct terms *x, size_t i)
{
    size_t count = x->count - i < 2 ? x->count - i : 2;
    int64_t by = count == 2 ? (int64_t)x->term[i + 1] - x->term[i] : 0;
    while (i + count < x->count && (int64_t)x->term[i + count] - x->term[i + count - 1] == by)
        count++;
    return count > 2 ? count : 1;
}

/* Pieces of the order, so that it is seen where it departs from that of the elements. */
static void print_pieces(const struct drawing *d, const struct terms *x)
{
    enum { PIECES = 8 };
    size_t i = 0, count;
    fputs(":", d->to);
    for (size_t piece = 0; i < x->count && piece < PIECES; i += count, piece++) {
        count = x->count > PIECES ? run_of(x, i) : 1;
        fprintf(d->to, " %s%zu", i ? "+ " : "", d->first + x->term[i]);
        if (count == 1)
            continue;
        bool up = x->term[i + 1] > x->term[i];
        uint32_t by = up ? x->term[i + 1] - x->term[i] : x->term[i] - x->term[i + 1];
        fprintf(d->to, "%s%zu", up ? ".." : " down to ", d->first + x->term[i + count - 1]);
        if (by > 1)
            fprintf(d->to, " by %u", by);
    }
    if (i < x->count)
        fputs(" + ... one after the other", d->to);
    else if (x->count > PIECES)
        fputs(", one after the other", d->to);
}

static void print_in_order(struct drawing *d, const struct terms *x)
{
    bool up = true, down = true;
    for (size_t i = 1; i < x->count; i++) {
        up &= x->term[i] > x->term[i - 1];
        down &= x->term[i] < x->term[i - 1];
    }
    if (up || down)
        fprintf(d->to, ", one after the other%s", up ? "" : ", the last first");
    else
        print_pieces(d, x);
}

/* From the i-th on: their least elements ascend, or descend. */
static bool in_line(const struct drawing *d, const struct terms *x, size_t i)
{
    bool up = true, down = true;
    for (i++; i < x->count; i++) {
        uint32_t before = d->nodes.least[x->term[i - 1]], least = d->nodes.least[x->term[i]];
        up &= least > before;
        down &= least < before;
    }
    return up || down;
}

static void draw(struct drawing *d, uint32_t node, const char *indent, const char *branch,
                 const char *below);

/* The i-th of `count` things below a line. */
static void draw_child(struct drawing *d, uint32_t node, const char *indent, bool last)
{
    draw(d, node, indent, last ? "└─ " : "├─ ", last ? "   " : "│  ");
}

/* The terms: the first that has their shape is drawn. */
static void draw_terms(struct drawing *d, const struct terms *x, const char *indent)
{
    size_t like = x->count - 1; /* how many end the list that have the last one's shape */
    while (like > 0 && d->shape[x->term[like - 1]] == d->shape[x->term[x->count - 1]])
        like--;
    uint32_t from = like + 1 < x->count ? x->term[like + 1] : 0, to = x->term[x->count - 1];
    size_t more = x->count - like - 1;
    for (size_t i = 0; i <= like; i++)
        draw_child(d, x->term[i], indent, more == 0 && i == like);
    if (more == 0 || !begin_line(d, indent, "└─ "))
        return;
    fprintf(d->to, "%zu more like it: ", more);
    print_set(d, from);
    fputs(more > 1 ? " to " : "", d->to);
    if (more > 1)
        print_set(d, to);
    if (!in_line(d, x, like + 1))
        fputs(", in another order (--json has it)", d->to);
    fputc('\n', d->to);
}

static void draw_below(struct drawing *d, uint32_t node, const char *indent)
{
    struct terms x = {.term = calloc(d->tree->leaves, sizeof *x.term)};
    size_t count;
    const uint32_t *child = children(d->tree, node, &count);
    if (!x.term)
        d->status = problem(d->p, STATUS_MEMORY, "reveal: out of memory for a tree");
    if (d->status == STATUS_OK)
        find_terms(d, node, &x);
    bool elements = d->nodes.size[node] == x.count;
    if (elements && x.count > 2) {
        print_in_order(d, &x);
    } else if (x.count > 3) {
        fprintf(d->to, ": %zu, one after the other\n", x.count);
        draw_terms(d, &x, indent);
    } else if (count > 2) {
        fprintf(d->to, ": %zu at once", count);
        x.count = count;
        memcpy(x.term, child, count * sizeof *child);
        if (d->nodes.size[node] > count) {
            fputc('\n', d->to);
            draw_terms(d, &x, indent);
        }
    } else if (d->nodes.size[node] > 2) {
        fputc('\n', d->to);
        draw_child(d, child[0], indent, false);
        draw_child(d, child[1], indent, true);
    }
    free(x.term);
}

static void draw(struct drawing *d, uint32_t node, const char *indent, const char *branch,
                 const char *below)
{
    char deeper[LINES * 8];
    if (d->status != STATUS_OK || !begin_line(d, indent, branch))
        return;
    size_t line = d->lines;
    print_set(d, node);
    if (node < d->tree->leaves || drawn_before(d, node)) {
        fputc('\n', d->to);
        return;
    }
    snprintf(deeper, sizeof deeper, "%s%s", indent, below);
    draw_below(d, node, deeper);
    if (d->lines == line)
        fputc('\n', d->to);
}

enum status sum_tree_text(FILE *to, const struct sum_tree *t, size_t first, struct problem *p)
{
    struct drawing d = {.to = to, .tree = t, .first = first, .p = p};
    uint32_t root = (uint32_t)(t->leaves + t->additions - 1);
    if (t->leaves <= EXPRESSION) {
        print_expression(&d, root, true);
        fputc('\n', to);
        return STATUS_OK;
    }
    d.status = sum_tree_nodes_make(&d.nodes, t, p);
    d.shape = calloc(t->leaves + t->additions, sizeof *d.shape);
    if (d.status == STATUS_OK && !d.shape)
        d.status = problem(p, STATUS_MEMORY, "reveal: out of memory for a tree");
    if (d.status == STATUS_OK) {
        find_shapes(&d);
        draw(&d, root, "", "", "");
    }
    if (d.lines > LINES)
        fprintf(to, "... and more: --json and --dot print all of it\n");
    free(d.shape);
    free(d.nodes.parent);
    return d.status;
}
