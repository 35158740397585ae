/* A results directory: one study's, one writer's, and nothing in it harmed; tables. */
#include "reports/results/directory.h"
#include "reports/results/results.h"
#include "reports/text/table.h"
#include "tests/support/files.h"

static json_t *study(const char *experiment, const char *axes)
{
    json_error_t error;
    json_t *parsed = json_loads(axes, 0, &error);
    cr_assert(parsed, "%s", error.text);
    return json_pack("{si ss so}", "schema_version", SCHEMA_VERSION, "experiment", experiment,
                     "axes", parsed);
}

Test(directory, a_directory_is_one_studys_and_one_writers, .init = make_folder,
     .fini = remove_folder)
{
    struct directory d, other;
    struct problem p = {0};
    bool resumed = true;
    const char *path = in_folder("a/b/c");
    json_t *mine = study("accuracy", "{\"n\": [\"1\"], \"seed\": [\"1\"]}");
    cr_assert_eq(directory_open(&d, path, &p), STATUS_OK, "%s", p.text);
    cr_assert(directory_claim(&d, mine, false, &resumed, &p) == STATUS_OK && !resumed, "%s",
              p.text);
    cr_expect_eq(directory_open(&other, path, &p), STATUS_DATA, "two writers");
    cr_expect(strstr(p.text, "another ulpscope"), "%s", p.text);
    directory_close(&other);
    cr_assert(directory_claim(&d, mine, false, &resumed, &p) == STATUS_OK && resumed);
    const struct {
        const char *experiment, *axes, *said;
    } theirs[] = {
        {"variance", "{\"n\": [\"1\"], \"seed\": [\"1\"]}", "experiment"},
        {"accuracy", "{\"n\": [\"2\"], \"seed\": [\"1\"]}",
         "its n is [\"1\"], asked for "
         "is [\"2\"]"},
        {"accuracy", "{\"n\": [\"1\"]}", "seed"},
        {"accuracy", "{\"n\": [\"1\"], \"seed\": [\"1\"], \"x\": []}", "its x is nothing"}};
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++) {
        struct problem q = {0};
        json_t *asked = study(theirs[i].experiment, theirs[i].axes);
        cr_expect_eq(directory_claim(&d, asked, false, &resumed, &q), STATUS_USAGE, "study %zu", i);
        cr_expect(strstr(q.text, theirs[i].said), "study %zu: %s", i, q.text);
        json_decref(asked);
    }
    directory_close(&d);
    json_decref(mine);
}

Test(directory, what_lies_in_a_directory_is_not_harmed, .init = make_folder, .fini = remove_folder)
{
    struct directory d;
    struct problem p = {0};
    bool resumed;
    struct bytes b = {0};
    json_t *mine = study("accuracy", "{}");
    add_string(&b, "precious");
    put_file("results.csv", &b);
    cr_assert_eq(directory_open(&d, folder, &p), STATUS_OK, "%s", p.text);
    cr_expect_eq(directory_claim(&d, mine, false, &resumed, &p), STATUS_DATA, "results of nobody");
    const char *const studies[] = {
        "",
        "{",
        "[]",
        "{\"schema_version\": 4, \"experiment\": \"accuracy\", \"axes\": {}}",
        "{\"schema_version\": 1}",
        "{\"schema_version\": 1, \"experiment\": 3, \"axes\": {}}",
        "{\"schema_version\": 1, \"experiment\": \"accuracy\"}",
        "{\"schema_version\": 1, \"experiment\": \"accuracy\", \"axes\": 3}",
        "{\"schema_version\": 1, \"experiment\": \"accuracy\", \"axes\": {}, \"inputs\": [1]}",
        "{\"schema_version\": 1, \"experiment\": \"accuracy\", \"axes\": {}, \"keys\": 1}"};
    for (size_t i = 0; i < sizeof studies / sizeof *studies; i++) {
        struct problem q = {0};
        struct bytes s = {0};
        add_string(&s, studies[i]);
        put_file("study.json", &s);
        cr_expect_eq(directory_claim(&d, mine, false, &resumed, &q), STATUS_DATA, "'%s'",
                     studies[i]);
        cr_expect(strstr(q.text, "study.json"), "%s", q.text);
        struct bytes left = get_file(in_folder("study.json"));
        cr_expect(left.size == s.size, "'%s' was changed", studies[i]);
        clear_bytes(&left);
        clear_bytes(&s);
    }
    struct bytes left = get_file(in_folder("results.csv"));
    cr_expect(left.size == b.size && memcmp(left.data, b.data, b.size) == 0,
              "results were changed");
    cr_expect_eq(directory_claim(&d, mine, true, &resumed, &p), STATUS_OK, "%s", p.text);
    cr_expect(access(in_folder("results.csv"), F_OK) != 0 &&
                  access(in_folder("study.json"), F_OK) == 0,
              "--force starts over");
    directory_close(&d);
    json_decref(mine);
    clear_bytes(&b);
    clear_bytes(&left);
    cr_expect_eq(directory_open(&d, "/dev/full", &p), STATUS_DATA);
    directory_close(&d);
}

/* Without study.json nobody knows whose any of these files is; --force removes all of them. */
Test(directory, each_file_is_of_some_study, .init = make_folder, .fini = remove_folder)
{
    static const char *const name[] = {"results.csv", "summary.csv", "profile.csv", "times.csv",
                                       "trial.csv"};
    struct directory d;
    struct problem p = {0};
    struct bytes b = {0};
    bool resumed;
    json_t *mine = study("accuracy", "{}");
    cr_assert_eq(directory_open(&d, folder, &p), STATUS_OK, "%s", p.text);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        add_string(&b, "a");
        put_file(name[i], &b);
        cr_expect_eq(directory_claim(&d, mine, false, &resumed, &p), STATUS_DATA, "%s", name[i]);
        cr_expect_eq(directory_claim(&d, mine, true, &resumed, &p), STATUS_OK, "%s", name[i]);
        cr_expect_neq(access(in_folder(name[i]), F_OK), 0, "%s", name[i]);
        unlink(in_folder(name[i]));
        unlink(in_folder("study.json"));
        clear_bytes(&b);
    }
    directory_close(&d);
    json_decref(mine);
}

static void expect_table(const char *align, const char *const cell[], size_t cells,
                         const char *drawn)
{
    struct table t = {.align = align};
    struct text text = {0};
    for (size_t i = 0; i < cells; i++)
        table_cell(&t, "%s", cell[i]);
    table_draw(&text, &t);
    cr_expect_str_eq(text_string(&text), drawn);
    table_free(&t);
    text_free(&text);
}

Test(directory, a_table_is_aligned)
{
    const char *const numbers[] = {"name",   "n",   "none", "x", "caf\xc3\xa9", "1", "", "2.5",
                                   "longer", "100", "",     "-"};
    expect_table("lrlr", numbers, sizeof numbers / sizeof *numbers,
                 "name      n    x\n"
                 "caf\xc3\xa9      1  2.5\n"
                 "longer  100    -\n");
    /* No line ends in blanks. */
    const char *const words[] = {"n", "name", "100", "short", "1", "longer"};
    expect_table("rl", words, sizeof words / sizeof *words, "  n  name\n100  short\n  1  longer\n");
}
