/* Benchmarks for tests: rows measured and kept. */
#pragma once

#include <criterion/criterion.h>

#include "experiments/bench/bench.h"

enum { TAKEN_MOST = 400 };

static struct {
    struct bench_row row[TAKEN_MOST];
    size_t count, rounds;
} taken;

static inline enum status take_row(void *context, const struct bench_row *row, struct problem *p)
{
    (void)context, (void)p;
    cr_assert(taken.count < TAKEN_MOST);
    taken.row[taken.count++] = *row;
    return STATUS_OK;
}

/* What is left of the last time is forgotten. */
static inline void measure_rows(struct bench_input *in, const struct bench_row *planned,
                                size_t rows)
{
    const struct bench_listener listener = {.take = take_row};
    struct problem p = {0};
    taken.count = taken.rounds = 0;
    enum status status =
        bench_measure(in, planned, rows, TIMING_REPEATS, &taken.rounds, &listener, &p);
    cr_assert(status == STATUS_OK, "%s", p.text);
}

static inline struct bench_input open_input(struct device device, enum format storage, size_t n)
{
    struct input in;
    struct bench_input b;
    struct problem p = {0};
    cr_assert(input_parse(&in, "uniform", &p) == STATUS_OK, "%s", p.text);
    enum status status = bench_input_open(&b, device, &in, 1, storage, n, &p);
    cr_assert(status == STATUS_OK, "%s", p.text);
    return b;
}

/* The yardstick of this kind in that round, with so many threads; or NULL. */
static inline const struct bench_row *taken_yardstick(size_t round, enum bench_kind kind,
                                                      unsigned threads)
{
    for (size_t i = 0; i < taken.count; i++)
        if (taken.row[i].round == round && taken.row[i].kind == kind &&
            taken.row[i].shape.threads == threads)
            return &taken.row[i];
    return NULL;
}

/* The first row of a method. */
static inline const struct bench_row *taken_method(void)
{
    for (size_t i = 0; i < taken.count; i++)
        if (taken.row[i].method)
            return &taken.row[i];
    cr_assert(false, "no row of a method");
    return NULL;
}
