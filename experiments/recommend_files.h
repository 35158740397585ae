/* The results directory of a recommendation, and the commands that it names. */
#ifndef ULPSCOPE_RECOMMEND_FILES_H
#define ULPSCOPE_RECOMMEND_FILES_H

#include "experiments/options.h"
#include "experiments/recommend.h"
#include "reports/directory.h"

struct recommend_files {
    const char *out;
    struct directory directory;
    json_t *study;
    struct results results;
    struct csv_file summary, times, rows; /* rows: recommend.csv */
};

/* Starts over where the same command left its results there. recommend_files_close is due, also
 * after failure. */
enum status recommend_files_open(struct recommend_files *f, const char *out,
                                 const struct recommend_request *q, const struct arguments *a,
                                 struct problem *p);
/* Writes recommend.csv, breaks.npy (what breaks the next cheaper candidate), and the input's hash.
 */
enum status recommend_files_finish(struct recommend_files *f, const struct recommend_report *r,
                                   struct problem *p);
enum status recommend_files_close(struct recommend_files *f, struct problem *p);

/* The command line for a shell, with the device that it ran on. The caller frees it; NULL when
 * memory is short. */
char *recommend_again(const struct arguments *a, struct device d);

#endif
