#include "experiments/operations/operation.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/system/memory.h"
#include "kernels/mma/mma.h"

const struct setting_option_facts setting_options[SETTING_OPTIONS] = {
    [SETTING_SCAN] = {"scan", "a scan", "scans"},
    [SETTING_OUTPUT] = {"output", "a scan or a matrix product", "scans"},
    [SETTING_SEGMENT] = {"segment", "a segmented scan", "scans"},
    [SETTING_PRODUCT] = {"product", "a dot product", "dot products"},
    [SETTING_SHIFT] = {"shift", "a dot product", "dot products"},
    [SETTING_KEYS] = {"keys", "a method that takes keys", "scatter-adds"},
    [SETTING_BINS] = {"bins", "a method that takes keys", "scatter-adds"},
    [SETTING_ROWS] = {"rows", "a method that reads a matrix", "matrices"},
    [SETTING_LAYOUT] = {"layout", "a method that reads a matrix", "matrices"},
    [SETTING_KEEP] = {"keep", "a compaction", "matrices"},
    [SETTING_SHAPE] = {"shape", "a matrix product", "matrix products"},
    [SETTING_RANKS] = {"ranks", "a sum over ranks", "sums over ranks"},
    [SETTING_CHIP] = {"chip", "a model of matrix instructions", "matrix products"},
    [SETTING_PROMOTE] = {"promote", "gemm/promoted", "matrix products"},
    [SETTING_WORKSPACE] = {"workspace", "a matrix product of cuBLASLt", "matrix products"},
    [SETTING_ALGORITHM] = {"algorithm", "a matrix product of cuBLASLt", "matrix products"},
    [SETTING_SCALES] = {"scales", "a matrix product", "matrix products"},
};

static const struct operation_use *use_of(const struct operation *o)
{
    static const struct operation_use *const uses[] = {
        &use_scan,    &use_dot,         &use_scatter,   &use_rows,
        &use_rowmean, &use_rowvariance, &use_sumexp,    &use_logsumexp,
        &use_softmax, &use_rmsnorm,     &use_layernorm, &use_transpose,
        &use_compact, &use_gemm,        &use_allreduce, &use_reduce_scatter};
    static const struct operation_use plain = {.columns_of = COLUMNS_OF_SUMS};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (uses[i]->operation == o)
            return uses[i];
    return &plain;
}

const struct operation *operation_named(const char *name)
{
    size_t i = 0;
    while (operations[i] && strcmp(operations[i]->name, name) != 0)
        i++;
    return operations[i];
}

bool operation_asks(const struct operation *o, enum setting_option option)
{
    return use_of(o)->reads & 1u << option;
}

bool operation_flattens(const struct operation *o)
{
    return !operation_asks(o, SETTING_ROWS) && !operation_asks(o, SETTING_SHAPE);
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
    return operation_asks(m->operation, option) && (option != SETTING_SEGMENT || m->segmented) &&
           (option != SETTING_CHIP || m->of_chip) && (option != SETTING_PROMOTE || m->promotes) &&
           (option != SETTING_WORKSPACE || m->heuristic & HEURISTIC_WORKSPACE) &&
           (option != SETTING_ALGORITHM || m->heuristic & HEURISTIC_ALGORITHM);
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

size_t setting_length(const struct operation *o, const struct setting_axes *axes, size_t n)
{
    return use_of(o)->length ? use_of(o)->length(axes, n) : n;
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

bool setting_can(const struct method *m, const struct setting *s, enum format storage,
                 enum format accumulator)
{
    bool forms =
        s->product == PRODUCT_NONE || s->product == m->product || (m->products & 1u << s->product);
    const bool eight = storage == E4M3 || storage == E5M2;
    const bool of_eight = s->shape.mixed || s->shape.scaling != GEMM_UNSCALED;
    if (!method_scales(m, s->shape.scaling, s->promote))
        return false;
    if ((of_eight && !eight) || (s->shape.tf32 && storage != FP32) ||
        ((of_eight || s->shape.tf32) && m->foreign))
        return false;
    return forms && (!m->of_chip || m->of_chip(s->chip ? s->chip : MMA_CHIP, storage, accumulator));
}

bool setting_settle(const struct method *m, struct setting *s, enum format storage,
                    enum format accumulator)
{
    if (m->product == PRODUCT_UNKNOWN)
        s->product = PRODUCT_UNKNOWN;
    return setting_can(m, s, storage, accumulator);
}

bool setting_any(const struct method *m, const struct setting_axes *axes, enum format storage,
                 enum format accumulator)
{
    bool any = !m->of_chip;
    for (size_t i = 0; !any && i < axes->chips; i++)
        any = m->of_chip(axes->chip[i], storage, accumulator);
    return any || (axes->chips == 0 && m->of_chip(MMA_CHIP, storage, accumulator));
}

void setting_drop(const struct method *m, struct setting *s)
{
    s->chip = setting_read(m, SETTING_CHIP) ? s->chip : NULL;
    s->promote = setting_read(m, SETTING_PROMOTE) ? s->promote : 0;
    const struct heuristic asked = s->heuristic;
    s->heuristic = (struct heuristic){0};
    if (asked.has_workspace && setting_read(m, SETTING_WORKSPACE))
        heuristic_workspace(&s->heuristic, asked.workspace);
    if (asked.has_algorithm && setting_read(m, SETTING_ALGORITHM))
        heuristic_algorithm(&s->heuristic, asked.algorithm);
}

void setting_put(struct operands *of, const struct setting *s)
{
    of->exclusive = s->exclusive;
    of->product = s->product;
    of->chip = s->chip;
    of->promote = s->promote;
    of->heuristic = s->heuristic;
}

enum status setting_make(struct setting_operands *to, const struct operation *o,
                         const struct setting *s, uint64_t seed, struct problem *p)
{
    to->flags = NULL;
    to->keys = NULL;
    to->c = NULL;
    to->copied = false;
    setting_put(&to->of, s);
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
    free(of->c);
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
        return problem(p, STATUS_MEMORY, "out of memory for the places of %zu elements",
                       of->of.in.n);
    use_of(o)->places(*place, &of->of);
    return STATUS_OK;
}

bool setting_matrices(struct matrices *to, const struct operation *o, const struct operands *of)
{
    bool are = use_of(o)->matrices;
    if (are)
        *to = use_of(o)->matrices(of);
    return are;
}

bool operation_joins(const struct operation *o)
{
    return use_of(o)->join;
}

enum status setting_join(struct data *to, const struct operation *o, const struct data *part,
                         size_t parts, struct setting_axes *axes, struct problem *p)
{
    *to = (struct data){0};
    return use_of(o)->join(to, part, parts, axes, p);
}

double setting_cost(const struct method *m, const struct setting *s, enum format storage,
                    enum format accumulator)
{
    const struct operation_use *use = use_of(m->operation);
    return use->cost ? use->cost(m, s, storage, accumulator) : 0;
}

const char *operation_costs(const struct operation *o)
{
    return use_of(o)->costs;
}

size_t setting_terms(const struct operation *o, const struct operands *of)
{
    return use_of(o)->terms ? use_of(o)->terms(of) : 0;
}

void setting_reorder(const struct operation *o, const struct array *to, const struct array *from,
                     const struct operands *of, const uint32_t *order)
{
    use_of(o)->reorder(to, from, of, order);
}

unsigned operation_sides(const struct operation *o)
{
    return use_of(o)->sides;
}

struct batch_place setting_batch(const struct operation *o, const struct setting *s, size_t n)
{
    return use_of(o)->batch(s, n);
}

bool setting_in_batch(struct surrounding *to, const struct operation *o, const struct setting *s,
                      const struct batch_place *at)
{
    *to = (struct surrounding){.setting = *s};
    return use_of(o)->in_batch(to, s, at);
}

void setting_fill_batch(const struct operation *o, const struct array *to,
                        const struct surrounding *is, const struct batch_place *at,
                        const struct array *from, const struct setting *s)
{
    use_of(o)->fill_batch(to, is, at, from, s);
}

size_t setting_item_output(const struct operation *o, const struct surrounding *is,
                           const struct batch_place *at, size_t item)
{
    return use_of(o)->item_output ? use_of(o)->item_output(is, at, item) : item;
}

bool setting_surround(struct surrounding *to, const struct operation *o, const struct setting *s,
                      size_t u)
{
    return use_of(o)->surround && use_of(o)->surround(to, s, u);
}

bool setting_within(struct surrounding *to, const struct operation *o, const struct setting *s,
                    size_t n, size_t u)
{
    return use_of(o)->within && use_of(o)->within(to, s, n, u);
}

bool operation_messages(const struct operation *o)
{
    return use_of(o)->within;
}

void setting_embed(const struct operation *o, const struct array *to, const struct surrounding *at,
                   const struct array *from, const struct setting *s)
{
    use_of(o)->embed(to, at, from, s);
}

bool setting_deal(struct setting *to, const struct operation *o, const struct setting *s, size_t u)
{
    return use_of(o)->deal && use_of(o)->deal(to, s, u);
}

void setting_dealt(const struct operation *o, const struct array *to, const struct setting *dealt,
                   const struct array *from, const struct setting *s, size_t u)
{
    use_of(o)->dealt(to, dealt, from, s, u);
}

size_t setting_owner(const struct operation *o, const struct setting *s, size_t output)
{
    return use_of(o)->owner ? use_of(o)->owner(s, output) : OWNED_BY_NONE;
}

const char *setting_twin(const struct operation *o, const struct setting *s)
{
    return use_of(o)->twin ? use_of(o)->twin(s) : o->fixed;
}

/* --- requests --- */

struct wire_request request_asked(const struct task *t)
{
    const struct operands *of = t->of;
    struct wire_request r = {.operation = t->method->operation,
                             .n = of->in.n,
                             .storage = of->in.format,
                             .accumulator = t->accumulator,
                             .output = t->out.format,
                             .exclusive = of->exclusive,
                             .bins = of->bins,
                             .stride = of->stride,
                             .gemm = of->gemm};
    if (r.operation->matrices)
        r.n = gemm_c_begins(&of->gemm);
    return r;
}

size_t request_behind(const struct wire_request *r)
{
    const struct operation *o = r->operation;
    return o->matrices ? r->gemm.no_c ? 0 : r->bins
           : operation_has(o, OPERAND_KEYS) || operation_has(o, OPERAND_IN2) ? r->n
                                                                             : 0;
}

size_t request_behind_bytes(const struct wire_request *r)
{
    const struct operation *o = r->operation;
    return o->matrices                      ? array_bytes(r->output, request_behind(r))
           : operation_has(o, OPERAND_KEYS) ? request_behind(r) * sizeof(uint32_t)
                                            : array_bytes(r->storage, request_behind(r));
}

const char *request_rest(const struct operation *o)
{
    return use_of(o)->request ? use_of(o)->request : "";
}

void request_write(char to[REQUEST_TEXT], const struct wire_request *r)
{
    *to = 0;
    if (use_of(r->operation)->tell)
        use_of(r->operation)->tell(to, r);
}

bool request_read(struct wire_request *r, char *const word[], size_t words)
{
    const struct operation_use *use = use_of(r->operation);
    size_t due = use->request ? 1 : 0;
    for (const char *c = use->request; c && *c; c++)
        due += *c == ' ';
    return words == due && (!use->told || use->told(r, word));
}

bool request_number(size_t *n, const char *word)
{
    char *end;
    uint64_t value = strtoull(word, &end, 10);
    *n = value;
    return isdigit((unsigned char)*word) && !*end && strlen(word) < 20 &&
           value <= MEMORY_ELEMENTS_MAX;
}

void request_write_rows(char to[REQUEST_TEXT], const struct wire_request *r)
{
    snprintf(to, REQUEST_TEXT, " %zu %zu", r->bins, r->stride);
}

bool request_read_rows(struct wire_request *r, char *const word[])
{
    return request_number(&r->bins, word[0]) && request_number(&r->stride, word[1]) &&
           r->bins > 0 && r->bins <= LAYOUT_ROWS_MAX && r->n % r->bins == 0 && r->stride > 0 &&
           r->bins % r->stride == 0;
}
