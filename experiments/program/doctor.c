/* ulpscope doctor: what this machine and build can do, and what is missing. */
#include <fenv.h>
#include <gmp.h>
#include <jansson.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/data/data.h"
#include "experiments/subjects/mpi.h"
#include "experiments/system/machine.h"
#include "experiments/program/verbs.h"
#include "kernels/gpu/gpu.h"
#include "reference/exact/mpfr.h"
#include "reports/text/table.h"

enum verdict { GOOD, ABSENT, BAD };

struct report {
    json_t *findings;
    bool json, bad;
};

/* What follows the first line stands below its text. */
static void print_line(const char *verdict, const char *what, const char *words)
{
    struct text line = {0}, shown = {0};
    text_format(&line, "  %-7s %-17s ", verdict, what);
    size_t indent = line.length;
    text_clear(&line);
    text_add(&line, words);
    text_wrapped(&shown, &line, TABLE_COLUMNS - indent, 0);
    const char *at = text_string(&shown);
    for (bool first = true; at && *at; first = false, at += strcspn(at, "\n") + 1) {
        if (first)
            printf("  %-7s %-17s ", verdict, what);
        else
            printf("%*s", (int)indent, "");
        printf("%.*s\n", (int)strcspn(at, "\n"), at);
    }
    text_free(&shown);
}

static void tell(struct report *r, enum verdict verdict, const char *what, json_t *text)
{
    static const char *const name[] = {"ok", "absent", "BAD"};
    r->bad |= verdict == BAD;
    if (!r->json)
        print_line(name[verdict], what, json_string_value(text));
    json_array_append_new(r->findings, json_pack("{ss ss so}", "name", what, "verdict",
                                                 name[verdict], "summary", text));
}

static void tell_machine(struct report *r)
{
    char text[MACHINE_TEXT];
    machine_cpu(text);
    tell(r, GOOD, "processor", json_sprintf("%s, %u to run on", text, machine_processors()));
    tell(r, GOOD, "memory",
         json_sprintf("%.1f GiB, %.1f GiB available", (double)machine_memory() / 0x1p30,
                      (double)machine_memory_available() / 0x1p30));
    machine_system(text);
    tell(r, GOOD, "system", json_string(text));
}

static void tell_build(struct report *r)
{
    tell(r, GOOD, "ulpscope", json_sprintf("%s, commit %s", build_version, build_commit));
    tell(r, GOOD, "compiler", json_sprintf("%s, %s: %s", build_compiler, build_type, build_flags));
    tell(r, GOOD, "MPFR", json_sprintf("%s, GMP %s", mpfr_get_version(), gmp_version));
    tell(r, GOOD, "jansson", json_string(JANSSON_VERSION));
}

/* What all results rest on: rounding to nearest, gradual underflow, threads' default. */
static void tell_arithmetic(struct report *r)
{
    volatile double tiny = 0x1p-1074, half = 0x1p-53, one = 1;
    volatile float tiny_single = 0x1p-149f;
    bool nearest = fegetround() == FE_TONEAREST && one + half == 1 && -one - half == -1;
    bool gradual = tiny / 2 == 0 && tiny * 2 > tiny && tiny_single + tiny_single > tiny_single;
    tell(r, nearest ? GOOD : BAD, "rounding",
         json_string(nearest ? "to nearest, ties to even"
                             : "not to nearest: results would be wrong on this machine"));
    tell(r, gradual ? GOOD : BAD, "subnormals",
         json_string(gradual ? "kept" : "flushed to zero: results would be wrong"));
}

/* 2^60 + 1 - 2^60 and a carry through the whole accumulator, against MPFR. */
static void tell_reference(struct report *r)
{
    static const double term[] = {0x1p1023, 0x1p60, 0x1p-1074, 1, -0x1p60, -0x1p1023, 0x1p-1074};
    struct exact e;
    mpfr_t fast, slow;
    mpfr_inits2(2200, fast, slow, (mpfr_ptr)0);
    mpfr_set_zero(slow, 1);
    exact_init(&e);
    for (size_t i = 0; i < sizeof term / sizeof *term; i++) {
        exact_add(&e, term[i]);
        mpfr_add_d(slow, slow, term[i], MPFR_RNDN);
    }
    exact_get(fast, &e);
    bool equal = mpfr_equal_p(fast, slow) != 0;
    tell(r, equal ? GOOD : BAD, "exact sums",
         json_string(equal ? "superaccumulator and MPFR agree"
                           : "superaccumulator and MPFR DISAGREE: trust no figure of this build"));
    mpfr_clears(fast, slow, (mpfr_ptr)0);
}

static void tell_gpu(struct report *r)
{
    if (!gpu_build()) {
        tell(r, ABSENT, "CUDA",
             json_string("not in this build: needed for methods on GPUs, CUB's and cuBLAS's; "
                         "everything else works. To add it: install the CUDA Toolkit (tried: 13.0; "
                         "nvcc on PATH or in /usr/local/cuda), then cmake -B build "
                         "-DULPSCOPE_CUDA=ON && cmake --build build"));
        return;
    }
    tell(r, GOOD, "CUDA",
         json_sprintf("toolkit %s, %s, architectures %s", gpu_build(), build_cuda_compiler,
                      build_cuda_architectures));
    bool newer = *build_cccl != 0;
    tell(r, newer ? GOOD : ABSENT, "newer CCCL",
         newer ? json_string(build_cccl)
               : json_string("none, so CUB's levels of determinism (cub/sum_gpu_to_gpu, ...) are "
                             "left out: give CMake -DULPSCOPE_CCCL_DIR=, headers of CCCL 3.1 or "
                             "later; 3.5 has all"));
    tell(r, gpu_cublas() ? GOOD : ABSENT, "cuBLAS",
         gpu_cublas()
             ? json_string(gpu_cublas())
             : json_string("none, so no cublas/ method runs: install it with the CUDA Toolkit, "
                           "and build again if it was missing then"));
    int count = gpu_count(false);
    tell(r, count ? GOOD : ABSENT, "driver", json_string(gpu_driver()));
    if (count == 0)
        tell(r, ABSENT, "GPU", json_string("none found: methods run on the CPU (--device cpu)"));
    for (int i = 0; i < count; i++) {
        char name[24];
        struct gpu_facts facts;
        struct problem p = {0};
        snprintf(name, sizeof name, "cuda:%d", i);
        if (gpu_describe(i, &facts, &p) != STATUS_OK)
            tell(r, BAD, name, json_string(p.text));
        else
            tell(r, GOOD, name,
                 json_sprintf("%s, compute capability %d.%d, %d multiprocessors, %.1f of %.1f GiB "
                              "free",
                              facts.name, facts.capability_major, facts.capability_minor,
                              facts.multiprocessors, (double)facts.memory_free / 0x1p30,
                              (double)facts.memory_total / 0x1p30));
    }
}

/* `gives` with it, and what to type to have it. */
static void tell_tool(struct report *r, const char *tool, const char *gives, const char *type)
{
    char path[4096];
    const char *at = getenv("PATH");
    for (bool found = false; !found && at && *at;) {
        size_t length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)length, at, tool);
        if (access(path, X_OK) == 0) {
            tell(r, GOOD, tool, json_string(path));
            return;
        }
        at += length + (at[length] == ':');
    }
    tell(r, ABSENT, tool, json_sprintf("not on PATH: %s; to get it: %s", gives, type));
}

/* Libraries that formats of users' files need. */
static void tell_libraries(struct report *r)
{
    const struct data_library *l;
    for (size_t i = 0; (l = data_library(i)); i++) {
        const char *missing = l->version && l->missing ? l->missing() : NULL;
        tell(r, l->version && !missing ? GOOD : ABSENT, l->name,
             missing ? json_sprintf("%s; it %s", missing, l->gives)
             : l->version
                 ? json_sprintf("%s: %s", l->version, l->gives)
                 : json_sprintf("none in this build: it %s; to add it: %s", l->gives, l->install));
    }
}

static void tell_mpi(struct report *r)
{
    static const char *const name[] = {[OPEN_MPI] = "MPI", [MPICH] = "MPICH", [NCCL] = "NCCL"};
    static const char *const prefix[] = {[OPEN_MPI] = "mpi", [MPICH] = "mpich", [NCCL] = "nccl"};
    for (enum mpi_library l = 0; l < MPI_LIBRARIES; l++) {
        char text[MPI_TEXT];
        bool there = mpi_there(l, text);
        tell(r, there ? GOOD : ABSENT, name[l],
             json_sprintf("%s; needed for %s/allreduce, %s/reduce_scatter and their algorithms",
                          text, prefix[l], prefix[l]));
    }
}

static enum status run(const struct arguments *a, struct problem *p)
{
    struct report r = {.findings = json_array(), .json = argument_flag(a, "json")};
    tell_machine(&r);
    tell_build(&r);
    tell_arithmetic(&r);
    tell_reference(&r);
    tell_gpu(&r);
    tell_libraries(&r);
    tell_mpi(&r);
    tell_tool(&r, "cmake", "builds ulpscope", "apt-get install cmake");
    tell_tool(&r, "gnuplot", "draws the pictures of `ulpscope report`, whose tables need none",
              "apt-get install gnuplot-nox");
    tell_tool(&r, "dot", "draws the trees of `ulpscope reveal --dot`", "apt-get install graphviz");
    tell_tool(&r, "compute-sanitizer", "checks the GPU kernels for races and bad accesses",
              "install the CUDA Toolkit, and PATH=/usr/local/cuda/bin:$PATH");
    if (r.json) {
        json_dumpf(r.findings, stdout, JSON_INDENT(2));
        printf("\n");
    }
    json_decref(r.findings);
    return r.bad ? problem(p, STATUS_FAILED, "doctor: what is marked BAD makes results wrong")
                 : STATUS_OK;
}

const struct verb verb_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "devices, compilers, libraries, what is missing",
    .details = "Exit status 1: something would make results wrong. A missing GPU is not an error.",
    .examples = "  ulpscope doctor\n"
                "  ulpscope doctor --json",
    .run = run,
};
