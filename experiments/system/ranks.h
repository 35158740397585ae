/* Processes that mpirun, srun or the like started together, and how they share work: through files
 * of a folder that all see, so that no MPI is linked. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference/base/problem.h"

enum { RANKS_MAX = 65536 };

/* From 0, of `count`; 1 of a process by itself. */
struct rank {
    uint32_t index, count;
};

/* What the environment says: ULPSCOPE_RANK (`2/4` is the second of four, `off` none), else what
 * Open MPI (OMPI_COMM_WORLD_RANK, _SIZE), MPICH (PMI_RANK, PMI_SIZE) or Slurm's srun
 * (SLURM_PROCID, SLURM_STEP_NUM_TASKS) set. Of Slurm a step of srun's counts alone: the script of a
 * job has variables of tasks too, but is one process. STATUS_USAGE where ULPSCOPE_RANK is neither.
 */
enum status rank_find(struct rank *r, struct problem *p);

/* How long rank 0 waits for the others; they wait twice as long for it: ULPSCOPE_RANK_SECONDS, or
 * 30. */
uint64_t rank_seconds(void);

/* Ranks at work. Each holds a lock (flock) on a file of its own in the folder for as long as it
 * lives: a rank whose lock is free is gone, however it went. Across hosts that needs a file system
 * that shares locks, which was not tried. */
struct meeting;

/* Takes the place of a rank in a folder, which rank 0 makes where it is not there. STATUS_DATA
 * where another process has that place, STATUS_INTERRUPTED by *stop. meeting_close is due, also
 * after failure. */
enum status meeting_open(struct meeting **m, const char *folder, struct rank r,
                         const volatile sig_atomic_t *stop, struct problem *p);

/* Rank 0: tells all ranks a word, which begins the job, and waits until they have heard; those that
 * do not come in time hear it when they do. *heard says how many have, itself included. */
enum status meeting_say(struct meeting *m, const void *word, size_t bytes, uint32_t *heard,
                        struct problem *p);
/* The other ranks: waits for that word, which the caller frees. STATUS_DATA where there has been
 * no rank 0 for that time. */
enum status meeting_hear(struct meeting *m, void **word, size_t *bytes, struct problem *p);

/* The next number, from 0: each is given to one rank of the job. STATUS_INTERRUPTED where rank 0 is
 * gone, or began another job. */
enum status meeting_take(struct meeting *m, uint64_t *number, struct problem *p);

/* What a rank has done so far; and, for rank 0, what all have. Both go through files at most once a
 * second. */
struct meeting_done {
    uint64_t cases, runs;
};
void meeting_tell(struct meeting *m, struct meeting_done done);
struct meeting_done meeting_told(struct meeting *m, struct meeting_done own);

/* Rank 0 waits until all others are gone; these wait for nobody. `wait` is called again and again
 * meanwhile; or NULL. */
enum status meeting_end(struct meeting *m, void (*wait)(void *context), void *context,
                        struct problem *p);

/* NULL is fine. */
void meeting_close(struct meeting *m);

/* Removes the files of meetings, and the folder if it is then empty. */
void meeting_clear(const char *folder);

/* Is a rank of a job that has begun still at work in this folder? *index says which. */
bool meeting_held(const char *folder, uint32_t *index);
