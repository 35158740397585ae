/* Exact sums of the elements, and of products, on several CPU threads. */
#pragma once

#include "kernels/method/method.h"
#include "reference/exact/products.h"

/* The exact sum of the task's array or, if `term` is not NULL, of the terms of its elements, on the
 * task's threads; `sum` need not be initialised. */
enum status whole_sum(const struct task *t, array_term *term, struct exact *sum, struct problem *p);

/* The same for the products of its two arrays, or the squares of a single one. */
enum status whole_products(const struct task *t, struct products *sum, struct problem *p);
