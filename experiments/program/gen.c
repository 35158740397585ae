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
        "their\n"
        "parameters. --n and --out are needed; --seed is 1, --storage fp64 if not given.\n"
        "The same INPUT, n, seed, condition number and storage give the same bits on every "
        "machine.\n"
        "fp16, fp32 and fp64 are written as '<f2', '<f4' and '<f8', bf16 as '<V2', two bytes\n"
        "without a type for other programs; e4m3 and e5m2 as '|u1'. Read these back with "
        "--storage.\n"
        "Inputs of dot products are two arrays, of which 2 n elements are written, x before y. For "
        "other inputs\n"
        "the second array of a dot product has the seed with its highest bit flipped (2^63 + "
        "SEED).",
    .examples = "  ulpscope gen uniform --n 2^20 --storage fp32 -o uniform.npy\n"
                "  ulpscope gen cond --n 1e5 --cond 1e12 --seed 7 -o ill.npy\n"
                "  ulpscope gen lognormal:sigma=4:order=descending --n 1000 --storage bf16 -o - | "
                "ulpscope sum - --storage bf16",
    .run = run,
};
