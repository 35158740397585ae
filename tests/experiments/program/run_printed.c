/* ulpscope run: what it prints, as text and as JSON. */
#include <unistd.h>

#include "experiments/program/verbs.h"
#include "tests/support/study.h"

/* The verb itself, with what it prints going nowhere. */
static enum status verb(struct problem *p, int argc, const char *const *argv)
{
    struct arguments a;
    *p = (struct problem){0};
    enum status status = arguments_parse(&a, argc, (char **)argv, p);
    return status == STATUS_OK ? a.verb->run(&a, p) : status;
}

/* A message that begins with no name says nothing. */
Test(verb_run, of_empty_words)
{
    static const struct {
        const char *words[5];
        int count;
        const char *says;
    } empty[] = {
        {{"", "sum", ""}, 3, "sum: found an empty operand: usage: ulpscope sum FILE"},
        {{"", "report", ""}, 3, "report: found an empty operand: usage: ulpscope report DIR"},
        {{"", "compare", "a", ""}, 4, "compare: found an empty operand: usage: "},
        {{"", "run", "--from", ""}, 4, "run: option --from: found an empty value, expected FILE"},
        {{"", "gen", "ones", "--n=3", "-o"}, 6, "gen: option --out: found an empty value"},
    };
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        const char *words[7] = {"", "", "", "", "", "", NULL};
        struct problem p;
        memcpy(words, empty[i].words, sizeof empty[i].words);
        words[empty[i].count - 1] = "";
        words[empty[i].count] = NULL;
        cr_expect_eq(verb(&p, empty[i].count, words), STATUS_USAGE);
        cr_expect(strncmp(p.text, empty[i].says, strlen(empty[i].says)) == 0, "'%s', expected '%s'",
                  p.text, empty[i].says);
    }
}

/* Where the exact value is no finite number, there are no digits to be right: none is made up. */
Test(verb_run, of_infinities, .init = make_folder, .fini = remove_folder)
{
    const char *printed = in_folder("printed");
    const char *words[] = {"ulpscope",   "run",       "norm", "--device",      "cpu", "--method",
                           "mean/exact", "--input",   "infs", "--n",           "40",  "--out",
                           "",           "--storage", "fp32", "--accumulator", "fp32"};
    struct problem p;
    words[12] = in_folder("out");
    cr_assert(freopen(printed, "w", stdout));
    cr_expect_eq(verb(&p, 17, words), STATUS_OK, "%s", p.text);
    fflush(stdout);
    struct bytes b = get_file(printed);
    add_number(&b, 0, 1);
    cr_expect(strstr((char *)b.data, "\ninfs  40\n"), "%s", (char *)b.data);
    free(b.data);
}

Test(verb_run, of_a_study, .init = make_folder, .fini = remove_folder)
{
    struct problem p;
    const char *out = in_folder("out"), *printed = in_folder("printed");
    const char *words[] = {"ulpscope", "run",       "accuracy", "--device", "cpu",
                           "--method", "sum/tiled", "--n",      "10",       "--out",
                           out,        "--json",    "--dry-run"};
    cr_assert(freopen(printed, "w", stdout));
    cr_expect_eq(verb(&p, 13, words), STATUS_OK, "%s", p.text);
    cr_expect(access(out, F_OK) != 0, "--dry-run writes nothing");
    fflush(stdout);
    json_t *dry = json_load_file(printed, 0, NULL);
    cr_assert(freopen(printed, "w", stdout));
    cr_expect_eq(verb(&p, 12, words), STATUS_OK, "%s", p.text);
    fflush(stdout);
    json_t *report = json_load_file(printed, 0, NULL);
    json_int_t cases = json_integer_value(json_object_get(dry, "cases"));
    cr_expect(cases > 0 &&
              cases == (json_int_t)json_array_size(json_object_get(dry, "case_list")) &&
              cases == (json_int_t)json_array_size(json_object_get(report, "summary")) &&
              cases == json_integer_value(json_object_get(report, "finished")));
    cr_assert(freopen(printed, "w", stdout));
    cr_expect_eq(verb(&p, 11, words), STATUS_OK, "%s", p.text);
    fflush(stdout);
    char line[512] = "", text[16384] = "";
    FILE *file = fopen(printed, "r");
    while (file && fgets(line, sizeof line, file))
        strncat(text, line, sizeof text - strlen(text) - 1);
    fclose(file);
    cr_expect(strstr(text, "fp16/fp32") && strstr(text, "sum/tiled") && strstr(line, out) &&
                  strstr(text, "all there before"),
              "%s", text);
    words[11] = "--quiet";
    cr_assert(freopen(printed, "w", stdout));
    cr_expect_eq(verb(&p, 12, words), STATUS_OK, "%s", p.text);
    cr_expect_eq(ftell(stdout), 0, "--quiet");
    words[8] = "11";
    cr_expect_eq(verb(&p, 12, words), STATUS_USAGE, "another study: %s", p.text);
    words[2] = "precision";
    cr_expect_eq(verb(&p, 12, words), STATUS_USAGE);
    cr_expect(strstr(p.text, "accuracy") && strstr(p.text, "variance"), "%s", p.text);
    json_decref(dry);
    json_decref(report);
}

/* What a verb prints; NULL where it fails. */
static char *printed_by(int argc, const char *const *argv)
{
    struct problem p;
    const char *path = in_folder("printed");
    cr_assert(freopen(path, "w", stdout));
    cr_assert_eq(verb(&p, argc, argv), STATUS_OK, "%s", p.text);
    fflush(stdout);
    struct bytes b = get_file(path);
    char *text = strndup((char *)b.data, b.size);
    clear_bytes(&b);
    return text;
}

/* So do files that are derived from the rows. */
Test(verb_run, of_what_is_derived, .init = make_folder, .fini = remove_folder)
{
    const char *words[] = {"ulpscope",
                           "run",
                           "atomics",
                           "--device",
                           "cpu",
                           "--load",
                           "busy",
                           "--method",
                           "sum/atomic,sum/tiled",
                           "--n",
                           "10,20",
                           "--storage",
                           "fp32",
                           "--accumulator",
                           "fp32",
                           "--threads",
                           "2",
                           "--runs",
                           "2",
                           "--input",
                           "ones",
                           "--out",
                           in_folder("out"),
                           "--json"};
    char *text = printed_by(sizeof words / sizeof *words, words);
    json_t *report = json_loads(text, 0, NULL);
    const json_t *cases = json_object_get(report, "atomics");
    const json_t *growth = json_object_get(report, "growth");
    cr_assert(json_array_size(cases) == 4 && json_array_size(growth) == 4, "%s", text);
    for (size_t i = 0; i < 4; i++) {
        const json_t *row = json_array_get(cases, i), *grown = json_array_get(growth, i);
        cr_expect_str_eq(json_string_value(json_object_get(row, "load")), "busy");
        cr_expect_eq(json_integer_value(json_object_get(row, "distinct")), 1);
        cr_expect_str_eq(json_string_value(json_object_get(row, "note")), "one result");
        cr_expect(json_is_null(json_object_get(row, "p_normal")));
        cr_expect_str_eq(json_string_value(json_object_get(grown, "figure")),
                         i % 2 ? "vs_max" : "spread");
        cr_expect(json_is_null(json_object_get(grown, "exponent")));
    }
    json_decref(report);
    free(text);
    text = printed_by(sizeof words / sizeof *words - 1, words);
    cr_expect(strstr(text, "/results.csv (a row per run)") && strstr(text, " atomics.csv (") &&
                  strstr(text, " growth.csv ("),
              "%s", text);
    free(text);
}

/* Times come with the cases, as times.csv has them. */
Test(verb_run, of_the_ladder, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    const char *words[] = {"ulpscope",  "run",    "ladder", "--device",  "cpu", "--method",
                           "sum/tiled", "--n",    "10",     "--timed",   "100", "--storage",
                           "bf16",      "--out",  out,      "--threads", "1",   "--input",
                           "ones",      "--runs", "2",      "--json"};
    char *text = printed_by(22, words);
    json_t *report = json_loads(text, 0, NULL), *times = json_object_get(report, "times");
    struct rows r = rows_of(out, "times", times_column, TIMES_COLUMNS);
    cr_assert(r.count > 0 && json_array_size(times) == r.count, "%s", text);
    for (size_t i = 0; i < r.count; i++) {
        const json_t *row = json_array_get(times, i), *id = json_object_get(row, "case_id");
        const char *due = field_of(&r, i, TIMES_CASE_ID);
        cr_expect_str_eq(json_string_value(json_object_get(row, "method")),
                         field_of(&r, i, TIMES_METHOD));
        cr_expect(*due ? json_is_string(id) && strcmp(json_string_value(id), due) == 0
                       : json_is_null(id));
        cr_expect_eq(json_number_value(json_object_get(row, "time_us")),
                     strtod(field_of(&r, i, TIMES_TIME), NULL));
        cr_expect(json_is_null(json_object_get(row, "memory_bytes")));
    }
    free(text);
    text = printed_by(21, words);
    cr_expect(strstr(text, "times.csv") && strstr(text, "all there before"), "%s", text);
    rows_free(&r);
    json_decref(report);
    free(text);
}

/* Inputs that no format has room for are counted, before and behind. */
Test(verb_run, of_condition_numbers, .init = make_folder, .fini = remove_folder)
{
    struct problem p;
    const char *out = in_folder("out");
    const char *words[] = {"ulpscope", "run",       "cond", "--device", "cpu",
                           "--method", "sum/tiled", "--n",  "100",      "--out",
                           out,        "--storage", "fp16", "--json",   "--dry-run"};
    for (int argc = 15; argc >= 14; argc--) {
        char *text = printed_by(argc, words);
        json_t *report = json_loads(text, 0, NULL);
        json_int_t left_out = json_integer_value(json_object_get(report, "inputs_left_out"));
        json_int_t cases = json_integer_value(json_object_get(report, "cases"));
        cr_expect(left_out == 77 - 15 && cases == 2 * 15, "%d: %d of 77 inputs left out", argc,
                  (int)left_out);
        json_decref(report);
        free(text);
    }
    char *text = printed_by(13, words);
    cr_expect(strstr(text, ", 62 inputs left out (cond: out of reach of n or format)"), "%s", text);
    free(text);
    words[11] = "--timed";
    words[12] = "100";
    cr_expect_eq(verb(&p, 13, words), STATUS_USAGE);
    cr_expect(strstr(p.text, "--timed") && strstr(p.text, "ladder"), "%s", p.text);
}
