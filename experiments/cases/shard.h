/* A share of a study: its cases dealt to N processes, which need not know of each other. */
#pragma once

#include "experiments/cases/plan.h"

enum { SHARDS_MAX = 65536, SHARD_TEXT = 16 };

/* The index-th of `count`, from 1; count 0: the whole study. */
struct shard {
    uint32_t index, count;
};

/* Reads "2/4". STATUS_USAGE; `from` says whose word it is. */
enum status shard_parse(struct shard *s, const char *from, const char *text, struct problem *p);
void shard_text(char text[SHARD_TEXT], struct shard s); /* "2/4" */

/* Deals the cases of a plan: dealt[i] is the shard of case i, 1 to `count`. The costliest first,
 * each to the shard with the least so far; the cost of a case is its runs times its elements. Cases
 * of one input stay together, so that it and its exact value are made once, unless they are more
 * than half of what a shard would have. The same plan and count give the same shares in every
 * process. STATUS_MEMORY. */
enum status shard_deal(uint32_t *dealt, const struct plan *plan, uint32_t count, struct problem *p);

/* Leaves the plan the cases of one shard, which may be none, and the inputs they read. The shard of
 * the whole study leaves it as it is. */
enum status shard_keep(struct plan *plan, struct shard s, struct problem *p);

/* Cases that are dealt together: of one input, one behind the other in the plan. */
struct hand {
    size_t first, count;
    double cost;
};

/* The same for ranks that take a hand whenever they are done with one: all cases of a plan, in
 * *hand, which the caller frees, the costliest first. A hand is an eighth of a rank's share of what
 * is left, or a case: so there are few to take, an input is made by few ranks, and those at the end
 * are small. The cases of an input that together cost an eighth of a rank's share or less stay
 * together; where there are as many inputs as ranks, so do cases that together cost no more than to
 * make their input. A hand costs what its cases do and the making of its input. */
enum status shard_hands(struct hand **hand, size_t *hands, const struct plan *plan, uint32_t count,
                        struct problem *p);
