/* The program as a whole: its command line, and where its output goes. */
#include <criterion/criterion.h>

#include "experiments/options.h"
#include "tests/program.h"

/* Standard output that cannot be written is an error of every verb, and of what is no verb. */
Test(program, full_standard_output, .init = make_folder, .fini = remove_folder)
{
    static const char *const command[] = {
        "--version", "-V",          "--help",     "help list",
        "list",      "list --help", "--man list", "sum --json x.txt"};
    FILE *file = fopen(in_folder("x.txt"), "w");
    cr_assert(file && fputs("1\n2\n", file) >= 0 && fclose(file) == 0);
    for (size_t i = 0; i < sizeof command / sizeof *command; i++) {
        char line[2000];
        snprintf(line, sizeof line, "cd '%s' && '%s' %s >/dev/full 2>err", folder, ULPSCOPE_PROGRAM,
                 command[i]);
        int status = system(line);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 3, "%s: %d", command[i], status);
        expect_said("err", "ulpscope: standard output: could not be written: No space left");
    }
}

/* Of an option given twice the last counts, so that a line can be gone back to and added to. */
Test(program, the_last_of_an_option, .init = make_folder, .fini = remove_folder)
{
    struct arguments a;
    struct problem p = {0};
    char *argv[] = {(char *)"ulpscope", (char *)"run",    (char *)"variance", (char *)"--out=a",
                    (char *)"-o",       (char *)"b",      (char *)"--json",   (char *)"--out",
                    (char *)"c",        (char *)"--from", (char *)"d",        NULL};
    cr_assert(arguments_parse(&a, 11, argv, &p) == STATUS_OK, "%s", p.text);
    cr_expect_str_eq(argument_value(&a, "out"), "c");
    cr_expect_str_eq(argument_value(&a, "from"), "d");
    cr_expect(argument_flag(&a, "json") && !argument_flag(&a, "force"));
}

/* Of zeros there is no smallest magnitude: it is that of the elements that are not 0. */
Test(program, sums_of_zeros, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *numbers, *smallest, *largest;
    } is[] = {{"0\n0\n-0\n", "none\n", "0 "},
              {"0\n-2\n", "2 ", "2 "},
              {"0\n0.5\n4\ninf\n", "0.5 ", "4 "},
              {"nan\ninf\n", "none\n", "none\n"}};
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        char due[64];
        FILE *file = fopen(in_folder("x.txt"), "w");
        cr_assert(file && fputs(is[i].numbers, file) >= 0 && fclose(file) == 0);
        cr_expect(run_program("sum", "x.txt") == 0);
        snprintf(due, sizeof due, "\nsmallest |x|   %s", is[i].smallest);
        expect_said("out", due);
        snprintf(due, sizeof due, "\nlargest |x|    %s", is[i].largest);
        expect_said("out", due);
    }
}
