/* The order of sum/serial, ((0 + 1) + 2) + ..., as members of a descriptor. */
#pragma once

#include "kernels/method/method.h"

size_t serial_height(size_t n, struct shape shape);
size_t serial_bin_height(const size_t *element, size_t terms, size_t n, size_t bins);
void serial_order(struct order *o, struct shape shape);
