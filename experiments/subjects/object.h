/* A subject of a shared object, loaded into this process, which it may take down. */
#pragma once

#include "kernels/method/method.h"
#include "kernels/ulpscope_subject.h"

/* Loads PATH.so:NAME. The method takes host memory whatever the device, as foreign methods do, and
 * lives as long as the process; one run at a time. STATUS_DATA where the object cannot be loaded or
 * is none of ours, STATUS_USAGE where it has no such subject (the message names those it has) or
 * where it asks for what ulpscope has not. */
enum status object_load(const struct method **m, const char *name, struct problem *p);

/* Subject i of some, in the layout that this version of ulpscope_subject.h (1, 2) gave them. */
struct ulpscope_subject object_subject(uint32_t version, const void *subjects, uint32_t i);

/* A set of ULPSCOPE_PAIRs, and back: without the formats that ulpscope_subject.h has no name for.
 */
struct format_pairs object_pairs(uint64_t bits);
uint64_t object_pair_bits(const struct format_pairs *pairs);

/* What the last run took: host calls by the clock, device work by events. */
uint64_t object_time_ns(void);

/* Does it take device memory? */
bool object_on_device(void);

/* One run of a subject, which takes *time_ns: host calls by the clock, device work by events.
 * STATUS_DATA where it leaves a result unwritten, of which a second call makes sure; and in host
 * memory where it writes beyond the results, or to its input. */
enum status object_run(const struct ulpscope_subject *s, const struct task *t, uint64_t *time_ns,
                       struct problem *p);

/* A run on device memory: `t` is the host's, its input a probe's (experiments/runs/probe.h); what
 * t->out holds is what results hold before. `call` is completed and handed to the subject.
 * STATUS_DEVICE in a build without CUDA. */
enum status object_run_cuda(const struct ulpscope_subject *s, const struct task *t,
                            struct ulpscope_task *call, uint64_t *time_ns, struct problem *p);

/* Did the last run return a number that is not 0? */
bool object_refused(void);
/* STATUS_DATA for a number that is not 0. */
enum status object_returned(const struct method *m, int number, struct problem *p);
