/* ulpscope sum: the exact truth about the user's own array. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/data/data.h"
#include "experiments/program/finding.h"
#include "experiments/cases/generated.h"
#include "experiments/program/verbs.h"

struct output {
    enum reference_kind kind;
    json_t *json; /* an array that findings are gathered in, or NULL for text */
    size_t count; /* findings so far */
    bool broken;
};

static enum status report(struct output *out, const char *name, const struct array *array,
                          struct problem *p)
{
    struct finding f;
    enum status status = finding_make(&f, name, array, out->kind, p);
    if (status != STATUS_OK)
        return status;
    if (!out->json) {
        printf("%s", out->count > 0 ? "\n" : "");
        status = finding_print(&f, p);
    } else if (json_array_append_new(out->json, finding_json(&f)) != 0) {
        status = problem(p, STATUS_DEVICE, "%s: out of memory", name);
    }
    out->count++;
    out->broken |= f.broken;
    if (f.broken)
        problem(p, STATUS_FAILED, "%s: a result of %s broke its bound", name, f.method->name);
    finding_free(&f);
    return status;
}

static enum status sum_generated(struct output *out, const char *specification,
                                 const struct arguments *a, struct problem *p)
{
    struct generated g;
    enum status status = generated_make(&g, specification, false, a, p);
    if (status != STATUS_OK)
        return status;
    status = report(out, g.name, &g.array, p);
    free(g.array.data);
    return status;
}

static enum status sum_file(struct output *out, const char *path, const struct arguments *a,
                            struct problem *p)
{
    struct data_options options = {FORMATS, argument_flag(a, "convert"), argument_flag(a, "raw")};
    const char *storage = argument_value(a, "storage");
    enum status status = STATUS_OK;
    if (storage)
        status = format_parse(&options.storage, "storage", storage, p);
    struct data_set set = {0};
    if (status == STATUS_OK)
        status = data_read(&set, path, &options, p);
    for (size_t i = 0; i < set.count && status == STATUS_OK; i++)
        status = report(out, set.item[i].name, &set.item[i].array, p);
    data_free(&set);
    return status;
}

static enum status check_options(const struct arguments *a, enum reference_kind *kind,
                                 struct problem *p)
{
    static const char *const with_input[] = {"n", "seed", "cond"};
    const char *reference = argument_value(a, "reference"), *input = argument_value(a, "input");
    if ((a->operands == 1) == (input != NULL))
        return problem(p, STATUS_USAGE, "sum: found %s, expected either FILE or --input",
                       input ? "both FILE and --input" : "neither FILE nor --input");
    for (size_t i = 0; i < sizeof with_input / sizeof *with_input; i++)
        if (!input && argument_value(a, with_input[i]))
            return problem(p, STATUS_USAGE, "sum: found --%s with a file, expected it with --input",
                           with_input[i]);
    static const char *const with_file[] = {"convert", "raw"};
    for (size_t i = 0; i < sizeof with_file / sizeof *with_file; i++)
        if (input && argument_flag(a, with_file[i]))
            return problem(p, STATUS_USAGE, "sum: found --%s with --input, expected it with FILE",
                           with_file[i]);
    *kind = reference && strcmp(reference, "mpfr") == 0 ? REFERENCE_MPFR : REFERENCE_FAST;
    if (reference && *kind == REFERENCE_FAST && strcmp(reference, "fast") != 0)
        return problem(p, STATUS_USAGE, "option --reference: found '%s', expected fast or mpfr",
                       reference);
    return STATUS_OK;
}

/* One finding is an object, several are an array of them. */
static enum status print_json(json_t *findings, struct problem *p)
{
    const json_t *top = json_array_size(findings) == 1 ? json_array_get(findings, 0) : findings;
    if (json_dumpf(top, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) != 0)
        return problem(p, STATUS_DATA, "standard output: could not be written");
    printf("\n");
    return STATUS_OK;
}

static enum status run(const struct arguments *a, struct problem *p)
{
    struct output out = {0};
    const char *input = argument_value(a, "input");
    enum status status = check_options(a, &out.kind, p);
    if (status != STATUS_OK)
        return status;
    out.json = argument_flag(a, "json") ? json_array() : NULL;
    status = input ? sum_generated(&out, input, a, p) : sum_file(&out, a->operand[0], a, p);
    if (status == STATUS_OK && out.json)
        status = print_json(out.json, p);
    json_decref(out.json);
    return status == STATUS_OK && out.broken ? STATUS_FAILED : status;
}

const struct verb verb_sum = {
    .name = "sum",
    .operands = "FILE",
    .least = 0,
    .most = 1,
    .summary = "the exact sum of a file, its condition number, what each accumulator makes of it",
    .details =
        "FILE is .npy (f2, f4, f8 of either byte order, any shape; V2 with --storage bf16),\n"
        ".safetensors (all tensors of a floating-point type, or FILE#TENSOR), text with a number "
        "a line,\nraw little-endian numbers (with --storage), or - for standard input. --input "
        "takes a generated\ninput in its place, with --n, --seed, --cond and --storage.\n"
        "Data in another format than --storage says is rounded to it only with --convert.\n"
        "What looks like a file of another kind (HDF5, zip, gzip, PNG, Parquet, pickle, ...) is "
        "refused,\nunless --raw says that all its bytes are raw numbers.\n"
        "The exact sum is of the stored values: `exact_hex` has all its bits.",
    .examples = "  ulpscope sum --input uniform --n 1e6 --storage fp32\n"
                "  ulpscope sum --input cond --n 1000 --cond 1e20 --json\n"
                "  printf '%s\\n' 1 1e100 1 -1e100 | ulpscope sum -",
    .run = run,
};
