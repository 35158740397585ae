/* `list methods --json` says of each method what its descriptor says. */
#include <criterion/criterion.h>

#include <jansson.h>
#include <stdio.h>

#include "experiments/options/options.h"
#include "experiments/program/verbs.h"
#include "kernels/method/method.h"
#include "kernels/mma/mma.h"
#include "tests/support/files.h"

static json_t *listed_of(const char *section)
{
    const char *const words[] = {"ulpscope", "list", section, "--json"};
    const char *printed = in_folder("printed");
    struct arguments a;
    cr_assert_eq(arguments_parse(&a, 4, (char **)words, NULL), STATUS_OK);
    cr_assert(freopen(printed, "w", stdout));
    cr_assert_eq(a.verb->run(&a, NULL), STATUS_OK);
    fflush(stdout);
    return json_load_file(printed, 0, NULL);
}

static json_t *listed(void)
{
    json_t *methods = listed_of("methods");
    cr_assert_eq(json_array_size(methods), method_count);
    return methods;
}

static const char *word(json_t *method, const char *member)
{
    return json_string_value(json_object_get(method, member));
}

Test(list, every_method_as_declared, .init = make_folder, .fini = remove_folder)
{
    size_t i, segmented = 0, folds = 0;
    json_t *methods = listed(), *method;
    json_array_foreach (methods, i, method) {
        const struct method *m = method_registry[i];
        cr_expect_str_eq(word(method, "name"), m->name);
        cr_expect_str_eq(word(method, "promise"), promise_name[m->promise], "%s", m->name);
        cr_expect_str_eq(word(method, "bound"), theorem_words(m->bound), "%s", m->name);
        json_t *flag = json_object_get(method, "segmented"), *k = json_object_get(method, "folds");
        cr_expect(json_is_boolean(flag) && json_boolean_value(flag) == m->segmented, "%s", m->name);
        cr_expect(m->folds ? json_integer_value(k) == m->folds : json_is_null(k), "%s", m->name);
        segmented += json_is_true(flag);
        folds += json_is_integer(k);
    }
    cr_expect(segmented > 0 && segmented < method_count);
    cr_expect(folds >= 3 && folds < method_count);
    json_decref(methods);
}

/* Every operation with its methods, each method in one of them, and the options that it reads. */
Test(list, every_operation_with_its_methods, .init = make_folder, .fini = remove_folder)
{
    size_t i, k, methods = 0;
    json_t *all = listed_of("operations"), *operation, *name;
    json_array_foreach (all, i, operation) {
        const struct operation *o = operations[i];
        cr_assert(o, "%zu operations", i);
        cr_expect_str_eq(word(operation, "name"), o->name);
        cr_expect(*word(operation, "summary"), "%s", o->name);
        json_array_foreach (json_object_get(operation, "methods"), k, name) {
            const struct method *m = method_named(json_string_value(name));
            cr_expect(m && m->operation == o, "%s of %s", json_string_value(name), o->name);
        }
        cr_expect(k > 0, "%s has no method", o->name);
        methods += k;
        cr_expect(json_array_size(json_object_get(operation, "experiments")) > 0, "%s", o->name);
    }
    cr_expect(!operations[i]);
    cr_expect_eq(methods, method_count);
    json_t *options = json_object_get(json_array_get(all, 1), "options");
    cr_expect_str_eq(word(json_array_get(all, 1), "name"), "scan");
    cr_assert_eq(json_array_size(options), 3);
    cr_expect_str_eq(json_string_value(json_array_get(options, 0)), "--scan");
    json_decref(all);
}

/* K of each. */
Test(list, folds_of_sumk, .init = make_folder, .fini = remove_folder)
{
    static const char *const name[] = {"sum/sumk", "sum/sumk4", "sum/sumk5"};
    size_t i, seen = 0;
    json_t *methods = listed(), *method;
    json_array_foreach (methods, i, method)
        for (int k = 0; k < 3; k++)
            if (strcmp(word(method, "name"), name[k]) == 0)
                seen += json_integer_value(json_object_get(method, "folds")) == 3 + k;
    cr_expect_eq(seen, 3);
    json_decref(methods);
}

/* A row of `list chips --json` for each row of the table, as the table has it. */
Test(list, chips_have_every_instruction, .init = make_folder, .fini = remove_folder)
{
    json_t *chips = listed_of("chips"), *chip, *instruction;
    size_t i, j, at = 0;
    json_array_foreach (chips, i, chip) {
        json_array_foreach (json_object_get(chip, "instructions"), j, instruction) {
            cr_assert(at < mma_instruction_count);
            const struct mma_instruction *m = &mma_instructions[at++];
            json_t *fraction = json_object_get(instruction, "fraction_bits");
            cr_expect_str_eq(word(chip, "name"), m->chip);
            cr_expect_str_eq(word(instruction, "unit"), mma_units[m->unit]);
            cr_expect_str_eq(word(instruction, "operands"), mma_elements[m->rule.element].name);
            cr_expect_eq(json_integer_value(json_object_get(instruction, "block")), m->rule.block);
            cr_expect_eq((uint64_t)json_integer_value(json_object_get(instruction, "vectors")),
                         m->held);
            cr_expect(m->rule.fraction == MMA_EXACT
                          ? json_is_null(fraction)
                          : json_integer_value(fraction) == m->rule.fraction);
        }
    }
    cr_expect_eq(at, mma_instruction_count);
    json_decref(chips);
}
