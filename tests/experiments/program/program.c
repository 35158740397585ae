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

/* What is short differs, the exit status does not. */
Test(program, out_of_memory_or_of_devices, .init = make_folder, .fini = remove_folder)
{
    cr_expect(run_program("gen", "ones --n 2^50 -o x.npy") == 4);
    expect_said("err", "out of memory: 1125899906842624 elements of");
    cr_expect(run_program("check", "sum/tiled --device cuda:99") == 4);
    expect_said("err", "device cuda:99: ");
    cr_expect(status_exit(STATUS_INTERRUPTED) == 130 && status_exit(STATUS_DEVICE) == 4 &&
              STATUS_MEMORY != STATUS_DEVICE);
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

/* Help is no wider than tables are; examples are commands on one line each. */
Test(program, help_has_100_columns, .init = make_folder, .fini = remove_folder)
{
    for (size_t i = 0; verbs[i]; i++) {
        cr_assert_eq(run_program(verbs[i]->name, "--help"), 0);
        char *out = content("out"), *end = strstr(out, "\nexamples:\n");
        end = end ? end : out + strlen(out);
        for (char *line = strtok(out, "\n"); line && line < end; line = strtok(NULL, "\n"))
            cr_expect(strlen(line) <= 100, "%s --help: %zu columns: %s", verbs[i]->name,
                      strlen(line), line);
        free(out);
    }
}

/* Exact sums have all their bits, and commands stand on one line. */
static bool any_width(const char *line)
{
    return strncmp(line, "exact sum", 9) == 0 || strncmp(line, "sum |x|", 7) == 0 ||
           strstr(line, "reproduce: ");
}

/* As tables, paragraphs of findings have 100 columns, however wide the numbers are. */
Test(program, findings_have_100_columns, .init = make_folder, .fini = remove_folder)
{
    static const char *const wide[][2] = {
        {"sum", "--input lognormal:sigma=20 --n 1000 --seed 3 --storage fp64"},
        {"sum", "--input subnormal --n 999 --storage fp64"},
        {"reveal", "sum/tiled --device cpu --n 40"},
        {"reveal", "h100/wgmma"},
        {"reveal", "sum/serial --device cpu --storage fp16 --accumulator fp64"},
        {"recommend", "--input uniform --n 3000 --storage fp16 --seconds 1 --device cpu --out r"},
        {"list", "inputs"},
        {"list", "chips"},
        {"list", "methods"},
    };
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        int status = run_program(wide[i][0], wide[i][1]);
        cr_expect(status <= 1, "%s: %d", wide[i][1], status);
        char *out = content("out");
        for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n"))
            cr_expect(strlen(line) <= 100 || any_width(line), "%s %s: %zu columns: %s", wide[i][0],
                      wide[i][1], strlen(line), line);
        free(out);
    }
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
        bool compare = strcmp(made[i].verb, "compare") == 0; /* has more columns */
        bool run = strcmp(made[i].verb, "run") == 0;
        snprintf(arguments, sizeof arguments, "%s %s", made[i].arguments, run ? formats : "");
        cr_expect(run_program(made[i].verb, arguments) == 0, "%s", arguments);
        expect_said(made[i].file, compare
                                      ? ",added_in,result_format,chip,promote,workspace,algorithm\n"
                                      : ",added_in,result_format\n");
        expect_said(made[i].file, compare ? ",fp32,fp16,,,,\n" : ",fp32,fp16\n");
    }
    cr_expect(run_program("bench", formats) == 0);
    expect_said("out", "formats    added_in    n");
    expect_said("out", "sum/widened  fp32/fp16  fp32      600");
    cr_expect(run_program("bench", "--device cpu --method sum/tiled --n 600") == 0);
    char *said = content("out");
    cr_expect(!strstr(said, "added_in"), "%s", said);
    free(said);
}

/* What is not there says what it would give and what to type, in lines of at most 100. */
Test(program, doctor_says_what_to_type, .init = make_folder, .fini = remove_folder)
{
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    int status = run_program("doctor", "");
    setenv("PATH", path, 1);
    free(path);
    cr_assert_eq(status, 0);
    expect_said("out", "absent  gnuplot           not on PATH: draws the pictures of `ulpscope");
    expect_said("out", "apt-get install gnuplot-nox");
    expect_said("out", "absent  cmake ");
    char *out = content("out");
    for (const char *at = out; *at; at += strcspn(at, "\n") + 1) {
        size_t width = strcspn(at, "\n");
        cr_expect(width <= 100 || strncmp(at, "  ok ", 5) == 0, "%.*s", (int)width, at);
    }
    free(out);
}

/* A program that was copied without what asks libhdf5 for it: neither verb blames the build. */
Test(program, what_reads_hdf5_is_named_where_it_is_missing, .init = make_folder,
     .fini = remove_folder)
{
    char command[1200];
    snprintf(command, sizeof command,
             "cd '%s' && printf '\\211HDF\\r\\n\\032\\n' >x.h5 && cp '%s' . && ./ulpscope doctor "
             ">doctor && { ./ulpscope sum x.h5 2>err; "
             "test $? = 3; }",
             folder, ULPSCOPE_PROGRAM);
    cr_assert_eq(system(command), 0);
    char *doctor = content("doctor");
    bool built = !strstr(doctor, "none in this build: it reads .h5");
    free(doctor);
    if (!built)
        return;
    expect_said("doctor", "absent  HDF5              found no ulpscope-hdf5 beside ulpscope");
    expect_said("err", "x.h5: found no ulpscope-hdf5 beside ulpscope, nor in");
}

/* Short and grouped by default; a name or a family alone; a near miss is told. */
Test(program, list_is_short, .init = make_folder, .fini = remove_folder)
{
    cr_assert_eq(run_program("list", ""), 0);
    char *out = content("out");
    size_t lines = 0;
    for (const char *at = out; *at; at += strcspn(at, "\n") + 1, lines++)
        cr_expect(strcspn(at, "\n") <= 100, "%.*s", (int)strcspn(at, "\n"), at);
    cr_expect(lines <= 67, "%zu lines", lines); /* a line or more for each family */
    free(out);
    expect_said("out", "\n  sum/ serial pairwise ");
    expect_said("out", "\n  sumexp/ logsumexp/ softmax/ serial tiled ");
    expect_said("out", "\ninputs (ulpscope list inputs says more):\n  uniform symmetric ");
    expect_said("out", "\ncolumns (ulpscope list columns says more):\n");
    cr_assert_eq(run_program("list", "err_ulp"), 0);
    expect_said("out", "columns:\n  err_ulp              err_abs / ulp(exact)");
    cr_assert_eq(run_program("list", "dot"), 0);
    expect_said("out", "  dot/exact ");
    out = content("out");
    cr_expect(!strstr(out, "sum/serial") && !strstr(out, "inputs:"), "%s", out);
    free(out);
    cr_expect_eq(run_program("list", "colums"), 2);
    expect_said("err", "list: found 'colums': did you mean columns?");
    cr_expect_eq(run_program("list", "err_upl"), 2);
    expect_said("err", "did you mean err_ulp?");
    cr_expect_eq(run_program("list", "qqqqqq"), 2);
    expect_said("err", "expected methods, inputs, experiments, formats, devices, operations, chips "
                       "or columns, or");
}

/* Ranks that nobody asked for are those that divide n; those asked for have to. */
Test(program, ranks_of_its_own_divide, .init = make_folder, .fini = remove_folder)
{
    cr_expect_eq(run_program("run", "allreduce --device cpu --n 4096 --dry-run"), 0);
    expect_said("out", "  ranks        2 4 8");
    cr_expect_eq(run_program("run", "allreduce --device cpu --n 4096 --ranks 3 --dry-run"), 2);
    expect_said("err", "option --ranks: found 3 with n = 4096, expected a divisor of n");
    cr_expect_eq(run_program("run", "allreduce --device cpu --n 4097 --dry-run"), 2);
    expect_said("err", "option --ranks: found none, and no usual number of ranks divides every n");
    cr_expect_eq(run_program("bench", "--method sum/serial --device cpu --n 1001 --storage fp32 "
                                      "--accumulator fp32 --repeats 15"),
                 0);
    cr_expect_eq(run_program("run", "accuracy --device cpu --ranks 3 --dry-run"), 2);
    expect_said("err", "expected it with an experiment that does: allreduce, reduce_scatter");
}

/* Of an option's value too. */
Test(program, values_nearly_right, .init = make_folder, .fini = remove_folder)
{
    static const char *const wrong[][3] = {
        {"check", "sum/tiled --storage fp61", "did you mean fp16?"},
        {"check", "sum/tiled --promise run_to_rum", "did you mean run_to_run?"},
        {"check", "sum/tiled --only repaet", "did you mean repeat?"},
        {"check", "scan/tiled --scan inclusiv", "did you mean inclusive?"},
        {"check", "sum/tiled --special --device cdua", "did you mean cuda?"},
        {"recommend", "--input ones --storage fp16 --n 9 --promise run_to_rum",
         "did you mean run_to_run?"},
        {"recommend", "--input ones --storage fp16 --n 9 --quantity ulps", "did you mean ulp?"},
        {"run", "rows --layout rwo", "did you mean row?"},
        {"run", "scatter --keys unifrom", "did you mean uniform?"},
        {"run", "dot --product fusde", "did you mean fused?"},
        {"run", "drift --output storge", "did you mean storage?"},
        {"run", "accuracy --reference mfpr", "did you mean mpfr?"},
        {"run", "accuracy --storage fp23", "did you mean fp32?"},
        {"reveal", "scan/tiled --scan exclsive", "did you mean exclusive?"},
        {"reveal", "h10/wgmma", "did you mean h100/wgmma?"},
        {"run", "gemm --chip h10", "did you mean h100?"},
        {"check", "sum/tild", "did you mean sum/tiled?"},
        {"check", "sum/tiled --devcie cpu", "did you mean --device?"},
        {"run", "accurcy", "did you mean accuracy?"},
        {"run", "accuracy --input unifrm", "did you mean uniform?"},
        {"sum", "--completion bsh", "did you mean bash?"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong - 1; i++) {
        cr_expect_eq(run_program(wrong[i][0], wrong[i][1]), 2, "%s", wrong[i][1]);
        expect_said("err", wrong[i][2]);
    }
    cr_expect_eq(run_program("", wrong[sizeof wrong / sizeof *wrong - 1][1]), 2);
    expect_said("err", "did you mean bash?");
}

static void expect_first(const char *verb, const char *arguments, const char *due)
{
    run_program(verb, arguments);
    char *out = content("out");
    cr_expect(strncmp(out, due, strlen(due)) == 0, "%s %s: %s", verb, arguments, out);
    free(out);
}

/* The first line has the answer. */
Test(program, verdict_first, .init = make_folder, .fini = remove_folder)
{
    expect_first("reveal", "sum/tiled --device cpu",
                 "sum/tiled on cpu, fp32/fp32, n = 16: the declared order\n");
    expect_said("out", "\nreproduce: ");
    expect_first("reveal", "sum/exact --device cpu",
                 "sum/exact on cpu, fp32/fp32, n = 16: no order shows, it adds exactly or all at "
                 "once\n");
    expect_first("run",
                 "accuracy --device cpu --method sum/serial --input ones --n 10 --storage fp32 "
                 "--accumulator fp32 --out a",
                 "sum/serial in fp32 is exact on every input\n");
    expect_said("out", "\nreproduce: ");
    expect_said("out", "ulpscope run --from a/study.json --out a-again\n");
    expect_first("compare", "a a", "1 pair of cases: 1 the same bits; no promise broken\n");
    expect_said("out", "ulpscope compare a a\n");
    expect_first("check", "sum/serial --device cpu --seconds 0.2",
                 "sum/serial on cpu: keeps gpu_to_gpu, as promised\n");
    expect_first("check", "sum/exact --device cpu --seconds 0.2 --n 8 --only run_to_run",
                 "sum/exact on cpu: ");
    expect_said("out", "\nreproduce: ");
}

/* Tables of the studies that have the most columns; prose and paths aside. */
Test(program, tables_are_narrow, .init = make_folder, .fini = remove_folder)
{
    static const char *const study[] = {"norm", "extrema", "dot"};
    for (size_t i = 0; i < sizeof study / sizeof *study; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "%s --device cpu --n 100 --out %s", study[i],
                 study[i]);
        cr_expect(run_program("run", arguments) <= 1, "%s", study[i]);
        char *out = content("out");
        for (const char *at = out; *at; at += strcspn(at, "\n") + 1) {
            size_t width = strcspn(at, "\n");
            cr_expect(width <= 100 || never_broken(at) || strncmp(at, "|error|", 7) == 0,
                      "%s: %.*s", study[i], (int)width, at);
        }
        free(out);
    }
}

/* A bin is one of a scatter-add; of a matrix it is a row, or an element. */
Test(program, heads_say_what_is_worst, .init = make_folder, .fini = remove_folder)
{
    cr_assert(run_program("run", "rows --device cpu --n 100 --method rows/serial --out r") == 0);
    expect_said("out", "  worst at  ");
    cr_assert(run_program("run", "scatter --device cpu --n 100 --method scatter/sort --bins 5 "
                                 "--out s") == 0);
    expect_said("out", "  worst bin  ");
}

/* The rows of every operation's studies are read back as what their case ids say. */
Test(program, compares_each_study_with_itself, .init = make_folder, .fini = remove_folder)
{
    static const char *const studies[] = {
        "accuracy --method sum/tiled,sum/exact --n 8",
        "drift --method scan/tiled --n 8",
        "dot --method dot/tiled --n 16",
        "norm --method norm/tiled,asum/tiled,variance/chan --n 16",
        "extrema --method product/tree,argmin/tree --n 16",
        "scatter --method scatter/sort --n 64 --bins 4",
        "rows --method rows/tiled,transpose/tiled,compact/scan --n 64 --rows 4",
        "gemm --method gemm/tiled,gemm/mma,gemm/promoted --shape 2x2x8 --chip H100,ada",
        "allreduce --method allreduce/ring,allreduce/exact --n 64 --ranks 4",
        "reduce_scatter --method reduce_scatter/ring,reduce_scatter/exact --n 64 --ranks 4"};
    for (size_t i = 0; i < sizeof studies / sizeof *studies; i++) {
        char line[400];
        snprintf(line, sizeof line,
                 "%s --device cpu --storage fp32 --accumulator fp32 --seed 3 --out s --force",
                 studies[i]);
        cr_expect(run_program("run", line) == 0, "%s", studies[i]);
        cr_expect(run_program("compare", "s s") == 0, "%s", studies[i]);
    }
}

/* A file that is read is never written over, nor are two outputs one file. */
Test(program, spares_what_it_reads, .init = make_folder, .fini = remove_folder)
{
    static const char manifest[] = "{\"device\": \"cpu\", \"subjects\": [{\"subject\": "
                                   "\"sum/tiled\", \"n\": 10, \"storage\": \"fp32\"}]}";
    static const struct {
        const char *verb, *arguments, *said;
    } wrong[] = {
        {"check", "sum/tiled --device cpu --seconds 1 --data x.csv --out x.csv",
         "--out: found x.csv, which --data reads"},
        {"check", "sum/tiled --device cpu --seconds 1 --data y.txt,x.csv:1 --out ./link",
         "--out: found ./link, which --data reads"},
        {"check", "sum/tiled --device cpu --data x.csv --seconds 1 --reproducer x.csv",
         "--reproducer: found x.csv, which --data reads"},
        {"gate", "g.json --markdown g.json", "--markdown: found g.json, which gate reads"},
        {"gate", "g.json --junit g.xml --markdown g.xml",
         "--markdown: found g.xml, which --junit writes"},
        {"compare", "one one --out one/results.csv", "--out: found one/results.csv, which compare"},
    };
    struct bytes numbers = {0}, gate = {0}, study = {0};
    add_string(&numbers, "1\n2\n3\n");
    add_string(&gate, manifest);
    put_file("x.csv", &numbers);
    put_file("y.txt", &numbers);
    put_file("g.json", &gate);
    cr_assert(symlink("x.csv", in_folder("link")) == 0);
    cr_assert(run_program("run", "accuracy --device cpu --method sum/tiled --input ones --n 8 "
                                 "--storage fp32 --accumulator fp32 --out one --quiet") == 0);
    study = get_file(in_folder("one/results.csv"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_expect(run_program(wrong[i].verb, wrong[i].arguments) == 2, "%s", wrong[i].arguments);
        expect_said("err", wrong[i].said);
    }
    static const char *const name[] = {"x.csv", "g.json", "one/results.csv"};
    struct bytes *const due[] = {&numbers, &gate, &study};
    for (size_t i = 0; i < 3; i++) {
        struct bytes b = get_file(in_folder(name[i]));
        cr_expect(b.size == due[i]->size && memcmp(b.data, due[i]->data, b.size) == 0, "%s",
                  name[i]);
        clear_bytes(&b);
        clear_bytes(due[i]);
    }
    cr_expect(run_program("check", "sum/tiled --device cpu --seconds 1 --data y.txt --out z.csv") ==
              0);
    cr_expect(run_program("check", "sum/tiled --device cpu --seconds 1 --data y.txt --out z.csv") ==
              0);
    cr_expect(run_program("compare", "one one --out one/differences.csv") == 0);
}

Test(program, says_what_products_and_ranks_cannot_be_of, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *arguments, *said;
    } bad[] = {
        {"allreduce --device cpu --method 'exec:cat'", "no request tells a program how many ranks"},
        {"reduce_scatter --device cpu --method python:math:fsum",
         "no request tells a program how many ranks"},
        {"gemm --device cpu --method gemm/serial --data a.csv --storage fp32",
         "or, where --data is a matrix, a second file"}};
    FILE *file = fopen(in_folder("a.csv"), "w");
    cr_assert(file && fputs("1\n2\n3\n4\n", file) >= 0);
    fclose(file);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_expect_eq(run_program("run", bad[i].arguments), 2, "%s", bad[i].arguments);
        expect_said("err", bad[i].said);
    }
}

/* Lists name each file once: a third that is one of two is refused as any third is. */
Test(program, a_product_reads_two_files, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *files;
        int status;
    } due[] = {{"--data a.csv --data b.csv", 0},
               {"--data a.csv --data a.csv", 0},
               {"--data a.csv --data b.csv --data b.csv", 2},
               {"--data a.csv --data b.csv --data a.csv", 2},
               {"--data a.csv --data a.csv --data a.csv", 2}};
    char arguments[300];
    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(in_folder(i ? "b.csv" : "a.csv"), "w");
        cr_assert(file && fputs(i ? "1\n2\n3\n5\n" : "1\n2\n3\n4\n", file) >= 0);
        fclose(file);
    }
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        snprintf(arguments, sizeof arguments,
                 "gemm --device cpu --method gemm/serial --storage fp32 --accumulator fp32 "
                 "--shape 2x2x2 %s --out o%zu",
                 due[i].files, i);
        cr_expect_eq(run_program("run", arguments), due[i].status, "%s", due[i].files);
        if (due[i].status == 2)
            expect_said("err", "option --data: found 3 files");
    }
}

/* Methods are operands of `kernels`, or its option --method. */
Test(program, kernels_of_named_methods, .init = make_folder, .fini = remove_folder)
{
    cr_expect_eq(run_program("kernels", "sum/tild"), 2);
    expect_said("err",
                "ulpscope: kernels: found 'sum/tild', expected a name that list methods has");
    cr_expect_eq(run_program("kernels", "--method sum/tild"), 2);
    cr_expect_eq(run_program("kernels", "sum/tiled --device cpu"), 2);
    int status = run_program("kernels", "sum/tiled --n 1000 --json");
    cr_expect(status == 0 || status == 4, "exit status %d", status); /* 4: no GPU */
}
