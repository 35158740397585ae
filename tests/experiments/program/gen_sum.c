/* The verbs gen and sum, as the command line runs them. */
#include <fcntl.h>

#include <jansson.h>

#include "experiments/inputs/input.h"
#include "experiments/options/options.h"
#include "tests/support/files.h"

TestSuite(gen_sum, .init = make_folder, .fini = remove_folder);

/* Runs a command line, its words separated by single blanks, in the test's folder; what it prints
 * goes to the file `printed` there. */
static enum status command(const char *line, struct problem *p)
{
    char words[512], *argv[24];
    int argc = 0;
    snprintf(words, sizeof words, "ulpscope %s", line);
    for (char *word = strtok(words, " "); word && argc < 23; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    cr_assert(chdir(folder) == 0);
    fflush(stdout);
    int out = dup(1), file = open("printed", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    cr_assert(file >= 0 && dup2(file, 1) == 1);
    close(file);
    struct arguments a;
    *p = (struct problem){0};
    enum status status = arguments_parse(&a, argc, argv, p);
    if (status == STATUS_OK)
        status = a.verb->run(&a, p);
    fflush(stdout);
    dup2(out, 1);
    close(out);
    return status;
}

static void expect_ok(const char *line)
{
    struct problem p;
    enum status status = command(line, &p);
    cr_assert(status == STATUS_OK, "%s: status %d: %s", line, (int)status, p.text);
}

static void expect_refusal(const char *line, enum status expected, const char *said)
{
    struct problem p;
    enum status status = command(line, &p);
    cr_expect(status == expected && p.status == expected, "%s: status %d, expected %d", line,
              (int)status, (int)expected);
    cr_expect(strstr(p.text, said), "%s: does not say '%s': %s", line, said, p.text);
}

static json_t *printed_json(void)
{
    json_error_t error;
    json_t *json = json_load_file("printed", JSON_REJECT_DUPLICATES, &error);
    cr_assert(json != NULL, "%s", error.text);
    return json;
}

Test(gen_sum, gen_writes_the_input)
{
    static const struct {
        const char *specification, *options;
        size_t n;
        uint64_t seed;
        double cond;
    } cases[] = {
        {"uniform", "--n 1000", 1000, 1, 0},
        {"normal", "--n 2^10 --seed 7", 1024, 7, 0},
        {"lognormal:sigma=1:order=descending", "--n 1e3 --seed 2", 1000, 2, 0},
        {"cond", "--n 500 --cond 2^20 --seed 3", 500, 3, 0x1p20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            char line[256];
            struct input in;
            struct problem p = {0};
            double memory[1024];
            struct array a = {f, cases[i].n, memory};
            snprintf(line, sizeof line, "gen %s %s --storage %s -o x.npy", cases[i].specification,
                     cases[i].options, format_facts[f].name);
            expect_ok(line);
            cr_assert(input_parse(&in, cases[i].specification, &p) == STATUS_OK, "%s", p.text);
            cr_assert(input_generate(&in, &a, cases[i].seed, cases[i].cond, &p) == STATUS_OK, "%s",
                      p.text);
            struct data_set set = expect_data("x.npy", f, false, line);
            cr_expect(set.item[0].array.n == a.n &&
                          memcmp(set.item[0].array.data, memory, array_bytes(f, a.n)) == 0,
                      "%s", line);
            data_free(&set);
        }
    expect_ok("gen ones --n 3 -o -");
    struct data_set set = expect_data("printed", FP64, false, "standard output");
    cr_expect(set.item[0].array.n == 3 && array_get(&set.item[0].array, 2) == 1);
    data_free(&set);
}

Test(gen_sum, gen_refuses)
{
    expect_refusal("gen", STATUS_USAGE, "INPUT");
    expect_refusal("gen uniform -o x.npy", STATUS_USAGE, "--n");
    expect_refusal("gen uniform --n 10", STATUS_USAGE, "--out");
    expect_refusal("gen unifrom --n 10 -o x.npy", STATUS_USAGE, "unifrom");
    expect_refusal("gen uniform --n ten -o x.npy", STATUS_USAGE, "ten");
    expect_refusal("gen uniform --n 10 --storage fp8 -o x.npy", STATUS_USAGE, "fp8");
    expect_refusal("gen uniform --n 10 --cond 5 -o x.npy", STATUS_USAGE, "--cond");
    expect_refusal("gen cond --n 10 --cond 0.5 -o x.npy", STATUS_USAGE, "0.5");
    expect_refusal("gen uniform --n 1e19 -o x.npy", STATUS_MEMORY, "out of memory");
    expect_refusal("gen uniform --n 2^50 -o x.npy", STATUS_MEMORY, "out of memory");
    expect_refusal("gen uniform --n 10 -o /dev/full", STATUS_DATA, "/dev/full");
    expect_refusal("gen uniform --n 10 -o no/x.npy", STATUS_DATA, "no/x.npy");
    cr_expect(access("x.npy", F_OK) != 0, "a refused gen left a file");
}

static void expect_string(const json_t *object, const char *key, const char *expected)
{
    const char *value = json_string_value(json_object_get(object, key));
    cr_expect(value && strcmp(value, expected) == 0, "%s: %s, expected %s", key,
              value ? value : "no string", expected);
}

Test(gen_sum, sum_of_a_file_and_of_an_input)
{
    struct bytes b = {0};
    add_string(&b, "1\n1e16\n-1e16\n");
    put_file("x.txt", &b);
    clear_bytes(&b);
    for (int kind = 0; kind < 2; kind++) {
        expect_ok(kind ? "sum x.txt --json --reference mpfr" : "sum x.txt --json --reference fast");
        json_t *json = printed_json();
        expect_string(json, "name", "x.txt");
        expect_string(json, "storage", "fp64");
        expect_string(json, "exact", "1");
        expect_string(json, "sum_abs", "20000000000000001");
        json_decref(json);
    }
    expect_ok("sum x.txt --json --storage fp32");
    json_t *json = printed_json();
    expect_string(json, "storage", "fp32");
    json_decref(json);
    expect_ok("gen cond --n 100 --cond 1e10 --seed 3 --storage fp32 -o x.npy");
    expect_ok("sum x.npy --json");
    json_t *file = printed_json();
    expect_ok("sum --input cond --n 100 --cond 1e10 --seed 3 --storage fp32 --json");
    json_t *input = printed_json();
    expect_string(file, "name", "x.npy");
    expect_string(input, "name", "cond");
    json_object_del(file, "name");
    json_object_del(input, "name");
    cr_expect(json_equal(file, input), "the file and the input differ");
    json_decref(file);
    json_decref(input);
    expect_ok("sum x.npy --storage bf16 --convert --json");
    json = printed_json();
    expect_string(json, "name", "x.npy:from=fp32");
    expect_string(json, "storage", "bf16");
    json_decref(json);
}

Test(gen_sum, sum_of_tensors)
{
    static const char header[] = "{\"a\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]},"
                                 "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}";
    struct bytes b = {0};
    add_number(&b, strlen(header), 8);
    add_string(&b, header);
    add_number(&b, 0x3c003c00, 4);
    add_number(&b, 0xc0400000, 4);
    put_file("m.safetensors", &b);
    clear_bytes(&b);
    expect_ok("sum m.safetensors --json");
    json_t *json = printed_json();
    cr_expect(json_array_size(json) == 2);
    expect_string(json_array_get(json, 0), "exact", "2");
    expect_string(json_array_get(json, 1), "exact", "-3");
    json_decref(json);
    expect_ok("sum m.safetensors#b --json");
    json = printed_json();
    expect_string(json, "exact", "-3");
    json_decref(json);
}

/* The text says what the JSON says. */
Test(gen_sum, sum_as_text)
{
    static const char *const expected[] = {
        "x.txt: 4 elements of fp64",
        "exact sum 2 0x1p+1",
        "smallest |x| 1 0x1p+0",
        "largest |x| 1e+100 0x1.249ad2594c37dp+332",
        "condition 1e+100 2^332.19",
        "0 zeros, 0 subnormals, 0 infs, 0 nans",
        "fp16 nan nan nan nan nan - - overflow",
        "fp64 0 0x0p+0 2 1 4.504e+15 6.661e+84 3.002e-85 ok",
    };
    struct bytes b = {0};
    add_string(&b, "1\n1e100\n1\n-1e100\n");
    put_file("x.txt", &b);
    clear_bytes(&b);
    expect_ok("sum x.txt");
    char text[4096] = "", squeezed[4096];
    FILE *file = fopen("printed", "r");
    cr_assert(file && fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    char *to = squeezed;
    for (const char *at = text; *at; at++)
        if (*at != ' ' || at[1] != ' ')
            *to++ = *at;
    *to = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        cr_expect(strstr(squeezed, expected[i]), "no '%s' in:\n%s", expected[i], text);
}

Test(gen_sum, sum_refuses)
{
    struct bytes b = {0};
    add_string(&b, "1\n");
    put_file("x.txt", &b);
    clear_bytes(&b);
    expect_refusal("sum", STATUS_USAGE, "neither FILE nor --input");
    expect_refusal("sum x.txt --input ones --n 3", STATUS_USAGE, "both FILE and --input");
    expect_refusal("sum x.txt --n 3", STATUS_USAGE, "--n");
    expect_refusal("sum x.txt --seed 3", STATUS_USAGE, "--seed");
    expect_refusal("sum --input ones", STATUS_USAGE, "--n");
    expect_refusal("sum --input ones --n 3 --convert", STATUS_USAGE, "--convert");
    expect_refusal("sum x.txt --reference exact", STATUS_USAGE, "exact");
    expect_refusal("sum x.txt --storage fp8", STATUS_USAGE, "fp8");
    expect_refusal("sum missing.npy", STATUS_DATA, "missing.npy");
    expect_refusal("sum --input ones --n 2^50", STATUS_MEMORY, "out of memory");
    expect_ok("gen ones --n 3 --storage fp32 -o x.npy");
    expect_refusal("sum x.npy --storage fp64", STATUS_USAGE, "--convert");
}
