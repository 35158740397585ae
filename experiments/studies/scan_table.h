/* Tables of scans for people: the cases on one input under a heading. */
#pragma once

#include "experiments/cases/plan.h"
#include "reports/text/table.h"

struct scan_table {
    const struct plan *plan;
    const char *align; /* the letters of the columns behind those that say which case it is */
    /* Appends their names, to a table of cases of n elements. */
    void (*header)(struct table *to, const struct scan_table *t, size_t n);
    /* Appends their cells of a case. */
    void (*row)(struct table *to, const struct scan_table *t, const struct study_case *one);
    bool (*left_out)(const struct plan *plan, const struct method *m); /* NULL: none is */
    const void *context;
};

/* Appends a table for each input that finished cases read. STATUS_MEMORY when memory is short. */
enum status scan_tables(struct text *to, const struct scan_table *t, struct problem *p);

/* Appends the tables of what has bins, rows or masks. */
enum status scan_tables_bins(struct text *to, const struct plan *plan, struct problem *p);
/* Those of matrix products. */
enum status scan_tables_product(struct text *to, const struct plan *plan, struct problem *p);
