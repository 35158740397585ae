/* libulpscope: sums that merge. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/library/handles.h"
#include "kernels/blocks/binned_state.h"
#include "kernels/blocks/exact_state.h"

struct ulpscope_state {
    unsigned folds; /* 0: exact */
    enum format storage, accumulator;
    struct binned_state binned;
    struct exact_state exact;
};

static struct ulpscope_state *allocate(struct problem *p)
{
    struct ulpscope_state *s = calloc(1, sizeof *s);
    if (!s)
        problem(p, STATUS_MEMORY, "state: out of memory (%zu bytes)", sizeof *s);
    return s;
}

enum ulpscope_status ulpscope_state_new(struct ulpscope_state **made, unsigned folds,
                                        enum ulpscope_format storage,
                                        enum ulpscope_format accumulator,
                                        struct ulpscope_error *error)
{
    struct problem p = {0};
    *made = NULL;
    if (library_format(storage, "storage", &p) != STATUS_OK ||
        library_accumulator(accumulator, "accumulator", &p) != STATUS_OK)
        return library_failed(error, &p);
    if (folds != 0 && (folds < BINNED_FOLDS_LEAST || folds > BINNED_FOLDS_MOST)) {
        problem(&p, STATUS_USAGE, "state: found %u folds, expected 0 (exact), or %d to %d", folds,
                BINNED_FOLDS_LEAST, BINNED_FOLDS_MOST);
        return library_failed(error, &p);
    }
    struct ulpscope_state *s = allocate(&p);
    if (!s)
        return library_failed(error, &p);
    s->folds = folds;
    s->storage = (enum format)storage;
    s->accumulator = (enum format)accumulator;
    if (folds == 0)
        exact_state_init(&s->exact);
    else if (binned_state_init(&s->binned, s->storage, s->accumulator, folds, &p) != STATUS_OK) {
        free(s);
        return library_failed(error, &p);
    }
    *made = s;
    return ULPSCOPE_OK;
}

void ulpscope_state_free(struct ulpscope_state *s)
{
    free(s);
}

enum ulpscope_status ulpscope_state_add(struct ulpscope_state *s, const struct ulpscope_array *a,
                                        struct ulpscope_error *error)
{
    struct problem p = {0};
    struct array in;
    if (library_array(&in, a, &p) == STATUS_OK && s->folds && in.format != s->storage)
        problem(&p, STATUS_USAGE, "state: found an array of %s, expected %s",
                format_facts[in.format].name, format_facts[s->storage].name);
    else if (p.status == STATUS_OK &&
             in.n > INT64_MAX - (s->folds ? s->binned.terms : s->exact.terms))
        problem(&p, STATUS_DATA, "state: more than 2^63 - 1 elements");
    if (p.status != STATUS_OK)
        return library_failed(error, &p);
    if (s->folds)
        binned_state_add(&s->binned, &in, 0, in.n);
    else
        exact_state_add(&s->exact, &in, 0, in.n);
    return ULPSCOPE_OK;
}

enum ulpscope_status ulpscope_state_merge(struct ulpscope_state *to,
                                          const struct ulpscope_state *from,
                                          struct ulpscope_error *error)
{
    struct problem p = {0};
    if (!to->folds != !from->folds)
        problem(&p, STATUS_USAGE, "state: found a state of %u folds, expected %u", from->folds,
                to->folds);
    else if (to->folds)
        binned_state_merge(&to->binned, &from->binned, &p);
    else
        exact_state_merge(&to->exact, &from->exact, &p);
    return p.status == STATUS_OK ? ULPSCOPE_OK : library_failed(error, &p);
}

double ulpscope_state_sum(const struct ulpscope_state *s)
{
    return s->folds ? binned_state_finish(&s->binned)
                    : exact_state_finish(&s->exact, s->accumulator);
}

size_t ulpscope_state_bytes(const struct ulpscope_state *s)
{
    return s->folds ? (size_t)BINNED_STATE_BYTES : (size_t)EXACT_STATE_BYTES;
}

void ulpscope_state_write(const struct ulpscope_state *s, void *bytes)
{
    if (s->folds)
        binned_state_write(&s->binned, bytes);
    else
        exact_state_write(&s->exact, bytes);
}

/* Neither kind: what either reader would say of it, it would say of its own kind alone. */
static bool is_none(const unsigned char *bytes, size_t size, struct problem *p)
{
    if (size < 4) {
        problem(p, STATUS_DATA, "state: found %zu bytes, expected %d (exact) or %d (binned)", size,
                EXACT_STATE_BYTES, BINNED_STATE_BYTES);
        return true;
    }
    if (memcmp(bytes, "ulpe", 4) == 0 || memcmp(bytes, "ulpb", 4) == 0)
        return false;
    problem(p, STATUS_DATA,
            "state: bytes 0 to 3 are %02x %02x %02x %02x, expected 75 6c 70 65 (exact) or "
            "75 6c 70 62 (binned)",
            bytes[0], bytes[1], bytes[2], bytes[3]);
    return true;
}

enum ulpscope_status ulpscope_state_read(struct ulpscope_state **made, const void *bytes,
                                         size_t size, enum ulpscope_format accumulator,
                                         struct ulpscope_error *error)
{
    struct problem p = {0};
    *made = NULL;
    if (library_accumulator(accumulator, "accumulator", &p) != STATUS_OK ||
        is_none(bytes, size, &p))
        return library_failed(error, &p);
    struct ulpscope_state *s = allocate(&p);
    if (!s)
        return library_failed(error, &p);
    s->accumulator = (enum format)accumulator;
    if (memcmp(bytes, "ulpb", 4) == 0) {
        binned_state_read(&s->binned, bytes, size, &p);
        s->folds = s->binned.folds;
        s->storage = s->binned.storage;
        s->accumulator = s->binned.accumulator;
    } else {
        exact_state_read(&s->exact, bytes, size, &p);
    }
    if (p.status != STATUS_OK) {
        free(s);
        return library_failed(error, &p);
    }
    *made = s;
    return ULPSCOPE_OK;
}
