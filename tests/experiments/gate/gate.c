/* `ulpscope gate`: manifests, verdicts, reports, the baseline. */
#include <jansson.h>
#include <math.h>
#include <mpfr.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "experiments/gate/gate.h"
#include "experiments/gate/members.h"
#include "tests/support/gate.h"

/* The only entry of a manifest with one subject, as --json has it. */
static json_t *entry(const char *manifest, const char *options, int status)
{
    char words[512];
    snprintf(words, sizeof words, "--json %s", options);
    int found = gate(manifest, words);
    json_t *all = json_load_file(in_folder("out"), 0, NULL);
    cr_assert(found == status, "%s: exit status %d", manifest, found);
    json_t *one = json_incref(json_array_get(json_object_get(all, "entries"), 0));
    cr_assert(one, "%s", manifest);
    json_decref(all);
    return one;
}

static void expect_word(const json_t *o, const char *name, const char *word)
{
    const char *found = json_string_value(json_object_get(o, name));
    cr_expect(found && strstr(found, word), "%s: found %s, expected %s", name, found, word);
}

/* (1 - p)^n <= 1 - c, and one run fewer is not enough: by MPFR. */
Test(gate, asks_for_as_many_runs_as_the_confidence_needs)
{
    static const double confidence[] = {0.5, 0.9, 0.95, 0.99, 0.9999, 0.999999},
                        differing[] = {1e-6, 1e-3, 0.01, 0.1, 0.5, 0.9};
    mpfr_t left, miss;
    mpfr_init2(left, 400);
    mpfr_init2(miss, 400);
    for (size_t i = 0; i < 36; i++) {
        double c = confidence[i / 6], p = differing[i % 6];
        uint64_t n = gate_runs(c, p);
        mpfr_set_d(left, 1, MPFR_RNDN);
        mpfr_sub_d(left, left, c, MPFR_RNDN);
        mpfr_set_d(miss, 1, MPFR_RNDN);
        mpfr_sub_d(miss, miss, p, MPFR_RNDN);
        mpfr_pow_ui(miss, miss, n, MPFR_RNDN);
        cr_expect(mpfr_cmp(miss, left) <= 0, "%g %g: %llu is too few", c, p, (unsigned long long)n);
        mpfr_set_d(miss, 1, MPFR_RNDN);
        mpfr_sub_d(miss, miss, p, MPFR_RNDN);
        mpfr_pow_ui(miss, miss, n - 1, MPFR_RNDN);
        cr_expect(mpfr_cmp(miss, left) > 0, "%g %g: %llu is too many", c, p, (unsigned long long)n);
    }
    mpfr_clears(left, miss, (mpfr_ptr)0);
    cr_expect_eq(gate_runs(0.95, 0.01), 299);
}

Test(gate, asks_the_engine_for_as_much_of_each_kind)
{
    struct check_request r = {0};
    cr_expect_eq(check_wanted(&r, CHECK_REPEAT), UINT64_MAX);
    cr_expect_eq(check_wanted(&r, CHECK_SHAPE), UINT64_MAX);
    r.enough = 299;
    cr_expect_eq(check_wanted(&r, CHECK_REPEAT), 299);
    cr_expect_eq(check_wanted(&r, CHECK_PROCESS), 29);
    cr_expect_eq(check_wanted(&r, CHECK_EXACT), 100);
    r.enough = 2995;
    cr_expect_eq(check_wanted(&r, CHECK_PERMUTATION), 299);
    r.enough = 1;
    cr_expect_eq(check_wanted(&r, CHECK_LOAD), CHECK_LEAST);
}

/* What was tried before is told, and nothing is recorded. */
Test(gate, tells_what_was_tried_before_an_interruption, .init = make_folder, .fini = remove_folder)
{
    char command[1200];
    put("gate.json",
        "{\"device\": \"cpu\", \"subjects\": [{\"subject\": \"sum/tiled\", \"n\": 10, \"storage\": "
        "\"fp32\"}, {\"subject\": \"exec:sleep 100\", \"promise\": \"run_to_run\", \"seconds\": "
        "60}]}");
    snprintf(command, sizeof command,
             "cd '%s' && timeout -s INT 2 '%s' gate gate.json --junit g.xml --baseline b --update "
             ">out 2>err; test $? = 124",
             folder, ULPSCOPE_PROGRAM);
    cr_expect_eq(system(command), 0);
    expect_said("out", "kept       sum/tiled");
    expect_said("out", "not tried  exec:sleep 100");
    expect_said("g.xml", "message=\"interrupted\"");
    expect_said("err", "interrupted");
    cr_expect(access(in_folder("b/baseline.json"), F_OK) != 0, "an interrupted gate was recorded");
}

Test(gate, keeps_and_breaks, .init = make_folder, .fini = remove_folder)
{
    json_t *one =
        entry("{\"subjects\": [{\"subject\": \"sum/tiled\", \"device\": \"cpu\", \"promise\": "
              "\"gpu_to_gpu\", \"storage\": \"fp32\", \"n\": 100}]}",
              "", 0);
    expect_word(one, "verdict", "kept");
    cr_expect(json_integer_value(json_object_get(one, "runs_needed")) == 299);
    json_decref(one);
    one = entry("{\"subjects\": [{\"subject\": \"sum/tiled\", \"device\": \"cpu\", \"seconds\": 1, "
                "\"promise\": "
                "\"order_invariant\", \"storage\": \"fp32\", \"n\": 100}]}",
                "", 1);
    expect_word(one, "verdict", "broken");
    expect_word(one, "reason", "breaks order_invariant");
    /* The command shows it again. */
    char command[1500];
    snprintf(command, sizeof command, "cd '%s' && %s >again 2>&1", folder,
             json_string_value(json_object_get(one, "reproduce")));
    int status = system(command);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, "%s", command);
    expect_said("again", "BREAKS order_invariant");
    json_decref(one);
}

/* Time that ends before the evidence is complete passes nothing. */
Test(gate, passes_nothing_without_its_evidence, .init = make_folder, .fini = remove_folder)
{
    json_t *one =
        entry("{\"confidence\": 0.999999, \"differing\": 1e-7, \"seconds\": 0.05, \"subjects\": "
              "[{\"subject\": \"sum/tiled\", \"device\": \"cpu\", \"promise\": \"run_to_run\", "
              "\"input\": \"uniform\", \"n\": 1000}]}",
              "", 1);
    expect_word(one, "verdict", "not tried");
    expect_word(one, "reason", "time ran out");
    json_decref(one);
}

/* A claim about every family of inputs needs more attempts than the confidence does. */
Test(gate, tries_every_family_of_inputs_where_none_is_named, .init = make_folder,
     .fini = remove_folder)
{
    json_t *one = entry("{\"seconds\": 20, \"subjects\": [{\"subject\": \"sum/exact\", \"device\": "
                        "\"cpu\", \"storage\": \"fp32\", \"accumulator\": \"fp32\"}]}",
                        "", 0);
    expect_word(one, "verdict", "kept");
    json_decref(one);
}

/* Where no promise says that the bits are the same in every run, the error of many is held. */
Test(gate, holds_the_errors_of_many_runs, .init = make_folder, .fini = remove_folder)
{
    static const char none[] = "\"device\": \"cpu\", \"promise\": \"none\", \"input\": "
                               "\"uniform\", \"tolerance\": 1e-3";
    char manifest[1000];
    snprintf(manifest, sizeof manifest,
             "{\"subjects\": [{\"subject\": \"%s:lapses\", %s, \"n\": [10, 1000]}]}", FLAWED_OBJECT,
             none);
    json_t *one = entry(manifest, "", 1);
    expect_word(one, "verdict", "inexact");
    cr_expect(json_integer_value(json_object_get(one, "runs_measured")) == 300);
    json_decref(one);
    snprintf(manifest, sizeof manifest,
             "{\"subjects\": [{\"subject\": \"sum/atomic\", %s, \"storage\": \"fp32\", "
             "\"accumulator\": \"fp32\", \"n\": 1000}]}",
             none);
    one = entry(manifest, "", 0);
    cr_expect(json_integer_value(json_object_get(one, "runs_measured")) == 299);
    json_decref(one);
    cr_expect_eq(gate(manifest, ""), 0);
    expect_said("out", " in 299 runs, 95% confident that under 1%");
    snprintf(
        manifest, sizeof manifest,
        "{\"seconds\": 0.01, \"differing\": 1e-5, \"subjects\": [{\"subject\": \"sum/atomic\", "
        "%s, \"storage\": \"fp32\", \"accumulator\": \"fp32\", \"n\": 1000}]}",
        none);
    cr_expect_eq(gate(manifest, "--json"), 0);
    expect_said("out", "tolerance: time ran out at ");
    expect_said("out", " of the 299572 runs that 95% confidence needs");
}

/* The same in each run. */
Test(gate, holds_results_to_their_error_bound, .init = make_folder, .fini = remove_folder)
{
    struct bytes source = {0};
    static const char manifest[] =
        "{\"subjects\": [{\"subject\": \"python:own.py:none\", \"device\": \"cpu\", \"promise\": "
        "\"run_to_run\", \"input\": \"ones\", \"n\": 1000, \"seconds\": 5}]}";
    add_string(&source, "def none(x):\n    return float('nan')\n");
    put_file("own.py", &source);
    clear_bytes(&source);
    json_t *one = entry(manifest, "--baseline b --update", 1);
    expect_word(one, "verdict", "inexact");
    expect_word(one, "reason", "a result is not finite where nothing can overflow, on ");
    json_decref(one);
}

Test(gate, holds_errors_to_tolerances, .init = make_folder, .fini = remove_folder)
{
    /* 2049 ones in fp16 sum up to 2048 one after the other: an error of 1/2049 = 4.9e-4, half an
     * ulp. */
    static const struct {
        const char *tolerance, *quantity, *verdict;
    } cases[] = {{"4.88e-4", "rel", "inexact"},
                 {"4.89e-4", "rel", "kept"},
                 {"\"0.4ulp\"", "ulp", "inexact"},
                 {"\"0.5ulp\"", "ulp", "kept"},
                 {"0", "backward", "inexact"}};
    char manifest[400];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(
            manifest, sizeof manifest,
            "{\"subjects\": [{\"subject\": \"sum/serial\", \"device\": \"cpu\", \"promise\": "
            "\"none\", "
            "\"storage\": \"fp16\", \"accumulator\": \"fp16\", \"input\": \"ones\", \"n\": 2049, "
            "\"tolerance\": %s, \"quantity\": \"%s\"}]}",
            cases[i].tolerance, cases[i].quantity);
        json_t *one = entry(manifest, "", strcmp(cases[i].verdict, "kept") != 0);
        expect_word(one, "verdict", cases[i].verdict);
        json_decref(one);
    }
    /* 1/2049 exceeds 0.000488, and is said with enough digits to show it. */
    snprintf(manifest, sizeof manifest,
             "{\"subjects\": [{\"subject\": \"sum/serial\", \"device\": \"cpu\", \"promise\": "
             "\"none\", \"storage\": \"fp16\", \"accumulator\": \"fp16\", \"input\": \"ones\", "
             "\"n\": 2049, \"tolerance\": 4.88e-4}]}");
    json_decref(entry(manifest, "--markdown g.md", 1));
    expect_said("g.md", "error 0.00048804 exceeds 0.000488 ");
}

Test(gate, says_what_is_wrong_with_a_manifest, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *manifest, *says;
        int status;
    } cases[] = {
        {"", "gate.json: line 1", 2},
        {"{\"subjects\": []}", "subjects: found an empty list, expected a list of one subject", 2},
        {"{\"quantity\": \"ulps\", \"subjects\": [{\"subject\": \"sum/tiled\"}]}",
         "gate.json: quantity: found 'ulps'", 2},
        {"{\"subjects\": [{\"subject\": \"sum/tiled\", \"n\": 1.5}]}", "n: found 1.5, expected", 2},
        {"[]", "found a list, expected an object", 2},
        {"{\"subjects\": [{\"subject\": \"sum/tiled\", \"seconds\": NaN}]}", "'NaN'", 2},
        {"{\"subjects\": [{\"subject\": \"sum/tiled\", \"seconds\": 1e999}]}", "overflow", 2},
        {"{\"subjects\": [{\"subject\": \"sum/tiled\", \"subject\": 1}]}", "duplicate", 2},
        {"{\"subjects\": [{\"subjct\": \"sum/tiled\"}]}",
         "subjects[0]: found 'subjct', did you mean subject", 2},
        {"{\"subject\": []}", "gate.json: found 'subject', did you mean subjects", 2},
        {"{\"subjects\": [{\"subject\": \"sum/tild\"}]}", "subjects[0].subject: found 'sum/tild'",
         2},
        {"{\"subjects\": [{\"subject\": \"sum/tild\"}]}", "did you mean sum/tiled?", 2},
        {"{\"subjects\": [{\"subject\": \"sum/tiled\", \"promise\": \"run_to_rnu\"}]}",
         "subjects[0].promise: found 'run_to_rnu', did you mean run_to_run?", 2},
        {"{\"storage\": \"fp31\", \"subjects\": [{\"subject\": \"sum/tiled\"}]}",
         "gate.json: storage: found 'fp31', expected fp16", 2},
        {"{\"subjects\": [{\"subject\": \"sum/tiled\", \"tolerance\": 1}]}",
         "found neither data nor input", 2},
        {"{\"subjects\": [{\"subject\": \"scan/tiled\", \"tolerance\": 1, \"input\": \"ones\"}]}",
         "makes an array", 2},
        {"{\"subjects\": [{\"subject\": \"sum/tiled\", \"keys\": \"uniform\"}]}",
         "a method that takes keys", 2},
        {"{\"subjects\": [{\"subject\": \"sum/atomic\"}]}", "promises none", 2},
        {"{\"subjects\": [{\"subject\": \"sum/tiled\"}, {\"subject\": \"sum/tiled\"}]}",
         "subjects[1].name", 2},
        {"{\"confidence\": 1, \"subjects\": [{\"subject\": \"sum/tiled\"}]}", "confidence: found 1",
         2},
        {"{\"differing\": -1, \"subjects\": [{\"subject\": \"sum/tiled\"}]}", "differing: found -1",
         2},
        {"{\"subjects\": [{\"subject\": \"sum/\\u0007tiled\"}]}", "'sum/\\x07tiled'", 2},
        {"{\"subjects\": [{\"subject\": \"sum/tiled\", \"data\": \"none.npy\"}]}", "none.npy", 3},
        {"{\"subjects\": [{\"subject\": \"sum/tiled\", \"data\": \"-\"}]}", "standard input", 2},
        {"{\"subjects\": [{\"subject\": \"sum/tiled\", \"device\": \"cuda:99\"}]}", "cuda:99", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = gate(cases[i].manifest, "");
        char *said = content("err");
        cr_expect(status == cases[i].status, "%s: exit status %d", cases[i].manifest, status);
        cr_expect(strstr(said, cases[i].says) && strstr(said, "gate.json"), "%s: %s",
                  cases[i].manifest, said);
        cr_expect(strchr(said, '\n') == said + strlen(said) - 1, "%s: more than a line: %s",
                  cases[i].manifest, said);
        free(said);
    }
    char deep[5000];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    cr_expect_eq(gate(deep, ""), 2);
    cr_expect_eq(run_program("gate", "none.json"), STATUS_DATA);
    cr_expect_eq(run_program("gate", "gate.json --update"), STATUS_USAGE);
}

/* A subject that ends, and one whose device is not there, cost an entry. */
Test(gate, tells_of_subjects_that_fail, .init = make_folder, .fini = remove_folder)
{
    cr_expect_eq(
        gate("{\"device\": \"cpu\", \"subjects\": [{\"subject\": \"exec:exit 7\", \"promise\": "
             "\"run_to_run\", "
             "\"seconds\": 1}, {\"subject\": \"sum/tiled\", \"n\": 10, \"storage\": \"fp32\"}]}",
             ""),
        STATUS_DATA);
    expect_said("out", "failed     exec:exit 7");
    expect_said("out", "kept       sum/tiled");
    expect_said("err", "gate: 1 of 2 subjects failed, first exec:exit 7");
    /* The line names the one that the table has first; what is not tried decides the status. */
    cr_expect_eq(
        gate("{\"device\": \"cpu\", \"promise\": \"run_to_run\", \"subjects\": [{\"subject\": "
             "\"sum/tiled\", \"seconds\": 0.001}, {\"subject\": \"exec:exit 7\", \"seconds\": 1}]}",
             ""),
        STATUS_FAILED);
    expect_said("out", "1 failed, 1 not tried");
    expect_said("err", "gate: 2 of 2 subjects are not kept, the worst: exec:exit 7 failed");
}

/* So does one whose device is not there, which is named in the manifest's line too. */
Test(gate, goes_on_behind_devices_that_are_not_there, .init = make_folder, .fini = remove_folder)
{
    cr_expect_eq(gate("{\"storage\": \"fp32\", \"n\": 1e1, \"schema\": 1.0, \"subjects\": "
                      "[{\"subject\": \"sum/exact\", \"device\": \"cuda:99\"}, {\"subject\": "
                      "\"sum/tiled\", \"device\": \"cpu\"}]}",
                      "--junit g.xml"),
                 4);
    expect_said("out", "failed     sum/exact on cuda:99: held to correctly_rounded");
    expect_said("out", "kept       sum/tiled on cpu");
    expect_said("err", "1 of 2 subjects failed, first sum/exact: gate.json: subjects[0]: device "
                       "cuda:99");
    expect_said("g.xml", "tests=\"2\" failures=\"0\" errors=\"1\"");
    expect_said("g.xml", "; open: gpu_to_gpu: ");
}

/* So does one that cannot be loaded, or fails when it is first called: the rest goes on, and what
 * was recorded of it stays. */
Test(gate, goes_on_behind_subjects_that_cannot_be_described, .init = make_folder,
     .fini = remove_folder)
{
#define ENTRY(subject, name)                                                                       \
    "{\"subject\": \"" subject "\", \"name\": \"" name "\", \"promise\": \"run_to_run\"}"
#define TILED "{\"subject\": \"sum/tiled\", \"n\": 10, \"storage\": \"fp32\"}"
    static const char failing[] =
        "{\"device\": \"cpu\", \"seconds\": 5, \"storage\": \"fp64\", \"accumulator\": "
        "\"fp64\", \"subjects\": [" ENTRY("python:own.py:f@array", "raises") ", " ENTRY(
            "python:none.py:f", "no file") ", " ENTRY("./none.so:f", "no object") ", " TILED "]}";
    put("own.py", "def f(x):\n    return sum(x)\n");
    cr_assert_eq(gate("{\"device\": \"cpu\", \"seconds\": 20, \"storage\": \"fp64\", "
                      "\"accumulator\": \"fp64\", \"n\": 100, \"subjects\": [" ENTRY(
                          "python:own.py:f@array", "raises") "]}",
                      "--baseline b --update"),
                 0);
    put("own.py", "def f(x):\n    raise ValueError('no <more>')\n");
    cr_expect_eq(gate(failing, "--baseline b --update --junit g.xml --markdown g.md"), STATUS_DATA);
    expect_said("out", "failed     raises (python:own.py:f@array) on cpu: held to run_to_run");
    expect_said("out", "ValueError: no <more>");
    expect_said("out", "failed     no file");
    expect_said("out", "failed     no object");
    expect_said("out", "kept       sum/tiled");
    expect_said("g.xml", "tests=\"4\" failures=\"0\" errors=\"3\"");
    expect_said("g.xml", "<error type=\"failed\"");
    expect_said("g.xml", "ValueError: no &lt;more&gt;");
    expect_said("g.md", "| **failed** | raises | cpu |");
    expect_said("b/baseline.json", "\"raises\": {\"subject\": \"python:own.py:f@array\"");
    cr_expect_eq(gate(failing, "--json"), STATUS_DATA);
#undef TILED
#undef ENTRY
}

Test(gate, writes_reports_whole_or_not_at_all, .init = make_folder, .fini = remove_folder)
{
    struct stat facts;
    static const char manifest[] =
        "{\"device\": \"cpu\", \"subjects\": [{\"name\": \"a | <b> & \\\"c\\\" \\u0001\\uffff "
        "`d`\", "
        "\"subject\": \"sum/tiled\", \"n\": 10, \"storage\": \"fp32\"}]}";
    cr_expect_eq(gate(manifest, "--junit g.xml --markdown g.md"), 0);
    expect_said("g.xml", "name=\"a | &lt;b&gt; &amp; &quot;c&quot; \\x01\\xef\\xbf\\xbf `d`\"");
    expect_said("g.xml", "tests=\"1\" failures=\"0\" errors=\"0\"");
    expect_said("g.md", "| kept | a \\| &lt;b&gt; &amp; \"c\" \\\\x01");
    expect_said("g.md", "\\`d\\` | cpu |");
    cr_expect_eq(gate(manifest, "--junit /dev/full"), STATUS_DATA);
    expect_said("err", "/dev/full");
    cr_expect_eq(gate(manifest, "--markdown none/g.md"), STATUS_DATA);
    char command[900];
    snprintf(command, sizeof command,
             "cd '%s' && '%s' gate gate.json --json >/dev/full 2>err; [ $? = 3 ]", folder,
             ULPSCOPE_PROGRAM);
    cr_expect_eq(system(command), 0);
    expect_said("err", "standard output: could not be written");
    cr_expect(stat("/dev/full", &facts) == 0 && S_ISCHR(facts.st_mode), "/dev/full is gone");
}

/* Numbers of rows, as `check --batch` has them; only where they are about what is promised. */
Test(gate, tries_numbers_of_rows, .init = make_folder, .fini = remove_folder)
{
#define ROWS_OF(rest)                                                                              \
    "{\"subjects\": [{\"storage\": \"fp32\", \"accumulator\": \"fp32\", \"n\": 200, \"rows\": 4, " \
    "\"input\": \"symmetric\", \"layout\": \"row\", \"seconds\": 3, " rest "}]}"
    cr_expect_eq(gate(ROWS_OF("\"subject\": \"rows/tiled\", \"promise\": \"batch_invariant\", "
                              "\"batch\": \"1..20\""),
                      "--json"),
                 0);
    expect_said("out", "\"last\": 20");
    cr_expect_eq(gate(ROWS_OF("\"subject\": \"rows/tiled\", \"promise\": \"run_to_run\", "
                              "\"batch\": \"1..20\""),
                      ""),
                 2);
    expect_said("err", "subjects[0].batch: found it without a promise that it is about");
    cr_expect_eq(gate("{\"subjects\": [{\"subject\": \"sum/tiled\", \"batch\": [1, 2]}]}", ""), 2);
    expect_said("err", "subjects[0].batch: found it with sum/tiled, expected a matrix product");
    cr_expect_eq(gate(ROWS_OF("\"subject\": \"rows/tiled\", \"batch\": 7"), ""), 2);
    expect_said("err", "found one number of rows, 7, expected two or more");
}

/* Shapes, chips and intervals of promotion are those of the entry, also in the command that shows a
 * break. */
Test(gate, tries_matrix_products, .init = make_folder, .fini = remove_folder)
{
#define PRODUCT_OF(members)                                                                        \
    "{\"subjects\": [{\"storage\": \"e4m3\", \"accumulator\": \"fp32\", \"seconds\": 1, " members  \
    "}]}"
    cr_expect_eq(
        gate(PRODUCT_OF("\"subject\": \"gemm/promoted\", \"chip\": \"h100\", \"promote\": 64, "
                        "\"shape\": \"3x5x256:nt\", \"promise\": \"order_invariant\""),
             ""),
        1);
    expect_told("out", "breaks order_invariant");
    expect_said("out", "--shape 3x5x256:nt");
    expect_said("out", "--chip h100 --promote 64");
    cr_expect_eq(gate(PRODUCT_OF("\"subject\": \"gemm/tiled\", \"shape\": \"3x5\""), ""), 2);
    expect_said("err", "subjects[0].shape: found '3x5', expected MxNxK");
    cr_expect_eq(gate(PRODUCT_OF("\"subject\": \"gemm/tiled\", \"chip\": \"h100\""), ""), 2);
    expect_said("err", "subjects[0].chip: found it with gemm/tiled");
}

/* The schema knows the members that the reader does. */
Test(gate, has_a_schema_of_its_members)
{
    json_error_t error;
    json_t *schema =
        json_load_file(ULPSCOPE_SOURCE "/experiments/examples/gate.schema.json", 0, &error);
    cr_assert(schema, "%s", error.text);
    json_t *whole = json_object_get(schema, "properties");
    json_t *own = json_object_get(
        json_object_get(json_object_get(json_object_get(schema, "$defs"), "entry"), "properties"),
        "name");
    cr_assert(own);
    own = json_object_get(json_object_get(json_object_get(schema, "$defs"), "entry"), "properties");
    size_t wholes = 0, owns = 0;
    for (const struct gate_member *m = gate_members; m->name; m++) {
        cr_expect(!m->whole == !json_object_get(whole, m->name), "%s", m->name);
        cr_expect(!m->own == !json_object_get(own, m->name), "%s", m->name);
        wholes += m->whole;
        owns += m->own;
    }
    cr_expect_eq(json_object_size(whole), wholes);
    cr_expect_eq(json_object_size(own), owns);
    json_decref(schema);
}
