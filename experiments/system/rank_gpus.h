/* A GPU for each rank, where a machine has several. */
#pragma once

#include "experiments/system/ranks.h"

/* Which of the ranks on this machine it is, from 0: as Open MPI (OMPI_COMM_WORLD_LOCAL_RANK), MPICH
 * (MPI_LOCALRANKID) or Slurm (SLURM_LOCALID) say; else its number among all, as if all were here.
 */
uint32_t rank_place(struct rank rank);

/* `list` is CUDA_VISIBLE_DEVICES, or NULL; bit k of `alike` is set where the k-th GPU of it, of at
 * most 64, may be dealt. Writes the list that begins with the GPU of the rank at `place`, and goes
 * round. False where that is no other list, or does not fit. */
bool rank_turned(char *out, size_t bytes, const char *list, uint64_t alike, uint32_t place);

/* Before CUDA is first called in this process: turns CUDA_VISIBLE_DEVICES, which processes started
 * from here inherit, so that cuda:0 of each rank on this machine is another GPU. Only GPUs of the
 * first one's name and memory are dealt, so that a study's bits and times are of one kind; where
 * ranks are more than these, some share. A launcher that has given each rank a GPU of its own is
 * left alone: there is one to be seen. */
void rank_take_gpu(struct rank rank);
