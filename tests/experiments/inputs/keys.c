/* Keys: what generators give, what files may hold, what is refused. */
#include <criterion/criterion.h>

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "experiments/inputs/keys.h"
#include "experiments/inputs/philox.h"
#include "tests/support/files.h"

enum { N = 20000 };

static struct keys parsed(const char *text)
{
    struct keys k;
    struct problem p = {0};
    cr_assert(keys_parse(&k, text, &p) == STATUS_OK, "%s: %s", text, p.text);
    return k;
}

static uint32_t *filled(const char *text, size_t n, size_t bins, uint64_t seed)
{
    struct keys k = parsed(text);
    uint32_t *key = malloc((n + 1) * sizeof *key);
    cr_assert(keys_fill(&k, key, n, bins, seed, NULL) == STATUS_OK);
    keys_free(&k);
    return key;
}

Test(keys, all_below_bins_and_by_the_seed)
{
    static const char *const texts[] = {"uniform",   "zipf", "zipf:s=0",
                                        "zipf:s=16", "one",  "sorted"};
    static const size_t bins[] = {1, 2, 1000, KEYS_BINS_MAX};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (size_t b = 0; b < 4; b++) {
            uint32_t *key = filled(texts[t], N, bins[b], 7),
                     *again = filled(texts[t], N, bins[b], 7),
                     *other = filled(texts[t], N, bins[b], 8);
            for (size_t i = 0; i < N; i++)
                cr_assert(key[i] < bins[b] && (t != 4 || key[i] == 0) &&
                              (t != 5 || i == 0 || key[i] >= key[i - 1]),
                          "%s, %zu bins: key %zu is %u", texts[t], bins[b], i, key[i]);
            cr_expect(memcmp(key, again, N * sizeof *key) == 0, "%s: not by the seed", texts[t]);
            bool differ = memcmp(key, other, N * sizeof *key) != 0;
            cr_expect(differ == (bins[b] > 1 && t != 4 && t != 3) || t == 3, "%s, %zu bins: seeds",
                      texts[t], bins[b]);
            free(key);
            free(again);
            free(other);
        }
}

/* Sorted keys are those of uniform; a prefix of uniform's is what fewer elements have. */
Test(keys, of_uniform)
{
    size_t count[2][50] = {{0}};
    uint32_t *key = filled("uniform", N, 50, 3), *sorted = filled("sorted", N, 50, 3),
             *fewer = filled("uniform", 100, 50, 3);
    for (size_t i = 0; i < N; i++) {
        count[0][key[i]]++;
        count[1][sorted[i]]++;
    }
    cr_expect(memcmp(count[0], count[1], sizeof count[0]) == 0);
    cr_expect(memcmp(key, fewer, 100 * sizeof *key) == 0);
    for (size_t b = 0; b < 50; b++) /* 400 each, ten standard deviations are 200 */
        cr_expect(count[0][b] > 200 && count[0][b] < 600, "bin %zu: %zu", b, count[0][b]);
    free(key);
    free(sorted);
    free(fewer);
}

/* Each key is the bin whose part of the distribution the draw falls into, by MPFR. */
Test(keys, zipf_by_its_distribution)
{
    enum { BINS = 300 };
    uint32_t *key = filled("zipf:s=1.1", 2000, BINS, 5);
    mpfr_t upto[BINS + 1], power, x;
    mpfr_inits2(200, power, x, (mpfr_ptr)0);
    mpfr_init2(upto[0], 200);
    mpfr_set_zero(upto[0], 1);
    for (unsigned long b = 0; b < BINS; b++) {
        mpfr_init2(upto[b + 1], 200);
        mpfr_set_ui(power, b + 1, MPFR_RNDN);
        mpfr_set_d(x, -1.1, MPFR_RNDN);
        mpfr_pow(power, power, x, MPFR_RNDN);
        mpfr_add(upto[b + 1], upto[b], power, MPFR_RNDN);
    }
    for (size_t i = 0; i < 2000; i++) {
        double u = random_unit(random_draw(5, RANDOM_KEYS, i).word[0]);
        mpfr_mul_d(x, upto[BINS], u, MPFR_RNDN);
        /* 2^-40 covers what rounding moves an edge by. */
        mpfr_add_d(x, x, 0x1p-40, MPFR_RNDN);
        cr_assert(mpfr_cmp(x, upto[key[i]]) >= 0, "key %zu: %u is too high", i, key[i]);
        mpfr_sub_d(x, x, 0x1p-39, MPFR_RNDN);
        cr_assert(mpfr_cmp(x, upto[key[i] + 1]) < 0, "key %zu: %u is too low", i, key[i]);
    }
    for (size_t b = 0; b <= BINS; b++)
        mpfr_clear(upto[b]);
    mpfr_clears(power, x, (mpfr_ptr)0);
    free(key);
}

Test(keys, named_shortly)
{
    static const char *const names[][2] = {{"zipf", "zipf:s=1.1"},
                                           {"zipf:s=1.10", "zipf:s=1.1"},
                                           {"zipf:s=2^-1", "zipf:s=0.5"},
                                           {"zipf:s=0", "zipf:s=0"},
                                           {"one", "one"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct keys k = parsed(names[i][0]);
        cr_expect(strcmp(k.name, names[i][1]) == 0 && strcmp(k.asked, names[i][1]) == 0, "%s: %s",
                  names[i][0], k.name);
        keys_free(&k);
    }
}

/* Writes a .npy of a dtype, with these bytes of keys. */
static void put_npy(const char *name, const char *type, size_t n, const void *bytes, size_t size)
{
    char header[128] = {0}, dictionary[118];
    FILE *file = fopen(in_folder(name), "w");
    snprintf(dictionary, sizeof dictionary,
             "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,), }", type, n);
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    snprintf(header + 10, 118, "%-117s", dictionary);
    header[127] = '\n';
    fwrite(header, 1, 128, file);
    fwrite(bytes, 1, size, file);
    fclose(file);
}

static void expect_keys(const char *file, const uint32_t *due, size_t n)
{
    char text[200];
    snprintf(text, sizeof text, "file:%s", in_folder(file));
    struct keys k = parsed(text);
    uint32_t key[8];
    cr_assert(k.count == n && keys_fit(&k, n, 1 << 20, NULL) == STATUS_OK);
    cr_assert(keys_fill(&k, key, n, 1 << 20, 1, NULL) == STATUS_OK);
    cr_expect(memcmp(key, due, n * sizeof *due) == 0, "%s", file);
    cr_expect(strcmp(k.asked, text) == 0 && strncmp(k.name, "file:", 5) == 0 &&
              strcmp(k.name + 5, file) == 0 && strlen(k.hash) == 16);
    keys_free(&k);
}

Test(keys, files_of_integers, .init = make_folder, .fini = remove_folder)
{
    static const uint32_t due[] = {0, 3, 127, 5};
    put_npy("u1.npy", "|u1", 4, (uint8_t[]){0, 3, 127, 5}, 4);
    put_npy("i1.npy", "|i1", 4, (int8_t[]){0, 3, 127, 5}, 4);
    put_npy("i2.npy", "<i2", 4, (int16_t[]){0, 3, 127, 5}, 8);
    put_npy("u2.npy", ">u2", 4, (uint8_t[]){0, 0, 0, 3, 0, 127, 0, 5}, 8);
    put_npy("i4.npy", "<i4", 4, (int32_t[]){0, 3, 127, 5}, 16);
    put_npy("i8.npy", "<i8", 4, (int64_t[]){0, 3, 127, 5}, 32);
    put_npy("none.npy", "<i8", 0, "", 0);
    FILE *raw = fopen(in_folder("keys.bin"), "w");
    fwrite(due, 4, 4, raw);
    fclose(raw);
    static const char *const names[] = {"u1.npy", "i1.npy", "i2.npy",  "u2.npy",
                                        "i4.npy", "i8.npy", "keys.bin"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_keys(names[i], due, 4);
    expect_keys("none.npy", due, 0);
}

static void expect_refused(const char *text, enum status due, const char *says)
{
    struct keys k;
    struct problem p = {0};
    cr_expect(keys_parse(&k, text, &p) == due, "%s: %d", text, (int)p.status);
    cr_expect(strstr(p.text, says) && !strchr(p.text, '\n'), "%s: '%s' says no '%s'", text, p.text,
              says);
}

Test(keys, what_is_refused, .init = make_folder, .fini = remove_folder)
{
    static const char *const words[] = {"", "unifor", "uniform:", "ones", "zipfs", "file", "file:"};
    static const char *const zipfs[] = {"zipf:",      "zipf:s=",  "zipf:s=-1", "zipf:s=17",
                                        "zipf:s=nan", "zipf:t=1", "zipf:s=1x"};
    char path[200];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        expect_refused(words[i], STATUS_USAGE, "expected uniform, zipf:s=S (0 to 16), one, sorted");
    for (size_t i = 0; i < sizeof zipfs / sizeof *zipfs; i++)
        expect_refused(zipfs[i], STATUS_USAGE, "S from 0 to 16");
    expect_refused("file:/nowhere/keys.npy", STATUS_DATA, "/nowhere/keys.npy: could not be opened");
    static const struct {
        const char *type, *says;
        int64_t key[2];
        size_t n, size;
    } file[] = {
        {"<i8", "key 1: found -1, expected 0 or more", {3, -1}, 2, 16},
        {"<i4", "key 0: found -2, expected 0 or more", {-2, 0}, 2, 8},
        {"<u8", "key 1: found 1048576, expected less than 2^20", {1, 1 << 20}, 2, 16},
        {"<i8", "key 0: found 4294967297, expected less than 2^20", {(INT64_C(1) << 32) + 1}, 1, 8},
        {"<f8", "found dtype '<f8', expected integers", {0}, 1, 8},
        {"|b1", "found dtype '|b1', expected integers", {0}, 1, 1},
        {"<i8", "expected 2 keys of 8", {0}, 2, 8},
        {"<i8", "expected 1 keys of 8", {0}, 1, 9},
    };
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        put_npy("keys.npy", file[i].type, file[i].n, file[i].key, file[i].size);
        snprintf(path, sizeof path, "file:%s", in_folder("keys.npy"));
        expect_refused(path, STATUS_DATA, file[i].says);
    }
    static const char scalar[] = "{'descr': '<i8', 'fortran_order': False, 'shape': (), }";
    char npy[136] = {0};
    memcpy(npy, "\x93NUMPY\x01\x00\x76\x00", 10);
    snprintf(npy + 10, 118, "%-117s", scalar);
    npy[127] = '\n';
    FILE *raw = fopen(in_folder("scalar.npy"), "w");
    fwrite(npy, 1, sizeof npy, raw);
    fclose(raw);
    snprintf(path, sizeof path, "file:%s", in_folder("scalar.npy"));
    expect_refused(path, STATUS_DATA, "found 0 dimensions, expected keys in one");
    raw = fopen(in_folder("keys.bin"), "w");
    fwrite("12345", 1, 5, raw);
    fclose(raw);
    snprintf(path, sizeof path, "file:%s", in_folder("keys.bin"));
    expect_refused(path, STATUS_DATA, "found 5 bytes, expected .npy, or a multiple of 4");
}

Test(keys, what_does_not_fit, .init = make_folder, .fini = remove_folder)
{
    char path[200];
    struct problem few = {0}, high = {0};
    put_npy("keys.npy", "|u1", 3, (uint8_t[]){1, 9, 2}, 3);
    snprintf(path, sizeof path, "file:%s", in_folder("keys.npy"));
    struct keys k = parsed(path), any = parsed("uniform");
    cr_expect(keys_fit(&k, 3, 10, NULL) == STATUS_OK && keys_fit(&k, 1, 2, NULL) == STATUS_OK);
    cr_expect(keys_fit(&any, 1 << 30, 1, NULL) == STATUS_OK);
    cr_expect(keys_fit(&k, 4, 10, &few) == STATUS_USAGE);
    cr_expect(strstr(few.text, "found 3 keys, expected one for each of 4 elements"), "%s",
              few.text);
    cr_expect(keys_fit(&k, 3, 9, &high) == STATUS_DATA);
    cr_expect(strstr(high.text, "key 1: found 9, expected less than 9 (--bins)"), "%s", high.text);
    keys_free(&k);
    keys_free(&any);
}
