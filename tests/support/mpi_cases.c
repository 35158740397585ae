#include "tests/support/mpi_cases.h"

#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/support/hard_addends.h"
#include "tests/support/processes.h"

enum { DRAWN_ELEMENTS = 20000 };

static uint64_t drawn, seed;

void mpi_cases_begin(enum mpi_library l, const char *program)
{
    char text[MPI_TEXT];
    const char *asked = getenv("ULPSCOPE_SEED");
    drawn = seed = asked ? strtoull(asked, NULL, 10) : 1;
    foreign_server(program);
    foreign_timeout(60);
    if (!mpi_there(l, text))
        cr_skip_test("%s", text);
}

uint64_t mpi_cases_seed(void)
{
    return seed;
}

/* splitmix64 */
uint64_t mpi_draw(void)
{
    uint64_t z = drawn += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

void mpi_draw_from(uint64_t state)
{
    drawn = state;
}

static double draw_unit(void)
{
    return (double)(mpi_draw() >> 11) * 0x1p-53;
}

const struct method *mpi_subject(const char *name)
{
    struct problem p = {0};
    const struct method *m;
    cr_assert(subject_named(&m, "test", name, NULL, &p) == STATUS_OK, "%s", p.text);
    return m;
}

struct mpi_case *mpi_case_make(enum format f, size_t ranks, size_t elements)
{
    struct mpi_case *c = malloc(sizeof *c);
    cr_assert(c && ranks <= MPI_CASE_RANKS && elements <= MPI_CASE_ELEMENTS);
    c->f = f, c->ranks = ranks, c->elements = elements;
    struct array x = {f, ranks * elements, c->in};
    for (size_t i = 0; i < x.n; i++) {
        double value = ldexp(2 * draw_unit() - 1, (int)(mpi_draw() % 12));
        array_encode(&x, i, 1, &(double){format_round(f, value)});
    }
    return c;
}

enum status mpi_case_run(struct mpi_case *c, const struct method *m, int to, struct problem *p)
{
    struct operands of = {
        .in = {c->f, c->ranks * c->elements, c->in}, .bins = c->elements, .stride = c->elements};
    struct task t = {.of = &of,
                     .out = {c->f, c->elements, c->out[to]},
                     .accumulator = c->f,
                     .method = m,
                     .device = -1};
    memset(c->out[to], 0x55, sizeof c->out[to]);
    return m->cpu(&t, p);
}

static size_t differing(const struct mpi_case *c)
{
    size_t differ = 0;
    for (size_t i = 0; i < c->elements; i++)
        differ += array_bits(&(struct array){c->f, c->elements, (void *)c->out[0]}, i) !=
                  array_bits(&(struct array){c->f, c->elements, (void *)c->out[1]}, i);
    return differ;
}

/* Lengths about which an algorithm gives way to another, and any. */
static size_t draw_elements(size_t ranks)
{
    switch (mpi_draw() % 4) {
    case 0:
        return 1 + mpi_draw() % (2 * ranks);
    case 1:
        return 1 + mpi_draw() % 100;
    default:
        return (size_t)exp2(draw_unit() * log2(DRAWN_ELEMENTS));
    }
}

void mpi_hold_case(struct mpi_counts *counts, const struct method *m, enum format f, size_t ranks,
                   size_t elements)
{
    struct problem p = {0};
    struct mpi_case *c = mpi_case_make(f, ranks, elements);
    const char *model = m->model(m->name, ranks, c->elements, c->f);
    cr_assert(mpi_case_run(c, m, 0, &p) == STATUS_OK, "%s", p.text);
    counts->cases++;
    if (model) {
        cr_assert(mpi_case_run(c, method_named(model), 1, &p) == STATUS_OK, "%s", p.text);
        size_t differ = differing(c);
        cr_expect(differ == 0, "%s, %zu ranks of %zu elements, %s, seed %llu: %zu are not %s's",
                  m->name, ranks, c->elements, format_facts[c->f].name, (unsigned long long)seed,
                  differ, model);
        counts->predicted++;
        counts->elements += c->elements;
        cr_assert(mpi_case_run(c, method_named("allreduce/rank_order"), 1, &p) == STATUS_OK);
        counts->in_rank_order += differing(c) == 0;
    }
    free(c);
}

void mpi_hold(struct mpi_counts *counts, const struct method *m, size_t ranks, size_t cases)
{
    for (; cases > 0; cases--) {
        size_t elements = draw_elements(ranks);
        mpi_hold_case(counts, m, (enum format)(mpi_draw() % 4), ranks, elements);
    }
}

void mpi_expect_counts(const struct mpi_counts *counts, size_t predicted)
{
    fprintf(stderr,
            "seed %llu: %zu cases, %zu predicted, %zu elements; %zu have the bits of rank order\n",
            (unsigned long long)seed, counts->cases, counts->predicted, counts->elements,
            counts->in_rank_order);
    cr_expect(counts->predicted >= predicted, "%zu", counts->predicted);
    cr_expect(2 * counts->in_rank_order < counts->predicted, "%zu of %zu: any order would do",
              counts->in_rank_order, counts->predicted);
}

static void hold_ours(const struct method *m, enum format f, size_t ranks, size_t elements)
{
    struct problem p = {0};
    struct mpi_case *c = mpi_case_make(f, ranks, elements);
    struct array x = {f, ranks * elements, c->in};
    for (size_t i = 0; i < x.n; i++)
        array_encode(&x, i, 1, &(double){hard_addend(f, i / elements, i % elements)});
    cr_assert(mpi_case_run(c, m, 0, &p) == STATUS_OK, "%s", p.text);
    const char *model = m->model(m->name, ranks, elements, f);
    cr_assert(mpi_case_run(c, method_named(model), 1, &p) == STATUS_OK, "%s", p.text);
    cr_expect(differing(c) == 0, "%s, %s, %zu ranks of %zu elements: %zu are not %s's", m->name,
              format_facts[f].name, ranks, elements, differing(c), model);
    free(c);
}

void mpi_expect_ours(const char *prefix)
{
    static const struct {
        size_t ranks, elements;
    } of[] = {{1, 100}, {2, 16 * 1000 + 3}, {3, 2}, {4, 65999}, {5, 333}, {9, 5000}};
    static const char *const ours[] = {"exact", "binned"};
    for (size_t k = 0; k < 2; k++) {
        char name[40];
        snprintf(name, sizeof name, "%s%s", prefix, ours[k]);
        const struct method *m = mpi_subject(name);
        cr_expect(m->promise == (k == 0 ? PROMISE_CORRECTLY_ROUNDED : PROMISE_ORDER_INVARIANT));
        cr_expect((m->beside >> PROMISE_RANK_INVARIANT & 1) == 1);
        /* What does not travel as it is stored would be another sum. */
        cr_expect(method_supports(m, DEVICE_CPU, FP32, FP32));
        cr_expect(!method_supports(m, DEVICE_CPU, FP64, FP32));
        for (size_t i = 0; i < sizeof of / sizeof *of; i++)
            for (enum format f = FP16; f <= FP64; f++)
                hold_ours(m, f, of[i].ranks, of[i].elements);
        foreign_end(m);
    }
}

/* --- workers that fail as ULPSCOPE_PLANT says --- */

const char *mpi_entry(void)
{
    static char entry[64];
    char number[24];
    snprintf(number, sizeof number, "%ld", (long)getpid());
    snprintf(entry, sizeof entry, "ULPSCOPE_TEST_OF=%s", number);
    setenv("ULPSCOPE_TEST_OF", number, 1);
    return entry;
}

void mpi_expect_planted(const char *subject, const char *plant, double timeout_s, enum status due,
                        const char *words)
{
    struct problem p = {0};
    /* Its answer is shorter than what a launcher prints when a rank dies. */
    struct mpi_case *c = mpi_case_make(FP32, 3, 10);
    const struct method *m = mpi_subject(subject);
    foreign_end(m);
    setenv("ULPSCOPE_PLANT", plant, 1);
    foreign_timeout(timeout_s);
    enum status status = mpi_case_run(c, m, 0, &p);
    cr_expect(status == due && strstr(p.text, words) && !strchr(p.text, '\n'), "%d, %s", status,
              p.text);
    /* It costs this run, not the next. */
    foreign_end(m);
    unsetenv("ULPSCOPE_PLANT");
    foreign_timeout(60);
    p = (struct problem){0};
    cr_expect(mpi_case_run(c, m, 0, &p) == STATUS_OK, "%s", p.text);
    free(c);
}

void mpi_expect_none_left(const char *subject, const char *program, size_t processes,
                          void (*meanwhile)(const char *entry))
{
    pid_t pid;
    const char *entry = mpi_entry();
    char *const argv[] = {"ulpscope", "check",    (char *)subject, "--ranks",   "3",  "--n",
                          "3000",     "--device", "cpu",           "--seconds", "60", NULL};
    cr_assert_eq(posix_spawn(&pid, program, NULL, NULL, argv, environ), 0);
    size_t most = 0;
    for (int i = 0; i < 400 && most <= processes; i++) {
        usleep(50000);
        size_t found = processes_with(entry);
        most = found > most ? found : most;
    }
    cr_expect(most >= processes, "%zu of %zu processes", most, processes);
    if (meanwhile)
        meanwhile(entry);
    kill(pid, SIGKILL);
    cr_expect_eq(waitpid(pid, NULL, 0), pid);
    expect_processes(entry, 0);
}
