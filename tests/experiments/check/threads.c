/* `check --threads` of subjects that only their environment tells it, and of those that nobody can
 * tell. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "tests/support/terminal.h"

/* Adds nothing: answers with a number that its environment says. */
#define ANSWERS_WITH(variable)                                                                     \
    "'exec:while read -r sum n rest; do head -c $((4 * n)) >/dev/null; "                           \
    "printf \"\\0\\0\\20${" variable ":-7}\\77\"; done'"
#define ANSWERS_WITH_ITS_THREADS ANSWERS_WITH("OMP_NUM_THREADS")

Test(check_threads, reach_programs_through_the_environment, .init = make_folder,
     .fini = remove_folder)
{
    int status = run_program("check", ANSWERS_WITH_ITS_THREADS
                             " --threads 4,5 --n 8 --storage fp32 --accumulator fp32 --device cpu "
                             "--seconds 2 --promise gpu_to_gpu --out made.csv");
    cr_expect(status == 1, "exit status %d", status);
    expect_said("out", "BREAKS gpu_to_gpu, which --promise asks for; keeps run_to_run\n");
    expect_said("out", "OMP_NUM_THREADS=4 in its environment\n");
    expect_said("out", "OMP_NUM_THREADS=5 in its environment\n");
    char *out = content("out");
    const char *row = strstr(out, "\nrun_to_run "), *again = strstr(out, "  reproduce: ");
    int attempts = 0, differ = 0, shapes = 0;
    cr_expect(row && sscanf(row, " run_to_run kept %d %d %d", &attempts, &differ, &shapes) == 3 &&
                  shapes == 2,
              "not in both numbers of threads: %s", out);
    cr_assert(again);
    cr_expect(strstr(again, " --threads 4,5") || strstr(again, " --threads 5,4"), "%s", again);
    char command[2000];
    snprintf(command, sizeof command, "%.*s >/dev/null 2>&1",
             (int)strcspn(again + strlen("  reproduce: "), "\n"), again + strlen("  reproduce: "));
    status = system(command);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, "%s", command);
    free(out);
}

/* XLA, which runs what JAX is asked, reads neither OMP_NUM_THREADS nor its like. */
Test(check_threads, reach_jax, .init = make_folder, .fini = remove_folder)
{
    int status = run_program(
        "check",
        ANSWERS_WITH("NPROC") " --threads 4,5 --n 8 --storage fp32 --accumulator fp32 --device cpu "
                              "--seconds 2 --promise gpu_to_gpu --only gpu_to_gpu/environment");
    cr_expect(status == 1, "exit status %d", status);
    expect_said("out", "BREAKS gpu_to_gpu");
}

/* One number leaves nothing to compare, and is no reason to say that time ran out. */
Test(check_threads, of_one_number_are_compared_with_none, .init = make_folder,
     .fini = remove_folder)
{
    int status = run_program("check", ANSWERS_WITH_ITS_THREADS
                             " --threads 4 --n 8 --storage fp32 --accumulator fp32 --device cpu "
                             "--seconds 1 --wide");
    cr_expect(status == 0, "exit status %d", status);
    expect_told("out", "one number of threads is asked for");
}

Test(check_threads, that_nobody_reads_are_not_left_out_in_silence, .init = make_folder,
     .fini = remove_folder)
{
    run_program("check", "sum/serial --threads 4 --device cpu --seconds 0.1");
    expect_said("err",
                "ulpscope: check: sum/serial on cpu reads no --threads: it changes nothing here\n");
    run_program("check", "sum/exact --device cpu --seconds 0.1");
    char *err = content("err");
    cr_expect_str_empty(err);
    free(err);
}

/* A library that has fewer threads than its environment asks for, as PyTorch has on fewer
 * processors: nothing was tried in the others, however long it takes. */
Test(check_threads, that_a_library_does_not_have_are_not_tried, .init = make_folder,
     .fini = remove_folder)
{
    static const char subject[] = "python:" ULPSCOPE_SOURCE "/tests/support/subjects.py:cumsum "
                                  "--array array --n 8 --storage fp64 --accumulator fp64 "
                                  "--device cpu --seconds 5 --promise run_to_run --threads ";
    char arguments[600];
    setenv("ULPSCOPE_PYTHON", ULPSCOPE_SOURCE "/tests/support/played_threads.py", 1);
    snprintf(arguments, sizeof arguments, "%s1,2,4", subject);
    cr_expect(run_program("check", arguments) == 1);
    expect_told("out", ": 4 threads were asked for: its library has 2");
    snprintf(arguments, sizeof arguments, "%s1,2", subject);
    cr_expect(run_program("check", arguments) == 0);
    expect_said("out", "run_to_run         kept");
}

/* An object whose array a process of its own surrounds is asked for the same number of threads: no
 * further launch shape was tried, and none is missed. */
Test(check_threads, of_objects_among_others_are_no_other_shape, .init = make_folder,
     .fini = remove_folder)
{
    run_program("check", FLAWED_OBJECT ":shares --only gpu_to_gpu/neighbour --threads 3 --n 100 "
                                       "--device cpu --seconds 1");
    char *out = content("out");
    const char *row = strstr(out, "\ngpu_to_gpu ");
    int attempts = 0, differ = -1, shapes = 0;
    cr_expect(row && sscanf(row, " gpu_to_gpu kept %d %d %d", &attempts, &differ, &shapes) == 3 &&
                  attempts > 0 && differ == 0 && shapes == 1,
              "%s", out);
    free(out);
}

/* In one launch shape a subject whose order may depend on it has kept nothing of the others. */
Test(check_threads, of_one_launch_shape_alone_are_no_evidence, .init = make_folder,
     .fini = remove_folder)
{
    run_program("check", FLAWED_OBJECT ":shares --threads 3 --n 100 --device cpu --seconds 1 "
                                       "--promise gpu_to_gpu");
    expect_said("out", "gpu_to_gpu, which it promises, was not tried");
    expect_said("out", "gpu_to_gpu: tried in one launch shape alone: give --threads two numbers");
}

/* The same of one that reads no launch shape, which its environment tells how many threads it has:
 * what was tried of it elsewhere in memory is no evidence of other numbers. */
Test(check_threads, of_one_number_are_no_evidence, .init = make_folder, .fini = remove_folder)
{
    int status = run_program("check", FLAWED_OBJECT ":neumaier --threads 3 --n 100 --device cpu "
                                                    "--seconds 1 --promise gpu_to_gpu");
    cr_expect(status == 1, "exit status %d", status);
    expect_said("out", "gpu_to_gpu, which it promises, was not tried");
    expect_said(
        "out", "gpu_to_gpu: tried in one launch shape alone: give --threads two numbers or more\n");
    char *out = content("out");
    const char *row = strstr(out, "\ngpu_to_gpu ");
    int attempts = 0, differ = -1, shapes = 0;
    cr_expect(row &&
                  sscanf(row, " gpu_to_gpu not tried %d %d %d", &attempts, &differ, &shapes) == 3 &&
                  attempts >= 10 && differ == 0 && shapes == 1,
              "among others too it has three threads: %s", out);
    free(out);
    expect_said("err", ": the reasons above say what to give\n");
}

/* What a shared object or a method of ours computes, it says itself. */
Test(check_threads, nor_is_another_operation, .init = make_folder, .fini = remove_folder)
{
    cr_expect(run_program("check", FLAWED_OBJECT ":dot --device cpu --operation sum") == 2);
    expect_said("err", "flawed_object.so:dot, of operation dot, with --operation sum, which is for "
                       "exec: and python: subjects: expected no --operation\n");
    cr_expect(run_program("check", "sum/serial --device cpu --operation dot --special") == 2);
    expect_said("err", "check: found sum/serial, of operation sum, with --operation dot");
    cr_expect(run_program("reveal", FLAWED_OBJECT ":dot --n 8 --operation sum") == 2);
    cr_expect(run_program("reveal", FLAWED_OBJECT ":dot --n 8 --operation dot") == 0);
}
