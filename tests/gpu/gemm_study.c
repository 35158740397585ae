/* `run gemm` on a GPU with scales made from the data: its rows are those of the CPU. */
#include <criterion/criterion.h>

#include "tests/support/joined_study.h"

/* The CPU's row of the same method, matrices and formats. */
static size_t row_of_twin(const struct rows *r, size_t row)
{
    static const enum case_column same[] = {CASE_METHOD, CASE_STORAGE, CASE_ACCUMULATOR,
                                            CASE_INPUT,  CASE_KEYS,    CASE_PROMOTE};
    size_t i = 0;
    for (; i < r->count; i++) {
        bool alike = strcmp(case_field(r, i, CASE_DEVICE), "cpu") == 0 &&
                     strcmp(field_of(r, i, RESULTS_RESULT_FORMAT),
                            field_of(r, row, RESULTS_RESULT_FORMAT)) == 0;
        for (size_t k = 0; k < sizeof same / sizeof *same; k++)
            alike = alike && strcmp(case_field(r, i, same[k]), case_field(r, row, same[k])) == 0;
        if (alike)
            break;
    }
    cr_assert(i < r->count, "row %zu has no twin", row);
    return i;
}

Test(gpu_gemm_study, rows_with_scales_are_the_cpus, .init = make_folder, .fini = remove_folder,
     .timeout = 300)
{
    static study_words asked = {
        {"device", "cpu,cuda"},
        {"method", "gemm/exact,gemm/tiled,gemm/promoted"},
        {"input", "symmetric,normal"},
        {"shape",
         "3x4x300:scale=outer,3x2x300:scale=blocks,2x130x257:nt:pad=1:scale=blocks,3x2x300,"
         "3x4x300:scale=auto,3x4x300:c=0:scale=0.37x1.5"},
        {"storage", "e4m3,e5m2"},
        {"accumulator", "fp32,fp64"},
        {"promote", "32,128"},
        {"output", "accumulator,storage"},
        {"runs", "2"},
        {NULL}};
    static const size_t columns[] = {RESULTS_RESULT_BITS, RESULTS_EXACT_HEX, RESULTS_ERR_ABS,
                                     RESULTS_BOUND, RESULTS_ERR_OVER_BOUND};
    struct rows r = joined_run(asked, in_folder("out"));
    size_t there = 0, inexact = 0;
    for (size_t i = 0; i < r.count; i++) {
        if (strcmp(case_field(&r, i, CASE_DEVICE), "cpu") == 0 ||
            strcmp(field_of(&r, i, RESULTS_STATUS), "unsupported") == 0)
            continue;
        const size_t twin = row_of_twin(&r, i);
        cr_expect_str_eq(field_of(&r, i, RESULTS_STATUS), "ok");
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            cr_expect_str_eq(field_of(&r, i, columns[k]), field_of(&r, twin, columns[k]),
                             "%s, %s, %s: %s", case_field(&r, i, CASE_METHOD),
                             case_field(&r, i, CASE_STORAGE), case_field(&r, i, CASE_KEYS),
                             results_column_of(COLUMNS_OF_PRODUCTS)(columns[k])->name);
        there++;
        inexact += strtod(field_of(&r, i, RESULTS_ERR_ABS), NULL) > 0;
    }
    cr_expect(there > 100 && inexact > 50, "%zu rows, %zu inexact", there, inexact);
    rows_free(&r);
}
