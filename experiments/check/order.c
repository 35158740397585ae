/* order_invariant: permutations of the elements; each keeps its key. Of a scan, of those in its
 * first part alone: what comes from there on covers the same elements as before. */
#include <stdlib.h>

#include "experiments/check/attempts.h"
#include "experiments/system/memory.h"
#include "experiments/inputs/philox.h"

enum order_kind { REVERSED, ROTATED, ASCENDING, DESCENDING, MAGNITUDE, SHUFFLED, ORDERS = 9 };

static const char *const order_name[] = {
    "reversed", "rotated", "ascending", "descending", "ascending magnitudes", "shuffled"};

static void turn(const struct array *a, const struct array *from, bool back, size_t by)
{
    for (size_t i = 0; i < a->n; i++)
        array_set_bits(a, i, array_bits(from, back ? a->n - 1 - i : (i + by) % a->n));
}

/* Does an order depend on places alone, so that two arrays, or one and its keys, are permuted
 * alike?
 */
static bool of_places(size_t order)
{
    return order <= ROTATED || order >= SHUFFLED;
}

/* Every seed of an input, and every round, has shuffles of its own. */
static uint64_t first_shuffle(const struct check *c)
{
    return 1000 + ORDERS * (c->at.seed - 1) + ((uint64_t)c->round << 32);
}

/* Permutes the first `count` elements of a copy. */
static enum status permute(const struct array *copy, const struct array *in, size_t count,
                           size_t order, uint64_t shuffle, struct problem *p)
{
    static const enum arrangement arrangement[] = {[ASCENDING] = ARRANGED_ASCENDING,
                                                   [DESCENDING] = ARRANGED_DESCENDING,
                                                   [MAGNITUDE] = ARRANGED_BY_MAGNITUDE,
                                                   [SHUFFLED] = ARRANGED_SHUFFLED};
    struct array part = {copy->format, count, copy->data}, from = {in->format, count, in->data};
    memcpy(copy->data, in->data, array_bytes(in->format, in->n));
    if (count > 0 && order <= ROTATED)
        turn(&part, &from, order == REVERSED, count / 3);
    if (order <= ROTATED)
        return STATUS_OK;
    size_t kind = order < SHUFFLED ? order : SHUFFLED;
    return input_arrange(&part, arrangement[kind], shuffle + order, p);
}

/* Changes the places of terms that several outputs share. */
static enum status reorder(const struct check *c, const struct array *copy, size_t terms,
                           size_t order, struct problem *p)
{
    const struct operation *o = c->request->method->operation;
    struct array own, changed;
    enum status status = memory_array(&own, FP32, terms, "an order of terms", p);
    if (status != STATUS_OK)
        return status;
    status = memory_array(&changed, FP32, terms, "an order of terms", p);
    for (size_t i = 0; i < terms && status == STATUS_OK; i++)
        ((uint32_t *)own.data)[i] = (uint32_t)i;
    if (status == STATUS_OK)
        status = permute(&changed, &own, terms, order, first_shuffle(c), p);
    if (status == STATUS_OK) {
        memcpy(copy->data, c->in.data, array_bytes(copy->format, copy->n));
        setting_reorder(o, copy, &c->in, &c->made.of, changed.data);
    }
    free(own.data);
    free(changed.data);
    return status;
}

/* Permutes all that the method reads. */
static enum status permute_all(const struct check *c, const struct check_setting *to, size_t count,
                               size_t order, struct problem *p)
{
    unsigned arrays = operation_arrays(c->request->method->operation);
    size_t terms = setting_terms(c->request->method->operation, &c->made.of);
    enum status status = STATUS_OK;
    if (terms > 0)
        return reorder(c, to->in, terms, order, p);
    for (unsigned i = 0; i < arrays && status == STATUS_OK; i++) {
        struct array copy = check_array(to->in, c->at.n, i), in = check_array(&c->in, c->at.n, i);
        status = permute(&copy, &in, count, order, first_shuffle(c), p);
    }
    if (status != STATUS_OK || !c->place)
        return status;
    struct array copy = check_keys_array((uint32_t *)to->keys, c->at.n);
    struct array keys = check_keys_array(c->place, c->at.n);
    status = permute(&copy, &keys, count, order, first_shuffle(c), p);
    if (status != STATUS_OK || c->made.of.keys)
        return status;
    copy = check_array(to->in, c->at.n, 0);
    return check_lay_rows(c, &copy, to->keys, p);
}

enum status check_order_again(struct check *c, const struct check_setting *to,
                              const struct check_variant *v, struct problem *p)
{
    c->round = v->round;
    return permute_all(c, to, v->count, v->order, p);
}

/* Where each element has an output, that moves with it: writes those of the case as permuted in
 * *out back to where their elements were. */
static enum status outputs_back(const struct check *c, const struct check_setting *s,
                                const struct array *out, size_t count, size_t order,
                                struct problem *p)
{
    struct array index = {0}, moved = {0}, back = {0};
    enum status status = memory_array(&index, FP32, c->at.n, "places", p);
    if (status == STATUS_OK)
        status = memory_array(&moved, FP32, c->at.n, "places", p);
    if (status == STATUS_OK)
        status = memory_array(&back, out->format, out->n, "outputs", p);
    for (size_t i = 0; status == STATUS_OK && i < c->at.n; i++)
        ((uint32_t *)index.data)[i] = (uint32_t)i;
    if (status == STATUS_OK)
        status = permute(&moved, &index, count, order, first_shuffle(c), p);
    if (status == STATUS_OK)
        status = check_lay_rows(c, &moved, s->keys, p);
    if (status == STATUS_OK) {
        for (size_t i = 0; i < out->n; i++)
            array_set_bits(&back, ((uint32_t *)moved.data)[i], array_bits(out, i));
        memcpy(out->data, back.data, array_bytes(out->format, out->n));
    }
    free(index.data);
    free(moved.data);
    free(back.data);
    if (status != STATUS_OK)
        free(out->data);
    return status;
}

static enum status try_orders(struct check *c, struct check_outcome *o, const struct array *copy,
                              uint32_t *keys, size_t count, struct problem *p)
{
    bool scan = check_is_scan(c);
    /* The first output that covers all permuted elements. */
    size_t from = !scan ? 0 : c->at.setting.exclusive ? count : count - 1;
    struct array out;
    struct check_setting s = check_plain(c, &c->at);
    enum status status = check_once(c, &s, &out, p);
    struct check_variant as_is = check_variant(&s);
    o->now = as_is;
    if (status == STATUS_OK)
        status = check_take(c, o, &out, from, p, "as generated");
    s.in = copy;
    s.keys = keys;
    bool shared = setting_terms(c->request->method->operation, &c->made.of) > 0;
    bool alike = operation_arrays(c->request->method->operation) > 1 || c->place || shared;
    for (size_t order = 0; order < ORDERS && status == STATUS_OK && !check_enough(c, o); order++) {
        if (alike && !of_places(order))
            continue;
        status = permute_all(c, &s, count, order, p);
        if (status == STATUS_OK)
            status = check_once(c, &s, &out, p);
        if (status == STATUS_OK && operation_of_each(c->request->method->operation))
            status = outputs_back(c, &s, &out, count, order, p);
        o->now = as_is;
        o->now.permuted = true;
        o->now.order = order;
        o->now.count = count;
        o->now.round = c->round;
        if (status == STATUS_OK && order < SHUFFLED)
            status = check_take(c, o, &out, from, p, "%s", order_name[order]);
        else if (status == STATUS_OK)
            status = check_take(c, o, &out, from, p, "shuffled (%zu)", order - SHUFFLED + 1);
    }
    return status;
}

/* The case with its ranks dealt out as `is` says. */
static enum status run_dealt(const struct check *c, const struct setting *is, size_t u,
                             struct array *out, struct problem *p)
{
    const struct operation *operation = c->request->method->operation;
    struct check other = *c;
    struct check_setting plain = check_plain(c, &c->at);
    other.at.setting = *is;
    other.at.n = is->ranks * is->bins;
    enum status status = memory_array(&other.in, c->in.format, other.at.n, "other ranks", p);
    if (status != STATUS_OK)
        return status;
    setting_dealt(operation, &other.in, is, &c->in, &c->at.setting, u);
    other.made = (struct setting_operands){.of.in = other.in};
    status = setting_make(&other.made, operation, is, c->at.seed, p);
    if (status == STATUS_OK)
        status = check_once(&other, &plain, out, p);
    setting_free(&other.made);
    free(other.in.data);
    return status;
}

/* A sum over ranks with other numbers and places of ranks: what rank_invariant speaks of, beside
 * the orders above. */
static enum status try_ranks(struct check *c, struct check_outcome *o, struct problem *p)
{
    struct setting is;
    struct array out;
    enum status status = STATUS_OK;
    for (size_t u = 0; status == STATUS_OK && !check_enough(c, o) &&
                       setting_deal(&is, c->request->method->operation, &c->at.setting, u);
         u++) {
        struct problem why = {0};
        status = run_dealt(c, &is, u, &out, &why);
        if (status == STATUS_OK)
            status = check_take(c, o, &out, 0, p, "dealt to %zu ranks (%zu)", is.ranks, u + 1);
        else if (status == STATUS_DEVICE && is.ranks > c->at.setting.ranks)
            status = STATUS_OK; /* more than there are GPUs for */
        else
            status = problem(p, status, "%s", why.text);
    }
    return status;
}

enum status check_permutation(struct check *c, struct check_outcome *o, struct problem *p)
{
    struct array copy, keys = {0};
    bool scan = check_is_scan(c);
    size_t n = c->at.n, count = !scan ? n : n - n / 3;
    if (count < 2 || (scan && c->at.setting.exclusive && count == n))
        return STATUS_OK;
    enum status status = memory_array(&copy, c->in.format, c->in.n, "a permuted input", p);
    if (status != STATUS_OK)
        return status;
    if (c->place)
        status = memory_array(&keys, FP32, n, "permuted keys", p);
    if (status == STATUS_OK)
        status = try_orders(c, o, &copy, keys.data, count, p);
    if (status == STATUS_OK)
        status = try_ranks(c, o, p);
    free(copy.data);
    free(keys.data);
    return status;
}
