/* A subject that answers some lengths and refuses others is tried on those that it answers, and
 * what it refused is said. */
#include <criterion/criterion.h>

#include "tests/support/program.h"

static int check_for(const char *seconds, const char *subject, const char *more)
{
    char arguments[600];
    snprintf(arguments, sizeof arguments,
             "%s --device cpu --storage fp64 --accumulator fp64 --seconds %s %s", subject, seconds,
             more);
    return run_program("check", arguments);
}

static int check(const char *subject, const char *more)
{
    return check_for("2", subject, more);
}

static void make(void)
{
    static const char source[] = "import os\n\n\n"
                                 "def long_only(x):\n"
                                 "    if len(x) < 10:\n"
                                 "        raise ValueError(f'{len(x)} are too few')\n"
                                 "    return sum(x)\n\n\n"
                                 "def even(x):\n"
                                 "    if len(x) % 2:\n"
                                 "        raise ValueError(f'odd: {len(x)}')\n"
                                 "    return sum(x)\n\n\n"
                                 "def once(x):\n"
                                 "    if len(x) == 1000 and not os.path.exists('done'):\n"
                                 "        open('done', 'w').close()\n"
                                 "        raise RuntimeError('this once')\n"
                                 "    return sum(x)\n\n\n"
                                 "def one_length(x, seen=[]):\n"
                                 "    if len(x) > 4:\n"
                                 "        seen.append(len(x))\n"
                                 "        if seen[0] != len(x):\n"
                                 "            raise RuntimeError(f'made for {seen[0]}')\n"
                                 "    return sum(x)\n\n\n"
                                 "def never(x):\n"
                                 "    raise ValueError('never')\n\n\n"
                                 "def hangs(x):\n"
                                 "    import time\n"
                                 "    time.sleep(100 if len(x) > 4 else 0)\n"
                                 "    return sum(x)\n\n\n"
                                 "def by_length(x, seen={}):\n"
                                 "    return seen.setdefault(len(x), sum(x))\n\n\n"
                                 "def slow(x):\n"
                                 "    import time\n"
                                 "    takes = {4: 0, 65536: 0.28, 1000: 0.2}\n"
                                 "    time.sleep(takes.get(len(x), 0.95))\n"
                                 "    return even(x)\n\n\n"
                                 "def two(x):\n"
                                 "    return [sum(x)] * (1 + len(x) % 2)\n\n\n"
                                 "def falls(x):\n"
                                 "    if len(x) % 2:\n"
                                 "        os.kill(os.getpid(), 11)\n"
                                 "    return sum(x)\n";
    struct bytes bytes = {0};
    make_folder();
    add_string(&bytes, source);
    put_file("own.py", &bytes);
    clear_bytes(&bytes);
}

/* The example on which a way to call it is found has four elements: longer ones follow. */
Test(check_refused, is_called_on_as_many_elements_as_it_takes, .init = make, .fini = remove_folder)
{
    cr_expect(check("python:own.py:long_only@array", "--n 100,1000 --only run_to_run") == 0);
    expect_said("out", "no attempt breaks run_to_run");
    cr_expect(check("python:own.py:never@array", "") == 3);
    expect_said("err", "never");
    expect_said("err", "on 4");
}

Test(check_refused, lengths_are_said, .init = make, .fini = remove_folder)
{
    cr_expect(check("python:own.py:even@array", "--only run_to_run") == 0);
    expect_said("out", "no attempt breaks run_to_run");
    expect_said("out", "it refused n = ");
    expect_said("out", "ValueError:");
    cr_expect(check("python:own.py:even@array", "--promise run_to_run") == 0); /* all kinds */
    expect_said("out", "keeps ");
    cr_expect(check("'exec:while read -r word n rest; do [ $((n % 2)) = 0 ] || { echo odd n >&2; "
                    "exit 7; }; head -c $((8 * n)) >/dev/null; head -c 8 /dev/zero; done'",
                    "--only run_to_run --promise run_to_run --n 1000,4096") == 0);
}

/* 33 elements are refused after the time for the check ended. */
Test(check_refused, lengths_are_said_when_time_ended, .init = make, .fini = remove_folder)
{
    cr_expect(check_for("0.05", "python:own.py:slow@array", "--only repeat,exact") == 0);
}

/* A length that was asked for is not left out in silence. */
Test(check_refused, what_is_asked_for_fails, .init = make, .fini = remove_folder)
{
    cr_expect(check("python:own.py:even@array", "--n 1000,1001 --only run_to_run") == 3);
    expect_said("out", "FAILED");
    expect_said("out", "odd: 1001");
    cr_expect(check("python:own.py:even@array", "--n 1001 --only run_to_run") == 3);
    expect_said("out", "odd: 1001");
}

/* What was refused once, and answered when it was asked again, is a failure; so is what a process
 * answers only before it has run something else, and whatever ends by a signal. */
Test(check_refused, is_not_what_fails_at_times, .init = make, .fini = remove_folder)
{
    cr_expect(check("python:own.py:once@array", "--only repeat") == 3);
    expect_said("out", "FAILED in repeat");
    expect_said("out", "the same was answered when it was asked again");
    cr_expect(check_for("15", "python:own.py:one_length@array", "--only after,repeat --n 1000") ==
              3);
    expect_said("out", "FAILED in after");
    expect_said("out", "made for 1000");
    cr_expect(check("python:own.py:falls@array", "--only repeat") == 3);
    expect_said("out", "FAILED in repeat");
    cr_expect(check("python:own.py:two@array", "--only repeat") == 3); /* it answers, wrongly */
    expect_said("out", "FAILED in repeat");
}

/* What ended was the time for the check; --timeout would not help. */
Test(check_refused, time_is_not_the_timeout, .init = make, .fini = remove_folder)
{
    cr_expect(check("python:own.py:hangs@array", "--only repeat --n 100") == 3);
    expect_said("out", "no answer within 10 s, when the time for the check ended: found 0 of");
    cr_expect(check("python:own.py:hangs@array", "--only repeat --n 100 --timeout 6") == 3);
    expect_said("out", "no answer within 6 s (--timeout): found 0 of");
}

/* More time makes no more cases of data that all are tried on. */
Test(check_refused, time_does_not_make_cases, .init = make, .fini = remove_folder)
{
    struct bytes numbers = {0};
    add_string(&numbers, "1\n2\n3\n");
    put_file("few.txt", &numbers);
    clear_bytes(&numbers);
    cr_expect(check("sum/serial", "--data few.txt --only exact") == 0);
    expect_said("out", "10 are needed, and all cases that were");
    char *out = content("out");
    cr_expect(!strstr(out, "more --seconds"), "%s", out);
    free(out);
}

/* What remembers a result by its length gives the same again and again, in every order: another
 * array of that length comes first in a process. */
Test(check_refused, what_remembers_by_length_is_found, .init = make, .fini = remove_folder)
{
    cr_expect(check_for("10", "python:own.py:by_length@array", "--only after --n 1000") == 0);
    expect_said("out", "breaks run_to_run");
    expect_said("out", "in a process whose first run was on ");
}

/* Kinds that were asked for and that time did not reach are said, also of a part of the ladder;
 * what was not asked for is not. */
Test(check_refused, what_time_did_not_reach_is_said, .init = make, .fini = remove_folder)
{
    cr_expect(check_for("0.02", "python:own.py:even@array", "--only after,repeat --n 1000") == 0);
    expect_said("out", "run_to_run         kept ");
    expect_said("out", "not tried: after (no time was left to start another process)");
    char *out = content("out");
    cr_expect(!strstr(out, "environment ("), "%s", out);
    free(out);
}
