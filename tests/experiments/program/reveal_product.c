/* ulpscope reveal of matrix products: what models, planted objects, programs and NumPy compute. */
#include <jansson.h>

#include "kernels/mma/mma.h"
#include "tests/support/program.h"

#define OBJECT(name) PLANTED_PRODUCTS ":" name

/* The answer as JSON; the caller releases it. */
static json_t *answer(const char *arguments, int due)
{
    char line[1200];
    json_error_t error;
    snprintf(line, sizeof line, "%s --device cpu --json", arguments);
    int status = run_program("reveal", line);
    char *out = content("out"), *err = content("err");
    json_t *json = json_loads(out, 0, &error);
    cr_expect_eq(status, due, "%s: status %d, %s", arguments, status, err);
    cr_assert(json, "%s: %s: %s%s", arguments, error.text, out, err);
    free(out);
    free(err);
    return json;
}

static const char *word(const json_t *json, const char *name)
{
    const char *text = json_string_value(json_object_get(json, name));
    return text ? text : "";
}

static json_int_t number(const json_t *json, const char *name)
{
    const json_t *value = json_object_get(json, name);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static bool agrees_with(const json_t *json, const char *name)
{
    const json_t *rows = json_object_get(json, "agrees_with"), *row;
    size_t i;
    json_array_foreach (rows, i, row)
        if (strcmp(json_string_value(row), name) == 0)
            return true;
    return false;
}

/* The method that has a row: that of its unit, or the promoted one, whose first chain is longer
 * than k. */
static void arguments_of(char text[200], const struct mma_instruction *row)
{
    static const char *const method[] = {[MMA_SYNC] = "gemm/mma --shape 1x1x96",
                                         [MMA_WGMMA] = "gemm/wgmma --shape 1x1x96",
                                         [MMA_TCGEN05] =
                                             "gemm/promoted --promote 96 --shape 1x1x96"};
    snprintf(text, 200, "%s --chip %s --storage %s --accumulator %s", method[row->unit], row->chip,
             format_facts[mma_elements[row->rule.element].stored].name,
             format_facts[row->rule.result].name);
}

/* Every row of the table, from the outputs of the methods that are its models. */
Test(verb_reveal_product, recovers_every_row, .init = make_folder, .fini = remove_folder)
{
    size_t held = 0;
    for (size_t i = 0; i < mma_instruction_count; i++) {
        const struct mma_instruction *row = &mma_instructions[i];
        const struct mma_rule *due = &row->rule;
        char arguments[200], name[MMA_NAME];
        if (row->unit == MMA_TCGEN05 && due->result != FP32) /* no method takes it */
            continue;
        arguments_of(arguments, row);
        mma_name(name, row);
        json_t *json = answer(arguments, 0);
        cr_expect(agrees_with(json, name), "%s: %s", arguments, word(json, "verdict"));
        cr_expect_eq(number(json, "products_held"), 500, "%s", arguments);
        cr_expect_eq(number(json, "products_differing"), 0, "%s", arguments);
        if (due->fraction != MMA_EXACT) {
            cr_expect_eq(number(json, "block"), due->block, "%s", arguments);
            cr_expect_eq(number(json, "fraction_bits"), due->fraction, "%s", arguments);
            cr_expect_eq(number(json, "kept_bits"), due->kept, "%s", arguments);
            cr_expect_str_eq(word(json, "rounding"),
                             due->rounding == MMA_NEAREST ? "nearest" : "zero", "%s", arguments);
        }
        /* And no row with another rule. */
        for (size_t k = 0; k < mma_instruction_count; k++) {
            const struct mma_rule *other = &mma_instructions[k].rule;
            bool alike = other->element == due->element && other->result == due->result &&
                         other->block == due->block && other->fraction == due->fraction &&
                         other->kept == due->kept && other->order == due->order;
            mma_name(name, &mma_instructions[k]);
            cr_expect_eq(agrees_with(json, name), alike, "%s: %s", arguments, name);
        }
        json_decref(json);
        held++;
    }
    cr_expect_geq(held, 60);
}

/* Formats that D is rounded to in the end are told from what sums are kept in. */
Test(verb_reveal_product, narrow_results, .init = make_folder, .fini = remove_folder)
{
    json_t *json = answer("gemm/mma --storage bf16 --accumulator fp32 --output storage", 0);
    cr_expect(agrees_with(json, "h100 mma bf16 fp32") &&
              json_is_true(json_object_get(json, "narrowed")) && number(json, "kept_bits") == 23);
    json_decref(json);
    json = answer("gemm/tiled --storage fp16 --accumulator fp32 --output storage", 0);
    cr_expect_str_eq(word(json, "added_in"), "fp32");
    cr_expect_str_eq(word(json, "products"), "exact");
    json_decref(json);
    json = answer("gemm/promoted --promote 64 --storage e4m3 --accumulator fp32", 0);
    cr_expect(agrees_with(json, "h100 wgmma e4m3 fp32") && number(json, "chains") == 4 &&
              number(json, "chain_length") == 64 && number(json, "fraction_bits") == 13);
    cr_expect_eq(number(json_object_get(json, "other_chains"), "chains"), 8);
    json_decref(json);
}

struct due {
    const char *subject;
    int status;
    const char *verdict, *added_in, *products;
    json_int_t chains, other; /* of k = 192, and of 384 */
    const char *says;
};

/* Text beside the fields, and nothing of the table. */
static void expect_due(const struct due *due)
{
    char arguments[1000];
    snprintf(arguments, sizeof arguments, "%s --shape 4x3x192", due->subject);
    json_t *json = answer(arguments, due->status);
    cr_expect_str_eq(word(json, "verdict"), due->verdict, "%s: %s, %s", due->subject,
                     word(json, "verdict"), word(json, "words"));
    cr_expect_str_eq(word(json, "added_in"), due->added_in, "%s: %s", due->subject,
                     word(json, "added_in"));
    cr_expect_str_eq(word(json, "products"), due->products, "%s: %s", due->subject,
                     word(json, "products"));
    cr_expect_eq(number(json, "chains"), due->chains, "%s", due->subject);
    cr_expect_eq(number(json_object_get(json, "other_chains"), "chains"), due->other, "%s",
                 due->subject);
    cr_expect_eq(json_array_size(json_object_get(json, "agrees_with")), 0, "%s", due->subject);
    json_decref(json);
    strcat(arguments, " --device cpu");
    cr_expect_eq(run_program("reveal", arguments), due->status);
    expect_said("out", due->says);
    expect_narrow("out");
}

Test(verb_reveal_product, planted_orders, .init = make_folder, .fini = remove_folder)
{
    static const struct due planted[] = {
        {EXAMPLE_PRODUCT ":in_order", 0, "additions", "fp32", "rounded", 1, -1,
         "order: one chain of products, one after the other, in order of k\nC: a term of the first "
         "sum\n"},
        {OBJECT("fma_loop"), 0, "additions", "fp32", "fused", 1, -1,
         "products: fused into the additions: one rounding\noperands: all bits are read\n"},
        {EXAMPLE_PRODUCT ":few_rows", 0, "additions", "fp32", "rounded", 2, 2,
         "slices: with k = 384 also 2 chains: split-K\n"},
        {OBJECT("split_3"), 0, "additions", "fp32", "fused", 3, 3,
         "order: 3 separate chains, each of 64 consecutive products, one after the other, in "
         "order of k\nsums of chains: added in order\nC: added last, to the sum of all products\n"},
        {OBJECT("lanes"), 0, "additions", "fp32", "fused", 4, 4,
         "sums of chains: added in pairs\n"},
        {OBJECT("backwards"), 0, "additions", "fp32", "rounded", 1, -1, ", the last first\n"},
        {OBJECT("wide"), 0, "additions", "fp64", "exact", 1, -1,
         "additions: two at a time, in fp64, rounded to nearest\n"},
        {OBJECT("as_tf32"), 0, "additions", "fp32", "exact", 1, -1, "operands: rounded to tf32"},
        {OBJECT("as_bf16"), 0, "additions", "fp32", "exact", 1, -1,
         "operands: rounded to bf16; other products were tried with bf16 alone\n"},
        {OBJECT("cut_to_bf16"), 0, "additions", "fp32", "exact", 1, -1,
         "operands: read as bf16, without the low 16 bits\n"},
        {OBJECT("cut_to_15"), 0, "additions", "fp32", "fused", 1, -1,
         "operands: read as numbers of 15 bits, without the low 9 bits\n"},
        {"gemm/tiled", 0, "additions", "fp32", "fused", 2, 3, "order: 2 separate chains"},
        {"gemm/split_k --blocks 4", 0, "additions", "fp32", "fused", 4, 4,
         "slices: with k = 384 also 4 chains: split-K\n"},
        {"gemm/exact", 0, "exact", "", "", -1, -1, ": no order shows: it adds exactly,"},
        {"'exec:" ULPSCOPE_PROGRAM " serve gemm/serial --device cpu' --operation gemm", 0,
         "additions", "fp32", "fused", 1, -1, "C: a term of the first sum\n"},
    };
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        expect_due(&planted[i]);
}

/* What has no order is not given one. */
Test(verb_reveal_product, what_is_none, .init = make_folder, .fini = remove_folder)
{
    static const struct due planted[] = {
        {OBJECT("last_row"), 1, "places", "", "", -1, -1, "but D[3][0] and D[0][0] differ\n"},
        {OBJECT("no_product"), 1, "no_product", "", "", -1, -1,
         "of ones, 193 of 193 terms, and zeros, D is 385, expected 193\n"},
        {OBJECT("rare"), 1, "otherwise", "fp32", "", 1, -1,
         "neither rounded before they are added nor fused"},
    };
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        expect_due(&planted[i]);
    json_t *json = answer(OBJECT("restless") " --shape 4x3x192", 1);
    cr_expect(strcmp(word(json, "verdict"), "changes") == 0 ||
                  strcmp(word(json, "verdict"), "no_tree") == 0,
              "%s", word(json, "verdict"));
    json_decref(json);
}

/* An order that depends on the data answers masks as a tree would; sums of three terms tell. */
Test(verb_reveal_product, orders_by_the_data, .init = make_folder, .fini = remove_folder)
{
    static const char *const subjects[] = {OBJECT("by_sign"), OBJECT("smallest_first"),
                                           OBJECT("largest_first")};
    static const char *const shapes[] = {"2x2x8", "4x3x40"};
    for (size_t i = 0; i < 6; i++) {
        char line[1000];
        snprintf(line, sizeof line, "%s --shape %s", subjects[i / 2], shapes[i % 2]);
        json_t *json = answer(line, 1);
        cr_expect_str_eq(word(json, "verdict"), "depends_on_data", "%s: %s", line,
                         word(json, "verdict"));
        static const char *const none[] = {"block",    "fraction_bits", "kept_bits", "rounding",
                                           "added_in", "products",      "tree",      "chains"};
        for (size_t k = 0; k < sizeof none / sizeof *none; k++)
            cr_expect(json_is_null(json_object_get(json, none[k])), "%s: %s", line, none[k]);
        json_decref(json);
        strcat(line, " --device cpu");
        cr_expect_eq(run_program("reveal", line), 1);
        expect_said("out", " sums of three terms are of two additions in fp32\n");
        expect_said("err", "the order depends on the data");
        expect_narrow("out");
        char *out = content("out");
        cr_expect(!strstr(out, "\ntree") && !strstr(out, "\nK: "), "%s", out);
        free(out);
    }
}

/* Where no rule gives the bits of other operands, none is claimed: what masks showed is said to be
 * that, and the exit status is 1. */
Test(verb_reveal_product, what_is_not_told, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *subject, *says, *never;
    } due[] = {
        {OBJECT("compensated"), "additions: two at a time; how they round was not told\n",
         "24 bits"},
        {OBJECT("to_11_bits"), "operands: which bits are read was not told\n", "0 bits behind"},
    };
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        char line[1000];
        snprintf(line, sizeof line, "%s --shape 2x2x16", due[i].subject);
        json_t *json = answer(line, 1);
        cr_expect_str_eq(word(json, "verdict"), "not_told", "%s", line);
        cr_expect(json_is_null(json_object_get(json, "kept_bits")) &&
                      json_is_null(json_object_get(json, "rounding")) &&
                      json_is_null(json_object_get(json, "added_in")),
                  "%s", line);
        json_decref(json);
        strcat(line, " --device cpu");
        cr_expect_eq(run_program("reveal", line), 1);
        expect_said("out",
                    "\nobserved with the operands of the questions alone:\norder: one chain");
        expect_said("out", due[i].says);
        expect_said("err", "no rule was found that gives the bits of other operands");
        expect_narrow("out");
        char *out = content("out");
        cr_expect(!strstr(out, due[i].never), "%s", out);
        free(out);
    }
    cr_expect_eq(run_program("reveal",
                             OBJECT("compensated") " --against " EXAMPLE_PRODUCT
                                                   ":in_order --shape 2x2x16 --device cpu"),
                 1);
    expect_said("out", ":in_order: not compared\n");
}

/* Of few products the format of additions is found from other operands. */
Test(verb_reveal_product, two_products, .init = make_folder, .fini = remove_folder)
{
    static const char *const pairs[][2] = {
        {"fp16", "fp16"}, {"fp16", "fp32"}, {"bf16", "bf16"}, {"fp32", "fp32"}, {"fp64", "fp64"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char line[200];
        snprintf(line, sizeof line, "gemm/tiled --shape 2x2x2 --storage %s --accumulator %s",
                 pairs[i][0], pairs[i][1]);
        json_t *json = answer(line, 0);
        cr_expect_str_eq(word(json, "verdict"), "additions", "%s: %s", line, word(json, "verdict"));
        cr_expect_str_eq(word(json, "added_in"), pairs[i][1], "%s: %s", line,
                         word(json, "added_in"));
        cr_expect_eq(number(json, "products_held"), 500, "%s", line);
        json_decref(json);
    }
}

/* The result that is shown beside the rule's is another one. */
Test(verb_reveal_product, the_pair_that_differs, .init = make_folder, .fini = remove_folder)
{
    json_t *json = answer(OBJECT("by_value") " --shape 4x4x256", 1);
    char found[32] = "", due[32] = "";
    cr_expect_str_eq(word(json, "verdict"), "otherwise");
    cr_expect_eq(sscanf(word(json, "words"),
                        "product %*u of other operands is %31[0-9a-f], by the rule %31[0-9a-f]",
                        found, due),
                 2, "%s", word(json, "words"));
    cr_expect_str_neq(found, due, "%s", word(json, "words"));
    json_decref(json);
}

/* Whether the shape leaves C out or the subject takes none. */
Test(verb_reveal_product, without_c, .init = make_folder, .fini = remove_folder)
{
    static const char *const left_out[] = {"gemm/mma --storage fp16 --shape 2x2x32:c=0",
                                           OBJECT("fma_loop") " --shape 2x2x8:c=0"};
    for (size_t i = 0; i < 2; i++) {
        char line[1000];
        snprintf(line, sizeof line, "%s --device cpu", left_out[i]);
        cr_expect_eq(run_program("reveal", line), 0);
        expect_said("out", "\nC: left out by the shape (c=0)\n");
        json_t *json = answer(left_out[i], 0);
        cr_expect_str_eq(word(json, "c"), "left out by the shape (c=0)");
        json_decref(json);
    }
}

Test(verb_reveal_product, compares_and_draws, .init = make_folder, .fini = remove_folder)
{
    cr_expect_eq(run_program("reveal", OBJECT("fma_loop") " --against gemm/serial --device cpu"),
                 0);
    expect_said("out", " and gemm/serial: one order\n");
    cr_expect_eq(run_program("reveal", "gemm/tiled --against gemm/serial --device cpu"), 1);
    expect_said("out", "gemm/tiled and gemm/serial: different orders: ");
    expect_said("err", "different orders");
    cr_expect_eq(run_program("reveal", "gemm/mma --dot --shape 1x1x8 --device cpu"), 0);
    expect_said("out", "graph order {");
}

/* Methods of many products: the order that their files state, over all of k. */
Test(verb_reveal_product, many_products, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *arguments, *verdict, *c;
        json_int_t chains, length;
    } due[] = {
        {"gemm/mma --chip h100 --storage fp16 --shape 1x1x4096", "rule", "a term of the first sum",
         1, 4096},
        {"gemm/wgmma --chip h100 --storage e4m3 --shape 1x1x4096", "rule",
         "a term of the first sum", 1, 4096},
        {"gemm/promoted --chip h100 --storage e4m3 --promote 128 --shape 1x1x4096", "additions",
         "added to a sum of products, before others", 32, 128},
        {"gemm/promoted --chip h100 --storage fp16 --promote 512 --shape 1x1x4096", "additions",
         "added to a sum of products, before others", 8, 512},
        {"gemm/promoted --chip h100 --storage bf16 --promote 1024 --shape 1x1x16384", "additions",
         "added to a sum of products, before others", 16, 1024},
        {"gemm/split_k --blocks 4 --shape 1x1x4096", "additions",
         "added last, to the sum of all products", 4, 1024},
        {"gemm/split_k --blocks 24 --shape 1x1x4096", "additions",
         "added last, to the sum of all products", 24, 0},
        {"gemm/tiled --shape 1x1x4096", "additions", "added last, to the sum of all products", 32,
         128},
        {"gemm/serial --storage bf16 --accumulator bf16 --shape 1x1x600", "additions",
         "a term of the first sum", 1, 600},
    };
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        char line[300];
        snprintf(line, sizeof line, "%s%s", due[i].arguments,
                 strstr(due[i].arguments, "--accumulator") ? "" : " --accumulator fp32");
        json_t *json = answer(line, 0);
        cr_expect_str_eq(word(json, "verdict"), due[i].verdict, "%s: %s", line,
                         word(json, "words"));
        cr_expect_eq(number(json, "chains"), due[i].chains, "%s: %lld chains", line,
                     (long long)number(json, "chains"));
        cr_expect(number(json, "chain_length") == (due[i].length ? due[i].length : -1), "%s", line);
        cr_expect_str_eq(word(json, "c"), due[i].c, "%s", line);
        cr_expect(number(json, "told_apart") == 128 && number(json, "sampled") == 256 &&
                      number(json, "products_held") == 500 &&
                      number(json, "products_differing") == 0,
                  "%s", line);
        json_decref(json);
    }
}

static void refuse(const char *arguments, int due, const char *says)
{
    cr_expect_eq(run_program("reveal", arguments), due, "%s", arguments);
    expect_said("err", says);
    char *out = content("out");
    cr_expect_str_empty(out, "%s", arguments);
    free(out);
}

Test(verb_reveal_product, refusals, .init = make_folder, .fini = remove_folder)
{
    refuse("gemm/tiled --n 8", 2,
           "option --n: found gemm/tiled, a matrix product, expected --shape");
    refuse("sum/tiled --shape 2x2x8", 2, "option --shape: found sum/tiled, a sum");
    refuse("sum/tiled --chip h100", 2, "expected a matrix product");
    refuse("gemm/tiled --chip h100", 2, "expected gemm/mma, gemm/wgmma or gemm/promoted");
    refuse("gemm/mma --promote 64", 2, "expected gemm/promoted");
    refuse("gemm/mma --chip h10", 2, "h100");
    refuse("gemm/wgmma --chip ada", 4, "chip ada has no such instruction");
    refuse("gemm/mma --chip v100 --storage bf16", 4, "no such instruction for bf16");
    refuse("gemm/tiled --shape 2x2", 2, "option --shape");
    refuse("gemm/tiled --shape 2x2x1", 2, "found k = 1, expected 2 or more");
    refuse("gemm/tiled --shape 2x2x8:mixed", 2, "expected matrices of one format");
    refuse("gemm/tiled --shape 0x2x8", 2, "found 0 x 2 x 8, expected an element of D");
    refuse("gemm/tiled --storage e4m3 --accumulator fp32 --output storage", 2, "option --output");
    refuse("gemm/tiled --against sum/tiled", 2, "option --against: found sum/tiled, a sum");
}

/* Other commands take matrices as they are stored; of others than 8 bits there is no other format
 * and there are no scales, and tf32 is of fp32. */
Test(verb_reveal_product, rounded_matrices_are_refused, .init = make_folder, .fini = remove_folder)
{
    static const char *const verbs[] = {"check", "bench", "recommend"};
    static const char *const first[] = {"", "--method ", "--operation gemm --input ones --method "};
    static const struct {
        const char *shape, *says, *storage;
    } asked[] = {{"mixed", "run gemm alone multiplies mixed ones, on the CPU", "fp16"},
                 {"scale=2x0.5", "run gemm alone takes them", "fp16"},
                 {"scale=auto", "run gemm alone takes them", "fp32"},
                 {"tf32", "run gemm alone rounds them to tf32, on the CPU", "e4m3"}};
    char line[300];
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        for (size_t i = 0; i < 3; i++) {
            snprintf(line, sizeof line,
                     "%sgemm/mma --shape 4x4x32:%s --storage e4m3 --accumulator fp32 --device cpu",
                     first[i], asked[k].shape);
            cr_expect_eq(run_program(verbs[i], line), 2, "%s %s", verbs[i], asked[k].shape);
            expect_said("err", asked[k].says);
        }
        snprintf(line, sizeof line, "gemm/tiled --shape 4x4x32:%s", asked[k].shape);
        refuse(line, 2, asked[k].says);
        snprintf(line, sizeof line,
                 "gemm --method gemm/tiled --shape 4x4x32:%s --storage %s --accumulator fp32 "
                 "--device cpu --force --out %s",
                 asked[k].shape, asked[k].storage, in_folder(k % 2 ? "odd" : "even"));
        cr_expect_eq(run_program("run", line), 0);
        expect_said("out", "1 case unsupported");
    }
    cr_expect_eq(run_program("run", "gemm --method " EXAMPLE_PRODUCT ":in_order --device cpu "
                                    "--storage fp32 --accumulator fp32 --shape 4x4x4:tf32"),
                 2);
    expect_said("err", "expected matrices as they are stored\n");
    cr_expect_eq(run_program("run", "gemm --shape 4x4x4:scale=auto --device cpu --storage fp16"),
                 2);
    expect_said("err", "no method supports these formats on this device with --shape 4x4x4:scale");
    cr_expect_eq(run_program("run", "gemm --shape 4x4x4:scale=0x1 --device cpu"), 2);
    expect_said("err", "scale=0.37x1.5");
}

/* Scales by max|x| are said once for each input and shape: 448 times them is the largest element.
 */
Test(verb_reveal_product, scales_are_said, .init = make_folder, .fini = remove_folder)
{
    static const char *const due[] = {
        "scales of ones, 1x1x4:scale=auto: A 0.00223214, B 0.00223214\n",
        "scales of ones, 2x1x3:scale=auto: A 0.00223214, B 0.00223214\n",
        "scales of harmonic, 1x1x4:scale=auto: A 0.00223214"};
    char line[300];
    snprintf(line, sizeof line,
             "gemm --method gemm/tiled,gemm/serial,gemm/exact --input ones,harmonic --storage e4m3 "
             "--accumulator fp32 --shape 1x1x4:scale=auto,2x1x3:scale=auto --device cpu --out %s",
             in_folder("scales"));
    cr_expect_eq(run_program("run", line), 0);
    char *out = content("out");
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        const char *at = strstr(out, due[i]);
        cr_expect(at && !strstr(at + 1, due[i]), "%s in: %s", due[i], out);
    }
    free(out);
}

/* Where there is NumPy: whatever its library does, the order is told and gives the bits. */
Test(verb_reveal_product, numpy, .init = make_folder, .fini = remove_folder)
{
    const char *python = getenv("ULPSCOPE_PYTHON");
    char command[600];
    snprintf(command, sizeof command, "%s -c 'import numpy' >/dev/null 2>&1",
             python ? python : "python3");
    if (system(command) != 0)
        cr_skip_test("no NumPy");
    static const char *const formats[] = {"fp32", "fp64"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(command, sizeof command, "python:numpy.matmul --shape 2x2x64 --storage %s",
                 formats[i]);
        json_t *json = answer(command, 0);
        cr_expect(json_is_false(json_object_get(json, "takes_c")));
        cr_expect_str_eq(word(json, "c"), "the subject takes none");
        cr_expect_str_eq(word(json, "added_in"), formats[i], "%s: %s", command,
                         word(json, "words"));
        cr_expect_eq(number(json, "products_held"), 500);
        cr_expect_eq(number(json, "products_differing"), 0);
        json_decref(json);
    }
}
