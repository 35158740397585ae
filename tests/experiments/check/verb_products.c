/* `ulpscope check` of matrix products on the user's own A and B, in a file each: they are
 * multiplied, and what is printed to show a break again does. */
#include <jansson.h>

#include <criterion/criterion.h>

#include "tests/support/program.h"

#define CPU " --device cpu --seconds 1 "
#define AB  CPU "--data a.npy --data b.npy "

static void put(const char *name, const char *shape, const float *x, size_t n)
{
    char header[128];
    snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }",
             shape);
    FILE *file = fopen(in_folder(name), "wb");
    cr_assert(file && fprintf(file, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, header) == 128);
    cr_assert(fwrite(x, sizeof *x, n, file) == n && fclose(file) == 0);
}

/* A of 20 x 64, B of 64 x 8, and a list. */
static void make_matrices(void)
{
    float x[1792];
    for (int i = 0; i < 1792; i++)
        x[i] = (float)((i * 7919 % 10007 - 5000) / 3000.0);
    make_folder();
    put("a.npy", "20, 64", x, 1280);
    put("b.npy", "64, 8", x + 1280, 512);
    put("list.npy", "100,", x, 100);
}

static int check(const char *arguments)
{
    return run_program("check", arguments);
}

/* What it says to type, as typed. */
static int shown_again(void)
{
    char *text = content("out"), *command = strstr(text, "reproduce: "), *end;
    cr_assert(command, "%s", text);
    command = strstr(command, " check ");
    end = command ? strchr(command, '\n') : NULL;
    cr_assert(end, "%s", text);
    *end = 0;
    int status = check(command + 7);
    free(text);
    return status;
}

Test(check_products, of_two_files, .init = make_matrices, .fini = remove_folder)
{
    cr_expect(check("gemm/tiled" AB "--promise order_invariant") == 1);
    expect_said("out", ": a.npy x b.npy, fp32/fp32, n = 1792, 20x8x64, output ");
    expect_said("out", " --data a.npy --data b.npy --n 1792 ");
    cr_expect(shown_again() == 1);
    expect_said("out", ": a.npy x b.npy, fp32/fp32, n = 1792, 20x8x64, output ");
}

/* The first elements of A, B behind it, of another shape. */
Test(check_products, made_small_are_shown_again, .init = make_matrices, .fini = remove_folder)
{
    cr_expect(check(EXAMPLE_PRODUCT ":few_rows" AB "--only batch_invariant/batch "
                                    "--promise batch_invariant") == 1);
    cr_expect(check(EXAMPLE_PRODUCT ":few_rows" AB "--promise batch_invariant") == 1);
    expect_said("out", "counterexample to batch_invariant (how many others there are): a.npy x "
                       "b.npy, fp32/fp32, n = ");
    cr_expect(shown_again() == 1);
    expect_said("out", "counterexample to batch_invariant (how many others there are): a.npy x "
                       "b.npy, fp32/fp32, n = ");
}

Test(check_products, of_one_file_twice, .init = make_matrices, .fini = remove_folder)
{
    static const char twice[] =
        "gemm/tiled" CPU "--data a.npy --data a.npy --shape 20x20x64:nt --promise order_invariant ";
    cr_expect(check(twice) == 1);
    expect_said("out", ": a.npy x a.npy, fp32/fp32, n = 2560, 20x20x64:nt, output ");
    cr_expect(shown_again() == 1);
    expect_said("out", ": a.npy x a.npy, fp32/fp32, n = 2560, 20x20x64:nt, output ");
}

Test(check_products, for_programs, .init = make_matrices, .fini = remove_folder)
{
    json_error_t error;
    const char *second = NULL;
    cr_expect(check("gemm/tiled" AB "--promise order_invariant --json") == 1);
    json_t *all = json_load_file(in_folder("out"), 0, &error), *rung, *broken;
    cr_assert(all, "%s", error.text);
    size_t i, k;
    json_array_foreach (json_object_get(json_array_get(all, 0), "rungs"), i, rung)
        json_array_foreach (json_object_get(rung, "witnesses"), k, broken)
            second = json_string_value(json_array_get(json_object_get(broken, "data"), 1));
    cr_expect(second && strcmp(second, "b.npy") == 0, "%s", second ? second : "none");
    json_decref(all);
}

Test(check_products, that_do_not_fit, .init = make_matrices, .fini = remove_folder)
{
    cr_expect(check("gemm/tiled" CPU "--data b.npy --data a.npy") == 3);
    expect_said("err", "b.npy x a.npy: found matrices of 64 x 8 and 20 x 64, expected as many rows "
                       "of B as A has columns");
    cr_expect(check("gemm/tiled" CPU "--data list.npy --data b.npy") == 3);
    expect_said("err", "list.npy: found 100 elements and no matrix, expected two dimensions, or ");
    cr_expect(check("gemm/tiled" AB "--data list.npy") == 2);
    expect_said("err", "option --data: found 3 arrays, expected two, A and B");
    cr_expect(check("gemm/tiled" AB "--data a.npy") == 2);
    expect_said("err", "option --data: found 3 files, of which 2 differ, expected two, or one file "
                       "twice");
    cr_expect(check("gemm/tiled" AB "--n 5") == 2);
    expect_said("err",
                "option --n: found 5, but a.npy x b.npy has 1792 elements, expected as many, "
                "or none");
    cr_expect(check("gemm/tiled" AB "--shape 8x8x8") == 2);
    expect_said("err", "option --shape: found 8x8x8 with a.npy of 1280 and b.npy of 512 elements, "
                       "expected 64 and 64");
    cr_expect(check("sum/tiled" AB "--n 5000") == 2);
    expect_said("err", "option --n: found 5000, but a.npy has 1280 elements");
}

Test(check_products, of_a_gate, .init = make_matrices, .fini = remove_folder)
{
    static const char manifest[] =
        "{\"subjects\": [{\"subject\": \"gemm/tiled\", \"promise\": \"order_invariant\","
        " \"data\": [\"a.npy\", \"b.npy\"], \"device\": \"cpu\", \"seconds\": 1},"
        " {\"name\": \"other\", \"subject\": \"gemm/tiled\", \"promise\": \"run_to_run\","
        " \"data\": [\"b.npy\", \"a.npy\"], \"device\": \"cpu\", \"seconds\": 1}]}";
    FILE *file = fopen(in_folder("gate.json"), "wb");
    cr_assert(file && fputs(manifest, file) >= 0 && fclose(file) == 0);
    cr_expect(run_program("gate", "gate.json") == 1);
    expect_said("out", "0 of 2 kept, 1 broken, 1 failed");
    expect_said("out", " --data a.npy --data b.npy --n 1792 ");
    expect_told("out",
                "b.npy x a.npy: found matrices of 64 x 8 and 20 x 64, expected as many rows");
}

/* One that does not fit hides no other; sums take each file by itself. */
Test(check_products, beside_others, .init = make_matrices, .fini = remove_folder)
{
    cr_expect(check("gemm/tiled sum/tiled" CPU "--data b.npy --data a.npy") == 3);
    expect_said("err", "check: gemm/tiled: b.npy x a.npy: found matrices of 64 x 8 and 20 x 64");
    expect_said("err", "check: nothing was tried of 1 of 2 subjects");
    expect_said("out", "sum/tiled on cpu: keeps gpu_to_gpu, as promised");
}
