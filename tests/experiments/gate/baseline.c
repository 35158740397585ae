/* `ulpscope gate --baseline`: bits, errors and promises that were recorded. */
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "tests/support/gate.h"

#define SERIAL(accumulator)                                                                        \
    "{\"subjects\": [{\"name\": \"loss\", \"subject\": \"sum/serial\", \"device\": \"cpu\", "      \
    "\"storage\": "                                                                                \
    "\"fp16\", \"accumulator\": \"" accumulator "\", \"n\": 1000, \"promise\": \"gpu_to_gpu\"}]}"
#define OTHER                                                                                      \
    "{\"subjects\": [{\"name\": \"loss\", \"subject\": \"sum/pairwise\", \"device\": \"cpu\", "    \
    "\"storage\": "                                                                                \
    "\"fp16\", \"accumulator\": \"fp16\", \"n\": 1000, \"promise\": \"run_to_run\"}]}"

Test(baseline, holds_bits_to_recorded_ones, .init = make_folder, .fini = remove_folder)
{
    cr_expect_eq(gate(SERIAL("fp16"), "--baseline b"), STATUS_DATA);
    expect_said("err", "--update");
    cr_expect_eq(gate(SERIAL("fp16"), "--baseline b --update"), 0);
    expect_said("out", "were not recorded before");
    cr_expect_eq(
        gate("{\"subjects\": [{\"subject\": \"sum/tiled\", \"device\": \"cpu\", \"n\": 10, "
             "\"storage\": \"fp32\"}]}",
             "--baseline b"),
        1);
    expect_said("out", "--update records them");
    expect_said("out", "in the baseline, but not in the manifest: loss");
    cr_expect_eq(gate(SERIAL("fp16"), "--baseline b"), 0);
    expect_said("out", "bits of 2 of 2 cases as recorded");
    cr_expect_eq(gate(SERIAL("fp32"), "--baseline b"), 1);
    expect_said("out", "recorded cases were not run");
    /* A bit, a promise: the other method in the place of the first. */
    char *before = content("b/baseline.json");
    char *turned = strstr(before, "\"bits\": \"0x");
    cr_assert(turned);
    turned[strlen("\"bits\": \"0x")] ^= 1;
    put("b/baseline.json", before);
    cr_expect_eq(gate(SERIAL("fp16"), "--baseline b"), 1);
    expect_said("out", "changed ");
    expect_said("out", "bits of 1 of 2 cases differ");
    cr_expect_eq(gate(SERIAL("fp16"), "--baseline b --update"), 0);
    expect_said("out", "recorded anew: bits of 1 of 2");
    cr_expect_eq(gate(SERIAL("fp16"), "--baseline b"), 0);
    cr_expect_eq(gate(OTHER, "--baseline b"), 1);
    expect_said("out", "the promise was gpu_to_gpu, and is run_to_run now");
    free(before);
    /* So is an error that is not the one of these bits. */
    cr_expect_eq(gate(OTHER, "--baseline b --update"), 0);
    before = content("b/baseline.json");
    turned = strstr(before, "\"err_ulp\": ");
    cr_assert(turned && turned[strlen("\"err_ulp\": ")] != '9');
    turned[strlen("\"err_ulp\": ")] = '9';
    put("b/baseline.json", before);
    cr_expect_eq(gate(OTHER, "--baseline b"), 1);
    expect_said("out", "changed    loss");
    expect_said("out", "baseline: the error of the recorded bits is ");
    memcpy(strstr(turned, ":"), ": \"x\"", 5);
    cr_assert(strchr(turned, ','));
    memset(turned + strlen("\"err_ulp\": \"x\""), ' ',
           strcspn(turned + strlen("\"err_ulp\": \"x\""), ","));
    put("b/baseline.json", before);
    cr_expect_eq(gate(OTHER, "--baseline b"), STATUS_DATA);
    expect_said("err", "b/baseline.json: found a case without bits, input and err_ulp");
    cr_assert_eq(unlink(in_folder("b/baseline.json")), 0);
    cr_expect_eq(gate(SERIAL("fp16"), "--baseline b --update"), 0);
    free(before);
    /* What is broken is not recorded. */
    put("gate.json",
        "{\"subjects\": [{\"name\": \"loss\", \"subject\": \"sum/tiled\", \"device\": \"cpu\", "
        "\"n\": 100, \"promise\": \"correctly_rounded\", \"seconds\": 1}]}");
    before = content("b/baseline.json");
    cr_expect_eq(run_program("gate", "gate.json --baseline b --update"), 1);
    char *after = content("b/baseline.json");
    cr_expect_str_eq(before, after);
    free(before);
    free(after);
    put("b/baseline.json",
        "{\"schema_version\": 1, \"entries\": {\"loss\": {\"promise\": \"none\"}}}");
    cr_expect_eq(gate(SERIAL("fp16"), "--baseline b"), STATUS_DATA);
    expect_said("err", "b/baseline.json");
}

/* Lengths that nobody asked for are some that the ranks divide, and no two are the same. */
Test(baseline, records_sums_over_ranks, .init = make_folder, .fini = remove_folder)
{
#define RANKS(subject, rest)                                                                       \
    "{\"device\": \"cpu\", \"seconds\": 4, \"storage\": \"fp32\", \"accumulator\": \"fp32\", "     \
    "\"subjects\": [{\"subject\": \"" subject "\", \"promise\": \"run_to_run\"" rest "}]}"
    cr_expect_eq(gate(RANKS("allreduce/rabenseifner", ""), "--baseline b --update"), 0);
    expect_said("b/baseline.json", "n=36 ");
    expect_said("b/baseline.json", "n=1000 ");
    cr_expect_eq(gate(RANKS("allreduce/rabenseifner", ""), "--baseline b"), 0);
    expect_said("out", "bits of 6 of 6 cases as recorded");
    cr_expect_eq(
        gate(RANKS("reduce_scatter/ring", ", \"ranks\": [3, 1000]"), "--baseline c --update"), 0);
    expect_said("b/baseline.json", "n=1000 ");
    expect_said("c/baseline.json", "n=3000 ");
    expect_said("c/baseline.json", "n=6000 ");
    cr_expect_eq(gate(RANKS("allreduce/ring", ", \"n\": 33"), "--baseline d --update"), 1);
    expect_said("out", "option --ranks: found none, and no usual number of ranks divides every n");
#undef RANKS
}

/* An error that grows is told in ulps. */
Test(baseline, tells_what_a_change_cost, .init = make_folder, .fini = remove_folder)
{
    static const char
        exact[] = "{\"subjects\": [{\"name\": \"s\", \"subject\": \"sum/exact\", \"device\": "
                  "\"cpu\", \"storage\": \"fp32\", \"accumulator\": \"fp32\", \"n\": 1000, "
                  "\"promise\": \"gpu_to_gpu\"}]}",
        serial[] = "{\"subjects\": [{\"name\": \"s\", \"subject\": \"sum/serial\", \"device\": "
                   "\"cpu\", \"storage\": \"fp32\", \"accumulator\": \"fp32\", \"n\": 1000, "
                   "\"promise\": \"gpu_to_gpu\"}]}";
    cr_expect_eq(gate(exact, "--baseline b --update"), 0);
    cr_expect_eq(gate(serial, "--baseline b"), 1);
    expect_said("out", "the error grew from 0.");
    cr_expect_eq(gate(serial, "--baseline b --update"), 0);
    cr_expect_eq(gate(exact, "--baseline b"), 1);
    expect_said("out", "no error grew");
}

/* Before anything runs; and a gate that is refused leaves no directory. */
Test(baseline, refuses_a_baseline_that_cannot_be_written, .init = make_folder,
     .fini = remove_folder)
{
    struct stat facts;
    static const char manifest[] = "{\"device\": \"cpu\", \"subjects\": [{\"subject\": "
                                   "\"sum/tiled\", \"n\": 10, \"storage\": \"fp32\"}]}";
    static const char *const refused[] = {"/proc/x", "none/b", "gate.json", "/proc"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char options[64];
        snprintf(options, sizeof options, "--baseline %s --update", refused[i]);
        cr_expect_eq(gate(manifest, options), STATUS_DATA);
        expect_said("err", refused[i]);
        char *out = content("out");
        cr_expect_str_empty(out, "%s: %s", refused[i], out);
        free(out);
    }
    cr_expect_eq(gate(manifest, "--baseline b --update --junit none/g.xml"), STATUS_DATA);
    cr_expect(stat(in_folder("b"), &facts) != 0, "a refused gate left a directory");
}
