/* Checks of what is told how the rows of a matrix lie, or a mask: those of holds.h, output by
 * output. */
#pragma once

#include "tests/mutants/mutants.h"

enum { MATRIX_MOST = 20000 };

/* A case; `bins`, `stride` and `mask` as in a task. */
struct matrix_case {
    const struct method *method;
    struct array in;
    enum format accumulator;
    size_t bins, stride;
    uint8_t mask[MATRIX_MOST];
    struct shape shape;
    bool there; /* run on a GPU, whose atomics may flush subnormals */
    const char *sample;
};

bool matrix_takes(const struct method *m); /* is it such a method? Statistics: statistics.h */

/* All is set but for method and shape: matrices, row-major, column-major and in batches, of all
 * lengths next to what methods are made of, and masks; k < MATRIX_SAMPLES. in.data has room for
 * MATRIX_MOST doubles. Only pairs that the
 * method supports on the CPU, where it has a CPU side. */
enum { MATRIX_SAMPLES = 224 };
bool matrix_sample(struct matrix_case *c, size_t k);

size_t matrix_outputs(const struct matrix_case *c);
enum status matrix_run(const struct matrix_case *c, const struct array *out);

/* Is every output what it must be? Of sums that keep a promise the bits that sum/serial, sum/tiled
 * or MPFR give for the elements of the row alone; of others a sum within the theorem; of what moves
 * elements their bits. */
bool matrix_holds(const struct matrix_case *c, const struct array *out, char why[WHY]);

/* matrix_holds of every sample. */
bool holds_matrix_bits(const struct method *m, char why[WHY]);

/* Every row within its theorem, on every input family. */
bool holds_matrix_bound(const struct method *m, char why[WHY]);

/* The promise, over runs and launch shapes; from order_invariant up over permutations of each row;
 * of sums of rows batch invariance: a row has the same bits among other rows, at another position,
 * in another layout and alone. */
bool holds_matrix_promise(const struct method *m, char why[WHY]);

/* Rows of nothing are +0, of -0 alone -0; what is not finite stays in its row. */
bool holds_matrix_edges(const struct method *m, char why[WHY]);

extern const struct mutant matrix_mutants[];
extern const size_t matrix_mutant_count;
