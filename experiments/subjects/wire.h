/* How a program is asked for a sum, a scan, a dot product, a scatter-add, sums of rows or a matrix
 * product through its standard input and output: one line, then the elements, little-endian and
 * without padding; the answer is nothing but the results.
 *
 *     sum N STORAGE ACCUMULATOR                         1 element of the accumulator's format
 *     scan N STORAGE ACCUMULATOR inclusive OUTPUT       N elements of the format OUTPUT
 *     scan N STORAGE ACCUMULATOR exclusive OUTPUT
 *     dot N STORAGE ACCUMULATOR                         1 element; N elements x come, then N of y
 *     scatter N STORAGE ACCUMULATOR BINS                BINS elements; behind the N elements come
 * as many keys, of 4 bytes, each below BINS
 *     rows N STORAGE ACCUMULATOR ROWS STRIDE            ROWS elements; ROWS, at most 2^32-1,
 * divides N, and STRIDE
 * says how the rows lie, as in kernels/method/matrix.h: 1, one after the other; ROWS, the columns
 * of what lies so transpose N STORAGE ACCUMULATOR ROWS STRIDE       N elements
 *
 *     gemm N STORAGE ACCUMULATOR OUTPUT ROWS COLUMNS K LAYOUT LDA LDB C
 *
 * ROWS x COLUMNS elements of the format OUTPUT: D = A B + C, row after row. Of the N elements that
 * come A has ROWS x K and, where A ends, B has K x COLUMNS: as LAYOUT says, nn, nt, tn or tt, their
 * rows begin LDA and LDB elements apart or, t, their columns; both are as long as need be, or by as
 * many elements longer, which are not to be read. Then come C elements of the format OUTPUT: 0, or
 * ROWS x COLUMNS, row after row.
 *
 * Formats are fp16, bf16, fp32, fp64; of elements also e4m3, e5m2. The end of the input is the end
 * of the program.
 *
 *     time R sum N STORAGE ACCUMULATOR                  the same, and 8 bytes
 *
 * A program may know this of any request: it does the work R times, and behind the results of one
 * of them come the nanoseconds that all R took, without reading and writing, as a whole number of 8
 * bytes. One that does not know it is not timed. */
#pragma once

#include "experiments/operations/request.h"

enum { WIRE_LINE = 320, WIRE_RUNS_MAX = 1 << 24 };

/* The line, with its line break. */
void wire_write(char line[WIRE_LINE], const struct wire_request *r);

/* Takes "time R " off the line, where it begins so; *runs is R, 1 to WIRE_RUNS_MAX. */
bool wire_timed(const char **line, size_t *runs);

/* Reads such a line, without its line break. STATUS_DATA says what was found. */
enum status wire_parse(struct wire_request *r, const char *line, struct problem *p);
