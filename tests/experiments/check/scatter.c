/* `check` of scatter-adds: every kind of attempt refutes one that lies about it, and names the bin;
 * elements are permuted with their keys. (That those of the registry keep what they promise,
 * tests/experiments/check/check.c holds.) */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>

#include "experiments/subjects/foreign.h"
#include "tests/support/check_found.h"

/* --- scatter-adds that are not what they say --- */

static enum status as(const char *name, const struct task *t, struct problem *p)
{
    return method_named(name)->cpu(t, p);
}

/* scatter/sort of the elements the other way round, each with its key. */
static enum status backwards(const struct task *t, struct problem *p)
{
    size_t n = t->of->in.n;
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    uint32_t *key = malloc((n + 1) * sizeof *key);
    of.in.data = malloc(array_bytes(t->of->in.format, n + 1));
    of.keys = key;
    for (size_t i = 0; i < n; i++) {
        array_set_bits(&of.in, i, array_bits(&t->of->in, n - 1 - i));
        key[i] = t->of->keys[n - 1 - i];
    }
    enum status status = as("scatter/sort", &other, p);
    free(of.in.data);
    free(key);
    return status;
}

static enum status forgets(const struct task *t, struct problem *p)
{
    static unsigned runs;
    return ++runs % 50 == 0 ? backwards(t, p) : as("scatter/sort", t, p);
}

static enum status minds_threads(const struct task *t, struct problem *p)
{
    return t->shape.threads % 2 ? backwards(t, p) : as("scatter/sort", t, p);
}

static enum status minds_places(const struct task *t, struct problem *p)
{
    return (uintptr_t)t->of->in.data % 32 ? backwards(t, p) : as("scatter/sort", t, p);
}

/* Four at a time, whatever there is behind the last. */
static enum status reads_on(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task more = *t;
    more.of = &of;
    of.in.n = (t->of->in.n + 3) / 4 * 4;
    return as("scatter/sort", &more, p);
}

/* Exact but for the last bin but one, which is one off where it is not empty. */
static enum status misses_one_bin(const struct task *t, struct problem *p)
{
    enum status status = as("scatter/exact", t, p);
    size_t bin = t->of->bins - 2;
    double sum = t->of->bins > 1 ? array_get(&t->out, bin) : 0;
    if (sum != 0 && sum - sum == 0) {
        sum = format_next_up(t->out.format, sum);
        array_encode(&t->out, bin, 1, &sum);
    }
    return status;
}

static struct method liar(enum status (*cpu)(const struct task *t, struct problem *p))
{
    struct method m = claims("scatter/sort", PROMISE_GPU_TO_GPU);
    m.name = "scatter/liar";
    m.cpu = cpu;
    return m;
}

/* --- checking them --- */

Test(check_scatter, refutes_run_to_run)
{
    tick_ns = 100000; /* what is rare takes many cases */
    struct method forgetful = liar(forgets);
    struct check_request r = request_for(&forgetful, 0.5);
    struct check_report report = checked(&r);
    cr_expect(report.tried[CHECK_REPEAT].broken && report.kept == PROMISE_NONE);
    expect_witness(&report, CHECK_REPEAT, 2049);
}

Test(check_scatter, refutes_gpu_to_gpu)
{
    struct method shaped = liar(minds_threads), placed = liar(minds_places),
                  greedy = liar(reads_on);
    expect_found(&shaped, CHECK_SHAPE, 2049);
    expect_found(&placed, CHECK_OFFSET, 2049);
    expect_found(&greedy, CHECK_NEIGHBOUR, 3);
}

Test(check_scatter, refutes_order_invariant)
{
    static const char *const names[] = {"scatter/sort", "scatter/ordered"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct method m = claims(names[i], PROMISE_ORDER_INVARIANT);
        expect_found(&m, CHECK_PERMUTATION, 2049);
    }
}

Test(check_scatter, refutes_correctly_rounded_and_names_the_bin)
{
    struct method one_bin = claims("scatter/exact", PROMISE_CORRECTLY_ROUNDED);
    struct keys keys = {.kind = KEYS_SORTED, .asked = "sorted", .name = "sorted"};
    uint64_t bins[] = {7};
    one_bin.cpu = misses_one_bin;
    one_bin.name = "scatter/liar"; /* fresh processes would run another one */
    struct check_request r = request_for(&one_bin, 2);
    r.setting.key = &keys;
    r.setting.keys = 1;
    r.setting.bins = (struct numbers){1, bins};
    struct check_report report = checked(&r);
    const struct check_break *b = &report.tried[CHECK_EXACT].witness;
    cr_assert(report.tried[CHECK_EXACT].broken > 0 && check_broken(&report));
    cr_expect(report.kept == PROMISE_ORDER_INVARIANT, "keeps %s", promise_name[report.kept]);
    cr_expect(b->at.setting.bins == 7 && b->at.setting.keys == &keys && b->index == 5, "bin %zu",
              b->index);
    enum format f = b->at.setting.output;
    double due = format_decode(f, b->bits[0]), is = format_decode(f, b->bits[1]);
    cr_expect(is == format_next_up(f, due), "%a and %a", is, due);
    char *command = check_command(&report, CHECK_EXACT, "ulpscope");
    cr_expect(strstr(command, " --keys sorted --bins 7"), "%s", command);
    free(command);
}

/* All keys and numbers of bins are met, each with each; more keys than a file has are no case. */
Test(check_scatter, goes_through_keys_and_bins)
{
    struct check_request r = request_for(method_named("scatter/exact"), 0.5);
    bool met[4][5] = {{0}};
    struct check_case first = {0};
    setting_vary(&first.setting, r.method->operation, &r.setting, 0, 0);
    for (size_t u = 0; u < 20; u++) {
        static const uint64_t bins[] = {10, 1000, 1, 257, 20000};
        struct check_case k = {0};
        size_t which = 0;
        setting_vary(&k.setting, r.method->operation, &r.setting, 0, u);
        while (which < 5 && bins[which] != k.setting.bins)
            which++;
        cr_assert(which < 5, "%zu bins", k.setting.bins);
        met[k.setting.keys->kind][which] = true;
    }
    for (size_t kind = 0; kind < 4; kind++)
        for (size_t which = 0; which < 5; which++)
            cr_expect(met[kind][which], "keys %zu, bins %zu", kind, which);
    static uint32_t given[40];
    struct keys file = {
        .kind = KEYS_FILE, .asked = "file:k", .name = "file:k", .given = given, .count = 40};
    foreign_server(ULPSCOPE_PROGRAM);
    r.setting.key = &file;
    r.setting.keys = 1;
    struct check_report report = checked(&r);
    cr_expect(!check_broken(&report));
    cr_expect(report.tried[CHECK_EXACT].attempts > 0 && report.tried[CHECK_PERMUTATION].attempts);
    given[7] = 1 << 20; /* below no number of bins */
    report = (struct check_report){0};
    struct problem p = {0};
    cr_assert(check_subject(&report, &r, &p) == STATUS_OK, "%s", p.text);
    cr_expect(strstr(report.failure.text, "file:k") == NULL &&
                  strstr(report.failure.text, "k: key 7: found 1048576, expected less than "),
              "%s", report.failure.text);
    foreign_end(NULL);
}
