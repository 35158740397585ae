/* What the tests of `check` share: requests, and lies that are found. Their executables are linked
 * with --wrap=clock_ns. */
#pragma once

#include <stdatomic.h>

#include <criterion/criterion.h>

#include "experiments/check/attempts.h"
#include "experiments/inputs/cache.h"

/* A clock of our own, which the linker puts in the place of clock_ns: what there is time for
 * does not hang on how busy the machine is. */

static uint64_t tick_ns = 500000; /* from one look at it to the next */

uint64_t __wrap_clock_ns(void);

uint64_t __wrap_clock_ns(void)
{
    static atomic_uint_fast64_t now;
    return atomic_fetch_add(&now, tick_ns);
}

static inline struct method claims(const char *name, enum promise promise)
{
    struct method m = *method_named(name);
    m.promise = promise;
    return m;
}

static uint64_t lengths[] = {1000, 2049, 33};

static inline struct check_request request_for(const struct method *m, double seconds)
{
    static struct input_cache *cache;
    if (!cache)
        cache = input_cache_new(CHECK_CACHE_BYTES);
    struct check_request r = {.method = m,
                              .n = {3, lengths},
                              .cache = cache,
                              .seed = 1,
                              .runs = 20,
                              .seconds = seconds,
                              .promise = m->promise,
                              .shrink = true};
    pairs_parse(&r.pairs, "fp32/fp32", NULL);
    pairs_parse(&r.pairs, "all", NULL);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r.tried[kind] = true;
    return r;
}

static inline struct check_report checked(const struct check_request *r)
{
    struct check_report report;
    struct problem p = {0};
    cr_assert(check_subject(&report, r, &p) == STATUS_OK, "%s: %s", r->method->name, p.text);
    cr_expect(report.failure.status == STATUS_OK, "%s: %s", r->method->name, report.failure.text);
    return report;
}

static inline void expect_witness(const struct check_report *r, enum check_kind kind, size_t most)
{
    const struct check_break *b = &r->tried[kind].witness;
    const char *name = check_kinds[kind].name;
    cr_expect(b->at.n >= 1 && b->at.n <= most, "%s: a witness of %zu elements", name, b->at.n);
    cr_expect(b->bits[0] != b->bits[1], "%s: both are %#llx", name, (unsigned long long)b->bits[0]);
    cr_expect(*b->is[0] && *b->is[1] && strcmp(b->is[0], b->is[1]) != 0, "%s: '%s' and '%s'", name,
              b->is[0], b->is[1]);
}

/* The lie is found by this kind of attempt, and by no other of its rung or below. */
static inline void expect_found(const struct method *m, enum check_kind kind, size_t most)
{
    struct check_request r = request_for(m, 1);
    struct check_report report = checked(&r);
    enum promise rung = check_kinds[kind].rung;
    for (size_t i = 0; i < CHECK_KINDS; i++)
        if (i == kind || check_kinds[i].rung < rung)
            cr_expect((report.tried[i].broken > 0) == (i == kind), "%s as %s: %s is %s", m->name,
                      check_kinds[kind].name, check_kinds[i].name,
                      report.tried[i].broken ? "broken" : "kept");
    cr_expect(check_broken(&report), "%s: %s", m->name, check_kinds[kind].name);
    cr_expect(report.kept == rung - 1 || report.kept < rung, "%s keeps %s", m->name,
              promise_name[report.kept]);
    if (report.tried[kind].broken)
        expect_witness(&report, kind, most);
}
