/* Vectors that a GPU computed, and holding a row of the table to them.
 *
 * A file is text:
 *
 *     matrix vectors 1
 *     h100 wgmma e4m3 fp32 k 32 count 64
 *     A B C D
 *     ...
 *
 * the second line names the row (mma_name; e4m3xe5m2 is A of e4m3, whose row it is, and B of e5m2)
 * and the products of a vector; each line after it is one
 * element of D with the k elements of A and of B that it was made of, and of C: encodings in
 * hexadecimal, each of as many digits as its format has, without gaps. */
#pragma once

#include "kernels/mma/mma.h"
#include "reference/base/problem.h"

struct mma_held {
    const struct mma_instruction *of;
    enum mma_element of_b;
    size_t vectors, differing;
    size_t line; /* of the first that differs, counted from 1; 0: none */
    uint64_t found, expected;
};

/* Holds `rule`, or where it is NULL the row that the file names, to the vectors of a file; two NaNs
 * are equal only where their bits are, but for those of fp64, where the payload of an operand
 * passes through. STATUS_DATA where it cannot be read or is no such file. */
enum status mma_hold(const char *path, const struct mma_rule *rule, struct mma_held *held,
                     struct problem *p);
