/* gpu_to_gpu: other launch shapes, places in memory, neighbours there, and devices. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/attempts.h"
#include "experiments/subjects/foreign.h"
#include "kernels/mma/mma.h"
#include "reports/text/text.h"

/* A run in another setting, taken with the words for it. */
#define TAKE(setting, ...)                                                                         \
    do {                                                                                           \
        struct array out;                                                                          \
        status = check_once(c, &(setting), &out, p);                                               \
        o->now = check_variant(&(setting));                                                        \
        if (status == STATUS_OK)                                                                   \
            status = check_take(c, o, &out, 0, p, __VA_ARGS__);                                    \
    } while (0)

static void shape_text(char text[CHECK_WORDS], const struct check *c, struct shape asked)
{
    const struct method *m = c->request->method;
    enum device_kind device = c->request->device.kind;
    unsigned read = m->shape_read[device];
    struct shape is = method_shape(m, device, c->at.n, asked);
    char threads[24] = "default", blocks[24] = "default";
    if (is.threads)
        snprintf(threads, sizeof threads, "%u", is.threads);
    if (is.blocks)
        snprintf(blocks, sizeof blocks, "%u", is.blocks);
    if (read == (SHAPE_THREADS | SHAPE_BLOCKS))
        snprintf(text, CHECK_WORDS, "%s thread%s, %s block%s", threads, text_s(is.threads), blocks,
                 text_s(is.blocks));
    else
        snprintf(text, CHECK_WORDS, "%s %s%s", read & SHAPE_THREADS ? threads : blocks,
                 read & SHAPE_THREADS ? "thread" : "block",
                 text_s(read & SHAPE_THREADS ? is.threads : is.blocks));
}

static enum status take_in(struct check *c, struct check_outcome *o, struct shape shape,
                           struct problem *p)
{
    char text[CHECK_WORDS];
    struct check_setting s = check_plain(c, &c->at);
    enum status status;
    uint64_t differing = o->differing;
    s.shape = shape;
    shape_text(text, c, shape);
    TAKE(s, "%s", text);
    if (o->differing > differing && differing == 0)
        o->found.other_shape = shape;
    return status;
}

static bool same(struct shape a, struct shape b)
{
    return a.threads == b.threads && a.blocks == b.blocks;
}

/* The case's own shape, then those that differ from it in one number alone, then all. */
enum status check_shape(struct check *c, struct check_outcome *o, struct problem *p)
{
    struct shape own = c->at.shape;
    enum status status = take_in(c, o, own, p);
    for (int both = 0; both < 2; both++)
        for (size_t i = 0; i < check_shape_count(c) && status == STATUS_OK && !check_enough(c, o);
             i++) {
            struct shape shape = check_shape_at(c, i);
            bool one = shape.threads == own.threads || shape.blocks == own.blocks;
            if (one == !both && !same(shape, own))
                status = take_in(c, o, shape, p);
        }
    return status;
}

enum status check_offset(struct check *c, struct check_outcome *o, struct problem *p)
{
    static const size_t offsets[] = {0, 1, 2, 3, 4, 5, 7, 8, 15, 31};
    enum status status = STATUS_OK;
    for (size_t i = 0;
         i < sizeof offsets / sizeof *offsets && status == STATUS_OK && !check_enough(c, o); i++) {
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

/* A shared object's array lies in its process, whose environment may say how many threads it has.
 */
static enum status among(struct check *c, struct check_setting *s, struct problem *p)
{
    char more[32];
    unsigned threads = foreign_threads(s->method);
    if (!s->method->foreign)
        return STATUS_OK;
    snprintf(more, sizeof more, "--around %u", (uint8_t)~s->around);
    enum status status = check_served(c, s, more, &s->method, p);
    if (status == STATUS_OK && threads)
        status = foreign_with_threads(&s->method, s->method, threads, p);
    if (status == STATUS_OK)
        check_keep(c, s->method);
    return status;
}

enum status check_neighbour(struct check *c, struct check_outcome *o, struct problem *p)
{
    static const size_t places[] = {1, 0, 6, 64};
    enum { NEIGHBOURS = sizeof neighbours / sizeof *neighbours, PLACES = 4 };
    /* Each is a process of its own, of which there should not be many. */
    size_t tried = c->request->method->foreign ? 1 : PLACES;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < NEIGHBOURS * tried && status == STATUS_OK && !check_enough(c, o); i++) {
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
    int gpus = gpu_count(c->request->method->foreign);
    for (int i = -1; i < gpus && count < OTHERS; i++) {
        struct device d = {i < 0 ? DEVICE_CPU : DEVICE_CUDA, i < 0 ? 0 : i};
        if ((d.kind != own.kind || d.index != own.index) &&
            method_supports(c->request->method, d.kind, c->at.pair.storage, c->at.pair.accumulator))
            others[count++] = d;
    }
    return count;
}

/* Of a model of a matrix instruction other chips are other devices; a GPU has its own
 * instructions alone. */
static enum status other_chips(struct check *c, struct check_outcome *o, struct problem *p)
{
    const struct check_setting own = check_plain(c, &c->at);
    const struct method *m = c->request->method;
    const char *here = c->at.setting.chip, *chip;
    enum status status = STATUS_OK;
    bool taken = false;
    here = c->request->device.kind == DEVICE_CPU ? here : NULL;
    for (size_t i = 0; here && m->of_chip && (chip = mma_chip(i)) && status == STATUS_OK; i++) {
        struct check_setting s = own;
        if (chip == here || !m->of_chip(chip, c->at.pair.storage, c->at.pair.accumulator) ||
            check_enough(c, o))
            continue;
        if (!taken)
            TAKE(own, "on %s", here);
        taken = true;
        s.chip = chip;
        if (status == STATUS_OK)
            TAKE(s, "on %s", chip);
    }
    return status;
}

/* If another device cannot run the subject now (out of memory, say), the subject has not failed.
 * The result of this device is counted only once there is one to compare it with. */
enum status check_device(struct check *c, struct check_outcome *o, struct problem *p)
{
    struct device others[OTHERS];
    size_t count = other_devices(c, others);
    struct check_setting own = check_plain(c, &c->at), s = own;
    enum status status = STATUS_OK;
    bool taken = false;
    for (size_t i = 0; i < count && status == STATUS_OK && !check_enough(c, o); i++) {
        char here[DEVICE_TEXT], there[DEVICE_TEXT];
        struct problem why = {0};
        struct array other;
        s.device = others[i];
        device_name(own.device, here);
        device_name(s.device, there);
        status = check_once(c, &s, &other, &why);
        if (status == STATUS_DEVICE || status == STATUS_MEMORY) {
            c->unusable = why;
            status = STATUS_OK;
            continue;
        }
        if (status != STATUS_OK)
            return problem(p, status, "%s", why.text);
        if (!taken)
            TAKE(own, "on %s", here);
        taken = true;
        check_note(c, &s); /* what is taken is the run noted last */
        o->now = check_variant(&s);
        if (status == STATUS_OK)
            status = check_take(c, o, &other, 0, p, "on %s", there);
        else
            free(other.data);
    }
    return status == STATUS_OK ? other_chips(c, o, p) : status;
}
