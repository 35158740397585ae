/* Functions of Python, on arrays of its standard library: how they are named, called, timed, kept
 * in their process, and what is said where they fail. */
#include <stdio.h>

#include <criterion/criterion.h>

#include "experiments/subjects/foreign_state.h"
#include "experiments/subjects/subject.h"
#include "experiments/system/clock.h"
#include "kernels/gpu/gpu.h"
#include "tests/support/program.h"

#define FILE_OF_SUBJECTS ULPSCOPE_SOURCE "/tests/support/subjects.py"
#define FILE_THAT_LACKS  ULPSCOPE_SOURCE "/tests/support/lacks_module.py"

enum { N = 1 << 16 };
static double x[N], y[N], out[N];

static void fill(void)
{
    for (size_t i = 0; i < N; i++) {
        x[i] = 1 / (1.0 + (double)i);
        y[i] = (double)(i % 7) - 3;
    }
    foreign_timeout(60);
}

static const struct method *subject(const char *function, const struct operation *operation)
{
    char name[400];
    struct problem p = {0};
    const struct method *m;
    snprintf(name, sizeof name, "python:" FILE_OF_SUBJECTS ":%s@array", function);
    cr_assert(subject_named(&m, "test", name, operation, &p) == STATUS_OK, "%s", p.text);
    return m;
}

static enum status run_of(const struct method *m, const struct operands *of, size_t outputs,
                          struct problem *p)
{
    *p = (struct problem){0};
    struct task t = {
        .of = of, .out = {FP64, outputs, out}, .accumulator = FP64, .method = m, .device = -1};
    memset(out, 0x55, sizeof out);
    return m->cpu(&t, p);
}

static enum status run(const struct method *m, size_t n, struct problem *p)
{
    return run_of(m, &(struct operands){.in = {FP64, n, x}}, m->operation->outputs(n, 0), p);
}

static void expect_run(const struct method *m, size_t n, double due)
{
    struct problem p;
    cr_expect(run(m, n, &p) == STATUS_OK, "%s: %s", m->name, p.text);
    cr_expect(out[0] == due, "%s: found %a, expected %a", m->name, out[0], due);
}

static void expect_name(const char *name, const char *full, const struct operation *asked,
                        const struct operation *o)
{
    char *found = python_name(name);
    cr_expect_str_eq(found, full);
    const struct operation *is = python_operation(found, asked);
    cr_expect(is == o, "%s: found a %s, expected a %s", name, is->name, o->name);
    free(found);
}

Test(python, names_say_library_and_operation)
{
    struct problem p = {0};
    expect_name("python:torch.sum", "python:torch.sum", NULL, &operation_sum);
    expect_name("python:torch.cumsum", "python:torch.cumsum", NULL, &operation_scan);
    expect_name("python:torch.cumsum", "python:torch.cumsum", &operation_sum, &operation_sum);
    expect_name("python:a/b.py:f@torch", "python:a/b.py:f@torch", NULL, &operation_sum);
    expect_name("python:a/b.py:f@norm@torch", "python:a/b.py:f@torch@norm", NULL, &operation_norm);
    expect_name("python:a@b/c.py:var", "python:a@b/c.py:var", NULL, &operation_variance);
    expect_name("python:numpy.linalg.norm", "python:numpy.linalg.norm", NULL, &operation_norm);
    expect_name("python:f@mean", "python:f@mean", &operation_scan, &operation_mean);
    expect_name("python:torch.cumsum@compiled", "python:torch.cumsum@compiled", NULL,
                &operation_scan);
    expect_name("python:f@norm@torch@deterministic", "python:f@deterministic@torch@norm", NULL,
                &operation_norm);
    expect_name("python:torch.cumsum@deterministic@compiled",
                "python:torch.cumsum@deterministic@compiled", NULL, &operation_scan);
    expect_name("python:torch.cumsum@compiled@deterministic@torch",
                "python:torch.cumsum@deterministic@compiled@torch", NULL, &operation_scan);
    expect_name("python:torch.mean@static", "python:torch.mean@static", NULL, &operation_mean);
    expect_name("python:torch.mean@static@compiled", "python:torch.mean@static", NULL,
                &operation_mean);
    expect_name("python:torch.mean@compiled@static@deterministic",
                "python:torch.mean@deterministic@static", NULL, &operation_mean);
    expect_name("python:f@compiled@compiled", "python:f@compiled", NULL, &operation_sum);
    expect_name("python:a/b.py:f@eager", "python:a/b.py:f@eager", NULL, &operation_sum);
    expect_name("python:torch.nn.functional.embedding_bag",
                "python:torch.nn.functional.embedding_bag", NULL, &operation_scatter);
    cr_expect(foreign_python("jax", "dot", &p) == STATUS_OK);
    expect_name("python:f.py:f", "python:f.py:f@jax@dot", NULL, &operation_dot);
    expect_name("python:f.py:f@cupy@sum", "python:f.py:f@cupy@sum", NULL, &operation_sum);
    cr_expect(foreign_python("nump", NULL, &p) == STATUS_USAGE);
    cr_expect(foreign_python(NULL, "cumsum", &p) == STATUS_USAGE);
    cr_expect(foreign_python(NULL, "compact", &p) == STATUS_USAGE);
}

/* No function has an `@` in its name: what stands behind one is a word that is not known. */
Test(python, words_behind_a_name_are_known)
{
    static const struct {
        const char *name, *says;
    } cases[] = {
        {"python:numpy.mean@statc", "found '@statc', did you mean @static?"},
        {"python:a@b/c.py:f@nunpy@sum", "found '@nunpy', did you mean @numpy?"},
        {"python:a/b.py:f@eager", "found '@eager', expected @deterministic, @compiled, @static"},
        {"python:f@men@numpy", "found '@men', did you mean @mean?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct problem p = {0};
        const struct method *m;
        cr_expect(subject_named(&m, "test", cases[i].name, NULL, &p) == STATUS_USAGE, "%s",
                  cases[i].name);
        cr_expect(strstr(p.text, cases[i].says), "%s: %s", cases[i].name, p.text);
    }
}

Test(python, answers_what_it_is_asked, .init = fill)
{
    struct problem p;
    const struct method *m = subject("fsum", NULL);
    cr_expect(m->foreign && m->bound == THEOREM_ANY_ORDER && m->promise == PROMISE_NONE);
    cr_expect(method_supports(m, DEVICE_CPU, FP64, FP64) &&
              method_supports(m, DEVICE_CPU, FP32, FP64) &&
              !method_supports(m, DEVICE_CPU, FP32, FP32) &&
              !method_supports(m, DEVICE_CPU, FP16, FP64) &&
              !method_supports(m, DEVICE_CUDA, FP64, FP64));
    expect_run(m, 2, 1.5);
    expect_run(m, 0, 0);
    expect_run(m, N, 0x1.755cccec10aa6p+3); /* by MPFR, rounded once */
    const struct method *scan = subject("cumsum", NULL);
    cr_assert(run(scan, N, &p) == STATUS_OK, "%s", p.text);
    double due = 0;
    for (size_t i = 0; i < N; i++)
        cr_assert(out[i] == (due += x[i]), "output %zu", i);
    struct operands of = {.in = {FP64, N, x}, .exclusive = true};
    cr_assert(run_of(scan, &of, N, &p) == STATUS_OK, "%s", p.text);
    cr_expect(out[0] == 0 && out[1] == 1 && out[2] == 1.5);
    const struct method *dot = subject("dot", NULL);
    of = (struct operands){.in = {FP64, 3, x}, .in2 = {FP64, 3, y}};
    cr_assert(run_of(dot, &of, 1, &p) == STATUS_OK, "%s", p.text);
    cr_expect(out[0] == -3 + 0.5 * -2 + 1 / 3.0 * -1, "found %a", out[0]);
    const struct method *bins = subject("bins", &operation_scatter);
    uint32_t keys[] = {2, 0, 2};
    of = (struct operands){.in = {FP64, 3, x}, .keys = keys, .bins = 4};
    cr_assert(run_of(bins, &of, 4, &p) == STATUS_OK, "%s", p.text);
    cr_expect(out[0] == 0.5 && out[1] == 0 && out[2] == 1 + 1 / 3.0 && out[3] == 0);
    foreign_end(NULL);
}

/* The same elements again are not sent again, nor made into another array, unless a run wrote into
 * it. */
Test(python, keeps_elements_between_runs, .init = fill)
{
    const struct method *m = subject("arrays", NULL), *spoils = subject("spoils", NULL);
    for (size_t i = 0; i < 3; i++)
        expect_run(m, 1000, 1);
    expect_run(m, 999, 2);
    x[0] = 5;
    expect_run(m, 999, 3);
    expect_run(m, 999, 3);
    x[0] = 1;
    for (size_t i = 0; i < 3; i++)
        expect_run(spoils, 2, 1.5);
    foreign_end(NULL);
}

Test(python, says_what_failed, .init = fill)
{
    static const struct {
        const char *function, *words;
        enum status status;
    } each[] = {
        {"fails", "ValueError: no more than four", STATUS_DATA},
        {"leaves", "SystemExit: 0", STATUS_DATA},
        {"memory", "MemoryError: of the device", STATUS_DEVICE},
    };
    struct problem p;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        const struct method *m = subject(each[i].function, NULL);
        expect_run(m, 2, 1.5);
        cr_expect(run(m, 5, &p) == each[i].status, "%s: %d", m->name, p.status);
        cr_expect(strstr(p.text, each[i].words), "%s", p.text);
        expect_run(m, 2, 1.5);
    }
    expect_run(subject("prints", NULL), 2, 1.5);
    foreign_end(NULL);
}

static void expect_refused(const char *name, enum status status, const char *words)
{
    const struct method *m;
    struct problem p = {0};
    cr_expect(subject_named(&m, "option --method", name, NULL, &p) == status, "%s: %d", name,
              p.status);
    cr_expect(strstr(p.text, words) && strncmp(p.text, "option --method: ", 17) == 0,
              "'%s' is not in: %s", words, p.text);
}

Test(python, refuses_what_is_no_function)
{
    expect_refused("python:" FILE_OF_SUBJECTS ":fsums", STATUS_USAGE, "has no fsums; it has fsum");
    expect_refused("python:" FILE_OF_SUBJECTS ":fsum@sum@array@mean", STATUS_USAGE,
                   "found '@sum@array@mean', expected one library of arrays and one operation");
    expect_refused("python:" FILE_OF_SUBJECTS ":fsum@numpy@array", STATUS_USAGE,
                   "found '@numpy@array', expected one library of arrays and one operation");
    expect_refused("python:" FILE_OF_SUBJECTS, STATUS_USAGE, "alone, expected FILE.py:FUNCTION");
    expect_refused("python:" FILE_OF_SUBJECTS ":", STATUS_USAGE,
                   "subjects.py' alone, expected FILE.py:FUNCTION");
    expect_refused("python:" FILE_OF_SUBJECTS ":math", STATUS_USAGE, "found a module, expected a");
    expect_refused("python:/nowhere/f.py:f", STATUS_DATA, "/nowhere/f.py: no such file");
    expect_refused("python:no_such_module.f", STATUS_DATA, "found no module no_such_module in /");
    expect_refused("python:" FILE_THAT_LACKS ":f", STATUS_DATA,
                   "ModuleNotFoundError: No module named 'no_such_module' (in /");
    expect_refused("python:" FILE_OF_SUBJECTS ":text@array", STATUS_DATA,
                   "called as sum, fp32 in fp32: found a result of type str, expected fp32");
    expect_refused("python:" FILE_OF_SUBJECTS ":cumsum@array@sum", STATUS_DATA,
                   "found 4 results, expected 1");
    expect_refused("python:" FILE_OF_SUBJECTS ":fsum@compiled@array", STATUS_USAGE,
                   "mode compiled: arrays of array have no such mode; torch and jax have it");
    expect_refused("python:" FILE_OF_SUBJECTS ":fsum@deterministic@array", STATUS_USAGE,
                   "mode deterministic: arrays of array have no such mode; torch has it");
    expect_refused("python:" FILE_OF_SUBJECTS ":fsum@deterministic@compiled@array", STATUS_USAGE,
                   "mode deterministic: arrays of array have no such mode; torch has it");
    setenv("ULPSCOPE_PYTHON", "/nowhere/python", 1);
    expect_refused("python:math.fsum@array", STATUS_DATA, "/nowhere/python");
}

static const struct foreign *state_of(const struct method *m)
{
    return (const struct foreign *)m;
}

/* Functions of a file, or of a library in one mode, are described by the process of the one before:
 * imports take seconds. It runs none of them: what one left behind is not for another to find. */
Test(python, one_process_describes_many, .init = fill)
{
    const struct method *first = subject("fsum", NULL), *second;
    const struct process *process = state_of(first)->process;
    struct problem p;
    cr_assert(process);
    second = subject("dot", &operation_dot);
    cr_expect(state_of(second)->process == process && !state_of(first)->process);
    cr_expect(state_of(second)->start_s == state_of(first)->start_s);
    expect_refused("python:" FILE_OF_SUBJECTS ":text@array", STATUS_DATA, "a result of type str");
    const struct method *third = subject("spoils", NULL);
    cr_expect(state_of(third)->process && !state_of(third)->borrowed);
    expect_run(third, 2, 1.5);
    /* It has run: it is the third's own. */
    const struct method *last = subject("cumsum", &operation_scan);
    cr_expect(state_of(third)->process && state_of(last)->process != state_of(third)->process);
    const struct method *other = subject("prints", NULL);
    cr_expect(state_of(other)->borrowed && !state_of(last)->process);
    expect_run(other, 2, 1.5);
    cr_expect(state_of(other)->process && !state_of(other)->borrowed);
    expect_run(first, 2, 1.5);
    cr_expect(run(subject("fails", NULL), 5, &p) == STATUS_DATA && strstr(p.text, ":fails"), "%s",
              p.text);
    foreign_end(NULL);
}

/* Of three in a row the second was described in the process of the first, which the third has then:
 * what it runs in is its own, and keeps its elements from run to run. */
Test(python, what_was_described_between_others_runs_in_one_process, .init = fill)
{
    subject("fsum", NULL);
    const struct method *second = subject("prints", NULL);
    subject("spoils", NULL);
    cr_assert(!state_of(second)->process && !state_of(second)->borrowed);
    expect_run(second, 2, 1.5);
    const struct process *process = state_of(second)->process;
    for (int i = 0; i < 3; i++)
        expect_run(second, 2, 1.5);
    cr_expect(process && state_of(second)->process == process);
    foreign_end(NULL);
}

Test(python, only_of_one_library_in_one_mode)
{
    static const struct {
        const char *name, *other;
        bool alike;
    } each[] = {
        {"python:torch.sum", "python:torch.linalg.norm", true},
        {"python:torch.sum", "python:ulpscope.calls.histogram@torch", true},
        {"python:ulpscope.calls.histogram@torch", "python:torch.sum@rows", true},
        {"python:torch.sum@deterministic", "python:torch.mean@deterministic", true},
        {"python:torch.sum", "python:torch.mean@deterministic", false},
        {"python:torch.sum", "python:numpy.sum", false},
        {"python:torch.sum", "python:numpy.sum@torch", true},
        {"python:math.fsum", "python:math.prod", true},
        {"python:math.fsum", "python:maths.prod", false},
        {"python:maths.fsum", "python:math.prod", false},
        {"python:a.py:f", "python:a.py:g@norm", true},
        {"python:a.py:f@torch", "python:a.py:g@torch", true},
        {"python:a.py:f@torch", "python:a.py:g", false},
        {"python:a.py:f@torch", "python:b.py:f@torch", false},
        {"python:a.py:f@torch", "python:torch.sum", false},
        {"python:torch.sum", "python:a.py:f@torch", false},
        {"python:x/a.py:f", "python:a.py:f", false},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        cr_expect(python_alike(each[i].name, each[i].other) == each[i].alike, "%s, %s",
                  each[i].name, each[i].other);
}

/* Each pair is tried, which of some functions means a compilation: asked for one, one is tried. */
Test(python, is_asked_of_what_is_tried_alone)
{
    const struct format_pairs *pairs;
    foreign_describe_only("cpu fp64/fp64");
    pairs = method_pairs(subject("fsum", &operation_sum), DEVICE_CPU);
    for (size_t s = 0; s < FORMATS; s++)
        for (size_t a = 0; a < FORMATS; a++)
            cr_expect(format_pairs_have(pairs, s, a) == (s == FP64 && a == FP64), "%s/%s",
                      format_facts[s].name, format_facts[a].name);
    foreign_describe_only("");
    pairs = method_pairs(subject("fsum", &operation_mean), DEVICE_CPU);
    cr_expect(format_pairs_have(pairs, FP32, FP64) && format_pairs_have(pairs, FP64, FP64));
}

/* So that what is timed begins with its library loaded. */
Test(python, wakes_a_process, .init = fill)
{
    const struct method *m = subject("fsum", NULL);
    const struct foreign *f = (const struct foreign *)m;
    foreign_end(m);
    cr_expect(f->process == NULL);
    foreign_wake(m, -1);
    cr_expect(f->process != NULL);
    expect_run(m, 2, 1.5);
    foreign_wake(method_registry[0], -1);
    foreign_end(NULL);
}

/* Small sums, one question after the other. */
Test(python, answers_2000_times_a_second, .init = fill)
{
    enum { RUNS = 4000 };
    const struct method *m = subject("fsum", NULL);
    double best = 1e9;
    for (int i = 0; i < 3 && best > 1; i++) {
        uint64_t begin = clock_ns();
        for (int k = 0; k < RUNS; k++) {
            x[0] = k % 2;
            expect_run(m, 2, 0.5 + k % 2);
        }
        double seconds = (double)(clock_ns() - begin) / 1e9;
        best = seconds < best ? seconds : best;
    }
    cr_expect(best < RUNS / 2000.0, "%.0f runs a second", RUNS / best);
    foreign_end(NULL);
}

#define CHECK FILE_OF_SUBJECTS ":fsum --array array --storage fp64 --accumulator fp64 "
#define CPU   CHECK "--device cpu "

Test(python, is_checked_timed_and_recorded, .init = make_folder, .fini = remove_folder)
{
    cr_expect_eq(run_program("check", "python:" CPU
                                      "--input uniform --seconds 2 --promise run_to_run --wide"),
                 0);
    expect_said("out", "run_to_run         kept");
    expect_said("out", "process ");
    expect_said("out", "offset (its library of");
    cr_expect_eq(run_program("bench", "--n 1000 --method python:" CPU), 0);
    expect_said("out", "subjects.py:fsum@array  fp64/fp64 ");
    cr_expect_eq(run_program("run", "accuracy --out a --n 100 --method python:" CPU), 0);
    expect_said("a/study.json", "\"version\": \"3.");
    expect_said("a/study.json", "\"f(x)\"");
    expect_said("a/study.json", "\"sha256\"");
    cr_expect_eq(run_program("run", "accuracy --from a/study.json --out b"), 0);
    expect_said("b/summary.csv", "subjects.py:fsum@array,");
    cr_expect_eq(run_program("reveal",
                             "python:" FILE_OF_SUBJECTS ":cumsum --device cpu --storage fp64 "
                             "--accumulator fp64 --array array --n 4"),
                 0);
    expect_said("out", "((0 + 1) + 2) + 3");
    cr_expect_eq(run_program("check", "python:" FILE_OF_SUBJECTS ":fsum --device cpu --storage "
                                      "fp32 --accumulator fp32 --array array"),
                 4);
    expect_said("err", "does not run on cpu in the formats asked for, but in fp32/fp64, fp64/fp64");
    cr_expect_eq(run_program("check", "sum/tiled --array lists"), 2);
    expect_said("err", "option --array: found 'lists', expected numpy, torch, cupy, jax or array");
}

/* A build without CUDA takes them to a GPU all the same: it is theirs to use. */
Test(python, runs_on_gpus_that_are_not_ours, .init = make_folder, .fini = remove_folder)
{
    if (gpu_build())
        cr_skip_test("a build with CUDA asks the driver for more");
    setenv("ULPSCOPE_PYTHON", ULPSCOPE_SOURCE "/tests/support/played_cuda.py", 1);
    setenv("PLAYED", "alike", 1);
    cr_expect_eq(run_program("check", "python:" CHECK " --device cuda"), 4);
    expect_said("err", "device cuda: found no GPU, and this program was built without CUDA");
    setenv("LD_LIBRARY_PATH", PLAYED_DRIVER, 1);
    cr_expect_eq(
        run_program("check", "python:" CHECK "--device cuda --seconds 2 --input ones --wide"), 0);
    expect_said("out", "subjects.py:fsum@array on cuda:0");
    expect_said("out", "device ");
    expect_said("out", "load (this program was built without CUDA");
    setenv("PLAYED", "differently", 1);
    cr_expect_eq(run_program("check", "python:" CHECK "--device cuda --seconds 2 --only device "
                                      "--promise gpu_to_gpu"),
                 1);
    setenv("PLAYED", "alike", 1);
    cr_expect_eq(
        run_program("run", "accuracy --out a --n 100 --method python:" CHECK "--device cuda"), 0);
    expect_said("a/results.csv", ",cuda:0,");
    cr_expect_eq(run_program("check", "python:" CHECK " --device cuda:1"), 4);
    cr_expect_eq(run_program("check", "sum/tiled --device cuda"), 4);
    expect_said("err", "built without CUDA");
    cr_expect_eq(run_program("check", "sum/tiled --seconds 1 --n 100"), 0);
    expect_said("out", "on cpu");
    /* What a program makes of the device that it is told, nobody knows: no evidence of two. */
    cr_expect_eq(run_program("check",
                             "'exec:while read -r sum n rest; do head -c $((4 * n)) >/dev/null; "
                             "printf \"\\0\\0\\0\\0\"; done' --device cpu --storage fp32 "
                             "--accumulator fp32 --seconds 1 --n 10 --promise run_to_run --wide"),
                 0);
    expect_said("out", "device (a program decides");
}

static void write_own(const char *text)
{
    struct bytes source = {0};
    add_string(&source, text);
    put_file("own.py", &source);
    clear_bytes(&source);
}

/* Results of one file do not go on with those of another; a study repeated says which it was. */
Test(python, a_changed_file_is_seen, .init = make_folder, .fini = remove_folder)
{
    char study[700];
    snprintf(study, sizeof study,
             "accuracy --method python:%s/own.py:f@array --n 64 --storage fp64 --accumulator fp64 "
             "--device cpu --input uniform --out s",
             folder);
    write_own("def f(x):\n    return sum(x)\n");
    cr_expect(run_program("run", study) == 0);
    cr_expect(run_program("run", "--from s/study.json --out again") == 0);
    char *said = content("err");
    cr_expect(!strstr(said, "its file is not the one"), "%s", said);
    free(said);
    write_own("def f(x):\n    return sum(x) + 0\n");
    cr_expect(run_program("run", study) == 2);
    expect_said("err", "its file of python:");
    cr_expect(run_program("run", "--from s/study.json --out another") == 0);
    expect_said("err",
                "own.py:f@array: its file is not the one that s/study.json used: found sha256");
}

/* Its file is named relative to the folder that it began in. */
Test(python, may_go_to_another_folder, .init = make_folder, .fini = remove_folder)
{
    FILE *file = fopen(in_folder("goes.py"), "w");
    cr_assert(file);
    fputs("import math, os\ndef f(x):\n    os.chdir('/')\n    return math.fsum(x)\n", file);
    cr_assert_eq(fclose(file), 0);
    cr_expect_eq(run_program("run", "accuracy --method python:goes.py:f --array array --n 10 "
                                    "--storage fp64 --accumulator fp64 --input ones --device cpu "
                                    "--out results"),
                 0);
    expect_said("out", "python:goes.py:f@array");
}
