/* run allreduce: how wrong are sums over ranks, and which elements change with the algorithm? */
#include "experiments/studies/ranks_table.h"

const struct experiment experiment_allreduce = {
    .name = "allreduce",
    .summary = "how wrong sums over the ranks of an all-reduce are, and which elements change with "
               "algorithm and number of ranks",
    .operation = {&operation_allreduce},
    .ranks = "2,3,4,8",
    .axes = RANKS_AXES,
    .table = ranks_table,
};
