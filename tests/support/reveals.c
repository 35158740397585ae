#include "tests/support/reveals.h"

#include <stdio.h>

static bool failed(char why[WHY], const struct reveal_case *c, const struct reveal *r,
                   const char *what)
{
    const struct probe_spec *s = &c->spec;
    char device[DEVICE_TEXT];
    device_name(s->device, device);
    snprintf(
        why, WHY,
        "%.40s on %s, %s/%s to %s, n = %zu, shape %u %u, output %zu%s%s: verdict %d, %s: %.200s",
        s->method->name, device, format_facts[s->storage].name, format_facts[s->accumulator].name,
        format_facts[s->output].name, s->n, s->shape.threads, s->shape.blocks, c->prefix,
        s->exclusive ? ", exclusive" : "", s->heads ? ", segments" : "", (int)r->verdict, what,
        r->words);
    return false;
}

/* Of fp16 elements, fp64 and what works in it lose nothing. What keeps losses shows its order where
 * elements of the storage can overflow the accumulator, and the output can tell. */
static bool can_show(const struct probe_spec *s)
{
    int most = format_facts[s->accumulator].emax;
    bool overflows = format_facts[s->storage].emax >= most && format_facts[s->output].emax >= most;
    enum theorem_kind bound = s->method->bound;
    if (bound == THEOREM_NORM || bound == THEOREM_SCALED_NORM)
        return true;
    switch (theorem_additions(bound == THEOREM_MEAN ? THEOREM_TREE : bound)) {
    case ADDS_PLAIN:
        return s->storage != FP16 || s->accumulator != FP64;
    case ADDS_WIDENED:
        return s->storage != FP16 || s->accumulator != FP32;
    case ADDS_CARRIED:
    case ADDS_BINNED:
    case ADDS_EXACT:
    case ADDS_OTHER:
        break;
    }
    return overflows;
}

/* Within a tile FABsum adds as sum/tiled does, three elements show what is kept; sums of chunks
 * that are stored may lose digits or none. */
static bool may_be_plain(const struct probe_spec *s)
{
    return s->method->bound == THEOREM_BLOCKED || s->method->bound == THEOREM_SPLIT;
}

/* Are sums rounded to the storage's format between additions, which is no addition of two in the
 * accumulator's? Then that may be said, and masks may contradict each other. */
static bool rounds_between(const struct probe_spec *s)
{
    return s->method->bound == THEOREM_SPLIT && !format_holds(s->storage, s->accumulator);
}

bool reveals_declared(const struct reveal_case *c, char why[WHY])
{
    struct reveal r;
    struct sum_tree declared = {0};
    struct problem p = {0};
    bool is_declared, fine = true;
    size_t first, leaves = reveal_elements(c, &first);
    if (reveal_declared(&declared, &is_declared, c, &p) != STATUS_OK ||
        reveal_method(&r, c, c->spec.n + c->prefix, &p) != STATUS_OK) {
        sum_tree_free(&declared);
        return failed(why, c, &(struct reveal){0}, p.text);
    }
    bool two = leaves < 3 && r.verdict == REVEAL_TREE; /* one tree is possible */
    if (two || (can_show(&c->spec) && !rounds_between(&c->spec)) ||
        (may_be_plain(&c->spec) && r.verdict == REVEAL_TREE))
        fine = (r.verdict == REVEAL_TREE && sum_tree_equal(&r.tree, &declared)) ||
               failed(why, c, &r, "not the declared order");
    else if (rounds_between(&c->spec))
        fine = r.verdict == REVEAL_OTHERWISE || r.verdict == REVEAL_CONTRADICTION ||
               r.verdict == REVEAL_OUT_OF_REACH || r.verdict == REVEAL_NO_SUM ||
               failed(why, c, &r, "expected no order of additions of two");
    else
        fine = r.verdict == REVEAL_OUT_OF_REACH || failed(why, c, &r, "expected that none shows");
    reveal_free(&r);
    sum_tree_free(&declared);
    return fine;
}

bool reveals_nothing(const struct reveal_case *c, char why[WHY])
{
    struct reveal r;
    struct problem p = {0};
    if (reveal_method(&r, c, c->spec.n, &p) != STATUS_OK)
        return failed(why, c, &(struct reveal){0}, p.text);
    bool fine = r.verdict == REVEAL_EXACT || r.verdict == REVEAL_OUT_OF_REACH ||
                (r.verdict == REVEAL_TREE && r.tree.additions < 2) ||
                failed(why, c, &r, "expected no order");
    reveal_free(&r);
    return fine;
}

bool reveals_right(const struct reveal_case *c, char why[WHY])
{
    size_t first;
    if (reveal_elements(c, &first) == 0)
        return true;
    if (c->spec.method->order)
        return reveals_declared(c, why);
    return c->spec.method->promise < PROMISE_ORDER_INVARIANT || reveals_nothing(c, why);
}
