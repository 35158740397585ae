/* ulpscope compare: two results directories, the same bits or not. */
#include <stdio.h>

#include "reports/results/compare.h"
#include "experiments/cases/again.h"
#include "experiments/program/verbs.h"
#include "reports/csv/file.h"

static enum status write_rows(const struct compare *c, const char *path, struct problem *p)
{
    struct csv_file file;
    struct problem closing = {0};
    enum status status = csv_file_open(&file, path, 0, compare_column, COMPARE_COLUMNS, p);
    file.once = true;
    if (status == STATUS_OK)
        compare_rows(&file.pending, c);
    enum status closed = csv_file_close(&file, &closing);
    if (status == STATUS_OK && closed != STATUS_OK)
        status = problem(p, closed, "%s", closing.text);
    return status;
}

static enum status print_json(const struct compare *c, struct problem *p)
{
    json_t *json = compare_json(c);
    if (!json)
        return problem(p, STATUS_MEMORY, "compare: out of memory");
    json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    printf("\n");
    json_decref(json);
    return STATUS_OK;
}

static enum status print_text(const struct compare *c, struct problem *p)
{
    struct text text = {0};
    compare_text(&text, c);
    enum status status =
        text.failed ? problem(p, STATUS_MEMORY, "compare: out of memory for the table") : STATUS_OK;
    if (status == STATUS_OK)
        fwrite(text.data, 1, text.length, stdout);
    text_free(&text);
    return status;
}

static enum status run(const struct arguments *a, struct problem *p)
{
    struct compare c;
    const char *out = argument_value(a, "out");
    enum status status = compare_read(&c, a->operand, p);
    if (status == STATUS_OK && out)
        status = write_rows(&c, out, p);
    if (status == STATUS_OK)
        status = argument_flag(a, "json") ? print_json(&c, p) : print_text(&c, p);
    if (status == STATUS_OK && !argument_flag(a, "json"))
        again_print(a, NULL, 0);
    if (status == STATUS_OK)
        status = compare_status(&c, p);
    compare_free(&c);
    return status;
}

const struct verb verb_compare = {
    .name = "compare",
    .operands = "DIR DIR",
    .least = 2,
    .most = 2,
    .summary = "two results directories: the same bits or not, case by case",
    .details =
        "Compares the results.csv of two directories case by case, say of two devices, drivers, "
        "versions or\n"
        "days. If the devices differ, launch shapes may differ too, except for methods that "
        "promise run_to_run,\n"
        "whose bits depend on the launch shape. A case with several runs is compared as the set of "
        "its results.\n"
        "\n"
        "For each method it counts the cases with the same bits, with other bits within their "
        "bounds, with a\n"
        "broken bound, and missing from one directory. --out writes a row for each case.\n"
        "\n"
        "Exit status 1: methods that promise gpu_to_gpu or more gave other bits, runs of a case "
        "with a promise\n"
        "differ, or a bound is broken. 3: the inputs of the studies differ, or they have no case "
        "in common.\n"
        "Different bits of methods with a lesser promise are reported, and are not a failure.",
    .examples = "  ulpscope run --from reports/recorded/h200-data/study.json --device cpu --out "
                "results-cpu --force\n"
                "  ulpscope compare reports/recorded/h200-data results-cpu\n"
                "  ulpscope compare reports/recorded/h200-data results-cpu --out "
                "results-cpu/compare.csv --json",
    .run = run,
};
