#include "kernels/blocks/shared_sum.h"

#include "kernels/blocks/product.h"
#include "kernels/blocks/shared_add.h"
#include "kernels/method/team.h"

struct shared_sum {
    enum format format;
    union {
        _Atomic uint16_t half; /* fp16 and bf16 */
        _Atomic uint32_t single;
        _Atomic uint64_t full;
    } bits;
};

static void shared_sum_init(struct shared_sum *s, enum format f)
{
    s->format = f;
    uint64_t identity = format_encode(f, -0.0);
    switch ((enum accumulator)f) {
    case IN_FP16:
    case IN_BF16:
        atomic_init(&s->bits.half, (uint16_t)identity);
        break;
    case IN_FP32:
        atomic_init(&s->bits.single, (uint32_t)identity);
        break;
    case IN_FP64:
        atomic_init(&s->bits.full, identity);
        break;
    }
}

static uint64_t shared_sum_bits(struct shared_sum *s)
{
    switch ((enum accumulator)s->format) {
    case IN_FP16:
    case IN_BF16:
        return atomic_load(&s->bits.half);
    case IN_FP32:
        return atomic_load(&s->bits.single);
    case IN_FP64:
        break;
    }
    return atomic_load(&s->bits.full);
}

struct work {
    const struct task *task;
    size_t group, groups;
    double (*fold)(enum format f, double *v, size_t count);
    struct shared_sum sum;
};

/* The elements, or the products, as values of f. */
static void decode_terms(const struct task *t, enum format f, size_t begin, size_t count,
                         double term[ARRAY_BLOCK])
{
    double y[ARRAY_BLOCK];
    array_decode(&t->of->in, begin, count, term);
    if (t->of->in2.data)
        array_decode(&t->of->in2, begin, count, y);
    for (size_t i = 0; i < count; i++)
        term[i] = t->of->in2.data ? product_rounded(f, term[i], y[i]) : format_round(f, term[i]);
}

/* Decodes as many whole groups as fit in a block at a time. */
static void add_share(void *context, unsigned thread)
{
    struct work *w = context;
    const struct array *in = &w->task->of->in;
    enum format f = w->sum.format;
    unsigned threads = w->task->shape.threads;
    size_t begin = w->groups / threads * thread + w->groups % threads * thread / threads;
    size_t end = w->groups / threads * (thread + 1) + w->groups % threads * (thread + 1) / threads;
    double block[ARRAY_BLOCK];
    size_t fit = ARRAY_BLOCK / w->group * w->group, count;
    end = end * w->group < in->n ? end * w->group : in->n;
    for (size_t i = begin * w->group; i < end; i += count) {
        count = end - i < fit ? end - i : fit;
        decode_terms(w->task, f, i, count, block);
        for (size_t j = 0; j < count; j += w->group)
            shared_add(f, &w->sum.bits,
                       w->fold(f, block + j, count - j < w->group ? count - j : w->group));
    }
}

enum status shared_sum_run(const struct task *t, size_t group,
                           double (*fold)(enum format f, double *v, size_t count),
                           struct problem *p)
{
    size_t n = t->of->in.n;
    struct work w = {
        .task = t, .group = group, .groups = n / group + (n % group != 0), .fold = fold};
    shared_sum_init(&w.sum, t->out.format);
    if (n > 0) {
        enum status status = team_run(t->shape.threads, add_share, &w, p);
        if (status != STATUS_OK)
            return status;
    }
    array_set_bits(&t->out, 0, n > 0 ? shared_sum_bits(&w.sum) : 0);
    return STATUS_OK;
}

struct shape shared_sum_shape(size_t n, size_t group, enum device_kind device, struct shape asked)
{
    bool cpu = device == DEVICE_CPU;
    size_t threads = asked.threads ? asked.threads : cpu ? 4 : 256;
    size_t groups = n / group + (n % group != 0);
    threads = threads > THREADS_MAX ? THREADS_MAX : threads;
    threads = cpu && threads > groups ? groups : threads;
    return (struct shape){.threads = threads ? (unsigned)threads : 1};
}

static double itself(enum format f, double *v, size_t count)
{
    (void)f, (void)count;
    return v[0];
}

enum status shared_sum_each(const struct task *t, struct problem *p)
{
    return shared_sum_run(t, 1, itself, p);
}

struct shape shared_sum_each_shape(size_t n, enum device_kind device, struct shape asked)
{
    return shared_sum_shape(n, 1, device, asked);
}
