/* From questions to a tree, provided that there is one.
 *
 * A node is split into what its children hold: one leaf of each child stands for it. A leaf k that
 * no child has yet is masked together with such a leaf r. If the node of both is the one that is
 * split, it has the leaf of another child too, and k belongs elsewhere; else all leaves of the node
 * of r and k, which the same question tells, are of r's child. Nodes that lie apart are split
 * together, in the same calls. Of n leaves about 2 n log2(n) / bits calls for a balanced tree, and
 * 2 n for a sequential one, whose nodes hold each other. */
#pragma once

#include "experiments/reveal/ask.h"

/* Makes a tree of two or more leaves, unless a->contradiction gets set. */
enum status reveal_split(struct reveal_asker *a, struct sum_tree *t, struct problem *p);
