/* Ctrl-C: what was measured before it is told. */
#include <sys/wait.h>

#include "tests/support/program.h"

/* bench has timed its first input when it is interrupted, and has hours of work left. */
Test(interrupt, bench_tells_what_it_has_timed, .init = make_folder, .fini = remove_folder)
{
    const char *const format[] = {"", "--json"};
    for (int json = 0; json < 2; json++) {
        char command[1000];
        snprintf(
            command, sizeof command,
            "cd '%s' && rm -f b.csv && { '%s' bench --device cpu --method sum/serial --storage "
            "fp32 "
            "--accumulator fp32 --n 1000,2^20..2^27 --out b.csv %s >out 2>err & } && ours=$! && "
            "until grep -q sum/serial b.csv 2>/dev/null || ! kill -0 $ours; do sleep 0.02; "
            "done; kill -INT $ours; wait $ours",
            folder, ULPSCOPE_PROGRAM, format[json]);
        int status = system(command);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 130, "%s: status %d", command,
                  status);
        expect_said("out", json ? "\"n\": 1000" : " 1000 ");
        expect_said("err", "ulpscope: bench: interrupted: ");
    }
}

/* Who ends a program by way of `timeout`, or a batch system, sends the signal to it and to its
 * group: two that come at once are one, and what was tried before is told. */
Test(interrupt, two_signals_at_once_are_one, .init = make_folder, .fini = remove_folder)
{
    struct bytes manifest = {0};
    add_string(&manifest, "{\"device\": \"cpu\", \"subjects\": [{\"subject\": \"exec:sleep 100\", "
                          "\"promise\": \"run_to_run\", \"seconds\": 60}]}");
    put_file("gate.json", &manifest);
    clear_bytes(&manifest);
    for (int i = 0; i < 12; i++) {
        char command[1000];
        snprintf(command, sizeof command,
                 "cd '%s' && timeout -s INT 0.5 '%s' gate gate.json >out 2>err", folder,
                 ULPSCOPE_PROGRAM);
        int status = system(command);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 124, "status %d", status);
        expect_said("out", "not tried  exec:sleep 100");
    }
}

/* All cases are run when the first time is still to be written: that is what is left to do. */
Test(interrupt, ladder_has_times_left, .init = make_folder, .fini = remove_folder)
{
    char command[1000];
    snprintf(command, sizeof command,
             "cd '%s' && { '%s' run ladder --device cpu --method sum/sumk5 --storage fp32 "
             "--accumulator fp32 --n 10 --runs 2 --timed 2^24 --out out >told 2>err & } && ours=$! "
             "&& until [ -e out/times.csv ] || ! kill -0 $ours; do sleep 0.02; done; "
             "kill -INT $ours; wait $ours",
             folder, ULPSCOPE_PROGRAM);
    int status = system(command);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 130, "%s: status %d", command, status);
    expect_said("err", "cases are finished in out, but not all times; the same command goes on");
}
