/* GPUs are dealt to ranks: those of one machine, those alike, each first on as many ranks as any.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/system/rank_gpus.h"
#include "tests/support/program.h"

static void expect_list(const char *list, uint64_t alike, uint32_t place, const char *due)
{
    char found[100];
    bool turned = rank_turned(found, sizeof found, list, alike, place);
    cr_expect(turned == (due != NULL), "%s, alike %#llx, place %u: %s", list ? list : "no list",
              (unsigned long long)alike, place, turned ? found : "left alone");
    if (turned && due)
        cr_expect_str_eq(found, due);
}

Test(rank_gpus, each_rank_begins_with_another)
{
    expect_list(NULL, 0xf, 0, NULL);
    expect_list(NULL, 0xf, 1, "1,2,3,0");
    expect_list(NULL, 0xf, 2, "2,3,0,1");
    expect_list(NULL, 0xf, 3, "3,0,1,2");
}

Test(rank_gpus, more_ranks_than_gpus_share)
{
    expect_list(NULL, 0x3, 2, NULL);
    expect_list(NULL, 0x3, 3, "1,0");
    expect_list(NULL, 0x3, 65535, "1,0");
}

Test(rank_gpus, what_the_user_or_the_launcher_chose_is_kept)
{
    expect_list("2,3", 0x3, 1, "3,2");
    expect_list("GPU-8932f937,GPU-5a1b,MIG-77", 0x7, 2, "MIG-77,GPU-8932f937,GPU-5a1b");
    expect_list("3", 0x1, 1, NULL);
    expect_list("", 0, 1, NULL);
    expect_list(NULL, 0, 1, NULL);
    expect_list("1", 0x3, 1, NULL); /* more than the list has: it says something else */
}

Test(rank_gpus, gpus_of_another_kind_are_not_dealt)
{
    expect_list(NULL, 0xd, 1, "2,3,0");
    expect_list("7,5,4", 0x5, 1, "4,7");
}

Test(rank_gpus, what_does_not_fit_is_left_alone)
{
    char small[4];
    cr_expect(!rank_turned(small, sizeof small, NULL, 0x3, 1) || strcmp(small, "1,0") == 0);
    cr_expect(!rank_turned(small, sizeof small, NULL, 0xf, 1));
    cr_expect(!rank_turned(small, sizeof small, "GPU-1,GPU-2", 0x3, 1));
}

Test(rank_gpus, the_place_on_a_machine_is_what_its_launcher_says)
{
    struct rank rank = {5, 8};
    unsetenv("ULPSCOPE_RANK");
    unsetenv("OMPI_COMM_WORLD_LOCAL_RANK");
    unsetenv("MPI_LOCALRANKID");
    unsetenv("SLURM_LOCALID");
    cr_expect(rank_place(rank) == 5);
    setenv("SLURM_LOCALID", "1", 1);
    cr_expect(rank_place(rank) == 1);
    setenv("MPI_LOCALRANKID", "2", 1);
    cr_expect(rank_place(rank) == 2);
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "3", 1);
    cr_expect(rank_place(rank) == 3);
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "3x", 1);
    cr_expect(rank_place(rank) == 2);
    setenv("ULPSCOPE_RANK", "6/8", 1); /* a rank told by hand has no launcher */
    cr_expect(rank_place(rank) == 5);
}

/* Where no process holds a GPU, its driver takes a second to answer: each of many ranks would wait.
 */
Test(rank_gpus, a_study_on_the_cpu_asks_no_driver, .init = make_folder, .fini = remove_folder)
{
    static const char *const study =
        "accuracy --method sum/serial --input uniform --n 10 --storage fp32 --accumulator fp32";
    char loaded[600], options[300];
    snprintf(loaded, sizeof loaded, "%s/loaded", folder);
    setenv("PLAYED_DRIVER_LOADED", loaded, 1);
    setenv("LD_LIBRARY_PATH", PLAYED_DRIVER, 1);
    snprintf(options, sizeof options, "%s --device cpu", study);
    cr_expect_eq(run_program("run", options), 0);
    cr_expect(access(loaded, F_OK) != 0, "a study on the CPU loads libcuda");
    snprintf(options, sizeof options, "%s --device cuda:7", study);
    cr_expect_eq(run_program("run", options), 4);
    cr_expect(access(loaded, F_OK) == 0, "one on a GPU has not loaded this libcuda");
}
