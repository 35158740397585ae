/* What `check` makes of options: formats, numbers, devices, and files of the user's. */
#include "experiments/check/data.h"
#include "tests/support/study.h"

/* The request of these words; it must be one, or refused with what is `said`. */
static struct check_request asked(study_words words, const char *said)
{
    struct check_request r = {0};
    struct request q = {0};
    struct problem p = {0};
    ask(&q, words);
    enum status status = check_asked(&r, &q, &p);
    if (said)
        cr_expect(status != STATUS_OK && strstr(p.text, said), "no '%s' in: %s", said, p.text);
    else
        cr_assert(status == STATUS_OK, "%s", p.text);
    request_free(&q);
    return r;
}

static void expect_refused(study_words words, const char *said)
{
    struct check_request r = asked(words, said);
    check_request_free(&r);
}

/* All pairs where none is named, the most usual first; of these what storage and accumulator
 * leave. */
Test(check_asked, pairs_of_formats)
{
    struct check_request r = asked((study_words){{NULL}}, NULL);
    cr_expect(r.pairs.count > 4 && r.pairs.item[0].storage == FP32 &&
                  r.pairs.item[0].accumulator == FP32 && r.pairs.item[1].storage == FP64,
              "%zu pairs", r.pairs.count);
    check_request_free(&r);
    r = asked((study_words){{"storage", "fp16"}, {"accumulator", "fp32"}, {NULL}}, NULL);
    cr_expect(r.pairs.count == 1 && r.pairs.item[0].storage == FP16 &&
                  r.pairs.item[0].accumulator == FP32,
              "%zu pairs", r.pairs.count);
    check_request_free(&r);
}

/* Of seconds that are given twice the last count; of a seed there is one. */
Test(check_asked, numbers)
{
    struct check_request r = asked(
        (study_words){{"seconds", "3"}, {"seconds", "5"}, {"keep", "0,100"}, {"runs", "2"}, {NULL}},
        NULL);
    cr_expect(r.seconds == 5 && r.runs == 2 && r.seed == 1, "%g s, %llu runs", r.seconds,
              (unsigned long long)r.runs);
    cr_expect(r.setting.keep.count == 2 && r.setting.keep.item[0] == 0 &&
              r.setting.keep.item[1] == 100);
    check_request_free(&r);
    r = asked((study_words){{NULL}}, NULL);
    cr_expect(r.seconds == 10 && r.runs == CHECK_RUNS);
    check_request_free(&r);
    expect_refused((study_words){{"seed", "1,2"}, {NULL}}, "--seed: found 2 numbers, expected one");
    expect_refused((study_words){{"keep", "101"}, {NULL}}, "--keep: found 101");
    expect_refused((study_words){{"runs", "1"}, {NULL}}, "--runs: found 1");
}

Test(check_asked, words)
{
    struct check_request r =
        asked((study_words){{"load", "busy"}, {"scan", "exclusive"}, {NULL}}, NULL);
    cr_expect(r.load[LOAD_BUSY] && !r.load[LOAD_IDLE]);
    cr_expect(r.scan[SCAN_EXCLUSIVE] && !r.scan[SCAN_INCLUSIVE]);
    check_request_free(&r);
    expect_refused((study_words){{"load", "some"}, {NULL}}, "found 'some', expected idle or busy");
    expect_refused((study_words){{"scan", "some"}, {NULL}},
                   "found 'some', expected inclusive or exclusive");
}

int __wrap_gpu_count(bool elsewhere);
int __wrap_gpu_count(bool elsewhere)
{
    (void)elsewhere;
    return 32;
}

/* On a machine with many GPUs, which is played here. */
Test(check_asked, devices_are_each_named_once)
{
    struct device device[CHECK_DEVICES];
    struct request q = {0};
    struct problem p = {0};
    size_t count;
    ask(&q, (study_words){{"device", "cuda:1,cpu,cuda:0,cuda:1,cpu"}, {NULL}});
    cr_assert(check_devices(device, &count, &q, &p) == STATUS_OK, "%s", p.text);
    cr_expect(count == 3 && device[0].index == 1 && device[1].kind == DEVICE_CPU &&
                  device[2].kind == DEVICE_CUDA && device[2].index == 0,
              "%zu devices", count);
    request_free(&q);
    q = (struct request){0};
    for (int i = 0; i <= CHECK_DEVICES; i++) {
        char name[16];
        snprintf(name, sizeof name, "cuda:%d", i);
        ask(&q, (study_words){{"device", name}, {NULL}});
    }
    cr_expect(check_devices(device, &count, &q, &p) == STATUS_USAGE);
    cr_expect(strstr(p.text, "option --device: found more than 16"), "%s", p.text);
    request_free(&q);
}

/* --- files --- */

static void put_text(const char *name, const char *text)
{
    struct bytes b = {0};
    add_string(&b, text);
    put_file(name, &b);
    clear_bytes(&b);
}

static void put_numbers(const char *name, size_t n)
{
    double x[] = {1, 2, 3};
    struct problem p = {0};
    cr_assert(data_write_npy(in_folder(name), &(struct array){FP64, n, x}, &p) == STATUS_OK, "%s",
              p.text);
}

/* Each file in each format, and the name with the comma as the option takes it. */
Test(check_asked, files_in_every_format, .init = make_folder, .fini = remove_folder)
{
    char paths[400], name[200];
    put_text("a,b.txt", "1\n2\n3\n");
    put_text("c.txt", "4\n5\n");
    snprintf(name, sizeof name, "%s/a\\,b.txt", folder);
    snprintf(paths, sizeof paths, "%s,%s/c.txt", name, folder);
    struct check_request r =
        asked((study_words){{"data", paths}, {"storage", "fp16,fp32"}, {NULL}}, NULL);
    cr_assert(r.datas == 4, "%zu arrays", r.datas);
    for (size_t i = 0; i < 4; i++) {
        cr_expect(r.data[i].array.format == (i % 2 ? FP32 : FP16), "%zu", i);
        cr_expect(r.data[i].array.n == (i < 2 ? 3 : 2), "%zu", i);
    }
    cr_expect_str_eq(r.data[0].asked, name);
    check_request_free(&r);
}

/* The same request for sums, which read each file by itself. */
static void expect_sums_refused(study_words words, const char *said)
{
    struct check_request all = asked(words, NULL), sums = all;
    struct check_joined joined;
    struct problem p = {0};
    enum status status = check_join_files(&sums, &joined, &operation_sum, &p);
    if (said)
        cr_expect(status == STATUS_USAGE && strstr(p.text, said), "no '%s' in: %s", said, p.text);
    else
        cr_expect(status == STATUS_OK, "%s", p.text);
    check_joined_free(&joined);
    check_request_free(&all);
}

/* A length that no file has is refused: left out, it would not be missed. */
Test(check_asked, lengths_that_files_have, .init = make_folder, .fini = remove_folder)
{
    char paths[400], one[400];
    put_text("three.txt", "1\n2\n3\n");
    put_text("two.txt", "4\n5\n");
    snprintf(paths, sizeof paths, "%s/two.txt,%s/three.txt", folder, folder);
    snprintf(one, sizeof one, "%s/three.txt", folder);
    expect_refused((study_words){{"data", one}, {"storage", "fp32,fp64"}, {"n", "1,4"}, {NULL}},
                   "option --n: found 4, but three.txt has 3 elements");
    expect_sums_refused((study_words){{"data", paths}, {"storage", "fp32"}, {"n", "1,3"}, {NULL}},
                        NULL);
    expect_sums_refused((study_words){{"data", paths}, {"storage", "fp32"}, {"n", "1,4"}, {NULL}},
                        "option --n: found 4, but three.txt has 3 elements");
    expect_sums_refused(
        (study_words){
            {"data", paths}, {"storage", "fp32"}, {"input", "ones"}, {"n", "1,4"}, {NULL}},
        NULL);
}

/* Converted where that is asked for; an array of no elements is none to check on. */
Test(check_asked, files_that_are_converted_or_empty, .init = make_folder, .fini = remove_folder)
{
    char paths[400];
    put_numbers("some.npy", 3);
    put_numbers("none.npy", 0);
    snprintf(paths, sizeof paths, "%s/some.npy,%s/none.npy", folder, folder);
    struct check_request r = asked((study_words){{"data", paths}, {NULL}}, NULL);
    cr_assert(r.datas == 1, "%zu arrays", r.datas);
    cr_expect(r.data[0].array.n == 3 && !r.data[0].converted);
    check_request_free(&r);
    r = asked((study_words){{"data", paths}, {"storage", "fp32"}, {"convert", "yes"}, {NULL}},
              NULL);
    cr_assert(r.datas == 1, "%zu arrays", r.datas);
    cr_expect(r.data[0].array.format == FP32 && r.data[0].converted);
    check_request_free(&r);
    snprintf(paths, sizeof paths, "%s/none.npy", folder);
    expect_refused((study_words){{"data", paths}, {NULL}}, "none.npy: found no elements");
    expect_refused((study_words){{"convert", "yes"}, {NULL}}, "expected it with --data");
    expect_refused((study_words){{"saturate", "yes"}, {NULL}},
                   "found --saturate, expected it with --data");
}
