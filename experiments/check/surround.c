/* Batch invariance of sums over ranks: its first element at other places of other messages. */
#include <stdlib.h>
#include <string.h>

#include "experiments/check/attempts.h"
#include "experiments/system/memory.h"

/* Sets *one to what is the first output of the case, in its other surroundings. */
static enum status output_in(const struct check *c, const struct surrounding *at, struct array *one,
                             struct problem *p)
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
    status = memory_array(one, out.format, 1, "an output", p);
    if (status == STATUS_OK)
        array_set_bits(one, 0, array_bits(&out, at->output));
    free(out.data);
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
        struct array one;
        status = output_in(c, &at, &one, p);
        if (status == STATUS_OK)
            status = check_take(c, o, &one, 0, p, "%s", at.are);
    }
    return status;
}
