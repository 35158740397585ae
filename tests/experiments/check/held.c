/* What --promise asks for must be tried, or that is the verdict's exit status. */
#include <criterion/criterion.h>

#include "tests/support/program.h"

static int check(const char *arguments)
{
    return run_program("check", arguments);
}

/* --only names attempts, not how often they are made: a subject too slow for ten of them is not
 * held; one case that is run again may have few. */
Test(check_held, what_only_leaves_must_be_tried, .init = make_folder, .fini = remove_folder)
{
    static const char slow[] = "python:own.py:f@array --device cpu --only run_to_run/repeat "
                               "--promise run_to_run --storage fp64 --accumulator fp64 --n 100";
    struct bytes source = {0};
    char arguments[600];
    add_string(&source, "import time\n\n\ndef f(x):\n    time.sleep(0.2)\n    return sum(x)\n");
    put_file("own.py", &source);
    clear_bytes(&source);
    snprintf(arguments, sizeof arguments, "%s --seconds 1", slow);
    cr_expect(check(arguments) == 1);
    expect_said("err", "what --promise asks for was not tried of python:own.py:f");
    snprintf(arguments, sizeof arguments, "%s --seconds 1 --input uniform", slow);
    cr_expect(check(arguments) == 0);
    snprintf(arguments, sizeof arguments, "%s --seconds 6", slow);
    cr_expect(check(arguments) == 0);
}

/* A program takes no launch shape: its gpu_to_gpu cannot be tried, which is no success of who asks
 * for it, whatever it keeps above. */
Test(check_held, what_is_asked_for_must_be_tried, .init = make_folder, .fini = remove_folder)
{
    char arguments[600];
    snprintf(
        arguments, sizeof arguments,
        "'exec:%s serve sum/exact' --device cpu --seconds 1 --n 100 --storage fp32 --accumulator "
        "fp32",
        ULPSCOPE_PROGRAM);
    cr_expect(check(arguments) == 0);
    strcat(arguments, " --promise gpu_to_gpu");
    cr_expect(check(arguments) == 1);
    expect_said("out", "gpu_to_gpu, which --promise asks for, was not tried");
    expect_said("err", "what --promise asks for was not tried of exec:");
}
