/* Layouts of rows and masks, as options name them. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "experiments/operations/layout.h"
#include "experiments/operations/setting.h"
#include "experiments/inputs/mask.h"
#include "kernels/method/matrix.h"

Test(layout, words)
{
    struct layout l;
    struct problem p = {0};
    static const char *const bad[] = {
        "", "rows", "batch", "batch:", "batch:0", "batch:x", "row:2", "batch:2..4"};
    cr_expect(layout_parse(&l, "row", &p) == STATUS_OK && l.kind == LAYOUT_ROW);
    cr_expect(layout_parse(&l, "column", &p) == STATUS_OK && l.kind == LAYOUT_COLUMN);
    cr_expect(layout_parse(&l, "batch:2^4", &p) == STATUS_OK && l.batch == 16);
    cr_expect_str_eq(l.name, "batch:16");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        p = (struct problem){0};
        cr_expect(layout_parse(&l, bad[i], &p) == STATUS_USAGE, "%s", bad[i]);
    }
}

/* Rows are a divisor of n up to its root, the largest. */
Test(layout, about_square)
{
    cr_expect_eq(layout_rows(1 << 20, 7), 7);
    for (size_t n = 0; n < 3000; n++) {
        size_t rows = layout_rows(n, 0);
        cr_assert(rows >= 1 && n % rows == 0 && (n == 0 || rows <= n / rows), "%zu: %zu", n, rows);
        for (size_t more = rows + 1; n > 0 && more <= n / more; more++)
            cr_assert(n % more != 0, "%zu: %zu, but %zu", n, rows, more);
    }
    cr_expect_eq(layout_rows((size_t)1 << 28, 0), 1 << 14);
}

/* 0, or nothing asked for, is what the file says: rows, and in layout `column` its columns. */
Test(layout, rows_of_a_file)
{
    uint64_t some[] = {5, 0};
    struct setting_axes axes = {.file_rows = 30};
    for (size_t u = 0; u < 8; u++) {
        cr_expect_eq(layout_vary(&axes, 2100, u, LAYOUT_ROW), 30);
        cr_expect_eq(layout_vary(&axes, 2100, u, LAYOUT_COLUMN), 70);
        cr_expect_eq(layout_vary(&(struct setting_axes){.file_rows = 0}, 2100, 4 * u, LAYOUT_ROW),
                     layout_rows(2100, 0));
    }
    cr_expect_eq(layout_asked(&axes, 0, 2100, LAYOUT_BATCH), layout_rows(2100, 0));
    cr_expect_eq(layout_asked(&axes, 0, 2099, LAYOUT_ROW), layout_rows(2099, 0));
    cr_expect_eq(layout_asked(&axes, 7, 2100, LAYOUT_COLUMN), 7);
    axes.rows = (struct numbers){.item = some, .count = 2};
    cr_expect_eq(layout_vary(&axes, 2100, 0, LAYOUT_ROW), 5);
    cr_expect_eq(layout_vary(&axes, 2100, 1, LAYOUT_ROW), 30);
}

Test(layout, what_does_not_divide_is_refused)
{
    struct layout l;
    struct problem p = {0};
    size_t stride;
    cr_assert(layout_parse(&l, "batch:4", &p) == STATUS_OK);
    cr_expect(layout_stride(&stride, &l, 48, 12, &p) == STATUS_OK && stride == 4);
    cr_expect(layout_stride(&stride, &l, 48, 6, &p) == STATUS_USAGE && strstr(p.text, "--layout"));
    p = (struct problem){0};
    cr_expect(layout_stride(&stride, &l, 50, 12, &p) == STATUS_USAGE && strstr(p.text, "--rows"));
    p = (struct problem){0};
    cr_assert(layout_parse(&l, "column", &p) == STATUS_OK);
    cr_expect(layout_stride(&stride, &l, 48, 12, &p) == STATUS_OK && stride == 12);
    cr_assert(layout_parse(&l, "row", &p) == STATUS_OK);
    cr_expect(layout_stride(&stride, &l, 0, 12, &p) == STATUS_OK && stride == 1);
}

/* Batches of 2 columns and 3 rows each. */
Test(layout, keys_are_rows)
{
    static const uint32_t due[] = {0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3};
    uint32_t key[12];
    layout_keys(key, 12, 4, 2);
    for (size_t i = 0; i < 12; i++)
        cr_expect_eq(key[i], due[i], "%zu", i);
}

/* So many are kept as are asked for, within five standard deviations; none and all exactly; and the
 * first of more are the same. */
Test(layout, masks)
{
    enum { N = 100000 };
    static const size_t percent[] = {0, 1, 50, 99, 100};
    for (size_t i = 0; i < 5; i++) {
        uint8_t *mask, *fewer;
        size_t kept, kept_of_fewer, set = 0;
        double p = (double)percent[i] / 100;
        cr_assert(mask_make(&mask, &kept, N, percent[i], 7, NULL) == STATUS_OK);
        cr_assert(mask_make(&fewer, &kept_of_fewer, 1000, percent[i], 7, NULL) == STATUS_OK);
        for (size_t k = 0; k < N; k++) {
            set += mask[k];
            cr_assert(mask[k] <= 1 && (k >= 1000 || mask[k] == fewer[k]), "%zu", k);
        }
        cr_expect_eq(set, kept);
        double off = (double)kept - N * p;
        cr_expect(off * off <= 25 * N * p * (1 - p), "%zu%%: %zu", percent[i], kept);
        free(mask);
        free(fewer);
    }
}
