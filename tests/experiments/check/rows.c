/* `check` of sums of rows, of transpositions and of compactions: what hangs on other rows is found,
 * and what a case was told beside its elements is said. */
#include <jansson.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "experiments/check/attempts.h"
#include "experiments/check/report.h"
#include "tests/support/check_found.h"

/* The exact sum of few ranks; of more, the number beside it. Neither heeds an order. */
static enum status minds_number_of_ranks(const struct task *t, struct problem *p)
{
    enum status status = method_named("allreduce/exact")->cpu(t, p);
    for (size_t i = 0; status == STATUS_OK && t->of->in.n / t->of->bins > 6 && i < t->out.n; i++) {
        uint64_t bits = array_bits(&t->out, i);
        array_set_bits(&t->out, i, bits ^ 1);
    }
    return status;
}

/* As ranks that have a GPU each: there are four. */
static enum status has_four(const struct task *t, struct problem *p)
{
    size_t ranks = t->of->in.n / t->of->bins;
    return ranks > 4 ? problem(p, STATUS_DEVICE, "found %zu ranks, expected at most 4", ranks)
                     : method_named("allreduce/exact")->cpu(t, p);
}

static struct check_report report_of_ranks(const char *name, uint64_t ranks,
                                           enum status (*cpu)(const struct task *t,
                                                              struct problem *p))
{
    static uint64_t asked[1], n[] = {2048};
    static struct method m;
    m = *method_named(name);
    asked[0] = ranks;
    if (cpu) {
        m.name = "allreduce/liar";
        m.cpu = cpu;
    }
    static struct check_request r;
    r = request_for(&m, 0.5);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r.tried[kind] = kind == CHECK_PERMUTATION;
    r.setting.ranks = (struct numbers){1, asked};
    r.n = (struct numbers){1, n};
    return checked(&r);
}

static void expect_ranks_row(const struct check_report *report, const char *verdict)
{
    struct text text = {0};
    check_text(&text, report, "check", false);
    const char *row = text_string(&text) ? strstr(text_string(&text), "\nrank_invariant ") : NULL;
    cr_expect(row && strncmp(row + 20, verdict, strlen(verdict)) == 0, "%s: %s", verdict,
              text_string(&text));
    text_free(&text);
}

/* Which orders alone do not show. */
Test(check_rows, refutes_what_hangs_on_the_number_of_ranks)
{
    struct check_report report = report_of_ranks("allreduce/exact", 4, minds_number_of_ranks);
    const struct check_tried *dealt = &report.tried[CHECK_PERMUTATION];
    cr_assert(dealt->broken > 0);
    cr_expect(strncmp(dealt->witness.is[1], "dealt to ", 9) == 0, "%s", dealt->witness.is[1]);
    char *command = check_command(&report, CHECK_PERMUTATION, "check");
    cr_expect(command && strstr(command, " --ranks 4"), "%s", command);
    free(command);
    expect_ranks_row(&report, "broken");
    static const char *const kept[] = {"allreduce/exact", "allreduce/binned",
                                       "reduce_scatter/exact"};
    static const char *const broken[] = {"allreduce/rank_order", "allreduce/ring",
                                         "allreduce/rabenseifner", "allreduce/double_tree"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        report = report_of_ranks(kept[i], 4, NULL);
        expect_ranks_row(&report, "kept");
    }
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        report = report_of_ranks(broken[i], 4, NULL);
        expect_ranks_row(&report, "broken");
    }
}

/* One element of a long message, wherever it lies, or the rest behind the last whole vector. */
static size_t wrong_at, wrong_from;

static enum status has_one_wrong(const struct task *t, struct problem *p)
{
    enum status status = method_named("allreduce/rank_order")->cpu(t, p);
    if (status == STATUS_OK && t->out.n >= wrong_from)
        array_set_bits(&t->out, wrong_at, array_bits(&t->out, wrong_at) ^ 1);
    return status;
}

Test(check_rows, one_wrong_element_of_a_long_message_is_found)
{
    static const struct {
        size_t from, at;
        uint64_t n;
        const char *is;
    } wrong[] = {{600, 591, 0, "element 591 of a message of 1000, all alike"},
                 {512, 511, 2048, "element 511 of a message of 512, all alike"},
                 {512, 1, 2048, "element 1 of a message of 512, all alike"}};
    static uint64_t ranks[] = {4}, n[1];
    struct method m = *method_named("allreduce/rank_order");
    m.cpu = has_one_wrong;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct check_request r = request_for(&m, 0.5);
        for (size_t kind = 0; kind < CHECK_KINDS; kind++)
            r.tried[kind] = kind == CHECK_BATCH;
        r.setting.ranks = (struct numbers){1, ranks};
        n[0] = wrong[i].n;
        r.n = (struct numbers){n[0] > 0, n};
        wrong_from = wrong[i].from;
        wrong_at = wrong[i].at;
        struct check_report report = checked(&r);
        const struct check_tried *batch = &report.tried[CHECK_BATCH];
        cr_expect(batch->broken > 0, "element %zu", wrong_at);
        cr_expect_str_eq(batch->witness.is[1], wrong[i].is);
    }
    wrong_from = SIZE_MAX;
    struct check_request r = request_for(&m, 0.5);
    struct check_report report = checked(&r);
    cr_expect(report.tried[CHECK_BATCH].attempts > 0 && report.tried[CHECK_BATCH].broken == 0);
}

/* One number of ranks says nothing of others. */
Test(check_rows, ranks_that_no_device_is_left_for_are_no_failure)
{
    struct check_report report = report_of_ranks("allreduce/exact", 4, has_four);
    cr_expect(report.failure.status == STATUS_OK, "%s", report.failure.text);
    cr_expect(report.tried[CHECK_PERMUTATION].attempts >= CHECK_LEAST);
    expect_ranks_row(&report, "not tried");
    report = report_of_ranks("allreduce/exact", 2, has_four);
    cr_expect(report.failure.status == STATUS_OK, "%s", report.failure.text);
    expect_ranks_row(&report, "kept");
}

/* All numbers that are asked for, of one array too, and of lengths that they do not divide. */
Test(check_rows, tries_each_number_of_ranks)
{
    static uint64_t ranks[] = {3, 4}, n[] = {1200};
    static struct input symmetric;
    struct text text = {0};
    input_parse(&symmetric, "symmetric", NULL);
    struct check_request r = request_for(method_named("allreduce/exact"), 0.2);
    r.setting.ranks = (struct numbers){2, ranks};
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r.tried[kind] = kind == CHECK_REPEAT;
    for (int one = 0; one < 2; one++) {
        r.n = one ? (struct numbers){1, n} : (struct numbers){0};
        r.input = one ? &symmetric : NULL;
        r.inputs = (size_t)one;
        r.pairs = (struct pairs){0};
        pairs_parse(&r.pairs, "fp32/fp32", NULL); /* others would be of other ranks */
        struct check_report report = checked(&r);
        const struct check_over *over = &report.over[PROMISE_RUN_TO_RUN];
        cr_expect(over->ranks.count == 2, "%zu numbers of ranks", over->ranks.count);
        cr_expect(one || over->most_n % 12 != 0);
        check_text(&text, &report, "check", false);
        cr_expect(strstr(text_string(&text), " on cpu, 3, 4 ranks: "), "%s", text_string(&text));
        text_free(&text);
    }
}

/* The exact sum, but for the last bit in messages of more than 1001 elements. */
static enum status minds_long_messages(const struct task *t, struct problem *p)
{
    enum status status = method_named("allreduce/exact")->cpu(t, p);
    for (size_t i = 0; status == STATUS_OK && t->of->bins > 1001 && i < t->out.n; i++)
        array_set_bits(&t->out, i, array_bits(&t->out, i) ^ 1);
    return status;
}

static struct check_report report_of_messages(struct method *m, struct numbers n,
                                              struct check_data *data, size_t datas, double seconds)
{
    static uint64_t four[] = {4};
    static struct check_request r;
    r = request_for(m, seconds);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r.tried[kind] = kind == CHECK_BATCH;
    r.setting.ranks = (struct numbers){1, four};
    r.n = n;
    r.data = data;
    r.datas = datas;
    return checked(&r);
}

/* All elements of a case are of one length, so that another length named beside it, or the length
 * of another file, must be a message of the same element's. */
Test(check_rows, compares_messages_of_each_length_named)
{
    static float few[400], many[6000];
    static uint64_t n[] = {400, 6000}, long_one[] = {6000}, short_one[] = {400};
    static struct check_data data[] = {{.name = "few", .array = {FP32, 400, few}},
                                       {.name = "many", .array = {FP32, 6000, many}}};
    struct method m = *method_named("allreduce/exact");
    for (size_t i = 0; i < 6000; i++)
        few[i % 400] = many[i] = (float)i / 7;
    m.name = "allreduce/liar";
    m.cpu = minds_long_messages;
    struct check_report report = report_of_messages(&m, (struct numbers){2, n}, NULL, 0, 0.5);
    cr_expect(report.tried[CHECK_BATCH].broken > 0, "two lengths");
    report = report_of_messages(&m, (struct numbers){1, long_one}, NULL, 0, 0.5);
    cr_expect(report.tried[CHECK_BATCH].broken > 0, "a long one");
    report = report_of_messages(&m, (struct numbers){0}, data, 2, 0.5);
    cr_expect(report.tried[CHECK_BATCH].broken > 0, "two files");
    report = report_of_messages(&m, (struct numbers){1, short_one}, NULL, 0, 0.5);
    struct check_rung is = check_rung(&report, PROMISE_GPU_TO_GPU);
    cr_expect(is.state == CHECK_KEPT && strstr(is.reason, "messages of 1 to 1000 elements"), "%s",
              is.reason);
    m.operation = &operation_reduce_scatter;
    m.cpu = method_named("reduce_scatter/exact")->cpu;
    report = report_of_messages(&m, (struct numbers){2, n}, NULL, 0, 0.5);
    is = check_rung(&report, PROMISE_GPU_TO_GPU);
    cr_expect(is.state == CHECK_KEPT && strstr(is.reason, "messages of 1 to 1500 elements"), "%s",
              is.reason);
}

/* Moves as it is due, but for the first element of every other time. */
static enum status moves_amiss(const struct task *t, struct problem *p)
{
    static unsigned runs;
    static const double other = 0.75;
    enum status status =
        method_named(t->method->operation->mask ? "compact/scan" : "transpose/tiled")->cpu(t, p);
    if (status == STATUS_OK && ++runs % 2 && t->out.n > 0)
        array_encode(&t->out, 0, 1, &other);
    return status;
}

static enum status takes_turns(const struct task *t, struct problem *p)
{
    static unsigned runs;
    return method_named(++runs % 2 ? "rows/tiled" : "rows/serial")->cpu(t, p);
}

/* What a witness is told beside elements stands in JSON and CSV too. */
Test(check_rows, says_what_a_witness_was_told)
{
    static const struct {
        const char *name, *word, *cells;
        enum status (*cpu)(const struct task *t, struct problem *p);
    } liars[] = {{"rows/tiled", "\"rows\": 10, \"layout\": \"column\"", ",column,10,", takes_turns},
                 {"transpose/tiled", "\"rows\": 10", ",transposed,10,", moves_amiss},
                 {"compact/scan", "\"keep\": 50", ",keep:50,,0,", moves_amiss}};
    static uint64_t ten[] = {10}, thousand[] = {1000}, fifty[] = {50};
    struct layout column = {LAYOUT_COLUMN, 0, "column"};
    for (size_t i = 0; i < sizeof liars / sizeof *liars; i++) {
        struct method m = *method_named(liars[i].name);
        m.cpu = liars[i].cpu;
        struct check_request r = request_for(&m, 0.5);
        r.n = (struct numbers){1, thousand};
        r.setting.rows = (struct numbers){1, ten};
        r.setting.keep = (struct numbers){1, fifty};
        r.setting.layout = &column;
        r.setting.layouts = 1;
        struct check_report report = checked(&r);
        struct text row = {0};
        json_t *all = check_json(&report, "check");
        char *json = json_dumps(all, 0);
        check_rows(&row, &report, "check");
        cr_expect(json && strstr(json, liars[i].word), "%s: %s", liars[i].name, json);
        cr_expect(strstr(text_string(&row), liars[i].cells), "%s: %s", liars[i].name,
                  text_string(&row));
        text_free(&row);
        json_decref(all);
        free(json);
    }
}
