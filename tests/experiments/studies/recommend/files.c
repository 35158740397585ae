/* What recommend leaves, beside what it left before; asking again; progress. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/system/clock.h"
#include "experiments/cases/experiment.h"
#include "tests/support/program.h"

#define ASK                                                                                        \
    "--input symmetric --n 3000 --storage fp64 --tolerance 1e-9 --method sum/tiled --accumulator " \
    "fp32,fp64 --device cpu --out kept "

static int shell(const char *command)
{
    char line[3000];
    snprintf(line, sizeof line, "cd '%s' && %s", folder, command);
    int status = system(line);
    cr_assert(WIFEXITED(status), "%s", line);
    return WEXITSTATUS(status);
}

/* An answer is replaced by a whole one, or stays: after an interruption, a kill, a failure. */
Test(recommend_files, an_answer_stays_until_the_next, .init = make_folder, .fini = remove_folder)
{
    static const char *const ends[][2] = {{"INT", "130"}, {"KILL", "137"}};
    const char *const names =
        "breaks.npy recommend.csv results.csv study.json summary.csv times.csv";
    char command[2000];
    cr_assert_eq(run_program("recommend", ASK "--seconds 1 --confidence 0.8"), 0);
    cr_assert_eq(shell("cp -r kept before"), 0);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(
            command, sizeof command,
            "{ exec '%s' recommend " ASK "--seconds 600 --confidence 0.9999 --force >told 2>err "
            "& } && ours=$! && until [ -s kept/results.csv.part ] || ! kill -0 $ours; do sleep "
            "0.02; done; kill -%s $ours; wait $ours; [ $? = %s ]",
            ULPSCOPE_PROGRAM, ends[i][0], ends[i][1]);
        cr_expect_eq(shell(command), 0, "%s", ends[i][0]);
        if (i == 0) {
            expect_said("err", "what the directory held is as it was");
            cr_expect_eq(shell("diff -r before kept"), 0, "nothing is left beside it");
        }
        snprintf(command, sizeof command, "for f in %s; do cmp before/$f kept/$f || exit 1; done",
                 names);
        cr_expect_eq(shell(command), 0, "%s", ends[i][0]);
    }
    /* A question that cannot be answered leaves it, even where it was to start over. */
    cr_expect_eq(run_program("recommend", "--input nans --n 10 --storage fp32 --device cpu --out "
                                          "kept --force"),
                 3);
    cr_expect_eq(shell("diff -r before kept"), 0);
    /* The same question is asked anew; another one needs --force, and has no break to show. */
    cr_expect_eq(run_program("recommend", ASK "--seconds 1 --confidence 0.8"), 0);
    cr_expect_eq(shell("cmp -s before/study.json kept/study.json"), 1, "it was not asked anew");
#define OTHER                                                                                      \
    "--input ones --n 8 --storage fp32 --method sum/exact --accumulator fp32 --device cpu "        \
    "--seconds 0.1 --out kept "
    cr_expect_eq(run_program("recommend", OTHER), 2);
    cr_expect_eq(run_program("recommend", OTHER "--force"), 0);
    cr_expect_eq(shell("[ ! -e kept/breaks.npy ]"), 0, "an earlier answer's");
}

/* No elements are a mistake of the command line where they are generated, else of the file. */
Test(recommend_files, of_no_elements, .init = make_folder, .fini = remove_folder)
{
    cr_assert_eq(run_program("gen", "ones --n 0 --storage fp32 --out none.npy"), 0);
    cr_expect_eq(run_program("recommend", "--data none.npy --device cpu"), 3);
    expect_said("err", "none.npy: found no elements, expected some to add up\n");
    cr_expect_eq(run_program("recommend", "--input ones --n 0 --storage fp32 --device cpu"), 2);
    expect_said("err", "ones: found no elements, expected some to add up\n");
}

/* `run --from` asks the same question: the same command but for where the answer goes. */
Test(recommend_files, repeats_a_study, .init = make_folder, .fini = remove_folder)
{
    cr_assert_eq(run_program("recommend", ASK "--seconds 0.5 --confidence 0.8"), 0);
    cr_expect_eq(run_program("run", "--from kept/study.json --out again"), 0);
    expect_said("out", "enough: sum/tiled, added in fp64");
    cr_expect_eq(
        shell("cut -d, -f1-6 kept/recommend.csv | sort >a; cut -d, -f1-6 again/recommend.csv "
              "| sort | cmp - a"),
        0);
    cr_expect_eq(run_program("run", "--from kept/study.json --out again"), 0, "anew");
    cr_expect_eq(run_program("run", "--from kept/study.json --n 7"), 2);
    expect_said("err", "found --n with it");
    /* Held to the input that was read. */
    cr_assert_eq(shell("sed -i 's/\\(\"symmetric.*: \"\\)[0-9a-f]/\\1x/' again/study.json"), 0);
    cr_expect_eq(run_program("run", "--from again/study.json --out third"), 3);
}

/* The list of experiments is whole, whatever is added to it. */
Test(recommend_files, experiments_are_named_whole, .init = make_folder, .fini = remove_folder)
{
    cr_expect_eq(run_program("run", "recommend"), 2);
    for (size_t i = 0; experiments[i]; i++)
        expect_said("err", experiments[i]->name);
    expect_said("err", "says what they are");
}

/* A terminal as standard error; what came on it, and when the first of it did. */
static double on_terminal(const char *arguments, char text[4096])
{
    char command[2000];
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    cr_assert(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    snprintf(command, sizeof command, "cd '%s' && exec '%s' recommend %s >out 2>%s </dev/null",
             folder, ULPSCOPE_PROGRAM, arguments, ptsname(terminal));
    uint64_t begin = clock_ns(), first = 0;
    size_t used = 0;
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    fcntl(terminal, F_SETFL, O_NONBLOCK);
    while (!strstr(text, " s left") && used < 4095 && waitpid(child, &status, WNOHANG) == 0) {
        ssize_t count = read(terminal, text + used, 4095 - used);
        first = count > 0 && first == 0 ? clock_ns() : first;
        used += count > 0 ? (size_t)count : 0;
        text[used] = 0;
        usleep(5000);
    }
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    close(terminal);
    return first ? (double)(first - begin) / 1e9 : 0;
}

/* From the second second on, with the time left, on a terminal alone. */
Test(recommend_files, progress, .init = make_folder, .fini = remove_folder)
{
    char text[4096] = "";
    double first = on_terminal("--input symmetric --n 3000 --storage fp32 --method sum/tiled "
                               "--seconds 60 --confidence 0.9999 --device cpu --out told",
                               text);
    cr_expect(strstr(text, " s left"), "'%s'", text);
    cr_expect(first >= 1, "%g", first);
    cr_assert_eq(run_program("recommend", ASK "--seconds 2 --confidence 0.9999"), 0);
    char *said = content("err");
    cr_expect_str_eq(said, "");
    free(said);
}

static void expect_narrow_lines(void)
{
    char *said = content("out");
    for (const char *at = said; *at; at += strcspn(at, "\n") + 1)
        cr_expect(strcspn(at, "\n") <= 100 || strncmp(at + strspn(at, " "), "reproduce: ", 11) == 0,
                  "%.*s", (int)strcspn(at, "\n"), at);
    free(said);
}

/* What is said of a promise is broken at 100 columns, as the rest of the answer is; so is what a
 * theorem says if a subject only adds. */
Test(recommend_files, no_line_is_wider_than_a_page, .init = make_folder, .fini = remove_folder)
{
    cr_assert_eq(run_program("recommend", ASK "--seconds 2 --confidence 0.8 --promise gpu_to_gpu"),
                 0);
    expect_said("out", "  its bits: gpu_to_gpu kept in ");
    expect_narrow_lines();
    cr_assert_eq(shell("cp '" FLAWED_OBJECT "' mine.so"), 0);
    cr_assert_eq(run_program("recommend", "--method ./mine.so:sum --input uniform --n 100 "
                                          "--storage fp64 --accumulator fp64 --device cpu "
                                          "--seconds 0.5 --out found"),
                 0);
    expect_said("out", "  if it only adds, and in fp64: guaranteed only up to n of about ");
    expect_narrow_lines();
}

/* What is faster than its elements can be read has kept its result: it has no time, whether its
 * data lie in a cache or not, and is not recommended for its speed. */
Test(recommend_files, what_keeps_its_result_is_not_timed, .init = make_folder,
     .fini = remove_folder)
{
    static const char *const n[] = {"2^14", "2^20"};
    char words[600];
    for (size_t i = 0; i < 2; i++) {
        snprintf(words, sizeof words,
                 "--method %s:keeps --method sum/tiled --input uniform --n %s --storage fp64 "
                 "--accumulator fp64 --device cpu --seconds 1 --force --out found",
                 FLAWED_OBJECT, n[i]);
        cr_expect_eq(run_program("recommend", words), 0);
        expect_said("out", "enough: sum/tiled");
        expect_said("found/recommend.csv", "not timed: a run seems to take ");
    }
    snprintf(words, sizeof words,
             "--method %s:keeps --n 2^20 --storage fp64 --accumulator fp64 --device cpu",
             FLAWED_OBJECT);
    cr_expect_eq(run_program("bench", words), 0);
    expect_said("out", "object.so:keeps, fp64, n = 1048576: not timed: ");
    expect_said("out", "it does not read them in every run");
}

/* What takes no longer arrays than the data has answered for the data; what was found is told. */
Test(recommend_files, what_takes_no_longer_arrays, .init = make_folder, .fini = remove_folder)
{
    static const char *const n[] = {"90", "100"};
    static const char *const told[] = {
        "growth: it holds at every length tried up to n = 100\n  tried: the data, followed by "
        "elements drawn from it, at 10 lengths: ",
        "growth: it answered no longer array\n  no answer at n = 101: "};
    char words[600];
    for (size_t i = 0; i < 2; i++) {
        snprintf(words, sizeof words,
                 "--method %s:up_to_100 --input uniform --n %s --storage fp64 --accumulator fp64 "
                 "--device cpu --seconds 1 --force --out found",
                 FLAWED_OBJECT, n[i]);
        cr_expect_eq(run_program("recommend", words), 0);
        expect_said("out", told[i]);
        expect_said("out", "  no answer at n = 101: ");
        expect_said("found/recommend.csv", "no answer at n = 101: ");
    }
}
