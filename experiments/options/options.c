#include "experiments/options/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/text/near.h"

const struct option_spec option_specs[] = {
    {"method", 0, "LIST", "run bench kernels recommend",
     "methods, as `list methods` names them, PATH.so:NAME, exec:COMMAND, python:FUNCTION, "
     "mpi/NAME, mpich/NAME, nccl/NAME"},
    {"device", 0, "LIST", "run bench serve reveal kernels check recommend",
     "cpu, cuda, cuda:1, auto (the GPU if there is one)"},
    {"storage", 0, "LIST", "run bench gen sum reveal check recommend",
     "formats of the input: fp16, bf16, fp32, fp64, e4m3, e5m2"},
    {"accumulator", 0, "LIST", "run bench reveal check recommend",
     "formats that additions are done in"},
    {"input", 0, "LIST", "run bench sum check recommend",
     "generated inputs, NAME[:PARAMETER=VALUE]...[:order=...]"},
    {"data", 0, "FILE", "run check recommend",
     "your own data: .npy, .npz:NAME, .h5:/PATH, .csv:COLUMN, .safetensors, raw, text, - (may be "
     "given several times, except with --special)"},
    {"n", 0, "LIST", "run bench gen sum reveal kernels check recommend",
     "elements: 1000, 1e6, 2^20, doubling range 2^10..2^20"},
    {"cond", 0, "LIST", "run gen sum recommend",
     "condition numbers for the input `cond`: 1e6, doubling 1..2^10, 1..2^40x16"},
    {"seed", 0, "LIST", "run bench gen sum check recommend",
     "seed; for run also seeds: 1,2,7 or a range 1..5"},
    {"threads", 0, "LIST", "run bench serve reveal check recommend",
     "threads per block (GPU), or CPU threads where a method uses them"},
    {"blocks", 0, "LIST", "run bench serve reveal check recommend",
     "blocks in the grid; for NCCL the number of channels"},
    {"scan", 0, "LIST", "run bench reveal check",
     "scans: inclusive, exclusive (does output i include element i?)"},
    {"output", 0, "LIST", "run bench reveal",
     "accumulator, storage: the format that scans and matrix products round outputs to"},
    {"segment", 0, "LIST", "run bench reveal check",
     "segmented scans: elements per segment; 0: one segment"},
    {"product", 0, "LIST", "run bench check",
     "dot products: how products are formed: rounded, fused, exact (default: the method's own "
     "way)"},
    {"shift", 0, "LIST", "run",
     "dot products: multiply --data by itself, rotated by this many elements"},
    {"keys", 0, "LIST", "run bench check",
     "scatter-adds: which bin each element goes to: uniform, zipf:s=1.1, one, sorted, file:PATH"},
    {"bins", 0, "LIST", "run bench check", "scatter-adds: how many bins, 1 to 2^20"},
    {"rows", 0, "LIST", "run bench check recommend",
     "number of rows, a divisor of n; 0: as in the file, else the largest divisor up to sqrt(n)"},
    {"layout", 0, "LIST", "run bench check recommend",
     "memory layout of the rows: row, column, batch:S"},
    {"keep", 0, "LIST", "run bench check",
     "percentage of the elements that a compaction keeps: 0 to 100"},
    {"shape", 0, "LIST", "run bench check recommend reveal kernels",
     "shapes of matrix products: MxNxK[:nt|:tn|:tt][:pad=P][:c=0], t: by columns; run gemm: "
     "[:mixed] too, B in the other 8-bit format, [:scale=SxT|auto|outer|blocks], [:tf32]"},
    {"scales", 0, "FILE", "run recommend",
     "matrix products of --data A --data B of 8 bits (`run gemm`, recommend): their scales, of A, "
     "then of B: a number, one per row of A and column of B, or per block of 128"},
    {"batch", 0, "LIST", "check",
     "matrix products, sums and statistics of rows: try batches of these numbers of rows, 1,2,8 or "
     "each of 1..4096"},
    {"ranks", 0, "LIST", "run bench check reveal",
     "ranks of an all-reduce or a reduce-scatter, a divisor of n: each has n / ranks of the "
     "elements"},
    {"chip", 0, "LIST", "run bench check recommend serve reveal",
     "whose matrix instructions gemm/mma, gemm/wgmma and gemm/promoted model (default: h100): see "
     "`list chips`"},
    {"promote", 0, "LIST", "run bench check recommend serve reveal",
     "gemm/promoted: add partial sums in the accumulator after this many products (default: 128)"},
    {"workspace", 0, "LIST", "run bench kernels",
     "products of cuBLASLt: bytes of workspace that its algorithms may take: 0, 512k, 32m, 2^25 "
     "(default: the method's own, mostly 32m)"},
    {"algorithm", 0, "LIST", "run bench kernels",
     "products of cuBLASLt: which of the algorithms that its heuristic names, best first: 0 to 7, "
     "0..7 (default: the method's own, mostly 0)"},
    {"weight", 0, "LIST", "run", "`run steps`: initial weights: 0,1,-0.5 (default: 0,1)"},
    {"python", 0, "LIST", "run",
     "`run trial`: what users call of torch, numpy, jax, cupy, triton, or all; LIBRARY@MODE: "
     "eager, "
     "deterministic, compiled, static, deterministic@compiled or deterministic@static alone"},
    {"timed", 0, "N", "run", "`run ladder`: elements of the inputs that methods are timed on"},
    {"load", 0, "LIST", "run check",
     "idle, busy: whether the device has other work meanwhile (`run atomics`, check)"},
    {"runs", 0, "R", "run check", "executions of each case"},
    {"reference", 0, "KIND", "run sum", "fast (superaccumulator, the default) or mpfr"},
    {"convert", 0, NULL, "run sum check recommend",
     "round data to the format of --storage; results are marked as converted"},
    {"saturate", 0, NULL, "run sum check recommend",
     "numbers beyond the range of the storage become its largest number, not infinity or NaN"},
    {"stream", 0, NULL, "sum",
     "read the file block by block in bounded memory; no accumulator is tried"},
    {"raw", 0, NULL, "run sum check recommend",
     "read data files as raw numbers in the format of --storage, regardless of their content"},
    {"from", 0, "FILE", "run", "repeat the study that this study.json describes"},
    {"offset", 0, "K", "serve", "misalign the input by this many elements, 0 to 255"},
    {"around", 0, "BYTE", "serve",
     "fill the memory before and behind the input with this byte: 255"},
    {"describe", 0, NULL, "serve", "print a description of the method as JSON, and exit"},
    {"timeout", 0, "SECONDS", "run bench check reveal recommend gate",
     "time limit for one run of an exec:, python: or .so subject (default: 60)"},
    {"array", 0, "LIBRARY", "run bench check reveal recommend serve",
     "kind of array that python: functions take: numpy, torch, cupy, jax, array (default: by their "
     "module)"},
    {"operation", 0, "NAME", "run bench check reveal recommend serve",
     "what python: functions compute, and exec: programs in check, reveal and serve, if nothing "
     "else says it: sum, scan, dot, gemm, ...; recommend: sum, gemm or a statistic of rows, "
     "such as softmax"},
    {"prefix", 0, "I", "reveal",
     "scans: reveal the order of this output, 0 to n - 1 (default: the last)"},
    {"against", 0, "METHOD", "reveal", "compare with the order of another method"},
    {"dot", 0, NULL, "reveal", "print the tree for Graphviz"},
    {"repeats", 0, "R", "bench", "timed repetitions of each measurement, at least 15"},
    {"out", 'o', "PATH", "run gen bench check compare recommend report merge",
     "where to write (run, recommend, report, merge, check --special: a directory; gen: a .npy; "
     "bench, check, compare: a .csv)"},
    {"figures", 0, "LIST", "report", "write each figure also as pdf, png (svg always)"},
    {"index", 0, "PATH", "report", "add a link back to this page, relative to the new one"},
    {"force", 0, NULL, "run recommend merge", "start over: replace the results in the directory"},
    {"shard", 0, "I/N", "run",
     "run the I-th of N shares of the cases; `ulpscope merge` joins the N directories"},
    {"dry-run", 0, NULL, "run", "say what would be run, and write nothing"},
    {"json", 0, NULL, "list run sum bench doctor reveal kernels check compare recommend gate merge",
     "print JSON instead of a table"},
    {"wide", 0, NULL, "run bench check compare recommend list merge sum",
     "print all columns, all methods, all counterexamples, however wide"},
    {"special", 0, NULL, "check",
     "test special inputs instead: zeros, infinities, NaN, subnormals, ..."},
    {"all", 0, NULL, "check", "every method of the registry that runs on the device"},
    {"only", 0, "WHAT", "check", "try only this: a rung, a kind of attempt, or RUNG/KIND"},
    {"reproducer", 0, "FILE", "check",
     "write a program (C, CUDA or Python) that shows the break without ulpscope"},
    {"recorded", 0, "DIR", "check",
     "compare with results recorded elsewhere, DIR/*/results.csv (default: reports/recorded of the "
     "source tree)"},
    {"promise", 0, "RUNG", "check recommend",
     "require this promise instead of the declared one (recommend: at least this one)"},
    {"seconds", 0, "S", "check run recommend",
     "seconds to spend on each subject, about (check, `run trial`; default: 10), or in all "
     "(recommend)"},
    {"tolerance", 0, "T", "recommend", "the error allowed: 1e-3 (the default), 4ulp, 0.5bits"},
    {"no-adversarial", 0, NULL, "recommend",
     "try only the data, other orders of it and arrays drawn from it"},
    {"quantity", 0, "Q", "recommend",
     "what the tolerance is relative to: rel (the exact sum), backward (sum|x|; of softmax and "
     "norms the largest of the row), ulp"},
    {"confidence", 0, "C", "recommend",
     "confidence that arrays like yours do not exceed the tolerance (default: 0.99)"},
    {"junit", 0, "FILE", "gate", "write the verdicts as JUnit XML"},
    {"markdown", 0, "FILE", "gate", "write the verdicts as a table of Markdown"},
    {"baseline", 0, "DIR", "gate", "compare bits and errors with DIR/baseline.json"},
    {"update", 0, NULL, "gate", "record the baseline again, and print what changed"},
    {"quiet", 'q', NULL, "run merge", "no table and no progress"},
    {"help", 'h', NULL, "", "this text"},
    {0},
};

static bool takes(const struct option_spec *spec, const struct verb *verb)
{
    size_t length = strlen(verb->name);
    if (!*spec->verbs)
        return true;
    for (const char *at = spec->verbs; (at = strstr(at, verb->name)); at += length)
        if ((at == spec->verbs || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

bool option_of(const struct option_spec *spec, const struct verb *verb)
{
    return takes(spec, verb);
}

/* The options of a verb in getopt's form. val is 256 + the index in option_specs. */
static void getopt_tables(const struct verb *verb, struct option *names, char *letters)
{
    *letters++ = ':';
    for (int i = 0; option_specs[i].name; i++) {
        const struct option_spec *spec = &option_specs[i];
        if (!takes(spec, verb))
            continue;
        *names++ = (struct option){spec->name, spec->argument ? required_argument : no_argument,
                                   NULL, 256 + i};
        if (!spec->letter)
            continue;
        *letters++ = spec->letter;
        if (spec->argument)
            *letters++ = ':';
    }
    *names = (struct option){0};
    *letters = 0;
}

static const struct option_spec *spec_of(int found)
{
    if (found >= 256)
        return &option_specs[found - 256];
    const struct option_spec *spec = option_specs;
    while (spec->name && spec->letter != found)
        spec++;
    return spec;
}

const char *verb_names(void)
{
    static char names[256];
    *names = 0;
    for (size_t i = 0; verbs[i]; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", verbs[i]->name);
    }
    return names;
}

static enum status find_verb(struct arguments *a, struct problem *p)
{
    if (a->argc < 2)
        return problem(p, STATUS_USAGE, "no verb: expected one of %s (see ulpscope --help)",
                       verb_names());
    struct near near = {.word = a->argv[1]};
    for (size_t i = 0; verbs[i]; i++) {
        near_try(&near, verbs[i]->name);
        if (strcmp(verbs[i]->name, a->argv[1]) == 0)
            a->verb = verbs[i];
    }
    near_try(&near, "--help");
    near_try(&near, "--version");
    near_try(&near, "help");
    if (!a->verb && near.found)
        return problem(p, STATUS_USAGE,
                       "unknown verb '%s': did you mean %s? (ulpscope --help has all)", a->argv[1],
                       near.found);
    if (!a->verb)
        return problem(p, STATUS_USAGE, "unknown verb '%s': expected one of %s", a->argv[1],
                       verb_names());
    return STATUS_OK;
}

/* `--devce` and `--devce=cpu` mean --device. An option of other verbs is told as such. */
static enum status unknown_option(const struct arguments *a, const char *culprit, struct problem *p)
{
    const char *verb = a->verb->name;
    char word[64] = "", of[256] = "";
    bool known = false;
    if (strncmp(culprit, "--", 2) == 0)
        snprintf(word, sizeof word, "%.*s", (int)strcspn(culprit + 2, "="), culprit + 2);
    struct near near = {.word = word};
    for (const struct option_spec *spec = option_specs; spec->name; spec++) {
        if (takes(spec, a->verb))
            near_try(&near, spec->name);
        else if (strcmp(spec->name, word) == 0)
            known = snprintf(of, sizeof of, "%s", spec->verbs) > 0;
    }
    for (char *blank = of; (blank = strchr(blank, ' ')); blank++)
        *blank = '|';
    if (known)
        return problem(p, STATUS_USAGE,
                       "%s: option --%s is one of %s, not of %s: see ulpscope %s "
                       "--help",
                       verb, word, of, verb, verb);
    if (near.found)
        return problem(p, STATUS_USAGE,
                       "%s: unknown option '%s': did you mean --%s? (ulpscope %s --help has all)",
                       verb, culprit, near.found, verb);
    return problem(p, STATUS_USAGE, "%s: unknown option '%s': see ulpscope %s --help", verb,
                   culprit, verb);
}

static enum status take_option(struct arguments *a, int found, const char *culprit,
                               struct problem *p)
{
    const char letter[] = {'-', (char)optopt, 0}; /* of several in one word: which one */
    if (found == '?')
        return unknown_option(a, optopt != 0 && optopt < 256 ? letter : culprit, p);
    if (found == ':')
        return problem(p, STATUS_USAGE, "%s: option %s needs a value: see ulpscope %s --help",
                       a->verb->name, culprit, a->verb->name);
    if (a->options == OPTIONS_MAX)
        return problem(p, STATUS_USAGE, "%s: more than %d options", a->verb->name, OPTIONS_MAX);
    const struct option_spec *spec = spec_of(found);
    if (spec->argument && !*optarg)
        return problem(p, STATUS_USAGE, "%s: option --%s: found an empty value, expected %s",
                       a->verb->name, spec->name, spec->argument);
    a->option[a->options].spec = spec;
    a->option[a->options++].value = optarg;
    return STATUS_OK;
}

static enum status take_operands(struct arguments *a, char **operand, struct problem *p)
{
    for (; *operand; operand++) {
        if (a->operands == a->verb->most)
            return problem(p, STATUS_USAGE, "%s: unexpected operand '%s': usage: ulpscope %s %s",
                           a->verb->name, *operand, a->verb->name, a->verb->operands);
        if (!**operand)
            return problem(p, STATUS_USAGE, "%s: found an empty operand: usage: ulpscope %s %s",
                           a->verb->name, a->verb->name, a->verb->operands);
        a->operand[a->operands++] = *operand;
    }
    if (a->operands < a->verb->least && !argument_flag(a, "help"))
        return problem(p, STATUS_USAGE, "%s: an operand is missing: usage: ulpscope %s %s",
                       a->verb->name, a->verb->name, a->verb->operands);
    return STATUS_OK;
}

enum status arguments_parse(struct arguments *a, int argc, char **argv, struct problem *p)
{
    *a = (struct arguments){.argc = argc, .argv = argv};
    enum status status = find_verb(a, p);
    if (status != STATUS_OK)
        return status;
    struct option names[sizeof option_specs / sizeof *option_specs];
    char letters[3 * sizeof option_specs / sizeof *option_specs + 2];
    getopt_tables(a->verb, names, letters);
    /* getopt moves operands behind the options: let it do so in a copy, argv is kept for the
     * record. */
    char **words = calloc((size_t)argc, sizeof *words);
    if (!words)
        return problem(p, STATUS_MEMORY, "out of memory while reading the command line");
    memcpy(words, argv + 1, (size_t)(argc - 1) * sizeof *words);
    opterr = 0;
    optind = 0; /* glibc: start anew */
    int found;
    while (status == STATUS_OK &&
           (found = getopt_long(argc - 1, words, letters, names, NULL)) != -1)
        status = take_option(a, found, words[optind - 1], p);
    if (status == STATUS_OK)
        status = take_operands(a, words + optind, p);
    free(words);
    return status;
}

bool argument_flag(const struct arguments *a, const char *name)
{
    for (size_t i = 0; i < a->options; i++)
        if (strcmp(a->option[i].spec->name, name) == 0)
            return true;
    return false;
}

const char *argument_value(const struct arguments *a, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < a->options; i++)
        if (strcmp(a->option[i].spec->name, name) == 0)
            value = a->option[i].value;
    return value;
}
