/* What ranks left, finished or not, is taken over once: nothing that was run is run again. */
#include "experiments/sweep/fold.h"

#include <sys/stat.h>

#include "tests/support/study.h"

enum { RUNS = 3, CASES = 4, LINES = 1 + RUNS * CASES };

static study_words small = {{"method", "sum/serial,sum/tiled"},
                            {"device", "cpu"},
                            {"storage", "fp32"},
                            {"accumulator", "fp32"},
                            {"input", "uniform,symmetric"},
                            {"n", "20"},
                            {"runs", "3"},
                            {NULL}};

/* A file's lines: the heading, then those of each case, one behind the other. */
struct lines {
    char *all, *line[LINES];
    size_t count;
};

static void get_lines(struct lines *l, const char *path)
{
    struct bytes b = get_file(path);
    *l = (struct lines){.all = strndup((const char *)b.data, b.size)};
    clear_bytes(&b);
    for (char *at = strtok(l->all, "\n"); at; at = strtok(NULL, "\n")) {
        cr_assert(l->count < LINES, "%s", path);
        l->line[l->count++] = at;
    }
}

/* The heading, and `rows` of the `each` rows of each case. */
static void put_lines(const char *out, const char *name, const struct lines *l, const size_t *rows,
                      size_t each)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", out, name);
    FILE *file = fopen(path, "w");
    cr_assert(file && fprintf(file, "%s\n", l->line[0]) > 0, "%s", path);
    for (size_t c = 0; c < CASES; c++)
        for (size_t r = 0; r < rows[c]; r++)
            fprintf(file, "%s\n", l->line[1 + c * each + r]);
    cr_assert_eq(fclose(file), 0);
}

Test(fold, takes_finished_cases_then_the_longest_of_the_others, .init = make_folder,
     .fini = remove_folder)
{
    /* By case, of each rank; and what is to be taken. */
    static const size_t rows[3][CASES] = {{3, 1, 1, 0}, {1, 2, 0, 0}, {0, 1, 3, 0}};
    static const size_t summaries[3][CASES] = {{1, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 1, 0}};
    static const size_t none[CASES] = {0}, taken[CASES] = {3, 2, 3, 0};
    char out[320], path[400];
    snprintf(out, sizeof out, "%s", in_folder("out"));
    cr_assert_eq(study_run("variance", small, out).runs, RUNS * CASES);
    struct lines results, summary, found_results;
    snprintf(path, sizeof path, "%s/results.csv", out);
    get_lines(&results, path);
    snprintf(path, sizeof path, "%s/summary.csv", out);
    get_lines(&summary, path);
    cr_assert_eq(results.count, LINES);
    cr_assert_eq(summary.count, 1 + CASES);
    put_lines(out, "results.csv", &results, none, RUNS);
    put_lines(out, "summary.csv", &summary, none, 1);
    snprintf(path, sizeof path, "%s/ranks", out);
    mkdir(path, 0777);
    for (uint32_t k = 0; k < 3; k++) {
        char *rank = fold_rank(out, k), copy[800];
        mkdir(rank, 0777);
        put_lines(rank, "results.csv", &results, rows[k], RUNS);
        put_lines(rank, "summary.csv", &summary, summaries[k], 1);
        snprintf(copy, sizeof copy, "cp '%s/study.json' '%s'", out, rank);
        cr_assert_eq(system(copy), 0);
        free(rank);
    }

    struct study s;
    struct directory d;
    struct fold_found found;
    json_t *study;
    study_make(&s, "variance", small);
    snprintf(path, sizeof path, "%s/study.json", out);
    cr_assert_eq(study_read(&study, path, NULL), STATUS_OK);
    cr_assert_eq(directory_open(&d, out, NULL), STATUS_OK);
    cr_assert_eq(fold_ranks(&s.plan, &d, study, 0, &found, &s.problem), STATUS_OK, "%s",
                 s.problem.text);
    directory_close(&d);
    cr_expect_eq(found.done.cases, 2);
    cr_expect_eq(found.done.runs, 8);
    for (size_t c = 0; c < CASES; c++)
        cr_expect_eq(found.taken[c], taken[c] > 0);

    /* Finished cases first. */
    static const size_t due[] = {0, 1, 2, 3, 7, 8, 9, 4, 5};
    snprintf(path, sizeof path, "%s/results.csv", out);
    get_lines(&found_results, path);
    cr_assert_eq(found_results.count, sizeof due / sizeof *due);
    for (size_t i = 0; i < found_results.count; i++)
        cr_expect_str_eq(found_results.line[i], results.line[due[i]]);
    snprintf(path, sizeof path, "%s/ranks/0", out);
    cr_expect_neq(access(path, F_OK), 0);

    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    cr_expect_eq(s.outcome.runs, RUNS * CASES - 8);
    cr_expect_eq(s.outcome.finished, CASES);
    free(found.taken);
    json_decref(study);
    free(results.all);
    free(summary.all);
    free(found_results.all);
    study_free(&s);
}
