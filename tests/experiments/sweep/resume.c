/* A study that is stopped, killed or damaged at any moment goes on to the same end. */
#include <signal.h>
#include <sys/resource.h>

#include "experiments/inputs/philox.h"
#include "tests/support/study.h"

/* Two finished inputs and several runs each, of fixed-order methods: what is left to chance is time
 * alone. */
static study_words small = {{"method", "sum/serial,sum/tiled"},
                            {"device", "cpu"},
                            {"storage", "fp16,fp64"},
                            {"input", "uniform,symmetric"},
                            {"n", "0,20"},
                            {"runs", "3"},
                            {NULL}};

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
    b->was_results = get_file(b->results);
    b->was_summary = get_file(b->summary);
    b->was_json = get_file(b->json);
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

/* The first line of a text whose column has a digit to change: not 0, with another behind it. */
static char *line_with(char *text, size_t column, char **digit)
{
    for (char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        char *field = line;
        for (size_t i = 0; i < column; i++)
            field = strchr(field, ',') + 1;
        *digit = field + strcspn(field, "12345678,\n");
        if (!strchr(",\n", **digit))
            return line;
    }
    cr_assert_fail("no line has a number in column %zu", column);
    return NULL;
}

/* A summary that agrees with the runs is kept, not made anew: what needs the input is taken from
 * it. One that has as many characters, but others, is made anew. */
Test(resume, a_summary_that_agrees_is_kept, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        size_t column;
        bool kept;
    } edit[] = {{SUMMARY_VS_MAX, true}, {SUMMARY_MEAN, false}, {SUMMARY_TIME_NS_MEDIAN, false}};
    struct base b;
    base_make(&b);
    for (size_t i = 0; i < sizeof edit / sizeof *edit; i++) {
        char *digit, *text = strndup((const char *)b.was_summary.data, b.was_summary.size);
        line_with(text, edit[i].column, &digit);
        ++*digit;
        spill(b.summary, &(struct bytes){.data = (unsigned char *)text}, b.was_summary.size);
        cr_expect_eq(study_run("variance", small, b.out).runs, 0);
        struct bytes now = get_file(b.summary);
        cr_assert_eq(now.size, b.was_summary.size);
        cr_expect(
            memcmp(now.data, edit[i].kept ? text : (const char *)b.was_summary.data, now.size) == 0,
            "column %zu: %s", edit[i].column, text);
        clear_bytes(&now);
        free(text);
    }
    base_free(&b);
}

/* A result at its bound does not break it, in the process that resumes as in the one that ran. */
Test(resume, a_result_at_its_bound, .init = make_folder, .fini = remove_folder)
{
    double tie = 0x1.8p-24; /* between two subnormal numbers of fp16 */
    char path[340];
    const char *out = in_folder("ties");
    snprintf(path, sizeof path, "%s", in_folder("tie.npy"));
    cr_assert_eq(data_write_npy(path, &(struct array){FP64, 1, &tie}, NULL), STATUS_OK);
    study_words words = {{"method", "sum/exact"},
                         {"device", "cpu"},
                         {"storage", "fp64"},
                         {"accumulator", "fp16"},
                         {"data", path},
                         {"runs", "1"},
                         {NULL}};
    char *name = strdup(out);
    cr_expect_eq(study_run("variance", words, name).broken, 0);
    struct rows r = rows_read(name, false);
    cr_assert_eq(r.count, 1);
    cr_assert_str_eq(field_of(&r, 0, RESULTS_ERR_OVER_BOUND), "1");
    rows_free(&r);
    cr_expect_eq(study_run("variance", words, name).broken, 0);
    free(name);
}

/* A case has as many rows as runs, whatever has become of them. */
Test(resume, rows_too_many, .init = make_folder, .fini = remove_folder)
{
    static study_words some = {{"method", "sum/serial,sum/widened"},
                               {"device", "cpu"},
                               {"storage", "fp64"},
                               {"accumulator", "fp64"},
                               {"input", "uniform"},
                               {"n", "20"},
                               {"runs", "3"},
                               {NULL}};
    static const struct {
        const char *method, *run, *status;
    } more[] = {{"sum/serial", "4", "ok"},
                {"sum/serial", "4", "error"},
                {"sum/serial", "3", "ok"},
                {"sum/widened", "2", "unsupported"},
                {"sum/widened", "2", "error"}};
    char path[400];
    const char *out = in_folder("rows");
    study_run("variance", some, out);
    snprintf(path, sizeof path, "%s/results.csv", out);
    struct bytes was = get_file(path);
    struct rows r = rows_read(out, false);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        size_t row = 0;
        struct text text = {0};
        struct study s;
        while (strcmp(field_of(&r, row, RESULTS_METHOD), more[i].method) != 0)
            row++;
        for (size_t c = 0; c < r.columns; c++) {
            text_add(&text, c ? "," : "");
            text_field(&text, c == RESULTS_RUN      ? more[i].run
                              : c == RESULTS_STATUS ? more[i].status
                                                    : field_of(&r, row, c));
        }
        text_add(&text, "\n");
        FILE *file = fopen(path, "wb");
        cr_assert(file && fwrite(was.data, 1, was.size, file) == was.size &&
                  fputs(text_string(&text), file) >= 0 && fclose(file) == 0);
        study_make(&s, "variance", some);
        cr_expect_eq(study_sweep(&s, out, false), STATUS_DATA, "%s", text_string(&text));
        cr_expect(strstr(s.problem.text, ": run: found '") &&
                      strstr(s.problem.text, "expected no more runs of this case"),
                  "%s", s.problem.text);
        study_free(&s);
        text_free(&text);
    }
    rows_free(&r);
    clear_bytes(&was);
}

static void expect_left_alone(const struct base *b)
{
    const char *const path[] = {b->results, b->summary, b->json};
    const struct bytes *const was[] = {&b->was_results, &b->was_summary, &b->was_json};
    for (size_t i = 0; i < 3; i++) {
        struct bytes now = get_file(path[i]);
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
    cr_expect_eq(s.outcome.finished, s.plan.case_count);
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
    } edit[] = {{",ok,", ",no,", "line 2: status"},
                {",1,sum/", ",2,sum/", "line 2: run"},
                {",1,sum/", ",x,sum/", "line 2: run"},
                {"variance,", "variance,0", "case_id"},
                {"variance,", "varianca,", "line 2: experiment: found 'varianca', expected varia"},
                {",gpu_to_gpu,", ",,", "line 3: promise: found 'gpu_to_gpu', expected ''"},
                {",0,inf,", ",0,1,", "line 3: cond_log2: found 'inf', expected '1'"},
                {",0x", ",0y", "result_bits"},
                {",ok,", "\"ok,", "line "},
                {",sum/", ",,sum/", "line 2: found 30"},
                {",gpu_to_gpu,", ",none,", "line 3: promise: found 'gpu_to_gpu', expected 'none'"},
                {",ok,fp", ",ok,xp", "line 3: added_in: found 'fp"},
                {",fp32\n", ",xp32\n", "line 3: result_format: found 'fp32', expected 'xp32'"},
                {",sum/", ",\"sum/", "line 2: found a quote that nothing closes"}};
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
        struct bytes now = get_file(b.results);
        cr_expect(now.size == changed.size && memcmp(now.data, changed.data, now.size) == 0);
        clear_bytes(&now);
        clear_bytes(&changed);
        study_free(&s);
    }
    base_free(&b);
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

/* The file as the first schema version had it, without its last two columns, and without its last
 * `rows` rows. */
static void age(const char *path, const struct bytes *is, size_t rows)
{
    struct text older = {0};
    size_t end = line_start(is, rows);
    for (size_t at = 0, commas = 0, cut = 0; at < end; at++) {
        const char *line = (const char *)is->data + at;
        if (at == 0 || line[-1] == '\n') {
            size_t length = strcspn(line, "\n");
            for (commas = 0, cut = at + length; commas < 2;)
                commas += is->data[--cut] == ',';
        }
        if (at < cut || *line == '\n')
            text_append(&older, line, 1);
    }
    struct bytes b = {(unsigned char *)older.data, older.length, older.length};
    spill(path, &b, b.size);
    text_free(&older);
}

Test(resume, of_an_older_version, .init = make_folder, .fini = remove_folder)
{
    struct base b;
    base_make(&b);
    age(b.results, &b.was_results, 4);
    age(b.summary, &b.was_summary, 2);
    json_t *study;
    struct problem p = {0};
    cr_assert_eq(study_read(&study, b.json, &p), STATUS_OK, "%s", p.text);
    json_object_set_new(study, "schema_version", json_integer(1));
    cr_assert_eq(study_write(study, b.json, &p), STATUS_OK);
    json_decref(study);

    struct rows aged = rows_read(b.out, false);
    cr_expect_eq(aged.count, b.rows - 4);
    cr_expect_str_eq(field_of(&aged, 0, RESULTS_STATUS), "ok");
    cr_expect_str_eq(field_of(&aged, 0, RESULTS_ADDED_IN), "");
    rows_free(&aged);

    struct sweep_outcome o = study_run("variance", small, b.out);
    cr_expect_eq(o.runs, 4);
    struct rows r = rows_read(b.out, false);
    cr_assert_eq(r.count, b.rows);
    for (size_t i = 0; i < r.count; i++) {
        const char *due = i + 4 < r.count ? "" : "fp64";
        cr_expect_str_eq(field_of(&r, i, RESULTS_ADDED_IN), due, "row %zu", i);
        cr_expect_str_eq(field_of(&r, i, RESULTS_RESULT_FORMAT), due, "row %zu", i);
    }
    rows_free(&r);
    cr_assert_eq(study_read(&study, b.json, &p), STATUS_OK);
    cr_expect_eq(json_integer_value(json_object_get(study, "schema_version")), SCHEMA_VERSION);
    json_decref(study);
    base_free(&b);
}
