/* The parts of `check` that judge: results compared, rungs summed up, cases gone through, breaks
 * made small; each called by itself on what is made by hand. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "experiments/check/report.h"
#include "experiments/options/options.h"
#include "tests/support/check_made.h"

/* --- rungs --- */

static struct check_report two_rungs(void)
{
    struct check_report r = {
        .request = {.method = method_named("sum/serial"), .promise = PROMISE_GPU_TO_GPU}};
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r.request.tried[kind] = true;
    r.tried[CHECK_REPEAT] = (struct check_tried){.attempts = 50, .distinct = 2, .counts = "49 1"};
    r.tried[CHECK_PROCESS] = (struct check_tried){.attempts = 9, .distinct = 3, .counts = "7 1 1"};
    r.tried[CHECK_OFFSET].attempts = CHECK_LEAST;
    return r;
}

/* One case is enough to break a rung and those above; the rung itself needs no other reason. */
Test(check_parts, one_broken_case_breaks_a_rung)
{
    struct check_report r = two_rungs();
    cr_expect(check_rung(&r, PROMISE_RUN_TO_RUN).state == CHECK_KEPT);
    cr_expect(check_rung(&r, PROMISE_GPU_TO_GPU).state == CHECK_KEPT && !check_broken(&r));
    cr_expect(check_kept(&r) == PROMISE_GPU_TO_GPU);
    r.tried[CHECK_OFFSET].broken = r.tried[CHECK_OFFSET].differing = 1;
    struct check_rung is = check_rung(&r, PROMISE_GPU_TO_GPU);
    cr_expect(is.state == CHECK_BROKEN && check_broken(&r));
    cr_expect_str_eq(is.reason, "");
    is = check_rung(&r, PROMISE_ORDER_INVARIANT);
    cr_expect(is.state == CHECK_BROKEN);
    cr_expect_str_eq(is.reason, "gpu_to_gpu is broken");
    cr_expect(check_rung(&r, PROMISE_RUN_TO_RUN).state == CHECK_KEPT);
    cr_expect(check_kept(&r) == PROMISE_RUN_TO_RUN);
}

Test(check_parts, a_rung_needs_ten_attempts)
{
    struct check_report r = two_rungs();
    r.tried[CHECK_OFFSET].attempts = CHECK_LEAST - 1;
    struct check_rung is = check_rung(&r, PROMISE_GPU_TO_GPU);
    cr_expect(is.state == CHECK_NOT_TRIED && check_kept(&r) == PROMISE_RUN_TO_RUN);
    cr_expect_str_eq(is.reason, "9 attempts, 10 are needed: more --seconds");
}

/* Attempts are added up, the results are those of the kind with most of them. */
Test(check_parts, a_rung_sums_up_its_kinds)
{
    struct check_report r = two_rungs();
    struct check_rung is = check_rung(&r, PROMISE_RUN_TO_RUN);
    cr_expect(is.attempts == 59 && is.distinct == 3);
    cr_expect_str_eq(is.counts, "7 1 1");
    cr_expect(fabs(pow(1 - is.unseen_p95, 59) - 0.05) < 1e-12, "%g", is.unseen_p95);
    r.tried[CHECK_LOAD] = (struct check_tried){.attempts = 1, .distinct = 2, .counts = "1 1"};
    cr_expect_str_eq(check_rung(&r, PROMISE_RUN_TO_RUN).counts, "7 1 1");
}

/* The rung that the subject failed in has failed, none below; none above is kept. */
Test(check_parts, a_failure_fails_one_rung)
{
    struct check_report r = two_rungs();
    r.failed = CHECK_NEIGHBOUR;
    r.failure = (struct problem){.status = STATUS_DATA, .text = "it ended"};
    r.tried[CHECK_EXACT].attempts = 100;
    cr_expect(check_rung(&r, PROMISE_RUN_TO_RUN).state == CHECK_KEPT);
    struct check_rung is = check_rung(&r, PROMISE_GPU_TO_GPU);
    cr_expect(is.state == CHECK_FAILED);
    cr_expect_str_eq(is.reason, "it ended");
    cr_expect(check_rung(&r, PROMISE_ORDER_INVARIANT).state == CHECK_NOT_TRIED);
    cr_expect(check_kept(&r) == PROMISE_RUN_TO_RUN);
}

/* Each reason once, where kinds that follow each other have the same. */
Test(check_parts, reasons_are_told_once)
{
    struct check_report r = {0};
    strcpy(r.tried[CHECK_SHAPE].untried, "it reads none");
    strcpy(r.tried[CHECK_OFFSET].untried, "time ran out");
    strcpy(r.tried[CHECK_NEIGHBOUR].untried, "time ran out");
    strcpy(r.tried[CHECK_EXACT].untried, "another rung's");
    cr_expect_str_eq(check_rung(&r, PROMISE_GPU_TO_GPU).reason, "it reads none; time ran out");
}

/* --- what is written of a report --- */

Test(check_parts, json_and_csv_say_what_is_known)
{
    struct check_report r = two_rungs();
    r.tried[CHECK_OFFSET] = (struct check_tried){
        .attempts = 12,
        .differing = 3,
        .broken = 1,
        .witness = {.at = {.pair = {FP32, FP32}, .setting.output = FP32, .n = 5},
                    .bits = {0x3f800000, 0x3f800001},
                    .is = {"here", "there"}}};
    input_parse(&r.tried[CHECK_OFFSET].witness.at.input, "ones", NULL);
    r.kept = PROMISE_RUN_TO_RUN;
    for (size_t partly = 0; partly < 2; partly++) {
        r.request.tried[CHECK_EXACT] = !partly;
        json_t *all = check_json(&r, "check");
        json_t *rungs = json_object_get(all, "rungs"), *kept = json_object_get(all, "kept");
        cr_expect(partly ? json_is_null(kept) : strcmp(json_string_value(kept), "run_to_run") == 0);
        for (size_t i = 0; i < json_array_size(rungs); i++) {
            json_t *unseen = json_object_get(json_array_get(rungs, i), "unseen_p95");
            cr_expect(i == 0 ? json_is_real(unseen) : json_is_null(unseen), "rung %zu", i);
        }
        json_decref(all);
    }
    struct text rows = {0};
    check_rows(&rows, &r, "check");
    cr_expect(strstr(text_string(&rows), ",0x3f800000,here,0x3f800001,there,"), "%s",
              text_string(&rows));
    text_free(&rows);
    r.tried[CHECK_OFFSET].broken = 0;
    r.tried[CHECK_OFFSET].attempts = 3; /* too few to know */
    json_t *all = check_json(&r, "check");
    json_t *rung = json_array_get(json_object_get(all, "rungs"), 1);
    cr_expect(json_is_null(json_object_get(rung, "unseen_p95")));
    json_decref(all);
    r.tried[CHECK_OFFSET].attempts = 59; /* chosen, not drawn: no share is known */
    all = check_json(&r, "check");
    rung = json_array_get(json_object_get(all, "rungs"), 1);
    cr_expect_str_eq(json_string_value(json_object_get(rung, "verdict")), "kept");
    cr_expect(json_is_null(json_object_get(rung, "unseen_p95")));
    json_decref(all);
}

/* A promise is named in a command where the subject does not make it. */
Test(check_parts, a_command_names_a_promise_beyond_the_subjects)
{
    struct check_report r = two_rungs();
    struct method m = claims("sum/serial", PROMISE_GPU_TO_GPU);
    static const enum check_kind kinds[] = {CHECK_REPEAT, CHECK_OFFSET, CHECK_PERMUTATION};
    r.request.method = &m;
    for (size_t i = 0; i < 3; i++) {
        input_parse(&r.tried[kinds[i]].witness.at.input, "ones", NULL);
        char *command = check_command(&r, kinds[i], "check");
        cr_expect((strstr(command, " --promise order_invariant") != NULL) == (i == 2), "%s",
                  command);
        cr_expect((strstr(command, " --promise ") != NULL) == (i == 2), "%s", command);
        free(command);
    }
}

/* --- results compared --- */

static void take(const struct check *c, struct check_outcome *o, double value, const char *is)
{
    struct array out;
    struct problem p = {0};
    cr_assert(memory_array(&out, FP32, 1, "a test", &p) == STATUS_OK);
    array_encode(&out, 0, 1, &value);
    cr_assert(check_take(c, o, &out, 0, &p, "%s", is) == STATUS_OK, "%s", p.text);
}

/* Each is compared with the first, whatever came between; the first that differs is kept. */
Test(check_parts, results_are_compared_with_the_first)
{
    struct check_request r = request_for(method_named("sum/serial"), 1);
    struct check c;
    struct check_outcome o = {0};
    make_check(&c, &r, 10);
    take(&c, &o, 1, "one");
    cr_expect(o.attempts == 0 && o.differing == 0);
    take(&c, &o, 2, "two");
    take(&c, &o, 1, "one again");
    take(&c, &o, 3, "three");
    cr_expect(o.attempts == 3 && o.differing == 2, "%llu of %llu", (unsigned long long)o.differing,
              (unsigned long long)o.attempts);
    cr_expect_str_eq(o.found.is[0], "one");
    cr_expect_str_eq(o.found.is[1], "two");
    cr_expect(o.found.bits[0] == 0x3f800000 && o.found.bits[1] == 0x40000000);
    check_outcome_free(&o);
    free_check(&c);
}

/* The same again is no attempt, but where it differs. */
Test(check_parts, the_same_again_is_no_attempt)
{
    struct check_request r = request_for(method_named("sum/serial"), 1);
    struct check_over over = {0};
    struct check_evidence e = {0};
    struct check c;
    struct check_outcome o = {0};
    static const struct {
        uint64_t key, attempts;
        double value;
    } taken[] = {{5, 0, 1}, {5, 0, 1}, {6, 1, 1}, {6, 1, 1}, {6, 2, 2}, {7, 3, 1}};
    make_check(&c, &r, 10);
    check_evidence_begin(&e, &over, NULL, true);
    c.evidence = &e;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        e.key = taken[i].key;
        take(&c, &o, taken[i].value, "a result");
        cr_expect(o.attempts == taken[i].attempts, "%zu", i);
    }
    cr_expect(o.differing == 1);
    check_evidence_free(&e);
    check_outcome_free(&o);
    free_check(&c);
}

/* Of arrays the first output that differs, from a place on. */
Test(check_parts, outputs_are_compared_from_a_place_on)
{
    static const double outputs[][4] = {{1, 2, 3, 4}, {9, 2, 3, 4}, {9, 2, 8, 7}};
    struct check_request r = request_for(method_named("scan/serial"), 1);
    struct check c;
    struct check_outcome o = {0};
    struct problem p = {0};
    make_check(&c, &r, 4);
    for (size_t i = 0; i < 3; i++) {
        struct array out;
        cr_assert(memory_array(&out, FP32, 4, "a test", &p) == STATUS_OK);
        array_encode(&out, 0, 4, outputs[i]);
        cr_assert(check_take(&c, &o, &out, 1, &p, "%zu", i) == STATUS_OK, "%s", p.text);
        cr_expect(o.attempts == i && o.differing == (i == 2));
    }
    cr_expect(o.found.index == 2 && o.found.bits[0] == 0x40400000 && o.found.bits[1] == 0x41000000);
    check_outcome_free(&o);
    free_check(&c);
}

/* What is joined brings its words where it alone differs, and its results where they are more. */
Test(check_parts, joined_outcomes_keep_what_was_found)
{
    struct check_outcome o = {.attempts = 3, .found = {.is = {"first"}}},
                         same = {.attempts = 2, .found = {.is = {"another first"}}},
                         other = {.attempts = 5, .differing = 2, .found = {.is = {"other"}}},
                         late = {.attempts = 1, .differing = 1, .found = {.is = {"late"}}};
    for (uint64_t i = 0; i < 3; i++)
        tally_add(&other.tally, (struct hash128){{i, 0}});
    tally_add(&late.tally, (struct hash128){{7, 0}});
    check_join(&o, &same);
    cr_expect_str_eq(o.found.is[0], "first");
    check_join(&o, &other);
    cr_expect_str_eq(o.found.is[0], "other");
    check_join(&o, &late);
    cr_expect_str_eq(o.found.is[0], "other");
    cr_expect(o.attempts == 11 && o.differing == 3 && o.other.count == 3);
    check_outcome_free(&o);
    check_outcome_free(&other);
    check_outcome_free(&late);
}

/* --- a break made small --- */

static size_t shows_each; /* in every so manieth try */

static enum status shows_at_times(struct check *c, struct check_outcome *o, struct problem *p)
{
    static size_t tries;
    (void)p;
    o->attempts = 1;
    o->differing = ++tries % shows_each == 0 || c->at.n >= 30;
    o->found.at = c->at;
    return STATUS_OK;
}

/* The least n at which it shows itself every time it is tried: twice, or, where it hangs on
 * timing, five times. */
Test(check_parts, a_break_is_made_small_where_it_shows_every_time)
{
    struct check_request r = request_for(method_named("sum/serial"), 1);
    struct check c;
    make_check(&c, &r, 10);
    input_parse(&c.at.input, "ones", NULL);
    for (shows_each = 1; shows_each <= 2; shows_each++)
        for (size_t timing = 0; timing < 2; timing++) {
            struct check_break b = {.at = c.at};
            struct problem p = {0};
            b.at.n = 1000;
            cr_assert(check_shrink(&c, timing, shows_at_times, UINT64_MAX, &b, &p) == STATUS_OK);
            cr_expect(shows_each == 1 ? b.at.n == 2 : b.at.n >= 30 && b.at.n < 40, "n = %zu",
                      b.at.n);
        }
    free_check(&c);
}

/* --- exact values rounded once --- */

static void expect_rounded(enum format f, double units, double beyond, double due)
{
    const struct format_facts *facts = &format_facts[f];
    double least = ldexp(1, facts->emin - facts->precision + 1);
    mpfr_t x;
    mpfr_init2(x, CHECK_EXACT_BITS);
    mpfr_set_d(x, units, MPFR_RNDN);
    mpfr_add_d(x, x, beyond, MPFR_RNDN);
    mpfr_mul_d(x, x, least, MPFR_RNDN);
    double is = check_rounded_once(x, f) / least;
    cr_expect(is == due, "%s: %g + %g of the least: %g", facts->name, units, beyond, is);
    mpfr_clear(x);
}

/* Among subnormals, of which the least is the unit: to the nearest, ties to even, and once. */
Test(check_parts, subnormals_are_rounded_once)
{
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        expect_rounded(f, 1, 0, 1);
        expect_rounded(f, 3, 0, 3);
        expect_rounded(f, 0.5, 0, 0);
        expect_rounded(f, 0.75, 0, 1);
        expect_rounded(f, 1.5, 0, 2);
        expect_rounded(f, 2.5, 0, 2);
        expect_rounded(f, 2.5, 0x1p-90, 3);
        expect_rounded(f, -3.5, 0x1p-90, -3);
    }
}

/* --- cases --- */

static struct check engine(const struct check_request *r)
{
    struct check c = {.request = r, .pairs = r->pairs};
    cr_assert(check_shapes_make(&c, NULL) == STATUS_OK);
    return c;
}

/* Each pair of formats begins with another length. */
Test(check_parts, pairs_begin_with_other_lengths)
{
    struct check_request r = request_for(method_named("sum/serial"), 1);
    struct check_case k[2];
    r.n.count = 0;
    r.pairs = (struct pairs){{{FP32, FP32}, {FP64, FP64}}, 2};
    struct check c = engine(&r);
    for (size_t u = 0; u < 2; u++)
        cr_assert(check_case_at(&c, CHECK_EXACT, u, &k[u]) == CHECK_FOUND);
    cr_expect(k[0].pair.storage == FP32 && k[1].pair.storage == FP64);
    cr_expect(k[0].n != k[1].n, "both %zu", k[0].n);
    free_check(&c);
}

/* All inputs that suit it, those of two arrays included where it reads two. */
Test(check_parts, all_inputs_are_met)
{
    static const struct {
        const char *method;
        size_t own;
    } of[] = {{"sum/serial", 8}, {"dot/serial", 8}};
    for (size_t i = 0; i < 2; i++) {
        struct check_request r = request_for(method_named(of[i].method), 1);
        struct check c = engine(&r);
        char name[64][INPUT_TEXT];
        size_t met = 0, due = of[i].own + (i ? pair_family_count : 0);
        for (size_t u = 0; u < 2000; u++) {
            struct check_case k;
            char text[INPUT_TEXT];
            size_t at = 0;
            cr_assert(check_case_at(&c, CHECK_PERMUTATION, u, &k) == CHECK_FOUND);
            check_input_text(&k, text);
            while (at < met && strcmp(name[at], text) != 0)
                at++;
            cr_assert(at < 64);
            if (at == met)
                strcpy(name[met++], text);
        }
        cr_expect(met == due, "%s: %zu of %zu inputs", of[i].method, met, due);
        free_check(&c);
    }
}

/* With every pass another seed, another kind of scan, another launch shape. */
Test(check_parts, passes_change_seed_scan_and_shape)
{
    static uint64_t one[] = {100}, threads[] = {1, 4}, blocks[] = {2, 9};
    struct method m = *method_named("scan/serial");
    m.shape_read[DEVICE_CPU] = SHAPE_THREADS | SHAPE_BLOCKS;
    struct check_request r = request_for(&m, 1);
    r.n = (struct numbers){1, one};
    r.threads = (struct numbers){2, threads};
    r.blocks = (struct numbers){2, blocks};
    r.pairs = (struct pairs){{{FP32, FP32}}, 1};
    struct check c = engine(&r);
    bool scan[2] = {false, false}, shape[10][10] = {{false}};
    for (size_t u = 0; u < 100; u++) {
        struct check_case k;
        cr_assert(check_case_at(&c, CHECK_OFFSET, u, &k) == CHECK_FOUND);
        cr_expect(k.seed == 1 + u, "seed %llu", (unsigned long long)k.seed);
        scan[k.setting.exclusive] = shape[k.shape.threads][k.shape.blocks] = true;
    }
    cr_expect(scan[0] && scan[1] && shape[1][2] && shape[1][9] && shape[4][2] && shape[4][9]);
    free_check(&c);
}

/* No case is longer than the data; a second array is the first, turned by one element. */
Test(check_parts, data_is_as_long_as_it_is)
{
    static float own[50];
    for (size_t i = 0; i < 50; i++)
        own[i] = (float)i;
    struct check_data data = {.asked = "a.npy", .name = "a.npy", .array = {FP32, 50, own}};
    struct check_request r = request_for(method_named("dot/serial"), 1);
    r.n.count = 0;
    r.pairs = (struct pairs){{{FP32, FP32}}, 1};
    r.data = &data;
    r.datas = 1;
    struct check c = engine(&r);
    size_t found = 0;
    for (size_t u = 0; u < 70; u++) {
        struct check_case k;
        struct problem p = {0};
        if (check_case_at(&c, CHECK_REPEAT, u, &k) != CHECK_FOUND)
            continue;
        cr_assert(k.n > 0 && k.n <= 50, "n = %zu", k.n);
        found++;
        cr_assert(check_load_case(&c, &k, &p) == STATUS_OK, "%s", p.text);
        for (size_t i = 0; i < k.n; i++)
            cr_expect(array_get(&c.in, i) == (double)i &&
                      array_get(&c.in, k.n + i) == (double)((i + 1) % k.n));
    }
    cr_expect(found == 30, "%zu cases", found); /* the whole, 33 and 2, of seven lengths */
    free_check(&c);
}

/* Each kind of keys with each number of bins; keys hang on the seed. */
Test(check_parts, keys_meet_all_numbers_of_bins)
{
    struct check_request r = request_for(method_named("scatter/exact"), 0.5);
    const struct keys *keys[20];
    size_t bins[20], met = 0;
    for (size_t u = 0; u < 20; u++) {
        struct check_case k = {0};
        size_t at = 0;
        setting_vary(&k.setting, r.method->operation, &r.setting, k.n, u);
        while (at < met && (keys[at] != k.setting.keys || bins[at] != k.setting.bins))
            at++;
        keys[at] = k.setting.keys;
        bins[at] = k.setting.bins;
        met += at == met;
    }
    cr_expect(met == 20, "%zu of 20", met);
    struct check c = engine(&r);
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct keys uniform = {.kind = KEYS_UNIFORM, .asked = "uniform", .name = "uniform"};
        struct check_case k = {
            .n = 100, .seed = seed, .setting.keys = &uniform, .setting.bins = 1000};
        input_parse(&k.input, "ones", NULL);
        struct problem p = {0};
        uint32_t due[100];
        cr_assert(keys_fill(&uniform, due, 100, 1000, seed, &p) == STATUS_OK);
        cr_assert(check_load_case(&c, &k, &p) == STATUS_OK, "%s", p.text);
        cr_expect(memcmp(c.made.of.keys, due, sizeof due) == 0, "seed %llu",
                  (unsigned long long)seed);
    }
    free_check(&c);
}

/* About square, one row, few, as many as elements; each in both layouts. */
Test(check_parts, rows_are_square_one_few_and_all)
{
    static const size_t due[] = {25, 1, 10, 1000};
    struct check_request r = request_for(method_named("rows/serial"), 1);
    for (size_t u = 0; u < 16; u++) {
        struct check_case k = {.n = 1000};
        setting_vary(&k.setting, r.method->operation, &r.setting, k.n, u);
        cr_expect(k.setting.bins == due[u / 2 % 4], "%zu: %zu rows", u, k.setting.bins);
        cr_expect(k.setting.layout->kind == (u % 2 ? LAYOUT_COLUMN : LAYOUT_ROW));
    }
}

/* --- options --- */

/* An option that this subject reads is fine, one that only others read is not. */
Test(check_parts, takes_options_that_the_subject_reads)
{
    static struct {
        const char *option, *value, *takes, *refuses;
    } of[] = {{"--keys", "one", "scatter/sort", "sum/serial"},
              {"--bins", "7", "scatter/sort", "rows/serial"},
              {"--rows", "7", "rows/serial", "sum/serial"},
              {"--layout", "row", "rows/serial", "scatter/sort"},
              {"--keep", "7", "compact/scan", "rows/serial"},
              {"--scan", "inclusive", "scan/serial", "dot/serial"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        static struct arguments a;
        struct problem p = {0};
        char *argv[] = {"ulpscope",          "check", (char *)of[i].takes, (char *)of[i].option,
                        (char *)of[i].value, NULL};
        a = (struct arguments){0};
        cr_assert(arguments_parse(&a, 5, argv, &p) == STATUS_OK, "%s", p.text);
        cr_expect(check_takes(method_named(of[i].takes), &a, &p) == STATUS_OK, "%s", p.text);
        cr_expect(check_takes(method_named(of[i].refuses), &a, &p) == STATUS_USAGE, "%s",
                  of[i].option);
    }
}
