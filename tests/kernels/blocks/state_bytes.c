/* Bytes of states: lies are refused with a line that says what and where, and nothing that is
 * accepted can do harm. */
#include <criterion/criterion.h>

#include <inttypes.h>

#include "kernels/blocks/binned_state.h"
#include "kernels/blocks/exact_state.h"
#include "tests/support/samples.h"

/* States of the elements 1, -0.5 and 3 in fp32, K = 3. */
static void valid(unsigned char binned[BINNED_STATE_BYTES], unsigned char exact[EXACT_STATE_BYTES])
{
    float x[] = {1, -0.5f, 3};
    struct array a = {FP32, 3, x};
    struct binned_state b;
    struct exact_state e;
    binned_state_init(&b, FP32, FP32, 3, NULL);
    binned_state_add(&b, &a, 0, 3);
    binned_state_write(&b, binned);
    exact_state_init(&e);
    exact_state_add(&e, &a, 0, 3);
    exact_state_write(&e, exact);
}

struct lie {
    size_t at;
    unsigned char byte; /* put there */
    const char *says;
};

Test(state_bytes, lies_about_binned_states)
{
    static const struct lie lies[] = {
        {0, 'U', "bytes 0 to 3 are 55 6c 70 62, expected 75 6c 70 62"},
        {3, 'e', "bytes 0 to 3 are 75 6c 70 65"},
        {4, 0, "layout version 0, expected 1"},
        {4, 2, "layout version 2, expected 1"},
        {5, 6, "byte 5 is 6, expected a format"},
        {6, 4, "byte 6 is 4, expected a format"}, /* stored, never added in */
        {6, 255, "byte 6 is 255, expected a format"},
        {7, 1, "1 folds at byte 7, expected 2 to 4"},
        {7, 5, "5 folds at byte 7, expected 2 to 4"},
        {8, 0, "0 elements, but more"},
        {15, 0x80, "2^63 elements or more"},
        {16, 0, "all -0 by the flags"},
        {16, 0xf, "3 elements, but more are said to be NaN, infinite, finite"},
        {16, 0x10, "flags 0x10 at byte 16"},
        {17, 1, "byte 17 or 20 to 23 is not 0"},
        {23, 1, "byte 17 or 20 to 23 is not 0"},
        {18, 43, "window 43 at byte 18, expected 44 to "},
        {18, 200, "window 200 at byte 18"},
        {19, 1, "window 303 at byte 18"},
        {24 + 16 * 4 + 3, 1, "the sum at byte 88 is larger than 3 elements can make"},
        {24 + 16 * 4 + 15, 0x80, "the sum at byte 88 is larger"},
        {24 + 16 * 5, 1, "the sum at byte 104 is larger"}, /* fp32 in 3 folds keeps five */
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        unsigned char bytes[BINNED_STATE_BYTES], exact[EXACT_STATE_BYTES];
        struct binned_state s;
        struct problem p = {0};
        valid(bytes, exact);
        cr_assert(binned_state_read(&s, bytes, sizeof bytes, &p) == STATUS_OK, "%s", p.text);
        bytes[lies[i].at] = lies[i].byte;
        enum status status = binned_state_read(&s, bytes, sizeof bytes, &p);
        cr_expect(status == STATUS_DATA && strstr(p.text, lies[i].says),
                  "byte %zu = %d: status %d, '%s', expected '%s'", lies[i].at, lies[i].byte, status,
                  p.text, lies[i].says);
    }
}

Test(state_bytes, lies_about_exact_states)
{
    static const struct lie lies[] = {
        {0, 'x', "bytes 0 to 3 are 78 6c 70 65, expected 75 6c 70 65"},
        {4, 3, "layout version 3, expected 1"},
        {5, 0x18, "flags 0x18 at byte 5"},
        {5, 0, "all -0 by the flags"},
        {5, 0xf, "3 elements, but more are NaN, infinite, above and below 0"},
        {7, 1, "bytes 6 and 7 are not 0"},
        {8, 1, "1 elements, but more"},
        {15, 0xff, "2^63 elements or more"},
        {16 + 271, 1, "the sums at bytes 16 and 288 are larger than 3 finite elements can make"},
        {288 + 262, 0x20, "the sums at bytes 16 and 288 are larger"}, /* 2^1028 and more */
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        unsigned char binned[BINNED_STATE_BYTES], bytes[EXACT_STATE_BYTES];
        struct exact_state s;
        struct problem p = {0};
        valid(binned, bytes);
        cr_assert(exact_state_read(&s, bytes, sizeof bytes, &p) == STATUS_OK, "%s", p.text);
        bytes[lies[i].at] = lies[i].byte;
        enum status status = exact_state_read(&s, bytes, sizeof bytes, &p);
        cr_expect(status == STATUS_DATA && strstr(p.text, lies[i].says),
                  "byte %zu = %d: status %d, '%s', expected '%s'", lies[i].at, lies[i].byte, status,
                  p.text, lies[i].says);
    }
}

Test(state_bytes, sizes_are_checked_before_anything_is_read)
{
    struct binned_state b;
    struct exact_state e;
    for (size_t size = 0; size < 1000; size++) {
        struct problem p = {0};
        unsigned char *bytes = calloc(size ? size : 1, 1); /* for the sanitizer */
        cr_assert(bytes);
        cr_expect(binned_state_read(&b, bytes, size, &p) == STATUS_DATA);
        cr_expect(size == BINNED_STATE_BYTES || strstr(p.text, "bytes, expected 120"), "%s",
                  p.text);
        p = (struct problem){0};
        cr_expect(exact_state_read(&e, bytes, size, &p) == STATUS_DATA);
        cr_expect(size == EXACT_STATE_BYTES || strstr(p.text, "bytes, expected 560"), "%s", p.text);
        free(bytes);
    }
}

/* The largest sums that elements can make are accepted, one more is not: n times the largest. */
Test(state_bytes, limits_are_exact)
{
    double x[] = {0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023};
    struct array a = {FP64, 3, x};
    struct exact_state s;
    unsigned char bytes[EXACT_STATE_BYTES];
    exact_state_init(&s);
    exact_state_add(&s, &a, 0, 3);
    exact_state_write(&s, bytes);
    cr_expect(exact_state_read(&s, bytes, sizeof bytes, NULL) == STATUS_OK);
    bytes[16] = 1; /* the smallest subnormal on top */
    cr_expect(exact_state_read(&s, bytes, sizeof bytes, NULL) == STATUS_DATA);
    bytes[16] = 0;
    bytes[5] |= 2; /* an infinity among the three: two are left */
    cr_expect(exact_state_read(&s, bytes, sizeof bytes, NULL) == STATUS_DATA);

    /* A part is half a unit of the next bin at most: 2^20 of bin 51's units, 2^-3. */
    float y[] = {0x1p17f};
    struct binned_state t;
    unsigned char own[BINNED_STATE_BYTES];
    binned_state_init(&t, FP16, FP32, 2, NULL);
    array_encode(&(struct array){FP16, 1, y}, 0, 1, &(double){65504});
    binned_state_add(&t, &(struct array){FP16, 1, y}, 0, 1);
    t.bin[1] = 1 << 20;
    binned_state_write(&t, own);
    cr_expect(binned_state_read(&t, own, sizeof own, NULL) == STATUS_OK);
    t.bin[1]++;
    binned_state_write(&t, own);
    cr_expect(binned_state_read(&t, own, sizeof own, NULL) == STATUS_DATA);

    /* fp32 has nothing below 2^-149; bin 44 begins at 2^-150. */
    float z[] = {0x1p-149f};
    binned_state_init(&t, FP32, FP32, 2, NULL);
    binned_state_add(&t, &(struct array){FP32, 1, z}, 0, 1);
    cr_expect(t.window == 44 && t.bin[0] == 2);
    t.bin[0] = 1;
    binned_state_write(&t, own);
    struct problem p = {0};
    cr_expect(binned_state_read(&t, own, sizeof own, &p) == STATUS_DATA &&
                  strstr(p.text, "at byte 24 is no multiple of fp32's smallest number"),
              "%s", p.text);
}

/* Of no elements none is other than -0. */
Test(state_bytes, nothing_is_not_plain)
{
    struct binned_state b;
    struct exact_state e;
    unsigned char binned[BINNED_STATE_BYTES], exact[EXACT_STATE_BYTES];
    struct problem p = {0};
    binned_state_init(&b, FP32, FP32, 3, NULL);
    binned_state_write(&b, binned);
    cr_expect(binned_state_read(&b, binned, sizeof binned, NULL) == STATUS_OK);
    binned[16] = 8;
    cr_expect(binned_state_read(&b, binned, sizeof binned, &p) == STATUS_DATA &&
                  strstr(p.text, "0 elements, but more"),
              "%s", p.text);
    exact_state_init(&e);
    exact_state_write(&e, exact);
    cr_expect(exact_state_read(&e, exact, sizeof exact, NULL) == STATUS_OK);
    exact[5] = 8;
    p = (struct problem){0};
    cr_expect(exact_state_read(&e, exact, sizeof exact, &p) == STATUS_DATA &&
                  strstr(p.text, "0 elements, but more"),
              "%s", p.text);
}

/* Bytes at random, and valid ones with some changed: refused, or read as a state with these bytes,
 * which merges and gives a sum. */
Test(state_bytes, random_bytes_do_no_harm)
{
    uint64_t seed = 51;
    size_t accepted = 0;
    for (int round = 0; round < 40000; round++) {
        unsigned char binned[BINNED_STATE_BYTES], exact[EXACT_STATE_BYTES];
        unsigned char again[EXACT_STATE_BYTES];
        struct binned_state b;
        struct exact_state e;
        valid(binned, exact);
        for (uint64_t changes = sample_next(&seed) % 4; changes < 4; changes++) {
            binned[sample_next(&seed) % sizeof binned] ^=
                (unsigned char)(1 << sample_next(&seed) % 8);
            exact[sample_next(&seed) % sizeof exact] ^=
                (unsigned char)(1 << sample_next(&seed) % 8);
        }
        if (binned_state_read(&b, binned, sizeof binned, NULL) == STATUS_OK) {
            binned_state_write(&b, again);
            cr_assert(memcmp(binned, again, sizeof binned) == 0, "round %d", round);
            struct binned_state other = b;
            binned_state_merge(&b, &other, NULL);
            double sum = binned_state_finish(&b);
            cr_assert(sum == format_round(b.accumulator, sum) || sum != sum, "round %d", round);
            accepted++;
        }
        if (exact_state_read(&e, exact, sizeof exact, NULL) == STATUS_OK) {
            exact_state_write(&e, again);
            cr_assert(memcmp(exact, again, sizeof exact) == 0, "round %d", round);
            struct exact_state other = e;
            exact_state_merge(&e, &other, NULL);
            exact_state_finish(&e, FP64);
            accepted++;
        }
    }
    cr_assert(accepted > 0 && accepted < 80000, "%zu of 80000", accepted);
}
