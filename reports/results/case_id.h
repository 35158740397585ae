/* Names of cases that stay the same from study to study. */
#pragma once

#include <stdint.h>

#include "reports/columns/columns.h"

enum { CASE_ID_TEXT = 17 };

/* case_id (experiments/cases/plan.h) from the columns of a case in a results directory, in the
 * order of enum case_column, "" where one does not apply. `hash` is of the elements where no seed
 * makes them. */
struct case_rest {
    const char *hash, *keys_hash, *key_seed, *load;
};
uint64_t case_id_columns(const char *const column[CASE_ALL], const struct case_rest *rest);
/* 16 hexadecimal digits. */
void case_id_text(char text[CASE_ID_TEXT], uint64_t id);
