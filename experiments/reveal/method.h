/* The order of a method on a device, and the one that it declares. */
#pragma once

#include "experiments/options/pairs.h"
#include "experiments/runs/probe.h"
#include "experiments/reveal/reveal.h"

/* One sum; of a scan one prefix, of the output number `prefix` < spec.n. */
struct reveal_case {
    struct probe_spec spec;
    size_t prefix;
    bool progress; /* draw it on standard error, which is a terminal */
};

/* The elements that are summed: *first and those after it. None, of an exclusive scan's first
 * output and those at heads. */
size_t reveal_elements(const struct reveal_case *c, size_t *first);

/* n of a mean, as reveal_subject's `divisor`; else 0. */
size_t reveal_divisor(const struct probe_spec *s);

/* Is the method's result a sum, a sum divided by n, or the root of a sum of squares? Where it is
 * not, no order can be asked for.
 */
bool reveal_can_ask(const struct method *m);

/* Does it add squares of elements? */
bool reveal_adds_squares(const struct method *m);

/* Formats that the method supports: those asked for, where FORMATS leaves one open; of open ones
 * fp32, else fp64, else the first, and an accumulator like the storage. As asked, the storage being
 * fp32 and the accumulator like it where they are open, if it supports none. */
struct format_pair reveal_formats(const struct method *m, enum device_kind device,
                                  enum format storage, enum format accumulator);

/* As reveal_order, then held to other data as reveal/hold.h says. There must be elements. */
enum status reveal_method(struct reveal *r, const struct reveal_case *c, uint64_t seed,
                          struct problem *p);

/* The declared order; *declared is false where there is none. */
enum status reveal_declared(struct sum_tree *t, bool *declared, const struct reveal_case *c,
                            struct problem *p);
