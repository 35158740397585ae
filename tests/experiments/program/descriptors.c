/* Closed standard input, output, error: what is said lands in no file. */
#include "tests/support/program.h"

Test(descriptors, messages_land_in_no_file, .init = make_folder, .fini = remove_folder)
{
    static const char *const closed[] = {"<&-",      ">&-",      "2>&-",        "<&- >&-",
                                         "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"};
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++) {
        char arguments[300];
        snprintf(
            arguments, sizeof arguments,
            "accuracy --device cpu --method exec:false --input ones --n 10 --out %zu >out 2>err %s",
            i, closed[i]);
        char command[2000];
        snprintf(command, sizeof command, "cd '%s' && '%s' run %s", folder, ULPSCOPE_PROGRAM,
                 arguments);
        int status = system(command);
        cr_expect_eq(WEXITSTATUS(status), 3, "%s: %d", closed[i], WEXITSTATUS(status));
        char name[64];
        snprintf(name, sizeof name, "%zu/results.csv", i);
        char *rows = content(name);
        cr_expect(!strstr(rows, "ulpscope:"), "%s: %s", closed[i], rows);
        cr_expect(strncmp(rows, "experiment,case_id,", 19) == 0, "%s: %s", closed[i], rows);
        free(rows);
    }
}

/* A closed standard output is one that cannot be written. */
Test(descriptors, nothing_is_lost_in_silence, .init = make_folder, .fini = remove_folder)
{
    char command[2000];
    snprintf(command, sizeof command, "cd '%s' && '%s' list methods >&- 2>err", folder,
             ULPSCOPE_PROGRAM);
    int status = system(command);
    cr_expect_eq(WEXITSTATUS(status), 3);
    expect_said("err", "standard output: could not be written");
}
