/* Matrix products that are wrong in one thing each are found out by special inputs; ours are not.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "experiments/conformance/report.h"
#include "kernels/gemm/elements.h"
#include "kernels/mma/mma.h"
#include "tests/support/program.h"
#include "tests/support/special_classes.h"

/* Elements by a plain loop of fused multiply-adds onto C, but for a fault. */
enum fault { HONEST, SKIPS_ZEROS, NO_C, BEGINS_AT_ZERO, LAST_ELEMENT, CLAMPS, FLUSHES };

static double element(const struct task *t, enum fault fault, size_t i, size_t j)
{
    const struct gemm_shape *s = &t->of->gemm;
    double sum = fault == NO_C ? -0.0 : array_get(&t->of->c, i * s->n + j);
    sum = fault == BEGINS_AT_ZERO ? sum + 0.0 : sum;
    for (size_t k = 0; k < s->k; k++) {
        double x = array_get(&t->of->in, gemm_a_at(s, i, k)),
               y = array_get(&t->of->in, gemm_b_at(s, k, j));
        if (fault == SKIPS_ZEROS && (x == 0 || y == 0))
            continue;
        if (fault == LAST_ELEMENT && i + j == 2 && k > 0 && k + 1 == s->k)
            continue;
        sum = product_fused(t->accumulator, sum, x, y);
    }
    const struct format_facts *f = &format_facts[t->accumulator];
    if (fault == FLUSHES && fabs(sum) < ldexp(1, f->emin))
        sum = copysign(0, sum);
    return fault == CLAMPS && isinf(sum) ? copysign(f->largest, sum) : sum;
}

static enum status run(const struct task *t, enum fault fault)
{
    const struct gemm_shape *s = &t->of->gemm;
    for (size_t i = 0; i < s->m * s->n; i++)
        array_encode(&t->out, i, 1, &(double){element(t, fault, i / s->n, i % s->n)});
    return STATUS_OK;
}

#define FAULTY(name, fault)                                                                        \
    static enum status name(const struct task *t, struct problem *p)                               \
    {                                                                                              \
        (void)p;                                                                                   \
        return run(t, fault);                                                                      \
    }
FAULTY(honest, HONEST)
FAULTY(skips_zeros, SKIPS_ZEROS)
FAULTY(no_c, NO_C)
FAULTY(begins_at_zero, BEGINS_AT_ZERO)
FAULTY(last_element, LAST_ELEMENT)
FAULTY(clamps, CLAMPS)
FAULTY(flushes, FLUSHES)

typedef enum status faulty(const struct task *t, struct problem *p);

/* Of a method like this one, but for its `cpu`, where that is given. */
static struct conformance_report *report_of(const char *like, faulty *cpu, enum format storage,
                                            enum format accumulator, unsigned every)
{
    static struct method m;
    struct conformance_report *r = malloc(sizeof *r);
    struct problem p = {0};
    cr_assert(r);
    m = *method_named(like);
    m.cpu = cpu ? cpu : m.cpu;
    const struct conformance_request q = {
        .method = &m, .pairs = {{{storage, accumulator}}, 1}, .seed = 1, .every = every};
    cr_assert(conformance_run(r, &q, &p) == STATUS_OK, "%s", p.text);
    return r;
}

static void end(struct conformance_report *r)
{
    conformance_report_free(r);
    free(r);
}

static void expect_fine(const char *like, faulty *cpu, enum format storage, enum format accumulator)
{
    struct conformance_report *r = report_of(like, cpu, storage, accumulator, 16);
    for (size_t k = 0; k < SPECIAL_CLASSES; k++) {
        const struct conformance_tally *t = &r->all[k];
        cr_expect((t->cases > 0) == special_of_sums(special_class[k]), "%s: %s", like,
                  special_class[k]->name);
        cr_expect(t->impossible == 0 && t->failed == 0, "%s, %s/%s, %s: %zu of %zu: %s", like,
                  format_facts[storage].name, format_facts[accumulator].name,
                  special_class[k]->name, t->impossible, t->cases,
                  t->first ? t->first->judgement.why : "");
    }
    end(r);
}

Test(special_products, ours_are_possible)
{
    static const char *const methods[] = {"gemm/serial", "gemm/tiled", "gemm/split_k",
                                          "gemm/exact"};
    static const struct format_pair pairs[] = {{FP32, FP32}, {FP16, FP16}, {FP16, FP32},
                                               {E4M3, FP32}, {FP64, FP64}, {BF16, BF16}};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
            expect_fine(methods[i], NULL, pairs[k].storage, pairs[k].accumulator);
    expect_fine("gemm/serial", honest, FP32, FP32);
}

/* Models of instructions cut off, and are held to their theorem. */
Test(special_products, models_are_possible)
{
    static const struct format_pair pairs[] = {{FP16, FP32}, {FP16, FP16}, {BF16, FP32},
                                               {FP32, FP32}, {E4M3, FP32}, {E5M2, FP16}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        expect_fine("gemm/mma", NULL, pairs[k].storage, pairs[k].accumulator);
        expect_fine("gemm/wgmma", NULL, pairs[k].storage, pairs[k].accumulator);
    }
    expect_fine("gemm/promoted", NULL, E4M3, FP32);
    expect_fine("gemm/mma", NULL, FP64, FP64);
}

static const struct conformance_finding *found_by(const struct conformance_report *r,
                                                  const char *class)
{
    for (size_t k = 0; k < SPECIAL_CLASSES; k++)
        if (strcmp(special_class[k]->name, class) == 0)
            return r->all[k].first;
    cr_assert(false, "%s", class);
    return NULL;
}

Test(special_products, faults_are_found)
{
    static const struct {
        const char *class;
        faulty *cpu;
        const char *why;
        size_t output;
    } expected[] = {
        {"products", skips_zeros, "a NaN, or infinities of both signs, are lost", 0},
        {"power", no_c, "a number that no order gives", 0},
        {"zeros", begins_at_zero, "+0, where all elements are -0", 0},
        {"edges", last_element, "a number that no order gives", 3},
        {"overflow", clamps, "an infinity is lost", 0},
        {"subnormal", flushes, "a number that no order gives", 0},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct conformance_report *r = report_of("gemm/serial", expected[i].cpu, FP32, FP32, 4);
        const struct conformance_finding *f = found_by(r, expected[i].class);
        cr_assert(f, "%zu: not found by %s", i, expected[i].class);
        cr_expect_str_eq(f->judgement.why, expected[i].why, "%s: %s", expected[i].class,
                         f->judgement.why);
        cr_expect_eq(f->judgement.output, expected[i].output, "%s: %zu", expected[i].class,
                     f->judgement.output);
        cr_expect_leq(f->in.x.n, 3, "%s: n = %zu", expected[i].class, f->in.x.n);
        end(r);
    }
}

/* A model that keeps three bits less than its row says. */
static enum status blunt(const struct task *t, struct problem *p)
{
    const struct gemm_shape *s = &t->of->gemm;
    struct mma_rule rule = mma_find("h100", MMA_SYNC, MMA_FP16, FP32)->rule;
    uint16_t a[1 << 14], b[1 << 14];
    (void)p;
    rule.fraction -= 12;
    for (size_t i = 0; i < s->m * s->n; i++) {
        for (size_t k = 0; k < s->k; k++) {
            a[k] = (uint16_t)array_bits(&t->of->in, gemm_a_at(s, i / s->n, k));
            b[k] = (uint16_t)array_bits(&t->of->in, gemm_b_at(s, k, i % s->n));
        }
        array_set_bits(&t->out, i, mma_dot(&rule, s->k, a, b, array_bits(&t->of->c, i)));
    }
    return STATUS_OK;
}

Test(special_products, a_blunt_model_is_found)
{
    struct conformance_report *r = report_of("gemm/mma", blunt, FP16, FP32, 4);
    size_t found = 0;
    for (size_t k = 0; k < SPECIAL_CLASSES; k++)
        if (r->all[k].first) {
            found++;
            cr_expect_str_eq(r->all[k].first->judgement.why, "beyond the bound of its theorem",
                             "%s", r->all[k].first->judgement.why);
        }
    cr_expect(found > 0);
    end(r);
}

/* As a person asks for it. */
Test(special_products, on_the_command_line, .init = make_folder, .fini = remove_folder)
{
    cr_expect_eq(run_program("check", "gemm/mma --special --chip ada --storage e4m3 --device cpu "
                                      "--seconds 2"),
                 0);
    expect_said("out", "gemm/mma on cpu, 2 pairs of formats: every result on ");
    expect_said("out", "as if the sum began with +0\n");
    cr_expect_eq(run_program("check", "gemm/mma --special --chip v100 --storage e4m3 --device cpu"),
                 4);
    cr_expect_eq(run_program("check", "gemm/tiled --special --chip ada --device cpu"), 2);
    cr_expect_eq(run_program("check", PLANTED_PRODUCTS ":no_product --special --device cpu "
                                                       "--seconds 3"),
                 1);
    expect_said("out", "; the last one is C\n");
    expect_said("out", "--special --data /dev/stdin --device cpu --storage fp32");
    char *out = content("out"), *command = strstr(out, "printf"), line[2000];
    cr_assert(command);
    command[strcspn(command, "\n")] = 0;
    snprintf(line, sizeof line, "%s >%s 2>&1", command, in_folder("again"));
    int status = system(line);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, "%s", command);
    expect_told("again", "1 of 1 special inputs give an impossible result");
    free(out);
}
