/* Which storage formats go with which accumulators. */
#pragma once

#include "experiments/options/options.h"
#include "kernels/method/method.h"

struct format_pair {
    enum format storage, accumulator;
};

/* No pair stands twice. Zero-initialised is empty. */
struct pairs {
    struct format_pair item[FORMATS * FORMATS];
    size_t count;
};

struct formats {
    enum format item[FORMATS];
    size_t count;
};

/* Formats by their names, each once; `option` names it in messages. */
enum status formats_parse(struct formats *formats, const char *option, const struct list *names,
                          struct problem *p);

/* Appends a pair written STORAGE/ACCUMULATOR, or all 16 for `all`. */
enum status pairs_parse(struct pairs *pairs, const char *text, struct problem *p);

/* Makes them what is asked for. Accumulators asked for are combined with every storage format asked
 * for, or, where none is, with all that are in a pair; storage formats alone keep the accumulators
 * that pairs_with says; neither, no change. */
void pairs_narrow(struct pairs *pairs, const struct formats *storage,
                  const struct formats *accumulator);

/* The accumulators that go with a storage format: those paired with it, or where it is in no pair
 * those that are paired with any. */
void pairs_with(struct formats *accumulator, const struct pairs *pairs, enum format storage);

/* "fp16/fp32, bf16/fp32"; "" where there are none. */
enum { PAIRS_TEXT = FORMATS * FORMATS * 12 };
void pairs_text(char text[PAIRS_TEXT], const struct pairs *pairs);
/* Of those that a method takes on a device. */
void method_pairs_text(char text[PAIRS_TEXT], const struct method *m, enum device_kind device);
