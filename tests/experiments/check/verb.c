/* `ulpscope check` as a program: exit status, JSON, CSV, and commands that show breaks again. */
#include <jansson.h>
#include <time.h>

#include <criterion/criterion.h>

#include "reports/csv/file.h"
#include "tests/support/terminal.h"

static int check(const char *arguments)
{
    return run_program("check", arguments);
}

static json_t *json(const char *arguments, int status)
{
    json_error_t error;
    int found = check(arguments);
    json_t *all = json_load_file(in_folder("out"), 0, &error);
    cr_assert(found == status, "%s: exit status %d", arguments, found);
    cr_assert(json_is_array(all), "%s: %s", arguments, error.text);
    return all;
}

static const char *word(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    cr_assert(text, "no %s", name);
    return text;
}

static json_t *rung(const json_t *subject, const char *name)
{
    size_t i;
    json_t *r;
    json_array_foreach (json_object_get(subject, "rungs"), i, r) {
        if (strcmp(word(r, "name"), name) == 0)
            return r;
    }
    cr_assert(false, "no rung %s", name);
    return NULL;
}

/* Each command, as it is printed, breaks the same again and shows the `same` bits; or at some time
 * it breaks, where timing decides. */
static void show_again(const json_t *subject, bool same)
{
    size_t i, k;
    json_t *r, *w;
    json_array_foreach (json_object_get(subject, "rungs"), i, r) {
        json_array_foreach (json_object_get(r, "witnesses"), k, w) {
            char command[1200];
            snprintf(command, sizeof command, "cd '%s' && %s >again 2>&1", folder,
                     word(w, "command"));
            int status = system(command);
            /* On a busy machine threads may take turns in one order for long. */
            for (int more = same ? 0 : 20; more > 0 && status == 0; more--)
                status = system(command);
            cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, "%s: exit status %d",
                      word(w, "command"), WEXITSTATUS(status));
            expect_said("again", ": BREAKS ");
            if (same) {
                expect_said("again", word(w, "bits"));
                expect_said("again", word(w, "other_bits"));
            }
        }
    }
}

Test(check_verb, finds_what_is_kept, .init = make_folder, .fini = remove_folder)
{
    json_t *all = json("sum/two_kernel sum/exact --device cpu --seconds 1 --n 1000,33 --json", 0);
    json_t *textbook = json_array_get(all, 0), *exact = json_array_get(all, 1);
    cr_assert(json_array_size(all) == 2);
    cr_expect_str_eq(word(textbook, "method"), "sum/two_kernel");
    cr_expect_str_eq(word(textbook, "device"), "cpu");
    cr_expect_str_eq(word(textbook, "claimed"), "run_to_run");
    cr_expect_str_eq(word(textbook, "kept"), "run_to_run");
    cr_expect_str_eq(word(exact, "kept"), "correctly_rounded");
    cr_expect(json_is_false(json_object_get(textbook, "broken")));
    cr_expect(json_is_null(json_object_get(textbook, "error")));
    json_t *kept = rung(textbook, "run_to_run"), *broken = rung(textbook, "gpu_to_gpu");
    cr_expect_str_eq(word(kept, "verdict"), "kept");
    cr_expect(json_integer_value(json_object_get(kept, "distinct")) == 1);
    cr_expect(json_integer_value(json_object_get(kept, "attempts")) > 20);
    cr_expect(json_real_value(json_object_get(kept, "unseen_p95")) > 0);
    cr_expect(json_array_size(json_object_get(kept, "witnesses")) == 0);
    cr_expect(json_integer_value(json_object_get(kept, "least_n")) == 33 &&
              json_integer_value(json_object_get(kept, "most_n")) == 1000);
    cr_expect_str_eq(word(broken, "verdict"), "broken");
    cr_expect(json_integer_value(json_object_get(broken, "distinct")) > 1);
    cr_expect(json_is_null(json_object_get(broken, "unseen_p95")));
    show_again(textbook, true);
    json_decref(all);
}

Test(check_verb, shows_breaks_again, .init = make_folder, .fini = remove_folder)
{
    json_t *all = json("scan/three_kernel --device cpu --seconds 1 --n 1000,33 --json", 0);
    show_again(json_array_get(all, 0), true);
    json_decref(all);
    /* what depends on timing comes out otherwise each time */
    all = json("sum/atomic --device cpu --seconds 2 --n 2^16,1000 --json", 0);
    cr_expect(json_array_size(
                  json_object_get(rung(json_array_get(all, 0), "run_to_run"), "witnesses")) >= 1);
    cr_expect_str_eq(word(json_array_get(all, 0), "kept"), "none");
    show_again(json_array_get(all, 0), false);
    json_decref(all);
}

Test(check_verb, names_the_bin_of_a_break, .init = make_folder, .fini = remove_folder)
{
    json_t *all = json("scatter/sort --device cpu --seconds 1 --n 1000,33 --keys sorted,zipf:s=2 "
                       "--bins 7 --promise order_invariant --json",
                       1),
           *witness;
    size_t i;
    cr_expect_str_eq(word(json_array_get(all, 0), "kept"), "gpu_to_gpu");
    json_t *witnesses =
        json_object_get(rung(json_array_get(all, 0), "order_invariant"), "witnesses");
    cr_expect(json_array_size(witnesses) == 1);
    json_array_foreach (witnesses, i, witness) {
        cr_expect(json_integer_value(json_object_get(witness, "bins")) == 7);
        cr_expect(strcmp(word(witness, "keys"), "sorted") == 0 ||
                  strcmp(word(witness, "keys"), "zipf:s=2") == 0);
        json_int_t bin = json_integer_value(json_object_get(witness, "index"));
        cr_expect(bin >= 0 && bin < 7 && !json_object_get(witness, "scan"));
        cr_expect(strcmp(word(witness, "bits"), word(witness, "other_bits")) != 0);
    }
    show_again(json_array_get(all, 0), true);
    json_decref(all);
    cr_expect(check("sum/serial --device cpu --keys one") == 2);
    expect_said("err", "found sum/serial with --keys, expected a method that takes keys");
    cr_expect(check("scatter/sort --device cpu --keys some") == 2);
    expect_said("err", "option --keys: found 'some'");
    char served[600];
    snprintf(served, sizeof served,
             "'exec:%s serve scatter/exact --device cpu' --device cpu --bins 5 --n 100 --seconds 5 "
             "--storage fp32 --accumulator fp32 --promise correctly_rounded",
             ULPSCOPE_PROGRAM);
    cr_expect(check(served) == 0);
    expect_said("out", "on cpu: keeps correctly_rounded, ");
    snprintf(served, sizeof served,
             "'exec:%s serve rows/exact --device cpu' --device cpu --rows 5 --n 100 --seconds 5 "
             "--storage fp32 --accumulator fp32 --promise correctly_rounded",
             ULPSCOPE_PROGRAM);
    cr_expect(check(served) == 0);
    expect_said("out", "batch_invariant    kept ");
    expect_said("out", "on cpu: keeps correctly_rounded, ");
}

/* The lines that a terminal of 80 columns makes of it where the program is on PATH. */
static size_t screen_lines(const char *text)
{
    size_t lines = 0, longer = strlen(ULPSCOPE_PROGRAM) - strlen("ulpscope");
    for (; *text; text += strcspn(text, "\n") + (text[strcspn(text, "\n")] != 0)) {
        size_t width = strcspn(text, "\n");
        if (memmem(text, width, ULPSCOPE_PROGRAM, strlen(ULPSCOPE_PROGRAM)))
            width -= longer;
        lines += width > 80 ? (width + 79) / 80 : 1;
    }
    return lines;
}

/* 80 x 24, one line of which is the prompt's. All four rungs of an atomic sum are broken. */
Test(check_verb, fits_on_a_screen, .init = make_folder, .fini = remove_folder)
{
    static const char *const method[] = {"sum/atomic",        "sum/two_kernel",
                                         "sum/tiled",         "sum/exact",
                                         "scan/three_kernel", "allreduce/recursive_doubling",
                                         "gemm/wgmma",        "rows/tiled"};
    for (size_t i = 0; i < sizeof method / sizeof *method; i++) {
        char arguments[200];
        /* What hangs on timing takes longest to break. */
        snprintf(arguments, sizeof arguments, "%s --device cpu --seconds %s", method[i],
                 i == 0 ? "1" : "0.4");
        cr_assert(check(arguments) == 0);
        char *out = content("out");
        cr_expect(screen_lines(out) <= 23, "%zu lines:\n%s", screen_lines(out), out);
        cr_expect(strncmp(out, method[i], strlen(method[i])) == 0, "%s", out);
        free(out);
    }
}

/* As the other tests of this file have them. */
Test(check_verb, says_what_a_program_is, .init = make_folder, .fini = remove_folder)
{
    cr_expect(check("--help") == 0);
    expect_said(
        "out",
        "An exec: subject computes what --operation says, else a sum; with --scan a scan, with "
        "--keys or\n--bins a scatter-add, with --rows or --layout a sum of rows, with "
        "--shape a matrix product.");
}

Test(check_verb, tells_what_is_kept_only_where_all_was_tried, .init = make_folder,
     .fini = remove_folder)
{
    json_t *all = json("sum/serial --device cpu --seconds 0.5 --only gpu_to_gpu --json", 0);
    cr_expect(json_is_null(json_object_get(json_array_get(all, 0), "kept")));
    cr_expect_str_eq(word(rung(json_array_get(all, 0), "run_to_run"), "verdict"), "not tried");
    cr_expect_str_eq(word(rung(json_array_get(all, 0), "gpu_to_gpu"), "verdict"), "kept");
    json_decref(all);
}

Test(check_verb, exits_by_the_promise_it_holds_to, .init = make_folder, .fini = remove_folder)
{
    static const char most[] = "--device cpu --seconds 0.3 --n 100";
    char arguments[200];
    snprintf(arguments, sizeof arguments, "sum/tiled %s", most);
    cr_expect(check(arguments) == 0);
    expect_said("out", "sum/tiled on cpu: keeps gpu_to_gpu, as promised\n");
    expect_said("out", "95% confident: under ");
    expect_said("out", "counterexample to order_invariant (orders of the elements): ");
    snprintf(arguments, sizeof arguments, "sum/tiled %s --promise order_invariant", most);
    cr_expect(check(arguments) == 1);
    expect_said("out", "BREAKS order_invariant, which --promise asks for; keeps gpu_to_gpu\n");
    expect_said("err", "check: sum/tiled breaks what it is held to");
    snprintf(arguments, sizeof arguments, "sum/tiled %s --promise correctly_rounded --only exact",
             most);
    cr_expect(check(arguments) == 1);
    expect_said("out", "run_to_run, gpu_to_gpu, order_invariant: left out by --only\n");
}

static enum status take_row(void *context, const struct csv_row *row, struct problem *p)
{
    size_t *rows = context;
    (void)p;
    cr_expect_str_eq(row->field[CHECK_METHOD], *rows < 4 ? "sum/serial" : "scan/serial");
    cr_expect_str_eq(row->field[CHECK_KEEPS], "gpu_to_gpu");
    bool broken = *rows % 4 >= 2;
    cr_expect_str_eq(row->field[CHECK_VERDICT], broken ? "broken" : "kept");
    cr_expect((*row->field[CHECK_COMMAND] != 0) == broken);
    cr_expect((*row->field[CHECK_UNSEEN_P95] != 0) == (*rows % 4 == 0)); /* run_to_run */
    cr_expect((*row->field[CHECK_SCAN] != 0) == (broken && *rows >= 4));
    cr_expect((strtod(row->field[CHECK_DIFFERING], NULL) > 0) == broken);
    ++*rows;
    return STATUS_OK;
}

Test(check_verb, writes_csv, .init = make_folder, .fini = remove_folder)
{
    size_t rows = 0;
    uint64_t whole;
    struct problem p = {0};
    cr_expect(check("sum/serial scan/serial --device cpu --seconds 0.5 --n 100 --out c.csv") == 0);
    enum status status =
        csv_read(in_folder("c.csv"), check_column, CHECK_COLUMNS, take_row, &rows, &whole, &p);
    cr_expect(status == STATUS_OK && rows == 8, "%zu rows, %s", rows, p.text);
}

/* A stranger's object, which promises what it does not keep, beside one that does. */
Test(check_verb, checks_strangers, .init = make_folder, .fini = remove_folder)
{
    char arguments[500];
    for (int lies = 0; lies < 2; lies++) {
        snprintf(arguments, sizeof arguments, "%s:%s --device cpu --seconds %d --n 1001,33 --json",
                 FLAWED_OBJECT, lies ? "greedy" : "sum", lies ? 2 : 8);
        json_t *all = json(arguments, lies);
        json_t *subject = json_array_get(all, 0), *r = rung(subject, "gpu_to_gpu");
        json_t *tried = json_object_get(r, "tried");
        cr_expect_str_eq(word(subject, "kept"), lies ? "run_to_run" : "gpu_to_gpu");
        cr_expect_str_eq(word(r, "verdict"), lies ? "broken" : "kept");
        cr_expect_str_eq(word(r, "reason"), lies ? "" : "on this CPU: no other device runs it");
        cr_expect(json_integer_value(json_object_get(tried, "offset")) > 0);
        cr_expect(json_integer_value(json_object_get(tried, "neighbour")) > 0);
        show_again(subject, true);
        json_decref(all);
    }
}

/* One that hangs on everything is asked once, not in every pair of formats. */
Test(check_verb, does_not_wait_for_ever, .init = make_folder, .fini = remove_folder)
{
    time_t begin = time(NULL);
    cr_expect(check("'exec:sleep 100' --device cpu --timeout 4 --n 10") == 3);
    cr_expect(time(NULL) - begin < 12, "%d s", (int)(time(NULL) - begin));
    expect_said("out", "failed in repeat: exec:sleep 100: no answer within 4 s");
    expect_said("out", "not answered: fp32/fp32, fp64/fp64, ");
    begin = time(NULL);
    cr_expect(check("'exec:sleep 100' --special --device cpu --timeout 4") == 3);
    cr_expect(time(NULL) - begin < 12, "%d s", (int)(time(NULL) - begin));
    expect_said("out", "a run failed: exec:sleep 100: no answer within 4 s");
}

/* What hangs until the time ends fails, however often it answered before. */
Test(check_verb, a_run_that_hangs_is_a_failure, .init = make_folder, .fini = remove_folder)
{
    cr_expect(check("'exec:" FLAWED_PROGRAM " stall 20' --device cpu --promise run_to_run "
                    "--storage fp64 --accumulator fp64 --seconds 1 --only repeat") == 3);
    expect_said("out", "FAILED in ");
    expect_said("out", "run_to_run         failed");
    expect_said("out", "when the time ended: such runs took ");
    expect_said("err", "no answer in ");
}

/* What may only be slow is told of: runs take 0.4 s, and the last one 2 s and more. */
Test(check_verb, a_run_that_is_cut_short_is_told_of, .init = make_folder, .fini = remove_folder)
{
    json_t *all = json("'exec:" FLAWED_PROGRAM " tire 6.2' --device cpu --json --storage fp64 "
                       "--accumulator fp64 --seconds 7 --n 10,11,12,13,14,15,16 --runs 3 --input "
                       "ones --only repeat",
                       0);
    json_t *r = rung(json_array_get(all, 0), "run_to_run");
    cr_expect(strstr(word(r, "reason"),
                     "1 run had no answer when the time ended: more --seconds tell why"),
              "%s", word(r, "reason"));
    cr_expect_str_neq(word(r, "verdict"), "failed");
    json_decref(all);
}

/* A limit on the size of files is an error like a full disk. */
Test(check_verb, reports_a_file_size_limit, .init = make_folder, .fini = remove_folder)
{
    char command[2000];
    snprintf(command, sizeof command,
             "cd '%s' && (ulimit -f 0; '%s' check sum/tiled --device cpu --n 10 --seconds 0.1 "
             "--out c.csv 2>&1) | cat >err",
             folder, ULPSCOPE_PROGRAM);
    cr_expect(system(command) != -1, "%s", command);
    expect_said("err", "c.csv: could not be written: File too large");
}

/* Subjects that fitted are kept; nobody is told to resume what starts over. */
Test(check_verb, a_full_disk_leaves_whole_rows, .init = make_folder, .fini = remove_folder)
{
    char command[2000];
    snprintf(command, sizeof command,
             "cd '%s' && (ulimit -f 8; '%s' check sum/serial sum/pairwise sum/tiled sum/kahan "
             "sum/neumaier sum/sum2 sum/exact --special --device cpu --storage fp32 --seconds 0.01 "
             "--out o 2>&1 >out) | cat >err",
             folder, ULPSCOPE_PROGRAM);
    cr_expect(system(command) != -1, "%s", command);
    expect_said("err", "o/special.csv: could not be written: File too large; the rows before are "
                       "kept\n");
    struct bytes rows = get_file(in_folder("o/special.csv"));
    cr_expect(rows.size > 2000 && rows.data[rows.size - 1] == '\n', "%zu bytes", rows.size);
    clear_bytes(&rows);
}

Test(check_verb, refuses_what_it_cannot_do, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *arguments, *said;
        int status;
    } wrong[] = {
        {"", "check: expected a METHOD, or --all", 2},
        {"sum/tiled --all", "found methods and --all", 2},
        {"sum/none", "check: found 'sum/none', expected one of sum/serial", 2},
        {"sum/tiled --only speed", "--only: found 'speed', expected one of run_to_run/repeat", 2},
        {"sum/tiled --promise all", "--promise: found 'all', expected none, run_to_run", 2},
        {"sum/tiled --input none", "input 'none' is not known", 2},
        {"sum/tiled --input orthogonal --device cpu", "input orthogonal is of two arrays", 2},
        {"sum/tiled --runs 1", "--runs: found 1, expected 2", 2},
        {"sum/tiled --seed 1..3", "--seed: found 3 numbers, expected one", 2},
        {"sum/tiled --recorded /nowhere --device cpu", "/nowhere: ", 3},
        {"sum/tiled --out /nowhere/c.csv --device cpu", "/nowhere/c.csv", 3},
        {"cub/sum --device cpu", "cub/sum does not run on cpu", 4},
        {FLAWED_OBJECT ":shares --device cpu --data " ULPSCOPE_SOURCE
                       "/tests/data/brain-signals-f16.npy",
         ":shares takes fp64/fp64, and brain-signals-f16.npy was read as fp16: --storage", 4},
        {FLAWED_OBJECT ":shares --device cpu --accumulator fp32 --data " ULPSCOPE_SOURCE
                       "/tests/data/brain-signals-f16.npy --storage fp64 --convert",
         ":shares does not run on cpu in the formats asked for, but in fp64/fp64", 4},
        {"exec:false --device cpu", "check: exec:false", 3},
        {"sum/tiled --data x.npy", "x.npy: could not be opened", 3},
        {"dot/tiled --product fused", "check: option --product is one of check --special", 2},
        {"sum/tiled --special --n 5", "check: option --n is none of check --special", 2},
        {"sum/tiled --special --only repeat", "option --only is none of check --special", 2},
        {"sum/tiled sum/none --device cpu --out c.csv", "check: found 'sum/none'", 2},
        {"sum/tiled sum/none --special --device cpu", "check: found 'sum/none'", 2},
        {"dot/tiled --special --product maybe", "--product: found 'maybe', expected rounded", 2},
        {"sum/tiled --rows 5 --device cpu",
         "found sum/tiled with --rows, expected a method that reads a matrix", 2},
        {"rows/tiled --keep 50 --device cpu", "found rows/tiled with --keep, expected a compaction",
         2},
        {"sum/tiled --scan inclusive --device cpu", "found sum/tiled with --scan, expected a scan",
         2},
        {"norm/exact --special --product fused --device cpu",
         "found norm/exact with --product, expected a dot product", 2},
        {"scan/tiled --special --segment 5 --device cpu",
         "found scan/tiled with --segment, expected a segmented scan", 2},
        {"sum/tiled --special --keys one", "check: option --keys is none of check --special", 2},
        {"dot/exact --special --product fused --device cpu", "dot/exact does not form products so",
         2},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int status = check(wrong[i].arguments);
        cr_expect(status == wrong[i].status, "%s: exit status %d", wrong[i].arguments, status);
        expect_said("err", wrong[i].said);
    }
}

/* Options that no case can meet are refused as `run` refuses them, not answered with exit 0. */
Test(check_verb, refuses_options_that_no_case_meets, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *arguments, *said;
    } none[] = {
        {"rows/tiled --rows 7 --n 49 --layout batch:3",
         "option --layout: found batch:3 with 7 rows, expected a divisor of that"},
        {"'exec:" ULPSCOPE_PROGRAM " serve rows/tiled --device cpu' --rows 300 --n 1000 "
         "--storage fp32 --accumulator fp32",
         "option --rows: found 300 with n = 1000, expected a divisor of n"},
        {"allreduce/exact --ranks 3,7 --n 1200,100",
         "option --ranks: found 7 with n = 1200, ..., expected a divisor of n"},
        {"allreduce/ring --ranks 3,7 --data two.txt --storage bf16",
         "option --ranks: found 3, but two.txt has 2 elements, expected as many ranks at most"},
        {"sum/serial --input cond:target=2^200 --n 3 --storage fp16 --accumulator fp16", "cond"},
        {"dot/serial --input product_overflow --n 1", "product_overflow"},
        {"transpose/tiled --only exact",
         "option --only: found nothing that can be tried of transpose/tiled on cpu"},
    };
    char arguments[700];
    put_file("two.txt", &(struct bytes){.data = (unsigned char[]){"1\n2\n"}, .size = 4});
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        snprintf(arguments, sizeof arguments, "%s --device cpu --seconds 0.2", none[i].arguments);
        int status = check(arguments);
        char *err = content("err");
        cr_expect(status == 2, "%s: exit status %d", arguments, status);
        cr_expect(strstr(err, none[i].said), "%s: found '%s'", arguments, err);
        cr_expect(strchr(err, '\n') == err + strlen(err) - 1, "%s: not one line: %s", arguments,
                  err);
        free(err);
    }
}

Test(check_verb, says_a_reason_once, .init = make_folder, .fini = remove_folder)
{
    static const char reason[] = "the subject failed before";
    cr_expect(check("'exec:exit 7' --device cpu --n 10 --storage fp32 --seconds 1 --json") == 3);
    char *out = content("out"), *line = out;
    while ((line = strstr(line, reason))) {
        char *end = strchr(line, '\n'), *second = strstr(++line, reason);
        cr_expect(!second || second > end, "%s", out);
    }
    free(out);
}

/* As many methods as the registry has, and more. */
Test(check_verb, takes_many_methods, .init = make_folder, .fini = remove_folder)
{
    char arguments[2000] = "";
    for (int i = 0; i < 40; i++)
        strcat(arguments, "sum/serial ");
    strcat(arguments, "sum/none --device cpu");
    cr_expect(check(arguments) == 2);
    expect_said("err", "check: found 'sum/none', expected ");
}

/* The user's own array, whose name has a comma, as a command that shows the break again has it. */
Test(check_verb, tries_data, .init = make_folder, .fini = remove_folder)
{
    FILE *file = fopen(in_folder("a,b.txt"), "w");
    for (int i = 1; i <= 200; i++)
        fprintf(file, "%g\n", i % 2 ? 1.0 / i : -0.3 * i);
    fclose(file);
    char arguments[600];
    snprintf(arguments, sizeof arguments,
             "sum/tiled --device cpu --seconds 1 --data '%s/a\\,b.txt' --promise order_invariant "
             "--accumulator fp64 --json",
             folder);
    json_t *all = json(arguments, 1), *broken = rung(json_array_get(all, 0), "order_invariant");
    const json_t *witness = json_array_get(json_object_get(broken, "witnesses"), 0);
    cr_expect_str_eq(word(witness, "input"), "a,b.txt");
    cr_expect(strstr(word(witness, "command"), "a\\,b.txt"), "%s", word(witness, "command"));
    cr_expect(json_integer_value(json_object_get(broken, "inputs")) == 1);
    cr_expect_str_eq(word(rung(json_array_get(all, 0), "gpu_to_gpu"), "verdict"), "kept");
    show_again(json_array_get(all, 0), true);
    json_decref(all);
}

/* One subject without a case hides neither others nor their breaks. */
Test(check_verb, tries_others_beside_one_without_a_case, .init = make_folder, .fini = remove_folder)
{
    static const char untried[] = "ulpscope: check: transpose/tiled: option --only: found nothing";
    static const char options[] = "--only exact --n 1000 --device cpu --seconds 0.2";
    char arguments[300];
    snprintf(arguments, sizeof arguments, "transpose/tiled sum/exact %s", options);
    cr_expect(check(arguments) == 2);
    expect_said("err", untried);
    expect_said("err", "check: nothing was tried of 1 of 2 subjects");
    expect_said("out",
                "sum/exact on cpu: no attempt breaks correctly_rounded, which it promises\n");
    expect_said("out", "correctly_rounded  kept ");
    snprintf(arguments, sizeof arguments,
             "transpose/tiled sum/tiled %s --promise correctly_rounded", options);
    cr_expect(check(arguments) == 1);
    expect_said("err", untried);
    expect_said("err", "1 of 2 subjects break what they are held to, first sum/tiled");
    cr_expect(check("--all --only batch --rows 300 --shape 8x8x8 --ranks 3 --n 100 --device cpu "
                    "--seconds 0.01 --storage fp32 --accumulator fp32") == 2);
    expect_said("err", "ulpscope: check: rows/tiled: option --rows: found 300 with n = 100");
    cr_expect(check("--all --only batch --rows 10 --n 10 --device cpu --seconds 0.01 "
                    "--storage fp32 --accumulator fp32") == 0);
    expect_said("err", "sum/serial: option --only: found nothing that can be tried of sum/serial");
    expect_said("out", "gpu_to_gpu         kept ");
}
