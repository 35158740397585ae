/* Studies of matrix products whose A and B, or scales, lie in files of their own. */
#pragma once

#include "tests/support/study.h"

/* As `run` does it. */
static inline enum status joined_resolve(struct study *s, study_words words)
{
    *s = (struct study){0};
    ask(&s->request, words);
    enum status status = axes_resolve(&s->axes, experiment_of("gemm"), &s->request, &s->problem);
    if (status == STATUS_OK)
        status = axes_join(&s->axes, &s->problem);
    return status == STATUS_OK ? plan_make(&s->plan, &s->axes, &s->problem) : status;
}

static inline struct rows joined_run(study_words words, const char *out)
{
    struct study s;
    cr_assert_eq(joined_resolve(&s, words), STATUS_OK, "%s", s.problem.text);
    cr_assert_eq(study_sweep(&s, out, true), STATUS_OK, "%s", s.problem.text);
    cr_expect_eq(s.outcome.broken, 0);
    study_free(&s);
    return rows_of(out, "results", results_column_of(COLUMNS_OF_PRODUCTS),
                   results_columns(COLUMNS_OF_PRODUCTS));
}
