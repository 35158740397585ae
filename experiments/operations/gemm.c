/* Matrix products: their shapes, and the format of C and D. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/operations/gemm_join.h"
#include "experiments/operations/operation.h"
#include "experiments/operations/quantise.h"
#include "kernels/gemm/elements.h"
#include "kernels/mma/mma.h"

static void columns(struct setting_columns *to, const struct setting *s)
{
    shape_name(to->number[0], &s->shape);
    snprintf(to->number[1], sizeof to->number[1], "%zu", s->bins);
    to->column[CASE_KEYS] = to->number[0];
    to->column[CASE_BINS] = to->number[1];
    if (s->chip)
        to->column[CASE_CHIP] = s->chip;
    if (s->promote) {
        snprintf(to->number[2], sizeof to->number[2], "%zu", s->promote);
        to->column[CASE_PROMOTE] = to->number[2];
    }
    if (s->heuristic.has_workspace) {
        snprintf(to->number[3], sizeof to->number[3], "%zu", s->heuristic.workspace);
        to->column[CASE_WORKSPACE] = to->number[3];
    }
    if (s->heuristic.has_algorithm) {
        snprintf(to->number[4], sizeof to->number[4], "%zu", s->heuristic.algorithm);
        to->column[CASE_ALGORITHM] = to->number[4];
    }
}

static size_t words(struct setting_word *word, const struct setting *s)
{
    *word = (struct setting_word){.option = SETTING_SHAPE};
    shape_name(word->made, &s->shape);
    word->text = word->asked = word->made;
    size_t count = 1;
    if (s->chip)
        word[count++] = (struct setting_word){SETTING_CHIP, s->chip, s->chip, 0, ""};
    if (s->promote)
        word[count++] = (struct setting_word){SETTING_PROMOTE, NULL, NULL, s->promote, ""};
    if (s->heuristic.has_workspace)
        word[count++] =
            (struct setting_word){SETTING_WORKSPACE, NULL, NULL, s->heuristic.workspace, ""};
    if (s->heuristic.has_algorithm)
        word[count++] =
            (struct setting_word){SETTING_ALGORITHM, NULL, NULL, s->heuristic.algorithm, ""};
    return count;
}

static void says(struct text *to, const struct setting *s)
{
    char text[SHAPE_NAME];
    shape_name(text, &s->shape);
    text_add(to, text);
    if (s->chip)
        text_format(to, ", %s", s->chip);
    if (s->promote)
        text_format(to, ", promoted every %zu", s->promote);
    heuristic_says(to, &s->heuristic);
}

void heuristic_says(struct text *to, const struct heuristic *h)
{
    if (h->has_workspace)
        text_format(to, ", workspace of %zu bytes", h->workspace);
    if (h->has_algorithm)
        text_format(to, ", algorithm %zu", h->algorithm);
}

static void note(char note[SETTING_NOTE], const struct method *m, const struct setting *s)
{
    char shape[SHAPE_NAME], every[32] = "", workspace[32] = "", algorithm[32] = "";
    (void)m;
    shape_name(shape, &s->shape);
    if (s->promote)
        snprintf(every, sizeof every, " every %zu", s->promote);
    if (s->heuristic.has_workspace)
        snprintf(workspace, sizeof workspace, ", %zu bytes", s->heuristic.workspace);
    if (s->heuristic.has_algorithm)
        snprintf(algorithm, sizeof algorithm, ", algorithm %zu", s->heuristic.algorithm);
    snprintf(note, SETTING_NOTE, "%.80s%s%s%s%s%s", shape, s->chip ? ", " : "",
             s->chip ? s->chip : "", every, workspace, algorithm);
}

static enum status visit_outputs(const struct setting_asked *asked, struct setting s,
                                 setting_visit *visit, void *context, struct problem *p)
{
    const struct setting_axes *axes = asked->axes;
    size_t outputs = asked->accumulator == asked->storage || !axes->outputs ? 1 : axes->outputs;
    enum status status = STATUS_OK;
    s.bins = s.shape.m * s.shape.n;
    for (size_t k = 0; status == STATUS_OK && k < outputs; k++) {
        bool storage = axes->outputs && axes->output[k] == OUTPUT_STORAGE;
        s.output = storage ? asked->storage : asked->accumulator;
        status = visit(context, &s, p);
    }
    return status;
}

/* Shapes of n elements; where there are none, those that n has room for. */
static enum status each(const struct setting_asked *asked, struct setting s, setting_visit *visit,
                        void *context, struct problem *p)
{
    const struct setting_axes *axes = asked->axes;
    enum status status = STATUS_OK;
    char text[SHAPE_NAME];
    bool exactly = false, any = false;
    if (axes->shapes == 0) {
        s.shape = shape_fitting(asked->n, 1, axes->no_c);
        return visit_outputs(asked, s, visit, context, p);
    }
    for (size_t i = 0; i < axes->shapes; i++)
        exactly |= gemm_elements(&axes->shape[i]) == asked->n;
    for (size_t i = 0; i < axes->shapes && status == STATUS_OK; i++) {
        s.shape = axes->shape[i];
        if (exactly ? gemm_elements(&s.shape) != asked->n : gemm_c_begins(&s.shape) > asked->n)
            continue;
        s.shape.no_c |= axes->no_c;
        any = true;
        status = visit_outputs(asked, s, visit, context, p);
    }
    if (any)
        return status;
    shape_name(text, &axes->shape[0]);
    return problem(p, STATUS_USAGE,
                   "option --shape: found %s, of %zu elements (%zu without C), with n = %zu: "
                   "expected a --shape MxNxK of as many, no --n, or, where --data is a matrix, "
                   "a second file",
                   text, gemm_elements(&axes->shape[0]), gemm_c_begins(&axes->shape[0]), asked->n);
}

/* Visits each limit of a library's workspace, and each place among its heuristic's algorithms. */
static enum status each_heuristic(const struct setting_asked *asked, struct setting s,
                                  setting_visit *visit, void *context, struct problem *p)
{
    const struct numbers *limits = &asked->axes->workspace, *places = &asked->axes->algorithm;
    const struct method *m = asked->method;
    const size_t workspaces = setting_read(m, SETTING_WORKSPACE) ? limits->count : 0,
                 algorithms = setting_read(m, SETTING_ALGORITHM) ? places->count : 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (workspaces ? workspaces : 1); i++)
        for (size_t k = 0; status == STATUS_OK && k < (algorithms ? algorithms : 1); k++) {
            s.heuristic = (struct heuristic){0};
            if (workspaces)
                heuristic_workspace(&s.heuristic, (size_t)limits->item[i]);
            if (algorithms)
                heuristic_algorithm(&s.heuristic, (size_t)places->item[k]);
            status = visit(context, &s, p);
        }
    return status;
}

/* Visits each chip of models of instructions, and each interval of models that promote sums. */
static enum status each_own(const struct setting_asked *asked, struct setting s,
                            setting_visit *visit, void *context, struct problem *p)
{
    const struct setting_axes *axes = asked->axes;
    bool chips = asked->method->of_chip, promotes = asked->method->promotes;
    size_t every = promotes && axes->promote.count ? axes->promote.count : 1;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < (chips && axes->chips ? axes->chips : 1); i++)
        for (size_t k = 0; status == STATUS_OK && k < every; k++) {
            s.chip = !chips ? NULL : axes->chips ? axes->chip[i] : mma_chip_named(MMA_CHIP);
            s.promote = !promotes             ? 0
                        : axes->promote.count ? (size_t)axes->promote.item[k]
                                              : GEMM_PROMOTE;
            status = each_heuristic(asked, s, visit, context, p);
        }
    return status;
}

/* A and B of other numbers than those that are stored, in a copy of the array. */
static void change(struct setting_operands *to, const struct array *from, float *scales, void *copy)
{
    const struct array in = to->of.in, changed = {in.format, in.n, copy};
    memcpy(copy, in.data, array_bytes(in.format, in.n));
    quantise(&changed, from, &to->of.gemm, scales);
    to->of.scales = scales;
    to->of.in.data = copy;
    to->copied = true;
}

/* C is what stands behind B, rounded to the results' format; nothing there, or none: zeros. */
static enum status make(struct setting_operands *to, const struct setting *s, uint64_t seed,
                        struct problem *p)
{
    size_t begins = gemm_c_begins(&s->shape), outputs = s->shape.m * s->shape.n;
    char text[SHAPE_NAME];
    (void)seed;
    to->of.gemm = s->shape;
    to->of.scales = NULL;
    to->of.bins = outputs;
    if (begins > to->of.in.n) {
        shape_name(text, &s->shape);
        return problem(p, STATUS_USAGE,
                       "option --shape: found %s, of %zu elements without C, with n = %zu", text,
                       begins, to->of.in.n);
    }
    const bool by_amax = quantise_by_amax(&s->shape);
    const struct array in = to->of.in, from = by_amax && to->wide.data ? to->wide : in;
    const size_t copied = quantise_changes(&s->shape) ? array_bytes(in.format, in.n) : 0;
    const size_t scales =
        by_amax ? gemm_scales_count(&s->shape, 0) + gemm_scales_count(&s->shape, 1) : 0;
    /* C, then the copy of A and B, as long as whole doubles are, then scales. */
    const size_t begin = (outputs + 1) * sizeof(double);
    const size_t end = begin + (copied + sizeof(double) - 1) / sizeof(double) * sizeof(double);
    to->c = calloc(1, end + scales * sizeof(float));
    if (!to->c)
        return problem(p, STATUS_MEMORY, "out of memory for %zu elements of C", outputs);
    to->of.c = (struct array){s->output, outputs, to->c};
    for (size_t i = 0; i < outputs && !s->shape.no_c && to->of.in.n - begins >= outputs; i++)
        array_encode(&to->of.c, i, 1, &(double){array_get(&from, begins + i)});
    if (quantise_changes(&s->shape))
        change(to, &from, (float *)((char *)to->c + end), (char *)to->c + begin);
    return STATUS_OK;
}

static void vary(struct setting *s, const struct setting_axes *axes, size_t n, size_t u)
{
    s->shape = axes->shapes ? axes->shape[u % axes->shapes] : shape_fitting(n, u, axes->no_c);
    for (size_t i = 0; i < axes->shapes; i++)
        if (gemm_elements(&axes->shape[i]) == n)
            s->shape = axes->shape[i];
    s->shape.no_c |= axes->no_c;
    s->bins = s->shape.m * s->shape.n;
    s->chip = axes->chips ? axes->chip[u % axes->chips] : mma_chip_named(MMA_CHIP);
    s->promote =
        axes->promote.count ? (size_t)axes->promote.item[u % axes->promote.count] : GEMM_PROMOTE;
}

static void sample(struct setting *s, size_t n)
{
    s->shape = shape_fitting(n, 1, s->shape.no_c);
    s->bins = s->shape.m * s->shape.n;
}

static struct matrices matrices(const struct operands *of)
{
    return gemm_matrices(of);
}

/* --- what costs less, where nothing is timed --- */

/* Has the chip a larger unit than this for these formats? */
static bool has_larger(const char *chip, enum mma_unit unit, enum format storage,
                       enum format accumulator)
{
    for (enum mma_unit u = unit + 1; u < MMA_UNITS; u++)
        if (mma_find(chip, u, mma_element_of(storage), accumulator))
            return true;
    return false;
}

static double cost(const struct method *m, const struct setting *s, enum format storage,
                   enum format accumulator)
{
    enum { LARGEST, PROMOTED, SMALLER, OUTSIDE };
    if (!m->of_chip)
        return OUTSIDE;
    if (m->promotes)
        return PROMOTED + 1 / (1 + (double)s->promote);
    return has_larger(s->chip ? s->chip : MMA_CHIP, m->unit, storage, accumulator) ? SMALLER
                                                                                   : LARGEST;
}

/* --- terms in another order: columns of A and rows of B, alike --- */

static size_t terms(const struct operands *of)
{
    return of->gemm.k;
}

static void reorder(const struct array *to, const struct array *from, const struct operands *of,
                    const uint32_t *order)
{
    const struct gemm_shape *s = &of->gemm;
    for (size_t k = 0; k < s->k; k++) {
        for (size_t i = 0; i < s->m; i++)
            array_set_bits(to, gemm_a_at(s, i, k), array_bits(from, gemm_a_at(s, i, order[k])));
        for (size_t j = 0; j < s->n; j++)
            array_set_bits(to, gemm_b_at(s, k, j), array_bits(from, gemm_b_at(s, order[k], j)));
    }
}

/* --- an element of D elsewhere --- */

static struct batch_place batch(const struct setting *s, size_t n)
{
    (void)n;
    return (struct batch_place){.side = {s->shape.m, s->shape.n}, .terms = s->shape.k};
}

static bool in_batch(struct surrounding *to, const struct setting *s, const struct batch_place *at)
{
    enum { LAYOUTS = 4 };
    struct gemm_shape *is = &to->setting.shape;
    if (at->layout >= LAYOUTS)
        return false;
    if (at->layout != BATCH_AS_IS)
        *is = (struct gemm_shape){.a_column = at->layout & 1,
                                  .b_column = at->layout & 2,
                                  .pad = at->pad,
                                  .no_c = s->shape.no_c};
    is->m = at->side[0];
    is->n = at->side[1];
    is->k = at->terms;
    to->setting.bins = is->m * is->n;
    to->n = gemm_elements(is);
    return true;
}

/* Rows of the case in turn, beside its own columns. */
static void fill_turns(const struct array *to, const struct gemm_shape *as,
                       const struct batch_place *at, const struct array *from,
                       const struct gemm_shape *was)
{
    const size_t begins = gemm_c_begins(was);
    const bool c = from->n - begins >= was->m * was->n;
    for (size_t i = 0; i < as->m; i++) {
        const size_t row = at->of[0] + i % at->turns;
        const bool again = i >= at->turns && !as->a_column;
        if (again)
            setting_copy(to, gemm_a_at(as, i, 0), gemm_a_at(as, i - at->turns, 0), as->k);
        for (size_t k = 0; !again && k < as->k; k++)
            array_set_bits(to, gemm_a_at(as, i, k), array_bits(from, gemm_a_at(was, row, k)));
        for (size_t j = 0; j < as->n && !as->no_c; j++)
            array_set_bits(to, gemm_c_begins(as) + i * as->n + j,
                           c ? array_bits(from, begins + row * was->n + j) : 0);
    }
    for (size_t j = 0; j < as->n; j++)
        for (size_t k = 0; k < as->k; k++)
            array_set_bits(to, gemm_b_at(as, k, j), array_bits(from, gemm_b_at(was, k, j)));
}

static void fill_batch(const struct array *to, const struct surrounding *is,
                       const struct batch_place *at, const struct array *from,
                       const struct setting *s)
{
    const struct gemm_shape *was = &s->shape, *as = &is->setting.shape;
    const size_t begins = gemm_c_begins(was), first = at->alike ? 0 : at->at[0] * as->n + at->at[1],
                 end = at->alike ? as->m * as->n : first + 1;
    const size_t item = at->of[0] * was->n + at->of[1];
    const uint64_t c = from->n - begins >= was->m * was->n ? array_bits(from, begins + item) : 0;
    if (at->turns > 0) {
        fill_turns(to, as, at, from, was);
        return;
    }
    for (size_t i = at->alike ? 0 : at->at[0]; i < (at->alike ? as->m : at->at[0] + 1); i++)
        for (size_t k = 0; k < as->k; k++)
            array_set_bits(to, gemm_a_at(as, i, k), array_bits(from, gemm_a_at(was, at->of[0], k)));
    for (size_t j = at->alike ? 0 : at->at[1]; j < (at->alike ? as->n : at->at[1] + 1); j++)
        for (size_t k = 0; k < as->k; k++)
            array_set_bits(to, gemm_b_at(as, k, j), array_bits(from, gemm_b_at(was, k, at->of[1])));
    for (size_t i = first; i < end && !as->no_c; i++)
        array_set_bits(to, gemm_c_begins(as) + i, c);
}

/* --- the wire --- */

static void tell(char to[REQUEST_TEXT], const struct wire_request *r)
{
    const struct gemm_shape *s = &r->gemm;
    snprintf(to, REQUEST_TEXT, " %s %zu %zu %zu %c%c %zu %zu %zu", format_facts[r->output].name,
             s->m, s->n, s->k, s->a_column ? 't' : 'n', s->b_column ? 't' : 'n', gemm_lda(s),
             gemm_ldb(s), request_behind(r));
}

/* Leading dimensions are as long as need be, or both are by as many elements longer. */
static bool told(struct wire_request *r, char *const word[])
{
    struct gemm_shape *s = &r->gemm;
    size_t lda, ldb, c;
    r->output = format_named(word[0]);
    if (r->output >= FORMATS || !request_number(&s->m, word[1]) ||
        !request_number(&s->n, word[2]) || !request_number(&s->k, word[3]) ||
        strlen(word[4]) != 2 || strspn(word[4], "nt") != 2 || !request_number(&lda, word[5]) ||
        !request_number(&ldb, word[6]) || !request_number(&c, word[7]) || s->m > SHAPE_MOST ||
        s->n > SHAPE_MOST || s->k > SHAPE_MOST)
        return false;
    s->a_column = word[4][0] == 't';
    s->b_column = word[4][1] == 't';
    s->pad = lda >= gemm_lda(s) ? lda - gemm_lda(s) : SHAPE_MOST + 1;
    r->bins = s->m * s->n;
    s->no_c = c == 0;
    return s->pad <= SHAPE_MOST && gemm_ldb(s) == ldb && (c == 0 || c == r->bins) &&
           gemm_c_begins(s) == r->n;
}

const struct operation_use use_gemm = {
    .operation = &operation_gemm,
    .columns_of = COLUMNS_OF_PRODUCTS,
    .reads = 1 << SETTING_SHAPE | 1 << SETTING_OUTPUT | 1 << SETTING_CHIP | 1 << SETTING_PROMOTE |
             1 << SETTING_WORKSPACE | 1 << SETTING_ALGORITHM | 1 << SETTING_SCALES,
    .columns = columns,
    .words = words,
    .says = says,
    .note = note,
    .each = each,
    .each_own = each_own,
    .make = make,
    .vary = vary,
    .sample = sample,
    .batches = true,
    .not_recorded = true,
    .matrices = matrices,
    .join = gemm_join,
    .cost = cost,
    .costs =
        "an instruction of the chip's largest unit, the same promoted, less often before more "
        "often, an instruction of a smaller unit, additions outside of matrix instructions; of "
        "these the narrower accumulator first",
    .terms = terms,
    .reorder = reorder,
    .sides = 2,
    .batch = batch,
    .in_batch = in_batch,
    .fill_batch = fill_batch,
    .request = "OUTPUT ROWS COLUMNS K LAYOUT LDA LDB C",
    .tell = tell,
    .told = told,
};
