/* Scans on a GPU, held to what they declare. Each function returns true, or false with the case
 * that failed in `why`. The shape of a case is the one that is asked for. */
#pragma once

#include "kernels/gpu/gpu.h"
#include "tests/support/holds_scan.h"

/* Opens a job for the case. */
enum status gpu_scan_open(struct gpu_job **job, const struct gpu_input *input,
                          const struct method *m, const struct scan_case *c, struct problem *p);

/* Runs it `runs` times, in batches of which two are under way, and keeps the digests. out: NULL, or
 * room for the output of the last run, whose hash must be its digest. */
bool gpu_scan_run(const struct method *m, const struct scan_case *c, const struct gpu_input *input,
                  size_t runs, struct hash128 *digest, void *out, char why[WHY]);

/* Every run of a method with a promise and a CPU side gives its twin's bits. Of another method each
 * output of the last run is within its bound. */
enum { GPU_SCAN_RUNS = 256 }; /* at most */
bool gpu_scan_hold(const struct method *m, const struct scan_case *c, const struct gpu_input *input,
                   size_t runs, char why[WHY]);

/* Every output, n encodings at `out`, is within its bound. */
bool gpu_scan_within_bound(const struct method *m, const struct scan_case *c, void *out,
                           char why[WHY]);

/* The last run gives, for elements that are far from overflow, in each segment: +0 where nothing is
 * covered, NaN after a NaN or infinities of both signs, an infinity after one, -0 where all so far
 * are -0, else a zero or another number as all so far are zeros or not. (Sums that cancel must not
 * occur.) */
bool gpu_scan_hold_specials(const struct method *m, const struct scan_case *c,
                            const struct gpu_input *input, char why[WHY]);

/* The digest of the CPU twin's output. NULL in `keep`, or room for the output. */
bool gpu_scan_twin(const struct method *m, const struct scan_case *c, struct hash128 *digest,
                   void *keep, char why[WHY]);

/* Has it a fixed order and a CPU side to be held to? */
bool gpu_scan_has_twin(const struct method *m);

bool gpu_scan_same(struct hash128 a, struct hash128 b);
