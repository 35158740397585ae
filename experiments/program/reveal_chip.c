#include "experiments/program/reveal_chip.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "experiments/reveal/matrix.h"
#include "kernels/method/method.h"
#include "reports/text/near.h"
#include "reports/text/text.h"

static bool named(const struct mma_instruction *i, const char *operand)
{
    size_t length = strlen(i->chip);
    return strncmp(operand, i->chip, length) == 0 && operand[length] == '/' &&
           strcmp(operand + length + 1, mma_units[i->unit]) == 0;
}

bool reveal_names_chip(const char *operand)
{
    for (size_t i = 0; i < mma_instruction_count; i++)
        if (named(&mma_instructions[i], operand))
            return true;
    return false;
}

enum status reveal_near_chip(const char *operand, struct problem *p)
{
    char unit[64], name[sizeof unit];
    struct near chip = {.word = operand}, method = {.word = operand};
    for (size_t i = 0; i < mma_instruction_count; i++) {
        const struct mma_instruction *row = &mma_instructions[i];
        size_t before = chip.distance;
        bool none = !chip.found;
        snprintf(name, sizeof name, "%s/%s", row->chip, mma_units[row->unit]);
        near_try(&chip, name);
        if (none ? chip.found != NULL : chip.distance < before)
            memcpy(unit, name, sizeof unit);
    }
    for (size_t i = 0; i < method_count; i++)
        near_try(&method, method_registry[i]->name);
    if (!chip.found || (method.found && method.distance <= chip.distance))
        return STATUS_OK;
    return problem(p, STATUS_USAGE,
                   "reveal: found '%.200s': did you mean %s? (ulpscope list chips "
                   "has all)",
                   operand, unit);
}

static enum status model(void *context, size_t m, size_t n, size_t k, const void *a, const void *b,
                         const void *c, void *d, struct problem *p)
{
    (void)p;
    mma_product(context, m, n, k, a, b, c, d);
    return STATUS_OK;
}

/* The unit's row for the formats asked for; fp32 elements are tf32. Without formats, its first. */
static enum status find(const struct mma_instruction **found, const struct arguments *a,
                        const char *operand, struct problem *p)
{
    enum format storage = FORMATS, result = FORMATS;
    const char *s = argument_value(a, "storage"), *r = argument_value(a, "accumulator");
    enum status status = s ? format_parse(&storage, "storage", s, p) : STATUS_OK;
    struct text have = {0};
    if (status == STATUS_OK && r)
        status = format_parse(&result, "accumulator", r, p);
    *found = NULL;
    for (size_t i = 0; status == STATUS_OK && i < mma_instruction_count && !*found; i++) {
        const struct mma_instruction *row = &mma_instructions[i];
        const struct mma_element_facts *element = &mma_elements[row->rule.element];
        if (!named(row, operand))
            continue;
        if ((storage == FORMATS || element->stored == storage) &&
            (result == FORMATS || row->rule.result == result))
            *found = row;
        text_format(&have, "%s%s -> %s", have.length ? ", " : "", element->name,
                    format_facts[row->rule.result].name);
    }
    if (status == STATUS_OK && !*found)
        status = problem(p, STATUS_USAGE, "reveal: %s has no instruction for %s -> %s, expected %s",
                         operand, s ? s : "any", r ? r : "any",
                         text_string(&have) ? have.data : "another");
    text_free(&have);
    return status;
}

static json_t *report(const struct reveal_matrix *r, const struct mma_instruction *i, size_t k,
                      bool same)
{
    const struct mma_rule *rule = &r->rule;
    return json_pack("{ss ss ss ss sI si sb si sb si sb ss sb ss ss sI sI sI sb}", "chip", i->chip,
                     "unit", mma_units[i->unit], "operands", mma_elements[rule->element].name,
                     "result", format_facts[rule->result].name, "k", (json_int_t)k, "block",
                     rule->block, "block_known", r->block, "fraction_bits", rule->fraction,
                     "fraction_known", r->fraction, "kept_bits", rule->kept, "kept_known", r->kept,
                     "rounding", rule->rounding == MMA_NEAREST ? "nearest" : "zero",
                     "rounding_known", r->rounding, "order",
                     rule->order == MMA_PAIRS ? "in pairs" : "in order", "c",
                     rule->c == MMA_C_FIRST ? "in the sum" : "at the end", "questions",
                     (json_int_t)r->calls, "products_held", (json_int_t)r->held,
                     "products_differing", (json_int_t)r->differing, "as_listed", same);
}

enum status reveal_chip(const struct arguments *a, const char *operand, struct problem *p)
{
    const struct mma_instruction *row;
    uint64_t k = 0;
    static const char *const others[] = {"against", "threads", "blocks", "segment",
                                         "prefix",  "scan",    "output"};
    const char *device = argument_value(a, "device");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (argument_value(a, others[i]))
            return problem(p, STATUS_USAGE,
                           "option --%s: found %s, expected a method: a chip's model takes "
                           "--storage, --accumulator and --n",
                           others[i], operand);
    if (device && strcmp(device, "cpu") != 0 && strcmp(device, "auto") != 0)
        return problem(p, STATUS_USAGE, "option --device: found %s, expected cpu: %s is a model",
                       device, operand);
    if (argument_flag(a, "dot"))
        return problem(p, STATUS_USAGE, "option --dot: found %s, expected a method", operand);
    enum status status = find(&row, a, operand, p);
    if (status == STATUS_OK)
        status = argument_number(a, "n", 3 * (uint64_t)row->rule.k, 2, REVEAL_MATRIX_K, &k, p);
    if (status != STATUS_OK)
        return status;
    struct mma_rule rule = row->rule;
    struct reveal_matrix_subject s = {.element = rule.element,
                                      .result = rule.result,
                                      .m = 1,
                                      .n = 1,
                                      .k = (size_t)k,
                                      .product = model,
                                      .context = &rule};
    struct reveal_matrix r;
    status = reveal_matrix(&r, &s, 0, p);
    bool same = status == STATUS_OK && reveal_matrix_agrees(&r, &s, &row->rule);
    if (status == STATUS_OK && argument_flag(a, "json")) {
        json_t *json = report(&r, row, (size_t)k, same);
        json_dumpf(json, stdout, JSON_COMPACT);
        printf("\n");
        json_decref(json);
    } else if (status == STATUS_OK) {
        printf("%s, a model on the CPU\n", operand);
        reveal_matrix_print(stdout, &r, &s);
        printf("as listed (ulpscope list %s): %s\n", row->chip, same ? "yes" : "no");
    }
    if (status == STATUS_OK && !same)
        status = problem(p, STATUS_FAILED, "reveal: %s: the outputs do not show the listed rule",
                         operand);
    reveal_matrix_free(&r);
    return status;
}
