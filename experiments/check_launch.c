/* gpu_to_gpu: other launch shapes, places in memory, neighbours there, and devices. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check_private.h"

/* A run in another setting, taken with the words for it. */
#define TAKE(setting, ...)                                                                         \
    do {                                                                                           \
        struct array out;                                                                          \
        status = check_once(c, &(setting), &out, p);                                               \
        if (status == STATUS_OK)                                                                   \
            status = check_take(c, o, &out, 0, p, __VA_ARGS__);                                    \
    } while (0)

/* Threads that are real ones on the CPU, where the order has nothing to do with them: few. */
static const uint64_t few_threads[] = {0, 1, 2, 3, 5, 8};
static const uint64_t many_threads[] = {0, 1, 32, 33, 100, 128, 256, 512, 1024};
static const uint64_t some_blocks[] = {0, 1, 2, 7, 132, 500};

static struct numbers choices(const struct numbers *asked, const uint64_t *otherwise, size_t count,
                              bool read)
{
    static uint64_t none[1];
    struct numbers own = {count, (uint64_t *)otherwise};
    return !read ? (struct numbers){1, none} : asked->count ? *asked : own;
}

enum status check_shape(struct check *c, struct check_outcome *o, struct problem *p)
{
    const struct method *m = c->request->method;
    enum device_kind device = c->request->device.kind;
    unsigned read = m->shape_read[device];
    bool real = device == DEVICE_CPU && method_threaded(m);
    struct numbers threads = real ? choices(&c->request->threads, few_threads,
                                            sizeof few_threads / 8, read & SHAPE_THREADS)
                                  : choices(&c->request->threads, many_threads,
                                            sizeof many_threads / 8, read & SHAPE_THREADS);
    struct numbers blocks =
        choices(&c->request->blocks, some_blocks, sizeof some_blocks / 8, read & SHAPE_BLOCKS);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < threads.count * blocks.count && status == STATUS_OK; i++) {
        struct check_setting s = check_plain(c, &c->at);
        s.shape = (struct shape){(unsigned)threads.item[i / blocks.count],
                                 (unsigned)blocks.item[i % blocks.count]};
        struct shape is = method_shape(m, device, c->at.n, s.shape);
        if (read == (SHAPE_THREADS | SHAPE_BLOCKS))
            TAKE(s, "%u threads, %u blocks", is.threads, is.blocks);
        else if (read & SHAPE_THREADS)
            TAKE(s, "%u threads", is.threads);
        else
            TAKE(s, "%u blocks", is.blocks);
    }
    return status;
}

enum status check_offset(struct check *c, struct check_outcome *o, struct problem *p)
{
    static const size_t offsets[] = {0, 1, 2, 3, 4, 5, 7, 8, 15, 31};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets && status == STATUS_OK; i++) {
        struct check_setting s = check_plain(c, &c->at);
        s.offset = offsets[i];
        TAKE(s, "%zu elements off an aligned address", s.offset);
    }
    return status;
}

/* Zeros; NaN in every format; numbers near 1 in fp16, small in others; large numbers; large
 * negative numbers, in fp16 near the largest. */
static const struct neighbours {
    uint8_t byte;
    const char *are;
} neighbours[] = {{0xff, "NaN"},
                  {0x00, "zeros"},
                  {0x3c, "small numbers"},
                  {0x7b, "large numbers"},
                  {0xfb, "large negative numbers"}};

/* A shared object's array lies in its process. */
static enum status among(struct check *c, struct check_setting *s, struct problem *p)
{
    char more[32];
    snprintf(more, sizeof more, "--around %u", (uint8_t)~s->around);
    return s->method->foreign ? check_served(c, s, more, &s->method, p) : STATUS_OK;
}

enum status check_neighbour(struct check *c, struct check_outcome *o, struct problem *p)
{
    static const size_t places[] = {1, 0, 6, 64};
    enum { NEIGHBOURS = sizeof neighbours / sizeof *neighbours, PLACES = 4 };
    /* Each is a process of its own, of which there should not be many. */
    size_t tried = c->request->method->foreign ? 1 : PLACES;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < NEIGHBOURS * tried && status == STATUS_OK; i++) {
        const struct neighbours *others = &neighbours[i % NEIGHBOURS];
        struct check_setting s = check_plain(c, &c->at);
        s.offset = places[i / NEIGHBOURS];
        s.around = (uint8_t)~others->byte;
        status = among(c, &s, p);
        if (status == STATUS_OK)
            TAKE(s, "among %s, at %zu", others->are, s.offset);
    }
    return status;
}

/* The other devices that run it, up to so many. */
enum { OTHERS = 4 };

static size_t other_devices(const struct check *c, struct device others[OTHERS])
{
    size_t count = 0;
    struct device own = c->request->device;
    int gpus = gpu_count();
    for (int i = -1; i < gpus && count < OTHERS; i++) {
        struct device d = {i < 0 ? DEVICE_CPU : DEVICE_CUDA, i < 0 ? 0 : i};
        if ((d.kind != own.kind || d.index != own.index) &&
            method_supports(c->request->method, d.kind, c->at.pair.storage, c->at.pair.accumulator))
            others[count++] = d;
    }
    return count;
}

enum status check_device(struct check *c, struct check_outcome *o, struct problem *p)
{
    struct device others[OTHERS];
    char text[DEVICE_TEXT];
    size_t count = other_devices(c, others);
    struct check_setting s = check_plain(c, &c->at);
    enum status status = STATUS_OK;
    device_name(s.device, text);
    if (count > 0)
        TAKE(s, "on %s", text);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        s.device = others[i];
        device_name(s.device, text);
        TAKE(s, "on %s", text);
    }
    return status;
}
