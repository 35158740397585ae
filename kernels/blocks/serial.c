#include "kernels/blocks/serial.h"

size_t serial_height(size_t n, struct shape shape)
{
    (void)shape;
    return n - 1;
}

void serial_order(struct order *o, struct shape shape)
{
    (void)shape;
    uint32_t sum = 0;
    for (uint32_t i = 1; i < o->leaves; i++)
        sum = order_add(o, sum, i);
    o->output[0] = sum;
}
