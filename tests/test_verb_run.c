/* ulpscope run: what it prints, as text and as JSON. */
#include <unistd.h>

#include "experiments/verbs.h"
#include "tests/study.h"

/* The verb itself, with what it prints going nowhere. */
static enum status verb(struct problem *p, int argc, const char *const *argv)
{
    struct arguments a;
    *p = (struct problem){0};
    enum status status = arguments_parse(&a, argc, (char **)argv, p);
    return status == STATUS_OK ? a.verb->run(&a, p) : status;
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
                  strstr(line, "all there before"),
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
