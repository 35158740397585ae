/* The command that a report ends with. */
#pragma once

#include "experiments/cases/axes.h"
#include "experiments/options/options.h"

/* Appends the command line for a shell; where it names no device, those that were found. */
void again_text(struct text *to, const struct arguments *a, const struct device *device,
                size_t devices);
/* Prints "reproduce: " and that. */
void again_print(const struct arguments *a, const struct device *device, size_t devices);
