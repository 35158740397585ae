/* `ulpscope check --batch` as a program: the example's planted switch, for people and programs, and
 * what is refused. */
#include <jansson.h>

#include <criterion/criterion.h>

#include "tests/support/program.h"

#define FEW_ROWS EXAMPLE_PRODUCT ":few_rows --device cpu --only batch_invariant/batch "

static int check(const char *arguments)
{
    return run_program("check", arguments);
}

/* It splits k in two for fewer than 16 rows. */
Test(check_verb, the_examples_switch, .init = make_folder, .fini = remove_folder)
{
    cr_expect(check(FEW_ROWS "--batch 1..300 --shape 4x4x64 --seconds 20 --input symmetric "
                             "--promise batch_invariant") == 1);
    expect_said("out", "few_rows on cpu, batches of 1 to 300 rows: BREAKS batch_invariant, ");
    expect_said("out", "\nbatches in fp32/fp32, Mx4x64, symmetric: 16 outputs of 4 rows followed");
    expect_said("out", "\n1 to 15       15  A     as alone\n16 to 300    285  B     ");
    expect_said("out", "\nsmallest pair that differs: 1 and 16 rows\n");
    expect_said("out", " of 1x4x64\n");
    expect_said("out", " of 16x4x64\n");
    expect_said("out", " --shape 4x4x64 --batch 1,16 --promise batch_invariant\n");
}

Test(check_verb, batches_for_programs, .init = make_folder, .fini = remove_folder)
{
    size_t i;
    json_t *range;
    json_error_t error;
    cr_expect(check(FEW_ROWS "--batch 12..15,20 --shape 1x4x64:tn --seconds 5 --input symmetric "
                             "--storage fp32 --accumulator fp32 --json --out b.csv") == 0);
    json_t *all = json_load_file(in_folder("out"), 0, &error);
    json_t *tables = json_object_get(json_array_get(all, 0), "batches"),
           *table = json_array_get(tables, 0);
    cr_assert(json_array_size(tables) == 1, "%s", error.text);
    cr_expect_str_eq(json_string_value(json_object_get(table, "shape")), "1x4x64:tn");
    cr_expect_eq(json_integer_value(json_object_get(table, "tried")), 5);
    cr_expect_eq(json_integer_value(json_array_get(json_object_get(table, "smallest_pair"), 0)),
                 12);
    cr_expect_eq(json_integer_value(json_array_get(json_object_get(table, "smallest_pair"), 1)),
                 20);
    cr_expect_eq(json_array_size(json_object_get(table, "ranges")), 2);
    json_array_foreach (json_object_get(table, "ranges"), i, range) {
        cr_expect_str_eq(json_string_value(json_object_get(range, "kind")), i ? "B" : "A");
        cr_expect_eq(json_integer_value(json_object_get(range, "first")), i ? 20 : 12);
        cr_expect_eq(json_integer_value(json_object_get(range, "last")), i ? 20 : 15);
        cr_expect_eq(json_integer_value(json_object_get(range, "differing")) > 0, i == 1);
    }
    json_decref(all);
    expect_said("b.csv", ",batch_bits,differed,over_bound\n");
    expect_said("b.csv", ",\"fp32/fp32, Mx4x64:tn: 12..15 A 4/4; 20..20 B 1/1\",batch 1,\n");
}

/* Verdicts on other promises stand beside it; an option that says nothing here is refused. */
Test(check_verb, batches_that_are_none, .init = make_folder, .fini = remove_folder)
{
    cr_expect(check("rows/tiled --device cpu --batch 1..20 --seconds 3 --rows 4 --n 200 --storage "
                    "fp32 --accumulator fp32 --input symmetric") == 0);
    expect_said("out", "rows/tiled on cpu, batches of 1 to 20 rows: keeps gpu_to_gpu, as promised, "
                       "and batch_invariant");
    expect_said("out", "\nall 20 numbers of rows gave the same bits\n");
    cr_expect(check("sum/tiled --device cpu --batch 1..4") == 2);
    expect_said("err", "check: found sum/tiled with --batch, expected a matrix product, or ");
    cr_expect(check("allreduce/ring --device cpu --batch 1..4") == 2);
    cr_expect(check("gemm/tiled --device cpu --batch 1..4 --only run_to_run") == 2);
    expect_said("err", "option --batch: found --only without batch, ");
    cr_expect(check("gemm/tiled --device cpu --batch 1..4 --special") == 2);
    expect_said("err", "option --batch is none of check --special");
    cr_expect(check("gemm/tiled --device cpu --batch 1,0") == 2);
    expect_said("err", "option --batch: found 0, expected 1 to 1048576");
}
