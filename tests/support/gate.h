/* Gates of manifests, for tests. */
#pragma once

#include <stdio.h>

#include "tests/support/program.h"

static inline void put(const char *name, const char *text)
{
    FILE *file = fopen(in_folder(name), "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* The exit status of a manifest's gate. */
static inline int gate(const char *manifest, const char *options)
{
    char words[600];
    put("gate.json", manifest);
    snprintf(words, sizeof words, "gate.json %s", options);
    return run_program("gate", words);
}
