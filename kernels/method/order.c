#include "kernels/method/order.h"

#include <stdlib.h>

void order_init(struct order *o, size_t leaves, size_t outputs)
{
    *o = (struct order){.leaves = leaves, .outputs = outputs, .capacity = leaves ? leaves : 1};
    o->operand = malloc(o->capacity * sizeof *o->operand);
    o->output = calloc(outputs ? outputs : 1, sizeof *o->output);
    o->failed = !o->operand || !o->output;
}

void order_free(struct order *o)
{
    free(o->operand);
    free(o->output);
    *o = (struct order){0};
}

uint32_t order_add(struct order *o, uint32_t a, uint32_t b)
{
    if (!o->failed && o->additions == o->capacity) {
        void *grown = realloc(o->operand, 2 * o->capacity * sizeof *o->operand);
        o->failed = !grown;
        if (grown) {
            o->operand = grown;
            o->capacity *= 2;
        }
    }
    if (o->failed)
        return 0;
    o->operand[o->additions][0] = a;
    o->operand[o->additions][1] = b;
    return (uint32_t)(o->leaves + o->additions++);
}

uint32_t order_join(struct order *o, uint32_t a, uint32_t b)
{
    if (a == ORDER_NOTHING || b == ORDER_NOTHING)
        return a == ORDER_NOTHING ? b : a;
    return order_add(o, a, b);
}

uint32_t order_serial(struct order *o, uint32_t *node, size_t count)
{
    for (size_t i = 1; i < count; i++)
        node[0] = order_add(o, node[0], node[i]);
    return node[0];
}

uint32_t order_adjacent(struct order *o, uint32_t *node, size_t count)
{
    for (size_t stride = 1; stride < count; stride *= 2)
        for (size_t i = 0; i + stride < count; i += 2 * stride)
            node[i] = order_add(o, node[i], node[i + stride]);
    return node[0];
}

uint32_t order_halving(struct order *o, uint32_t *node, size_t count)
{
    size_t stride = 1;
    while (stride < count)
        stride *= 2;
    for (; stride > 0; stride /= 2)
        for (size_t i = 0; i < stride && i + stride < count; i++)
            node[i] = order_add(o, node[i], node[i + stride]);
    return node[0];
}

size_t order_balanced_height(size_t count)
{
    size_t height = 0;
    while (height < 63 && (size_t)1 << height < count)
        height++;
    return height;
}

size_t order_height(const struct order *o)
{
    size_t highest = 0;
    uint32_t *height = calloc(o->leaves + o->additions, sizeof *height);
    if (!height)
        return SIZE_MAX;
    for (size_t i = 0; i < o->additions; i++) {
        uint32_t a = height[o->operand[i][0]], b = height[o->operand[i][1]];
        height[o->leaves + i] = 1 + (a > b ? a : b);
    }
    for (size_t i = 0; i < o->outputs; i++)
        if (o->output[i] != ORDER_NOTHING && height[o->output[i]] > highest)
            highest = height[o->output[i]];
    free(height);
    return highest;
}
