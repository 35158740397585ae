/* The experiments of scans, and what a person sees of them. */
#include "experiments/program/verbs.h"
#include "tests/support/study.h"

/* The cells of the line that begins with these words, which may be followed by a blank alone; false
 * where there is none. */
static bool line_of(char line[TABLE_WIDTH + 1], const struct text *text, const char *words)
{
    for (const char *at = text->data; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, words, strlen(words)) == 0 && at[strlen(words)] == ' ') {
            snprintf(line, TABLE_WIDTH + 1, "%.*s", (int)strcspn(at, "\n"), at);
            return true;
        }
    }
    return false;
}

/* A cell as the table has it: empty fields are dropped by whoever splits at blanks. */
static void cell_add(struct text *to, const char *field)
{
    if (*field)
        text_format(to, " %.2g", strtod(field, NULL));
}

/* The row of profile.csv at this index, of a study of one case. */
static const char *profile_field(const struct rows *r, size_t index, size_t column)
{
    for (size_t i = 0; i < r->count; i++)
        if (strtoull(r->field[i * r->columns + PROFILE_INDEX], NULL, 10) == index)
            return r->field[i * r->columns + column];
    cr_assert_fail("no point at index %zu", index);
    return NULL;
}

/* Every second power of ten, as there are more than four; each cell is what the files say. */
Test(scan_table, drift_by_position, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    char found[TABLE_WIDTH + 1], squeezed[TABLE_WIDTH + 1] = "";
    const char *out = in_folder("out");
    study_make(&s, "drift",
               (study_words){{"method", "scan/hillis_steele"},
                             {"device", "cpu"},
                             {"storage", "fp32"},
                             {"accumulator", "fp16"},
                             {"input", "uniform:scale=0.01"},
                             {"n", "1200000"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    struct text text = table_of(&s, out), cells = {0};
    struct rows profile = rows_of(out, "profile", profile_column, PROFILE_COLUMNS);
    const struct summary *sum = &s.plan.cases[0].summary;
    cr_assert(strstr(text.data, "uniform:scale=0.01, n = 1200000, inclusive\n"), "%s", text.data);
    cr_assert(line_of(found, &text, "formats"), "%s", text.data);
    cr_expect(strstr(found, " 10^2 ") && strstr(found, " 10^4 ") && strstr(found, " 10^6 ") &&
                  !strstr(found, "10^3") && !strstr(found, "10^5"),
              "%s", found);
    cr_assert(line_of(found, &text, "fp32/fp16  scan/hillis_steele"), "%s", text.data);
    for (char *word = strtok(found, " "); word; word = strtok(NULL, " ")) {
        strcat(squeezed, *squeezed ? " " : "");
        strcat(squeezed, word);
    }
    text_add(&cells, "fp32/fp16 scan/hillis_steele");
    cell_add(&cells, profile_field(&profile, 99, PROFILE_ERR_ULP));
    cell_add(&cells, profile_field(&profile, 9999, PROFILE_ERR_ULP));
    cell_add(&cells, profile_field(&profile, 999999, PROFILE_ERR_ULP));
    cell_add(&cells, profile_field(&profile, 1199999, PROFILE_ERR_ULP));
    text_format(&cells, " %.2g %.0f %.2g %.0f", sum->err_ulp_max.value, sum->scan.worst_index.value,
                sum->err_over_bound_max.value, sum->scan.decreases_max.value);
    cr_expect_str_eq(squeezed, text_string(&cells));
    cr_expect(sum->scan.decreases_max.value > 100 && sum->err_ulp_max.value > 0.5);
    rows_free(&profile);
    text_free(&text);
    text_free(&cells);
    char path[400];
    snprintf(path, sizeof path, "%s/profile.csv", out);
    cr_assert_eq(remove(path), 0);
    cr_expect_eq(s.axes.experiment->table(&cells, &s.plan, out, &s.problem), STATUS_DATA);
    cr_expect(strstr(s.problem.text, "profile.csv"), "%s", s.problem.text);
    text_free(&cells);
    study_free(&s);
}

/* One table for each input, length, kind of scan and seed; formats together; what differs is said,
 * and nothing else. */
Test(scan_table, rows_say_their_case, .init = make_folder, .fini = remove_folder)
{
    static const char *const said[] = {"ones, n = 0, exclusive, seed 1\n",
                                       "ones, n = 7, exclusive, seed 2\n",
                                       "ones, n = 7, inclusive, seed 1\n",
                                       "\nfp16/fp32/fp16  scan/segmented 5 ",
                                       "\nfp16/fp32/fp32  scan/segmented ",
                                       "\nfp32/fp32/fp32  scan/three_kernel       64 ",
                                       "\nfp32/fp32/fp32  scan/three_kernel      128 "};
    struct study s;
    char line[TABLE_WIDTH + 1];
    const char *out = in_folder("out");
    study_make(&s, "drift",
               (study_words){{"method", "scan/segmented,scan/three_kernel"},
                             {"device", "cpu"},
                             {"storage", "fp16,fp32"},
                             {"accumulator", "fp32"},
                             {"input", "ones"},
                             {"n", "0,7"},
                             {"seed", "1,2"},
                             {"scan", "exclusive,inclusive"},
                             {"output", "storage,accumulator"},
                             {"segment", "0,5"},
                             {"threads", "64,128"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    struct text text = table_of(&s, out);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        cr_expect(strstr(text.data, said[i]), "no '%s'", said[i]);
    size_t tables = 0, rows = 0, blocks = 0;
    const char *before = "";
    for (const char *at = text.data; (at = strstr(at, "\nfp")); before = at++)
        blocks += strncmp(at, before, 16) != 0;
    cr_expect_eq(blocks, 8 * 3, "%zu blocks of rows with the same formats", blocks);
    for (const char *at = text.data; (at = strstr(at, "\nformats ")); at++)
        tables++;
    for (const char *at = text.data; (at = strstr(at, "scan/")); at++)
        rows++;
    cr_expect(tables == 2 * 2 * 2 && rows == s.plan.case_count, "%zu tables, %zu rows of %zu",
              tables, rows, s.plan.case_count);
    text_free(&text);
    study_free(&s);
    study_make(&s, "drift",
               (study_words){{"method", "scan/three_kernel"},
                             {"device", "cpu"},
                             {"formats", "bf16/fp32"},
                             {"input", "ones"},
                             {"n", "7"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, out, true), STATUS_OK, "%s", s.problem.text);
    text = table_of(&s, out);
    cr_expect(strstr(text.data, "\nones, n = 7, inclusive\n") &&
                  line_of(line, &text, "bf16/fp32  scan/three_kernel  "),
              "%s", text.data);
    cr_expect(!strstr(text.data, "threads"), "%s", text.data);
    text_free(&text);
    study_free(&s);
}

/* What a case's row says, of summaries that are made up. */
static void make_up(struct study_case *t, uint64_t distinct)
{
    const struct figure none = {0};
    t->finished = true;
    t->summary = (struct summary){.runs = 40, .distinct = distinct, .mode_share = {true, 0.25}};
    t->summary.scan.run_first_diff_min = distinct > 1 ? (struct figure){true, 123} : none;
    t->summary.scan.run_first_diff_median = distinct > 1 ? (struct figure){true, 4567.5} : none;
    t->summary.scan.run_differing_median = (struct figure){true, 0.0625};
    t->summary.scan.run_differing_max = (struct figure){true, 0.5};
    t->summary.scan.run_mean_rel_diff_max = (struct figure){true, 1.5e-7};
    t->summary.scan.differing_max = (struct figure){true, 0.75};
}

Test(scan_table, variance)
{
    struct study s;
    char line[TABLE_WIDTH + 1];
    study_make(&s, "scan-variance",
               (study_words){{"method", "scan/lookback,scan/tiled"},
                             {"device", "cpu"},
                             {"formats", "fp32/fp32"},
                             {"input", "uniform"},
                             {NULL}});
    cr_assert_eq(s.plan.case_count, 2);
    make_up(&s.plan.cases[0], 17);
    make_up(&s.plan.cases[1], 1);
    struct text text = table_of(&s, NULL);
    cr_assert(line_of(line, &text, "fp32/fp32  scan/lookback"), "%s", text.data);
    cr_expect_str_eq(line, "fp32/fp32  scan/lookback     17/40  0.25         123    4568      0.062"
                           "   0.5   1.5e-07       0.75");
    cr_expect(line_of(line, &text, "fp32/fp32  scan/tiled"), "%s", text.data);
    text_free(&text);
    study_free(&s);
}

/* With many cases, methods that always gave one result get a line, not a row a case. */
Test(scan_table, variance_of_many_cases)
{
    struct study s;
    char line[TABLE_WIDTH + 1];
    study_make(&s, "scan-variance",
               (study_words){{"method", "scan/lookback,scan/tiled"},
                             {"device", "cpu"},
                             {"input", "uniform"},
                             {"n", "10"},
                             {"seed", "1..7"},
                             {NULL}});
    cr_assert_eq(s.plan.case_count, 42);
    for (size_t i = 0; i < s.plan.case_count; i++)
        make_up(&s.plan.cases[i], i == 0 ? 2 : 1);
    struct text text = table_of(&s, NULL);
    cr_expect(strcmp(s.plan.cases[0].method->name, "scan/lookback") == 0 &&
              line_of(line, &text, "bf16/fp32  scan/lookback"));
    cr_expect(!line_of(line, &text, "bf16/fp32  scan/tiled"), "%s", text.data);
    cr_expect(strstr(text.data, "\none result in each of 21 cases, 840 runs (promise gpu_to_gpu): "
                                "scan/tiled\n"),
              "%s", text.data);
    static const char verdict[] =
        "1 of 2 methods gave other bits when repeated: scan/lookback in 1 of 21 cases (up to 2 "
        "results in 40\n  runs)\n"
        "earliest difference between two runs: scan/lookback, index 123 (bf16/fp32, uniform, "
        "n = 10)\n\n";
    cr_expect(strncmp(text.data, verdict, strlen(verdict)) == 0, "%s", text.data);
    text_free(&text);
    study_free(&s);
}

/* What is run where no option says anything else: every scan. */
Test(scan_table, experiments_run_every_scan)
{
    static const char *const name[] = {"drift", "scan-variance"};
    for (size_t k = 0; k < 2; k++) {
        struct study s;
        study_make(&s, name[k], (study_words){{"device", "cpu"}, {NULL}});
        for (size_t m = 0; m < method_count; m++) {
            size_t cases = 0;
            for (size_t i = 0; i < s.plan.case_count; i++)
                cases += s.plan.cases[i].method == method_registry[m];
            bool runs = method_registry[m]->operation == &operation_scan && method_registry[m]->cpu;
            cr_expect_eq(cases > 0, runs, "%s: %zu cases of %s", name[k], cases,
                         method_registry[m]->name);
        }
        study_free(&s);
    }
}
