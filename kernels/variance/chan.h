/* What variance/chan merges: the mean of a whole array and the sum of squared distances from it. */
#pragma once

#include "kernels/method/method.h"

/* Values of f; of nothing +0. Threads are a schedule. */
enum status chan_moments(const struct array *in, enum format f, unsigned threads, double *mean,
                         double *scatter, struct problem *p);
