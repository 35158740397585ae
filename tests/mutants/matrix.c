/* Sums of rows, transpositions and compactions that are right but for one thing. */
#include "kernels/method/matrix.h"
#include "tests/support/matrices.h"

static enum status run_as(const char *name, const struct task *t)
{
    return method_named(name)->cpu(t, NULL);
}

/* As if rows were consecutive. */
static enum status forgets_stride(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    (void)p;
    of.stride = 1;
    return run_as("rows/tiled", &other);
}

static enum status drops_last(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    (void)p;
    of.bins -= t->of->bins > 1;
    of.in.n = of.bins * matrix_length(t->of->in.n, t->of->bins);
    of.stride = t->of->stride == t->of->bins ? of.bins : t->of->stride;
    return run_as("rows/atomic", &other);
}

/* With many rows another kernel: what libraries do. */
static enum status reads_rows(const struct task *t, struct problem *p)
{
    (void)p;
    return run_as(t->of->bins > 2 ? "rows/serial" : "rows/tiled", t);
}

/* With one layout another kernel. */
static enum status reads_stride(const struct task *t, struct problem *p)
{
    (void)p;
    return run_as(t->of->stride > 1 ? "rows/serial" : "rows/tiled", t);
}

static enum status lets_rows_meet(const struct task *t, struct problem *p)
{
    (void)p;
    enum status status = run_as("rows/exact", t);
    for (size_t r = 1; r < t->of->bins; r++) {
        double sum = array_get(&t->out, r) + 0 * array_get(&t->out, r - 1);
        array_encode(&t->out, r, 1, &sum);
    }
    return status;
}

static enum status reads_threads(const struct task *t, struct problem *p)
{
    (void)p;
    return run_as(t->shape.threads > 1 ? "rows/serial" : "rows/tiled", t);
}

static enum status adds_tiled(const struct task *t, struct problem *p)
{
    (void)p;
    return run_as("rows/tiled", t);
}

static enum status starts_from_zero(const struct task *t, struct problem *p)
{
    (void)p;
    enum status status = run_as("rows/serial", t);
    for (size_t r = 0; r < t->of->bins; r++) {
        double sum = array_get(&t->out, r) + 0.0;
        array_encode(&t->out, r, 1, &sum);
    }
    return status;
}

/* Through a double: NaNs lose their payloads. */
static enum status converts(const struct task *t, struct problem *p)
{
    (void)p;
    enum status status = run_as("transpose/naive", t);
    for (size_t i = 0; i < t->out.n; i++)
        array_set_bits(&t->out, i, format_canonical(t->out.format, array_bits(&t->out, i)));
    return status;
}

static enum status mistakes_rows(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    (void)p;
    of.bins = matrix_length(t->of->in.n, t->of->bins);
    return run_as("transpose/padded", &other);
}

/* Of the edge of the matrix it forgets the last element. */
static enum status leaves_a_corner(const struct task *t, struct problem *p)
{
    (void)p;
    enum status status = run_as("transpose/tiled", t);
    if (t->out.n > 1)
        array_set_bits(&t->out, t->out.n - 1, ~array_bits(&t->out, t->out.n - 1));
    return status;
}

/* Only a flag of 1. */
static enum status wants_ones(const struct task *t, struct problem *p)
{
    static uint8_t mask[MATRIX_MOST];
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    (void)p;
    for (size_t i = 0; i < t->of->in.n; i++)
        mask[i] = t->of->mask[i] == 1;
    of.mask = mask;
    return run_as("compact/scan", &other);
}

static enum status keeps_the_other(const struct task *t, struct problem *p)
{
    (void)p;
    enum status status = run_as("compact/scan", t);
    for (size_t i = 0; i < t->out.n / 2; i++) {
        uint64_t bits = array_bits(&t->out, i);
        array_set_bits(&t->out, i, array_bits(&t->out, t->out.n - 1 - i));
        array_set_bits(&t->out, t->out.n - 1 - i, bits);
    }
    return status;
}

#define BREAK(function)                                                                            \
    static void break_##function(struct method *m)                                                 \
    {                                                                                              \
        m->cpu = function;                                                                         \
    }
BREAK(forgets_stride)
BREAK(drops_last)
BREAK(reads_rows)
BREAK(reads_stride)
BREAK(lets_rows_meet)
BREAK(reads_threads)
BREAK(adds_tiled)
BREAK(starts_from_zero)
BREAK(converts)
BREAK(mistakes_rows)
BREAK(leaves_a_corner)
BREAK(wants_ones)
BREAK(keeps_the_other)

static size_t no_height(const size_t *element, size_t terms, size_t n, size_t bins)
{
    (void)element, (void)terms, (void)n, (void)bins;
    return 0;
}

static void break_height(struct method *m)
{
    m->bin_height = no_height;
}

const struct mutant matrix_mutants[] = {
    {"takes every layout for row-major", "rows/tiled", break_forgets_stride, holds_matrix_bits},
    {"takes every layout for row-major", "rows/tiled", break_forgets_stride, holds_bound},
    {"forgets the last row", "rows/atomic", break_drops_last, holds_bound},
    {"adds in another order", "rows/serial", break_adds_tiled, holds_matrix_bits},
    {"sums many rows otherwise", "rows/tiled", break_reads_rows, holds_promise},
    {"sums columns otherwise", "rows/tiled", break_reads_stride, holds_promise},
    {"lets a row's neighbour in", "rows/exact", break_lets_rows_meet, holds_promise},
    {"lets a row's neighbour in", "rows/exact", break_lets_rows_meet, holds_edges},
    {"lets threads into the order", "rows/tiled", break_reads_threads, holds_promise},
    {"depends on the order", "rows/exact", break_adds_tiled, holds_promise},
    {"starts from +0", "rows/serial", break_starts_from_zero, holds_edges},
    {"claims trees of no height", "rows/tiled", break_height, holds_bound},
    {"loses payloads", "transpose/naive", break_converts, holds_matrix_bits},
    {"takes rows for columns", "transpose/padded", break_mistakes_rows, holds_matrix_bits},
    {"spoils a corner", "transpose/tiled", break_leaves_a_corner, holds_matrix_bits},
    {"keeps flags of 1 alone", "compact/scan", break_wants_ones, holds_matrix_bits},
    {"turns the order round", "compact/scan", break_keeps_the_other, holds_matrix_bits},
};
const size_t matrix_mutant_count = sizeof matrix_mutants / sizeof *matrix_mutants;
