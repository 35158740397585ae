/* The command that a report ends with. */
#pragma once

#include "experiments/cases/axes.h"
#include "experiments/options/options.h"

/* Prints "reproduce: " and the command line; where it names no device, those that were found. */
void again_print(const struct arguments *a, const struct device *device, size_t devices);
