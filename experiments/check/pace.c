#include "experiments/check/pace.h"

#include "experiments/check/batches.h"
#include "experiments/system/clock.h"

enum { SMALL = 10000 };
static const uint64_t LEAST_OURS_NS = 1000000000;

/* What starts a process for each number of threads may take this share of the time to have attempts
 * enough: the processes stay, so that the first case is the slow one. */
#define STARTS_SHARE 0.2

/* The least time of one of several that are asked for. */
static const uint64_t TURN_NS = 20000000;

bool pace_few(const struct pace *t, uint64_t now)
{
    return t->done == 0 ||
           (t->tried->attempts < CHECK_LEAST && t->done < CHECK_LEAST && now < t->least);
}

bool pace_time_for(const struct pace *t, const struct check_case *k, uint64_t now)
{
    double ns = t->ns[k->pair.storage][k->pair.accumulator];
    if (pace_few(t, now) && (t->done == 0 || k->n <= SMALL))
        return true;
    if (t->counted && t->done < t->first)
        return now < t->deadline;
    return now < t->deadline &&
           (ns > 0 ? ns : t->most) * (double)k->n < t->share * (double)(t->deadline - now);
}

uint64_t pace_until(const struct pace *t, uint64_t now)
{
    uint64_t left = t->deadline > now ? t->deadline - now : 0;
    if (t->done + 1 >= t->first)
        return left > PACE_LEAST_NS ? t->deadline : now + PACE_LEAST_NS;
    uint64_t turn = left / (t->first - t->done);
    return now + (turn > t->turn ? turn : t->turn);
}

void pace_note(struct pace *t, const struct check_case *k, uint64_t took_ns)
{
    double each = (double)took_ns / (double)(k->n < SMALL ? SMALL : k->n);
    double *ns = &t->ns[k->pair.storage][k->pair.accumulator];
    /* What began a process took long once: that says nothing of the next case, which is cut short
     * where it does not fit. */
    bool less = t->foreign && *ns > each;
    *ns = each > *ns || less ? each : *ns;
    t->most = each > t->most || less ? each : t->most;
    t->done++;
    t->passed = 0;
}

/* A case that follows one output through all batches is to leave time for others. */
enum { FOLLOWED_LEAST = 4 };

/* How many cases have each of the lengths, launch shapes and ranks asked for, but for format pairs.
 */
static size_t cases_asked(const struct check *c)
{
    const struct check_request *r = c->request;
    size_t lengths = r->n.count, shapes = r->threads.count + r->blocks.count;
    if (shapes > 0)
        shapes = check_shape_count(c);
    shapes = shapes > r->setting.ranks.count ? shapes : r->setting.ranks.count;
    return lengths > shapes ? lengths : shapes;
}

static const uint64_t LATE_NS = 1500000000;

/* Where it is held to batch_invariant, each of its kinds has a case, however late it is: the
 * promise is not tried without. */
uint64_t pace_last(const struct check *c, enum check_kind kind)
{
    const uint64_t late = clock_ns() + LATE_NS;
    bool needed = check_holds(c->request, PROMISE_BATCH_INVARIANT) && check_follows(c, kind);
    return needed && late > c->last ? late : c->last;
}

/* What the exact result takes may grow faster than the length, as of products it does; without a
 * limit few long cases leave no time for the other families of inputs. */
#define EXACT_SHARE (1.0 / 16)

static bool lengths_are_ours(const struct check_request *r)
{
    return r->n.count == 0 && r->datas == 0;
}

void pace_begin(struct pace *t, const struct check *c, enum check_kind kind,
                const struct check_tried *tried, uint64_t deadline)
{
    size_t asked = cases_asked(c);
    const struct check_batches *b = check_is_counted(c->request, kind) ? c->request->batches : NULL;
    bool follows = check_follows(c, kind) && !b, foreign = c->request->method->foreign,
         starts = foreign && kind == CHECK_ENVIRONMENT && STARTS_SHARE * c->request->seconds > 0.3;
    if (b)
        asked = (asked ? asked : 1) * (b->pairs_asked ? c->pairs.count : 1);
    *t = (struct pace){
        .foreign = foreign,
        .tried = tried,
        .deadline = deadline,
        .first = follows && asked < FOLLOWED_LEAST ? FOLLOWED_LEAST : asked,
        .turn = follows ? PACE_LEAST_NS : TURN_NS,
        .share = kind == CHECK_EXACT && lengths_are_ours(c->request) ? EXACT_SHARE : 1,
        .counted = b != NULL,
        .least = clock_ns() + (starts    ? clock_span(STARTS_SHARE * c->request->seconds)
                               : foreign ? PACE_LEAST_NS
                                         : LEAST_OURS_NS)};
}
