/* A study that is stopped, killed or damaged at any moment goes on to the same end. */
#include <signal.h>
#include <sys/resource.h>

#include "experiments/random.h"
#include "tests/study.h"

/* Two finished inputs and several runs each, of fixed-order methods: what is left to chance is time
 * alone. */
static study_words small = {{"method", "sum/serial,sum/tiled"},
                            {"device", "cpu"},
                            {"storage", "fp16,fp64"},
                            {"input", "uniform,symmetric"},
                            {"n", "0,20"},
                            {"runs", "3"},
                            {NULL}};

static struct bytes slurp(const char *path)
{
    struct bytes b = {0};
    char block[4096];
    size_t got;
    FILE *file = fopen(path, "rb");
    cr_assert(file, "%s", path);
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        add_bytes(&b, block, got);
    fclose(file);
    return b;
}

static void spill(const char *path, const struct bytes *b, size_t size)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(b->data, 1, size, file) == size && fclose(file) == 0, "%s", path);
}

/* A finished study, and its files as they were. */
struct base {
    char out[320], results[340], summary[340], json[340];
    struct bytes was_results, was_summary, was_json;
    char *digest;
    size_t rows;
};

static void base_make(struct base *b)
{
    snprintf(b->out, sizeof b->out, "%s", in_folder("out"));
    snprintf(b->results, sizeof b->results, "%s/results.csv", b->out);
    snprintf(b->summary, sizeof b->summary, "%s/summary.csv", b->out);
    snprintf(b->json, sizeof b->json, "%s/study.json", b->out);
    b->rows = (size_t)study_run("variance", small, b->out).runs;
    b->was_results = slurp(b->results);
    b->was_summary = slurp(b->summary);
    b->was_json = slurp(b->json);
    b->digest = study_digest(b->out);
}

static void base_free(struct base *b)
{
    clear_bytes(&b->was_results);
    clear_bytes(&b->was_summary);
    clear_bytes(&b->was_json);
    free(b->digest);
}

/* Puts so many bytes of each file back, resumes, and compares. */
static void expect_same_end(const struct base *b, size_t results, size_t summary)
{
    spill(b->results, &b->was_results, results);
    spill(b->summary, &b->was_summary, summary);
    struct sweep_outcome o = study_run("variance", small, b->out);
    size_t whole = 0;
    for (size_t i = 0; i < results; i++)
        whole += b->was_results.data[i] == '\n';
    char *digest = study_digest(b->out);
    cr_assert_str_eq(digest, b->digest, "%zu bytes of results.csv, %zu of summary.csv", results,
                     summary);
    cr_assert(o.runs == b->rows - (whole ? whole - 1 : 0),
              "%zu bytes: %zu rows were there, %zu were made", results, whole, (size_t)o.runs);
    free(digest);
}

static size_t line_start(const struct bytes *b, size_t lines_from_end)
{
    size_t at = b->size;
    for (; lines_from_end > 0; lines_from_end--)
        for (at--; at > 0 && b->data[at - 1] != '\n'; at--)
            ;
    return at;
}

Test(resume, cut_off_at_every_byte_of_the_last_rows, .init = make_folder, .fini = remove_folder)
{
    struct base b;
    base_make(&b);
    size_t last_summary = line_start(&b.was_summary, 1);
    for (size_t at = line_start(&b.was_results, 2); at <= b.was_results.size; at++)
        expect_same_end(&b, at, at % 2 ? b.was_summary.size : last_summary);
    base_free(&b);
}

Test(resume, cut_off_anywhere, .init = make_folder, .fini = remove_folder)
{
    enum { TRIES = 100 };
    const uint64_t seed = 20240607;
    struct base b;
    base_make(&b);
    for (uint64_t i = 0; i < TRIES; i++) {
        struct draw d = random_draw(seed, RANDOM_VALUES, i);
        expect_same_end(&b, (size_t)random_below(d.word[0], b.was_results.size + 1),
                        (size_t)random_below(d.word[1], b.was_summary.size + 1));
    }
    expect_same_end(&b, 0, 0);
    base_free(&b);
}

Test(resume, files_that_are_gone, .init = make_folder, .fini = remove_folder)
{
    struct base b;
    base_make(&b);
    remove(b.summary);
    struct sweep_outcome o = study_run("variance", small, b.out);
    cr_expect(o.runs == 0 && o.finished == b.rows / 3, "%zu cases", o.finished);
    char *digest = study_digest(b.out);
    cr_expect_str_eq(digest, b.digest, "summary.csv is made anew");
    free(digest);
    remove(b.results);
    cr_expect_eq(study_run("variance", small, b.out).runs, b.rows);
    digest = study_digest(b.out);
    cr_expect_str_eq(digest, b.digest, "results.csv is made anew");
    free(digest);
    base_free(&b);
}

/* summary.csv follows from results.csv, whatever it says itself. */
Test(resume, a_summary_that_disagrees, .init = make_folder, .fini = remove_folder)
{
    struct base b;
    base_make(&b);
    char *mean = memmem(b.was_summary.data, b.was_summary.size, ",3,1,1,", 7);
    cr_assert(mean);
    mean[1] = '4';
    expect_same_end(&b, b.was_results.size, b.was_summary.size);
    base_free(&b);
}

static void expect_left_alone(const struct base *b)
{
    const char *const path[] = {b->results, b->summary, b->json};
    const struct bytes *const was[] = {&b->was_results, &b->was_summary, &b->was_json};
    for (size_t i = 0; i < 3; i++) {
        struct bytes now = slurp(path[i]);
        cr_expect(now.size == was[i]->size && memcmp(now.data, was[i]->data, now.size) == 0,
                  "%s was changed", path[i]);
        clear_bytes(&now);
    }
}

Test(resume, another_study_is_refused, .init = make_folder, .fini = remove_folder)
{
    static const char *const axes[][2] = {{"method", "sum/pairwise"},
                                          {"storage", "fp32"},
                                          {"accumulator", "fp16"},
                                          {"input", "ones"},
                                          {"n", "21"},
                                          {"cond", "7"},
                                          {"seed", "2"},
                                          {"threads", "7"},
                                          {"blocks", "7"},
                                          {"runs", "4"},
                                          {"reference", "mpfr"}};
    struct base b;
    base_make(&b);
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        struct study s = {0};
        ask(&s.request, (study_words){{axes[i][0], axes[i][1]}, {NULL}});
        for (size_t k = 0; small[k][0]; k++)
            if (strcmp(small[k][0], axes[i][0]) != 0)
                ask(&s.request, (study_words){{small[k][0], small[k][1]}, {NULL}});
        cr_assert_eq(study_resolve(&s, "variance"), STATUS_OK, "%s", s.problem.text);
        cr_expect_eq(study_sweep(&s, b.out, false), STATUS_USAGE, "--%s %s was taken", axes[i][0],
                     axes[i][1]);
        cr_expect(strstr(s.problem.text, "another study"), "%s", s.problem.text);
        expect_left_alone(&b);
        study_free(&s);
    }
    struct study s;
    study_make(&s, "variance", (study_words){{"n", "5"}, {"device", "cpu"}, {"runs", "1"}, {NULL}});
    cr_expect_eq(study_sweep(&s, b.out, true), STATUS_OK, "--force: %s", s.problem.text);
    cr_expect_eq(s.outcome.finished, s.plan.trials);
    study_free(&s);
    base_free(&b);
}

Test(resume, edited_results_are_refused, .init = make_folder, .fini = remove_folder)
{
    struct base b;
    base_make(&b);
    size_t second = (size_t)((unsigned char *)memchr(b.was_results.data, '\n', b.was_results.size) -
                             b.was_results.data) +
                    1;
    const struct {
        const char *what, *with, *said;
    } edit[] = {{",ok\n", ",no\n", "line 2: status"},   {",1,sum/", ",2,sum/", "line 2: run"},
                {",1,sum/", ",x,sum/", "line 2: run"},  {"variance,", "variance,0", "case_id"},
                {",0x", ",0y", "result_bits"},          {",ok\n", "\"ok\n", "line "},
                {",sum/", ",,sum/", "line 2: found 28"}};
    for (size_t i = 0; i < sizeof edit / sizeof *edit; i++) {
        struct bytes changed = {0};
        struct study s;
        unsigned char *at = memmem(b.was_results.data + second, b.was_results.size - second,
                                   edit[i].what, strlen(edit[i].what));
        cr_assert(at);
        if (strcmp(edit[i].what, ",0x") == 0) /* the last of three on the line */
            at = memmem(b.was_results.data + second, b.was_results.size - second, ",0x00000000,",
                        12);
        cr_assert(at);
        size_t before = (size_t)(at - b.was_results.data), length = strlen(edit[i].what);
        add_bytes(&changed, b.was_results.data, before);
        add_string(&changed, edit[i].with);
        add_bytes(&changed, at + length, b.was_results.size - before - length);
        spill(b.results, &changed, changed.size);
        study_make(&s, "variance", small);
        cr_expect_eq(study_sweep(&s, b.out, false), STATUS_DATA, "'%s' for '%s'", edit[i].with,
                     edit[i].what);
        cr_expect(strstr(s.problem.text, "results.csv") && strstr(s.problem.text, edit[i].said),
                  "'%s' for '%s': %s", edit[i].with, edit[i].what, s.problem.text);
        struct bytes now = slurp(b.results);
        cr_expect(now.size == changed.size && memcmp(now.data, changed.data, now.size) == 0);
        clear_bytes(&now);
        clear_bytes(&changed);
        study_free(&s);
    }
    base_free(&b);
}

/* Methods that misbehave on demand, in place of the study's first one. */
static struct study *stopped_study;
static int runs_until_stop, runs_until_failure;

static enum status sum_nothing(const struct task *t)
{
    const double one = 1;
    array_encode(&t->out, 0, 1, &one);
    return STATUS_OK;
}

static enum status stopping(const struct task *t, struct problem *p)
{
    (void)p;
    stopped_study->stop = --runs_until_stop == 0;
    return sum_nothing(t);
}

static enum status failing(const struct task *t, struct problem *p)
{
    if (runs_until_failure-- == 0)
        return problem(p, STATUS_DEVICE, "out of imagination");
    return sum_nothing(t);
}

static const struct method fake = {
    .name = "sum/fake",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {FORMAT_PAIR(FP32, FP32), 0},
    .bound = THEOREM_ANY_ORDER,
};

/* ones, n = 1: the fake's result is right; with n = 2 it is wrong beyond every bound. */
static void study_of_fake(struct study *s, const struct method *m, const char *n)
{
    study_words words = {{"method", "sum/serial,sum/tiled"},
                         {"device", "cpu"},
                         {"storage", "fp32"},
                         {"accumulator", "fp32"},
                         {"input", "ones"},
                         {"n", n},
                         {"runs", "6"},
                         {NULL}};
    *s = (struct study){0};
    ask(&s->request, words);
    cr_assert_eq(axes_resolve(&s->axes, experiment_of("variance"), &s->request, &s->problem),
                 STATUS_OK);
    s->axes.method[0] = m;
    cr_assert_eq(plan_make(&s->plan, &s->axes, &s->problem), STATUS_OK);
}

Test(resume, stopped_after_any_run, .init = make_folder, .fini = remove_folder)
{
    struct method m = fake;
    m.cpu = stopping;
    for (int stop = 1; stop < 6; stop++) {
        struct study s;
        char name[16];
        snprintf(name, sizeof name, "out%d", stop);
        study_of_fake(&s, &m, "1");
        stopped_study = &s;
        runs_until_stop = stop;
        cr_expect_eq(study_sweep(&s, in_folder(name), false), STATUS_INTERRUPTED);
        cr_expect(s.outcome.runs == (uint64_t)stop && s.outcome.finished == 0, "stop %d: %ju runs",
                  stop, (uintmax_t)s.outcome.runs);
        study_free(&s);
        struct rows r = rows_read(in_folder(name), false);
        cr_expect_eq(r.count, (size_t)stop, "what was measured is kept");
        rows_free(&r);
        study_of_fake(&s, &m, "1");
        stopped_study = &s;
        runs_until_stop = 1000;
        cr_expect_eq(study_sweep(&s, in_folder(name), false), STATUS_OK, "%s", s.problem.text);
        cr_expect(s.outcome.runs == 12 - (uint64_t)stop && s.outcome.finished == 2);
        study_free(&s);
        r = rows_read(in_folder(name), true);
        cr_expect(r.count == 2 && strcmp(field_of(&r, 0, SUMMARY_RUNS), "6") == 0);
        rows_free(&r);
    }
}

Test(resume, a_failure_is_a_row_and_tried_again, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    struct method m = fake;
    m.cpu = failing;
    runs_until_failure = 2;
    study_of_fake(&s, &m, "1");
    cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.failed == 1 && s.outcome.finished == 1, "the study goes on");
    cr_expect(strstr(s.notes, "sum/fake") && strstr(s.notes, "run 3: out of imagination"), "%s",
              s.notes);
    cr_expect_eq(sweep_verdict(&s.outcome, &s.plan, "out", &s.problem), STATUS_DEVICE);
    cr_expect(strstr(s.problem.text, "1 of 2 cases failed"), "%s", s.problem.text);
    study_free(&s);
    struct rows r = rows_read(in_folder("out"), false);
    cr_assert_eq(r.count, 2 + 1 + 6);
    cr_expect_str_eq(field_of(&r, 2, RESULTS_STATUS), "error");
    cr_expect_str_eq(field_of(&r, 2, RESULTS_RUN), "3");
    cr_expect_str_eq(field_of(&r, 2, RESULTS_RESULT), "");
    cr_expect_str_eq(field_of(&r, 2, RESULTS_EXACT), "1");
    rows_free(&r);
    r = rows_read(in_folder("out"), true);
    cr_expect_eq(r.count, 1, "a case that failed has no summary");
    rows_free(&r);
    runs_until_failure = 1000;
    study_of_fake(&s, &m, "1");
    cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.failed == 0 && s.outcome.runs == 4 && s.outcome.finished == 2);
    cr_expect_eq(sweep_verdict(&s.outcome, &s.plan, "out", &s.problem), STATUS_OK);
    study_free(&s);
    r = rows_read(in_folder("out"), false);
    cr_expect_eq(r.count, 12);
    for (size_t i = 0; i < r.count; i++)
        cr_expect_str_eq(field_of(&r, i, RESULTS_STATUS), "ok");
    rows_free(&r);
    r = rows_read(in_folder("out"), true);
    cr_expect_eq(r.count, 2);
    rows_free(&r);
}

/* A broken bound is told, again when the finished study is asked for again. */
Test(resume, a_broken_bound_fails_the_study, .init = make_folder, .fini = remove_folder)
{
    struct method m = fake;
    m.cpu = failing;
    for (int again = 0; again < 2; again++) {
        struct study s;
        runs_until_failure = 1000;
        study_of_fake(&s, &m, "2");
        cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
        cr_expect_eq(s.outcome.broken, 6, "%zu", s.outcome.broken);
        cr_expect_eq(sweep_verdict(&s.outcome, &s.plan, "out", &s.problem), STATUS_FAILED);
        cr_expect(strstr(s.problem.text, "6 rows broke") && strstr(s.problem.text, "sum/fake") &&
                      strstr(s.problem.text, "run 1"),
                  "%s", s.problem.text);
        study_free(&s);
    }
    struct rows r = rows_read(in_folder("out"), false);
    cr_expect_str_eq(field_of(&r, 0, RESULTS_STATUS), "ok");
    cr_expect_gt(strtod(field_of(&r, 0, RESULTS_ERR_OVER_BOUND), NULL), 1);
    rows_free(&r);
}

Test(resume, what_a_method_does_not_support, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    struct method m = fake;
    m.cpu = failing;
    m.pairs[DEVICE_CPU] = FORMAT_PAIR(FP16, FP16);
    for (int again = 0; again < 2; again++) {
        study_of_fake(&s, &m, "1");
        cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
        cr_expect(s.outcome.finished == 2 && s.outcome.failed == 0);
        study_free(&s);
    }
    m.pairs[DEVICE_CPU] = FORMAT_PAIR(FP32, FP32);
    study_of_fake(&s, &m, "1");
    cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_DATA,
                 "a build that has the method cannot go on: %s", s.problem.text);
    study_free(&s);
    struct rows r = rows_read(in_folder("out"), false);
    cr_assert_eq(r.count, 7);
    cr_expect_str_eq(field_of(&r, 0, RESULTS_STATUS), "unsupported");
    cr_expect_str_eq(field_of(&r, 0, RESULTS_RESULT_BITS), "");
    rows_free(&r);
    r = rows_read(in_folder("out"), true);
    cr_expect(r.count == 2 && strcmp(field_of(&r, 0, SUMMARY_RUNS), "0") == 0);
    rows_free(&r);
    study_make(&s, "accuracy", (study_words){{"device", "cpu"}, {"input", "ones"}, {NULL}});
    for (size_t i = 0; i < s.plan.trials; i++)
        cr_expect(s.plan.trial[i].supported, "not asked for by name: left out");
    study_free(&s);
}

/* More than any machine has: a row, a message with the bytes, and the rest goes on. */
Test(resume, more_than_memory_holds, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    study_make(&s, "accuracy",
               (study_words){{"method", "sum/tiled"},
                             {"device", "cpu"},
                             {"storage", "fp64"},
                             {"input", "uniform"},
                             {"n", "2^50,10"},
                             {NULL}});
    cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.failed == 1 && s.outcome.finished == 1);
    cr_expect(strstr(s.notes, "9.01e+15 bytes"), "%s", s.notes);
    cr_expect_eq(sweep_verdict(&s.outcome, &s.plan, "out", &s.problem), STATUS_DEVICE);
    study_free(&s);
    struct rows r = rows_read(in_folder("out"), false);
    cr_expect(r.count == 2 && strcmp(field_of(&r, 0, RESULTS_STATUS), "error") == 0);
    rows_free(&r);
}

/* A disk that is full at some byte of a study; with room again, it goes on. */
Test(resume, a_full_disk, .init = make_folder, .fini = remove_folder)
{
    struct base b;
    base_make(&b);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t limit = 2200; limit < b.was_results.size; limit += 997) {
        struct study s;
        struct rlimit most = {.rlim_cur = limit, .rlim_max = RLIM_INFINITY};
        char name[32];
        snprintf(name, sizeof name, "full%zu", limit);
        study_make(&s, "variance", small);
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &most), 0);
        enum status status = study_sweep(&s, in_folder(name), false);
        most.rlim_cur = RLIM_INFINITY;
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &most), 0);
        cr_expect(status == STATUS_DATA && strstr(s.problem.text, "could not be written"),
                  "limit %zu: status %d: %s", limit, (int)status, s.problem.text);
        study_free(&s);
        size_t kept = 0;
        if (access(in_folder(name), F_OK) == 0) {
            struct rows r = rows_read(in_folder(name), false);
            kept = r.count;
            rows_free(&r);
        }
        struct sweep_outcome o = study_run("variance", small, in_folder(name));
        cr_expect_eq(o.runs, b.rows - kept, "limit %zu: %zu rows were kept", limit, kept);
        char *digest = study_digest(in_folder(name));
        cr_expect_str_eq(digest, b.digest, "limit %zu", limit);
        free(digest);
    }
    base_free(&b);
}

Test(resume, data_that_has_changed, .init = make_folder, .fini = remove_folder)
{
    struct bytes b = {0};
    struct study s;
    char path[300];
    add_string(&b, "1\n2\n3\n");
    snprintf(path, sizeof path, "%s", put_file("data.txt", &b));
    study_words words = {{"method", "sum/tiled"}, {"device", "cpu"}, {"data", path}, {NULL}};
    study_run("accuracy", words, in_folder("out"));
    b.data[0] = '7';
    put_file("data.txt", &b);
    study_make(&s, "accuracy", words);
    cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_DATA);
    cr_expect(strstr(s.problem.text, "data.txt") && strstr(s.problem.text, "XXH3"), "%s",
              s.problem.text);
    study_free(&s);
    clear_bytes(&b);
}
