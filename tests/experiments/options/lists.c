/* Lists of an option: where they split, and where a comma belongs to an item. */
#include <jansson.h>

#include "experiments/options/options.h"
#include "tests/support/files.h"
#include "tests/support/program.h"

enum { WORDS = 8 };
typedef const char *const words_of[WORDS];

static size_t count_of(words_of words)
{
    size_t count = 0;
    while (count < WORDS && words[count])
        count++;
    return count;
}

/* What --OPTION makes of values, each given by its own --OPTION. */
static void expect_list(const char *option, words_of value, words_of due)
{
    const char *argv[2 + 2 * WORDS] = {"ulpscope", "run"};
    char name[32];
    int argc = 2;
    struct arguments a;
    struct list list;
    struct problem p = {0};
    snprintf(name, sizeof name, "--%s", option);
    for (size_t i = 0; i < count_of(value); i++) {
        argv[argc++] = name;
        argv[argc++] = value[i];
    }
    cr_assert_eq(arguments_parse(&a, argc, (char **)argv, &p), STATUS_OK, "%s", p.text);
    cr_assert_eq(argument_list(&a, option, &list, &p), STATUS_OK);
    cr_expect_eq(list.count, count_of(due), "%s: %zu items", value[0], list.count);
    for (size_t i = 0; i < list.count && i < count_of(due); i++)
        cr_expect_str_eq(list.item[i], due[i], "%s", value[0]);
    list_free(&list);
}

Test(lists, commas_of_commands)
{
    static const struct {
        words_of value, due;
    } list[] = {
        {{"exec:python3 X,sum/tiled"}, {"exec:python3 X", "sum/tiled"}},
        {{"sum/serial,exec:awk -F, x,exec:y z"}, {"sum/serial", "exec:awk -F, x", "exec:y z"}},
        {{"exec:a,./mine.so:lanes,b"}, {"exec:a", "./mine.so:lanes", "b"}},
        {{"exec:a b,c d"}, {"exec:a b,c d"}},
        {{"exec:x a\\,sum/tiled,sum/serial"}, {"exec:x a,sum/tiled", "sum/serial"}},
        {{"exec:x a,sum/tiled", "sum/serial,sum/tiled"},
         {"exec:x a,sum/tiled", "sum/serial", "sum/tiled"}},
        {{"exec:x", "exec:x a\\,b"}, {"exec:x", "exec:x a,b"}},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        expect_list("method", list[i].value, list[i].due);
}

Test(lists, commas_of_files, .init = make_folder, .fini = remove_folder)
{
    struct bytes b = {0};
    char keys[100];
    add_string(&b, "1\n");
    put_file("c,d.txt", &b);
    put_file("c", &b);
    put_file("m,n.so", &b);
    cr_assert_eq(chdir(folder), 0);
    expect_list("data", (words_of){"c,d.txt"}, (words_of){"c,d.txt"});
    expect_list("data", (words_of){"c,d.txt#t"}, (words_of){"c,d.txt#t"});
    expect_list("data", (words_of){"c,d"}, (words_of){"c", "d"});
    expect_list("data", (words_of){"c\\,d.txt,c"}, (words_of){"c,d.txt", "c"});
    expect_list("data", (words_of){"c,d.txt", "c,e"}, (words_of){"c,d.txt", "c", "e"});
    expect_list("data", (words_of){"c#t,c#u"}, (words_of){"c#t", "c#u"});
    expect_list("method", (words_of){"m,n.so:f"}, (words_of){"m,n.so:f"});
    snprintf(keys, sizeof keys, "file:%s/c,d.txt", folder);
    expect_list("keys", (words_of){keys}, (words_of){keys});
    expect_list("keys", (words_of){"file:x\\,y,one"}, (words_of){"file:x,y", "one"});
    clear_bytes(&b);
}

/* The words of an entry of study.json's axes. */
static void expect_axis(const char *out, const char *axis, words_of due)
{
    char path[64];
    snprintf(path, sizeof path, "%s/study.json", out);
    json_t *study = json_load_file(in_folder(path), 0, NULL);
    json_t *words = json_object_get(json_object_get(study, "axes"), axis);
    cr_expect_eq(json_array_size(words), count_of(due), "%s: %zu words", axis,
                 json_array_size(words));
    for (size_t i = 0; i < count_of(due); i++)
        cr_expect_str_eq(json_string_value(json_array_get(words, i)), due[i]);
    json_decref(study);
}

/* Commas go through study.json and back, and name the same cases. */
Test(lists, commas_in_a_study, .init = make_folder, .fini = remove_folder)
{
    const char *serve = "exec:" ULPSCOPE_PROGRAM " serve sum/serial --device cpu # a, b";
    char options[1000];
    struct bytes b = {0};
    add_string(&b, "1\n2\n");
    put_file("c,d.txt", &b);
    snprintf(options, sizeof options,
             "accuracy --device cpu --quiet --data c,d.txt --accumulator fp64 --method "
             "'%s,sum/tiled' --out ",
             serve);
    size_t end = strlen(options);
    for (int i = 0; i < 2; i++) { /* once to run it, once to resume it */
        snprintf(options + end, sizeof options - end, "a");
        cr_expect_eq(run_program("run", options), 0);
    }
    cr_expect_eq(run_program("run", "--from a/study.json --quiet --out b"), 0);
    for (int i = 0; i < 2; i++) {
        expect_axis(i ? "b" : "a", "method", (words_of){serve, "sum/tiled"});
        expect_axis(i ? "b" : "a", "data", (words_of){"c,d.txt"});
    }
    cr_expect_eq(run_program("compare", "a b"), 0);
    expect_said("out", "2 cases");
    clear_bytes(&b);
}

/* What --raw reads is read so again by --from, and by whoever resumes. */
Test(lists, raw_in_a_study, .init = make_folder, .fini = remove_folder)
{
    static const char zip[16] = "PK\3\4";
    const char *options =
        "accuracy --device cpu --quiet --method sum/tiled --data x --storage fp32 "
        "--raw --out a";
    struct bytes b = {0};
    add_bytes(&b, zip, sizeof zip);
    put_file("x", &b);
    cr_expect_eq(run_program("run", "accuracy --device cpu --data x --storage fp32"), 3);
    expect_said("err", "x: looks like a zip file");
    cr_expect_eq(run_program("sum", "x --storage fp32"), 3);
    cr_expect_eq(run_program("recommend", "--data x --storage fp32 --device cpu"), 3);
    cr_expect_eq(run_program("sum", "x --storage fp32 --raw"), 0);
    cr_expect_eq(run_program("run", options), 0);
    cr_expect_eq(run_program("run", options), 0);
    cr_expect_eq(run_program("run", "--from a/study.json --quiet --out b"), 0);
    expect_axis("b", "raw", (words_of){"yes"});
    clear_bytes(&b);
}

/* None is done twice; and what an earlier version wrote with repeats is the same study. */
Test(lists, equal_items, .init = make_folder, .fini = remove_folder)
{
    enum { ITEMS = 30000 };
    static char many[8 * ITEMS];
    char *to = many;
    for (int i = 0; i < ITEMS; i++)
        to += sprintf(to, "%s", i ? ",1000" : "1000");
    expect_list("n", (words_of){many}, (words_of){"1000"});
    expect_list("method", (words_of){"sum/tiled,sum/serial,sum/tiled", "sum/serial"},
                (words_of){"sum/tiled", "sum/serial"});
    const char *options = "accuracy --device cpu --quiet --method sum/tiled --input ones --n 10,20 "
                          "--out a";
    cr_expect_eq(run_program("run", options), 0);
    json_t *study = json_load_file(in_folder("a/study.json"), 0, NULL);
    json_t *n = json_object_get(json_object_get(study, "axes"), "n");
    json_array_append_new(n, json_string("10"));
    cr_assert_eq(json_dump_file(study, in_folder("a/study.json"), 0), 0);
    json_decref(study);
    cr_expect_eq(run_program("run", options), 0);
    cr_expect_eq(run_program("run", "--from a/study.json --quiet --out b"), 0);
    expect_axis("b", "n", (words_of){"10", "20"});
}

Test(lists, operands_beyond_the_most)
{
    const char *argv[] = {"ulpscope", "recommend", "more"};
    struct arguments a;
    struct problem p = {0};
    cr_expect_eq(arguments_parse(&a, 3, (char **)argv, &p), STATUS_USAGE);
    cr_expect(strstr(p.text, "unexpected operand 'more'"), "%s", p.text);
}

/* Bytes have units of 1024, other numbers none. */
Test(lists, numbers_of_bytes)
{
    static const uint64_t due[] = {0,    512,  1536, 1 << 25, 1 << 25, UINT64_C(2) << 30,
                                   1024, 2048, 4096};
    static const char *const wrong[] = {"32x",   "k",      "",   "0.3k", "1kk",
                                        "0..4k", "8k..4k", "2t", "-1k"};
    struct numbers n = {0};
    struct problem p = {0};
    const uint64_t most = UINT64_C(1) << 40;
    cr_assert_eq(
        numbers_parse(&n, "workspace", "0,512,1.5k,32m,2^25,2g,1k..4096", RANGE_BYTES, 0, most, &p),
        STATUS_OK, "%s", p.text);
    cr_assert_eq(n.count, sizeof due / sizeof *due);
    for (size_t i = 0; i < n.count; i++)
        cr_expect_eq(n.item[i], due[i], "%zu", i);
    numbers_free(&n);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        p = (struct problem){0};
        cr_expect_eq(numbers_parse(&n, "workspace", wrong[i], RANGE_BYTES, 0, most, &p),
                     STATUS_USAGE, "'%s'", wrong[i]);
        cr_expect(strstr(p.text, "option --workspace: found"), "%s", p.text);
        numbers_free(&n);
    }
    p = (struct problem){0};
    cr_expect_eq(numbers_parse(&n, "workspace", "2048g", RANGE_BYTES, 0, most, &p), STATUS_USAGE);
    cr_expect(strstr(p.text, "found 2048g, expected 0 to 1099511627776"), "%s", p.text);
    p = (struct problem){0};
    cr_expect_eq(numbers_parse(&n, "n", "32m", RANGE_DOUBLING, 0, most, &p), STATUS_USAGE);
    cr_expect(strstr(p.text, "whole number such as 1000"), "%s", p.text);
    numbers_free(&n);
}
