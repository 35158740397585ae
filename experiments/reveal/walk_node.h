/* What a node of an order stands for, in the arithmetic of a method of sums, written anew: values
 * of one word, or of several that carry what additions lost. */
#pragma once

#include "kernels/method/method.h"

struct walk_node {
    double word[5];
    size_t leaf; /* the first below it */
    bool single; /* it is a leaf */
};

/* The arithmetic is told by the method's theorem and its folds; f is the accumulator. */
struct walk_node walk_leaf(const struct method *m, enum format f, size_t leaf, double x);
struct walk_node walk_add(const struct method *m, enum format f, const struct walk_node *a,
                          const struct walk_node *b);
/* Adds x and what a lost before to a, by Kahan's way. */
void walk_kahan(enum format f, struct walk_node *a, double x);
double walk_value(const struct method *m, enum format f, const struct walk_node *root);
