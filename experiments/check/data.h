/* The user's own arrays, as a request to check has them. */
#pragma once

#include "experiments/check/check.h"
#include "experiments/data/data.h"

/* A file, as it was read: what arrays of the request are kept in. */
struct check_file {
    char *asked; /* as --data names it, each comma as `\,` */
    struct data_set set;
};

struct request; /* experiments/cases/axes.h */
/* Reads --data, in each format that --storage names. check_data_free is due, also after failure. */
enum status check_read_data(struct check_request *r, const struct request *q, struct problem *p);
/* Refuses a length of --n that no file has, unless there are generated inputs too. */
enum status check_data_lengths(const struct check_request *r, struct problem *p);
void check_data_free(struct check_request *r);
