/* Batch invariance of sums over ranks: its first element at other places of other messages, and at
 * all places of one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/check/attempts.h"
#include "experiments/system/memory.h"

/* Of outputs that are due to be alike, the first that is not as the case's is, or else the last. */
static void name_unlike(const struct check *c, const struct check_outcome *o,
                        struct surrounding *at, const struct array *out)
{
    const struct array *due = o->first.data ? &o->first : out;
    size_t i = 0;
    while (i + 1 < out->n && format_canonical(out->format, array_bits(out, i)) ==
                                 format_canonical(due->format, array_bits(due, 0)))
        i++;
    at->output = i;
    int used = snprintf(at->are, sizeof at->are, "element %zu of a message of %zu, all alike", i,
                        at->setting.bins);
    size_t owner = setting_owner(c->request->method->operation, &at->setting, i);
    if (owner != OWNED_BY_NONE)
        snprintf(at->are + used, sizeof at->are - (size_t)used, ", in the block of rank %zu",
                 owner);
}

/* Sets *one to what is the first output of the case, in its other surroundings. */
static enum status output_in(const struct check *c, const struct check_outcome *o,
                             struct surrounding *at, struct array *one, struct problem *p)
{
    const struct operation *operation = c->request->method->operation;
    struct check other = *c;
    struct check_setting plain = check_plain(c, &c->at);
    struct array out;
    enum status status = memory_array(&other.in, c->in.format, at->n, "other operands", p);
    if (status != STATUS_OK)
        return status;
    memset(other.in.data, at->byte, array_bytes(other.in.format, at->n));
    setting_embed(operation, &other.in, at, &c->in, &c->at.setting);
    other.at.n = at->n;
    other.at.setting = at->setting;
    other.made = (struct setting_operands){.of.in = other.in};
    status = setting_make(&other.made, operation, &at->setting, c->at.seed, p);
    if (status == STATUS_OK)
        status = check_once(&other, &plain, &out, p);
    setting_free(&other.made);
    free(other.in.data);
    if (status != STATUS_OK)
        return status;
    if (at->alike)
        name_unlike(c, o, at, &out);
    status = memory_array(one, out.format, 1, "an output", p);
    if (status == STATUS_OK)
        array_set_bits(one, 0, array_bits(&out, at->output));
    free(out.data);
    return status;
}

uint64_t check_message_named(const struct check_request *r, size_t i)
{
    if (r->n.count > 0)
        return i < r->n.count ? r->n.item[i] : 0;
    return i < r->datas ? r->data[i].array.n : 0;
}

static enum status take_in(struct check *c, struct check_outcome *o, struct surrounding *at,
                           uint64_t asked, struct problem *p)
{
    struct array one;
    enum status status = output_in(c, o, at, &one, p);
    if (status != STATUS_OK)
        return status;
    check_note_message(c, at->setting.bins, asked);
    return check_take(c, o, &one, 0, p, "%s", at->are);
}

/* Compares the output in messages of a length that the user named. */
static enum status take_named(struct check *c, struct check_outcome *o, uint64_t asked,
                              struct problem *p)
{
    const struct setting *s = &c->at.setting;
    const size_t n = (size_t)asked - (size_t)asked % s->ranks;
    struct surrounding at;
    enum status status = STATUS_OK;
    for (size_t u = 0; status == STATUS_OK && !check_enough(c, o) &&
                       setting_within(&at, c->request->method->operation, s, n, u);
         u++)
        status = take_in(c, o, &at, asked, p);
    return status;
}

/* Alone, then in messages as long as the case, if that is a length of the user's, then in those
 * that are shorter: longer ones are for longer cases, which the time is shared out by. */
static enum status take_all_named(struct check *c, struct check_outcome *o, struct problem *p)
{
    const size_t ranks = c->at.setting.ranks;
    enum status status = STATUS_OK;
    uint64_t asked;
    for (int own = 1; own >= 0; own--)
        for (size_t i = 0; status == STATUS_OK && (asked = check_message_named(c->request, i)) > 0;
             i++) {
            bool fits = c->request->n.count == 0 || asked % ranks == 0;
            bool is = asked - asked % ranks == c->at.n;
            if (fits && is == own && asked - asked % ranks <= c->at.n)
                status = take_named(c, o, asked, p);
        }
    return status;
}

enum status check_surrounded(struct check *c, struct check_outcome *o, struct problem *p)
{
    const struct operation *operation = c->request->method->operation;
    struct surrounding at;
    enum status status = STATUS_OK;
    for (size_t u = 0; check_outputs(c) > 0 && status == STATUS_OK && !check_enough(c, o) &&
                       setting_surround(&at, operation, &c->at.setting, u);
         u++) {
        status = take_in(c, o, &at, 0, p);
        if (status == STATUS_OK && u == 0 && operation_messages(operation))
            status = take_all_named(c, o, p);
    }
    return status;
}
