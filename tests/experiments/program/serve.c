/* `ulpscope serve`: what goes through it is what the method gives in this process, bit for bit. */
#include <stdio.h>
#include <sys/resource.h>

#include <criterion/criterion.h>

#include "experiments/subjects/foreign.h"
#include "experiments/system/machine.h"
#include "experiments/subjects/subject.h"
#include "experiments/subjects/wire.h"
#include "tests/support/files.h"
#include "tests/support/samples.h"
#include "tests/support/scatters.h"

enum { N = 3000 };

static double x[N], ours[N], theirs[N];

static const struct method *served(const char *method, const struct operation *operation)
{
    char name[400];
    struct problem p = {0};
    const struct method *m;
    snprintf(name, sizeof name, "exec:%s serve %s --device cpu --threads 64 --blocks 3",
             ULPSCOPE_PROGRAM, method);
    cr_assert(subject_named(&m, "test", name, operation, &p) == STATUS_OK, "%s", p.text);
    return m;
}

static void hold(const struct method *method, const struct method *foreign, struct task t,
                 uint64_t seed)
{
    struct problem p = {0};
    sample_fill(&t.of->in, SAMPLE_NEAR, t.accumulator, seed);
    t.out.n = method->operation->outputs(t.of->in.n, t.of->bins);
    t.method = method;
    t.shape = method_shape(method, DEVICE_CPU, t.of->in.n, (struct shape){64, 3});
    t.out.data = ours;
    cr_assert(method->cpu(&t, &p) == STATUS_OK, "%s", p.text);
    t.method = foreign;
    t.out.data = theirs;
    cr_assert(foreign->cpu(&t, &p) == STATUS_OK, "%s", p.text);
    cr_assert(memcmp(ours, theirs, array_bytes(t.out.format, t.out.n)) == 0,
              "%s, %s in %s, n = %zu, seed %d", method->name, format_facts[t.of->in.format].name,
              format_facts[t.accumulator].name, t.of->in.n, (int)seed);
}

Test(serve, sums_are_the_same_bits_in_all_pairs)
{
    static const char *const name[] = {"sum/serial", "sum/two_kernel"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const struct method *foreign = served(name[i], NULL), *m = method_named(name[i]);
        for (enum format s = 0; s < ACCUMULATORS; s++)
            for (enum format a = 0; a < ACCUMULATORS; a++)
                for (size_t n = 0; n <= N; n = 3 * n + 1)
                    hold(m, foreign,
                         (struct task){.of = &(struct operands){.in = {s, n, x}},
                                       .out.format = a,
                                       .accumulator = a,
                                       .device = -1},
                         n + 16 * s + 4 * a);
    }
}

Test(serve, scans_are_the_same_bits_in_all_kinds)
{
    const struct method *foreign = served("scan/tiled", &operation_scan);
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (enum format a = 0; a < ACCUMULATORS; a++)
            for (enum format o = 0; o < ACCUMULATORS; o++)
                for (int exclusive = 0; exclusive < 2; exclusive++)
                    hold(
                        method_named("scan/tiled"), foreign,
                        (struct task){.of = &(struct operands){.in = {s, 100 + 20 * o + 700 * a, x},
                                                               .exclusive = exclusive},
                                      .out.format = o,
                                      .accumulator = a,
                                      .device = -1},
                        s + 4 * a + 16 * o);
}

Test(serve, dot_products_are_the_same_bits_in_all_pairs)
{
    static double y[N];
    static const char *const name[] = {"dot/serial", "dot/compensated", "dot/exact"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const struct method *m = method_named(name[i]), *foreign = served(name[i], &operation_dot);
        for (enum format s = 0; s < ACCUMULATORS; s++)
            for (enum format a = 0; a < ACCUMULATORS; a++)
                for (size_t n = 0; n <= N && method_supports(m, DEVICE_CPU, s, a); n = 4 * n + 1) {
                    struct task t = {.of = &(struct operands){.in = {s, n, x},
                                                              .in2 = {s, n, y},
                                                              .product = m->product},
                                     .out.format = a,
                                     .accumulator = a,
                                     .device = -1};
                    sample_fill(&t.of->in2, SAMPLE_NEAR, a, ~n);
                    hold(m, foreign, t, n + 16 * s + 4 * a);
                }
    }
}

Test(serve, takes_more_than_a_pipe_holds)
{
    struct problem p = {0};
    enum { MANY = 1 << 22 };
    struct array in = {FP32, MANY, malloc(4 * MANY)}, a = {FP32, MANY, malloc(4 * MANY)},
                 b = {FP32, MANY, malloc(4 * MANY)};
    const struct method *m = method_named("scan/serial");
    struct task t = {.of = &(struct operands){.in = in},
                     .out = a,
                     .accumulator = FP32,
                     .method = m,
                     .device = -1};
    sample_fill(&in, SAMPLE_NEAR, FP32, 1);
    cr_assert(m->cpu(&t, &p) == STATUS_OK);
    t.method = served("scan/serial", &operation_scan);
    t.out = b;
    cr_assert(t.method->cpu(&t, &p) == STATUS_OK, "%s", p.text);
    cr_expect(memcmp(a.data, b.data, 4 * MANY) == 0);
    free(in.data);
    free(a.data);
    free(b.data);
}

/* Bytes to its standard input; what it says on standard error, and its exit status behind it. */
static void expect_end(const char *options, const char *bytes, const char *said, int due)
{
    char command[700], text[1200] = "";
    snprintf(command, sizeof command,
             "printf '%s' | %s serve %s 2>&1 >/dev/null; echo \"status $?\"", bytes,
             ULPSCOPE_PROGRAM, options);
    FILE *pipe = popen(command, "r");
    cr_assert(pipe);
    size_t got = fread(text, 1, sizeof text - 1, pipe);
    pclose(pipe);
    text[got] = 0;
    char status[32];
    snprintf(status, sizeof status, "status %d\n", due);
    cr_expect(strstr(text, said) && strstr(text, status), "%s, '%s': found '%s', expected '%s', %d",
              options, bytes, text, said, due);
}

Test(serve, scatter_adds_are_the_same_bits_of_all_keys)
{
    static uint32_t key[N];
    static const char *const name[] = {"scatter/sort", "scatter/ordered", "scatter/exact"};
    static const size_t bins[] = {1, 7, N};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const struct method *foreign = served(name[i], &operation_scatter);
        for (size_t k = 0; k < 3 * ACCUMULATORS * ACCUMULATORS; k++) {
            size_t n = k % 7 ? 37 * k : 0;
            scatter_keys_fill(key, n, bins[k % 3], k % SCATTER_KEYS, k);
            hold(method_named(name[i]), foreign,
                 (struct task){.of = &(struct operands){.in = {k % ACCUMULATORS, n, x},
                                                        .keys = key,
                                                        .bins = bins[k % 3]},
                               .out.format = k / ACCUMULATORS % ACCUMULATORS,
                               .accumulator = k / ACCUMULATORS % ACCUMULATORS,
                               .device = -1},
                 k);
        }
    }
}

Test(serve, rows_are_the_same_bits_in_all_layouts)
{
    static const char *const name[] = {"rows/serial", "rows/tiled", "rows/exact",
                                       "transpose/tiled"};
    static const size_t rows[] = {60, 60, 2940, 1}, stride[] = {1, 6, 2940, 1};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const struct method *m = method_named(name[i]), *foreign = served(name[i], m->operation);
        for (size_t k = 0; k < 4 * ACCUMULATORS * ACCUMULATORS; k++) {
            enum format s = k / 4 % ACCUMULATORS,
                        a = m->operation->array ? s : k / 4 / ACCUMULATORS;
            if (method_supports(m, DEVICE_CPU, s, a))
                hold(m, foreign,
                     (struct task){.of = &(struct operands){.in = {s, k % 7 ? 2940 : 0, x},
                                                            .bins = rows[k % 4],
                                                            .stride = stride[k % 4]},
                                   .out.format = a,
                                   .accumulator = a,
                                   .device = -1},
                     k);
        }
    }
}

Test(serve, malformed_requests_are_refused)
{
    static const char *const line[] = {"sum",
                                       "sum 1 fp32",
                                       "sum 1 fp32 fp32 inclusive fp32",
                                       "Sum 1 fp32 fp32",
                                       " sum 1 fp32 fp32",
                                       "sum  1 fp32 fp32",
                                       "sum -1 fp32 fp32",
                                       "sum 1e3 fp32 fp32",
                                       "sum 1 fp8 fp32",
                                       "sum 1 fp32 ",
                                       "scan 1 fp32 fp32 both fp32",
                                       "scan 1 fp32 fp32 inclusive",
                                       "sum 99999999999999999999 fp32 fp32",
                                       "scatter 1 fp32 fp32",
                                       "scatter 1 fp32 fp32 0",
                                       "scatter 1 fp32 fp32 1048577",
                                       "scatter 1 fp32 fp32 1 1",
                                       "rows 6 fp32 fp32",
                                       "rows 6 fp32 fp32 3",
                                       "rows 6 fp32 fp32 4 1",
                                       "rows 6 fp32 fp32 0 1",
                                       "rows 6 fp32 fp32 3 2",
                                       "rows 6 fp32 fp32 3 0",
                                       "rows 0 fp32 fp32 4294967296 1",
                                       "transpose 0 fp32 fp32 4294967296 4294967296",
                                       "transpose 6 fp32 fp32 4 1",
                                       "",
                                       "time",
                                       "offset 256",
                                       "shape 1",
                                       "shape 4000000000 0",
                                       "shape 1025 0",
                                       "shape 0 65536",
                                       "shape -1 0",
                                       "shape 4294967296 0"};
    char bytes[100];
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        snprintf(bytes, sizeof bytes, "%s\\n", line[i]);
        expect_end("sum/serial --device cpu", bytes, "ulpscope: request: found '", 3);
    }
    const char *cpu = "sum/serial --device cpu";
    expect_end(cpu, "?\\n",
               "or 'gemm N STORAGE ACCUMULATOR OUTPUT ROWS COLUMNS K LAYOUT LDA LDB C'\n", 3);
    expect_end(cpu, "shape 1024 65535\\nsum 0 fp32 fp32\\n", "status", 0);
    expect_end(cpu, "sum 1 fp32 fp32", "without a line break", 3);
    expect_end(cpu, "sum 2 fp32 fp32\\nabcdef", "found 6 of 8 bytes of elements", 3);
    expect_end(cpu, "scan 0 fp32 fp32 inclusive fp32\\n", "found a scan, expected a sum", 3);
    expect_end(cpu, "sum 1152921504606846976 fp64 fp64\\n", "out of memory", 4);
    const char *scatter = "scatter/sort --device cpu";
    expect_end(scatter, "scatter 1 fp32 fp32 3\\nabcdef", "found 0 of 1 keys", 3);
    expect_end(scatter, "scatter 1 fp32 fp32 3\\nabcd\\3\\0\\0\\0",
               "key 0: found 3, expected less than 3", 3);
    expect_end(scatter, "sum 0 fp32 fp32\\n", "found a sum, expected a scatter", 3);
    expect_end("compact/scan", "", "found compact/scan, which takes a mask", 2);
    expect_end("cub/sum --device cpu", "sum 0 fp32 fp32\\n", "cub/sum does not support", 4);
    expect_end("sum/none", "", "serve: found 'sum/none', expected one of", 2);
    expect_end("sum/serial --device gpu", "", "option --device: found 'gpu'", 2);
    expect_end("sum/serial --threads 1,2", "", "option --threads", 2);
    expect_end(cpu, "sum 0 fp32 fp32\\nsum 1 fp64 fp64\\n12345678", "status", 0);
}

/* A request is held to the operation whatever has been answered before. */
Test(serve, another_operation_is_refused_behind_a_good_request)
{
    static const char *const asked[][3] = {
        {"sum/serial", "sum 1 fp32 fp32\\n1234norm 1 fp32 fp32\\n1234",
         "found a norm, expected a sum"},
        {"rows/serial", "rows 1 fp32 fp32 1 1\\n1234transpose 1 fp32 fp32 1 1\\n1234",
         "found a transpose, expected a rows"},
        {"norm/serial", "norm 1 fp32 fp32\\n1234dot 1 fp32 fp32\\n12341234",
         "found a dot, expected a norm"},
        {"dot/serial", "dot 1 fp32 fp32\\n12341234sum 1 fp32 fp32\\n1234",
         "found a sum, expected a dot"}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char options[60];
        snprintf(options, sizeof options, "%s --device cpu", asked[i][0]);
        expect_end(options, asked[i][1], asked[i][2], 3);
    }
}

Test(serve, lines_round_trip)
{
    char line[WIRE_LINE];
    struct problem p = {0};
    static const struct operation *const operation[] = {&operation_sum, &operation_scan,
                                                        &operation_scatter, &operation_rows};
    for (int scan = 0, kind = 0; kind < 4; scan = ++kind == 1)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            struct wire_request r,
                due = {.operation = operation[kind],
                       .bins = kind == 2   ? f * 1000 + 1
                               : kind == 3 ? (size_t)2 << f
                                           : 0,
                       .stride = kind == 3 ? (size_t)1 << f : 0,
                       .n = (size_t)1 << (15 * f + 1),
                       .storage = f,
                       .accumulator = ACCUMULATORS - 1 - f,
                       .output = scan ? (f + 1) % ACCUMULATORS : ACCUMULATORS - 1 - f,
                       .exclusive = scan && f % 2};
            wire_write(line, &due);
            cr_assert(line[strlen(line) - 1] == '\n');
            line[strlen(line) - 1] = 0;
            cr_assert(wire_parse(&r, line, &p) == STATUS_OK, "%s", p.text);
            cr_expect(r.operation == due.operation && r.n == due.n && r.storage == due.storage &&
                          r.accumulator == due.accumulator && r.output == due.output &&
                          r.exclusive == due.exclusive && r.bins == due.bins &&
                          r.stride == due.stride,
                      "%s", line);
        }
}

/* Of what a line promises and does not come, no memory is taken; and all of what it promises is
 * weighed before any of it is read. */
Test(serve, memory_is_for_what_comes)
{
    static const char *const request[] = {"sum 200000000 fp32 fp32\\n1234",
                                          "scan 100000000 fp64 fp64 inclusive fp64\\n1234",
                                          "dot 100000000 fp64 fp64\\n1234"};
    static const char *const method[] = {"sum/serial --device cpu", "scan/serial --device cpu",
                                         "dot/serial --device cpu"};
    struct rusage used;
    for (size_t i = 0; i < 3; i++)
        expect_end(method[i], request[i], "found 4 of ", 3);
    cr_assert_eq(getrusage(RUSAGE_CHILDREN, &used), 0);
    cr_expect(used.ru_maxrss < 300000, "%ld KiB", used.ru_maxrss);
}

Test(serve, memory_of_all_arrays)
{
    /* n elements fit this machine once, and twice they do not. */
    size_t n = machine_memory_available() / 8 / 4 * 3;
    char bytes[100];
    snprintf(bytes, sizeof bytes, "scan %zu fp64 fp64 inclusive fp64\\n", n);
    expect_end("scan/serial --device cpu", bytes, "out of memory for ", 4);
    snprintf(bytes, sizeof bytes, "dot %zu fp64 fp64\\n", n);
    expect_end("dot/serial --device cpu", bytes, "out of memory for ", 4);
}

/* A length has at most 19 digits, and a line one blank between its words. */
Test(serve, lines_that_are_no_request)
{
    static const char *const line[] = {"sum 00000000000000000005 fp32 fp32", "sum  5 fp32 fp32",
                                       " sum 5 fp32 fp32", "sum 5 fp32 fp32 ", "sum 5x fp32 fp32"};
    struct wire_request r;
    cr_expect_eq(wire_parse(&r, "sum 5 fp32 fp32", NULL), STATUS_OK);
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        cr_expect_eq(wire_parse(&r, line[i], NULL), STATUS_DATA, "'%s'", line[i]);
}

/* Each operation reads what it writes, and neither a word more nor one less. */
Test(serve, requests_of_every_operation)
{
    for (size_t i = 0; operations[i]; i++) {
        struct wire_request r = {.operation = operations[i],
                                 .n = 24,
                                 .storage = FP16,
                                 .accumulator = FP64,
                                 .output = FP32,
                                 .exclusive = true,
                                 .bins = 6,
                                 .stride = 3,
                                 .gemm = {.m = 2, .n = 3, .k = 4, .b_column = true, .pad = 0}};
        if (r.operation->matrices)
            r.n = gemm_c_begins(&r.gemm);
        struct wire_request again;
        char line[WIRE_LINE], other[WIRE_LINE], more[WIRE_LINE + 2];
        wire_write(line, &r);
        line[strcspn(line, "\n")] = 0;
        snprintf(more, sizeof more, "%s 1", line);
        cr_expect_eq(wire_parse(&again, more, NULL), STATUS_DATA, "'%s'", more);
        cr_assert_eq(wire_parse(&again, line, NULL), STATUS_OK, "'%s'", line);
        wire_write(other, &again);
        other[strcspn(other, "\n")] = 0;
        cr_expect_str_eq(other, line);
        *strrchr(line, ' ') = 0;
        cr_expect_eq(wire_parse(&again, line, NULL), STATUS_DATA, "'%s'", line);
    }
}
