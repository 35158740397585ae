/* The outputs of a scan held against the exact prefixes, all of them in one pass; or those of a
 * scatter-add against the exact sums of its bins, of a matrix product against its exact elements;
 * or what rows have other values than sums for.
 *
 * What measure.h says of one sum is said here of every index: output i is held against the exact
 * sum of the elements that it covers, in units of its own ulp, magnitudes and bound. Maxima over
 * the indices are reported, each the correctly rounded figure of the index where it is largest. */
#pragma once

#include "reference/exact/by_bin.h"
#include "reference/exact/matrices.h"
#include "reference/measure/measure.h"
#include "reference/measure/row_values.h"

/* The input of a scan, and the kind of scan. Host memory. */
struct scan {
    struct array in;
    bool exclusive;       /* output i covers elements before i, else up to i */
    const uint8_t *heads; /* n flags, != 0 where a segment begins: nothing before it is covered;
                             NULL: one segment */
    /* Scatter-adds only: output i is the sum of bin i of by_bin->bins; else NULL. */
    const struct by_bin *by_bin;
    /* Of a matrix product: output i is its element number i; else NULL. in.format is A's and B's.
     */
    const struct matrices_packed *matrices;
    /* Of other values of rows than sums: those of all outputs; by_bin has the rows. Else NULL. */
    const struct row_values *values;
};

/* How many outputs it has. */
static inline size_t scan_outputs(const struct scan *s)
{
    return s->values     ? s->values->outputs
           : s->by_bin   ? s->by_bin->bins
           : s->matrices ? matrices_outputs(s->matrices)
                         : s->in.n;
}

enum { SCAN_TWINS = 2 };

/* One output of it. */
struct scan_output {
    struct array out; /* scan_outputs(s) elements, in host memory, rounded once to its format */
    enum format accumulator;
    enum theorem_kind bound;
    /* The height of the tree of output i, of bins that have elements. Only called where
     * theorem_has_height. */
    size_t (*height)(const void *context, size_t i);
    double (*given)(const void *context, size_t i); /* THEOREM_BLOCKS only: the bound of output i */
    unsigned folds;                                 /* THEOREM_BINNED only */
    const void *context;
    /* Outputs of the same scan that it is compared with, in the same format; or NULL. */
    const struct array *twin[SCAN_TWINS];
    enum product_kind product; /* how those of a matrix product are formed */
    bool flushes; /* one addition per element, each of which may flush subnormals: `flushing` of a
                     theorem. Not for correctly rounded sums */
};

/* One output against another, bit for bit with all NaNs alike. */
struct scan_difference {
    struct figure differing; /* the share of elements that differ; not known without a twin */
    /* The mean of |out - twin| / |twin|, 0 where the bits are the same; outputs that differ from a
     * zero, an infinity or a NaN are left out. Each is within 2^-51, relatively; their sum is
     * exact; inf where one is beyond the doubles. Not known where all are left out. */
    struct figure mean_rel_diff;
    size_t first_diff; /* the number of outputs where there is none */
};

/* A point of the curve of errors: what measure_output says of one output. */
struct scan_point {
    size_t index;
    double result;
    struct figure err_abs, err_ulp, bound, err_over_bound;
};
/* Prefixes of 10^(k/20) elements, rounded, and the last. */
enum { SCAN_POINTS = 400 };

struct scan_measure {
    enum outcome outcome; /* overflow, nan, ok: the first of these that an output has */
    /* The largest figure of any index that has one. A NaN is larger than any number. */
    struct figure err_abs, err_rel, err_ulp, err_backward, err_over_bound;
    /* The root mean square of err_ulp over the indices that have one; within 2^-48, relatively, or
     * 2^-1073. */
    struct figure err_ulp_rms;
    size_t worst_index;  /* the lowest with the largest err_ulp; their number where none has one */
    size_t broken;       /* outputs whose error exceeds their bound, decided on exact numbers */
    size_t not_finite;   /* of these: infinite or NaN */
    size_t first_broken; /* n where there is none */
    /* Outputs that are less than the one before, or NaN, or follow one, although no element is
     * negative. Not known where one is, or is NaN, and of scatter-adds. */
    struct figure decreases;
    struct scan_difference difference[SCAN_TWINS];
    size_t points;
    struct scan_point point[SCAN_POINTS];
};

/* Measures `outputs` outputs of one scan together, on up to `threads` >= 1 threads; figures depend
 * neither on threads nor on each other. STATUS_USAGE where an output or twin has another length or
 * a twin another format, STATUS_MEMORY when memory is short. */
enum status measure_scan(struct scan_measure *m, const struct scan_output *out, size_t outputs,
                         const struct scan *scan, unsigned threads, struct problem *p);

/* The same of a scatter-add, a matrix product or other values of rows; there are no points. Bins
 * without an element are among the outputs: the sum of nothing is 0. */
enum status measure_scatter(struct scan_measure *m, const struct scan_output *out, size_t outputs,
                            const struct scan *scan, unsigned threads, struct problem *p);
