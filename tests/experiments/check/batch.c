/* `check` of batch_invariant: every method that promises it keeps it, what hangs on the batch is
 * found by the kind of attempt that is about it, and the least batch that shows it is said. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "experiments/check/attempts.h"
#include "experiments/check/report.h"
#include "experiments/subjects/foreign.h"
#include "kernels/method/matrix.h"
#include "tests/support/check_found.h"

static struct check_request batch_request(const struct method *m, double seconds)
{
    /* Many batches, each of few products. */
    static uint64_t few[] = {200, 33, 400};
    struct check_request r = request_for(m, seconds);
    r.n = (struct numbers){3, few};
    r.beside = m->beside;
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r.tried[kind] = check_kind_of(kind, PROMISE_BATCH_INVARIANT);
    return r;
}

/* --- what promises it --- */

Test(check_batch, every_method_that_promises_it_keeps_it)
{
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (!method_promises(m, PROMISE_BATCH_INVARIANT) ||
            !format_pairs_any(method_pairs(m, DEVICE_CPU)))
            continue;
        static uint64_t longer[] = {2500}; /* several blocks of products */
        struct check_request r = batch_request(m, 0.25);
        r.n = (struct numbers){1, longer};
        struct check_report report = checked(&r);
        struct check_rung is = check_rung(&report, PROMISE_BATCH_INVARIANT);
        cr_expect(is.state == CHECK_KEPT && is.attempts >= 300 && is.batches >= 100,
                  "%s: %s in %zu attempts, %zu batches", m->name, check_state_name[is.state],
                  (size_t)is.attempts, is.batches);
        for (size_t kind = CHECK_BATCH; kind <= CHECK_LAYOUT; kind++)
            cr_expect(report.tried[kind].attempts >= 4, "%s: %s: %zu attempts", m->name,
                      check_kinds[kind].name, (size_t)report.tried[kind].attempts);
        cr_expect(!check_broken(&report), "%s", m->name);
        held++;
    }
    cr_expect_geq(held, 10);
}

/* What is not among rows or columns cannot promise it, and what adds as it comes does not. */
Test(check_batch, promised_where_it_can_be)
{
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        bool can = m->operation == &operation_rows || m->operation == &operation_gemm ||
                   m->operation->of_rows;
        /* Exact statistics of rows may be too slow for enough attempts, and then claim nothing. */
        bool slow = m->operation->of_rows && m->promise == PROMISE_CORRECTLY_ROUNDED;
        cr_expect_eq(operation_may_promise(m->operation, PROMISE_BATCH_INVARIANT), can, "%s",
                     m->name);
        cr_expect_eq(operation_sides(m->operation) > 0, can, "%s", m->name);
        cr_expect(m->beside == (m->beside & m->operation->beside), "%s", m->name);
        if (can && !slow && format_pairs_any(method_pairs(m, DEVICE_CPU)))
            cr_expect_eq(method_promises(m, PROMISE_BATCH_INVARIANT), !m->atomic, "%s", m->name);
    }
    cr_expect_eq(promise_named("batch_invariant"), PROMISE_BATCH_INVARIANT);
    cr_expect_eq(promise_named("invariant"), PROMISES);
}

/* --- lies --- */

static enum status as(const char *name, const struct task *t, struct problem *p)
{
    return method_named(name)->cpu(t, p);
}

static size_t many; /* from so many on a lie shows itself; */
static size_t once; /* or in so many alone */

static bool is_many(size_t count)
{
    return once ? count == once : count >= many;
}

static enum status minds_rows(const struct task *t, struct problem *p)
{
    return as(is_many(t->of->bins) ? "rows/serial" : "rows/tiled", t, p);
}

static enum status minds_m(const struct task *t, struct problem *p)
{
    return as(is_many(t->of->gemm.m) ? "gemm/tiled" : "gemm/serial", t, p);
}

static enum status minds_n(const struct task *t, struct problem *p)
{
    return as(is_many(t->of->gemm.n) ? "gemm/tiled" : "gemm/serial", t, p);
}

static enum status minds_row_layout(const struct task *t, struct problem *p)
{
    return as(t->of->stride > 1 && t->of->bins > 1 ? "rows/serial" : "rows/tiled", t, p);
}

static enum status minds_transposed(const struct task *t, struct problem *p)
{
    return as(t->of->gemm.a_column && t->of->gemm.m > 1 ? "gemm/tiled" : "gemm/serial", t, p);
}

static enum status minds_padding(const struct task *t, struct problem *p)
{
    return as(t->of->gemm.pad % 2 ? "gemm/tiled" : "gemm/serial", t, p);
}

/* The last one, of several, is summed otherwise. */
static enum status minds_the_last(const struct task *t, struct problem *p)
{
    enum status status = as(t->method->operation->fixed, t, p);
    size_t last = t->of->bins - 1;
    if (status == STATUS_OK && last > 0)
        array_set_bits(&t->out, last, array_bits(&t->out, last) ^ 1);
    return status;
}

/* What is 0 where the row before it is NaN, as a mask would make it. */
static enum status minds_nan(const struct task *t, struct problem *p)
{
    enum status status = as(t->method->operation->fixed, t, p);
    for (size_t r = 1; status == STATUS_OK && r < t->of->bins; r++) {
        double before = array_get(&t->out, r - 1), sum = array_get(&t->out, r);
        if (isnan(before) && !isnan(sum))
            array_set_bits(&t->out, r, array_bits(&t->out, r) ^ 1);
    }
    return status;
}

/* What is rounded otherwise where some row's sum is infinite: -inf is a masked row. */
static enum status minds_infinity(const struct task *t, double infinity, struct problem *p)
{
    enum status status = as(t->method->operation->fixed, t, p);
    bool any = false;
    for (size_t r = 0; status == STATUS_OK && r < t->of->bins; r++)
        any |= array_get(&t->out, r) == infinity;
    for (size_t r = 0; any && r < t->of->bins; r++)
        if (isfinite(array_get(&t->out, r)) && array_get(&t->out, r) != 0)
            array_set_bits(&t->out, r, array_bits(&t->out, r) ^ 1);
    return status;
}

static enum status minds_plus(const struct task *t, struct problem *p)
{
    return minds_infinity(t, INFINITY, p);
}

static enum status minds_minus(const struct task *t, struct problem *p)
{
    return minds_infinity(t, -INFINITY, p);
}

static struct method liar_of(const char *name,
                             enum status (*lie)(const struct task *, struct problem *))
{
    struct method m = *method_named(name);
    m.name = "liar";
    m.cpu = lie;
    return m;
}

/* The command's options, resolved, show the same two results. */
static void show_again(const struct check_request *asked, enum check_kind kind,
                       const struct check_break *b)
{
    uint64_t n = b->at.n, rows = b->at.setting.bins;
    struct layout layout = {0};
    struct gemm_shape shape = b->at.setting.shape;
    struct check_request r = *asked;
    for (size_t k = 0; k < CHECK_KINDS; k++)
        r.tried[k] = k == kind;
    r.pairs = (struct pairs){{b->at.pair}, 1};
    r.input = &b->at.input;
    r.inputs = 1;
    r.n = (struct numbers){1, &n};
    if (b->at.setting.layout) {
        layout = *b->at.setting.layout;
        r.setting.rows = (struct numbers){1, &rows};
        r.setting.layout = &layout;
        r.setting.layouts = 1;
    } else {
        r.setting.shape = &shape;
        r.setting.shapes = 1;
    }
    r.seed = b->at.seed;
    r.shrink = false;
    struct check_report report = checked(&r);
    const struct check_break *again = &report.tried[kind].witness;
    cr_expect(report.tried[kind].broken > 0 && again->bits[0] == b->bits[0] &&
                  again->bits[1] == b->bits[1],
              "%s: %s", check_kinds[kind].name, again->is[1]);
}

static const struct lie {
    const char *like, *name;
    enum status (*cpu)(const struct task *, struct problem *);
    enum check_kind kind;
} lies[] = {
    {"rows/tiled", "layout of rows", minds_row_layout, CHECK_LAYOUT},
    {"gemm/tiled", "A by columns", minds_transposed, CHECK_LAYOUT},
    {"gemm/tiled", "padding", minds_padding, CHECK_LAYOUT},
    {"rows/tiled", "the last row", minds_the_last, CHECK_PLACE},
    {"gemm/tiled", "the last element", minds_the_last, CHECK_PLACE},
    {"rows/tiled", "NaN above", minds_nan, CHECK_OTHERS},
    {"gemm/tiled", "NaN to the left", minds_nan, CHECK_OTHERS},
    {"rows/tiled", "infinity in a row", minds_plus, CHECK_OTHERS},
    {"rows/tiled", "-infinity in a row", minds_minus, CHECK_OTHERS},
};

Test(check_batch, each_kind_finds_what_it_is_about)
{
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const struct method m = liar_of(lies[i].like, lies[i].cpu);
        struct check_request r = batch_request(&m, 0.3);
        struct check_report report = checked(&r);
        const struct check_tried *is = &report.tried[lies[i].kind];
        cr_expect(is->broken > 0 && check_first_broken(&report) == PROMISE_GPU_TO_GPU,
                  "%s: not found by %s", lies[i].name, check_kinds[lies[i].kind].name);
        cr_expect_eq(check_rung(&report, PROMISE_BATCH_INVARIANT).state, CHECK_BROKEN);
        if (is->broken == 0)
            continue;
        expect_witness(&report, lies[i].kind, 70000);
        show_again(&r, lies[i].kind, &is->witness);
    }
}

static size_t side_of(const struct check_break *b, unsigned side)
{
    return b->at.setting.layout ? b->at.setting.bins
           : side               ? b->at.setting.shape.n
                                : b->at.setting.shape.m;
}

static void expect_least(const char *like,
                         enum status (*lie)(const struct task *, struct problem *), unsigned side,
                         size_t least)
{
    const struct method m = liar_of(like, lie);
    struct check_request r = batch_request(&m, 0.3);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r.tried[kind] = kind == CHECK_BATCH;
    struct check_report report = checked(&r);
    const struct check_tried *is = &report.tried[CHECK_BATCH];
    char words[64];
    cr_assert(is->broken > 0, "%s from %zu on: not found", like, least);
    cr_expect_eq(side_of(&is->witness, side), least, "%s: %zu, expected %zu", like,
                 side_of(&is->witness, side), least);
    snprintf(words, sizeof words,
             side                            ? "of 1x%zux"
             : is->witness.at.setting.layout ? "of %zu rows"
                                             : "of %zux1x",
             least);
    cr_expect(strstr(is->witness.is[1], words), "'%s' has no '%s'", is->witness.is[1], words);
    show_again(&r, CHECK_BATCH, &is->witness);
    char *command = check_command(&report, CHECK_BATCH, "check");
    cr_expect(command && strstr(command, "--only batch_invariant/batch"), "%s", command);
    free(command);
}

/* Wherever another kernel begins, the witness is the first batch of it. */
Test(check_batch, the_least_batch_is_said)
{
    static const size_t begins[] = {2, 17, 100, 300};
    once = 0;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        many = begins[i];
        expect_least("rows/tiled", minds_rows, 0, many);
        expect_least("gemm/tiled", minds_m, 0, many);
        expect_least("gemm/tiled", minds_n, 1, many);
    }
}

Test(check_batch, one_number_of_rows_alone)
{
    static const size_t alone[] = {7, 192};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        once = alone[i];
        expect_least("rows/tiled", minds_rows, 0, once);
        expect_least("gemm/tiled", minds_m, 0, once);
    }
}

/* --- one row of many --- */

static const float MARK = 3;

static bool is_mark(const struct array *in, size_t i)
{
    return array_get(in, i) == (double)MARK;
}

/* A row that begins with the mark minds others beside it. */
static enum status minds_mark(const struct task *t, struct problem *p)
{
    enum status status = as("rows/tiled", t, p);
    size_t rows = t->of->bins, length = matrix_length(t->of->in.n, rows);
    for (size_t r = 0; status == STATUS_OK && rows > 1 && r < rows; r++)
        if (is_mark(&t->of->in, matrix_at(r, 0, length, t->of->stride)))
            array_set_bits(&t->out, r, array_bits(&t->out, r) ^ 1);
    return status;
}

/* So does an element of a product whose row of A and column of B begin with it. */
static enum status minds_marks(const struct task *t, struct problem *p)
{
    enum status status = as("gemm/tiled", t, p);
    const struct gemm_shape *is = &t->of->gemm;
    for (size_t i = 0; status == STATUS_OK && is->m * is->n > 1 && i < is->m * is->n; i++)
        if (is_mark(&t->of->in, gemm_a_at(is, i / is->n, 0)) &&
            is_mark(&t->of->in, gemm_b_at(is, 0, i % is->n)))
            array_set_bits(&t->out, i, array_bits(&t->out, i) ^ 1);
    return status;
}

static struct check_report of_data(struct check_request *r, struct check_data *data)
{
    r->data = data;
    r->datas = 1;
    r->n = (struct numbers){0};
    r->pairs = (struct pairs){{{FP32, FP32}}, 1};
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r->tried[kind] = kind == CHECK_BATCH;
    return checked(r);
}

enum { ROWS = 37, LENGTH = 40 };

/* Of a file one row may be the only one that shows it: each is followed. */
Test(check_batch, one_row_of_data_alone)
{
    float own[ROWS * LENGTH];
    for (size_t marked = 0; marked < ROWS; marked += 18) {
        for (size_t i = 0; i < ROWS * LENGTH; i++)
            own[i] = i == marked * LENGTH ? MARK : (float)(i % 7) / 8;
        const struct method m = liar_of("rows/tiled", minds_mark);
        struct check_request r = batch_request(&m, 2);
        struct check_data data = {
            .asked = "a.npy", .name = "a.npy", .array = {FP32, ROWS * LENGTH, own}, .rows = ROWS};
        struct check_report report = of_data(&r, &data);
        struct check_rung is = check_rung(&report, PROMISE_BATCH_INVARIANT);
        cr_expect(is.state == CHECK_BROKEN, "row %zu: not found, %zu followed", marked,
                  is.followed);
    }
}

Test(check_batch, one_element_of_data_alone)
{
    struct gemm_shape shape = {.m = 5, .n = 7, .k = 16};
    float own[256];
    cr_assert_leq(gemm_elements(&shape), 256);
    for (size_t i = 0; i < gemm_elements(&shape); i++)
        own[i] = (float)(i % 7) / 8;
    own[gemm_a_at(&shape, 3, 0)] = own[gemm_b_at(&shape, 0, 4)] = MARK;
    const struct method m = liar_of("gemm/tiled", minds_marks);
    struct check_request r = batch_request(&m, 2);
    struct check_data data = {
        .asked = "a.npy", .name = "a.npy", .array = {FP32, gemm_elements(&shape), own}};
    r.setting.shape = &shape;
    r.setting.shapes = 1;
    struct check_report report = of_data(&r, &data);
    cr_expect_eq(check_rung(&report, PROMISE_BATCH_INVARIANT).state, CHECK_BROKEN);
    if (report.tried[CHECK_BATCH].broken)
        cr_expect(strstr(report.tried[CHECK_BATCH].witness.is[0], "row 3, column 4, as "), "%s",
                  report.tried[CHECK_BATCH].witness.is[0]);
}

/* --- what is said of it --- */

static void expect_text(const struct check_report *report, const char *words)
{
    struct text text = {0};
    check_text(&text, report, "check", false);
    cr_expect(text_string(&text) && strstr(text_string(&text), words), "no '%s' in:\n%s", words,
              text_string(&text));
    text_free(&text);
}

Test(check_batch, verdicts_are_told)
{
    foreign_server(ULPSCOPE_PROGRAM); /* whose processes are asked too */
    struct check_request r = batch_request(method_named("gemm/tiled"), 1);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r.tried[kind] = true;
    struct check_report kept = checked(&r);
    expect_text(&kept, "gemm/tiled on cpu: keeps gpu_to_gpu, as promised, and batch_invariant\n");
    expect_text(&kept, "\nbatch_invariant    kept ");
    expect_text(&kept, " numbers of");
    many = 20;
    once = 0;
    struct method m = liar_of("gemm/tiled", minds_m);
    m.promise = PROMISE_RUN_TO_RUN;
    r.method = &m;
    r.promise = m.promise;
    struct check_report broken = checked(&r);
    cr_expect_eq(check_first_broken(&broken), PROMISE_BATCH_INVARIANT);
    expect_text(&broken,
                "keeps run_to_run, as promised; BREAKS batch_invariant, which it promises\n");
    expect_text(&broken, "\ncounterexample to batch_invariant (how many others there are): ");
    r.promise = PROMISE_NONE;
    r.method = method_named("gemm/mma");
    struct check_report asked = checked(&r);
    expect_text(&asked, "keeps batch_invariant, as --promise asks; keeps run_to_run\n");
    cr_expect_str_eq(check_held_name(&r), "batch_invariant");
    r.beside = 0;
    r.method = &m;
    struct check_report free_of = checked(&r);
    cr_expect(!check_broken(&free_of));
    expect_text(&free_of, "\nbatch_invariant    broken ");
}
