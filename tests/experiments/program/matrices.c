/* What becomes of a matrix in a file: its rows are the file's, and where they are not heeded, that
 * is said. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "experiments/subjects/foreign.h"
#include "tests/support/terminal.h"

/* Three rows of five. */
static void begin(void)
{
    make_folder();
    static const char header[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }                              ";
    float x[15];
    for (int i = 0; i < 15; i++)
        x[i] = (float)(1.25 * i - 3);
    FILE *file = fopen(in_folder("m.npy"), "wb");
    cr_assert(file);
    unsigned length = 118;
    fprintf(file, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, (char)length, 0, header);
    fwrite(x, sizeof x, 1, file);
    fclose(file);
}

#define OF_MATRIX " --device cpu --data m.npy "

static void expect_rows(const char *verb, const char *arguments, const char *file,
                        const char *cells)
{
    int status = run_program(verb, arguments);
    cr_expect(status == 0, "%s %s: exit status %d", verb, arguments, status);
    expect_said(file, cells);
}

Test(matrices, have_the_rows_of_their_file, .init = begin, .fini = remove_folder)
{
    static const char *const study[] = {"rows --method rows/serial",
                                        "rowstats --method layernorm/two_pass"};
    for (size_t i = 0; i < 2; i++) {
        char arguments[300];
        snprintf(arguments, sizeof arguments,
                 "%s" OF_MATRIX "--layout row --accumulator fp32 --runs 1 --out made --force",
                 study[i]);
        expect_rows("run", arguments, "made/results.csv", ",row,3,");
        char *err = content("err");
        cr_expect_str_empty(err);
        free(err);
        /* The study repeated is the same study. */
        expect_rows("run", "--from made/study.json --out again --force", "again/results.csv",
                    ",row,3,");
        strcat(arguments, " --rows 5");
        expect_rows("run", arguments, "made/results.csv", ",row,5,");
    }
    expect_rows("run",
                "rows --method rows/serial" OF_MATRIX
                "--layout column --accumulator fp32 --runs 1 --out made --force",
                "made/results.csv", ",column,5,");
    expect_rows("recommend",
                "--operation layernorm --method layernorm/two_pass" OF_MATRIX
                "--accumulator fp32 --tolerance 1e-3 --seconds 1 --out made --force",
                "out", "3 rows, layout row");
}

/* A matrix of which all elements are taken as one array. */
Test(matrices, are_not_flattened_in_silence, .init = begin, .fini = remove_folder)
{
    static const struct {
        const char *verb, *arguments;
        bool says;
    } each[] = {
        {"run", "norm --method mean/serial" OF_MATRIX "--runs 1 --out made --force", true},
        {"run", "norm --method mean/serial" OF_MATRIX "--n 5 --runs 1 --out made --force", false},
        {"run", "rows --method rows/serial" OF_MATRIX "--runs 1 --out made --force", false},
        {"check", "sum/serial --seconds 0.1" OF_MATRIX, true},
        {"check", "rows/serial --seconds 0.1" OF_MATRIX, false},
    };
    static const char says[] = "m.npy is a matrix of 3 x 5: its 15 elements are taken as one array";
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        run_program(each[i].verb, each[i].arguments);
        char *err = content("err");
        cr_expect((strstr(err, says) != NULL) == each[i].says, "%s %s: %s", each[i].verb,
                  each[i].arguments, err);
        free(err);
    }
    run_program("recommend",
                "--method sum/serial --accumulator fp32 --tolerance 1 --seconds 1 --out made "
                "--force" OF_MATRIX);
    expect_said("out", "m.npy: 15 elements of fp32 (3 x 5, as one array), ");
}

/* A function's name says what it computes, to an option that only tells of its rows as well. */
Test(matrices, and_functions_called_as_what_they_compute)
{
    cr_expect(foreign_says("python:a.py:layernorm") == &operation_layernorm);
    cr_expect(foreign_says("python:a.py:f@numpy@softmax") == &operation_softmax);
    cr_expect(foreign_says("python:a.py:f") == NULL);
    cr_expect(foreign_says("exec:layernorm") == NULL);
}

/* Two files are A and B of one matrix product, also of the study repeated. */
Test(matrices, two_are_one_product, .init = begin, .fini = remove_folder)
{
    static const char header[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 2), }                              ";
    static const float b[10] = {1, 0, 0, 1, 2, 0, 0, 0, 0, 0.5f};
    FILE *file = fopen(in_folder("b.npy"), "wb");
    cr_assert(file);
    fprintf(file, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, header);
    fwrite(b, sizeof b, 1, file);
    fclose(file);
    /* Row 0 of A is -3, -1.75, -0.5, 0.75, 2: element (0,0) is -3 - 2 * 0.5. */
    expect_rows(
        "run",
        "gemm --method gemm/tiled --device cpu --data m.npy --data b.npy --accumulator fp32 "
        "--runs 1 --out made --force",
        "made/results.csv", "m.npy x b.npy,25,");
    expect_said("made/results.csv", ",-4,-0x1p+2,");
    expect_said("made/results.csv", ",3x2x5,6,");
    expect_rows("run", "--from made/study.json --out again --force", "again/results.csv",
                "m.npy x b.npy,25,");
    cr_expect_eq(run_program("run", "gemm --device cpu --data b.npy --data m.npy --out none"), 3);
    expect_said("err", "b.npy x m.npy: found matrices of 5 x 2 and 3 x 5");
    /* One file is both, where it is named twice. */
    expect_rows("run",
                "gemm --shape 2x2x5:nt --method gemm/tiled --device cpu --data b.npy --data b.npy "
                "--accumulator fp32 --runs 1 --out made --force",
                "made/results.csv", "b.npy x b.npy,20,");
    expect_rows("run",
                "gemm --shape 2x2x5:nt --method gemm/tiled --device cpu --data b.npy,b.npy "
                "--accumulator fp32 --runs 1 --out made --force",
                "made/results.csv", "b.npy x b.npy,20,");
    cr_expect_eq(run_program("check", "gemm/tiled --device cpu --data b.npy,b.npy --only "
                                      "correctly_rounded --seconds 0.2 --shape 2x2x5:nt"),
                 0);
    expect_said("made/results.csv", ",6,0x1.8p+2,"); /* 1 + 1 + 4 */
    expect_rows("run", "--from made/study.json --out again --force", "again/results.csv",
                "b.npy x b.npy,20,");
}
