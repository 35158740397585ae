/* scan/exact on a GPU finds prefixes in several ways, as the elements of a row and the sum before
 * it allow (kernels/scan/exact_row.cuh). Tiles of many kinds follow each other here, in arrays
 * beyond what is scanned by a block for each tile: every prefix has the bits of its CPU twin. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/scan/tiled.h"
#include "tests/gpu/scan_runs.h"
#include "tests/support/samples.h"

enum { TILE = SCAN_TILE, N = 1300 * TILE + 77 };

/* What a tile holds, in units of the array's scale. */
enum kind {
    KIND_UNIFORM,
    KIND_SIGNED,
    KIND_SMALL,  /* far finer than what lies before */
    KIND_LARGE,  /* far coarser than what comes */
    KIND_ZEROS,  /* of both signs */
    KIND_SPARSE, /* a number among zeros */
    KIND_WHOLE,  /* small whole numbers: exact, and half-way often */
    KIND_BACK,   /* takes back what KIND_LARGE gave */
    KIND_WIDE,   /* any exponent near 0 */
    KIND_ALL,    /* exponents over 100 binades */
    KINDS
};

static double element(enum kind kind, size_t i, uint64_t *seed)
{
    uint64_t r = sample_next(seed);
    double u = (double)(sample_next(seed) >> 11) * 0x1p-53, sign = r % 2 ? 1 : -1;
    switch (kind) {
    case KIND_UNIFORM:
        return u;
    case KIND_SIGNED:
        return sign * u;
    case KIND_SMALL:
        return sign * u * 0x1p-9;
    case KIND_LARGE:
        return 0x1p12 * (1 + (double)(i % 8) / 8);
    case KIND_BACK:
        return -0x1p12 * (1 + (double)(i % 8) / 8);
    case KIND_SPARSE:
        return r % 1000 == 0 ? u : sign * 0.0;
    case KIND_WHOLE:
        return (double)(r % 7) - 3;
    case KIND_WIDE:
        return ldexp(sign * (1 + u), (int)(r >> 20 & 0xffff) % 47 - 35);
    case KIND_ALL:
        return ldexp(sign * (1 + u), 3 - (int)(r >> 20 & 0xffff) % 100);
    case KIND_ZEROS:
    case KINDS:
        break;
    }
    return sign * 0.0;
}

/* Tiles of all kinds, after some of -0; where `special`, two infinities come at the end. */
static void fill(struct array *in, double scale, bool special, uint64_t seed)
{
    enum kind kind = KIND_ZEROS;
    for (size_t i = 0; i < in->n; i++) {
        if (i % TILE == 0 && i > 0)
            kind = (enum kind)(sample_next(&seed) % KINDS);
        double x = i < 3000 ? -0.0 : scale * element(kind, i, &seed);
        if (special && (i == in->n - in->n / 5 || i == in->n - 5000))
            x = i < in->n - 5000 ? INFINITY : -INFINITY;
        array_encode(in, i, 1, &x);
    }
}

/* Half of the tiles of numbers near each other, half of any of 100 binades: one half, then the
 * other, which comes a row late. */
static void fill_halves(struct array *in, bool wide_first, uint64_t seed)
{
    for (size_t i = 0; i < in->n; i++) {
        bool second = i > in->n / 2 / TILE * TILE + SCAN_ROW;
        double x = element(second == wide_first ? KIND_SIGNED : KIND_ALL, i, &seed);
        array_encode(in, i, 1, &x);
    }
}

/* -0, then about 1, and again and again something of any of 90 binades, which is taken back after a
 * small number. */
static void fill_taken_back(struct array *in, uint64_t seed)
{
    double given = 0;
    for (size_t i = 0; i < in->n; i++) {
        double x = i == 700 ? 1 : element(KIND_SMALL, i, &seed) * 0x1p-9;
        if (i < 700)
            x = -0.0;
        else if (i % 4 == 1)
            x = given = ldexp(element(KIND_WHOLE, i, &seed), (int)(sample_next(&seed) % 90) - 45);
        else if (i % 4 == 3)
            x = -given;
        array_encode(in, i, 1, &x);
    }
}

/* 2^30, and then prefixes at floats and half-way between them in turns, but for a little beside
 * them, which changes sides every 50 tiles; between these, something that is taken back at once; in
 * some tiles next to nothing, which is taken back later. */
static void fill_halfway(struct array *in, uint64_t seed)
{
    for (size_t i = 0; i < in->n; i++) {
        size_t tile = i / TILE, back = sample_next(&seed) % 512;
        double between = 0x1p-12 * (1 + (double)(i / 4 * 37 % 128) / 128);
        double nothing = back ? 0.0 : -0.0;
        if (tile % 8 >= 5)
            nothing = ldexp(i / 4 % 2 ? -1 : 1, -40 - (int)(i / 8 % 30));
        const double later[4] = {0x1p6, between, -between, nothing};
        double x = later[i % 4];
        if (tile < 64)
            x = 0x1p12;
        else if (tile % 50 == 20 && i % TILE == 3)
            x = tile / 50 % 2 ? -0x1p-23 : 0x1p-23;
        array_encode(in, i, 1, &x);
    }
}

/* All accumulators, with each output and both kinds of scans by turns. */
static void hold(const struct array *in, uint64_t seed, const char *what)
{
    const struct method *m = method_named("scan/exact");
    struct gpu_input *there = NULL;
    struct problem p = {0};
    char why[WHY] = "";
    cr_assert_eq(gpu_upload(&there, 0, in, seed % 2, &p), STATUS_OK, "%s", p.text);
    for (unsigned k = 0; k < ACCUMULATORS * 2; k++) {
        struct scan_case c = {.in = *in,
                              .accumulator = k / 2,
                              .output = (k + seed) % 3 ? (enum format)(k / 2) : in->format,
                              .exclusive = (k + seed) % 2};
        cr_expect(gpu_scan_hold(m, &c, there, 2, why), "%s, seed %" PRIu64 ": %s", what, seed, why);
    }
    gpu_release(there);
}

static struct array new_array(enum format s)
{
    struct array in = {s, N, malloc(array_bytes(s, N))};
    cr_assert(in.data);
    return in;
}

Test(gpu_scan_exact, kinds_of_tiles)
{
    static const double scales[] = {1, 0x1p-12, 0x1p3};
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (uint64_t k = 0; k < 3; k++) {
            struct array in = new_array(s);
            fill(&in, scales[k], k == 1, 10 * k + s);
            hold(&in, 10 * k + s, "kinds of tiles");
            free(in.data);
        }
}

Test(gpu_scan_exact, halves)
{
    static const enum format storage[] = {FP32, BF16};
    for (unsigned k = 0; k < 4; k++) {
        struct array in = new_array(storage[k / 2]);
        fill_halves(&in, k % 2, k);
        hold(&in, k, k % 2 ? "many binades, then few" : "few binades, then many");
        free(in.data);
    }
}

Test(gpu_scan_exact, taken_back)
{
    for (enum format s = BF16; s <= FP32; s++) {
        struct array in = new_array(s);
        fill_taken_back(&in, s);
        hold(&in, s, "taken back");
        free(in.data);
    }
}

Test(gpu_scan_exact, halfway)
{
    for (enum format s = 0; s < ACCUMULATORS; s++) {
        struct array in = new_array(s);
        fill_halfway(&in, s);
        hold(&in, s, "half-way");
        free(in.data);
    }
}
