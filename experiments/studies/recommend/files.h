/* The results directory of a recommendation, and the commands that it names. */
#pragma once

#include "experiments/options/options.h"
#include "experiments/studies/recommend/recommend.h"
#include "reports/results/directory.h"

struct recommend_files {
    const char *out;
    char *recommend, *breaks; /* paths */
    struct directory directory;
    json_t *study;
    struct results results;
    struct csv_file summary, times, rows; /* rows: recommend.csv */
};

/* The files are written beside those of an earlier answer, which stay until
 * recommend_files_finish. recommend_files_close is due, also after failure. */
enum status recommend_files_open(struct recommend_files *f, const char *out,
                                 const struct recommend_request *q, const struct arguments *a,
                                 struct problem *p);
/* Writes recommend.csv and breaks.npy (what breaks the next cheaper candidate), puts the new files
 * in the place of the earlier ones, and writes study.json, with the input's hash. */
enum status recommend_files_finish(struct recommend_files *f, const struct recommend_report *r,
                                   struct problem *p);
enum status recommend_files_close(struct recommend_files *f, struct problem *p);

/* Answers the question of a study.json once more, into the directory that --out of `a` says:
 * `run --from`. */
enum status recommend_repeat(const json_t *study, const char *path, const struct arguments *a,
                             struct problem *p);
/* Answers a command line. from: NULL, or the study.json, called `path`, that recorded what it
 * reads. */
enum status recommend_answer(const struct arguments *a, const json_t *from, const char *path,
                             struct problem *p);

/* The command line for a shell, with the device that it ran on. The caller frees it; NULL when
 * memory is short. */
char *recommend_again(const struct arguments *a, struct device d);
