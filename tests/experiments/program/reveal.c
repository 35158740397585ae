/* ulpscope reveal: what it prints, and its exit status. */
#include "experiments/reveal/report.h"
#include "experiments/program/verbs.h"
#include "tests/support/files.h"

static char printed[1 << 16];

static void begin_printing(void)
{
    char path[96];
    snprintf(path, sizeof path, "%s/printed", folder);
    cr_assert(freopen(path, "w", stdout));
}

static void end_printing(void)
{
    char path[96];
    fflush(stdout);
    snprintf(path, sizeof path, "%s/printed", folder);
    FILE *file = fopen(path, "r");
    cr_assert(file);
    printed[fread(printed, 1, sizeof printed - 1, file)] = 0;
    fclose(file);
}

/* The verb itself; what it prints is kept. */
static enum status verb(struct problem *p, const char *const *word)
{
    struct arguments a;
    char *argv[32] = {"ulpscope", "reveal", "--device", "cpu"};
    int argc = 4;
    for (; word[argc - 4]; argc++)
        argv[argc] = (char *)word[argc - 4];
    *p = (struct problem){0};
    begin_printing();
    enum status status = arguments_parse(&a, argc, argv, p);
    if (status == STATUS_OK)
        status = a.verb->run(&a, p);
    end_printing();
    return status;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void hold(enum status due, const char *text, const char *const *words)
{
    struct problem p;
    enum status status = verb(&p, words);
    cr_expect_eq(status, due, "%s: status %d, %s", words[0], (int)status, p.text);
    cr_expect(strstr(status == STATUS_USAGE ? p.text : printed, text), "%s: expected '%s' in\n%s%s",
              words[0], text, printed, p.text);
}

Test(verb_reveal, says_what_it_found, .init = make_folder, .fini = remove_folder)
{
    hold(STATUS_OK, "\n((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7))\n",
         WORDS("sum/tiled", "--n", "8"));
    hold(STATUS_OK, "declared order: equal\n", WORDS("sum/tiled", "--n", "3000"));
    hold(STATUS_OK, "(0 + 2) + 1\n", WORDS("sum/sum2", "--n", "3", "--storage", "bf16"));
    hold(STATUS_OK, "\n(((0 + 1) + (2 + 3)) + (4 + 5)) + 6\n",
         WORDS("scan/blelloch", "--prefix", "6"));
    hold(STATUS_OK, "\n(28 + 29) + 30\n",
         WORDS("scan/segmented", "--n", "40", "--prefix", "31", "--segment", "7", "--scan",
               "exclusive"));
    hold(STATUS_OK, "8 threads", WORDS("sum/interleaved", "--n", "40", "--threads", "8"));
    hold(STATUS_OK, "it adds\nexactly, or all at once\n", WORDS("sum/exact"));
    hold(STATUS_OK, "\nit adds exactly, all at once, or in more digits\n", WORDS("norm/exact"));
    hold(STATUS_OK, "17 at once", WORDS("sum/binned", "--n", "17"));
    hold(STATUS_OK, "try --storage fp32\n",
         WORDS("sum/sum2", "--storage", "fp16", "--accumulator", "fp32"));
    hold(STATUS_OK, "fp64, with 53 bits, loses\nnothing",
         WORDS("sum/serial", "--storage", "fp16", "--accumulator", "fp64"));
    hold(STATUS_FAILED, "no fixed order: ", WORDS("sum/atomic", "--n", "2^14", "--threads", "2"));
}

Test(verb_reveal, compares, .init = make_folder, .fini = remove_folder)
{
    hold(STATUS_OK, "sum/tiled and sum/coarsened: one order\n",
         WORDS("sum/tiled", "--against", "sum/coarsened", "--n", "600", "--threads", "256"));
    hold(
        STATUS_FAILED,
        "sum/tiled and sum/pairwise: different orders: sum/tiled adds up 0, 4 before others; where "
        "sum/pairwise has these together it has 0..7\n",
        WORDS("sum/tiled", "--against", "sum/pairwise", "--n", "8"));
    hold(STATUS_FAILED, "not compared", WORDS("sum/tiled", "--against", "sum/exact", "--n", "8"));
    hold(STATUS_OK, "one order", WORDS("scan/tiled", "--against", "scan/segmented", "--n", "99"));
}

/* A method that does not add as it declares. */
/* Of a scatter-add: the order in one bin. */
Test(verb_reveal, shows_the_order_in_a_bin, .init = make_folder, .fini = remove_folder)
{
    hold(STATUS_OK, "scatter/sort and sum/tiled: one order\n",
         WORDS("scatter/sort", "--n", "3000", "--against", "sum/tiled"));
    hold(STATUS_OK, "\n(((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7))) + (8 + 9)\n",
         WORDS("scatter/ordered", "--n", "10"));
    hold(STATUS_OK, "no order shows: ", WORDS("scatter/exact", "--n", "10"));
    hold(STATUS_USAGE,
         "found softmax/tiled, of which no order can be revealed: exponentials but 1 are no powers "
         "of two",
         WORDS("softmax/tiled"));
    hold(STATUS_USAGE,
         "found rowvariance/chan, of which no order can be revealed: every element moves the mean",
         WORDS("rowvariance/chan"));
    hold(STATUS_USAGE,
         "found rmsnorm/tiled, of which no order can be revealed: its results are elements over a "
         "root",
         WORDS("rmsnorm/tiled"));
    hold(STATUS_USAGE, "found argmin/serial, whose operation is argmin: expected ",
         WORDS("argmin/serial"));
    hold(STATUS_USAGE, "found transpose/naive, whose operation is transpose: expected ",
         WORDS("transpose/naive"));
}

Test(verb_reveal, shows_the_order_in_a_row, .init = make_folder, .fini = remove_folder)
{
    hold(STATUS_OK, "rows/tiled and sum/tiled: one order\n",
         WORDS("rows/tiled", "--n", "3000", "--against", "sum/tiled"));
    hold(STATUS_OK, "\n((0 + 1) + 2) + 3\n", WORDS("rows/serial", "--n", "4"));
}

Test(verb_reveal, finds_a_false_declaration, .init = make_folder, .fini = remove_folder)
{
    struct reveal_report r;
    struct problem p = {0};
    struct method m = *method_named("sum/pairwise");
    m.order = method_named("sum/serial")->order;
    struct reveal_case c = {
        .spec = {.method = &m, .storage = FP32, .accumulator = FP32, .output = FP32, .n = 8}};
    cr_assert_eq(reveal_report_make(&r, &c, 0, &p), STATUS_OK, "%s", p.text);
    begin_printing();
    cr_expect_eq(reveal_report_print(&r, &p), STATUS_OK);
    end_printing();
    cr_expect(strstr(printed, "declared order: different: it adds up 2..3 before others; where the "
                              "declared order has these together it has 0..3\n"),
              "%s", printed);
    cr_expect_eq(reveal_report_status(&r, &p), STATUS_FAILED);
    reveal_report_free(&r);
}

/* nodes[k] are the children of node 8 + k. */
Test(verb_reveal, as_json, .init = make_folder, .fini = remove_folder)
{
    static const int due[7][2] = {{0, 4}, {2, 6}, {8, 9}, {1, 5}, {3, 7}, {11, 12}, {10, 13}};
    hold(STATUS_OK, "{", WORDS("sum/tiled", "--n", "8", "--json"));
    json_t *found = json_loads(printed, 0, NULL), *tree = json_object_get(found, "tree");
    for (size_t k = 0; k < 7; k++)
        for (size_t c = 0; c < 2; c++)
            cr_expect_eq(json_integer_value(
                             json_array_get(json_array_get(json_object_get(tree, "nodes"), k), c)),
                         due[k][c], "node %zu", k);
    for (size_t i = 0; i < 8; i++)
        cr_expect_eq(json_integer_value(json_array_get(json_object_get(tree, "depth"), i)), 3);
    cr_expect_str_eq(json_string_value(json_object_get(found, "declared")), "equal");
    cr_expect_str_eq(json_string_value(json_object_get(found, "verdict")), "tree");
    json_decref(found);
    hold(STATUS_FAILED, "\"orders\":\"different\"",
         WORDS("sum/tiled", "--n", "8", "--json", "--against", "sum/serial"));
    hold(STATUS_OK, "graph order {", WORDS("sum/tiled", "--n", "8", "--dot"));
}

Test(verb_reveal, says_what_is_wrong, .init = make_folder, .fini = remove_folder)
{
    hold(STATUS_USAGE, "sum/serial", WORDS("sum/nothing"));
    hold(STATUS_USAGE, "operand is missing", WORDS("--n", "8"));
    hold(STATUS_USAGE, "expected 0 to 15", WORDS("scan/tiled", "--prefix", "16"));
    hold(STATUS_USAGE, "option --prefix: found sum/tiled, a sum, expected a scan",
         WORDS("sum/tiled", "--prefix", "6"));
    hold(STATUS_USAGE, "option --scan: found dot/serial",
         WORDS("dot/serial", "--scan", "exclusive"));
    hold(STATUS_USAGE, "option --output: found sum/tiled",
         WORDS("sum/tiled", "--against", "sum/serial", "--output", "storage"));
    hold(STATUS_USAGE, "sums an element",
         WORDS("scan/tiled", "--prefix", "0", "--scan", "exclusive"));
    hold(STATUS_USAGE, "segmented", WORDS("sum/tiled", "--segment", "4"));
    hold(STATUS_USAGE, "inclusive or exclusive", WORDS("scan/tiled", "--scan", "both"));
    hold(STATUS_USAGE, "--dot", WORDS("sum/tiled", "--dot", "--json"));
    hold(STATUS_USAGE, "expected fp16", WORDS("sum/tiled", "--storage", "fp8"));
    struct problem p;
    cr_expect_eq(verb(&p, WORDS("sum/double_word", "--accumulator", "fp16")), STATUS_DEVICE, "%s",
                 p.text);
}

/* The model of a matrix instruction is found again, and what it does not take is refused. */
Test(verb_reveal, chips, .init = make_folder, .fini = remove_folder)
{
    hold(STATUS_OK, "K: 32 products of a fused sum; blocks in order of k",
         WORDS("h100/wgmma", "--storage", "e4m3", "--accumulator", "fp32"));
    hold(STATUS_OK, "as listed (ulpscope list h100): yes",
         WORDS("h100/wgmma", "--storage", "e5m2"));
    hold(STATUS_OK, "\"block\":4,\"block_known\":true,\"fraction_bits\":23",
         WORDS("v100/mma", "--json"));
    hold(STATUS_OK, "K: at least 4 products", WORDS("v100/mma", "--n", "4"));
    hold(STATUS_USAGE, "no instruction for fp64", WORDS("h100/wgmma", "--storage", "fp64"));
    hold(STATUS_USAGE, "option --n: ", WORDS("h100/wgmma", "--n", "1"));
    hold(STATUS_USAGE, "option --threads: ", WORDS("h100/wgmma", "--threads", "2"));
    hold(STATUS_USAGE, "option --dot: ", WORDS("h100/wgmma", "--dot"));
    hold(STATUS_USAGE, "", WORDS("h100/tcgen05"));
}

/* --ranks: every element of a message. */
Test(verb_reveal, orders_of_all_elements, .init = make_folder, .fini = remove_folder)
{
    hold(STATUS_OK, "4 ranks, 1000 elements each: 4 orders, by the element\n",
         WORDS("allreduce/ring", "--ranks", "4"));
    hold(STATUS_OK, "\nelements 250..499:\n0 + ((1 + 2) + 3)\n",
         WORDS("allreduce/ring", "--ranks", "4"));
    hold(STATUS_OK, "element 0:\n0 + 1\n",
         WORDS("reduce_scatter/linear", "--ranks", "2", "--n", "2"));
    hold(STATUS_OK, "\nno order shows: every answer holds all other ranks",
         WORDS("allreduce/exact", "--ranks", "4"));
    hold(STATUS_OK, ": one order for each of 1000 elements\n",
         WORDS("allreduce/ring", "--ranks", "3", "--against", "allreduce/ring"));
    hold(STATUS_FAILED, "of one order: 250; of different orders: 750; where none shows: 0\n",
         WORDS("allreduce/ring", "--ranks", "4", "--against", "allreduce/rank_order"));
    hold(STATUS_FAILED, "of one order: 0; of different orders: 0; where none shows: 1000\n",
         WORDS("allreduce/binned", "--ranks", "4", "--against", "allreduce/binned"));
    hold(STATUS_OK, "\"orders\":[{\"elements\":[[0,0]],\"verdict\":\"tree\",\"held\":true,",
         WORDS("allreduce/ring", "--ranks", "4", "--n", "8", "--json"));
    hold(STATUS_USAGE, "option --ranks: found 4 with n = 10, expected a divisor of n",
         WORDS("allreduce/ring", "--ranks", "4", "--n", "10"));
    hold(STATUS_USAGE, "option --ranks: found 65, expected 2 to 64",
         WORDS("allreduce/ring", "--ranks", "65"));
    hold(STATUS_USAGE, "expected an all-reduce or a reduce-scatter",
         WORDS("sum/tiled", "--ranks", "4"));
    hold(STATUS_USAGE, "option --dot: found --ranks with it",
         WORDS("allreduce/ring", "--ranks", "4", "--dot"));
}
