/* Sums over ranks by an MPI library, drawn at random and held to the models of its algorithms;
 * ranks that disagree, die or hang; what is left when all are killed. */
#pragma once

#include <criterion/criterion.h>

#include "experiments/subjects/foreign_state.h"
#include "experiments/subjects/mpi.h"
#include "experiments/subjects/subject.h"

enum { MPI_CASE_RANKS = 33, MPI_CASE_ELEMENTS = 66000 };

/* Skips a test where the library is not there. ULPSCOPE_SEED says what is drawn; 1. The program and
 * the folder of workers that fail as ULPSCOPE_PLANT says are the test's. */
void mpi_cases_begin(enum mpi_library l, const char *program);
uint64_t mpi_cases_seed(void);
uint64_t mpi_draw(void);
void mpi_draw_from(uint64_t state); /* begins the sequence of this number */

const struct method *mpi_subject(const char *name);

struct mpi_case {
    enum format f;
    size_t ranks, elements;
    double in[MPI_CASE_RANKS * MPI_CASE_ELEMENTS], out[2][MPI_CASE_ELEMENTS];
};
/* The caller frees it. */
struct mpi_case *mpi_case_make(enum format f, size_t ranks, size_t elements);
/* To out[to]. */
enum status mpi_case_run(struct mpi_case *c, const struct method *m, int to, struct problem *p);

struct mpi_counts {
    size_t cases, predicted, in_rank_order, elements;
};
/* Says them; expects so many predicted, most of them with other bits than rank order has. */
void mpi_expect_counts(const struct mpi_counts *counts, size_t predicted);

/* One case, of elements drawn, against its model if there is one. */
void mpi_hold_case(struct mpi_counts *counts, const struct method *m, enum format f, size_t ranks,
                   size_t elements);
/* `cases` of them, of any format and length, on so many ranks. */
void mpi_hold(struct mpi_counts *counts, const struct method *m, size_t ranks, size_t cases);

/* PREFIXexact and PREFIXbinned promise what allreduce/exact and allreduce/binned do, and have their
 * bits on addends that are hard to add. */
void mpi_expect_ours(const char *prefix);

/* A run of 3 ranks of which one fails so, in time, and one after it, which does not. */
void mpi_expect_planted(const char *subject, const char *plant, double timeout_s, enum status due,
                        const char *words);
/* `check SUBJECT` on three ranks, killed when it has begun `processes`: none is left. meanwhile()
 * is called before that; NULL: nothing. */
void mpi_expect_none_left(const char *subject, const char *program, size_t processes,
                          void (*meanwhile)(const char *entry));
/* What all processes that a test begins have in their environment. */
const char *mpi_entry(void);
