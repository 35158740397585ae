#include "tests/support/holds_scan.h"

#include <stdarg.h>
#include <stdio.h>

#include "tests/support/samples.h"

enum status scan_run(const struct method *m, const struct scan_case *c, void *out)
{
    struct task task = {
        .of = &(struct operands){.in = c->in, .exclusive = c->exclusive, .heads = c->heads},
        .out = {c->output, c->in.n, out},
        .accumulator = c->accumulator,
        .shape = c->shape};
    return m->cpu(&task, NULL);
}

bool scan_failed(char why[WHY], const struct method *m, const struct scan_case *c,
                 const char *format, ...)
{
    char detail[WHY / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    return not_held(why, m, c->in.format, c->accumulator, c->in.n, c->shape, "%s%s, output %s: %s",
                    c->exclusive ? "exclusive" : "inclusive", c->heads ? ", with heads" : "",
                    format_facts[c->output].name, detail);
}

size_t scan_variants(const struct method *m, struct scan_variant variant[SCAN_VARIANTS])
{
    static const unsigned one_in[] = {0, 100, 3, 1};
    size_t count = 0, kinds = m->segmented ? sizeof one_in / sizeof *one_in : 1;
    for (size_t i = 0; i < 2 * kinds; i++)
        variant[count++] = (struct scan_variant){i % 2, one_in[i / 2]};
    return count;
}

const uint8_t *scan_heads(const struct scan_variant *v, uint8_t *heads, size_t n, uint64_t seed)
{
    for (size_t i = 0; v->one_in > 0 && i < n; i++)
        heads[i] = sample_next(&seed) % v->one_in == 0 ? (uint8_t)(seed | 1) : 0;
    return v->one_in > 0 ? heads : NULL;
}
