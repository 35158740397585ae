/* Statistics of rows: candidates on the rows' elements in other orders, on drawn ones and on
 * adversarial ones; each result is held to its exact value. */
#include <math.h>
#include <stdlib.h>

#include "experiments/studies/recommend/outputs.h"

/* --- rows in other orders --- */

/* The elements of each row. */
static enum status make_rows(struct by_bin *rows, const struct recommend_report *r,
                             const struct array *from, struct problem *p)
{
    const struct operation *o = experiment_only(recommend_use_of(r)->experiment);
    struct setting_operands made = {.of.in = *from};
    uint32_t *place = NULL;
    enum status status = setting_make(&made, o, &r->setting, 1, p);
    if (status != STATUS_OK)
        return status;
    status = setting_places(&place, o, &made, p);
    if (status == STATUS_OK)
        status = by_bin_make(rows, place, from->n, made.of.bins, p);
    free(place);
    setting_free(&made);
    return status;
}

/* A row by itself, as the array of a sum; drawn with a seed of its own. */
static enum status fill_row(const struct array *to, const struct array *from,
                            const struct by_bin *rows, size_t row, enum recommend_kind kind,
                            uint64_t seed, struct problem *p)
{
    size_t n = by_bin_count(rows, row), bytes = array_bytes(from->format, n);
    const size_t *element = &rows->element[rows->start[row]];
    char *room = malloc(2 * bytes + 1);
    if (!room)
        return problem(p, STATUS_MEMORY, "recommend: out of memory for a row of %zu elements", n);
    struct array x = {from->format, n, room}, y = {from->format, n, room + bytes};
    for (size_t k = 0; k < n; k++)
        array_set_bits(&x, k, array_bits(from, element[k]));
    enum status status = recommend_arrange(&y, &x, kind, seed + row, p);
    for (size_t k = 0; status == STATUS_OK && k < n; k++)
        array_set_bits(to, element[k], array_bits(&y, k));
    free(room);
    return status;
}

static enum status fill(void *context, const struct array *to, const struct array *from,
                        enum recommend_kind kind, uint64_t seed, struct problem *p)
{
    struct by_bin rows;
    enum status status = make_rows(&rows, context, from, p);
    if (status != STATUS_OK)
        return status;
    for (size_t row = 0; status == STATUS_OK && row < rows.bins; row++)
        status = fill_row(to, from, &rows, row, kind, seed, p);
    by_bin_free(&rows);
    return status;
}

static enum status sample(const struct recommend_report *r, struct recommend_sample *s,
                          enum recommend_kind kind, uint64_t draw, size_t n, struct device device,
                          struct problem *p)
{
    return recommend_sample_outputs(r, s, kind, draw, n, device, fill, p);
}

/* --- exact values --- */

enum status recommend_row_largest(struct recommend_product *product, struct problem *p)
{
    const struct row_values *v = &product->shared.values;
    const struct by_bin *rows = &product->shared.by_bin;
    if (!v->place)
        return STATUS_OK;
    product->largest = calloc(rows->bins + 1, sizeof *product->largest);
    if (!product->largest)
        return problem(p, STATUS_MEMORY, "recommend: out of memory for %zu rows", rows->bins);
    for (size_t row = 0; row < rows->bins; row++)
        for (size_t k = 0; k < by_bin_count(rows, row); k++) {
            const size_t output = rows->element[rows->start[row] + k], most = product->largest[row];
            if (k == 0 || mpfr_nan_p(v->value[most].sum) ||
                mpfr_cmpabs(v->value[output].sum, v->value[most].sum) > 0)
                product->largest[row] = output;
        }
    return STATUS_OK;
}

void recommend_row_value(struct recommend_product *product, size_t output, mpfr_t exact,
                         mpfr_t magnitude)
{
    const struct row_values *v = &product->shared.values;
    const struct reference *r = &v->value[output];
    size_t row = row_values_row(v, output);
    mpfr_set_prec(exact, mpfr_get_prec(r->sum));
    mpfr_set(exact, r->sum, MPFR_RNDN);
    mpfr_set_prec(magnitude, 64);
    mpfr_abs(magnitude, v->place ? r->sum : r->sum_abs, MPFR_RNDD);
    if (v->place && mpfr_cmpabs(v->value[product->largest[row]].sum, magnitude) > 0)
        mpfr_abs(magnitude, v->value[product->largest[row]].sum, MPFR_RNDD);
}

void recommend_row_place(const struct recommend_report *r, struct recommend_outcome *o,
                         const struct recommend_product *product)
{
    const struct row_values *v = &product->shared.values;
    const struct by_bin *rows = &product->shared.by_bin;
    size_t row = row_values_row(v, o->output), k = 0;
    while (v->place && rows->element[rows->start[row] + k] != o->output)
        k++;
    o->place = (struct recommend_place){v->place ? 2 : 1, r->row ? r->row[row] : row, k};
}

/* --- what is known of the data --- */

/* The bound on the result where it is largest, in the quantity, rounded up. */
static struct figure bound_of(const struct recommend_report *r, const struct recommend_candidate *c,
                              const struct recommend_sample *s)
{
    const struct recommend_product *product = s->product;
    size_t length = by_bin_count(&product->shared.by_bin, 0);
    struct shape shape = method_shape(c->method, r->device.kind, s->array.n, c->asked);
    struct theorem theorem =
        method_theorem(c->method, r->device.kind, c->accumulator, length, shape);
    struct figure most = {true, 0};
    mpfr_t bound;
    theorem.memo = theorem_memo_new();
    mpfr_init2(bound, 64);
    for (size_t i = 0; i < product->outputs && most.known; i++) {
        most.known = theorem_bound(bound, &theorem, &product->shared.values.value[i],
                                   s->array.format, c->accumulator);
        if (most.known && !mpfr_zero_p(bound))
            mpfr_div(bound, bound, product->unit[i], MPFR_RNDU);
        if (most.known)
            most.value = fmax(most.value, mpfr_get_d(bound, MPFR_RNDU));
    }
    mpfr_clear(bound);
    theorem_memo_free(theorem.memo);
    return most;
}

static enum status begin(struct recommend_report *r, const struct recommend_sample *s,
                         struct problem *p)
{
    size_t odd = 0;
    struct recommend_outcome first = {0};
    for (size_t i = 0; i < s->product->outputs; i++)
        if (!mpfr_number_p(s->product->exact[i]) && odd++ == 0) {
            first.output = i;
            recommend_row_place(r, &first, s->product);
        }
    if (odd > 0)
        return problem(p, STATUS_DATA,
                       "%s: found %zu results that are no numbers, the first of row %zu, expected "
                       "rows whose exact results are finite",
                       r->source->name, odd, first.place.row);
    for (size_t i = 0; i < r->count; i++)
        r->candidate[i].bound = bound_of(r, &r->candidate[i], s);
    return STATUS_OK;
}

#define ROWS(its_operation, its_quantity, beside)                                                  \
    {                                                                                              \
        .experiment =                                                                              \
            &(const struct experiment){                                                            \
                .name = "recommend",                                                               \
                .operation = {&operation_##its_operation},                                         \
                .axes = {[DEVICE_CPU] = {.formats = "all", .n = "2^12", .runs = 1},                \
                         [DEVICE_CUDA] = {.formats = "all", .n = "2^12", .runs = 1}},              \
            },                                                                                     \
        .sweep = "rowstats", .unit = {"|exact result|", beside, "ulp"},                            \
        .exact = "the exact result", .stands_in = true, .quantity = its_quantity,                  \
        .sample = sample, .run = recommend_run_outputs, .begin = begin,                            \
        .part = recommend_part_of_rows                                                             \
    }

const struct recommend_use recommend_rows_of[RECOMMEND_ROWS] = {
    ROWS(rowmean, RECOMMEND_REL, "mean|x|"),
    ROWS(rowvariance, RECOMMEND_REL, "mean x^2"),
    ROWS(sumexp, RECOMMEND_REL, "|exact result|"),
    ROWS(logsumexp, RECOMMEND_REL, "(|max x| + log of the sum)"),
    ROWS(softmax, RECOMMEND_BACKWARD, "max|result| of its row"),
    ROWS(rmsnorm, RECOMMEND_BACKWARD, "max|result| of its row"),
    ROWS(layernorm, RECOMMEND_BACKWARD, "max|result| of its row"),
};
