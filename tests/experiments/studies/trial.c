/* `run trial`: all subjects through `check`, into a results directory that can be resumed. */
#include <jansson.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "experiments/studies/trial_study.h"
#include "tests/support/study.h"
#include "tests/support/terminal.h"

#define QUICK "--device cpu --n 100 --seconds 0.2 --storage fp64 --accumulator fp64"

static int trial(const char *arguments)
{
    return run_program("run trial", arguments);
}

struct seen {
    size_t rows;
    char words[4096]; /* "METHOD RUNG VERDICT;" of each row */
};

static enum status take_row(void *context, const struct csv_row *row, struct problem *p)
{
    struct seen *s = context;
    size_t used = strlen(s->words);
    (void)p;
    snprintf(s->words + used, sizeof s->words - used, "%s %s %s;", row->field[CHECK_METHOD],
             row->field[CHECK_RUNG], row->field[CHECK_VERDICT]);
    s->rows++;
    return STATUS_OK;
}

static struct seen rows(void)
{
    struct seen s = {0};
    struct problem p = {0};
    uint64_t whole;
    cr_assert(csv_read(in_folder("t/trial.csv"), check_column, CHECK_COLUMNS, take_row, &s, &whole,
                       &p) == STATUS_OK,
              "%s", p.text);
    return s;
}

Test(trial, has_rows_for_every_rung, .init = make_folder, .fini = remove_folder)
{
    json_error_t error;
    cr_expect(trial("--method sum/serial,cub/sum,scan/exact --out t " QUICK) == 0);
    struct seen s = rows();
    cr_expect_str_eq(s.words, "sum/serial run_to_run kept;sum/serial gpu_to_gpu kept;"
                              "sum/serial order_invariant broken;"
                              "sum/serial correctly_rounded broken;"
                              "scan/exact run_to_run kept;scan/exact gpu_to_gpu kept;"
                              "scan/exact order_invariant kept;"
                              "scan/exact correctly_rounded kept;");
    expect_said("out", "no promise was broken; 2 subjects kept what they promise in ");
    expect_said("out", "\nscan/exact  correctly_rounded  ");
    expect_said("out", "\n2 subjects, 1 other not there: t/trial.csv");
    expect_said("out", " run --from t/study.json --out t-again\nnext: ");
    expect_said("out", " report t\n");
    cr_expect(trial("--wide --method sum/serial,cub/sum,scan/exact --out t " QUICK) == 0);
    expect_said("out", "scan/exact  cpu     correctly_rounded  correctly_rounded  kept ");
    json_t *study = json_load_file(in_folder("t/study.json"), 0, &error);
    cr_assert(study, "%s", error.text);
    cr_expect_str_eq(json_string_value(json_object_get(study, "experiment")), "trial");
    json_t *axes = json_object_get(study, "axes");
    cr_expect(json_array_size(json_object_get(axes, "method")) == 3);
    cr_expect_str_eq(json_string_value(json_array_get(json_object_get(axes, "formats"), 0)),
                     "fp64/fp64");
    cr_expect_str_eq(json_string_value(json_array_get(json_object_get(axes, "n"), 0)), "100");
    json_decref(study);
}

/* How many attempts there were depends on time: rows that are the same bytes were not made again.
 */
/* What nothing was tried of is no promise that held. */
Test(trial, has_no_verdict_on_what_is_not_there, .init = make_folder, .fini = remove_folder)
{
    cr_expect_eq(run_program("run", "trial --device cpu --method cub/sum --out t"), 0);
    expect_said("out", "no promise was tried\n");
    expect_said("out", "\n0 subjects, 1 other not there: t/trial.csv");
}

Test(trial, tries_scatter_adds, .init = make_folder, .fini = remove_folder)
{
    cr_expect(trial("--method scatter/sort,scatter/exact --keys sorted --bins 9 --out t " QUICK) ==
              0);
    struct seen s = rows();
    cr_expect_str_eq(s.words, "scatter/sort run_to_run kept;scatter/sort gpu_to_gpu kept;"
                              "scatter/sort order_invariant broken;"
                              "scatter/sort correctly_rounded broken;"
                              "scatter/exact run_to_run kept;scatter/exact gpu_to_gpu kept;"
                              "scatter/exact order_invariant kept;"
                              "scatter/exact correctly_rounded kept;");
    expect_said("t/trial.csv", " --keys sorted --bins 9 ");
    expect_said("t/trial.csv", ",1,,sorted,9,"); /* seed, scan, keys, bins */
    expect_said("t/study.json", "\"sorted\"");
}

Test(trial, tries_rows_and_moves, .init = make_folder, .fini = remove_folder)
{
    cr_expect(trial("--method rows/tiled,transpose/tiled --out t " QUICK) == 0);
    struct seen s = rows();
    cr_expect_str_eq(s.words, "rows/tiled run_to_run kept;rows/tiled gpu_to_gpu kept;"
                              "rows/tiled order_invariant broken;"
                              "rows/tiled correctly_rounded broken;rows/tiled batch_invariant kept;"
                              "transpose/tiled run_to_run kept;transpose/tiled gpu_to_gpu kept;"
                              "transpose/tiled order_invariant not tried;"
                              "transpose/tiled correctly_rounded not tried;");
}

Test(trial, goes_on_where_it_was, .init = make_folder, .fini = remove_folder)
{
    static const char again[] = "--method sum/serial,sum/tiled,sum/exact --out t " QUICK;
    cr_assert(trial(again) == 0);
    char *first = content("t/trial.csv");
    cr_assert(trial(again) == 0);
    char *second = content("t/trial.csv");
    cr_expect_str_eq(first, second);
    free(second);
    /* torn in the second subject's third row: its first two go too */
    char *torn = strstr(first, "\nsum/tiled");
    for (int i = 0; torn && i < 2; i++)
        torn = strchr(torn + 1, '\n');
    cr_assert(torn && truncate(in_folder("t/trial.csv"), torn + 20 - first) == 0);
    cr_assert(trial(again) == 0);
    second = content("t/trial.csv");
    size_t kept = (size_t)(strstr(first, "\nsum/tiled") - first);
    cr_expect(strncmp(first, second, kept) == 0, "the first subject was tried again");
    cr_expect(rows().rows == 12, "%zu rows", rows().rows);
    free(first);
    free(second);
    cr_expect(trial("--method sum/serial --out t " QUICK) == 2, "another study");
    cr_expect(trial("--method sum/serial --force --out t " QUICK) == 0);
    cr_expect(rows().rows == 4, "%zu rows", rows().rows);
    cr_expect(trial("--from t/study.json --out u") == 0);
    expect_said("u/trial.csv", "\nsum/serial,cpu,gpu_to_gpu,");
}

/* The subject that was being tried is named: it has no row, and is tried again. */
Test(trial, says_what_an_interruption_cost, .init = make_folder, .fini = remove_folder)
{
    char command[1400];
    static const char words[] = "--method sum/serial,sum/exact,sum/tiled --seconds 3 --device cpu "
                                "--storage fp32 --n 1000 --out t";
    /* A shell has what it starts in the background ignore SIGINT. */
    snprintf(command, sizeof command,
             "cd '%s' && { env --default-signal=INT '%s' run trial %s >out 2>err & "
             "for i in $(seq 600); do grep -qs '^sum/serial,.*correctly_rounded' t/trial.csv && "
             "break; sleep 0.05; done; sleep 0.3; kill -INT $!; wait $!; test $? = 130; }",
             folder, ULPSCOPE_PROGRAM, words);
    cr_expect_eq(system(command), 0);
    expect_said("err", "interrupted: 1 of 3 subjects are finished in t; sum/exact was being tried, "
                       "and has no row: its attempts are not kept; the same command goes on");
    cr_expect(trial(words) == 0);
    expect_said("t/trial.csv", "sum/exact");
    expect_said("t/trial.csv", "sum/tiled");
}

Test(trial, tries_failed_subjects_again, .init = make_folder, .fini = remove_folder)
{
    char arguments[1000];
    snprintf(arguments, sizeof arguments,
             "--method sum/serial --method 'exec:test -e there && exec %s' --out t " QUICK,
             FLAWED_PROGRAM);
    cr_expect(trial(arguments) == 3);
    expect_said("err", "exec:test -e there");
    expect_said("err", " 1 of 2 subjects failed; the same command tries it again");
    put_file("there", &(struct bytes){0});
    cr_expect(trial(arguments) == 0);
    struct seen s = rows();
    cr_expect(s.rows == 8, "%zu rows: %s", s.rows, s.words);
    cr_expect(!strstr(s.words, "failed"), "%s", s.words);
    cr_expect(strstr(s.words, " run_to_run kept;exec:test"), "%s", s.words);
}

/* Appends what stands behind the header of trial.csv so many times. */
static void repeat_rows(size_t times)
{
    char *text = content("t/trial.csv"), *rows = strchr(text, '\n') + 1;
    FILE *file = fopen(in_folder("t/trial.csv"), "ab");
    cr_assert(file);
    while (times--)
        fputs(rows, file);
    cr_assert(fclose(file) == 0);
    free(text);
}

/* A subject whose rows are there twice is refused, whether it failed or finished. */
Test(trial, refuses_a_subject_that_stands_twice, .init = make_folder, .fini = remove_folder)
{
    cr_assert(trial("--method exec:false --out t " QUICK) == 3);
    repeat_rows(2000);
    cr_expect(trial("--method exec:false --out t " QUICK) == 3);
    expect_said("err", "t/trial.csv: line 6: found exec:false on cpu again, which is on line 2 "
                       "already: expected each subject once; give another --out, or --force");
    static const char two[] = "--method sum/serial,sum/exact --force --out t " QUICK;
    cr_assert(trial(two) == 0);
    repeat_rows(1);
    cr_expect(trial("--method sum/serial,sum/exact --out t " QUICK) == 3);
    expect_said("err", "t/trial.csv: line 10: found sum/serial on cpu again, which is on line 2");
    cr_expect(trial(two) == 0, "--force starts over");
}

/* Each subject has all its rows in turn; another's among them is no row of it. */
Test(trial, refuses_rows_of_another_subject, .init = make_folder, .fini = remove_folder)
{
    static const char two[] = "--method sum/serial,sum/exact --out t " QUICK;
    cr_assert(trial(two) == 0);
    char *text = content("t/trial.csv"), *row = text;
    for (size_t line = 1; line < 3; line++)
        row = strchr(row, '\n') + 1;
    cr_assert(strncmp(row, "sum/serial,", 11) == 0);
    FILE *file = fopen(in_folder("t/trial.csv"), "wb");
    cr_assert(file && fwrite(text, 1, (size_t)(row - text), file) == (size_t)(row - text));
    cr_assert(fprintf(file, "sum/exact,%s", row + 11) > 0 && fclose(file) == 0);
    free(text);
    cr_expect(trial(two) == 3);
    expect_said("err", "line 3: found gpu_to_gpu of sum/exact, which is not due there");
}

int __wrap_gpu_count(bool elsewhere);
int __wrap_gpu_count(bool elsewhere)
{
    (void)elsewhere;
    return 1;
}

static size_t words_of(const json_t *axes, const char *axis)
{
    return json_array_size(json_object_get(axes, axis));
}

/* As in `run` and `check`: the library broke what an all-reduce is for. */
Test(trial, has_status_1_where_ranks_disagree, .init = make_folder, .fini = remove_folder)
{
    struct request asked = {0};
    struct trial_study s;
    struct problem p = {0};
    ask(&asked, (study_words){{"method", "sum/serial"}, {"device", "cpu"}, {NULL}});
    cr_assert(trial_study_make(&s, &asked, NULL, &p) == STATUS_OK, "%s", p.text);
    const struct experiment_run run = {.request = &asked, .out = in_folder("t")};
    cr_assert(trial_study_open(&s, &run, &p) == STATUS_OK, "%s", p.text);
    static const enum status failure[] = {STATUS_DATA, STATUS_FAILED};
    for (size_t i = 0; i < 2; i++) {
        const struct check_report r = {.request = {.method = s.subject[0].method},
                                       .failure = {.status = failure[i]}};
        cr_assert_eq(trial_study_add(&s, &s.subject[0], &r, "ulpscope", &p), STATUS_OK);
        cr_expect_eq(s.subject[0].disagreed, failure[i] == STATUS_FAILED);
    }
    trial_study_close(&s, &p);
    trial_study_free(&s);
    request_free(&asked);
}

/* On a machine with a GPU, which is played here. */
Test(trial, names_a_method_once_for_all_devices, .init = make_folder, .fini = remove_folder)
{
    struct request asked = {0};
    struct trial_study s;
    struct problem p = {0};
    json_error_t error;
    ask(&asked, (study_words){{"method", "sum/serial,sum/exact"}, {"device", "cpu,cuda"}, {NULL}});
    cr_assert(trial_study_make(&s, &asked, NULL, &p) == STATUS_OK, "%s", p.text);
    cr_expect(s.subjects == 4, "%zu subjects", s.subjects);
    const struct experiment_run run = {.request = &asked, .out = in_folder("t")};
    cr_assert(trial_study_open(&s, &run, &p) == STATUS_OK, "%s", p.text);
    json_t *study = json_load_file(in_folder("t/study.json"), 0, &error);
    cr_assert(study, "%s", error.text);
    const json_t *axes = json_object_get(study, "axes");
    cr_expect(words_of(axes, "method") == 2 && words_of(axes, "device") == 2,
              "%zu methods, %zu devices", words_of(axes, "method"), words_of(axes, "device"));
    json_decref(study);
    trial_study_close(&s, &p);
    trial_study_free(&s);
    request_free(&asked);
}

Test(trial, says_whose_promise_is_broken, .init = make_folder, .fini = remove_folder)
{
    char arguments[1000];
    snprintf(arguments, sizeof arguments,
             "--method sum/serial,%s:greedy --out t --seconds 1 --device cpu --n 1001",
             FLAWED_OBJECT);
    for (int time = 0; time < 2; time++) { /* from its rows too */
        cr_expect(trial(arguments) == 1);
        /* What it reads behind the array may be NaN, too. */
        expect_said("err", " 1 of 2 subjects breaks a promise");
        expect_told("out", "1 of 2 subjects breaks a promise");
        expect_told("out", ":greedy (gpu_to_gpu); 1 subject kept what it promises in ");
        expect_said("out", ":greedy  not gpu_to_gpu  ");
        expect_told("out", ":greedy --device cpu\n"); /* what to type next */
        expect_narrow("out");
    }
}

Test(trial, holds_what_promises_nothing_to_its_error_bound, .init = make_folder,
     .fini = remove_folder)
{
    struct bytes source = {0};
    char arguments[900];
    add_string(&source, "def none(x):\n    return float('nan')\n");
    put_file("own.py", &source);
    clear_bytes(&source);
    snprintf(arguments, sizeof arguments,
             "--method python:%s/own.py:none,sum/serial --out t --seconds 4 --device cpu --n 1001 "
             "--storage fp64 --accumulator fp64",
             folder);
    for (int time = 0; time < 2; time++) { /* from its rows too */
        cr_expect(trial(arguments) == 1);
        expect_said("err", "1 of 2 subjects breaks a promise or an error bound, first ");
        expect_told("out", "1 of 2 subjects breaks a promise or an error bound: ");
        expect_told("out", ":none (error bound); 1 subject kept what it promises in ");
        expect_said("out", ":none  not its bound  ");
    }
}

/* Also while one start takes long; nothing in the first second. */
Test(trial, draws_progress_inside_a_subject, .init = make_folder, .fini = remove_folder)
{
    char drawn[4096];
    int status = run_on_terminal("run trial",
                                 "--method 'exec:sleep 3; exec " FLAWED_PROGRAM
                                 "' --out t --device cpu --n 100 --seconds 4 --storage fp64 "
                                 "--accumulator fp64",
                                 drawn, sizeof drawn);
    cr_expect(status == 0, "exit status %d: %s", status, drawn);
    cr_expect(!strstr(drawn, "about 4 s left"), "drawn in the first second: %s", drawn);
    cr_expect(strstr(drawn, "trial: 1 of 1: exec:sleep 3") && strstr(drawn, ", about 2 s left"),
              "%s", drawn);
}

Test(trial, refuses_what_it_does_not_heed, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *arguments, *said;
    } wrong[] = {
        {"--method sum/none", "option --method: found 'sum/none'"},
        {"--data x.npy", "option --data: found 'x.npy', expected none"},
        {"--seed 1,2", "option --seed: found 2 numbers, expected one"},
        {"--seconds none", "option --seconds: found 'none'"},
        {"--json --method sum/serial", "see `check --json`"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_expect(trial(wrong[i].arguments) == 2, "%s", wrong[i].arguments);
        expect_said("err", wrong[i].said);
    }
    struct stat facts;
    cr_expect(stat(in_folder("results-trial"), &facts) != 0, "a directory was made");
}

/* What promises nothing is still asked whether it gives the same bits run after run: by the first
 * line, and by the page's first finding. */
Test(trial, says_first_whose_bits_differ_of_what_promises_nothing, .init = make_folder,
     .fini = remove_folder)
{
    struct bytes source = {0};
    char arguments[900];
    add_string(&source, "calls = [0]\n\n\ndef steady(x):\n    return sum(x)\n\n\n"
                        "def counts(x):\n    calls[0] += 1\n    return sum(x) + calls[0] % 3\n");
    put_file("own.py", &source);
    clear_bytes(&source);
    snprintf(arguments, sizeof arguments,
             "--method python:%s/own.py:steady@array,python:%s/own.py:counts@array --device cpu "
             "--n 100 --seconds 2 --storage fp64 --accumulator fp64 --out t",
             folder, folder);
    cr_expect(trial(arguments) == 0);
    expect_said("out", "1 of 2 subjects that promise nothing gave other bits run after run:");
    expect_said("out", "own.py:counts@array");
    expect_said("out", "2 subjects promise nothing");
    cr_expect(run_program("report", "t --out page") == 0);
    char *page = content("page/report.html"), *first = strstr(page, "<li class=\"plain\">");
    cr_expect(first &&
              strncmp(first + strlen("<li class=\"plain\">"), "1 of 2 subjects that ", 21) == 0);
    free(page);
}

/* A function that leaves its process unfit for others, as an error of a GPU does, is not another's
 * fault: that one is asked anew in a process of its own. */
Test(trial, what_one_function_broke_is_not_laid_to_the_next, .init = make_folder,
     .fini = remove_folder)
{
    static const char text[] =
        "import os\n\n\n"
        "def breaks(x):\n    os.environ['BROKEN'] = '1'\n    return sum(x)\n\n\n"
        "def right(x):\n    if os.environ.get('BROKEN'):\n        raise MemoryError('the device is "
        "gone')\n"
        "    return sum(x)\n";
    struct bytes source = {0};
    char arguments[900];
    add_string(&source, text);
    put_file("own.py", &source);
    clear_bytes(&source);
    snprintf(arguments, sizeof arguments,
             "--method python:%1$s/own.py:breaks@array,python:%1$s/own.py:right@array --n 100 "
             "--seconds 0.2 --storage fp64 --accumulator fp64 --device cpu --out t",
             folder);
    cr_expect(trial(arguments) == 0);
    expect_told("out", "2 subjects promise nothing");
    cr_expect(trial("--from t/study.json --out u") == 0);
    expect_told("out", "2 subjects promise nothing");
    char *rows = content("u/trial.csv");
    cr_expect(!strstr(rows, "the device is gone"), "%s", rows);
    free(rows);
}

/* A function that cannot be asked what it is, or dies of that, has rows that say so, and no other
 * pays for it. One that is named anew is refused, as everywhere. */
Test(trial, what_cannot_be_described_is_said_in_its_rows, .init = make_folder,
     .fini = remove_folder)
{
    static const char head[] = "import os\n\n\ndef d(x):\n    return sum(x)\n\n\n",
                      whole[] = "def b(x):\n    return sum(x)\n\n\ndef c(x):\n    return sum(x)\n",
                      flawed[] = "def b(x):\n    os._exit(7)\n";
    char arguments[900];
    for (int after = 0; after < 2; after++) {
        struct bytes source = {0};
        add_string(&source, head);
        add_string(&source, after ? flawed : whole);
        put_file("own.py", &source);
        clear_bytes(&source);
        snprintf(arguments, sizeof arguments,
                 "--method python:%1$s/own.py:b@array,"
                 "python:%1$s/own.py:c@array,python:%1$s/own.py:d@array --n 100 --seconds 0.2 "
                 "--storage fp64 --accumulator fp64 --device cpu --out t",
                 folder);
        if (!after)
            cr_expect(trial(arguments) == 0);
    }
    cr_expect(trial("--from t/study.json --out u") == 0);
    expect_said("u/trial.csv", "own.py:b@array,cpu,none,none,none,run_to_run,not tried,0,");
    expect_said("u/trial.csv", "ended with exit status 7");
    expect_said("u/trial.csv", "own.py:c@array,cpu,none,none,none,correctly_rounded,not tried,0,");
    expect_said("u/trial.csv", "own.py:c: own has no c");
    /* Whether its sum keeps more is a matter of how much there is time for. */
    char *rows = content("u/trial.csv");
    cr_expect(strstr(rows, "own.py:d@array,cpu,none,none,run_to_run,run_to_run,kept,") ||
                  strstr(rows, "own.py:d@array,cpu,none,none,gpu_to_gpu,run_to_run,kept,"),
              "%s", rows);
    free(rows);
    expect_told("out", "not tried: python:");
    expect_told("out", "1 subject promises nothing");
    cr_expect(run_program("report", "u --out page") == 0);
    expect_said("page/report.html", "2 of 3 subjects were not tried; the first, python:");
    expect_said("page/report.html",
                "No attempt broke run_to_run of 1 subject that promises nothing.");
    expect_said("page/report.html", "exit status 7");
    cr_expect(trial(arguments) == 3);
}
