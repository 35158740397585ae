#include "tests/support/scatters.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/inputs/input.h"
#include "reference/measure/measure.h"
#include "tests/support/samples.h"
#include "tests/support/scatter_case.h"

/* ---- theorems ---- */

static bool within_bound(struct scatter *s, size_t bin, const double *x, const size_t *index,
                         size_t count, char why[WHY])
{
    struct array a = {FP64, count, (void *)x};
    struct reference r;
    struct measure m;
    const struct method *method = s->method;
    struct theorem theorem = {
        .kind = method->bound,
        .height = method->bin_height ? method->bin_height(index, count, s->in.n, s->bins) : 0};
    if (reference_compute(&r, &a, REFERENCE_MPFR, NULL) != STATUS_OK)
        return scatter_failed(s, why, bin, "no reference");
    measure(&m, &r, s->in.format, s->accumulator, array_get(&s->out, bin), &theorem);
    reference_free(&r);
    return !m.broken || scatter_failed(s, why, bin, "its theorem is broken");
}

static bool family_within_bound(struct scatter *s, size_t family, char why[WHY])
{
    static const size_t bins[] = {1, 2, 100, SCATTER_BINS}, lengths[] = {300, 64, 400, 40};
    struct input input;
    if (input_parse(&input, input_families[family]->name, NULL) != STATUS_OK)
        return scatter_failed(s, why, 0, "no input");
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        size_t k = (family + f) % 4;
        enum scatter_keys how = (enum scatter_keys)((family / 4 + f) % SCATTER_KEYS);
        s->bins = k == 3 && family % 3 ? 1000 : bins[k];
        s->in = (struct array){f, lengths[k], s->in.data};
        if (input_generate(&input, &s->in, family + 1, 0, NULL) != STATUS_OK)
            continue; /* the family may not have a member of this size in this format */
        scatter_keys_fill(s->key, s->in.n, s->bins, how, family);
        scatter_shape(s);
        for (s->accumulator = 0; s->accumulator < ACCUMULATORS; s->accumulator++)
            if (method_supports(s->method, DEVICE_CPU, f, s->accumulator) &&
                (!scatter_run(s, why) || !scatter_each_bin(s, why, within_bound)))
                return false;
    }
    return true;
}

bool holds_scatter_bound(const struct method *m, char why[WHY])
{
    struct scatter *s = scatter_new(m);
    bool fine = true;
    for (size_t i = 0; i < input_family_count && fine; i++)
        fine = family_within_bound(s, i, why);
    return scatter_free(s, fine);
}

/* ---- promises ---- */

static void permute(struct scatter *s, uint64_t seed)
{
    for (size_t i = s->in.n; i-- > 1;) {
        size_t k = sample_next(&seed) % (i + 1);
        uint64_t bits = array_bits(&s->in, i);
        uint32_t key = s->key[i];
        array_set_bits(&s->in, i, array_bits(&s->in, k));
        array_set_bits(&s->in, k, bits);
        s->key[i] = s->key[k];
        s->key[k] = key;
    }
}

static bool same_outputs(struct scatter *s, const void *first, char why[WHY])
{
    struct array due = s->out;
    due.data = (void *)first;
    for (size_t b = 0; b < s->bins; b++)
        if (array_bits(&s->out, b) != array_bits(&due, b))
            return scatter_failed(s, why, b, "other bits than the first run's");
    return true;
}

static bool keeps(struct scatter *s, char why[WHY])
{
    struct shape shape[SHAPES_TRIED];
    size_t shapes = shapes_tried(s->method, s->in.n, shape);
    void *first = malloc(array_bytes(s->accumulator, s->bins));
    bool fine = true;
    scatter_shape(s);
    for (size_t k = 0; k < shapes + 3 && fine; k++) {
        if (s->method->promise >= PROMISE_GPU_TO_GPU && k < shapes)
            s->shape = shape[k];
        if (s->method->promise >= PROMISE_ORDER_INVARIANT && k > 0)
            permute(s, k);
        fine = scatter_run(s, why);
        if (fine && k == 0)
            memcpy(first, s->out.data, array_bytes(s->accumulator, s->bins));
        fine = fine && same_outputs(s, first, why);
    }
    free(first);
    return fine;
}

bool holds_scatter_promise(const struct method *m, char why[WHY])
{
    static const size_t lengths[] = {0, 1, 31, 257, SCATTER_MOST}, bins[] = {1, 2, 1000};
    struct scatter *s = scatter_new(m);
    bool fine = true;
    for (size_t k = 0; k < 15 && fine && m->promise > PROMISE_NONE; k++) {
        s->in = (struct array){(enum format)(k % 4), lengths[k % 5], s->in.data};
        s->accumulator = (enum format)(k / 2 % 4);
        s->bins = bins[k % 3];
        sample_fill(&s->in, SAMPLE_NEAR, s->accumulator, k);
        scatter_keys_fill(s->key, s->in.n, s->bins, (enum scatter_keys)(k % SCATTER_KEYS), k);
        fine = !method_supports(m, DEVICE_CPU, s->in.format, s->accumulator) || keeps(s, why);
    }
    return scatter_free(s, fine);
}

/* ---- edges ---- */

/* Bins 1, 2, ..: -0 alone; an inf; a NaN; both infinities; zeros of both signs; 2. Bin 0: nothing.
 */
static bool edges(struct scatter *s, size_t n, char why[WHY])
{
    static const double due[] = {0, -0.0, INFINITY, NAN, NAN, 0, 2};
    static const double odd[][2] = {{-0.0, -0.0},          {INFINITY, 1}, {NAN, 1},
                                    {INFINITY, -INFINITY}, {0.0, -0.0},   {1, 1}};
    s->bins = 7;
    s->in.n = n;
    for (size_t i = 0; i < n; i++) {
        size_t bin = 1 + i / 2 % 6;
        double x = i < 12 ? odd[bin - 1][i % 2] : -0.0;
        s->key[i] = (uint32_t)bin;
        array_encode(&s->in, i, 1, &x);
    }
    scatter_shape(s);
    if (!scatter_run(s, why))
        return false;
    for (size_t b = 0; b < (n ? s->bins : 1); b++)
        if (!scatter_is(s, b, n ? due[b] : 0, why))
            return false;
    return true;
}

bool holds_scatter_edges(const struct method *m, char why[WHY])
{
    struct scatter *s = scatter_new(m);
    bool fine = true;
    for (enum format f = 0; f < ACCUMULATORS && fine; f++)
        for (enum format a = 0; a < ACCUMULATORS && fine; a++) {
            s->in.format = f;
            s->accumulator = a;
            if (method_supports(m, DEVICE_CPU, f, a))
                fine = edges(s, 0, why) && edges(s, 12, why) && edges(s, 3000, why);
        }
    return scatter_free(s, fine);
}
