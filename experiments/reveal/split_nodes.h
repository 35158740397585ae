/* What the files of reveal_split share: nodes that are being split into their children. */
#pragma once

#include "experiments/reveal/split.h"

/* A child of a node that is split, as far as known: nested nodes that hold its leaf `rep`, each the
 * one in which `rep` meets by[g]. */
struct child {
    uint32_t rep, grown;
    uint32_t *by; /* by[1] .. by[grown] */
    uint32_t room;
};

/* A node that is being split, all of whose leaves are leaf[begin] .. leaf[end - 1]. Those from
 * `open` on belong to no child yet; the first of them is tried, with child `with`. Asked for are
 * first the leaf of another child, if there is one, then the open ones but for the first. */
struct split {
    uint32_t node;
    uint32_t begin, open, end;
    struct child *child;
    uint32_t children, room;
    uint32_t with, tried; /* children that were tried */
    uint32_t answers;
};

enum { NO_NODE = 0 }; /* not a node's number, since there are leaves: the least node is not known */

struct splitting {
    struct reveal_asker *asker;
    uint32_t *leaf;           /* all leaves, each node's together */
    uint32_t *child, *grown;  /* of each leaf: its child, and the node in it that first had it */
    unsigned char *outside;   /* of each leaf: the answer */
    uint32_t *parent, nodes;  /* as sum_tree_make takes them */
    uint32_t *sorted, *count; /* room */
    struct split *stack;
    size_t height, room, placed;
    bool failed; /* memory ran out */
};

/* Puts a node on the stack: what it holds is the stack's. Where memory runs out, s->failed is set.
 */
void split_push(struct splitting *s, const struct split *x);
void split_free(struct split *x);

/* Puts the first node, of all leaves, on the stack. */
void split_start(struct splitting *s, size_t leaves);

/* All is answered, or the leaf of another child lies inside: the open leaves that are not outside
 * join the child, or another one is tried. */
void split_advance(struct splitting *s, struct split *x, bool elsewhere);

/* No leaf is open: its children are placed, or are nodes on the stack. */
void split_finish(struct splitting *s, struct split *x);
