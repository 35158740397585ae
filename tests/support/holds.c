#include "tests/support/holds.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool not_held(char why[WHY], const struct method *m, enum format storage, enum format accumulator,
              size_t n, struct shape shape, const char *format, ...)
{
    static const char *const none = "-";
    int used = snprintf(why, WHY,
                        "%s, storage %s, accumulator %s, n = %zu, %u threads, %u blocks: ", m->name,
                        storage < FORMATS ? format_facts[storage].name : none,
                        accumulator < FORMATS ? format_facts[accumulator].name : none, n,
                        shape.threads, shape.blocks);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why + used, (size_t)(WHY - used), format, arguments);
    va_end(arguments);
    return false;
}

size_t shapes_tried(const struct method *m, size_t n, struct shape shape[SHAPES_TRIED])
{
    static const unsigned threads[] = {0, 1, 2, 3, 4, 32, 33, 100, 1024}, blocks[] = {0, 1, 2, 7};
    /* Where the order does not depend on the shape, a CPU's threads are real ones: few. */
    size_t count = 0, choices = m->shape_order ? sizeof threads / sizeof *threads : 5;
    for (size_t i = 0; i < choices; i++)
        for (size_t j = 0; j < sizeof blocks / sizeof *blocks; j++) {
            struct shape s = method_shape(m, DEVICE_CPU, n, (struct shape){threads[i], blocks[j]});
            bool known = false;
            for (size_t k = 0; k < count; k++)
                known |= shape[k].threads == s.threads && shape[k].blocks == s.blocks;
            if (!known)
                shape[count++] = s;
        }
    return count;
}

/* n ones, which stay until there are more. */
static struct array ones(enum format f, size_t n)
{
    static struct array kept[ACCUMULATORS];
    if (!kept[f].data || kept[f].n < n) {
        free(kept[f].data);
        kept[f] = (struct array){f, n, malloc(array_bytes(f, n + 1))};
        for (size_t i = 0; kept[f].data && i < n; i++)
            array_encode(&kept[f], i, 1, &(double){1});
    }
    return (struct array){f, n, kept[f].data};
}

bool only_adds(const struct method *m)
{
    return operation_plain(m->operation) && exact_facts[m->operation->of].form == FORM_SUM;
}

enum exact_value value_due(const struct method *m)
{
    return m->operation->inputs == 2 || !operation_plain(m->operation) ? EXACT_SUM
                                                                       : m->operation->of;
}

enum status run_method_once(const struct method *m, const struct array *in, enum format accumulator,
                            struct shape shape, void *out)
{
    struct operands of = {.in = *in, .product = m->product};
    struct task task = {.of = &of,
                        .out = {accumulator, m->operation->outputs(in->n, 0), out},
                        .accumulator = accumulator,
                        .shape = shape};
    if (m->operation->inputs == 2)
        of.in2 = ones(in->format, in->n);
    return m->cpu(&task, NULL);
}
