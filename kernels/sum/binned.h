/* The launch shapes of sum/binned, sum/binned2 and sum/binned4. Included by C and by CUDA. */
#pragma once

/* On a GPU the launch shape is a schedule: the most threads to a block; elements that are worth a
 * lane; and as many blocks as a large GPU holds at once, unless others are asked for. */
enum { BINNED_THREADS = 256, BINNED_PER_LANE = 32, BINNED_BLOCKS = 3 * 132 };
