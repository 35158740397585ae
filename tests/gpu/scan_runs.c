#include "tests/gpu/scan_runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "reference/format/hash_array.h"
#include "reference/measure/scan.h"

bool gpu_scan_same(struct hash128 a, struct hash128 b)
{
    return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

bool gpu_scan_has_twin(const struct method *m)
{
    return m->promise > PROMISE_NONE && m->cpu;
}

enum status gpu_scan_open(struct gpu_job **job, const struct gpu_input *input,
                          const struct method *m, const struct scan_case *c, struct problem *p)
{
    struct task task = {.of = &(struct operands){.exclusive = c->exclusive, .heads = c->heads},
                        .out.format = c->output,
                        .accumulator = c->accumulator,
                        .shape = method_shape(m, DEVICE_CUDA, c->in.n, c->shape)};
    return gpu_job_open(job, input, m, &task, p);
}

static enum status run_batches(struct gpu_job *job, size_t runs, struct hash128 *digest,
                               const struct array *last, struct problem *p)
{
    double time_ns[GPU_BATCH];
    size_t started = 0, waited = 0, batch[2] = {0}, batches = 0, first = 0;
    enum status status = STATUS_OK;
    while (waited < runs && status == STATUS_OK) {
        if (started < runs && batches - first < 2) {
            size_t room = gpu_job_batch(job), left = runs - started;
            size_t size = left < room ? left : room;
            /* A batch of one, then larger ones. */
            size = started == 0 ? 1 : size;
            status = gpu_job_start(job, size, p);
            batch[batches++ % 2] = size;
            started += size;
        } else {
            status = gpu_job_wait(job, digest + waited, time_ns, p);
            waited += batch[first++ % 2];
            if (status == STATUS_OK && !(time_ns[0] > 0))
                status = problem(p, STATUS_FAILED, "a run took %g ns", time_ns[0]);
        }
    }
    if (status == STATUS_OK && last->data)
        status = gpu_job_output(job, batch[(batches - 1) % 2] - 1, last, p);
    return status;
}

bool gpu_scan_run(const struct method *m, const struct scan_case *c, const struct gpu_input *input,
                  size_t runs, struct hash128 *digest, void *out, char why[WHY])
{
    struct problem p = {0};
    struct gpu_job *job = NULL;
    struct array last = {c->output, c->in.n, out};
    enum status status = gpu_scan_open(&job, input, m, c, &p);
    if (status == STATUS_OK)
        status = run_batches(job, runs, digest, &last, &p);
    gpu_job_close(job);
    if (status != STATUS_OK)
        return scan_failed(why, m, c, "%.200s", p.text);
    if (out && !gpu_scan_same(hash_array(&last), digest[runs - 1]))
        return scan_failed(why, m, c, "the device's hash is not that of the output");
    return true;
}

bool gpu_scan_twin(const struct method *m, const struct scan_case *c, struct hash128 *digest,
                   void *keep, char why[WHY])
{
    struct scan_case here = *c;
    struct shape usual = {0, 0};
    here.shape = method_shape(m, DEVICE_CPU, c->in.n, m->shape_order ? c->shape : usual);
    struct array out = {c->output, c->in.n,
                        keep ? keep : malloc(array_bytes(c->output, c->in.n) + 1)};
    bool fine = out.data && scan_run(m, &here, out.data) == STATUS_OK;
    *digest = fine ? hash_array(&out) : (struct hash128){{0, 0}};
    if (!keep)
        free(out.data);
    return fine ? true : scan_failed(why, m, c, "its CPU twin could not be run");
}

/* What differs, after a digest did. */
static bool tell_difference(const struct method *m, const struct scan_case *c, const void *here,
                            const void *there, size_t run, char why[WHY])
{
    struct array want = {c->output, c->in.n, (void *)here},
                 got = {c->output, c->in.n, (void *)there};
    size_t i = 0, differing = 0;
    for (size_t k = c->in.n; k-- > 0;)
        if (format_canonical(c->output, array_bits(&got, k)) !=
            format_canonical(c->output, array_bits(&want, k))) {
            i = k;
            differing++;
        }
    if (differing == 0)
        return scan_failed(why, m, c, "run %zu differs, but not the last one", run + 1);
    return scan_failed(why, m, c,
                       "run %zu differs; in the last %zu outputs, first %zu: GPU %#" PRIx64
                       ", CPU %#" PRIx64,
                       run + 1, differing, i, array_bits(&got, i), array_bits(&want, i));
}

static bool hold_to_twin(const struct method *m, const struct scan_case *c,
                         const struct gpu_input *input, size_t runs, void *here, void *there,
                         char why[WHY])
{
    struct hash128 want, digest[GPU_SCAN_RUNS];
    if (!gpu_scan_twin(m, c, &want, here, why) ||
        !gpu_scan_run(m, c, input, runs, digest, there, why))
        return false;
    for (size_t i = 0; i < runs; i++)
        if (!gpu_scan_same(digest[i], want))
            return tell_difference(m, c, here, there, i, why);
    return true;
}

struct heights {
    const struct method *method;
    const struct scan_case *scan;
};

static size_t height_of(const void *context, size_t i)
{
    const struct heights *h = context;
    const struct scan_case *c = h->scan;
    struct shape shape = method_shape(h->method, DEVICE_CUDA, c->in.n, c->shape);
    return h->method->prefix_height(i, c->in.n, shape, c->exclusive);
}

bool gpu_scan_within_bound(const struct method *m, const struct scan_case *c, void *out,
                           char why[WHY])
{
    struct scan scan = {.in = c->in, .exclusive = c->exclusive, .heads = c->heads};
    struct heights heights = {m, c};
    struct scan_output output = {.out = {c->output, c->in.n, out},
                                 .accumulator = c->accumulator,
                                 .bound = m->bound,
                                 .height = height_of,
                                 .context = &heights};
    struct scan_measure measured;
    if (measure_scan(&measured, &output, 1, &scan, 4, NULL) != STATUS_OK)
        return scan_failed(why, m, c, "it could not be measured");
    return measured.broken == 0
               ? true
               : scan_failed(why, m, c, "%zu outputs, first %zu, break their bound",
                             measured.broken, measured.first_broken);
}

bool gpu_scan_hold(const struct method *m, const struct scan_case *c, const struct gpu_input *input,
                   size_t runs, char why[WHY])
{
    size_t bytes = array_bytes(c->output, c->in.n) + 1;
    void *here = malloc(bytes), *there = malloc(bytes);
    struct hash128 digest[GPU_SCAN_RUNS];
    bool fine = here && there;
    if (!fine)
        scan_failed(why, m, c, "no memory for its outputs");
    else if (gpu_scan_has_twin(m))
        fine = hold_to_twin(m, c, input, runs, here, there, why);
    else
        fine = gpu_scan_run(m, c, input, runs, digest, there, why) &&
               gpu_scan_within_bound(m, c, there, why);
    free(here);
    free(there);
    return fine;
}

/* What the elements of a segment so far allow. */
struct covered {
    bool nothing, nan, plus, minus, zeros, minus_zeros;
};
static const struct covered begin = {.nothing = true, .zeros = true, .minus_zeros = true};

static void cover(struct covered *s, double x)
{
    s->nothing = false;
    s->nan |= isnan(x);
    s->plus |= x == INFINITY;
    s->minus |= x == -INFINITY;
    s->zeros &= x == 0;
    s->minus_zeros &= x == 0 && signbit(x);
}

static bool fits(const struct covered *s, double y)
{
    if (s->nothing || (s->zeros && !s->minus_zeros))
        return y == 0 && !signbit(y);
    if (s->zeros)
        return y == 0 && signbit(y);
    if (s->nan || (s->plus && s->minus))
        return isnan(y);
    if (s->plus || s->minus)
        return y == (s->plus ? INFINITY : -INFINITY);
    return isfinite(y) && y != 0;
}

bool gpu_scan_hold_specials(const struct method *m, const struct scan_case *c,
                            const struct gpu_input *input, char why[WHY])
{
    struct hash128 digest[2];
    struct array out = {c->output, c->in.n, malloc(array_bytes(c->output, c->in.n) + 1)};
    struct covered so_far = begin;
    bool from_zero = c->exclusive && !m->cpu; /* the libraries' initial value is +0 */
    bool fine = out.data && gpu_scan_run(m, c, input, 2, digest, out.data, why);
    for (size_t i = 0; fine && i < c->in.n; i++) {
        struct covered before = so_far;
        if (c->heads && c->heads[i])
            so_far = before = begin;
        cover(&so_far, array_get(&c->in, i));
        double y = array_get(&out, i);
        before.minus_zeros &= !from_zero;
        if (!fits(c->exclusive ? &before : &so_far, y))
            fine =
                scan_failed(why, m, c, "output %zu is %a, which its elements do not allow", i, y);
    }
    free(out.data);
    return fine;
}
