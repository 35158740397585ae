/* What a person reads of a benchmark: a table for the sums, and one for the scans of a kind, on
 * each device and input. */
#pragma once

#include "experiments/bench/bench.h"
#include "reports/text/text.h"

/* Empty when zero-initialised. */
struct bench_table {
    struct bench_line *line; /* rows, in the order of their coming */
    size_t count;
    bool failed; /* memory ran out: drawing it fails */
};

void bench_table_add(struct bench_table *t, const struct bench_input *in,
                     const struct bench_row *row);
void bench_table_draw(struct text *to, struct bench_table *t);
void bench_table_free(struct bench_table *t);
