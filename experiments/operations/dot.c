/* Dot products: how products are formed. */
#include <stdio.h>

#include "experiments/operations/operation.h"

static void columns(struct setting_columns *to, const struct setting *s)
{
    to->column[CASE_PRODUCT] = product_name[s->product];
}

static void note(char note[SETTING_NOTE], const struct method *m, const struct setting *s)
{
    if (s->product != m->product)
        snprintf(note, SETTING_NOTE, "products %s", product_name[s->product]);
}

/* As asked for, or the method's own way. */
static enum status each_own(const struct setting_asked *asked, struct setting s,
                            setting_visit *visit, void *context, struct problem *p)
{
    const struct setting_axes *axes = asked->axes;
    enum status status = STATUS_OK;
    s.product = asked->method->product;
    if (axes->products == 0)
        return visit(context, &s, p);
    for (size_t i = 0; status == STATUS_OK && i < axes->products; i++) {
        s.product = axes->product[i];
        status = visit(context, &s, p);
    }
    return status;
}

const struct operation_use use_dot = {
    .operation = &operation_dot,
    .columns_of = COLUMNS_OF_DOTS,
    .reads = 1 << SETTING_PRODUCT | 1 << SETTING_SHIFT,
    .columns = columns,
    .note = note,
    .each_own = each_own,
};
