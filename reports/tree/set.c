#include <stdlib.h>
#include <string.h>

#include "reports/tree/text.h"

/* leaf[0] .. leaf[count - 1] ascend by `step` as far as `length` of them. */
static size_t run_length(const uint32_t *leaf, size_t count, uint32_t *step)
{
    size_t length = 1;
    *step = count > 1 ? leaf[1] - leaf[0] : 1;
    while (length < count && leaf[length] - leaf[length - 1] == *step)
        length++;
    return length;
}

/* Runs of one length and one step, one distance apart. */
struct runs {
    size_t length;
    uint32_t step, apart;
};

static bool are_runs(struct runs *r, const uint32_t *leaf, size_t count)
{
    *r = (struct runs){.step = 1};
    r->length = run_length(leaf, count, &r->step);
    if (r->length == 2 && r->step > 1) /* two that lie apart are no run */
        return false;
    if (count % r->length != 0)
        return false;
    r->apart = count > r->length ? leaf[r->length] - leaf[0] : 0;
    for (size_t i = r->length; i < count; i++)
        if (leaf[i] - leaf[i - r->length] != r->apart)
            return false;
    return true;
}

static void print_run(char *text, size_t size, const uint32_t *leaf, const struct runs *r,
                      size_t first)
{
    size_t used = strlen(text);
    text += used;
    size -= used;
    if (r->length == 1)
        snprintf(text, size, "%zu", first + leaf[0]);
    else if (r->step == 1)
        snprintf(text, size, "%zu..%zu", first + leaf[0], first + leaf[r->length - 1]);
    else
        snprintf(text, size, "%zu..%zu by %u", first + leaf[0], first + leaf[r->length - 1],
                 r->step);
}

/* Runs of one length and step, or else whatever runs of three and more there are. */
static size_t next_run(struct runs *r, bool regular, const uint32_t *leaf, size_t count)
{
    if (regular)
        return r->length;
    r->length = run_length(leaf, count, &r->step);
    if (r->length < 3)
        *r = (struct runs){.length = 1, .step = 1};
    return r->length;
}

/* The first ones, and the last. */
static void print_set(char text[REVEAL_SET], const uint32_t *leaf, size_t count, size_t first)
{
    enum { SHOWN = 4 };
    struct runs r;
    bool regular = are_runs(&r, leaf, count);
    size_t shown = 0, skipped = 0;
    *text = 0;
    for (size_t at = 0, length; at < count; at += length) {
        length = next_run(&r, regular, leaf + at, count - at);
        shown += length > 1 ? 2 : 1;
        if (shown > SHOWN && at + length < count) {
            skipped++;
            continue;
        }
        size_t used = strlen(text);
        snprintf(text + used, REVEAL_SET - used, "%s%s", at == 0 ? "" : ", ",
                 skipped ? "... " : "");
        print_run(text, REVEAL_SET, leaf + at, &r, first);
    }
}

enum status reveal_set_text(char text[REVEAL_SET], const struct reveal_tree *t, uint32_t node,
                            size_t first, struct problem *p)
{
    uint32_t *leaf = calloc(t->leaves, sizeof *leaf);
    if (!leaf)
        return problem(p, STATUS_DEVICE, "reveal: out of memory for a tree");
    size_t count = reveal_tree_leaves(t, node, leaf);
    print_set(text, leaf, count, first);
    free(leaf);
    return STATUS_OK;
}
