/* run reduce_scatter: how wrong are the sums over ranks that each rank gets a block of, and which
 * of them change with the algorithm? */
#include "experiments/studies/ranks_table.h"

const struct experiment experiment_reduce_scatter = {
    .name = "reduce_scatter",
    .summary = "how wrong sums over the ranks of a reduce-scatter are, and which elements change "
               "with algorithm and number of ranks",
    .operation = {&operation_reduce_scatter},
    .ranks = "2,3,4,8",
    .axes = RANKS_AXES,
    .table = ranks_table,
};
