#include "experiments/reveal/product.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/operations/shape.h"
#include "experiments/system/clock.h"
#include "reports/text/text.h"

struct gemm_shape reveal_product_shape(const struct method *m)
{
    const size_t side = m->foreign ? 16 : 2;
    return (struct gemm_shape){.m = side, .n = side, .k = 256};
}

void reveal_product_title(char text[REVEAL_PRODUCT_TITLE], const struct probe_spec *s)
{
    char device[DEVICE_TEXT], shape[SHAPE_NAME], output[32] = "";
    device_name(s->device, device);
    shape_name(shape, &s->gemm);
    if (s->output != s->accumulator)
        snprintf(output, sizeof output, " to %s", format_facts[s->output].name);
    int used =
        snprintf(text, REVEAL_PRODUCT_TITLE, "%.200s on %s, %s/%s%s, %s", s->method->name, device,
                 format_facts[s->storage].name, format_facts[s->accumulator].name, output, shape);
    if (s->method->of_chip)
        used += snprintf(text + used, REVEAL_PRODUCT_TITLE - (size_t)used, ", %s",
                         s->chip ? s->chip : MMA_CHIP);
    if (s->method->promotes)
        used += snprintf(text + used, REVEAL_PRODUCT_TITLE - (size_t)used, ", promoted every %zu",
                         s->promote ? s->promote : GEMM_PROMOTE);
    struct shape launch = method_shape(s->method, s->device.kind, s->n, s->shape);
    if (launch.blocks && s->method->shape_order & SHAPE_BLOCKS)
        snprintf(text + used, REVEAL_PRODUCT_TITLE - (size_t)used, ", %u block%s", launch.blocks,
                 text_s(launch.blocks));
}

/* --- from questions to the subject --- */

struct asking {
    struct probe *probe;
    struct gemm_shape shape;
    struct array c;
    const char *name;
    bool progress; /* standard error is a terminal */
    uint64_t calls, begin_ns, drawn_ns;
};

/* Ten times a second, from the second second on. How many questions are to come is not known. */
static void draw_progress(struct asking *to)
{
    uint64_t now = clock_ns();
    to->calls++;
    if (!to->progress || now - to->begin_ns < 1000000000 || now - to->drawn_ns < 100000000)
        return;
    to->drawn_ns = now;
    fprintf(stderr, "\r\033[K%.60s: %llu questions, %.3g/s", to->name,
            (unsigned long long)to->calls, (double)to->calls * 1e9 / (double)(now - to->begin_ns));
    fflush(stderr);
}

static void copy_row(const struct array *to, size_t at, size_t next, const struct array *from,
                     size_t first, size_t count)
{
    const size_t width = (size_t)format_facts[to->format].bytes;
    if (next == 1)
        memcpy((char *)to->data + at * width, (const char *)from->data + first * width,
               count * width);
    for (size_t k = 0; next != 1 && k < count; k++)
        array_set_bits(to, at + k * next, array_bits(from, first + k));
}

static enum status product(void *context, size_t m, size_t n, size_t k, const void *a,
                           const void *b, const void *c, void *d, struct problem *p)
{
    struct asking *to = context;
    const struct gemm_shape *s = &to->shape;
    const struct array in = probe_input(to->probe), rows = {in.format, m * k, (void *)(uintptr_t)a},
                       columns = {in.format, n * k, (void *)(uintptr_t)b},
                       out = {to->c.format, m * n, d};
    for (size_t i = 0; i < m; i++)
        copy_row(&in, gemm_a_at(s, i, 0), s->a_column ? gemm_lda(s) : 1, &rows, i * k, k);
    for (size_t j = 0; j < n; j++)
        copy_row(&in, gemm_b_at(s, 0, j), s->b_column ? 1 : gemm_ldb(s), &columns, j * k, k);
    memcpy(to->c.data, c, array_bytes(to->c.format, m * n));
    draw_progress(to);
    return probe_run(to->probe, &out, p);
}

static enum status ask(struct reveal_matrix *found, struct reveal_matrix_subject *asked,
                       const struct probe_spec *spec, uint64_t seed, struct problem *p)
{
    struct probe_spec own = *spec;
    struct asking to = {.name = spec->method->name,
                        .shape = spec->gemm,
                        .progress = isatty(STDERR_FILENO),
                        .begin_ns = clock_ns()};
    size_t outputs = spec->gemm.m * spec->gemm.n;
    to.c = (struct array){spec->output, outputs, calloc(outputs + 1, sizeof(double))};
    *found = (struct reveal_matrix){0};
    if (!to.c.data)
        return problem(p, STATUS_MEMORY, "reveal: out of memory for %zu elements of C", outputs);
    own.c = to.c;
    own.bins = outputs;
    own.n = gemm_c_begins(&spec->gemm);
    enum status status = probe_open(&to.probe, &own, p);
    asked->element = mma_element_of(spec->storage);
    asked->result = spec->output;
    asked->m = spec->gemm.m;
    asked->n = spec->gemm.n;
    asked->k = spec->gemm.k;
    asked->product = product;
    asked->context = &to;
    asked->no_c = spec->gemm.no_c;
    asked->c_left_out = spec->gemm.no_c && !spec->method->no_c;
    if (status == STATUS_OK)
        status = reveal_matrix(found, asked, seed, p);
    asked->context = NULL;
    if (to.drawn_ns)
        fprintf(stderr, "\r\033[K");
    probe_close(to.probe);
    free(to.c.data);
    return status;
}

/* Half of k where twice as much is too much. */
static enum status ask_other(struct reveal_product *r, uint64_t seed, struct problem *p)
{
    struct probe_spec other = r->of;
    struct reveal_matrix_subject asked = {.tree_only = true};
    struct reveal_matrix found;
    const size_t most = format_facts[r->of.output].precision < 10
                            ? (size_t)1 << format_facts[r->of.output].precision
                            : REVEAL_MATRIX_K;
    other.gemm.k = 2 * r->of.gemm.k <= most ? 2 * r->of.gemm.k : r->of.gemm.k / 2;
    if (r->chains.count < 2 || reveal_matrix_one_chain(&r->found) || other.gemm.k < 2 ||
        r->found.verdict == REVEAL_MATRIX_NOT_TOLD)
        return STATUS_OK;
    enum status status = ask(&found, &asked, &other, seed, p);
    if (status == STATUS_OK && found.verdict == REVEAL_MATRIX_TREE) {
        r->other_k = other.gemm.k;
        status = matrix_chains_of(&r->other, &found.tree, other.gemm.k, p);
    }
    reveal_matrix_free(&found);
    return status;
}

/* --- rows of the table --- */

static const struct mma_instruction *model_of(const struct probe_spec *s)
{
    if (!s->method->of_chip || s->method->promotes)
        return NULL;
    return mma_find(s->chip ? s->chip : MMA_CHIP, s->method->unit, mma_element_of(s->storage),
                    s->accumulator);
}

enum status reveal_product_make(struct reveal_product *r, const struct probe_spec *spec,
                                uint64_t seed, struct problem *p)
{
    *r = (struct reveal_product){.of = *spec};
    enum status status = ask(&r->found, &r->asked, spec, seed, p);
    r->model = model_of(spec);
    r->listed = status == STATUS_OK && r->model &&
                reveal_matrix_agrees(&r->found, &r->asked, &r->model->rule);
    if (status == STATUS_OK && r->found.tree.additions > 0)
        status = matrix_chains_of(&r->chains, &r->found.tree, r->asked.k, p);
    if (status == STATUS_OK && r->found.tree.additions > 0)
        status = ask_other(r, seed, p);
    return status;
}

void reveal_product_free(struct reveal_product *r)
{
    reveal_matrix_free(&r->found);
}

enum status reveal_product_status(const struct reveal_product *r, struct problem *p)
{
    char title[REVEAL_PRODUCT_TITLE];
    reveal_product_title(title, &r->of);
    switch (r->found.verdict) {
    case REVEAL_MATRIX_OTHERWISE:
    case REVEAL_MATRIX_NO_TREE:
    case REVEAL_MATRIX_CHANGES:
    case REVEAL_MATRIX_PLACES:
    case REVEAL_MATRIX_NO_PRODUCT:
    case REVEAL_MATRIX_IRREGULAR:
    case REVEAL_MATRIX_NOT_TOLD:
    case REVEAL_MATRIX_DATA:
        return problem(p, STATUS_FAILED, "reveal: %s: %s%s%s", title,
                       reveal_matrix_verdict(&r->found), r->found.words[0] ? ": " : "",
                       r->found.words);
    case REVEAL_MATRIX_RULE:
    case REVEAL_MATRIX_TREE:
    case REVEAL_MATRIX_EXACT:
    case REVEAL_MATRIX_ADDS:
        break;
    }
    if (r->model && !r->listed)
        return problem(p, STATUS_FAILED,
                       "reveal: %s: the outputs do not show the rule that is listed", title);
    return STATUS_OK;
}
