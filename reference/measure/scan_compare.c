/* One output beside another: a twin's, or its own one index earlier. */
#include <math.h>

#include "reference/measure/scan_part.h"

/* |x - y| / |y|, y a number but not 0. */
static double relative(double x, double y)
{
    if (isinf(x - y) && isfinite(x)) {
        x /= 2;
        y /= 2;
    }
    return fabs(x - y) / fabs(y);
}

static void compare_twin(struct scan_contrast *c, const struct array *out, const struct array *twin,
                         const struct scan_block *b, size_t begin)
{
    size_t width = (size_t)format_facts[out->format].bytes;
    double difference[SCAN_BLOCK];
    size_t differences = 0;
    c->compared += b->count;
    if (memcmp((const char *)out->data + begin * width, (const char *)twin->data + begin * width,
               b->count * width) == 0)
        return;
    for (size_t i = 0; i < b->count; i++) {
        uint64_t bits = format_canonical(out->format, array_bits(out, begin + i));
        if (bits == format_canonical(out->format, array_bits(twin, begin + i)))
            continue;
        double y = array_get(twin, begin + i);
        if (c->differing++ == 0)
            c->first_diff = begin + i;
        if (isfinite(y) && y != 0)
            difference[differences++] = relative(b->result[i], y);
        else
            c->compared--;
    }
    struct array all = {FP64, differences, difference};
    exact_add_array(&c->relative, &all, 0, differences);
}

void scan_part_compare(struct scan_part *part, const struct scan_block *b, size_t begin)
{
    const uint8_t *heads = part->scan->heads;
    for (int t = 0; t < SCAN_TWINS; t++)
        if (part->out->twin[t])
            compare_twin(&part->contrast[t], &part->out->out, part->out->twin[t], b, begin);
    double before = begin > 0 ? array_get(&part->out->out, begin - 1) : -INFINITY;
    for (size_t i = 0; i < b->count; i++) {
        bool head = begin + i == 0 || (heads && heads[begin + i]);
        part->decreases += !head && !(b->result[i] >= before);
        before = b->result[i];
    }
}
