/* The columns of a case, and its id, which is made of them. */
#pragma once

#include "experiments/cases/plan.h"
#include "reference/format/number.h"

/* It points into itself: not to be copied. */
struct case_text {
    const char *column[CASE_ALL];
    struct setting_columns setting;
    char id[CASE_ID_TEXT], device[DEVICE_TEXT], n[24], cond_log2[NUMBER_TEXT], seed[24],
        threads[24], blocks[24], added_in[ADDED_IN_TEXT];
};

/* cond_log2: measured, where it is known. */
void case_text(struct case_text *c, const struct study_case *t, const struct source *s,
               const char *experiment, struct figure cond_log2);

/* What makes its id, and no column says. */
struct case_rest case_rest(const struct study_case *t, const struct source *s, char key_seed[24]);
