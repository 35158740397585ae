/* Revealed trees in words, as pictures, and side by side. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/reveal/difference.h"
#include "reports/tree/text.h"
#include "tests/support/trees.h"

static char *text_of(const struct sum_tree *t, size_t first)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    cr_assert_eq(sum_tree_text(to, t, first, NULL), STATUS_OK);
    fclose(to);
    return text;
}

static void hold_text(enum tree_shape shape, size_t leaves, size_t first, const char *due)
{
    struct sum_tree t;
    tree_make(&t, shape, leaves, 1);
    char *text = text_of(&t, first);
    cr_expect_str_eq(text, due, "%s tree of %zu:\n%sexpected:\n%s", tree_shape_name[shape], leaves,
                     text, due);
    free(text);
    sum_tree_free(&t);
}

Test(reveal_text, small_trees)
{
    hold_text(TREE_SEQUENTIAL, 1, 7, "7\n");
    hold_text(TREE_SEQUENTIAL, 2, 0, "0 + 1\n");
    hold_text(TREE_SEQUENTIAL, 4, 0, "((0 + 1) + 2) + 3\n");
    hold_text(TREE_BACKWARDS, 4, 10, "10 + (11 + (12 + 13))\n");
    hold_text(TREE_ADJACENT, 7, 0, "((0 + 1) + (2 + 3)) + ((4 + 5) + 6)\n");
    hold_text(TREE_HALVING, 8, 0, "((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7))\n");
}

/* Elements added one after the other, as `order` has them; pairs: two by two, pair after pair. */
static char *text_in_order(const uint32_t *order, size_t leaves, bool pairs)
{
    uint32_t parent[200];
    struct sum_tree t;
    size_t terms = pairs ? leaves / 2 : leaves, nodes = leaves + terms - 1 + (pairs ? terms : 0);
    for (size_t k = 0; k < terms; k++) {
        /* Node leaves + k adds term terms-1-k to all terms before it; the last one adds two. */
        uint32_t chain = (uint32_t)(leaves + (k + 1 < terms ? k : k - 1));
        size_t term = terms - 1 - k, pair = leaves + terms - 1 + k;
        if (pairs) {
            parent[order[2 * term]] = parent[order[2 * term + 1]] = (uint32_t)pair;
            parent[pair] = chain;
        } else {
            parent[order[term]] = chain;
        }
        if (k + 1 < terms)
            parent[leaves + k] = k ? (uint32_t)(leaves + k - 1) : SUM_TREE_NO_PARENT;
    }
    cr_assert_eq(sum_tree_make(&t, leaves, nodes, parent, NULL), STATUS_OK);
    char *text = text_of(&t, 0);
    sum_tree_free(&t);
    return text;
}

/* An order that departs from that of the elements is shown where it does. */
Test(reveal_text, an_order_is_shown_where_it_departs)
{
    uint32_t order[40];
    static const struct {
        bool pairs;
        size_t a, b; /* swapped */
        const char *due;
    } cases[] = {
        {false, 0, 0, "0..39, one after the other\n"},
        {false, 20, 21, "0..39: 0..19 + 21 + 20 + 22..39, one after the other\n"},
        {false, 1, 39, "0..39: 0 + 39 + 2..38 + 1, one after the other\n"},
        {true, 0, 0, "└─ 19 more like it: 2..3 to 38..39\n"},
        {true, 20, 22, "└─ 19 more like it: 2..3 to 38..39, in another order (--json has it)\n"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (uint32_t i = 0; i < 40; i++)
            order[i] = i;
        for (size_t i = 0; i < (cases[k].pairs ? 2 : 1); i++) {
            uint32_t other = order[cases[k].a + i];
            order[cases[k].a + i] = order[cases[k].b + i];
            order[cases[k].b + i] = other;
        }
        char *text = text_in_order(order, 40, cases[k].pairs);
        cr_expect(strstr(text, cases[k].due), "%zu: found\n%sexpected\n%s", k, text, cases[k].due);
        free(text);
    }
    /* Three lanes that are taken in turn backwards, and a list of many pieces. */
    for (uint32_t i = 0; i < 39; i++)
        order[i] = 36 - 3 * (i % 13) + i / 13;
    char *text = text_in_order(order, 39, false);
    cr_expect(strstr(text, "0..38: 36 down to 0 by 3 + 37 down to 1 by 3 + 38 down to 2 by 3, one "
                           "after the other\n"),
              "%s", text);
    free(text);
    for (uint32_t i = 0; i < 40; i++)
        order[i] = i ^ 1;
    text = text_in_order(order, 40, false);
    cr_expect(strstr(text, "0..39: 0 + 1 + 3 + 2 + 5 + 4 + 7 + 6 + ... one after the other\n"),
              "%s", text);
    free(text);
}

Test(reveal_text, drawings)
{
    hold_text(TREE_SEQUENTIAL, 20, 0, "0..19, one after the other\n");
    hold_text(TREE_BACKWARDS, 20, 100, "100..119, one after the other, the last first\n");
    hold_text(TREE_ADJACENT, 20, 0,
              "0..19\n"
              "├─ 0..15\n"
              "│  ├─ 0..7\n"
              "│  │  ├─ 0..3\n"
              "│  │  │  ├─ 0..1\n"
              "│  │  │  └─ 2..3: as 0..1\n"
              "│  │  └─ 4..7: as 0..3\n"
              "│  └─ 8..15: as 0..7\n"
              "└─ 16..19: as 0..3\n");
    hold_text(TREE_HALVING, 17, 0,
              "0..16\n"
              "├─ 0..16 by 2\n"
              "│  ├─ 0..16 by 4\n"
              "│  │  ├─ 0..16 by 8: 0 + 16 + 8\n"
              "│  │  └─ 4, 12\n"
              "│  └─ 2..14 by 4\n"
              "│     ├─ 2, 10: as 4, 12\n"
              "│     └─ 6, 14: as 4, 12\n"
              "└─ 1..15 by 2\n"
              "   ├─ 1..13 by 4: as 2..14 by 4\n"
              "   └─ 3..15 by 4: as 2..14 by 4\n");
}

/* A tree from the children of its additions, in ascending order of their numbers, the root last. */
static void make_tree(struct sum_tree *t, size_t leaves, const uint32_t *child,
                      const uint32_t *count, size_t additions)
{
    uint32_t parent[64];
    size_t nodes = leaves + additions, c = 0;
    /* sum_tree_make numbers from the root down. */
    for (size_t k = 0; k < additions; k++)
        for (size_t i = 0; i < count[k]; i++, c++) {
            size_t node = child[c] < leaves ? child[c] : nodes - 1 - (child[c] - leaves);
            parent[node] = (uint32_t)(nodes - 1 - k);
        }
    parent[leaves] = SUM_TREE_NO_PARENT;
    cr_assert_eq(sum_tree_make(t, leaves, nodes, parent, NULL), STATUS_OK);
}

static void hold_set(const uint32_t *member, size_t members, const char *due)
{
    /* Those under one node, all others beside it. */
    uint32_t parent[64];
    char text[SUM_TREE_SET];
    struct sum_tree t;
    for (size_t i = 0; i < 40; i++)
        parent[i] = 40;
    for (size_t i = 0; i < members; i++)
        parent[member[i]] = 41;
    parent[40] = SUM_TREE_NO_PARENT;
    parent[41] = 40;
    cr_assert_eq(sum_tree_make(&t, 40, 42, parent, NULL), STATUS_OK);
    cr_assert_eq(sum_tree_set_text(text, &t, 40, 0, NULL), STATUS_OK);
    cr_expect_str_eq(text, due, "%s, expected %s", text, due);
    sum_tree_free(&t);
}

#define HOLD_SET(due, ...)                                                                         \
    hold_set((const uint32_t[]){__VA_ARGS__},                                                      \
             sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), due)

Test(reveal_text, sets)
{
    HOLD_SET("0..1", 0, 1);
    HOLD_SET("0, 9", 0, 9);
    HOLD_SET("3..7", 3, 4, 5, 6, 7);
    HOLD_SET("1..13 by 4", 1, 5, 9, 13);
    HOLD_SET("0..2, 10..12", 0, 1, 2, 10, 11, 12);
    HOLD_SET("0..2, 10..12, ... 30..32", 0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32);
    HOLD_SET("0..4 by 2, 20..24 by 2", 0, 2, 4, 20, 22, 24);
    HOLD_SET("0, 3, 4, 9, ... 39", 0, 3, 4, 9, 11, 16, 39);
    HOLD_SET("0..3, 8..11, ... 30", 0, 1, 2, 3, 8, 9, 10, 11, 20, 30);
}

Test(reveal_text, nodes_of_many)
{
    struct sum_tree t;
    uint32_t child[] = {0, 1, 2, 3, 4, 5, 6, 7, 20, 8, 9, 10, 21, 22, 11};
    for (size_t i = 0; i < 15; i++)
        child[i] = child[i] >= 20 ? child[i] - 20 + 12 : child[i];
    make_tree(&t, 12, child, (const uint32_t[]){4, 4, 4, 3}, 4);
    char *text = text_of(&t, 0);
    cr_expect_str_eq(text, "[[[0 + 1 + 2 + 3] + 8 + 9 + 10] + [4 + 5 + 6 + 7] + 11]\n", "%s", text);
    free(text);
    sum_tree_free(&t);
}

/* --- side by side --- */

static void hold_difference(enum tree_shape a, enum tree_shape b, size_t leaves, uint32_t node,
                            uint32_t other)
{
    struct sum_tree x, y;
    struct reveal_difference d;
    tree_make(&x, a, leaves, 1);
    tree_make(&y, b, leaves, 1);
    cr_assert_eq(reveal_tree_difference(&d, &x, &y, NULL), STATUS_OK);
    cr_expect(!d.equal && !d.swapped && d.node == node && d.other == other,
              "%s and %s of %zu: %d %d, node %u, other %u", tree_shape_name[a], tree_shape_name[b],
              leaves, d.equal, d.swapped, d.node, d.other);
    cr_assert_eq(reveal_tree_difference(&d, &x, &x, NULL), STATUS_OK);
    cr_expect(d.equal);
    sum_tree_free(&x);
    sum_tree_free(&y);
}

Test(reveal_text, differences)
{
    hold_difference(TREE_SEQUENTIAL, TREE_ADJACENT, 4, 5, 6); /* 0 1 2, which there has 3 too */
    hold_difference(TREE_ADJACENT, TREE_SEQUENTIAL, 4, 5, 6); /* 2 3, which there has all */
    hold_difference(TREE_HALVING, TREE_ADJACENT, 4, 4, 6);    /* 0 2 */
}

/* All nodes of the one are the other's, which has more. */
Test(reveal_text, a_finer_tree_differs)
{
    struct sum_tree fine, coarse;
    struct reveal_difference d;
    tree_make(&fine, TREE_SEQUENTIAL, 4, 1);
    make_tree(&coarse, 4, (const uint32_t[]){0, 1, 4, 2, 3}, (const uint32_t[]){2, 3}, 2);
    cr_assert_eq(reveal_tree_difference(&d, &coarse, &fine, NULL), STATUS_OK);
    cr_expect(!d.equal && d.swapped && d.node == 5 && d.other == 5, "%d %d %u %u", d.equal,
              d.swapped, d.node, d.other);
    cr_assert_eq(reveal_tree_difference(&d, &fine, &coarse, NULL), STATUS_OK);
    cr_expect(!d.equal && !d.swapped && d.node == 5 && d.other == 5);
    sum_tree_free(&fine);
    sum_tree_free(&coarse);
}

Test(reveal_text, what_is_no_tree_is_refused)
{
    static const uint32_t bad[][4] = {{0, 0, 3, 1}, {0, 1, 3, 0}, {0, 1, 3, 3}, {0, 1, 2, 2}};
    for (size_t i = 0; i < 4; i++) {
        struct order o;
        struct sum_tree t;
        struct problem p = {0};
        order_init(&o, 3, 1);
        order_add(&o, bad[i][0], bad[i][1]);
        o.output[0] = order_add(&o, bad[i][2], bad[i][3]);
        cr_expect_eq(sum_tree_of(&t, &o, 0, 0, 3, &p), STATUS_FAILED, "%zu", i);
        cr_expect(*p.text);
        sum_tree_free(&t);
        order_free(&o);
    }
}

/* Every node once, every edge once. */
Test(reveal_text, graphviz)
{
    struct sum_tree t;
    char *text = NULL;
    size_t size, edges = 0;
    tree_make(&t, TREE_FUSED, 50, 3);
    FILE *to = open_memstream(&text, &size);
    sum_tree_dot(to, &t, 0, "a \"name\"");
    fclose(to);
    for (const char *at = text; (at = strstr(at, " -- ")); at++)
        edges++;
    cr_expect_eq(edges, t.leaves + t.additions - 1, "%zu edges", edges);
    cr_expect(strstr(text, "label = \"a \\\"name\\\"\"") && strstr(text, " at once\"]"), "%s",
              text);
    free(text);
    sum_tree_free(&t);
}
