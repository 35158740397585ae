/* ulpscope sum: the exact truth about the user's own array. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/data/data.h"
#include "experiments/program/finding.h"
#include "experiments/cases/generated.h"
#include "experiments/program/sum_ranks.h"
#include "experiments/program/verbs.h"
#include "experiments/system/clock.h"
#include "experiments/system/progress.h"
#include "reports/text/near.h"

struct output {
    enum reference_kind kind;
    json_t *json; /* an array that findings are gathered in, or NULL for text */
    size_t count; /* findings so far */
    bool broken;
    struct rank rank;
};

static enum status tell(struct output *out, const struct finding *f, struct problem *p)
{
    enum status status = STATUS_OK;
    if (!out->json) {
        printf("%s", out->count > 0 ? "\n" : "");
        status = finding_print(f, p);
    } else if (json_array_append_new(out->json, finding_json(f)) != 0) {
        status = problem(p, STATUS_MEMORY, "%s: out of memory", f->name);
    }
    out->count++;
    return status;
}

static enum status report(struct output *out, const char *name, const struct array *array,
                          struct problem *p)
{
    struct finding f;
    enum status status = finding_make(&f, name, array, out->kind, p);
    if (status != STATUS_OK)
        return status;
    status = tell(out, &f, p);
    out->broken |= f.broken;
    if (f.broken)
        problem(p, STATUS_FAILED, "%s: a result of %s broke its bound", name, f.method->name);
    finding_free(&f);
    return status;
}

/* --- A file that is read block by block --- */

struct streaming {
    struct output *out;
    struct reference_blocks blocks;
    struct progress_line *line;
    uint64_t begin_ns;
};

static enum status take_block(void *context, const struct array *block, size_t done, size_t of,
                              struct problem *p)
{
    struct streaming *s = context;
    (void)p;
    reference_blocks_add(&s->blocks, block);
    double seconds = (double)(clock_ns() - s->begin_ns) / 1e9, rate = (double)done / seconds;
    progress_line_say(s->line, rate > 0 ? ((double)of - (double)done) / rate : 0,
                      "%.2f of %.2f GB, %.2f GB/s", (double)done / 1e9, (double)of / 1e9,
                      rate / 1e9);
    return STATUS_OK;
}

static enum status end_blocks(void *context, const struct data *about, struct problem *p)
{
    struct streaming *s = context;
    struct reference reference;
    struct finding f;
    progress_line_clear(s->line);
    reference_blocks_end(&reference, &s->blocks);
    finding_streamed(&f, about->name, about->array.format, &reference);
    enum status status = tell(s->out, &f, p);
    finding_free(&f);
    reference_blocks_begin(&s->blocks);
    s->begin_ns = clock_ns();
    return status;
}

static enum status sum_stream(struct output *out, const char *path, struct data_options options,
                              struct problem *p)
{
    struct streaming s = {.out = out, .begin_ns = clock_ns()};
    const struct data_stream stream = {.take = take_block, .end = end_blocks, .context = &s};
    struct data_set none;
    options.stream = &stream;
    reference_blocks_begin(&s.blocks);
    s.line = progress_line_begin(isatty(STDERR_FILENO) != 0);
    enum status status = data_read(&none, path, &options, p);
    progress_line_end(s.line);
    return status;
}

/* --- A file that several ranks read --- */

static enum status tell_parts(struct output *out, const struct sum_ranks *s, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < s->parts; i++) {
        struct reference reference;
        struct finding f;
        reference_blocks_end(&reference, &s->part[i].blocks);
        finding_streamed(&f, s->part[i].name, s->part[i].format, &reference);
        status = tell(out, &f, p);
        finding_free(&f);
    }
    return status;
}

/* A file that fits in memory is rank 0's alone, as it is tried in accumulators too. What failed
 * before there was a word to the others is in *p. */
static enum status sum_by_ranks(struct output *out, struct sum_ranks *s, struct data_set *set,
                                const char *path, const struct data_options *options, bool shares,
                                struct problem *p)
{
    struct problem failed = *p, why = {0};
    enum status status = sum_ranks_agree(s, &shares, path, &why);
    if (status == STATUS_OK && shares)
        status = sum_ranks_read(s, path, options, isatty(STDERR_FILENO) != 0, &why);
    if (status == STATUS_OK && shares && s->rank.index == 0)
        status = tell_parts(out, s, &why);
    for (size_t i = 0; i < set->count && status == STATUS_OK; i++)
        status = report(out, set->item[i].name, &set->item[i].array, &why);
    *p = failed.status != STATUS_OK ? failed : why;
    return p->status;
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
    struct data_options options = {.storage = FORMATS,
                                   .convert = argument_flag(a, "convert"),
                                   .saturate = argument_flag(a, "saturate"),
                                   .raw = argument_flag(a, "raw")};
    const char *storage = argument_value(a, "storage");
    enum status status = STATUS_OK;
    if (storage)
        status = format_parse(&options.storage, "storage", storage, p);
    struct data_set set = {0};
    struct sum_ranks ranks = {0};
    bool stream = argument_flag(a, "stream"), shared = out->rank.count > 1;
    if (status == STATUS_OK && shared)
        status = sum_ranks_open(&ranks, out->rank, path, p);
    if (status != STATUS_OK) {
        if (shared)
            sum_ranks_close(&ranks);
        return status;
    }
    if (!stream && out->rank.index == 0)
        status = data_read(&set, path, &options, p);
    if (status == STATUS_MEMORY && out->kind == REFERENCE_FAST && strcmp(path, "-") != 0) {
        *p = (struct problem){0}; /* larger than memory */
        status = STATUS_OK;
        stream = true;
    }
    if (shared) {
        status = sum_by_ranks(out, &ranks, &set, path, &options, stream, p);
        sum_ranks_close(&ranks);
        data_free(&set);
        return status;
    }
    if (stream)
        return sum_stream(out, path, options, p);
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
    static const char *const with_file[] = {"convert", "saturate", "raw", "stream"};
    for (size_t i = 0; i < sizeof with_file / sizeof *with_file; i++)
        if (input && argument_flag(a, with_file[i]))
            return problem(p, STATUS_USAGE, "sum: found --%s with --input, expected it with FILE",
                           with_file[i]);
    *kind = reference && strcmp(reference, "mpfr") == 0 ? REFERENCE_MPFR : REFERENCE_FAST;
    if (reference && *kind == REFERENCE_FAST && strcmp(reference, "fast") != 0)
        return near_unknown_option(p, "reference", reference, "fast or mpfr");
    if (*kind == REFERENCE_MPFR && argument_flag(a, "stream"))
        return problem(p, STATUS_USAGE,
                       "sum: found --stream with --reference mpfr, expected one of them");
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
    if (status == STATUS_OK && !input && strcmp(a->operand[0], "-") != 0)
        status = rank_find(&out.rank, p);
    else if (status == STATUS_OK && left_to_rank_0("sum", &status, p))
        return status;
    if (status != STATUS_OK)
        return status;
    out.json = argument_flag(a, "json") ? json_array() : NULL;
    status = input ? sum_generated(&out, input, a, p) : sum_file(&out, a->operand[0], a, p);
    if (status == STATUS_OK && out.json && out.rank.index == 0)
        status = print_json(out.json, p);
    json_decref(out.json);
    return status == STATUS_OK && out.broken ? STATUS_FAILED : status;
}

const struct verb verb_sum = {
    .name = "sum",
    .operands = "FILE",
    .least = 0,
    .most = 1,
    .summary = "the exact sum of a file, its condition number, and the result in each accumulator",
    .details =
        "FILE is .npy (f2, f4, f8 of either byte order, any shape; V2 or u2 with --storage "
        "bf16; for a structured dtype FILE:FIELD), .npz (FILE:NAME), .h5 (FILE:/PATH), .csv "
        "and .tsv (FILE:COLUMN, by name or number), .safetensors (all tensors of a "
        "floating-point type, or FILE#TENSOR), text with one number per line, raw "
        "little-endian numbers (with --storage), or - for standard input. --input takes a "
        "generated input instead, with --n, --seed, --cond and --storage. With --stream, or if "
        "a file does not fit in memory, it is read block by block in bounded memory: this "
        "prints the exact sum, the condition number and the census, and tries no accumulator. "
        "Ranks that mpirun or srun started share such a file: each reads a part of its plain "
        "numbers, and rank 0 prints the sum, with the same bits for any number of ranks. Data "
        "in another format than --storage is rounded to it only with --convert. A file that "
        "looks like another kind (HDF5, zip, gzip, PNG, Parquet, pickle, ...) is refused, "
        "unless --raw says that all its bytes are raw numbers. The exact sum is that of the "
        "stored values: `exact_hex` has all its bits.",
    .examples = "  ulpscope sum --input uniform --n 1e6 --storage fp32\n"
                "  ulpscope sum --input cond --n 1000 --cond 1e20 --json\n"
                "  printf '%s\\n' 1 1e100 1 -1e100 | ulpscope sum -",
    .run = run,
};
