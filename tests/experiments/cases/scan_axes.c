/* The axes of scans: which cases they make, and where they are refused. */
#include "experiments/inputs/heads.h"
#include "tests/support/study.h"

static const struct experiment prefixes = {
    .name = "prefixes",
    .operation = {&operation_scan},
    .axes =
        {
            [DEVICE_CPU] =
                {.formats = "fp16/fp32,fp32/fp32", .input = "ones", .n = "10", .runs = 1},
            [DEVICE_CUDA] = {.runs = 1},
        },
};

static enum status resolve(struct study *s, const struct experiment *e, study_words words)
{
    *s = (struct study){0};
    ask(&s->request, words);
    ask(&s->request, (study_words){{"device", "cpu"}, {NULL}});
    enum status status = axes_resolve(&s->axes, e, &s->request, &s->problem);
    return status == STATUS_OK ? plan_make(&s->plan, &s->axes, &s->problem) : status;
}

static void make(struct study *s, study_words words)
{
    cr_assert_eq(resolve(s, &prefixes, words), STATUS_OK, "%s", s->problem.text);
}

static size_t cases_with(const struct study *s, const char *method, bool exclusive,
                         enum format output, size_t segment)
{
    size_t count = 0;
    for (size_t i = 0; i < s->plan.case_count; i++) {
        const struct study_case *t = &s->plan.cases[i];
        count += strcmp(t->method->name, method) == 0 && t->setting.exclusive == exclusive &&
                 t->setting.output == output && t->setting.segment == segment;
    }
    return count;
}

/* What outputs cover, twice; their format, twice where it differs; segments where they are heeded.
 */
Test(scan_axes, a_case_for_each_combination)
{
    struct study s;
    make(&s, (study_words){{"method", "scan/tiled,scan/segmented"},
                           {"scan", "exclusive,exclusive,inclusive"},
                           {"output", "storage,accumulator"},
                           {"segment", "0,4..8"},
                           {NULL}});
    cr_expect_eq(s.plan.case_count, 2 * (2 + 1) * (1 + 3), "%zu cases", s.plan.case_count);
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        cr_expect_eq(cases_with(&s, "scan/tiled", exclusive, FP16, 0), 1, "fp16 added in fp32");
        cr_expect_eq(cases_with(&s, "scan/tiled", exclusive, FP32, 0), 2, "and fp32 in itself");
        for (size_t segment = 0; segment <= 8; segment = segment ? 2 * segment : 4) {
            cr_expect_eq(cases_with(&s, "scan/segmented", exclusive, FP16, segment), 1);
            cr_expect_eq(cases_with(&s, "scan/segmented", exclusive, FP32, segment), 2,
                         "segments of %zu", segment);
        }
    }
    cr_expect(s.plan.cases[0].setting.exclusive, "the first asked for comes first");
    study_free(&s);
}

/* Inclusive, in the accumulator's format, segments of 1000; and every scan there is. */
Test(scan_axes, defaults)
{
    struct study s;
    make(&s, (study_words){{"storage", "fp16"}, {NULL}});
    cr_assert_gt(s.plan.case_count, 5);
    for (size_t i = 0; i < s.plan.case_count; i++) {
        const struct study_case *t = &s.plan.cases[i];
        cr_expect(t->method->operation == &operation_scan && !t->setting.exclusive &&
                      t->setting.output == FP32 &&
                      t->setting.segment == (t->method->segmented ? 1000 : 0),
                  "%s", t->method->name);
    }
    study_free(&s);
    struct experiment narrow = prefixes;
    narrow.output = "storage";
    cr_assert_eq(resolve(&s, &narrow, (study_words){{"storage", "fp16"}, {NULL}}), STATUS_OK);
    cr_expect_eq(s.plan.cases[0].setting.output, FP16, "what the experiment says");
    study_free(&s);
}

/* Ids are the same on every machine, in every build: these were computed apart. */
Test(scan_axes, a_case_has_its_id)
{
    const struct {
        const char *method, *scan, *output, *segment, *id;
    } cases[] = {{"scan/tiled", "inclusive", "accumulator", "1000", "da67476a2403fc36"},
                 {"scan/segmented", "exclusive", "storage", "37", "7a1873c849f59a19"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct study s;
        char id[CASE_ID_TEXT];
        make(&s, (study_words){{"method", cases[i].method},
                               {"scan", cases[i].scan},
                               {"output", cases[i].output},
                               {"segment", cases[i].segment},
                               {"storage", "fp16"},
                               {"seed", "42"},
                               {NULL}});
        cr_assert_eq(s.plan.case_count, 1);
        case_id_text(id, s.plan.cases[0].id);
        cr_expect_str_eq(id, cases[i].id, "%s: %s", cases[i].method, id);
        study_free(&s);
    }
}

/* What study.json says makes the same cases again; options go before it. */
Test(scan_axes, repeated_from_a_study)
{
    struct study s, again = {0};
    make(&s, (study_words){{"method", "scan/segmented"},
                           {"scan", "exclusive"},
                           {"output", "storage,accumulator"},
                           {"segment", "3,5"},
                           {NULL}});
    json_t *axes = axes_json(&s.axes), *scan = json_object_get(axes, "scan");
    cr_expect(json_array_size(scan) == 1 &&
              strcmp(json_string_value(json_array_get(scan, 0)), "exclusive") == 0);
    cr_assert_eq(request_repeat(&again.request, &prefixes, axes, "study.json", &again.problem),
                 STATUS_OK, "%s", again.problem.text);
    cr_assert_eq(axes_resolve(&again.axes, &prefixes, &again.request, &again.problem), STATUS_OK,
                 "%s", again.problem.text);
    cr_assert_eq(plan_make(&again.plan, &again.axes, &again.problem), STATUS_OK);
    json_t *theirs = axes_json(&again.axes);
    cr_expect(json_equal(axes, theirs));
    cr_assert_eq(s.plan.case_count, again.plan.case_count);
    for (size_t i = 0; i < s.plan.case_count; i++)
        cr_expect_eq(s.plan.cases[i].id, again.plan.cases[i].id, "case %zu", i);
    study_free(&again);
    again = (struct study){0};
    ask(&again.request, (study_words){{"segment", "7"}, {NULL}});
    cr_assert_eq(request_repeat(&again.request, &prefixes, axes, "study.json", &again.problem),
                 STATUS_OK);
    cr_expect_eq(again.request.axis[AXIS_SEGMENT].count, 1);
    cr_expect_str_eq(again.request.axis[AXIS_SEGMENT].item[0], "7");
    request_free(&again.request);
    json_object_del(axes, "output");
    again.request = (struct request){0};
    cr_expect_eq(request_repeat(&again.request, &prefixes, axes, "study.json", &again.problem),
                 STATUS_DATA, "an axis is missing");
    cr_expect(strstr(again.problem.text, "'output'"), "%s", again.problem.text);
    request_free(&again.request);
    json_decref(axes);
    json_decref(theirs);
    study_free(&s);
}

/* A study of sums says nothing of scans, as before there were any, and needs not to be repeated. */
Test(scan_axes, sums_have_none)
{
    struct study s, again = {0};
    study_make(&s, "accuracy", (study_words){{"device", "cpu"}, {"n", "10"}, {NULL}});
    json_t *axes = axes_json(&s.axes);
    cr_expect(!json_object_get(axes, "scan") && !json_object_get(axes, "output") &&
              !json_object_get(axes, "segment"));
    cr_expect_eq(request_repeat(&again.request, experiment_of("accuracy"), axes, "study.json",
                                &again.problem),
                 STATUS_OK, "%s", again.problem.text);
    for (size_t i = 0; i < s.plan.case_count; i++)
        cr_expect(!s.plan.cases[i].setting.exclusive && s.plan.cases[i].setting.segment == 0 &&
                      s.plan.cases[i].setting.output == s.plan.cases[i].accumulator,
                  "case %zu", i);
    request_free(&again.request);
    json_decref(axes);
    study_free(&s);
}

Test(scan_axes, words_that_are_refused)
{
    const struct experiment *sums = experiment_of("variance");
    const struct {
        const struct experiment *experiment;
        const char *axis, *word, *said[2];
    } words[] = {
        {sums, "scan", "exclusive", {"option --scan: found 'exclusive' with variance", "expected"}},
        {sums, "output", "storage", {"option --output: found 'storage'", "expected"}},
        {sums, "segment", "10", {"option --segment: found '10'", "expected"}},
        {sums,
         "method",
         "scan/tiled",
         {"found scan/tiled, a scan", "one of sum/..., cub/..., thrust/..., cublas/..."}},
        {&prefixes, "method", "sum/tiled", {"found sum/tiled, a sum", "one of scan/..."}},
        {&prefixes,
         "method",
         "sum/tiled",
         {"(see run accuracy, variance", "prefixes takes a scan"}},
        {&prefixes, "method", "scan/none", {"found 'scan/none'", "scan/serial"}},
        {&prefixes, "scan", "prefix", {"option --scan: found 'prefix'", "inclusive or exclusive"}},
        {&prefixes, "output", "fp16", {"option --output: found 'fp16'", "accumulator or storage"}},
        {&prefixes, "segment", "-1", {"option --segment", "whole number"}},
        {&prefixes, "segment", "2^61", {"option --segment", "expected 0 to"}}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct study s;
        enum status status =
            resolve(&s, words[i].experiment, (study_words){{words[i].axis, words[i].word}, {NULL}});
        cr_expect(status == STATUS_USAGE && strstr(s.problem.text, words[i].said[0]) &&
                      strstr(s.problem.text, words[i].said[1]),
                  "--%s %s: status %d: %s", words[i].axis, words[i].word, (int)status,
                  s.problem.text);
        cr_expect_null(strstr(s.problem.text, "sum/serial, scan"), "%s", s.problem.text);
        study_free(&s);
    }
}

Test(scan_axes, heads)
{
    static const size_t n[] = {0, 1, 2, 7, 8, 9, 1000}, segment[] = {0, 1, 2, 3, 8, 999, SIZE_MAX};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (size_t k = 0; k < sizeof segment / sizeof *segment; k++) {
            uint8_t *heads = (uint8_t *)"";
            cr_assert_eq(heads_make(&heads, n[i], segment[k], NULL), STATUS_OK);
            cr_expect_eq(heads == NULL, n[i] == 0 || segment[k] == 0, "n=%zu, %zu", n[i],
                         segment[k]);
            for (size_t at = 0; heads && at < n[i]; at++)
                cr_expect_eq(heads[at], at % segment[k] == 0, "n=%zu, %zu: flag %zu", n[i],
                             segment[k], at);
            free(heads);
        }
}
