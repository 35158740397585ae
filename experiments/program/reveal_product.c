#include "experiments/program/reveal_product.h"

#include <stdio.h>
#include <string.h>

#include "experiments/operations/operation.h"
#include "experiments/reveal/product.h"
#include "experiments/reveal/report.h"
#include "experiments/subjects/subject.h"
#include "kernels/mma/mma.h"
#include "reports/text/near.h"

static const char *const of_products[] = {"shape", "chip", "promote"};

enum status reveal_no_product(const struct arguments *a, const struct method *m, struct problem *p)
{
    for (size_t i = 0; i < sizeof of_products / sizeof *of_products; i++)
        if (argument_value(a, of_products[i]))
            return problem(p, STATUS_USAGE,
                           "option --%s: found %s, a %s, expected a matrix product", of_products[i],
                           m->name, m->operation->name);
    return STATUS_OK;
}

/* --- what is asked for --- */

static enum status read_formats(struct probe_spec *s, const struct arguments *a, struct problem *p)
{
    enum format storage = FORMATS, accumulator = FORMATS;
    const char *of_storage = argument_value(a, "storage"),
               *of_accumulator = argument_value(a, "accumulator"),
               *output = argument_value(a, "output");
    enum status status = of_storage ? format_parse(&storage, "storage", of_storage, p) : STATUS_OK;
    if (status == STATUS_OK && of_accumulator)
        status = format_parse(&accumulator, "accumulator", of_accumulator, p);
    if (status != STATUS_OK)
        return status;
    if (output && strcmp(output, "storage") != 0 && strcmp(output, "accumulator") != 0)
        return near_unknown_option(p, "output", output, "accumulator or storage");
    struct format_pair pair = reveal_formats(s->method, s->device.kind, storage, accumulator);
    /* A chip has instructions for some of the formats alone. */
    const struct setting setting = {.chip = s->chip};
    bool has = setting_can(s->method, &setting, pair.storage, pair.accumulator);
    for (enum format x = 0; x < FORMATS && !has; x++)
        for (enum format y = 0; (int)y < ACCUMULATORS && !has; y++)
            if ((storage == FORMATS || storage == x) &&
                (accumulator == FORMATS || accumulator == y) &&
                method_supports(s->method, s->device.kind, x, y) &&
                setting_can(s->method, &setting, x, y)) {
                has = true;
                pair = (struct format_pair){x, y};
            }
    if (!has)
        return problem(p, STATUS_DEVICE, "reveal: %s: chip %s has no such instruction for %s in %s",
                       s->method->name, s->chip ? s->chip : MMA_CHIP,
                       format_facts[pair.storage].name, format_facts[pair.accumulator].name);
    s->storage = pair.storage;
    s->accumulator = pair.accumulator;
    s->output = output && strcmp(output, "storage") == 0 ? pair.storage : pair.accumulator;
    return s->output < (enum format)ACCUMULATORS
               ? STATUS_OK
               : problem(p, STATUS_USAGE,
                         "option --output: found storage, of %s, which holds no results",
                         format_facts[s->output].name);
}

static enum status read_spec(struct probe_spec *s, const struct arguments *a,
                             const struct method *m, struct problem *p)
{
    static const char *const others[] = {"n", "scan", "segment", "prefix"};
    const char *device = argument_value(a, "device"), *shape = argument_value(a, "shape"),
               *chip = argument_value(a, "chip");
    uint64_t threads, blocks, promote;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (argument_value(a, others[i]))
            return problem(p, STATUS_USAGE,
                           "option --%s: found %s, a matrix product, expected --shape MxNxK",
                           others[i], m->name);
    *s = (struct probe_spec){.method = m, .gemm = reveal_product_shape(m)};
    enum status status = device_parse(&s->device, device ? device : "auto", p);
    if (status == STATUS_OK && shape)
        status = shape_parse(&s->gemm, shape, p);
    if (status == STATUS_OK && chip)
        status = chip_parse(&s->chip, chip, p);
    if (status == STATUS_OK && chip && !m->of_chip)
        status = problem(p, STATUS_USAGE,
                         "option --chip: found %s, expected gemm/mma, gemm/wgmma or gemm/promoted",
                         m->name);
    if (status == STATUS_OK)
        status = argument_number(a, "promote", 0, 1, SHAPE_MOST, &promote, p);
    if (status == STATUS_OK && argument_value(a, "promote") && !m->promotes)
        status =
            problem(p, STATUS_USAGE, "option --promote: found %s, expected gemm/promoted", m->name);
    if (status == STATUS_OK)
        status = argument_number(a, "threads", 0, 1, THREADS_MAX, &threads, p);
    if (status == STATUS_OK)
        status = argument_number(a, "blocks", 0, 1, BLOCKS_MAX, &blocks, p);
    if (status == STATUS_OK)
        status = read_formats(s, a, p);
    if (status != STATUS_OK)
        return status;
    s->gemm.no_c |= m->no_c;
    s->promote = (size_t)promote;
    s->shape = (struct shape){(unsigned)threads, (unsigned)blocks};
    s->n = gemm_c_begins(&s->gemm);
    return STATUS_OK;
}

/* --- what is said --- */

enum status reveal_print_json(json_t *json, struct problem *p)
{
    int fault = json ? json_dumpf(json, stdout, JSON_COMPACT) : -1;
    json_decref(json);
    printf("\n");
    return fault ? problem(p, STATUS_DATA, "standard output: could not be written") : STATUS_OK;
}

static enum status print_one(const struct reveal_product *r, const struct arguments *a,
                             struct problem *p)
{
    char title[REVEAL_PRODUCT_TITLE];
    reveal_product_title(title, &r->of);
    if (argument_flag(a, "json"))
        return reveal_print_json(reveal_product_json(r), p);
    if (!argument_flag(a, "dot")) {
        reveal_product_print(stdout, r);
        return STATUS_OK;
    }
    if (r->found.tree.additions == 0)
        return problem(p, STATUS_FAILED, "reveal: %s: no tree to draw", title);
    sum_tree_dot(stdout, &r->found.tree, 0, title);
    return STATUS_OK;
}

/* Trees of the same products. */
static enum status print_beside(const struct reveal_product r[2], const struct arguments *a,
                                struct problem *p)
{
    const char *name[2] = {r[0].of.method->name, r[1].of.method->name};
    char text[3 * SUM_TREE_SET] = "";
    const struct sum_tree *x = &r[0].found.tree, *y = &r[1].found.tree;
    struct reveal_difference difference = {0};
    bool shown = reveal_matrix_held(&r[0].found) && reveal_matrix_held(&r[1].found) &&
                 x->additions > 0 && y->additions > 0 && x->leaves == y->leaves;
    enum status status = shown ? reveal_tree_difference(&difference, x, y, p) : STATUS_OK;
    if (status == STATUS_OK && shown && !difference.equal)
        status =
            reveal_difference_text(text, sizeof text, &difference, x, y, name[0], name[1], 0, p);
    if (status != STATUS_OK)
        return status;
    const char *orders = !shown             ? "not compared"
                         : difference.equal ? "one order"
                                            : "different orders";
    if (argument_flag(a, "json")) {
        status = reveal_print_json(json_pack("{so so ss ss?}", "method", reveal_product_json(&r[0]),
                                             "against", reveal_product_json(&r[1]), "orders",
                                             !shown             ? "not_shown"
                                             : difference.equal ? "equal"
                                                                : "different",
                                             "words", *text ? text : NULL),
                                   p);
    } else {
        for (int i = 0; i < 2; i++) {
            reveal_product_print(stdout, &r[i]);
            printf("\n");
        }
        printf("%s and %s: %s%s%s\n", name[0], name[1], orders, *text ? ": " : "", text);
    }
    if (status == STATUS_OK && !(shown && difference.equal))
        status = problem(p, STATUS_FAILED, "reveal: %s and %s: %s", name[0], name[1], orders);
    return status;
}

enum status reveal_products(const struct arguments *a, const struct method *m, struct problem *p)
{
    const char *against = argument_value(a, "against");
    const size_t count = against ? 2 : 1;
    const struct method *of[2] = {m, NULL};
    struct probe_spec spec[2];
    struct reveal_product r[2] = {0};
    enum status status =
        against ? subject_named(&of[1], "option --against", against, m->operation, p) : STATUS_OK;
    if (status == STATUS_OK && argument_flag(a, "dot") && (against || argument_flag(a, "json")))
        status = problem(p, STATUS_USAGE, "option --dot: found --%s with it, expected it alone",
                         against ? "against" : "json");
    if (status == STATUS_OK && against && of[1]->operation != m->operation)
        status = problem(p, STATUS_USAGE, "option --against: found %s, a %s, expected a %s",
                         of[1]->name, of[1]->operation->name, m->operation->name);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = read_spec(&spec[i], a, of[i], p);
    if (status == STATUS_OK && against) { /* one question to both */
        bool no_c = spec[0].gemm.no_c || spec[1].gemm.no_c;
        spec[1].gemm = spec[of[1]->foreign].gemm;
        spec[0].gemm = spec[1].gemm;
        spec[0].gemm.no_c = spec[1].gemm.no_c = no_c;
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = reveal_product_make(&r[i], &spec[i], 0, p);
    if (status == STATUS_OK)
        status = against ? print_beside(r, a, p) : print_one(&r[0], a, p);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = reveal_product_status(&r[i], p);
    for (size_t i = 0; i < count; i++)
        reveal_product_free(&r[i]);
    return status;
}
