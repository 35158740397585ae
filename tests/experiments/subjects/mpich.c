/* Sums over ranks by MPICH: bits that models predict, over cases drawn at random; ranks that
 * disagree, die or hang; what is left when all are killed. Without MPICH nothing is tried. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/subjects/mpi_models.h"
#include "tests/support/mpi_cases.h"
#include "tests/support/processes.h"

enum { CASES = 8 };

static void begin(void)
{
    mpi_cases_begin(MPICH, ULPSCOPE_PROGRAM);
}

/* On 5 and 9 ranks no two of its orders are alike; 4 and 8 are powers of two. */
static size_t draw_ranks(size_t k)
{
    static const size_t some[] = {5, 6, 9, 7}, any[] = {4, 8, 3, 2};
    return k % 2 == 0 ? some[mpi_draw() % 4] : any[mpi_draw() % 4];
}

Test(mpich, models_predict_every_bit, .init = begin, .timeout = 600)
{
    struct mpi_counts counts = {0};
    for (size_t u = 0; mpi_name(MPICH, u); u++) {
        /* Takes some cases alone, which are below; those that are not in each build. */
        const char *name = mpi_name(MPICH, u);
        if (strcmp(name, "mpich/reduce_scatter_noncommutative") == 0 ||
            (!mpich_in_shared_memory() &&
             (strcmp(name, "mpich/release_gather") == 0 || strcmp(name, "mpich/smp") == 0)))
            continue;
        const struct method *m = mpi_subject(name);
        for (size_t k = 0; k < 2; k++)
            mpi_hold(&counts, m, draw_ranks(k), CASES);
        foreign_end(m);
    }
    mpi_expect_counts(&counts, 300);
}

/* About each border between algorithms that is in reach here, on ranks where they add in other
 * orders. */
Test(mpich, an_algorithm_gives_way_by_bytes_and_blocks, .init = begin, .timeout = 200)
{
    static const struct {
        const char *name;
        size_t ranks;
        enum format f;
        size_t elements[6];
    } due[] = {
        {"mpich/naive", 5, FP64, {256, 257}},
        {"mpich/naive", 9, BF16, {1024, 1025}},
        {"mpich/naive", 5, FP32, {3, 4, 512, 513}},
        {"mpich/ring", 5, FP64, {1, 4, 5, 6, 9, 11}},
        {"mpich/rabenseifner", 9, FP64, {7, 8, 9}},
        {"mpich/reduce_scatter", 5, FP64, {65535, 65536}},
        {"mpich/reduce_scatter_block", 6, FP64, {65532, 65533}},
        {"mpich/reduce_scatter_noncommutative", 8, FP32, {64, 8, 3200}},
        {"mpich/reduce_scatter_noncommutative", 4, BF16, {4, 32, 13000}},
        {"mpich/reduce_scatter_block_noncommutative", 8, FP32, {64, 65, 7}},
        {"mpich/reduce_scatter_block_noncommutative", 6, FP32, {66}},
    };
    struct mpi_counts counts = {0};
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        for (size_t k = 0; k < 6 && due[i].elements[k] > 0; k++)
            mpi_hold_case(&counts, mpi_subject(due[i].name), due[i].f, due[i].ranks,
                          due[i].elements[k]);
        foreign_end(mpi_subject(due[i].name));
    }
    cr_expect(counts.cases == 31 && counts.predicted == counts.cases, "%zu of %zu",
              counts.predicted, counts.cases);
}

Test(mpich, ours_have_the_bits_of_the_cpu, .init = begin, .timeout = 300)
{
    mpi_expect_ours("mpich/");
}

Test(mpich, is_refused_in_one_line)
{
    struct problem p = {0};
    const struct method *m;
    cr_expect(subject_named(&m, "test", "mpich/rin", NULL, &p) == STATUS_USAGE);
    cr_expect_str_eq(p.text, "test: found 'mpich/rin': did you mean mpich/ring?");
    p = (struct problem){0};
    cr_expect(subject_named(&m, "test", "mpich/rabbit", NULL, &p) == STATUS_USAGE);
    cr_expect(strstr(p.text, "expected one of mpich/allreduce, ") && !strstr(p.text, " mpi/"), "%s",
              p.text);
    p = (struct problem){0};
    setenv("ULPSCOPE_MPIEXEC", "/nowhere/mpiexec -v", 1);
    foreign_server(ULPSCOPE_PROGRAM);
    cr_expect(subject_named(&m, "test", "mpich/ring", NULL, &p) == STATUS_DEVICE);
    cr_expect(strstr(p.text, "install mpich") && !strchr(p.text, '\n'), "%s", p.text);
}

Test(mpich, an_algorithm_takes_no_other_case, .init = begin)
{
    struct problem p = {0};
    struct mpi_case *c = mpi_case_make(FP32, 4, 10);
    const struct method *m = mpi_subject("mpich/reduce_scatter_noncommutative");
    cr_expect(mpi_case_run(c, m, 0, &p) == STATUS_USAGE && strstr(p.text, "found 4 ranks of 10 e"),
              "%s", p.text);
    free(c);
    c = mpi_case_make(FP32, 6, 12);
    p = (struct problem){0};
    cr_expect(mpi_case_run(c, m, 0, &p) == STATUS_USAGE && strstr(p.text, "power of two"), "%s",
              p.text);
    free(c);
}

/* Debian's build leaves all to UCX: there is no such algorithm to ask for. */
Test(mpich, has_release_gather_in_shared_memory_alone, .init = begin)
{
    struct problem p = {0};
    const struct method *m;
    enum status status = subject_named(&m, "test", "mpich/release_gather", NULL, &p);
    if (mpich_in_shared_memory())
        cr_expect(status == STATUS_OK, "%s", p.text);
    else
        cr_expect(status == STATUS_DEVICE && strstr(p.text, "ch4:ofi"), "%d: %s", status, p.text);
}

static void begin_planted(void)
{
    mpi_cases_begin(MPICH, PLANTED_FOLDER "/ulpscope");
    mpi_entry();
}

Test(mpich, a_rank_that_lies_dies_or_hangs_costs_a_run, .init = begin_planted)
{
    mpi_expect_planted("mpich/ring", "lie", 60, STATUS_FAILED, "ranks disagree: element 0 is 0x");
    mpi_expect_planted("mpich/ring", "short", 60, STATUS_DATA, "left result 9 as it was before");
    mpi_expect_planted("mpich/ring", "long", 60, STATUS_DATA,
                       "wrote behind the last of its results");
    mpi_expect_planted("mpich/ring", "overwrite", 60, STATUS_DATA,
                       "overwrote the elements that it sent");
    mpi_expect_planted("mpich/ring", "die", 60, STATUS_DATA, "ended with exit status ");
    mpi_expect_planted("mpich/ring", "crash", 60, STATUS_DATA, "ended with exit status ");
    mpi_expect_planted("mpich/ring", "hang", 4, STATUS_DATA, "no answer within 4 s");
    foreign_end(NULL);
    expect_processes(mpi_entry(), 0);
}

/* ulpscope, mpiexec, its proxy, 3 ranks. */
Test(mpich, nothing_is_left_of_one_that_is_killed, .init = begin_planted)
{
    mpi_expect_none_left("mpich/ring", ULPSCOPE_PROGRAM, 6, NULL);
}
