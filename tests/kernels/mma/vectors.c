/* The table of matrix instructions, held to vectors that GPUs computed (tests/data/mma and
 * reports/recorded/h100-mma and h200-mma), and what a damaged file of them is told.
 * ULPSCOPE_VECTORS=DIR holds it to other files, too. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/mma/vectors.h"

#define PUBLISHED ULPSCOPE_SOURCE "/tests/data/mma"
#define H100      ULPSCOPE_SOURCE "/reports/recorded/h100-mma"
#define H200      ULPSCOPE_SOURCE "/reports/recorded/h200-mma"

static size_t hold_folder(const char *folder, size_t least)
{
    size_t files = 0;
    DIR *d = opendir(folder);
    cr_assert(d, "%s", folder);
    for (struct dirent *e; (e = readdir(d));) {
        char path[4096];
        struct mma_held held;
        struct problem p = {0};
        if (!strstr(e->d_name, ".txt"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        enum status status = mma_hold(path, NULL, &held, &p);
        cr_expect(status == STATUS_OK, "%s", p.text);
        cr_expect(held.differing == 0, "%s: %zu of %zu differ, first in line %zu: %llx, not %llx",
                  path, held.differing, held.vectors, held.line, (unsigned long long)held.found,
                  (unsigned long long)held.expected);
        cr_expect(held.vectors >= least, "%s: %zu vectors", path, held.vectors);
        cr_expect(status != STATUS_OK || held.of->held >= 5000, "%s: the row says %llu", path,
                  (unsigned long long)held.of->held);
        files++;
    }
    closedir(d);
    return files;
}

/* Is there a file of the row in this folder? */
static bool stands_in(const char *folder, const struct mma_instruction *i)
{
    char name[MMA_NAME], path[4096];
    mma_name(name, i);
    for (char *c = name; *c; c++)
        *c = (char)(*c == ' ' ? '-' : *c);
    snprintf(path, sizeof path, "%s/%s.txt", folder, name);
    return access(path, R_OK) == 0;
}

Test(mma_vectors, rows_give_the_bits_of_hardware)
{
    cr_expect(hold_folder(PUBLISHED, 64) == 38);
    cr_expect(hold_folder(H100 "/vectors", 1024) == 17);
    cr_expect(hold_folder(H100 "/mixed", 1024) == 8);
    cr_expect(hold_folder(H100 "/corners", 1) == 14);
    cr_expect(hold_folder(H200 "/vectors", 1024) == 17);
    cr_expect(hold_folder(H200 "/mixed", 1024) == 8);
    for (size_t i = 0; i < mma_instruction_count; i++) {
        const struct mma_instruction *row = &mma_instructions[i];
        bool here = stands_in(PUBLISHED, row) || stands_in(H100 "/vectors", row) ||
                    stands_in(H200 "/vectors", row);
        cr_expect(here == (row->held > 0), "%s %s %s: held to %llu vectors, %s", row->chip,
                  mma_units[row->unit], mma_elements[row->rule.element].name,
                  (unsigned long long)row->held, here ? "some stand here" : "none stands here");
    }
    if (getenv("ULPSCOPE_VECTORS"))
        cr_expect(hold_folder(getenv("ULPSCOPE_VECTORS"), 1) > 0);
}

/* A file with this text; what it is told. */
static enum status told(const char *text, struct mma_held *held, struct problem *p)
{
    char path[] = "/tmp/mma-vectors-XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
    enum status status = mma_hold(path, NULL, held, p);
    remove(path);
    return status;
}

#define HEAD "matrix vectors 1\nv100 mma fp16 fp32 k 4 count 1\n"

/* A chip without one would run on no GPU. */
Test(mma_vectors, every_chip_has_a_compute_capability)
{
    const char *chip;
    for (size_t i = 0; (chip = mma_chip(i)); i++)
        cr_expect(mma_capability(chip) > 0, "%s", chip);
    cr_expect(mma_capability("h100") == 90 && mma_capability("ada") == 89 &&
              mma_capability("none") == 0);
}

Test(mma_vectors, damaged_files_are_told)
{
    static const char *const bad[][2] = {
        {"", "line 1"},
        {"matrix vectors 2\n", "line 1"},
        {"matrix vectors 1\n", "line 2"},
        {"matrix vectors 1\nv100 mma fp16 fp32 k 4 count 1 more\n", "line 2"},
        {"matrix vectors 1\nv100 wgmma fp16 fp32 k 4 count 1\n", "no instruction v100 wgmma"},
        {"matrix vectors 1\nh100 mma e4m3xfp16 fp32 k 32 count 1\n", "e4m3 fp32 with B of fp16"},
        {"matrix vectors 1\nh100 mma fp16xe4m3 fp32 k 32 count 1\n", "fp16 fp32 with B of e4m3"},
        {"matrix vectors 1\nv100 mma fp16 fp32 k 0 count 1\n", "k is 0"},
        {"matrix vectors 1\nv100 mma fp16 fp32 k 99999 count 1\n", "k is 99999"},
        {HEAD, "0 vectors"},
        {HEAD "3c003c003c003c00 3c003c003c003c00 00000000\n", "line 3"},
        {HEAD "3c003c003c003c00 3c003c003c003c0 00000000 40800000\n", "line 3"},
        {HEAD "3c003c003c003c00 3c003c003c003c00 00000000 40800000 1\n", "line 3"},
        {HEAD "3c003c003c003c00 3c003c003c003cXX 00000000 40800000\n", "line 3"},
    };
    struct mma_held held;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct problem p = {0};
        cr_expect(told(bad[i][0], &held, &p) == STATUS_DATA, "%zu", i);
        cr_expect(strstr(p.text, bad[i][1]), "%zu: %s", i, p.text);
    }
    char *longer = malloc(100000);
    cr_assert(longer);
    memset(longer, '3', 99999);
    longer[99999] = '\0';
    memcpy(longer, HEAD, strlen(HEAD));
    cr_expect(told(longer, &held, NULL) == STATUS_DATA);
    free(longer);
    struct problem p = {0};
    cr_expect(mma_hold("/nowhere/vectors", NULL, &held, &p) == STATUS_DATA);
    cr_expect(strstr(p.text, "/nowhere/vectors: "), "%s", p.text);
}

Test(mma_vectors, a_wrong_bit_is_found)
{
    struct mma_held held;
    struct problem p = {0};
    cr_expect(told(HEAD "3c003c003c003c00 3c003c003c003c00 00000000 40800000\n", &held, &p) ==
              STATUS_OK);
    cr_expect(held.vectors == 1 && held.differing == 0);
    cr_expect(told(HEAD "3c003c003c003c00 3c003c003c003c00 00000000 40800001\n", &held, &p) ==
              STATUS_OK);
    cr_expect(held.differing == 1 && held.line == 3 && held.found == 0x40800000 &&
              held.expected == 0x40800001);
}
