/* ulpscope reveal: the order that a method really uses, from its outputs alone. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/check/check.h"
#include "experiments/inputs/heads.h"
#include "experiments/operations/operation.h"
#include "experiments/reveal/outputs.h"
#include "experiments/reveal/report.h"
#include "experiments/subjects/subject.h"
#include "experiments/program/reveal_chip.h"
#include "experiments/program/reveal_outputs.h"
#include "experiments/program/reveal_product.h"
#include "experiments/cases/again.h"
#include "experiments/program/verbs.h"
#include "reports/text/near.h"

/* What is asked for, of one method or of two. */
struct reveal_request {
    struct device device;
    enum format storage, accumulator; /* FORMATS: not said */
    bool exclusive, output_storage;
    uint64_t n, prefix, threads, blocks, segment;
    uint64_t ranks; /* 0: not said, the order of one element is asked for */
    uint8_t *heads;
};

static enum status read_format(const struct arguments *a, const char *name, enum format otherwise,
                               enum format *f, struct problem *p)
{
    const char *text = argument_value(a, name);
    *f = otherwise;
    return text ? format_parse(f, name, text, p) : STATUS_OK;
}

/* One of two words; the first where the option is not given. */
static enum status read_choice(const struct arguments *a, const char *name, const char *one,
                               const char *other, bool *is_other, struct problem *p)
{
    char expected[64];
    const char *text = argument_value(a, name);
    snprintf(expected, sizeof expected, "%s or %s", one, other);
    *is_other = text && strcmp(text, other) == 0;
    return !text || *is_other || strcmp(text, one) == 0
               ? STATUS_OK
               : near_unknown_option(p, name, text, expected);
}

static enum status read_numbers(const struct arguments *a, struct reveal_request *q,
                                struct problem *p)
{
    enum { MOST = 1 << 28, OF_A_RANK = 1000 };
    enum status status = argument_number(a, "ranks", 0, 2, REVEAL_TERMS_MOST, &q->ranks, p);
    if (status == STATUS_OK)
        status = argument_number(a, "n", q->ranks ? OF_A_RANK * q->ranks : 16, 1, MOST, &q->n, p);
    if (status == STATUS_OK)
        status = argument_number(a, "prefix", q->n - 1, 0, q->n - 1, &q->prefix, p);
    if (status == STATUS_OK)
        status = argument_number(a, "threads", 0, 1, THREADS_MAX, &q->threads, p);
    if (status == STATUS_OK)
        status = argument_number(a, "blocks", 0, 1, BLOCKS_MAX, &q->blocks, p);
    if (status == STATUS_OK)
        status = argument_number(a, "segment", 0, 0, MOST, &q->segment, p);
    return status;
}

static enum status read_request(const struct arguments *a, struct reveal_request *q,
                                struct problem *p)
{
    const char *device = argument_value(a, "device");
    *q = (struct reveal_request){0};
    enum status status = device_parse(&q->device, device ? device : "auto", p);
    if (status == STATUS_OK)
        status = read_format(a, "storage", FORMATS, &q->storage, p);
    if (status == STATUS_OK)
        status = read_format(a, "accumulator", FORMATS, &q->accumulator, p);
    if (status == STATUS_OK)
        status = read_choice(a, "scan", "inclusive", "exclusive", &q->exclusive, p);
    if (status == STATUS_OK)
        status = read_choice(a, "output", "accumulator", "storage", &q->output_storage, p);
    if (status == STATUS_OK)
        status = read_numbers(a, q, p);
    return status == STATUS_OK ? heads_make(&q->heads, q->n, q->segment, p) : status;
}

/* What a program without a name of its own is taken for. */
static const struct operation *asked_operation(const struct arguments *a)
{
    static const char *const of_scans[] = {"prefix", "scan", "output", "segment"};
    const char *name = argument_value(a, "operation");
    if (name)
        return operation_named(name);
    if (argument_value(a, "shape"))
        return operation_asking(SETTING_SHAPE);
    for (size_t i = 0; i < sizeof of_scans / sizeof *of_scans; i++)
        if (argument_value(a, of_scans[i]))
            return operation_asking(SETTING_SCAN);
    return NULL;
}

/* Why no order is found of what is known here; NULL: it is none of these. */
static const char *why_none(const struct method *m)
{
    const struct exact_facts *facts = &exact_facts[m->operation->of];
    if (facts->form == FORM_MOMENTS || facts->centred)
        return "every element moves the mean that is taken from all, so no element can be hidden "
               "from a sum";
    if (facts->form == FORM_ROW && facts->epsilon > 0)
        return "its results are elements over a root, of which no order is looked for";
    if (facts->form == FORM_ROW)
        return "exponentials but 1 are no powers of two, so no sums can be made that hide an "
               "element exactly";
    return NULL;
}

/* The case of a method, NAME or that of an option. `model`: what has no kernel for a GPU is asked
 * on the CPU. */
static enum status make_case(struct reveal_case *c, const struct reveal_request *q, bool model,
                             const char *where, const char *name, const struct operation *operation,
                             struct problem *p)
{
    const struct method *m;
    struct device device = q->device;
    enum status status = subject_named(&m, where, name, operation, p);
    if (status != STATUS_OK)
        return status;
    bool scan = operation_asks(m->operation, SETTING_SCAN);
    const char *why = reveal_can_ask(m) ? NULL : why_none(m);
    if (why)
        return problem(p, STATUS_USAGE, "%s: found %s, of which no order can be revealed: %s",
                       where, m->name, why);
    if (!reveal_can_ask(m))
        return problem(
            p, STATUS_USAGE,
            "%s: found %s, whose operation is %s: expected a sum, a scan, a dot product, a "
            "scatter-add, a sum of rows, a norm, a mean that is a sum divided by n, or a matrix "
            "product",
            where, m->name, m->operation->name);
    if (q->heads && !m->segmented)
        return problem(p, STATUS_USAGE, "option --segment: found %s, expected a segmented scan",
                       m->name);
    struct format_pair pair = reveal_formats(m, device.kind, q->storage, q->accumulator);
    if (model && !method_supports(m, device.kind, pair.storage, pair.accumulator) &&
        method_supports(m, DEVICE_CPU, pair.storage, pair.accumulator))
        device = (struct device){DEVICE_CPU, 0};
    *c = (struct reveal_case){
        .spec = {.method = m,
                 .device = device,
                 .storage = pair.storage,
                 .accumulator = pair.accumulator,
                 .output = scan && q->output_storage ? pair.storage : pair.accumulator,
                 .n = q->n,
                 .shape = {(unsigned)q->threads, (unsigned)q->blocks},
                 .exclusive = scan && q->exclusive,
                 .heads = scan ? q->heads : NULL},
        .prefix = scan ? q->prefix : q->n - 1,
        .progress = isatty(STDERR_FILENO)};
    return STATUS_OK;
}

static enum status print_dot(const struct reveal_report *r, struct problem *p)
{
    char title[REVEAL_TITLE];
    reveal_title(title, &r->of);
    if (r->found.verdict != REVEAL_TREE)
        return problem(p, STATUS_FAILED, "reveal: %s: no tree to draw", title);
    sum_tree_dot(stdout, &r->found.tree, r->first, title);
    return STATUS_OK;
}

static enum status reveal_one(const struct reveal_case *c, const struct arguments *a,
                              struct problem *p)
{
    struct reveal_report r;
    enum status status = reveal_report_make(&r, c, 0, p);
    if (status == STATUS_OK && argument_flag(a, "dot"))
        status = print_dot(&r, p);
    else if (status == STATUS_OK && argument_flag(a, "json"))
        status = reveal_print_json(reveal_report_json(&r), p);
    else if (status == STATUS_OK)
        status = reveal_report_print(&r, p);
    if (status == STATUS_OK)
        status = reveal_report_status(&r, p);
    reveal_report_free(&r);
    return status;
}

/* --- two --- */

static enum status print_beside(const struct reveal_report r[2], const struct reveal_beside *beside,
                                bool json, struct problem *p)
{
    char text[3 * SUM_TREE_SET] = "";
    const char *name[2] = {r[0].of.spec.method->name, r[1].of.spec.method->name};
    bool equal = beside->shown && beside->difference.equal;
    enum status status = STATUS_OK;
    if (beside->shown && !equal)
        status = reveal_difference_text(text, sizeof text, &beside->difference, &r[0].found.tree,
                                        &r[1].found.tree, name[0], name[1], r[0].first, p);
    if (json && status == STATUS_OK)
        status = reveal_print_json(json_pack("{so so ss ss?}", "method", reveal_report_json(&r[0]),
                                             "against", reveal_report_json(&r[1]), "orders",
                                             equal           ? "equal"
                                             : beside->shown ? "different"
                                                             : "not_shown",
                                             "words", *text ? text : NULL),
                                   p);
    if (!json && status == STATUS_OK) {
        for (int i = 0; i < 2 && status == STATUS_OK; i++) {
            status = reveal_report_print(&r[i], p);
            printf("\n");
        }
        printf("%s and %s: %s%s\n", name[0], name[1],
               equal           ? "one order"
               : beside->shown ? "different orders: "
                               : "not compared, as one shows no order",
               text);
    }
    if (status == STATUS_OK && !equal)
        status = problem(p, STATUS_FAILED, "reveal: %s and %s: %s", name[0], name[1],
                         beside->shown ? "different orders" : "not compared");
    return status;
}

static enum status reveal_two(const struct reveal_case c[2], const struct arguments *a,
                              struct problem *p)
{
    struct reveal_report r[2] = {0};
    struct reveal_beside beside = {0};
    enum status status = reveal_report_make(&r[0], &c[0], 0, p);
    if (status == STATUS_OK)
        status = reveal_report_make(&r[1], &c[1], 0, p);
    if (status == STATUS_OK && (r[0].first != r[1].first || r[0].leaves != r[1].leaves))
        status = problem(p, STATUS_USAGE, "option --against: %s sums %zu elements, %s sums %zu",
                         c[0].spec.method->name, r[0].leaves, c[1].spec.method->name, r[1].leaves);
    if (status == STATUS_OK)
        status = reveal_compare(&beside, &r[0].found, &r[1].found.tree, p);
    if (status == STATUS_OK)
        status = print_beside(r, &beside, argument_flag(a, "json"), p);
    for (int i = 0; i < 2 && status == STATUS_OK; i++)
        status = reveal_report_status(&r[i], p);
    reveal_report_free(&r[0]);
    reveal_report_free(&r[1]);
    return status;
}

/* What only scans heed is not left aside in silence. */
static enum status check_scans(const struct arguments *a, const struct reveal_case c[2],
                               size_t cases, struct problem *p)
{
    static const char *const of_scans[] = {"prefix", "scan", "output"};
    for (size_t i = 0; i < cases; i++)
        if (operation_asks(c[i].spec.method->operation, SETTING_SCAN))
            return STATUS_OK;
    for (size_t i = 0; i < sizeof of_scans / sizeof *of_scans; i++)
        if (argument_value(a, of_scans[i]))
            return problem(p, STATUS_USAGE, "option --%s: found %s, a %s, expected a scan",
                           of_scans[i], c[0].spec.method->name, c[0].spec.method->operation->name);
    return STATUS_OK;
}

static enum status reveal(const struct arguments *a, struct problem *p)
{
    const char *against = argument_value(a, "against");
    struct reveal_request q;
    struct reveal_case c[2];
    if (reveal_names_chip(a->operand[0]))
        return reveal_chip(a, a->operand[0], p);
    if (reveal_near_chip(a->operand[0], p) != STATUS_OK)
        return p->status;
    const struct method *m;
    enum status status = subject_named(&m, "reveal", a->operand[0], asked_operation(a), p);
    if (status == STATUS_OK)
        status = check_computes(m, "reveal", a, p);
    if (status == STATUS_OK && operation_reads_c(m->operation))
        return reveal_products(a, m, p);
    if (status == STATUS_OK)
        status = reveal_no_product(a, m, p);
    if (status != STATUS_OK)
        return status;
    status = read_request(a, &q, p);
    if (status == STATUS_OK && argument_flag(a, "dot") && (against || argument_flag(a, "json")))
        status = problem(p, STATUS_USAGE, "option --dot: found --%s with it, expected it alone",
                         against ? "against" : "json");
    if (status == STATUS_OK)
        status = make_case(&c[0], &q, false, "reveal", a->operand[0], asked_operation(a), p);
    if (status == STATUS_OK && against)
        status = make_case(&c[1], &q, true, "option --against", against, asked_operation(a), p);
    if (status == STATUS_OK)
        status = check_scans(a, c, against ? 2 : 1, p);
    if (status == STATUS_OK && q.ranks)
        status = reveal_all_outputs(a, c, against ? 2 : 1, q.ranks, p);
    else if (status == STATUS_OK)
        status = against ? reveal_two(c, a, p) : reveal_one(&c[0], a, p);
    free(q.heads);
    return status;
}

static enum status run(const struct arguments *a, struct problem *p)
{
    const char *device = argument_value(a, "device");
    struct device d;
    struct problem why;
    enum status status = reveal(a, p);
    bool answered = status == STATUS_OK || status == STATUS_FAILED;
    if (answered && !argument_flag(a, "dot") && !argument_flag(a, "json") &&
        device_parse(&d, device ? device : "auto", &why) == STATUS_OK)
        again_print(a, &d, 1);
    return status;
}

const struct verb verb_reveal = {
    .name = "reveal",
    .operands = "METHOD",
    .least = 1,
    .most = 1,
    .summary = "the order that a method really uses, from its outputs alone",
    .details =
        "METHOD is a method's name, or a subject of your own: PATH.so:NAME, python:FUNCTION, "
        "'exec:COMMAND'.\n"
        "\n"
        "With a large M in one element and -M in another, units that are added to M before M meets "
        "-M are lost;\n"
        "the units that survive are the elements outside the smallest subtree of the two. One call "
        "tests as many\n"
        "elements as the accumulator has bits, for many pairs at once. For methods that keep "
        "rounding errors,\n"
        "numbers that overflow on the way show the order, one element per call. Addition commutes, "
        "so left and\n"
        "right in the tree have no meaning. A node that adds more than two at once stands in "
        "brackets, or says\n"
        "`at once`.\n"
        "\n"
        "The tree must then give the same bits on other data: mixed signs and scales, sorted, "
        "cancelling, sums of\n"
        "three. If it does not, the order depends on the data, or additions are not in pairs "
        "(fused, in a wider\n"
        "accumulator, compensated); the sums of three tell which.\n"
        "\n"
        "For a dot product it also finds whether products are rounded before they are added, "
        "or fused. For a scatter-add it finds the order within one bin, which gets all "
        "elements.\n"
        "\n"
        "For an all-reduce --n alone is the number of ranks, with one element. With --ranks P "
        "it finds the order of each of the n / P elements of a message, because libraries cut "
        "it into parts that ranks add in different orders.\n"
        "\n"
        "For a matrix product D = A B + C, of --shape, it finds the tree, which may have fused "
        "sums: how many products a fused sum takes (K), to how many bits terms are truncated "
        "(F), how sums are rounded, split-K, where C is added, whether products are rounded "
        "before they are added, whether fp32 is read as tf32 or bf16. It compares this rule "
        "with 500 products of other operands, and names the instructions of ulpscope list "
        "chips that have it. If no rule gives their bits it says so, or, if sums of three terms "
        "show it, that the order depends on the data. In every question all rows of A are equal, "
        "and all columns of B; elements of D that differ are reported.\n"
        "\n"
        "CHIP/UNIT, such as h100/wgmma (ulpscope list chips), is the model of a matrix "
        "instruction. For a product of n elements of --storage (fp32: tf32) and C it finds "
        "which terms form one sum, to how many bits they are truncated, how results are "
        "rounded, and where C is added, and says whether that is the listed rule.\n"
        "\n"
        "In the text, `as` refers to an earlier part of the same shape. --json has every node: "
        "number `elements` + k adds the nodes in nodes[k]; lower numbers are elements, from "
        "`first` on; depth[i] is the number of additions that the i-th of them passes through. "
        "`held`: with how many arrays the order was compared. Exit status 1: no fixed order, "
        "an order that depends on the data, additions that are not in pairs, no rule that gives "
        "the bits of other matrices, not the declared order, or not that of --against.",
    .examples =
        "  ulpscope reveal sum/tiled --device cpu --n 8\n"
        "  ulpscope reveal sum/two_kernel --device cpu --n 2^12 --threads 64 --blocks 4\n"
        "  ulpscope reveal scan/blelloch --device cpu --n 16 --prefix 6\n"
        "  ulpscope reveal sum/pairwise --device cpu --n 12 --dot\n"
        "  ulpscope reveal allreduce/ring --device cpu --ranks 4\n"
        "  ulpscope reveal h100/wgmma --storage e4m3 --accumulator fp32\n"
        "  ulpscope reveal gemm/mma --chip ada --storage fp16 --accumulator fp32\n"
        "  ulpscope reveal python:numpy.matmul --shape 16x16x256\n"
        "  ulpscope reveal ./mine.so:product --operation gemm --shape 64x64x512\n"
        "  ulpscope reveal sum/tiled --device cpu --against sum/coarsened --threads 256 --n "
        "600",
    .run = run,
};
