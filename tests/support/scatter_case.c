#include "tests/support/scatter_case.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/oracle.h"
#include "tests/support/samples.h"

void scatter_keys_fill(uint32_t *keys, size_t n, size_t bins, enum scatter_keys how, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t x = sample_next(&seed) >> 32;
        keys[i] = (uint32_t)(x % bins);
        if (how == SCATTER_ONE)
            keys[i] = (uint32_t)(bins / 2);
        if (how == SCATTER_SORTED)
            keys[i] = (uint32_t)(i * bins / n);
        if (how == SCATTER_SKEWED && (x & 7))
            keys[i] = (uint32_t)((x >> 3) % (bins < 3 ? bins : 3));
    }
}

struct scatter *scatter_new(const struct method *m)
{
    struct scatter *s = calloc(1, sizeof *s);
    s->method = m;
    s->in.data = calloc(SCATTER_MOST, sizeof(double));
    s->out.data = calloc(SCATTER_BINS, sizeof(double));
    return s;
}

bool scatter_free(struct scatter *s, bool fine)
{
    free(s->in.data);
    free(s->out.data);
    free(s);
    return fine;
}

void scatter_shape(struct scatter *s)
{
    s->shape = method_shape(s->method, DEVICE_CPU, s->in.n, (struct shape){0});
}

bool scatter_failed(const struct scatter *s, char why[WHY], size_t bin, const char *what)
{
    return not_held(why, s->method, s->in.format, s->accumulator, s->in.n, s->shape,
                    "%zu bins, bin %zu: %s", s->bins, bin, what);
}

bool scatter_run(struct scatter *s, char why[WHY])
{
    s->out.format = s->accumulator;
    s->out.n = s->bins;
    memset(s->out.data, 0x55, array_bytes(s->accumulator, s->bins));
    struct task task = {.of = &(struct operands){.in = s->in, .keys = s->key, .bins = s->bins},
                        .out = s->out,
                        .accumulator = s->accumulator,
                        .shape = s->shape};
    return s->method->cpu(&task, NULL) == STATUS_OK ||
           scatter_failed(s, why, 0, "it could not be run");
}

bool scatter_is(const struct scatter *s, size_t bin, double due, char why[WHY])
{
    char what[128];
    double got = array_get(&s->out, bin);
    snprintf(what, sizeof what, "found %a, expected %a", got, due);
    return same_double(got, due) || scatter_failed(s, why, bin, what);
}

/* The elements of a bin, by a look at every key. Returns how many. */
static size_t gather(const struct scatter *s, size_t bin, double *x, size_t *index)
{
    size_t count = 0;
    for (size_t i = 0; i < s->in.n; i++)
        if (s->key[i] == bin) {
            index[count] = i;
            x[count++] = array_get(&s->in, i);
        }
    return count;
}

bool scatter_each_bin(struct scatter *s, char why[WHY],
                      bool (*visit)(struct scatter *s, size_t bin, const double *x,
                                    const size_t *index, size_t count, char why[WHY]))
{
    static uint8_t seen[SCATTER_BINS];
    static double x[SCATTER_MOST];
    static size_t index[SCATTER_MOST];
    bool fine = true;
    for (size_t i = 0; i < s->in.n; i++)
        seen[s->key[i]] = 1;
    for (size_t b = 0; b < s->bins && fine; b++)
        if (seen[b])
            fine = visit(s, b, x, index, gather(s, b, x, index), why);
        else if (array_bits(&s->out, b) != 0)
            fine = scatter_failed(s, why, b, "nothing is not +0");
    for (size_t i = 0; i < s->in.n; i++)
        seen[s->key[i]] = 0;
    return fine;
}
