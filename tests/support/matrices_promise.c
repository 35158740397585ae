/* Promises and edges of what is told how rows lie: that a row is summed as if it were alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/method/matrix.h"
#include "tests/support/matrices.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

struct work {
    struct matrix_case c, other;
    struct array out, other_out;
    double in_data[MATRIX_MOST], out_data[MATRIX_MOST];
    double other_data[4 * MATRIX_MOST], other_out_data[4 * MATRIX_MOST];
};

static bool failed(const struct matrix_case *c, char why[WHY], size_t output, const char *what)
{
    return not_held(why, c->method, c->in.format, c->accumulator, c->in.n, c->shape,
                    "%zu rows, stride %zu, output %zu: %s", c->bins, c->stride, output, what);
}

static struct work *work_new(const struct method *m)
{
    struct work *w = calloc(1, sizeof *w);
    w->c.method = m;
    w->c.in.data = w->in_data;
    return w;
}

static bool run(const struct matrix_case *c, struct array *out, double *data, char why[WHY])
{
    *out = (struct array){c->accumulator, matrix_outputs(c), data};
    return matrix_run(c, out) == STATUS_OK || failed(c, why, 0, "it could not be run");
}

static bool same(const struct array *a, size_t i, const struct array *b, size_t k)
{
    return format_canonical(a->format, array_bits(a, i)) ==
           format_canonical(b->format, array_bits(b, k));
}

/* ---- launch shapes, and the order of a row's elements ---- */

static void permute_rows(const struct matrix_case *c, uint64_t seed)
{
    size_t length = matrix_length(c->in.n, c->bins);
    for (size_t r = 0; r < c->bins; r++)
        for (size_t k = length; k-- > 1;) {
            size_t a = matrix_at(r, k, length, c->stride);
            size_t b = matrix_at(r, sample_next(&seed) % (k + 1), length, c->stride);
            uint64_t bits = array_bits(&c->in, a);
            array_set_bits(&c->in, a, array_bits(&c->in, b));
            array_set_bits(&c->in, b, bits);
        }
}

static bool keeps(struct work *w, char why[WHY])
{
    struct shape shape[SHAPES_TRIED];
    size_t shapes = shapes_tried(w->c.method, w->c.in.n, shape);
    enum promise promise = w->c.method->promise;
    w->c.shape = shape[0];
    if (!run(&w->c, &w->out, w->out_data, why))
        return false;
    for (size_t k = 1; k < shapes + 2; k++) {
        if (promise >= PROMISE_GPU_TO_GPU && k < shapes)
            w->c.shape = shape[k];
        if (promise >= PROMISE_ORDER_INVARIANT)
            permute_rows(&w->c, k);
        if (!run(&w->c, &w->other_out, w->other_out_data, why))
            return false;
        for (size_t i = 0; i < w->out.n; i++)
            if (!same(&w->out, i, &w->other_out, i))
                return failed(&w->c, why, i, "other bits than the first run's");
    }
    return true;
}

/* ---- batch invariance ---- */

/* Row r of c as row `to` of `rows` rows in batches of `stride`, among any bits. */
static void embed(struct work *w, size_t r, size_t to, size_t rows, size_t stride, uint64_t seed)
{
    const struct matrix_case *c = &w->c;
    size_t length = matrix_length(c->in.n, c->bins);
    w->other = *c;
    w->other.bins = rows;
    w->other.stride = stride;
    w->other.in = (struct array){c->in.format, rows * length, w->other_data};
    sample_fill(&w->other.in, SAMPLE_BITS, c->accumulator, seed);
    for (size_t k = 0; k < length; k++)
        array_set_bits(&w->other.in, matrix_at(to, k, length, stride),
                       array_bits(&c->in, matrix_at(r, k, length, c->stride)));
    w->other.shape = method_shape(c->method, DEVICE_CPU, w->other.in.n, (struct shape){0});
}

static bool stands_alone(struct work *w, char why[WHY])
{
    static const size_t others[][2] = {{1, 1}, {2, 1}, {3, 3}, {4, 2}}; /* rows, stride */
    uint64_t seed = w->c.in.n;
    w->c.shape = method_shape(w->c.method, DEVICE_CPU, w->c.in.n, (struct shape){0});
    if (!run(&w->c, &w->out, w->out_data, why))
        return false;
    for (size_t i = 0; i < 4 && w->c.in.n > 0; i++)
        for (size_t k = 0; k < 3; k++) {
            size_t r = sample_next(&seed) % w->c.bins, to = sample_next(&seed) % others[i][0];
            embed(w, r, to, others[i][0], others[i][1], seed);
            if (!run(&w->other, &w->other_out, w->other_out_data, why))
                return false;
            if (!same(&w->out, r, &w->other_out, to))
                return failed(&w->c, why, r, "other bits among other rows");
        }
    return true;
}

bool holds_matrix_promise(const struct method *m, char why[WHY])
{
    struct work *w = work_new(m);
    bool fine = true;
    for (size_t k = 0; k < MATRIX_SAMPLES && fine && m->promise > PROMISE_NONE; k += 3)
        if (matrix_sample(&w->c, k) && w->c.in.n < 10000)
            fine = keeps(w, why) && (m->operation != &operation_rows || stands_alone(w, why));
    free(w);
    return fine;
}

/* ---- edges ---- */

/* Rows of -0 alone; an inf; a NaN; both infinities; zeros of both signs; 2. */
static bool edges(struct work *w, size_t stride, size_t length, char why[WHY])
{
    static const double due[] = {-0.0, INFINITY, NAN, NAN, 0, 2};
    static const double odd[][2] = {{-0.0, -0.0},          {INFINITY, 1}, {NAN, 1},
                                    {INFINITY, -INFINITY}, {0.0, -0.0},   {1, 1}};
    struct matrix_case *c = &w->c;
    char what[128];
    c->bins = 6;
    c->stride = stride;
    c->in.n = 6 * length;
    for (size_t r = 0; r < 6; r++)
        for (size_t k = 0; k < length; k++) {
            double x = k == 0 ? odd[r][0] : k == length - 1 ? odd[r][1] : -0.0;
            array_encode(&c->in, matrix_at(r, k, length, stride), 1, &x);
        }
    c->shape = method_shape(c->method, DEVICE_CPU, c->in.n, (struct shape){0});
    if (!run(c, &w->out, w->out_data, why))
        return false;
    for (size_t r = 0; r < 6; r++) {
        double got = array_get(&w->out, r), want = length > 0 ? due[r] : 0;
        snprintf(what, sizeof what, "found %a, expected %a", got, want);
        if (!same_double(got, want))
            return failed(c, why, r, what);
    }
    return true;
}

bool holds_matrix_edges(const struct method *m, char why[WHY])
{
    struct work *w = work_new(m);
    bool fine = true;
    for (enum format f = 0; f < ACCUMULATORS && fine; f++)
        for (enum format a = 0; a < ACCUMULATORS && fine; a++) {
            w->c.in.format = f;
            w->c.accumulator = a;
            if (m->operation != &operation_rows || !method_supports(m, DEVICE_CPU, f, a))
                continue;
            for (size_t stride = 1; stride <= 6 && fine; stride += stride == 3 ? 3 : 1)
                fine = edges(w, stride, 0, why) && edges(w, stride, 2, why) &&
                       edges(w, stride, 3000, why);
        }
    free(w);
    return fine;
}
