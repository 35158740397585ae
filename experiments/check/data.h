/* The user's own arrays, as a request to check has them. */
#pragma once

#include "experiments/check/check.h"
#include "experiments/data/data.h"

/* A file, as it was read: what arrays of the request are kept in. */
struct check_file {
    char *asked;   /* as --data names it, each comma as `\,` */
    size_t format; /* its place among those of --storage */
    struct data_set set;
};

struct gemm_shape;
struct request; /* experiments/cases/axes.h */
/* Reads --data, in each format that --storage names. check_data_free is due, also after failure. */
enum status check_read_data(struct check_request *r, const struct request *q, struct problem *p);
/* Refuses a length of --n that the file has not, unless there are generated inputs too;
 * check_join_files does where there are several. */
enum status check_data_lengths(const struct check_request *r, struct problem *p);
void check_data_free(struct check_request *r);

/* The files of a request as one operation reads them: those of A and B of a product are one array,
 * in each format of --storage. */
struct check_joined {
    struct data_set set;
    struct check_data *data;
    struct gemm_shape *shape; /* that the files have; NULL where it was asked for */
};
/* Has `one`, a copy of the request `all`, read them so. Its arrays are those of *joined, which is
 * to be freed after `one` and its report. STATUS_USAGE, STATUS_DATA where files or --n do not fit.
 */
enum status check_join_files(struct check_request *one, struct check_joined *joined,
                             const struct operation *o, struct problem *p);
void check_joined_free(struct check_joined *joined);
