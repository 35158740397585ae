/* Sums over ranks by Open MPI: bits that models predict, over cases drawn at random; ranks that
 * disagree, die or hang; what is left when all are killed. Without MPI nothing is tried. */
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include <criterion/criterion.h>

#include "experiments/subjects/foreign_state.h"
#include "experiments/subjects/mpi.h"
#include "experiments/subjects/subject.h"
#include "tests/support/processes.h"

enum { RANKS = 9, ELEMENTS = 20000, CASES = 8, DRAWN_RANKS = 3, DRAWN_OWNERS = 2 };

static uint64_t drawn;

static void begin(void)
{
    char text[MPI_TEXT], program[] = ULPSCOPE_PROGRAM;
    const char *seed = getenv("ULPSCOPE_SEED");
    drawn = seed ? strtoull(seed, NULL, 10) : 1;
    foreign_server(strdup(program));
    foreign_timeout(60);
    if (!mpi_there(text))
        cr_skip_test("%s", text);
}

/* splitmix64 */
static uint64_t draw(void)
{
    uint64_t z = drawn += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static double draw_unit(void)
{
    return (double)(draw() >> 11) * 0x1p-53;
}

static const struct method *subject(const char *name)
{
    struct problem p = {0};
    const struct method *m;
    cr_assert(subject_named(&m, "test", name, NULL, &p) == STATUS_OK, "%s", p.text);
    return m;
}

struct one {
    enum format f;
    size_t ranks, elements;
    double in[RANKS * ELEMENTS], out[2][ELEMENTS];
};

static struct one *make_one(enum format f, size_t ranks, size_t elements)
{
    struct one *c = malloc(sizeof *c);
    cr_assert(c && ranks <= RANKS && elements <= ELEMENTS);
    c->f = f, c->ranks = ranks, c->elements = elements;
    struct array x = {f, ranks * elements, c->in};
    for (size_t i = 0; i < x.n; i++) {
        double value = ldexp(2 * draw_unit() - 1, (int)(draw() % 12));
        array_encode(&x, i, 1, &(double){format_round(f, value)});
    }
    return c;
}

static enum status run(struct one *c, const struct method *m, int to, struct problem *p)
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

static size_t differing(const struct one *c)
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
    switch (draw() % 4) {
    case 0:
        return 1 + draw() % (2 * ranks);
    case 1:
        return 1 + draw() % 100;
    default:
        return (size_t)exp2(draw_unit() * log2(ELEMENTS));
    }
}

struct counts {
    size_t cases, predicted, in_rank_order, elements;
};

static void hold_case(struct counts *counts, const struct method *m, enum format f, size_t ranks,
                      size_t elements, uint64_t seed)
{
    struct problem p = {0};
    struct one *c = make_one(f, ranks, elements);
    const char *model = m->model(m->name, ranks, c->elements, c->f);
    cr_assert(run(c, m, 0, &p) == STATUS_OK, "%s", p.text);
    counts->cases++;
    if (model) {
        cr_assert(run(c, method_named(model), 1, &p) == STATUS_OK, "%s", p.text);
        size_t differ = differing(c);
        cr_expect(differ == 0, "%s, %zu ranks of %zu elements, %s, seed %llu: %zu are not %s's",
                  m->name, ranks, c->elements, format_facts[c->f].name, (unsigned long long)seed,
                  differ, model);
        counts->predicted++;
        counts->elements += c->elements;
        cr_assert(run(c, method_named("allreduce/rank_order"), 1, &p) == STATUS_OK);
        counts->in_rank_order += differing(c) == 0;
    }
    free(c);
}

static void hold(struct counts *counts, const struct method *m, size_t ranks, uint64_t seed)
{
    size_t elements = draw_elements(ranks);
    hold_case(counts, m, (enum format)(draw() % 4), ranks, elements, seed);
}

Test(mpi, models_predict_every_bit, .init = begin, .timeout = 600)
{
    struct counts counts = {0};
    uint64_t seed = drawn;
    for (size_t u = 0; mpi_name(u); u++) {
        const struct method *m = subject(mpi_name(u));
        bool owned = m->operation == &operation_reduce_scatter;
        size_t first = draw() % 8;
        for (size_t k = 0; k < (owned ? DRAWN_OWNERS : DRAWN_RANKS); k++) {
            size_t ranks = 2 + (first + 3 * k) % 8;
            if (owned && k == 0)
                ranks = draw() % 2 ? 5 : 9; /* on which no two algorithms add in one order */
            for (size_t i = 0; i < CASES; i++)
                hold(&counts, m, ranks, seed);
        }
        foreign_end(m);
    }
    fprintf(stderr,
            "seed %llu: %zu cases, %zu predicted, %zu elements; %zu have the bits of rank order\n",
            (unsigned long long)seed, counts.cases, counts.predicted, counts.elements,
            counts.in_rank_order);
    cr_expect(counts.predicted >= 200, "%zu", counts.predicted);
    cr_expect(2 * counts.in_rank_order < counts.predicted, "%zu of %zu: any order would do",
              counts.in_rank_order, counts.predicted);
}

/* About each border of Open MPI's tables of reduce-scatters that is in reach here. */
Test(mpi, the_library_chooses_by_bytes, .init = begin, .timeout = 120)
{
    static const struct {
        const char *name;
        size_t ranks;
        enum format f;
        size_t elements[12];
    } due[] = {
        {"mpi/reduce_scatter", 3, FP64, {8191, 8192, 16383, 16384}},
        {"mpi/reduce_scatter", 5, FP64, {1, 5, 400}},
        {"mpi/reduce_scatter_block", 5, BF16, {15, 16, 20}},
        {"mpi/reduce_scatter_block",
         5,
         FP64,
         {15, 16, 155, 156, 160, 161, 5115, 5116, 10235, 10236, 10240, 10241}},
        {"mpi/reduce_scatter_block", 9, FP64, {27, 28, 135, 136, 144}},
    };
    struct counts counts = {0};
    for (size_t i = 0; i < sizeof due / sizeof *due; i++)
        for (size_t k = 0; k < 12 && due[i].elements[k] > 0; k++)
            hold_case(&counts, subject(due[i].name), due[i].f, due[i].ranks, due[i].elements[k], 0);
    cr_expect(counts.cases == 27 && counts.predicted == counts.cases, "%zu of %zu",
              counts.predicted, counts.cases);
    foreign_end(NULL);
}

Test(mpi, is_refused_in_one_line)
{
    struct problem p = {0};
    const struct method *m;
    cr_expect(subject_named(&m, "test", "mpi/rin", NULL, &p) == STATUS_USAGE);
    cr_expect_str_eq(p.text, "test: found 'mpi/rin': did you mean mpi/ring?");
    p = (struct problem){0};
    setenv("ULPSCOPE_MPIRUN", "/nowhere/mpirun --verbose", 1);
    foreign_server(ULPSCOPE_PROGRAM);
    cr_expect(subject_named(&m, "test", "mpi/ring", NULL, &p) == STATUS_DEVICE);
    cr_expect(strstr(p.text, "install openmpi-bin") && !strchr(p.text, '\n'), "%s", p.text);
}

Test(mpi, a_case_has_as_many_ranks_as_are_allowed, .init = begin)
{
    struct problem p = {0};
    double in[65] = {0}, out;
    struct operands of = {.in = {FP64, 65, in}, .bins = 1, .stride = 1};
    struct task t = {.of = &of,
                     .out = {FP64, 1, &out},
                     .accumulator = FP64,
                     .method = subject("mpi/ring"),
                     .device = -1};
    cr_expect(t.method->cpu(&t, &p) == STATUS_USAGE && strstr(p.text, "found 65 ranks"), "%s",
              p.text);
}

/* --- a worker that fails as ULPSCOPE_PLANT says --- */

static char entry[64];

static void begin_planted(void)
{
    char number[24];
    begin();
    foreign_server(PLANTED_FOLDER "/ulpscope");
    snprintf(number, sizeof number, "%ld", (long)getpid());
    snprintf(entry, sizeof entry, "ULPSCOPE_TEST_OF=%s", number);
    setenv("ULPSCOPE_TEST_OF", number, 1);
}

static void expect_planted(const char *plant, double timeout_s, enum status due, const char *words)
{
    struct problem p = {0};
    struct one *c = make_one(FP32, 3, 100);
    const struct method *m = subject("mpi/ring");
    foreign_end(m);
    setenv("ULPSCOPE_PLANT", plant, 1);
    foreign_timeout(timeout_s);
    enum status status = run(c, m, 0, &p);
    cr_expect(status == due && strstr(p.text, words) && !strchr(p.text, '\n'), "%d, %s", status,
              p.text);
    /* It costs this run, not the next. */
    foreign_end(m);
    unsetenv("ULPSCOPE_PLANT");
    foreign_timeout(60);
    p = (struct problem){0};
    cr_expect(run(c, m, 0, &p) == STATUS_OK, "%s", p.text);
    free(c);
}

Test(mpi, a_rank_that_lies_dies_or_hangs_costs_a_run, .init = begin_planted)
{
    expect_planted("lie", 60, STATUS_FAILED, "ranks disagree: element 0 is 0x");
    expect_planted("die", 60, STATUS_DATA, "ended with exit status 7");
    expect_planted("hang", 4, STATUS_DATA, "no answer within 4 s");
    foreign_end(NULL);
    expect_processes(entry, 0);
}

/* The folder of what Open MPI maps, as a rank of this test is told it. */
static void find_folder(char folder[300])
{
    static const char name[] = "OMPI_MCA_btl_vader_backing_directory=";
    struct dirent *d;
    DIR *proc = opendir("/proc");
    while (proc && !*folder && (d = readdir(proc))) {
        char path[300], text[16384];
        snprintf(path, sizeof path, "/proc/%.20s/environ", d->d_name);
        FILE *file = *d->d_name >= '1' && *d->d_name <= '9' ? fopen(path, "r") : NULL;
        if (!file)
            continue;
        size_t size = fread(text, 1, sizeof text - 1, file);
        text[size] = 0;
        fclose(file);
        const char *at = memmem(text, size, name, strlen(name));
        if (at && memmem(text, size, entry, strlen(entry)))
            snprintf(folder, 300, "%.299s", at + strlen(name));
    }
    closedir(proc);
}

Test(mpi, nothing_is_left_of_one_that_is_killed, .init = begin_planted)
{
    pid_t pid;
    char *const argv[] = {"ulpscope", "check",    "mpi/ring", "--ranks",   "3",  "--n",
                          "3000",     "--device", "cpu",      "--seconds", "60", NULL};
    cr_assert_eq(posix_spawn(&pid, ULPSCOPE_PROGRAM, NULL, NULL, argv, environ), 0);
    size_t most = 0;
    for (int i = 0; i < 400 && most < 7; i++) {
        usleep(50000);
        size_t found = processes_with(entry);
        most = found > most ? found : most;
    }
    cr_expect(most >= 6, "%zu: ulpscope, a shell, mpirun, 3 ranks", most);
    char folder[300] = "";
    find_folder(folder);
    cr_expect(*folder && access(folder, F_OK) == 0, "'%s'", folder);
    kill(pid, SIGKILL);
    cr_expect_eq(waitpid(pid, NULL, 0), pid);
    for (int i = 0; i < 200 && (processes_with(entry) > 0 || access(folder, F_OK) == 0); i++)
        usleep(50000);
    expect_processes(entry, 0);
    cr_expect(access(folder, F_OK) != 0, "%s is left", folder);
}

/* To begin ranks takes longer than most sums: those of another number stay for later. */
Test(mpi, keeps_ranks_for_later, .init = begin, .timeout = 120)
{
    struct problem p = {0};
    const struct method *m = subject("mpi/recursive_doubling");
    const struct foreign *f = (const struct foreign *)m;
    static const struct {
        size_t ranks;
        bool starts;
    } turn[] = {{2, true}, {3, true}, {2, false}, {4, true}, {3, false}, {2, false}};
    for (size_t i = 0; i < sizeof turn / sizeof *turn; i++) {
        struct one *c = make_one(FP64, turn[i].ranks, 10);
        cr_assert(run(c, m, 0, &p) == STATUS_OK, "%s", p.text);
        cr_expect(f->started == turn[i].starts, "turn %zu, %zu ranks", i, turn[i].ranks);
        double sum = 0;
        for (size_t r = 0; r < turn[i].ranks; r++)
            sum += c->in[r * 10];
        cr_expect(fabs(c->out[0][0] - sum) <= 1e-9 * fabs(sum) + 1e-9, "%g, not %g", c->out[0][0],
                  sum);
        free(c);
    }
    foreign_end(m);
    cr_expect(!f->process && !f->others[0].process);
}
