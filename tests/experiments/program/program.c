/* The program as a whole: its command line, and where its output goes. */
#include <criterion/criterion.h>

#include "experiments/options/options.h"
#include "tests/support/program.h"

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

/* Every file that has the accumulator asked for has the one that additions are done in. */
Test(program, names_what_is_added_in, .init = make_folder, .fini = remove_folder)
{
    static const char formats[] =
        "--device cpu --method sum/widened --storage fp32 --accumulator fp16 --n 600 ";
    static const struct {
        const char *verb, *arguments, *file;
    } made[] = {{"run", "atomics --runs 3 --out a", "a/atomics.csv"},
                {"run", "atomics --runs 3 --out a", "a/growth.csv"},
                {"run", "atomics --runs 3 --out b", "b/atomics.csv"},
                {"compare", "a b --out c.csv", "c.csv"},
                {"check",
                 "sum/widened --special --device cpu --storage fp32 --accumulator fp16 --seconds "
                 "0.2 --out s",
                 "s/special.csv"}};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        char arguments[400];
        bool run = strcmp(made[i].verb, "run") == 0;
        snprintf(arguments, sizeof arguments, "%s %s", made[i].arguments, run ? formats : "");
        cr_expect(run_program(made[i].verb, arguments) == 0, "%s", arguments);
        expect_said(made[i].file, ",added_in,result_format\n");
        expect_said(made[i].file, ",fp32,fp16\n");
    }
    cr_expect(run_program("bench", formats) == 0);
    expect_said("out", "formats    added_in    n");
    expect_said("out", "sum/widened  fp32/fp16  fp32      600");
    cr_expect(run_program("bench", "--device cpu --method sum/tiled --n 600") == 0);
    char *said = content("out");
    cr_expect(!strstr(said, "added_in"), "%s", said);
    free(said);
}
