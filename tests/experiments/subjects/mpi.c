/* Sums over ranks by Open MPI: bits that models predict, over cases drawn at random; ranks that
 * disagree, die or hang; what is left when all are killed. Without Open MPI nothing is tried. */
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tests/support/files.h"
#include "tests/support/mpi_cases.h"
#include "tests/support/gate.h"
#include "tests/support/processes.h"

enum { CASES = 8, DRAWN_RANKS = 3, DRAWN_OWNERS = 2 };

static void begin(void)
{
    mpi_cases_begin(OPEN_MPI, ULPSCOPE_PROGRAM);
}

Test(mpi, models_predict_every_bit, .init = begin, .timeout = 600)
{
    struct mpi_counts counts = {0};
    for (size_t u = 0; mpi_name(OPEN_MPI, u); u++) {
        const struct method *m = mpi_subject(mpi_name(OPEN_MPI, u));
        bool owned = m->operation == &operation_reduce_scatter;
        size_t first = mpi_draw() % 8;
        for (size_t k = 0; k < (owned ? DRAWN_OWNERS : DRAWN_RANKS); k++) {
            size_t ranks = 2 + (first + 3 * k) % 8;
            if (owned && k == 0)
                ranks = mpi_draw() % 2 ? 5 : 9; /* on which no two algorithms add in one order */
            mpi_hold(&counts, m, ranks, CASES);
        }
        foreign_end(m);
    }
    cr_expect_eq(counts.predicted, counts.cases);
    mpi_expect_counts(&counts, 300);
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
        {"mpi/nonoverlapping", 3, BF16, {1, 2, 3, 4, 7, 8, 15, 16}},
        {"mpi/nonoverlapping", 3, FP64, {32767, 32768, 65535, 65536}},
        {"mpi/nonoverlapping", 5, FP64, {511, 512, 8191, 8192, 32767, 32768, 65535, 65536}},
        {"mpi/nonoverlapping", 9, FP64, {1023, 1024}},
        {"mpi/nonoverlapping", 17, FP64, {511, 512}},
        {"mpi/nonoverlapping", 33, FP64, {1, 600}},
    };
    struct mpi_counts counts = {0};
    for (size_t i = 0; i < sizeof due / sizeof *due; i++)
        for (size_t k = 0; k < 12 && due[i].elements[k] > 0; k++)
            mpi_hold_case(&counts, mpi_subject(due[i].name), due[i].f, due[i].ranks,
                          due[i].elements[k]);
    cr_expect(counts.cases == 53 && counts.predicted == counts.cases, "%zu of %zu",
              counts.predicted, counts.cases);
    foreign_end(NULL);
}

/* What a user asks for is not predicted. */
Test(mpi, another_reduce_that_is_asked_for_has_no_model, .init = begin)
{
    const struct method *m = mpi_subject("mpi/nonoverlapping");
    cr_expect_str_eq(m->model(m->name, 5, 1000, FP32), "allreduce/level_tree");
    setenv("OMPI_MCA_coll_tuned_reduce_algorithm", "1", 1);
    cr_expect_null(m->model(m->name, 5, 1000, FP32));
    cr_expect(strstr(m->unmodelled, "OMPI_MCA_coll_tuned_reduce_algorithm"));
    foreign_end(NULL);
}

/* Shared memory's part of Open MPI adds in another order. An algorithm that is asked for keeps its
 * own; the library's choice is then no longer predicted. */
Test(mpi, an_algorithm_stays_where_a_setting_prefers_another_part, .init = begin)
{
    setenv("OMPI_MCA_coll_sm_priority", "100", 1);
    struct mpi_counts counts = {0};
    const struct method *m = mpi_subject("mpi/ring");
    mpi_hold_case(&counts, m, FP32, 5, 1000);
    mpi_hold_case(&counts, mpi_subject("mpi/reduce_scatter_nonoverlapping"), BF16, 5, 1000);
    cr_expect_eq(counts.predicted, 2);
    m = mpi_subject("mpi/allreduce");
    cr_expect_null(m->model(m->name, 5, 1000, FP32));
    unsetenv("OMPI_MCA_coll_sm_priority");
    cr_expect_not_null(m->model(m->name, 5, 1000, FP32));
    foreign_end(NULL);
}

/* A gate says on how many hosts, as check does; on a slow machine time may reach no attempt. */
Test(mpi, a_gate_says_on_how_many_hosts, .init = begin, .fini = remove_folder, .timeout = 120)
{
    make_folder();
    gate("{\"subjects\": [{\"subject\": \"mpi/exact\", \"device\": \"cpu\", \"promise\": "
         "\"rank_invariant\", \"storage\": \"fp32\", \"accumulator\": \"fp32\", \"n\": 64, "
         "\"seconds\": 6}]}",
         "--markdown gate.md");
    char *told = content("gate.md");
    cr_expect(strstr(told, "held to rank\\_invariant"), "%s", told);
    cr_expect(!strstr(told, "; rank\\_invariant ") || strstr(told, " on 1 host"), "%s", told);
    free(told);
}

Test(mpi, ours_have_the_bits_of_the_cpu, .init = begin, .timeout = 300)
{
    mpi_expect_ours("mpi/");
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
                     .method = mpi_subject("mpi/ring"),
                     .device = -1};
    cr_expect(t.method->cpu(&t, &p) == STATUS_USAGE && strstr(p.text, "found 65 ranks"), "%s",
              p.text);
}

/* A launcher that begins other ranks than it is asked for, or each by itself, as that of another
 * MPI does: their sum would be taken for the library's. */
Test(mpi, other_ranks_than_those_asked_for_do_not_answer, .init = begin)
{
    static const char *const launchers[] = {"shift 2; exec mpirun -n 2 \"$@\"",
                                            "shift 2; exec mpirun -n 4 \"$@\"",
                                            "shift 2; \"$@\" & \"$@\"; wait"};
    static const char *const found[] = {"found 2 ranks", "found 4 ranks", "found 1 rank,"};
    double in[3] = {1, 2, 4}, out;
    struct operands of = {.in = {FP64, 3, in}, .bins = 1, .stride = 1};
    struct task t = {.of = &of,
                     .out = {FP64, 1, &out},
                     .accumulator = FP64,
                     .method = mpi_subject("mpi/ring"),
                     .device = -1};
    make_folder();
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        struct bytes script = {0};
        struct problem p = {0};
        add_string(&script, "#!/bin/sh\n");
        add_string(&script, launchers[i]);
        const char *path = put_file("launcher", &script);
        chmod(path, 0755);
        setenv("ULPSCOPE_MPIRUN", path, 1);
        foreign_end(NULL);
        foreign_timeout(20);
        cr_expect(t.method->cpu(&t, &p) == STATUS_DATA && strstr(p.text, found[i]) &&
                      strstr(p.text, "expected 3"),
                  "%s: %s", launchers[i], p.text);
        clear_bytes(&script);
    }
    remove_folder();
}

/* --- a worker that fails as ULPSCOPE_PLANT says --- */

static void begin_planted(void)
{
    mpi_cases_begin(OPEN_MPI, PLANTED_FOLDER "/ulpscope");
    mpi_entry();
}

Test(mpi, a_rank_that_lies_dies_or_hangs_costs_a_run, .init = begin_planted)
{
    mpi_expect_planted("mpi/ring", "lie", 60, STATUS_FAILED, "ranks disagree: element 0 is 0x");
    mpi_expect_planted("mpi/ring", "short", 60, STATUS_DATA, "left result 9 as it was before");
    mpi_expect_planted("mpi/ring", "long", 60, STATUS_DATA, "wrote behind the last of its results");
    mpi_expect_planted("mpi/ring", "overwrite", 60, STATUS_DATA,
                       "overwrote the elements that it sent");
    mpi_expect_planted("mpi/ring", "die", 60, STATUS_DATA, "ended with exit status 7");
    mpi_expect_planted("mpi/ring", "hang", 4, STATUS_DATA, "no answer within 4 s");
    foreign_end(NULL);
    expect_processes(mpi_entry(), 0);
}

/* Runs a copy of the program in a folder of its own, beside this worker if there is one. */
static int run_beside(const char *worker, const char *arguments, char said[4096])
{
    char command[2000];
    snprintf(
        command, sizeof command,
        "d=$(mktemp -d) && cp '%s' \"$d/ulpscope\" && cd \"$d\" && { [ -z '%s' ] || cp '%s' .; "
        "} && ./ulpscope %s 2>&1 </dev/null; s=$?; rm -r \"$d\"; exit $s",
        ULPSCOPE_PROGRAM, worker, worker, arguments);
    FILE *pipe = popen(command, "r");
    cr_assert(pipe);
    said[fread(said, 1, 4095, pipe)] = 0;
    return WEXITSTATUS(pclose(pipe));
}

/* In every verb. */
Test(mpi, ranks_that_disagree_have_failed_a_check, .init = begin_planted, .timeout = 120)
{
    static const char *const verb[] = {
        "check mpi/ring --ranks 3 --n 30",
        "run allreduce --method mpi/ring --ranks 3 --n 30 --out o",
        "run trial --method mpi/ring --n 12 --out o",
    };
    setenv("ULPSCOPE_PLANT", "lie", 1);
    for (size_t i = 0; i < sizeof verb / sizeof *verb; i++) {
        char arguments[300], said[4096];
        snprintf(arguments, sizeof arguments,
                 "%s --device cpu --storage fp32 --accumulator fp32 %s", verb[i],
                 i == 1 ? "" : "--seconds 1");
        int status = run_beside(PLANTED_FOLDER "/ulpscope-mpi", arguments, said);
        cr_expect(status == STATUS_FAILED && strstr(said, "ranks disagree"), "%s: %d: %s", verb[i],
                  status, said);
    }
}

/* What is missing is the worker, not the library that it was built with. */
Test(mpi, a_worker_that_is_missing_is_named, .init = begin_planted)
{
    char said[4096];
    cr_expect_eq(run_beside("", "check mpi/ring --device cpu", said), STATUS_DEVICE);
    cr_expect(strstr(said, "mpi/ring cannot run: found no ulpscope-mpi beside ulpscope"), "%s",
              said);
    run_beside("", "doctor", said);
    cr_expect(strstr(said, "found no ulpscope-mpi beside ulpscope"), "%s", said);
    cr_expect(!strstr(said, "this build has no Open MPI"), "%s", said);
}

/* What Open MPI maps, as a rank of this test is told it. */
static char mapped[300];

static void find_folder(const char *entry)
{
    static const char name[] = "OMPI_MCA_btl_vader_backing_directory=";
    struct dirent *d;
    DIR *proc = opendir("/proc");
    while (proc && !*mapped && (d = readdir(proc))) {
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
            snprintf(mapped, sizeof mapped, "%.299s", at + strlen(name));
    }
    closedir(proc);
    cr_expect(*mapped && access(mapped, F_OK) == 0, "'%s'", mapped);
}

/* ulpscope, a shell, mpirun, 3 ranks. */
Test(mpi, nothing_is_left_of_one_that_is_killed, .init = begin_planted)
{
    mpi_expect_none_left("mpi/ring", ULPSCOPE_PROGRAM, 6, find_folder);
    for (int i = 0; i < 200 && access(mapped, F_OK) == 0; i++)
        usleep(50000);
    cr_expect(access(mapped, F_OK) != 0, "%s is left", mapped);
}

/* To begin ranks takes longer than most sums: those of another number stay for later. */
Test(mpi, keeps_ranks_for_later, .init = begin, .timeout = 120)
{
    struct problem p = {0};
    const struct method *m = mpi_subject("mpi/recursive_doubling");
    const struct foreign *f = (const struct foreign *)m;
    static const struct {
        size_t ranks;
        bool starts;
    } turn[] = {{2, true}, {3, true}, {2, false}, {4, true}, {3, false}, {2, false}};
    for (size_t i = 0; i < sizeof turn / sizeof *turn; i++) {
        struct mpi_case *c = mpi_case_make(FP64, turn[i].ranks, 10);
        cr_assert(mpi_case_run(c, m, 0, &p) == STATUS_OK, "%s", p.text);
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
