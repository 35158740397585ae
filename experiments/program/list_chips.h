/* ulpscope list chips: the matrix instructions whose bits the program can predict. */
#pragma once

#include <jansson.h>

/* Appends an object for each chip, with its instructions. */
void list_chips(json_t *to);

/* As text: a table of their instructions. */
void print_chips(const char *section, const json_t *chips);
