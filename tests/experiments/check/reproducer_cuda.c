/* Reproducers of calls of CUB, Thrust and cuBLAS: written and, with ULPSCOPE_NVCC, a path,
 * compiled; those of CUB's levels of determinism with ULPSCOPE_CCCL, a folder of headers of
 * CCCL 3.1 or later. Nothing of them is run. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "experiments/check/reproducer/reproducer.h"
#include "tests/support/program.h"

static const char *const subjects[] = {
    "cub/sum",        "cub/sum_run_to_run", "cub/sum_gpu_to_gpu",   "cub/sum_not_guaranteed",
    "cub/scan",       "thrust/sum",         "thrust/scan",          "cublas/sum_by_dot",
    "cublas/norm",    "cublas/l1_norm",     "cublas/sum_by_dot_16", "cublas/dot_product",
    "cub/sum_by_key", "cub/reduce_by_key"};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static enum status write_one(struct text *to, const char *name, struct format_pair pair,
                             bool exclusive, const struct possible *due, struct problem *p)
{
    static const double values[4] = {1, 0x1p-20, -1, 0.5};
    uint64_t room[4] = {0};
    struct array in = {pair.storage, 4, room};
    const struct method *m = method_named(name);
    cr_assert(m, "%s", name);
    array_encode(&in, 0, 4, values);
    bool two = operation_has(m->operation, OPERAND_IN2);
    static const uint32_t keys[4] = {1, 0, 1, 0};
    bool keyed = operation_has(m->operation, OPERAND_KEYS);
    const struct reproducer_run run = {.in = &in,
                                       .keys = keyed ? keys : NULL,
                                       .device = {DEVICE_CUDA, 0},
                                       .offset = 1,
                                       .byte = 0xff};
    size_t n = two ? 2 : 4;
    const struct reproducer r = {.method = m,
                                 .device = {DEVICE_CUDA, 0},
                                 .storage = pair.storage,
                                 .accumulator = pair.accumulator,
                                 .output = pair.accumulator,
                                 .n = n,
                                 .outputs = keyed ? 2 : m->operation->outputs(n, 0),
                                 .bins = keyed ? 2 : 0,
                                 .exclusive = exclusive,
                                 .run = {run, run},
                                 .end = 1,
                                 .runs = 10,
                                 .possible = due,
                                 .title = "a title */ with /* what ends comments",
                                 .words = {"run 1", "run \"2\"\\"},
                                 .file = "r.cu"};
    return reproducer_write(to, &r, p);
}

static void compile(const char *name, const char *text, const char *what)
{
    const char *nvcc = getenv("ULPSCOPE_NVCC");
    const char *cccl = getenv("ULPSCOPE_CCCL");
    char command[3000], headers[1000] = "";
    struct bytes program = {0};
    add_string(&program, text);
    put_file("r.cu", &program);
    clear_bytes(&program);
    bool level = strstr(text, "determinism::");
    if (!nvcc || !*nvcc || (level && !cccl))
        return;
    if (level)
        snprintf(headers, sizeof headers, "-I '%s'", cccl);
    snprintf(command, sizeof command,
             "cd '%s' && '%s' -Werror all-warnings -Xcompiler=-Wall,-Wextra -Xcicc -O0 -Xptxas -O0 "
             "-arch=sm_90 -c "
             "-x cu %s r.cu -o r.o >nvcc 2>&1",
             folder, nvcc, headers);
    int status = system(command);
    cr_expect(status == 0, "%s, %s: %s", name, what, content("nvcc"));
}

static void try_out(const char *name, struct format_pair pair, bool exclusive,
                    const struct possible *due)
{
    struct text text = {0};
    struct problem p = {0};
    cr_expect(write_one(&text, name, pair, exclusive, due, &p) == STATUS_OK, "%s: %s", name,
              p.text);
    const char *string = text_string(&text);
    cr_expect(strstr(string, strncmp(name, "cublas", 6) == 0 ? "cublas" : "#include <") &&
                  strstr(string, "nvcc -O2 -x cu r.cu") && strstr(string, "int main"),
              "%s", name);
    /* what ends comments stands nowhere but at their ends */
    cr_expect(strstr(string, "a title * /") && !strstr(string, "title */"), "%s", name);
    compile(name, string, exclusive ? "exclusive" : format_facts[pair.storage].name);
    text_free(&text);
}

Test(reproducer_cuda, of_each_call, .init = make_folder, .fini = remove_folder, .timeout = 600)
{
    const struct format_pair plain = {FP32, FP32}, narrow = {FP16, FP32}, wide = {FP64, FP64},
                             half = {BF16, BF16};
    struct possible due = {.least = 1, .most = 2, .grid = 0x1p-23};
    bool all = getenv("ULPSCOPE_NVCC");
    for (size_t i = 0; i < SUBJECTS; i++) {
        bool of_16 = strstr(subjects[i], "_16");
        try_out(subjects[i], of_16 ? half : plain, false, NULL);
        if (all && i > 3)
            continue;
        if (!of_16)
            try_out(subjects[i], wide, false, &due);
    }
    try_out("cub/scan", narrow, true, NULL);
    if (!all)
        try_out("cub/sum_run_to_run", narrow, false, NULL);
}
