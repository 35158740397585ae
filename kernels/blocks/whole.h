/* Exact sums of the elements, and of products, on several CPU threads. */
#pragma once

#include "kernels/method/method.h"
#include "reference/exact/products.h"

/* Of the elements of the task's array, on its threads; `sum` need not be initialised. */
enum status whole_sum(const struct task *t, struct exact *sum, struct problem *p);

/* Of the products of its two arrays, or of the squares where it has but one. */
enum status whole_products(const struct task *t, struct products *sum, struct problem *p);
