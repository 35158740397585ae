/* The arrays that candidates are tried on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/system/memory.h"
#include "experiments/inputs/philox.h"
#include "experiments/studies/recommend/recommend.h"
#include "kernels/gpu/gpu.h"

/* Behind the data's name, in the column `input`. */
static const char *const kind_name[RECOMMEND_KINDS] = {
    [RECOMMEND_DATA] = "",
    [RECOMMEND_ASCENDING] = "order=ascending",
    [RECOMMEND_DESCENDING] = "order=descending",
    [RECOMMEND_SMALL] = "order=magnitude",
    [RECOMMEND_LARGE] = "order=magnitude,largest-first",
    [RECOMMEND_ONE_SIGN] = "worst=one-sign",
    [RECOMMEND_CLIMB] = "worst=one-sign,largest-first",
    [RECOMMEND_RETURN] = "worst=out-and-back",
    [RECOMMEND_RESAMPLE] = "resample",
    [RECOMMEND_SHUFFLE] = "shuffle",
    [RECOMMEND_EXTENDED] = "extended",
};

/* Another seed for each draw: the odd number is 2^64 over the golden ratio. */
static uint64_t seed_of(uint64_t seed, uint64_t draw)
{
    return seed + draw * UINT64_C(0x9e3779b97f4a7c15);
}

static void draw_elements(const struct array *to, size_t begin, const struct array *from,
                          uint64_t seed)
{
    for (size_t i = begin; i < to->n; i++) {
        struct draw d = random_draw(seed, RANDOM_PLACING, i / 2);
        array_set_bits(to, i, array_bits(from, random_below(d.word[i % 2], from->n)));
    }
}

static void reverse(const struct array *a)
{
    for (size_t i = 0, k = a->n; i + 1 < k; i++) {
        uint64_t bits = array_bits(a, i);
        array_set_bits(a, i, array_bits(a, --k));
        array_set_bits(a, k, bits);
    }
}

static void drop_signs(const struct array *a)
{
    for (size_t i = 0; i < a->n; i++)
        array_set_bits(a, i, format_encode(a->format, fabs(array_get(a, i))));
}

/* Positive until half of sum|x| is reached, then negative. */
static void out_and_back(const struct array *a)
{
    double all = 0, sum = 0;
    for (size_t i = 0; i < a->n; i++)
        all += fabs(array_get(a, i));
    for (size_t i = 0; i < a->n; i++) {
        double x = array_get(a, i);
        array_set_bits(a, i, format_encode(a->format, sum < all / 2 ? x : -x));
        sum += x;
    }
}

static enum status rearrange(const struct array *a, enum recommend_kind kind, uint64_t seed,
                             struct problem *p)
{
    enum status status = STATUS_OK;
    if (kind == RECOMMEND_ONE_SIGN || kind == RECOMMEND_CLIMB || kind == RECOMMEND_RETURN)
        drop_signs(a);
    if (kind == RECOMMEND_ASCENDING)
        status = input_arrange(a, ARRANGED_ASCENDING, 0, p);
    else if (kind == RECOMMEND_DESCENDING)
        status = input_arrange(a, ARRANGED_DESCENDING, 0, p);
    else if (kind == RECOMMEND_SHUFFLE)
        status = input_arrange(a, ARRANGED_SHUFFLED, seed, p);
    else if (kind == RECOMMEND_SMALL || kind == RECOMMEND_LARGE || kind == RECOMMEND_CLIMB ||
             kind == RECOMMEND_RETURN)
        status = input_arrange(a, ARRANGED_BY_MAGNITUDE, 0, p);
    if (kind == RECOMMEND_LARGE || kind == RECOMMEND_CLIMB)
        reverse(a);
    if (kind == RECOMMEND_RETURN)
        out_and_back(a);
    return status;
}

/* The array of its own, from the data. */
static enum status fill(struct recommend_sample *s, const struct array *from,
                        enum recommend_kind kind, uint64_t seed, struct problem *p)
{
    size_t kept = s->array.n < from->n ? s->array.n : from->n;
    if (kind == RECOMMEND_RESAMPLE) {
        draw_elements(&s->array, 0, from, seed);
        return STATUS_OK;
    }
    memcpy(s->array.data, from->data, array_bytes(from->format, kept));
    draw_elements(&s->array, kept, from, seed);
    return rearrange(&s->array, kind, seed, p);
}

static enum status derive(struct recommend_sample *s, const struct source *from,
                          enum recommend_kind kind, uint64_t draw, size_t n, uint64_t seed,
                          struct problem *p)
{
    char number[48] = "";
    struct data data = {0};
    if (kind == RECOMMEND_RESAMPLE || kind == RECOMMEND_SHUFFLE)
        snprintf(number, sizeof number, "=%llu", (unsigned long long)draw);
    enum status status = memory_array(&s->array, from->array.format, n, from->name, p);
    if (status != STATUS_OK)
        return status;
    s->owned = true;
    status = fill(s, &from->array, kind, seed_of(seed, draw), p);
    if (status == STATUS_OK &&
        asprintf(&data.name, "%s:%s%s", from->name, kind_name[kind], number) < 0)
        status = problem(p, STATUS_DEVICE, "%s: out of memory", from->name);
    data.array = s->array;
    if (status == STATUS_OK)
        status = source_data(&s->source, &data, n, p);
    free(data.name);
    return status;
}

enum status recommend_sample_make(struct recommend_sample *s, const struct source *from,
                                  enum recommend_kind kind, uint64_t draw, size_t n, uint64_t seed,
                                  struct device device, struct problem *p)
{
    *s = (struct recommend_sample){.source = *from, .array = from->array};
    enum status status = STATUS_OK;
    if (kind != RECOMMEND_DATA) {
        s->source = (struct source){0};
        status = derive(s, from, kind, draw, n, seed, p);
    }
    if (status == STATUS_OK)
        status = truth_make(&s->truth, from->name, &s->array, REFERENCE_FAST, p);
    bool made = status == STATUS_OK;
    if (made && device.kind == DEVICE_CUDA)
        status = gpu_upload(&s->gpu, device.index, &s->array, 0, p);
    if (status == STATUS_OK)
        return STATUS_OK;
    if (made)
        truth_free(&s->truth);
    if (s->owned) {
        source_free(&s->source);
        free(s->array.data);
    }
    return status;
}

void recommend_sample_free(struct recommend_sample *s)
{
    if (s->gpu)
        gpu_release(s->gpu);
    truth_free(&s->truth);
    if (s->owned) {
        source_free(&s->source);
        free(s->array.data);
    }
}
