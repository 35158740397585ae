#include "experiments/operations/operation.h"

#include <stdlib.h>

const struct setting_option_facts setting_options[SETTING_OPTIONS] = {
    [SETTING_SCAN] = {"scan", "a scan", "scans"},
    [SETTING_OUTPUT] = {"output", "a scan", "scans"},
    [SETTING_SEGMENT] = {"segment", "a segmented scan", "scans"},
    [SETTING_PRODUCT] = {"product", "a dot product", "dot products"},
    [SETTING_SHIFT] = {"shift", "a dot product", "dot products"},
    [SETTING_KEYS] = {"keys", "a method that takes keys", "scatter-adds"},
    [SETTING_BINS] = {"bins", "a method that takes keys", "scatter-adds"},
    [SETTING_ROWS] = {"rows", "a method that reads a matrix", "matrices"},
    [SETTING_LAYOUT] = {"layout", "a method that reads a matrix", "matrices"},
    [SETTING_KEEP] = {"keep", "a compaction", "matrices"},
};

static const struct operation_use *use_of(const struct operation *o)
{
    static const struct operation_use *const uses[] = {&use_scan, &use_dot,       &use_scatter,
                                                       &use_rows, &use_transpose, &use_compact};
    static const struct operation_use plain = {.columns_of = COLUMNS_OF_SUMS};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (uses[i]->operation == o)
            return uses[i];
    return &plain;
}

bool operation_asks(const struct operation *o, enum setting_option option)
{
    return use_of(o)->reads & 1u << option;
}

const struct operation *operation_asking(enum setting_option option)
{
    size_t i = 0;
    while (!operation_asks(operations[i], option))
        i++;
    return operations[i];
}

bool setting_read(const struct method *m, enum setting_option option)
{
    return operation_asks(m->operation, option) && (option != SETTING_SEGMENT || m->segmented);
}

enum columns_of operation_columns(const struct operation *o)
{
    return use_of(o)->columns_of;
}

void setting_columns(struct setting_columns *to, const struct operation *o, const struct setting *s)
{
    for (size_t i = 0; i < CASE_ALL; i++)
        to->column[i] = "";
    if (use_of(o)->columns)
        use_of(o)->columns(to, s);
}

size_t setting_words(struct setting_word word[SETTING_OPTIONS], const struct operation *o,
                     const struct setting *s)
{
    return use_of(o)->words ? use_of(o)->words(word, s) : 0;
}

void setting_says(struct text *to, const struct operation *o, const struct setting *s)
{
    if (use_of(o)->says)
        use_of(o)->says(to, s);
}

void setting_note(char note[SETTING_NOTE], const struct method *m, const struct setting *s)
{
    if (use_of(m->operation)->note)
        use_of(m->operation)->note(note, m, s);
}

enum status setting_each(const struct operation *o, const struct setting_asked *asked,
                         setting_visit *visit, void *context, struct problem *p)
{
    const struct operation_use *use = use_of(o);
    struct setting s = {.output = asked->accumulator};
    return use->each ? use->each(asked, s, visit, context, p) : visit(context, &s, p);
}

enum status setting_each_own(const struct setting_asked *asked, const struct setting *from,
                             setting_visit *visit, void *context, struct problem *p)
{
    const struct operation_use *use = use_of(asked->method->operation);
    return use->each_own ? use->each_own(asked, *from, visit, context, p) : visit(context, from, p);
}

void setting_vary(struct setting *s, const struct operation *o, const struct setting_axes *axes,
                  size_t n, size_t u)
{
    if (use_of(o)->vary)
        use_of(o)->vary(s, axes, n, u);
}

bool operation_batches(const struct operation *o)
{
    return use_of(o)->batches;
}

bool operation_served(const struct operation *o)
{
    return !use_of(o)->not_served;
}

bool operation_recorded(const struct operation *o)
{
    return !use_of(o)->not_recorded;
}

enum status setting_make(struct setting_operands *to, const struct operation *o,
                         const struct setting *s, uint64_t seed, struct problem *p)
{
    to->flags = NULL;
    to->keys = NULL;
    to->of.exclusive = s->exclusive;
    to->of.product = s->product;
    to->of.bins = s->bins;
    enum status status = use_of(o)->make ? use_of(o)->make(to, s, seed, p) : STATUS_OK;
    if (status != STATUS_OK)
        setting_free(to);
    return status;
}

void setting_free(struct setting_operands *of)
{
    free(of->flags);
    free(of->keys);
    *of = (struct setting_operands){0};
}

double setting_bytes(const struct operation *o, const struct setting *s, size_t n)
{
    return use_of(o)->bytes ? use_of(o)->bytes(s, n) : 0;
}

struct setting setting_sample(const struct operation *o, const struct setting *s, size_t n)
{
    struct setting own = *s;
    if (use_of(o)->sample)
        use_of(o)->sample(&own, n);
    return own;
}

const char *operation_plural(const struct operation *o)
{
    return o == &operation_sum ? "sums" : "reductions";
}

enum status setting_places(uint32_t **place, const struct operation *o,
                           const struct setting_operands *of, struct problem *p)
{
    *place = NULL;
    if (!use_of(o)->places)
        return STATUS_OK;
    *place = malloc((of->of.in.n + 1) * sizeof **place);
    if (!*place)
        return problem(p, STATUS_DEVICE, "out of memory for the places of %zu elements",
                       of->of.in.n);
    use_of(o)->places(*place, &of->of);
    return STATUS_OK;
}

const char *setting_twin(const struct operation *o, const struct setting *s)
{
    return use_of(o)->twin ? use_of(o)->twin(s) : o->fixed;
}
