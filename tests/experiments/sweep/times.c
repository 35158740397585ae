/* The times of a study: what stands in times.csv, and that it survives whatever happens. */
#include <math.h>
#include <unistd.h>

#include "experiments/bench/bench.h"
#include "tests/support/study.h"

static study_words small = {{"method", "sum/serial,sum/tiled"},
                            {"device", "cpu"},
                            {"storage", "fp32"},
                            {"accumulator", "fp32,fp64"},
                            {"input", "uniform:order=ascending,uniform,cond:order=shuffled"},
                            {"cond", "2^10"},
                            {"n", "50,60"},
                            {"seed", "3,4"},
                            {"timed", "5000"},
                            {"runs", "2"},
                            {NULL}};
enum { GROUPS = 2, GROUP_ROWS = 1 + 2 * 2 }; /* a raw read, and methods in accumulators */

static struct rows times_of(const char *out)
{
    return rows_of(out, "times", times_column, TIMES_COLUMNS);
}

static const char *path_of(const char *out)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/times.csv", out);
    return path;
}

/* A method whose timing is made to fail, as the rows say. */
static const char *failing;
static const struct bench_listener *listening;

static enum status take_failing(void *context, const struct bench_row *row, struct problem *p)
{
    struct bench_row failed = *row;
    (void)context;
    if (failing && row->method && strcmp(row->method->name, failing) == 0) {
        failed.time = (struct timing){0};
        failed.status = STATUS_DEVICE;
        snprintf(failed.note, sizeof failed.note, "failed: no luck");
    }
    return listening->take(listening->context, &failed, p);
}

static size_t measured; /* groups */

enum status __real_bench_measure(struct bench_input *in, const struct bench_row *planned,
                                 size_t rows, size_t repeats, size_t *round,
                                 const struct bench_listener *listener, struct problem *p);
enum status __wrap_bench_measure(struct bench_input *in, const struct bench_row *planned,
                                 size_t rows, size_t repeats, size_t *round,
                                 const struct bench_listener *listener, struct problem *p);

enum status __wrap_bench_measure(struct bench_input *in, const struct bench_row *planned,
                                 size_t rows, size_t repeats, size_t *round,
                                 const struct bench_listener *listener, struct problem *p)
{
    struct bench_listener between = *listener;
    between.take = take_failing;
    listening = listener;
    measured++;
    return __real_bench_measure(in, planned, rows, repeats, round, &between, p);
}

/* The id that the case has in a study that runs it. */
static void expect_case_id(const struct rows *r, size_t row)
{
    struct study s;
    char id[CASE_ID_TEXT];
    study_make(&s, "accuracy",
               (study_words){{"method", field_of(r, row, TIMES_METHOD)},
                             {"device", "cpu"},
                             {"storage", field_of(r, row, TIMES_STORAGE)},
                             {"accumulator", field_of(r, row, TIMES_ACCUMULATOR)},
                             {"input", field_of(r, row, TIMES_INPUT)},
                             {"n", field_of(r, row, TIMES_N)},
                             {"seed", "3"},
                             {NULL}});
    cr_assert_eq(s.plan.case_count, 1);
    case_id_text(id, s.plan.cases[0].id);
    cr_expect_str_eq(field_of(r, row, TIMES_CASE_ID), id, "row %zu", row);
    study_free(&s);
}

/* Whatever the orders, lengths and seeds of the cases: each input once, as it is generated. */
Test(times, a_row_for_each_method, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    study_run("ladder", small, out);
    struct rows r = times_of(out);
    cr_assert_eq(r.count, GROUPS * GROUP_ROWS, "%zu rows", r.count);
    for (size_t i = 0; i < r.count; i++) {
        const size_t yardstick = i / GROUP_ROWS * GROUP_ROWS;
        double raw = strtod(field_of(&r, yardstick, TIMES_TIME), NULL),
               time = strtod(field_of(&r, i, TIMES_TIME), NULL);
        cr_expect_str_eq(field_of(&r, i, TIMES_INPUT),
                         i < GROUP_ROWS ? "uniform" : "cond:target=1024", "row %zu", i);
        cr_expect_str_eq(field_of(&r, i, TIMES_N), "5000");
        cr_expect_str_eq(field_of(&r, i, TIMES_ROUND), i < GROUP_ROWS ? "1" : "2");
        cr_expect(time > 0 && atoi(field_of(&r, i, TIMES_REPETITIONS)) == TIMING_REPEATS);
        if (i == yardstick) {
            cr_expect_str_eq(field_of(&r, i, TIMES_METHOD), "raw read");
            cr_expect_str_eq(field_of(&r, i, TIMES_CASE_ID), "");
            continue;
        }
        expect_case_id(&r, i);
        cr_expect(fabs(strtod(field_of(&r, i, TIMES_OF_RAW), NULL) * time / raw - 1) < 1e-14,
                  "row %zu", i);
        cr_expect_str_eq(field_of(&r, i, TIMES_MEMORY), "", "not measured on the CPU");
    }
    rows_free(&r);
}

/* Every method of the registry that takes these formats. */
Test(times, all_methods, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    size_t methods = 0;
    study_run("ladder",
              (study_words){{"device", "cpu"},
                            {"storage", "bf16"},
                            {"accumulator", "fp32"},
                            {"input", "uniform"},
                            {"n", "10"},
                            {"runs", "1"},
                            {"timed", "300"},
                            {NULL}},
              out);
    struct rows r = times_of(out);
    for (size_t m = 0; m < method_count; m++) {
        size_t found = 0;
        bool due = method_registry[m]->operation == &operation_sum &&
                   method_supports(method_registry[m], DEVICE_CPU, BF16, FP32);
        for (size_t i = 0; i < r.count; i++)
            found += strcmp(field_of(&r, i, TIMES_METHOD), method_registry[m]->name) == 0;
        cr_expect_eq(found, due, "%s: %zu rows", method_registry[m]->name, found);
        methods += due;
    }
    cr_expect_geq(methods, 13);
    rows_free(&r);
}

static void spill(const char *path, const struct bytes *b, size_t size)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(b->data, 1, size, file) == size && fclose(file) == 0, "%s", path);
}

static size_t lines_in(const struct bytes *b, size_t size)
{
    size_t lines = 0;
    for (size_t i = 0; i < size; i++)
        lines += b->data[i] == '\n';
    return lines;
}

/* Cut off at many places: groups that are whole stay as they were, byte for byte, others are timed
 * again. */
Test(times, cut_off_anywhere, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    study_run("ladder", small, out);
    struct bytes was = get_file(path_of(out));
    size_t whole[] = {was.size - 1, was.size - 30, was.size / 2, was.size / 3, 40, 0};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        size_t lines = lines_in(&was, whole[i]), groups = lines > 0 ? (lines - 1) / GROUP_ROWS : 0;
        spill(path_of(out), &was, whole[i]);
        measured = 0;
        study_run("ladder", small, out);
        struct bytes now = get_file(path_of(out));
        cr_expect_eq(measured, GROUPS - groups, "%zu bytes: %zu groups timed", whole[i], measured);
        cr_expect_eq(lines_in(&now, now.size), 1 + GROUPS * GROUP_ROWS, "%zu bytes", whole[i]);
        size_t kept = 0;
        for (size_t line = 0; line < 1 + groups * GROUP_ROWS; line += was.data[kept++] == '\n')
            ;
        cr_expect(memcmp(now.data, was.data, kept) == 0, "%zu bytes", whole[i]);
        clear_bytes(&now);
    }
    spill(path_of(out), &was, was.size);
    measured = 0;
    study_run("ladder", small, out);
    struct bytes now = get_file(path_of(out));
    cr_expect(measured == 0 && now.size == was.size && memcmp(now.data, was.data, now.size) == 0,
              "a finished study is left as it is");
    cr_expect_eq(remove(path_of(out)), 0);
    study_run("ladder", small, out);
    cr_expect_eq(measured, GROUPS, "times.csv is made anew");
    clear_bytes(&now);
    clear_bytes(&was);
}

/* Stopped while times are taken: what is whole stays, and the same command goes on. */
Test(times, stopped, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    const char *out = in_folder("out");
    study_run("ladder", small, out);
    cr_assert_eq(remove(path_of(out)), 0);
    study_make(&s, "ladder", small);
    s.stop = 1;
    cr_expect_eq(study_sweep(&s, out, false), STATUS_INTERRUPTED, "%s", s.problem.text);
    study_free(&s);
    struct rows r = times_of(out);
    cr_expect_eq(r.count, 0);
    rows_free(&r);
    study_run("ladder", small, out);
    r = times_of(out);
    cr_expect_eq(r.count, GROUPS * GROUP_ROWS);
    rows_free(&r);
}

/* A method that cannot be timed is a row; the study fails behind it, and tries it again. */
Test(times, failures, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    struct problem p = {0};
    const char *out = in_folder("out");
    study_make(&s, "ladder", small);
    failing = "sum/tiled";
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.untimed == 2 * GROUPS && strstr(s.notes, "sum/tiled on uniform, n = 5000"),
              "%zu: %s", s.outcome.untimed, s.notes);
    cr_expect_eq(sweep_verdict(&s.outcome, &s.plan, out, &p), STATUS_DEVICE);
    cr_expect(strstr(p.text, "times.csv") && strstr(p.text, "again"), "%s", p.text);
    failing = NULL;
    measured = 0;
    study_free(&s);
    study_make(&s, "ladder", small);
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    cr_expect(measured == GROUPS && s.outcome.untimed == 0);
    struct rows r = times_of(out);
    cr_expect_eq(r.count, GROUPS * GROUP_ROWS);
    for (size_t i = 0; i < r.count; i++)
        cr_expect_str_eq(field_of(&r, i, TIMES_NOTE), "");
    rows_free(&r);
    study_free(&s);
}

/* Times of other cases are not taken for this study's. */
Test(times, edited_times_are_refused, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    const struct {
        const char *find, *put, *said;
    } edit[] = {{",uniform,5000,", ",uniform,5001,", "input"},
                {",uniform,5000,", ",unimorf,5000,", "input"},
                {"cpu,sum/serial", "gpu,sum/serial", "input"},
                {"device,method", "device,melody", "method"}};
    study_run("ladder", small, out);
    struct bytes was = get_file(path_of(out));
    for (size_t i = 0; i < sizeof edit / sizeof *edit; i++) {
        struct study s;
        char *at = memmem(was.data, was.size, edit[i].find, strlen(edit[i].find));
        cr_assert(at, "%s", edit[i].find);
        memcpy(at, edit[i].put, strlen(edit[i].put));
        spill(path_of(out), &was, was.size);
        memcpy(at, edit[i].find, strlen(edit[i].find));
        study_make(&s, "ladder", small);
        cr_expect_eq(study_sweep(&s, out, false), STATUS_DATA, "%s", edit[i].put);
        cr_expect(strstr(s.problem.text, "times.csv") && strstr(s.problem.text, edit[i].said), "%s",
                  s.problem.text);
        study_free(&s);
    }
    spill(path_of(out), &was, was.size);
    char *id = (char *)was.data + was.size - 2 - strlen(",fp32,fp32");
    *id = *id == '0' ? '1' : '0';
    spill(path_of(out), &was, was.size);
    struct study s;
    study_make(&s, "ladder", small);
    cr_expect_eq(study_sweep(&s, out, false), STATUS_DATA);
    cr_expect(strstr(s.problem.text, "case_id"), "%s", s.problem.text);
    study_free(&s);
    study_make(&s, "ladder", small);
    cr_expect_eq(study_sweep(&s, out, true), STATUS_OK, "--force: %s", s.problem.text);
    study_free(&s);
    clear_bytes(&was);
}

/* Data are timed as they are. */
Test(times, data, .init = make_folder, .fini = remove_folder)
{
    struct bytes b = {0};
    char path[300];
    const char *out = in_folder("out");
    for (int i = 0; i < 40; i++)
        add_string(&b, "0.5\n");
    snprintf(path, sizeof path, "%s", put_file("halves.txt", &b));
    clear_bytes(&b);
    study_run("ladder",
              (study_words){{"method", "sum/tiled"},
                            {"device", "cpu"},
                            {"data", path},
                            {"n", "30,40"},
                            {"runs", "1"},
                            {NULL}},
              out);
    struct rows r = times_of(out);
    cr_assert(r.count >= 4, "%zu rows", r.count);
    for (size_t i = 0; i < r.count; i++) {
        cr_expect_str_eq(field_of(&r, i, TIMES_INPUT), "halves.txt");
        cr_expect_str_eq(field_of(&r, i, TIMES_STORAGE), "fp64");
        cr_expect_str_eq(field_of(&r, i, TIMES_N), i < r.count / 2 ? "30" : "40");
    }
    rows_free(&r);
}

/* Only where methods are timed. */
Test(times, of_the_ladder_alone, .init = make_folder, .fini = remove_folder)
{
    struct study s = {0};
    const char *out = in_folder("out");
    ask(&s.request, (study_words){{"device", "cpu"}, {"timed", "100"}, {NULL}});
    cr_expect_eq(study_resolve(&s, "accuracy"), STATUS_USAGE);
    cr_expect(strstr(s.problem.text, "--timed") && strstr(s.problem.text, "ladder"), "%s",
              s.problem.text);
    study_free(&s);
    s = (struct study){0};
    ask(&s.request, (study_words){{"device", "cpu"}, {"timed", "100,200"}, {NULL}});
    cr_expect_eq(study_resolve(&s, "ladder"), STATUS_USAGE, "two lengths");
    study_free(&s);
    study_run("accuracy",
              (study_words){{"method", "sum/tiled"}, {"device", "cpu"}, {"n", "5"}, {NULL}}, out);
    cr_expect(access(path_of(out), F_OK) != 0);
}
