/* ulpscope gen: a generated input as a .npy file. */
#include <stdlib.h>

#include "experiments/data/data.h"
#include "experiments/cases/generated.h"
#include "experiments/program/verbs.h"

static enum status run(const struct arguments *a, struct problem *p)
{
    struct generated g;
    const char *out = argument_value(a, "out");
    if (!out)
        return problem(p, STATUS_USAGE,
                       "gen: no --out: expected -o FILE.npy, or -o - for standard output");
    enum status status = generated_make(&g, a->operand[0], true, a, p);
    if (status != STATUS_OK)
        return status;
    status = data_write_npy(out, &g.array, p);
    free(g.array.data);
    return status;
}

const struct verb verb_gen = {
    .name = "gen",
    .operands = "INPUT",
    .least = 1,
    .most = 1,
    .summary = "writes a generated input to a .npy file",
    .details =
        "INPUT is NAME[:PARAMETER=VALUE]...[:order=ARRANGEMENT]; `list inputs` names them and "
        "their\nparameters. --n and --out are needed; --seed is 1, --storage fp64 if not given.\n"
        "The same INPUT, n, seed, condition number and storage give the same bits on every "
        "machine.\nfp16, fp32 and fp64 are written as '<f2', '<f4' and '<f8', bf16 as '<V2', which "
        "other programs\nsee as two bytes of no type; e4m3 and e5m2 as '|u1', and are read back "
        "with "
        "--storage.\n"
        "Of an input of two arrays, for dot products, 2 n elements are written, x before y; of "
        "others the "
        "second\narray is what the seed with its highest bit turned over (2^63 + SEED) gives.",
    .examples = "  ulpscope gen uniform --n 2^20 --storage fp32 -o uniform.npy\n"
                "  ulpscope gen cond --n 1e5 --cond 1e12 --seed 7 -o ill.npy\n"
                "  ulpscope gen lognormal:sigma=4:order=descending --n 1000 --storage bf16 -o - | "
                "ulpscope sum - --storage bf16",
    .run = run,
};
