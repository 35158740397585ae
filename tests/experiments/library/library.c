/* libulpscope, by its public header. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/ulpscope_subject.h"
#include "experiments/library/ulpscope.h"

/* 2^53 + 1 + 2^-60 - 2^53 and a pair that cancels. */
static const double hard[] = {0x1p53, 1, 0x1p-60, -0x1p53, 3e300, -3e300};
static const struct ulpscope_array hard_array = {ULPSCOPE_FP64, 6, hard};

Test(library, header_and_library_are_of_one_version)
{
    char header[32];
    snprintf(header, sizeof header, "%d.%d.%d", ULPSCOPE_VERSION_MAJOR, ULPSCOPE_VERSION_MINOR,
             ULPSCOPE_VERSION_PATCH);
    cr_expect_str_eq(ulpscope_version(), header);
}

Test(library, sum_is_exact_and_rounded_once)
{
    double sum;
    float halfway[] = {1, 0x1p-24f, 0x1p-60f};
    const struct ulpscope_array a = {ULPSCOPE_FP32, 3, halfway}, none = {ULPSCOPE_FP16, 0, NULL};
    cr_assert(ulpscope_sum(&sum, &hard_array, ULPSCOPE_FP64, NULL) == ULPSCOPE_OK);
    cr_assert(sum == 1, "found %a", sum); /* 1 + 2^-60 */
    cr_assert(ulpscope_sum(&sum, &a, ULPSCOPE_FP32, NULL) == ULPSCOPE_OK);
    cr_assert(sum == 1 + 0x1p-23, "rounded twice: %a", sum);
    cr_assert(ulpscope_sum(&sum, &none, ULPSCOPE_FP32, NULL) == ULPSCOPE_OK);
    cr_assert(sum == 0 && !signbit(sum), "of nothing: %a", sum);
}

Test(library, reference_and_figures)
{
    struct ulpscope_reference *r;
    struct ulpscope_figures is;
    cr_assert(ulpscope_reference_new(&r, &hard_array, NULL) == ULPSCOPE_OK);
    cr_assert(strcmp(ulpscope_reference_hex(r), "0x1.000000000000001p+0") == 0, "found %s",
              ulpscope_reference_hex(r));
    cr_assert(ulpscope_reference_sum(r) == 1 && ulpscope_reference_sum_abs(r) == 6e300);
    cr_assert(fabs(ulpscope_reference_cond_log2(r) - log2(6e300)) < 1e-9);
    cr_assert(ulpscope_measure(&is, r, ULPSCOPE_FP64, 0, NULL) == ULPSCOPE_OK);
    cr_assert(is.err_abs == 1 && is.err_rel == 1 && is.err_ulp == 0x1p52 && is.within,
              "found %a, %a, %a", is.err_abs, is.err_rel, is.err_ulp);
    cr_assert(fabs(is.bound / (5 * 0x1p-53 * 6e300) - 1) < 1e-15, "found %a", is.bound);
    cr_assert(ulpscope_measure(&is, r, ULPSCOPE_FP64, 1e300, NULL) == ULPSCOPE_OK && !is.within,
              "a broken bound is not seen");
    cr_assert(ulpscope_measure(&is, r, ULPSCOPE_FP64, NAN, NULL) == ULPSCOPE_OK && !is.within,
              "a NaN is within the bound");
    cr_assert(ulpscope_measure(&is, r, ULPSCOPE_FP32, 0.1, NULL) == ULPSCOPE_USAGE,
              "0.1 is taken for a value of fp32");
    ulpscope_reference_free(r);
}

Test(library, states_merge_and_travel)
{
    for (unsigned folds = 0; folds <= 4; folds++) {
        struct ulpscope_state *whole, *part[2], *back;
        unsigned char bytes[2][1024];
        struct ulpscope_error error;
        enum ulpscope_status made =
            ulpscope_state_new(&whole, folds, ULPSCOPE_FP64, ULPSCOPE_FP64, &error);
        if (folds == 1) {
            cr_assert(made == ULPSCOPE_USAGE && !whole && *error.text, "1 fold is no error");
            continue;
        }
        cr_assert(ulpscope_state_add(whole, &hard_array, NULL) == ULPSCOPE_OK);
        for (size_t i = 0; i < 2; i++) {
            const struct ulpscope_array a = {ULPSCOPE_FP64, i ? 4 : 2, hard + (i ? 2 : 0)};
            cr_assert(!ulpscope_state_new(&part[i], folds, ULPSCOPE_FP64, ULPSCOPE_FP64, NULL));
            cr_assert(!ulpscope_state_add(part[i], &a, NULL));
        }
        cr_assert(ulpscope_state_merge(part[1], part[0], NULL) == ULPSCOPE_OK);
        size_t size = ulpscope_state_bytes(whole);
        cr_assert(size <= sizeof bytes[0]);
        ulpscope_state_write(whole, bytes[0]);
        ulpscope_state_write(part[1], bytes[1]);
        cr_assert(memcmp(bytes[0], bytes[1], size) == 0, "%u folds: parts differ", folds);
        cr_assert(!ulpscope_state_read(&back, bytes[0], size, ULPSCOPE_FP64, NULL));
        cr_assert(ulpscope_state_sum(back) == ulpscope_state_sum(whole));
        cr_assert(folds || ulpscope_state_sum(back) == 1);
        ulpscope_state_free(back);
        bytes[0][4] ^= 0x40;
        cr_assert(ulpscope_state_read(&back, bytes[0], size, ULPSCOPE_FP64, &error) ==
                          ULPSCOPE_DATA &&
                      !back && *error.text,
                  "%u folds: torn bytes", folds);
        ulpscope_state_free(whole);
        ulpscope_state_free(part[0]);
        ulpscope_state_free(part[1]);
    }
}

/* A state may come from elsewhere and hold as many elements as there can be: no more go into it. */
Test(library, states_are_full_at_2_63_elements)
{
    double zero = 0;
    const struct ulpscope_array one = {ULPSCOPE_FP64, 1, &zero}, none = {ULPSCOPE_FP64, 0, NULL};
    for (unsigned folds = 0; folds <= 3; folds += 3) {
        unsigned char bytes[600], after[600];
        struct ulpscope_state *s, *full;
        struct ulpscope_error error = {0};
        cr_assert(!ulpscope_state_new(&s, folds, ULPSCOPE_FP64, ULPSCOPE_FP64, NULL) &&
                  !ulpscope_state_add(s, &one, NULL));
        size_t size = ulpscope_state_bytes(s);
        ulpscope_state_write(s, bytes);
        memset(bytes + 8, 0xff, 7);
        bytes[15] = 0x7f;
        cr_assert(!ulpscope_state_read(&full, bytes, size, ULPSCOPE_FP64, &error), "%s",
                  error.text);
        cr_expect(!ulpscope_state_add(full, &none, NULL));
        cr_expect(ulpscope_state_add(full, &one, &error) == ULPSCOPE_DATA &&
                      strstr(error.text, "more than 2^63 - 1 elements"),
                  "%u folds: %s", folds, error.text);
        ulpscope_state_write(full, after);
        cr_expect(memcmp(bytes, after, size) == 0, "%u folds", folds);
        ulpscope_state_free(s);
        ulpscope_state_free(full);
    }
}

Test(library, what_is_no_state)
{
    static const struct {
        const char *bytes, *says;
        size_t size;
    } no[] = {{"", "state: found 0 bytes, expected", 0},
              {"ulp", "state: found 3 bytes, expected", 3},
              {"ulpx", "state: bytes 0 to 3 are 75 6c 70 78, expected 75 6c 70 65 (exact) or", 4},
              {"ulpe", "exact state: 4 bytes, expected 560", 4},
              {"ulpb", "binned state: 4 bytes, expected 120", 4}};
    struct ulpscope_state *s;
    struct ulpscope_error error;
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        cr_expect(ulpscope_state_read(&s, no[i].bytes, no[i].size, ULPSCOPE_FP64, &error) ==
                          ULPSCOPE_DATA &&
                      strncmp(error.text, no[i].says, strlen(no[i].says)) == 0,
                  "'%s', expected '%s'", error.text, no[i].says);
    cr_expect(ulpscope_state_new(&s, 1, ULPSCOPE_FP64, ULPSCOPE_FP64, &error) == ULPSCOPE_USAGE);
    cr_expect_str_eq(error.text, "state: found 1 folds, expected 0 (exact), or 2 to 4");
}

/* States of two kinds, or of another format; arrays that are no pair; shapes beyond what there is.
 */
Test(library, what_does_not_go_together)
{
    struct ulpscope_state *exact, *binned;
    struct ulpscope_error error;
    const float narrow[] = {1, 2};
    const struct ulpscope_array fp32 = {ULPSCOPE_FP32, 2, (void *)narrow},
                                shorter = {ULPSCOPE_FP64, 2, hard};
    double out;
    cr_assert(!ulpscope_state_new(&exact, 0, ULPSCOPE_FP64, ULPSCOPE_FP64, &error));
    cr_assert(!ulpscope_state_new(&binned, 3, ULPSCOPE_FP64, ULPSCOPE_FP64, &error));
    cr_expect_eq(ulpscope_state_merge(exact, binned, &error), ULPSCOPE_USAGE);
    cr_expect_eq(ulpscope_state_merge(binned, exact, &error), ULPSCOPE_USAGE);
    cr_expect_str_eq(error.text, "state: found a state of 0 folds, expected 3");
    cr_expect_eq(ulpscope_state_add(binned, &fp32, &error), ULPSCOPE_USAGE);
    cr_expect_eq(ulpscope_state_add(exact, &fp32, &error), ULPSCOPE_OK);
    ulpscope_state_free(exact);
    ulpscope_state_free(binned);
    cr_expect_eq(
        ulpscope_run("dot/serial", &hard_array, &shorter, ULPSCOPE_FP64, 0, 0, &out, &error),
        ULPSCOPE_USAGE);
    cr_expect_eq(
        ulpscope_run("sum/serial", &hard_array, NULL, ULPSCOPE_FP64, 0, 65536, &out, &error),
        ULPSCOPE_USAGE);
    cr_expect_eq(
        ulpscope_run("sum/serial", &hard_array, NULL, ULPSCOPE_FP64, 1025, 0, &out, &error),
        ULPSCOPE_USAGE);
}

/* Ours have their operation's name in front. */
Test(library, operations_of_methods)
{
    static const struct {
        const char *name;
        int number;
    } known[] = {
#define OPERATION(name, number, ...) {#name "/", number},
#include "kernels/method/operations.def"
    };
    enum { KNOWN = sizeof known / sizeof *known };
    struct ulpscope_method m;
    size_t seen[KNOWN] = {0};
    for (size_t i = 0; i < ulpscope_method_count(); i++) {
        cr_assert(ulpscope_method_get(&m, i, NULL) == ULPSCOPE_OK);
        for (size_t k = 0; k < KNOWN; k++)
            if (strncmp(m.name, known[k].name, strlen(known[k].name)) == 0) {
                cr_expect((int)m.operation == known[k].number, "%s: %d", m.name, (int)m.operation);
                seen[k]++;
            }
    }
    for (size_t k = 0; k < KNOWN; k++)
        cr_expect((seen[k] > 0) == (known[k].number >= 0), "%s", known[k].name);
}

Test(library, products_and_extrema_run)
{
    const double x[] = {0x1p1000, -3, 0x1p1000, 0x1p-1000, 0x1p-1000, -3};
    const struct ulpscope_array a = {ULPSCOPE_FP64, 6, (void *)x};
    const struct {
        const char *method;
        double due;
    } due[] = {{"product/serial", 9},
               {"minimum/tree", -3},
               {"maximum/atomic", 0x1p1000},
               {"argmin/serial", 1},
               {"argmax/atomic", 0}};
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        double out = 0;
        cr_assert(!ulpscope_run(due[i].method, &a, NULL, ULPSCOPE_FP64, 0, 0, &out, NULL));
        cr_expect(out == due[i].due, "%s: %a", due[i].method, out);
    }
    float narrow;
    struct ulpscope_error error;
    cr_expect(ulpscope_run("argmin/serial", &a, NULL, ULPSCOPE_FP32, 0, 0, &narrow, &error) != 0);
}

Test(library, methods_run)
{
    struct ulpscope_method m;
    struct ulpscope_error error;
    double out, scan[6], dot;
    size_t named = 0;
    for (size_t i = 0; i < ulpscope_method_count(); i++) {
        cr_assert(ulpscope_method_get(&m, i, NULL) == ULPSCOPE_OK);
        cr_assert(strncmp(m.name, "scatter/", 8) != 0, "%s", m.name); /* it has no word for it */
        named += strcmp(m.name, "scan/exact") == 0 && m.operation == ULPSCOPE_SCAN &&
                 m.promise == ULPSCOPE_CORRECTLY_ROUNDED &&
                 m.pairs == (ULPSCOPE_ALL_PAIRS | ULPSCOPE_PAIRS_8);
    }
    cr_assert(named == 1 &&
              ulpscope_method_get(&m, ulpscope_method_count(), &error) == ULPSCOPE_USAGE);
    cr_assert(!ulpscope_run("sum/serial", &hard_array, NULL, ULPSCOPE_FP64, 0, 0, &out, NULL));
    cr_assert(out == 0, "sum/serial: %a", out);
    cr_assert(!ulpscope_run("scan/exact", &hard_array, NULL, ULPSCOPE_FP64, 0, 0, scan, NULL));
    cr_assert(scan[1] == 0x1p53 && scan[3] == 1 && scan[5] == 1);
    const struct ulpscope_array two = {ULPSCOPE_FP64, 2, hard};
    cr_assert(!ulpscope_run("dot/exact", &two, &two, ULPSCOPE_FP64, 0, 0, &dot, NULL));
    cr_assert(dot == 0x1p106);
    cr_assert(ulpscope_run("dot/exact", &two, NULL, ULPSCOPE_FP64, 0, 0, &dot, &error) ==
                      ULPSCOPE_USAGE &&
                  *error.text,
              "one array of two");
    cr_assert(ulpscope_run("scatter/sort", &two, NULL, ULPSCOPE_FP64, 0, 0, scan, &error) ==
                  ULPSCOPE_USAGE,
              "without keys");
    cr_assert(ulpscope_run("sum/none", &two, NULL, ULPSCOPE_FP64, 0, 0, &dot, NULL) ==
              ULPSCOPE_USAGE);
    cr_assert(ulpscope_run("sum/serial", &two, NULL, (enum ulpscope_format)9, 0, 0, &dot, NULL) ==
              ULPSCOPE_USAGE);
    cr_assert(ulpscope_run("cub/sum", &two, NULL, ULPSCOPE_FP64, 0, 0, &dot, NULL) ==
              ULPSCOPE_UNAVAILABLE);
}

/* --- structs of other versions --- */

/* As a program that was compiled with the header of 0.2.0 has them. */
struct figures_0_2 {
    double figure[6];
    int within;
};
struct method_0_2 {
    const char *name, *summary;
    int operation, promise;
    uint64_t pairs;
};
struct report_0_2 {
    int kept, refuted;
    struct {
        uint64_t attempts, differing;
        size_t n;
        int storage, accumulator;
        uint64_t expected, found;
        char is[2][96];
    } rung[5];
};

static void expect_untouched(const char *behind, size_t bytes, const char *what)
{
    for (size_t i = 0; i < bytes; i++)
        cr_assert(behind[i] == 0x5a, "%s: byte %zu behind the struct was written", what, i);
}

/* By their symbols, which fill in no more than 0.2.0 did. */
Test(library, programs_compiled_with_0_2)
{
    struct {
        struct figures_0_2 is;
        char behind[64];
    } figures;
    struct {
        struct method_0_2 is;
        char behind[64];
    } method;
    struct ulpscope_reference *r;
    memset(&figures, 0x5a, sizeof figures);
    memset(&method, 0x5a, sizeof method);
    cr_assert(ulpscope_reference_new(&r, &hard_array, NULL) == ULPSCOPE_OK);
    cr_assert(!(ulpscope_measure)((void *)&figures, r, ULPSCOPE_FP64, 0, NULL));
    cr_expect(figures.is.figure[0] == 1 && figures.is.figure[2] == 0x1p52 && figures.is.within);
    expect_untouched(figures.behind, sizeof figures.behind, "figures");
    cr_assert(!(ulpscope_method_get)((void *)&method, 0, NULL));
    cr_expect(ulpscope_method_count() > 0 && method.is.pairs > 0, "%s", method.is.name);
    expect_untouched(method.behind, sizeof method.behind, "method");
    ulpscope_reference_free(r);
}

/* More than this library knows is 0; less than there ever was is refused, and nothing written. */
Test(library, structs_of_other_sizes)
{
    struct {
        struct ulpscope_figures is;
        char more[64];
    } later;
    struct {
        struct figures_0_2 is;
        char behind[64];
    } first;
    struct ulpscope_error error;
    struct ulpscope_reference *r;
    memset(&later, 0x5a, sizeof later);
    memset(&first, 0x5a, sizeof first);
    cr_assert(ulpscope_reference_new(&r, &hard_array, NULL) == ULPSCOPE_OK);
    cr_assert(!ulpscope_measure_sized(sizeof later, (void *)&later, r, ULPSCOPE_FP64, 0, NULL));
    cr_expect(later.is.err_abs == 1 && later.is.within);
    for (size_t i = 0; i < sizeof later.more; i++)
        cr_assert(later.more[i] == 0, "byte %zu is %d", i, later.more[i]);
    cr_assert(!ulpscope_measure_sized(sizeof first.is, (void *)&first, r, ULPSCOPE_FP64, 0, NULL));
    cr_expect(first.is.figure[0] == 1);
    expect_untouched(first.behind, sizeof first.behind, "figures");
    memset(&first, 0x5a, sizeof first);
    cr_expect(ulpscope_measure_sized(sizeof first.is - 1, (void *)&first, r, ULPSCOPE_FP64, 0,
                                     &error) == ULPSCOPE_USAGE);
    cr_expect_str_eq(error.text, "figures: found a struct of 55 bytes, expected 56 or more");
    expect_untouched((void *)&first, sizeof first, "figures");
    ulpscope_reference_free(r);
}

/* --- the check --- */

static uint64_t calls;

static int serial(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float sum = 0;
    for (size_t i = 0; i < t->n; i++)
        sum += x[i];
    memcpy(t->out, &sum, sizeof sum);
    return 0;
}

static int moody(const struct ulpscope_task *t)
{
    float sum;
    serial(t);
    memcpy(&sum, t->out, sizeof sum);
    sum = ++calls % 7 ? sum : nextafterf(sum, 1);
    memcpy(t->out, &sum, sizeof sum);
    return 0;
}

static int by_shape(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float sum = 0, odd = 0;
    unsigned step = t->threads ? t->threads : 1;
    for (size_t i = 0; i < t->n; i++)
        *(i % (step + 1) ? &sum : &odd) += x[i];
    sum += odd;
    memcpy(t->out, &sum, sizeof sum);
    return 0;
}

static int exact(const struct ulpscope_task *t)
{
    const struct ulpscope_array a = {t->storage, t->n, t->in};
    double sum;
    int status = ulpscope_sum(&sum, &a, t->accumulator, NULL);
    float is = (float)sum;
    memcpy(t->out, &is, sizeof is);
    return status;
}

static int sick(const struct ulpscope_task *t)
{
    (void)t;
    return 42;
}

Test(library, check_finds_the_rung)
{
    static const struct {
        int (*run)(const struct ulpscope_task *t);
        enum ulpscope_promise kept;
        uint32_t reads;
    } subjects[] = {{moody, ULPSCOPE_NO_PROMISE, 0},
                    {by_shape, ULPSCOPE_RUN_TO_RUN, ULPSCOPE_READS_THREADS},
                    {serial, ULPSCOPE_GPU_TO_GPU, 0},
                    {exact, ULPSCOPE_CORRECTLY_ROUNDED, 0}};
    struct ulpscope_report report;
    struct ulpscope_error error;
    struct ulpscope_subject s = {.name = "mine",
                                 .summary = "a sum",
                                 .operation = ULPSCOPE_SUM,
                                 .memory = ULPSCOPE_HOST,
                                 .promise = ULPSCOPE_GPU_TO_GPU,
                                 .pairs = ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32)};
    for (size_t i = 0; i < 4; i++) {
        s.run = subjects[i].run;
        s.reads = subjects[i].reads;
        cr_assert(ulpscope_check(&report, &s, 0.5, 0, &error) == ULPSCOPE_OK, "%s", error.text);
        cr_assert(report.kept == subjects[i].kept, "subject %zu: kept %d, expected %d", i,
                  (int)report.kept, (int)subjects[i].kept);
        cr_assert(report.refuted == (subjects[i].kept < ULPSCOPE_GPU_TO_GPU), "subject %zu", i);
        for (int rung = 1; rung < ULPSCOPE_RUNGS; rung++) {
            const struct ulpscope_rung *is = &report.rung[rung];
            cr_assert(is->attempts > 0, "subject %zu: rung %d not tried", i, rung);
            cr_assert(!is->differing || (is->expected != is->found && is->n > 0 && *is->is[1]),
                      "subject %zu: rung %d has no witness", i, rung);
        }
    }
    s.run = sick;
    cr_assert(ulpscope_check(&report, &s, 0.5, 0, &error) == ULPSCOPE_DATA &&
                  strstr(error.text, "42"),
              "found %s", error.text);
    s.run = NULL;
    cr_assert(ulpscope_check(&report, &s, 0.5, 0, &error) == ULPSCOPE_USAGE);
}

static int idle(const struct ulpscope_task *t)
{
    (void)t;
    return 0;
}

Test(library, check_misses_what_was_not_written)
{
    struct ulpscope_report report;
    struct ulpscope_error error;
    struct ulpscope_subject s = {.name = "mine",
                                 .summary = "a sum",
                                 .promise = ULPSCOPE_GPU_TO_GPU,
                                 .pairs = ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32),
                                 .run = idle};
    cr_assert(ulpscope_check(&report, &s, 0.5, 0, &error) == ULPSCOPE_DATA &&
                  strstr(error.text, "mine: run returned 0 without writing out[0]"),
              "found %s", error.text);
}

/* A subject as version 1 of ulpscope_subject.h has it, whose pairs are 16 bits. */
Test(library, checks_for_programs_of_other_versions)
{
    static const struct {
        const char *name, *summary;
        int operation, memory, promise;
        uint32_t pairs, reads;
        int (*run)(const struct ulpscope_task *t);
    } one = {"mine",           "a sum", ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_GPU_TO_GPU,
             1 << (4 * 2 + 2), 0,       serial};
    static const struct ulpscope_subject two = {"mine",
                                                "a sum",
                                                ULPSCOPE_SUM,
                                                ULPSCOPE_HOST,
                                                ULPSCOPE_GPU_TO_GPU,
                                                ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32),
                                                0,
                                                serial};
    struct {
        struct report_0_2 is;
        char behind[64];
    } report;
    struct ulpscope_error error;
    for (uint32_t version = 1; version <= 2; version++) {
        const void *subject = version == 1 ? (const void *)&one : &two;
        memset(&report, 0x5a, sizeof report);
        cr_assert(!ulpscope_check_sized(sizeof report.is, (void *)&report, version, subject, 0.3, 1,
                                        &error),
                  "%s", error.text);
        cr_expect(report.is.kept == ULPSCOPE_GPU_TO_GPU && !report.is.refuted);
        cr_expect(report.is.rung[ULPSCOPE_GPU_TO_GPU].attempts > 0);
        expect_untouched(report.behind, sizeof report.behind, "report");
    }
    memset(&report, 0x5a, sizeof report);
    cr_assert(!(ulpscope_check)((void *)&report, &two, 0.3, 1, &error), "%s", error.text);
    cr_expect(report.is.kept == ULPSCOPE_GPU_TO_GPU && !report.is.refuted);
    expect_untouched(report.behind, sizeof report.behind, "report");
    cr_expect(ulpscope_check_sized(sizeof report.is - 1, (void *)&report, 2, &two, 0.3, 1,
                                   &error) == ULPSCOPE_USAGE);
    cr_expect(strncmp(error.text, "report: found a struct of ", 26) == 0, "%s", error.text);
    cr_expect(ulpscope_check_sized(sizeof report.is, (void *)&report, 3, &two, 0.3, 1, &error) ==
              ULPSCOPE_USAGE);
    cr_expect_str_eq(error.text, "check: found version 3 of ulpscope_subject.h, expected 1..2");
}
