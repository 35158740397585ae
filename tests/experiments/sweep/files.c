/* Results files that are none: FIFOs, devices, a full disk, what a killed process left. */
#include <sys/stat.h>

#include "tests/support/program.h"

static const char study_of_ones[] = "accuracy --device cpu --method sum/tiled --input ones --n 10 "
                                    "--quiet --out a";

/* A FIFO waits for who writes to it, /dev/zero has no end. */
static void replace(const char *path, const char *by)
{
    unlink(in_folder(path));
    cr_assert_eq(by ? symlink(by, in_folder(path)) : mkfifo(in_folder(path), 0666), 0);
}

Test(files, fifos_and_devices, .init = make_folder, .fini = remove_folder, .timeout = 60)
{
    static const char *const file[] = {"a/results.csv", "a/summary.csv", "a/study.json"};
    static const char *const by[] = {NULL, "/dev/zero"};
    static const struct {
        const char *verb, *arguments;
        bool all; /* does it need summary.csv? */
    } reader[] = {{"run", study_of_ones, false},
                  {"report", "a", true},
                  {"compare", "a b", false},
                  {"compare", "b a", false}};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 2; k++) {
            cr_expect_eq(run_program("run", "accuracy --device cpu --method sum/tiled --input ones "
                                            "--n 10 --quiet --force --out b"),
                         0);
            cr_expect_eq(run_program("run", study_of_ones), 0);
            replace(file[i], by[k]);
            for (size_t r = 0; r < sizeof reader / sizeof *reader; r++) {
                if (i == 1 && !reader[r].all)
                    continue;
                cr_expect_eq(run_program(reader[r].verb, reader[r].arguments), 3, "%s: %s %s",
                             reader[r].verb, file[i], by[k] ? by[k] : "a FIFO");
                expect_said("err", by[k] ? "found a device, expected a regular file"
                                         : "found a FIFO, expected a regular file");
            }
            char command[100];
            snprintf(command, sizeof command, "rm -rf '%s/a'", folder);
            cr_assert_eq(system(command), 0);
        }
}

/* What was begun and never finished is taken away. */
Test(files, parts_of_a_killed_process, .init = make_folder, .fini = remove_folder)
{
    static const char *const part[] = {"a/study.json.part", "a/results.csv.part",
                                       "a/summary.csv.part"};
    struct bytes b = {0};
    add_string(&b, "{");
    cr_expect_eq(run_program("run", study_of_ones), 0);
    for (size_t i = 0; i < 3; i++)
        put_file(part[i], &b);
    cr_expect_eq(run_program("run", study_of_ones), 0);
    for (size_t i = 0; i < 3; i++)
        cr_expect(access(in_folder(part[i]), F_OK) != 0, "%s", part[i]);
    clear_bytes(&b);
}

/* Of a page that does not fit there is neither a half nor a name; the one before stays. */
Test(files, a_page_that_does_not_fit, .init = make_folder, .fini = remove_folder)
{
    char limited[1000];
    struct bytes old = {0};
    struct stat facts;
    add_string(&old, "old");
    cr_expect_eq(run_program("run", study_of_ones), 0);
    cr_assert_eq(mkdir(in_folder("page"), 0777), 0);
    for (int there = 0; there < 2; there++) {
        if (there)
            put_file("page/report.html", &old);
        snprintf(limited, sizeof limited,
                 "a --out page >out 2>err; exit=$?; [ $exit = 3 ] && [ ! -s out ]");
        char command[2000];
        snprintf(command, sizeof command,
                 "cd '%s' && mkdir -p page && ulimit -f 8 && '%s' report %s", folder,
                 ULPSCOPE_PROGRAM, limited);
        cr_expect_eq(system(command), 0, "%s", there ? "a page is there" : "none is");
        expect_said("err", "page/report.html: could not be written");
        cr_expect_eq(stat(in_folder("page/report.html"), &facts), there ? 0 : -1);
        cr_expect(!there || facts.st_size == 3, "%jd bytes", (intmax_t)facts.st_size);
    }
    clear_bytes(&old);
}

/* What is not resumed does not say so. */
Test(files, rows_that_were_kept, .init = make_folder, .fini = remove_folder)
{
    static const char *const writes[] = {
        "compare a a --out c.csv",
        "bench --device cpu --method sum/tiled,sum/serial --n 100,200,300 --out c.csv"};
    cr_expect_eq(run_program("run", "accuracy --device cpu --method sum/tiled,sum/serial --n 100 "
                                    "--out a"),
                 0);
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        char command[1000];
        snprintf(command, sizeof command,
                 "cd '%s' && ulimit -f 2 && '%s' %s >/dev/null 2>err; [ $? = 3 ]", folder,
                 ULPSCOPE_PROGRAM, writes[i]);
        cr_expect_eq(system(command), 0, "%s", writes[i]);
        expect_said("err", "c.csv: could not be written: File too large; the rows before are kept");
        struct bytes err = get_file(in_folder("err"));
        cr_expect(!memmem(err.data, err.size, "resume", 6), "%s", writes[i]);
        clear_bytes(&err);
    }
}

/* Nor does what no rank can go on from, as a command that has to change. */
Test(files, a_wrong_command_of_ranks, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *arguments, *says;
        int status;
    } wrong[] = {
        {"trial --device cpu --method sum/tild --out b", "did you mean sum/tiled?", 2},
        {"trial --device cpu --method sum/tiled --out a", "describes another study", 2},
        {"accuracy --device cpu --method sum/serial --out a", "describes another study", 2},
        {"accuracy --device cpu --method sum/serial --out a/study.json/x", "Not a directory", 3}};
    cr_expect_eq(run_program("run", study_of_ones), 0);
    setenv("ULPSCOPE_RANK", "1/2", 1);
    setenv("ULPSCOPE_RANK_SECONDS", "1", 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_expect_eq(run_program("run", wrong[i].arguments), wrong[i].status);
        expect_said("err", wrong[i].says);
        struct bytes err = get_file(in_folder("err"));
        cr_expect(!memmem(err.data, err.size, "same command", 12), "%.*s", (int)err.size, err.data);
        clear_bytes(&err);
    }
    unsetenv("ULPSCOPE_RANK");
    unsetenv("ULPSCOPE_RANK_SECONDS");
}

/* A page of what there is says that it is not all. */
Test(files, a_page_of_an_interrupted_study, .init = make_folder, .fini = remove_folder)
{
    char command[1000];
    snprintf(command, sizeof command,
             "cd '%s' && timeout -s INT 0.5 '%s' run accuracy --device cpu --n 2^20 --method "
             "sum/serial --runs 1000 --out a >out 2>err; [ $? = 124 ]",
             folder, ULPSCOPE_PROGRAM);
    cr_assert_eq(system(command), 0);
    expect_said("err", "the same command goes on from there");
    run_program("report", "a"); /* 3 where there is no gnuplot */
    expect_said("a/report/report.html", "; the study is not finished.");
}

/* Right behind a kill, what is still ending holds the lock for a moment: that is waited for. */
Test(files, again_after_a_kill, .init = make_folder, .fini = remove_folder)
{
    char command[1000];
    snprintf(command, sizeof command,
             "cd '%s' && mkdir a && { flock -x a sleep 0.4 & } && sleep 0.1 && '%s' run %s 2>err",
             folder, ULPSCOPE_PROGRAM, study_of_ones);
    cr_expect_eq(system(command), 0);
}
