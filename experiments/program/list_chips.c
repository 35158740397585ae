#include "experiments/program/list_chips.h"

#include <stdio.h>
#include <string.h>

#include "kernels/mma/mma.h"
#include "reports/text/table.h"

static const char *const roundings[] = {[MMA_NEAREST] = "nearest", [MMA_TOWARD_ZERO] = "zero"};
static const char *const orders[] = {
    [MMA_FORWARD] = "in order", [MMA_BACKWARDS] = "backwards", [MMA_PAIRS] = "in pairs"};
static const char *const places[] = {[MMA_C_FIRST] = "in the sum", [MMA_C_LAST] = "at the end"};

/* NULL for none. */
static json_t *number(int value, int none)
{
    return value == none ? json_null() : json_integer(value);
}

static json_t *instruction_json(const struct mma_instruction *i)
{
    const struct mma_rule *r = &i->rule;
    return json_pack("{ss so ss ss si so si ss ss ss so ss sI ss}", "unit", mma_units[i->unit],
                     "shape", json_sprintf("m%dn%dk%d", i->m, i->n, r->k), "operands",
                     mma_elements[r->element].name, "result", format_facts[r->result].name, "block",
                     r->block, "fraction_bits", number(r->fraction, MMA_EXACT), "kept_bits",
                     r->kept, "rounding", roundings[r->rounding], "order", orders[r->order], "c",
                     places[r->c], "least_exponent", number(r->least, MMA_NO_LEAST), "source",
                     mma_sources[i->source], "vectors", (json_int_t)i->held, "vectors_date",
                     i->date);
}

static json_t *chip_json(const char *chip)
{
    int held = 0;
    json_t *instructions = json_array();
    for (size_t i = 0; i < mma_instruction_count; i++)
        if (strcmp(mma_instructions[i].chip, chip) == 0) {
            json_array_append_new(instructions, instruction_json(&mma_instructions[i]));
            held += mma_instructions[i].held > 0;
        }
    size_t count = json_array_size(instructions);
    return json_pack(
        "{ss so so}", "name", chip, "summary",
        json_sprintf("%zu matrix instructions, %d held to recorded results", count, held),
        "instructions", instructions);
}

void list_chips(json_t *to)
{
    for (size_t i = 0; i < mma_instruction_count; i++)
        if (i == 0 || strcmp(mma_instructions[i - 1].chip, mma_instructions[i].chip) != 0)
            json_array_append_new(to, chip_json(mma_instructions[i].chip));
}

static const char *word(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static json_int_t count(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void row(struct table *t, const char *chip, const json_t *i)
{
    bool fused = !json_is_null(json_object_get(i, "fraction_bits"));
    table_cell(t, "%s", chip);
    table_cell(t, "%s", word(i, "unit"));
    table_cell(t, "%s", word(i, "shape"));
    table_cell(t, "%s", word(i, "operands"));
    table_cell(t, "%s", word(i, "result"));
    table_cell(t, "%" JSON_INTEGER_FORMAT, count(i, "block"));
    if (fused)
        table_cell(t, "%" JSON_INTEGER_FORMAT, count(i, "fraction_bits"));
    else
        table_cell(t, "exact");
    table_cell(t, "%" JSON_INTEGER_FORMAT " bits, %s", count(i, "kept_bits"), word(i, "rounding"));
    table_cell(t, "%s", word(i, "order"));
    table_cell(t, "%s", word(i, "c"));
    if (count(i, "vectors") > 0)
        table_cell(t, "%" JSON_INTEGER_FORMAT, count(i, "vectors"));
    else
        table_cell(t, "none");
}

void print_chips(const char *section, const json_t *chips)
{
    static const char *const heads[] = {"chip", "unit",       "shape",  "A, B", "C, D",   "K",
                                        "F",    "rounded to", "blocks", "C",    "vectors"};
    struct table t = {.align = "lllllrrlllr"};
    struct text text = {0};
    const json_t *chip, *instruction;
    size_t i, j, rows = 0, held = 0;
    for (i = 0; i < sizeof heads / sizeof *heads; i++)
        table_cell(&t, "%s", heads[i]);
    json_array_foreach (chips, i, chip) {
        json_array_foreach (json_object_get(chip, "instructions"), j, instruction) {
            row(&t, word(chip, "name"), instruction);
            rows++;
            held += count(instruction, "vectors") > 0;
        }
    }
    table_draw(&text, &t);
    printf("%s: what one matrix instruction computes\n\n%s\n", section,
           text_string(&text) ? text.data : "");
    printf(
        "K products and C are one sum: each term is cut to F bits behind the point of the largest\n"
        "exponent, they are added exactly, and the result is rounded. In pairs: the k with k mod 4 "
        "< 2\n"
        "are the first block, and C is added by an IEEE addition at the end.\n"
        "%zu of %zu rows give the bits of results that GPUs computed (\"vectors\" counts them), "
        "recorded\n"
        "by Khattak and Mikaitis (5000 a row) or by tests/gpu/hold_mma.cu (more). The others are "
        "published,\nnot held to hardware.\n",
        held, rows);
    text_free(&text);
    table_free(&t);
}
