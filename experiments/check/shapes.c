/* The launch shapes that every kind of attempt is spread over: those asked for, else some for what
 * the method reads. In which order they were asked for says nothing. */
#include <stdlib.h>
#include <unistd.h>

#include "experiments/check/attempts.h"
#include "experiments/system/memory.h"

/* 0 is what the method chooses. Threads of a CPU, to which those in proportion to its processors
 * are added: the first show most. */
static const uint64_t cpu_threads[] = {0, 4, 1, 3, 2, 8, 7, 32, 5, 6, 16};
/* Threads of a block. */
static const uint64_t block_threads[] = {0, 32, 1, 256, 33, 100, 128, 512, 1024};
static const uint64_t some_blocks[] = {0, 7, 1, 2, 132, 500};
static const uint64_t none[] = {0};

enum { MORE = 3 };

int check_ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Each once. */
static void tidy(struct numbers *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        size_t k = 0;
        while (k < kept && list->item[k] != list->item[i])
            k++;
        if (k == kept)
            list->item[kept++] = list->item[i];
    }
    list->count = kept;
}

static enum status make(struct numbers *list, const struct numbers *asked, const uint64_t *own,
                        size_t count, const uint64_t more[MORE], struct problem *p)
{
    bool given = asked->count > 0;
    size_t all = given ? asked->count : count + MORE;
    list->item = calloc(all, sizeof *list->item);
    if (!list->item)
        return problem(p, STATUS_MEMORY, "check: out of memory for %zu launch shapes", all);
    list->count = given || !more ? all - (given ? 0 : MORE) : all;
    memcpy(list->item, given ? asked->item : own, (given ? all : count) * sizeof *list->item);
    for (size_t i = 0; !given && more && i < MORE; i++)
        list->item[count + i] = more[i];
    if (given)
        qsort(list->item, list->count, sizeof *list->item, check_ascending);
    tidy(list);
    return STATUS_OK;
}

/* Do its threads run on those of the CPU? Other CPU methods read what a GPU would do. */
static bool real_threads(const struct check_request *r)
{
    return r->device.kind == DEVICE_CPU && (r->method->foreign || method_threaded(r->method));
}

#define LIST(list) (list), sizeof(list) / sizeof *(list)

enum status check_shapes_make(struct check *c, struct problem *p)
{
    const struct check_request *r = c->request;
    unsigned read = r->method->shape_read[r->device.kind];
    static const struct numbers unasked;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t cores = online < 1 ? 1 : online > THREADS_MAX / 4 ? THREADS_MAX / 4 : (uint64_t)online;
    const uint64_t more[MORE] = {2 * cores, cores + 1, 4 * cores};
    bool threads = read & SHAPE_THREADS, blocks = read & SHAPE_BLOCKS, real = real_threads(r);
    bool told = check_environs(r) && r->threads.count > 0;
    enum status status = told       ? make(&c->threads, &r->threads, LIST(none), NULL, p)
                         : !threads ? make(&c->threads, &unasked, LIST(none), NULL, p)
                         : real     ? make(&c->threads, &r->threads, LIST(cpu_threads), more, p)
                                    : make(&c->threads, &r->threads, LIST(block_threads), NULL, p);
    if (status == STATUS_OK)
        status = !blocks ? make(&c->blocks, &unasked, LIST(none), NULL, p)
                         : make(&c->blocks, &r->blocks, LIST(some_blocks), NULL, p);
    return status;
}

size_t check_shape_count(const struct check *c)
{
    return c->threads.count * c->blocks.count;
}

/* Both change from one to the next. */
struct shape check_shape_at(const struct check *c, size_t i)
{
    size_t t = i % c->threads.count, turn = i / c->threads.count;
    size_t b = (t + turn) % c->blocks.count;
    return (struct shape){(unsigned)c->threads.item[t], (unsigned)c->blocks.item[b]};
}
