/* The checks of holds.h, for scans: the same claims, held at every index, inclusive and exclusive,
 * and where a method heeds heads, with several kinds of them. */
#pragma once

#include "tests/support/holds.h"

struct scan_case {
    struct array in;
    enum format accumulator, output;
    struct shape shape;
    bool exclusive;
    const uint8_t *heads;
};

/* Runs the CPU side. out: n encodings in the output format. */
enum status scan_run(const struct method *m, const struct scan_case *c, void *out);

/* The case in words, into `why`; returns false. */
bool scan_failed(char why[WHY], const struct method *m, const struct scan_case *c,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* What a scan is asked for besides its input. Returns how many there are for this method: with and
 * without the element itself and, where heads are heeded, with none, few, many and all. `heads`
 * has room for n flags and is refilled by scan_heads. */
struct scan_variant {
    bool exclusive;
    unsigned one_in; /* this many elements is a head, by chance; 0: none */
};
enum { SCAN_VARIANTS = 8 };
size_t scan_variants(const struct method *m, struct scan_variant variant[SCAN_VARIANTS]);

/* Flags for a variant; NULL where there are none. */
const uint8_t *scan_heads(const struct scan_variant *v, uint8_t *heads, size_t n, uint64_t seed);

/* As their namesakes in holds.h, which call them for scans. */
bool holds_scan_order(const struct method *m, char why[WHY]);
bool holds_scan_walk(const struct method *m, char why[WHY]);
bool holds_scan_promise(const struct method *m, char why[WHY]);
bool holds_scan_edges(const struct method *m, char why[WHY]);
bool holds_scan_bound(const struct method *m, char why[WHY]);
