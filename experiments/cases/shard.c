#include "experiments/cases/shard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cases/plan_parts.h"

/* What a run costs beside its elements, in elements: about 20 us at a nanosecond each. */
enum { RUN_ELEMENTS = 20000 };

enum status shard_parse(struct shard *s, const char *from, const char *text, struct problem *p)
{
    unsigned long index = 0, count = 0;
    int end = 0;
    bool digits = strspn(text, "0123456789/") == strlen(text);
    if (!digits || sscanf(text, "%6lu/%6lu%n", &index, &count, &end) != 2 || text[end] ||
        index < 1 || index > count || count > SHARDS_MAX)
        return problem(p, STATUS_USAGE,
                       "%s: found '%s', expected a shard and how many there are, 1/4 to 4/4 for "
                       "four (at most %d)",
                       from, text, SHARDS_MAX);
    *s = (struct shard){(uint32_t)index, (uint32_t)count};
    return STATUS_OK;
}

void shard_text(char text[SHARD_TEXT], struct shard s)
{
    snprintf(text, SHARD_TEXT, "%u/%u", s.index, s.count);
}

static double cost_of(const struct plan *plan, const struct study_case *t)
{
    double elements = (double)plan->source[t->source].array.n;
    return ((double)t->runs + 1) * (elements + RUN_ELEMENTS);
}

/* Its elements made; those of data are there. */
static double making_of(const struct source *s)
{
    return s->generated ? input_cost(&s->input) * (double)s->array.n * (s->pair ? 2 : 1) : 0;
}

static int costliest_first(const void *a, const void *b)
{
    const struct hand *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost > y->cost ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* The cases of each input, or one by one where together they cost more than this part of all. */
static size_t hands_of(struct hand *hand, const struct plan *plan, double part)
{
    double all = 0;
    size_t hands = 0;
    for (size_t i = 0; i < plan->case_count; i++)
        all += cost_of(plan, &plan->cases[i]);
    for (size_t s = 0; s < plan->sources; s++) {
        const struct source *from = &plan->source[s];
        double together = 0;
        for (size_t i = from->first; i < from->first + from->cases; i++)
            together += cost_of(plan, &plan->cases[i]);
        bool split = together > all * part;
        for (size_t i = from->first; i < from->first + from->cases; i++) {
            if (split || i == from->first)
                hand[hands++] = (struct hand){i, 0, 0};
            hand[hands - 1].count++;
            hand[hands - 1].cost += cost_of(plan, &plan->cases[i]);
        }
    }
    return hands;
}

enum status shard_deal(uint32_t *dealt, const struct plan *plan, uint32_t count, struct problem *p)
{
    struct hand *hand = calloc(plan->case_count + 1, sizeof *hand);
    double *load = calloc(count, sizeof *load);
    size_t hands = hand && load ? hands_of(hand, plan, 0.5 / count) : 0;
    enum status status = hand && load ? STATUS_OK : plan_no_memory(p);
    if (status == STATUS_OK)
        qsort(hand, hands, sizeof *hand, costliest_first);
    for (size_t h = 0; h < hands; h++) {
        uint32_t least = 0;
        for (uint32_t k = 1; k < count; k++)
            least = load[k] < load[least] ? k : least;
        load[least] += hand[h].cost;
        for (size_t i = 0; i < hand[h].count; i++)
            dealt[hand[h].first + i] = least + 1;
    }
    free(hand);
    free(load);
    return status;
}

static int costliest_cases_first(const void *a, const void *b)
{
    const struct hand *x = a, *y = b;
    double of_x = x->cost * (double)y->count, of_y = y->cost * (double)x->count;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Cuts the cases of an input into hands of about this part of what is left, which are worth at
 * least `worth`. */
static size_t cut(struct hand *hand, const struct plan *plan, struct hand whole, double left,
                  double part, double worth)
{
    size_t hands = 0;
    double most = 0;
    for (size_t i = whole.first; i < whole.first + whole.count; i++) {
        double cost = cost_of(plan, &plan->cases[i]);
        if (hands == 0 || hand[hands - 1].cost + cost > most) {
            left -= hands > 0 ? hand[hands - 1].cost : 0;
            most = fmax(left * part, worth);
            hand[hands++] = (struct hand){i, 0, 0};
        }
        hand[hands - 1].count++;
        hand[hands - 1].cost += cost;
    }
    return hands;
}

/* Each hand makes its input. */
static void add_making(struct hand *hand, size_t hands, const struct plan *plan)
{
    for (size_t i = 0; i < hands; i++)
        hand[i].cost += making_of(&plan->source[plan->cases[hand[i].first].source]);
}

enum status shard_hands(struct hand **hand, size_t *hands, const struct plan *plan, uint32_t count,
                        struct problem *p)
{
    const double part = 0.125 / count;
    struct hand *whole = calloc(plan->sources + 1, sizeof *whole);
    *hand = calloc(plan->case_count + 1, sizeof **hand);
    *hands = 0;
    if (!*hand || !whole) {
        free(whole);
        return plan_no_memory(p);
    }
    double all = 0;
    for (size_t s = 0; s < plan->sources; s++) {
        const struct source *from = &plan->source[s];
        whole[s] = (struct hand){from->first, from->cases, 0};
        for (size_t i = from->first; i < from->first + from->cases; i++)
            whole[s].cost += cost_of(plan, &plan->cases[i]);
        all += whole[s].cost;
    }
    qsort(whole, plan->sources, sizeof *whole, costliest_cases_first);
    double left = all;
    for (size_t s = 0; s < plan->sources; s++) {
        /* Of fewer inputs than ranks they make the same ones at once, which costs no time. */
        double making =
            whole[s].count > 0 ? making_of(&plan->source[plan->cases[whole[s].first].source]) : 0;
        if (whole[s].cost > all * part)
            *hands += cut(*hand + *hands, plan, whole[s], left, part,
                          plan->sources >= count ? making : 0);
        else if (whole[s].count > 0)
            (*hand)[(*hands)++] = whole[s];
        left -= whole[s].cost;
    }
    free(whole);
    add_making(*hand, *hands, plan);
    qsort(*hand, *hands, sizeof **hand, costliest_first);
    return STATUS_OK;
}

enum status shard_keep(struct plan *plan, struct shard s, struct problem *p)
{
    if (s.count == 0)
        return STATUS_OK;
    uint32_t *dealt = calloc(plan->case_count + 1, sizeof *dealt);
    enum status status = dealt ? shard_deal(dealt, plan, s.count, p) : plan_no_memory(p);
    size_t cases = 0, sources = 0;
    for (size_t k = 0; status == STATUS_OK && k < plan->sources; k++) {
        struct source from = plan->source[k];
        size_t first = cases;
        for (size_t i = from.first; i < from.first + from.cases; i++)
            if (dealt[i] == s.index) {
                plan->cases[cases] = plan->cases[i];
                plan->cases[cases++].source = sources;
            }
        if (cases == first) {
            source_free(&plan->source[k]);
            continue;
        }
        from.first = first;
        from.cases = cases - first;
        plan->source[sources++] = from;
    }
    free(dealt);
    if (status != STATUS_OK)
        return status;
    plan->case_count = cases;
    plan->sources = sources;
    plan_index(plan);
    return STATUS_OK;
}
