/* rows/exact on a GPU: its CPU twin's bits, where a certificate tells a row and where none does. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/inputs/input.h"
#include "kernels/method/matrix.h"
#include "tests/gpu/rows_runs.h"
#include "tests/support/halfway.h"
#include "tests/support/samples.h"

/* Rows, their length and the stride: what rows/exact has a thread, a few, a warp, several warps or
 * several blocks for, and whose rows are joined by few threads, by a warp or by a block. */
static const size_t exact_rows[][3] = {
    {1, 127, 1},       {5, 128, 1},    {40, 1000, 1},  {3, 2049, 1},    {2, 4096, 1},
    {9, 4099, 1},      {2, 65537, 1},  {1, 270001, 1}, {2, 16385, 2},   {2, 140001, 2},
    {3, 65537, 3},     {4, 9000, 1},   {65, 700, 65},  {129, 300, 129}, {257, 100, 257},
    {256, 127, 256},   {70, 128, 70},  {1024, 30, 64}, {600, 20, 3},    {10000, 3, 5},
    {7000, 9, 1},      {30001, 2, 1},  {30001, 1, 1},  {24, 1500, 8},   {33, 4200, 33},
    {1000, 257, 1000}, {64, 2000, 64}, {72, 1500, 72}, {40, 40, 40},    {512, 200, 128},
    {32, 9000, 32},    {96, 513, 96},
};
enum { EXACT_ROWS = sizeof exact_rows / sizeof *exact_rows, EXACT_MOST = 300000 };

static void set_rows(struct matrix_case *c, const size_t shape[3], enum format s, enum format f)
{
    c->bins = shape[0];
    c->stride = shape[2];
    c->in = (struct array){s, shape[0] * shape[1], c->in.data};
    c->accumulator = f;
}

/* Every family of inputs, those that defeat certificates among them. One need not have a member of
 * this size in this format. */
Test(gpu_rows_exact, every_family_agrees, .timeout = 300)
{
    struct matrix_case *c = gpu_rows_new(method_named("rows/exact"), EXACT_MOST);
    size_t held = 0;
    for (size_t k = 0; k < 3 * ACCUMULATORS * input_family_count; k++) {
        const char *name = input_families[k / 3 / ACCUMULATORS]->name;
        struct input input;
        set_rows(c, exact_rows[k * 7 % EXACT_ROWS], k / 3 % ACCUMULATORS, FP16);
        c->sample = name;
        cr_assert(input_parse(&input, name, NULL) == STATUS_OK);
        if (input_generate(&input, &c->in, k + 1, 0, NULL) != STATUS_OK)
            continue;
        for (c->accumulator = 0; c->accumulator < ACCUMULATORS; c->accumulator++, held++)
            gpu_rows_hold(c, k % 3, (struct shape){0});
    }
    cr_expect(held > 20 * input_family_count, "%zu", held);
    gpu_rows_free(c);
}

/* Of four rows one is half-way between neighbours, or next to nothing beside, which no certificate
 * tells; one has numbers that are none; and one cancels. */
Test(gpu_rows_exact, hard_rows_agree, .timeout = 300)
{
    struct matrix_case *c = gpu_rows_new(method_named("rows/exact"), EXACT_MOST);
    struct array row = {FP64, 0, malloc(EXACT_MOST * sizeof(double))};
    cr_assert(row.data);
    c->sample = "hard rows";
    for (size_t k = 0; k < 2 * EXACT_ROWS * ACCUMULATORS; k++) {
        const size_t *shape = exact_rows[k / 2 % EXACT_ROWS];
        set_rows(c, shape, k / 2 / EXACT_ROWS, k % 2 ? FP64 : (enum format)(k / 2 % ACCUMULATORS));
        row.format = c->in.format;
        row.n = shape[1];
        for (size_t r = 0; r < shape[0]; r++) {
            int below = (int)(r / 4 % 4 * (row.format == FP16 ? 1 : 30));
            sample_fill(&row,
                        r % 4 == 1   ? SAMPLE_BITS
                        : r % 4 == 2 ? SAMPLE_CANCEL
                                     : SAMPLE_NEAR,
                        c->accumulator, k + r);
            if (r % 4 == 0 && row.n >= 16)
                halfway_fill(&row, c->accumulator, below, r % 8 == 0, k + r);
            for (size_t i = 0; i < row.n; i++)
                array_set_bits(&c->in, matrix_at(r, i, row.n, c->stride), array_bits(&row, i));
        }
        gpu_rows_hold(c, k % 2, (struct shape){0});
    }
    free(row.data);
    gpu_rows_free(c);
}

/* Rows of a number, half its last place in the accumulator, and less than a double of their sum has
 * room for: a double that adds them says half-way. */
Test(gpu_rows_exact, what_doubles_lose_decides, .timeout = 300)
{
    struct matrix_case *c = gpu_rows_new(method_named("rows/exact"), EXACT_MOST);
    c->sample = "sums half-way in doubles";
    for (size_t k = 0; k < 8 * EXACT_ROWS; k++) {
        set_rows(c, exact_rows[k / 8], k / 4 % 2 ? BF16 : FP32, k / 2 % 2 ? BF16 : FP32);
        size_t bins = c->bins, length = c->in.n / bins, eighths = length < 8 ? 1 : length / 8;
        int digits = format_facts[c->in.format].precision;
        /* The last place of the smallest, 2^-28, is lost beside 2^30. */
        double least = ldexp(1, digits - 29);
        const double parts[] = {0x1p30, ldexp(1, 30 - format_facts[c->accumulator].precision),
                                least + 0x1p-28, -least};
        memset(c->in.data, 0, c->in.n * format_facts[c->in.format].bytes);
        for (size_t r = 0; r < bins; r++)
            for (size_t i = 0; i < 4 && i < length; i++)
                array_set_bits(&c->in, matrix_at(r, 8 * (r % eighths) + i, length, c->stride),
                               format_encode(c->in.format, ldexp(r % 2 ? -parts[i] : parts[i],
                                                                 (int)(r % 40) - 20)));
        gpu_rows_hold(c, k % 2, (struct shape){0});
    }
    gpu_rows_free(c);
}
