/* Dot products that are wrong in one thing each, declared like the method that they were made from:
 * each is found out, and by the smallest input that shows it. */
#include <criterion/criterion.h>
#include <math.h>

#include "experiments/conformance/report.h"
#include "kernels/dot/terms.h"
#include "tests/support/files.h"
#include "tests/support/special_classes.h"

/* Elements 0 .. n - 1 of serial order. */
static double serial(const struct task *t, size_t n, enum product_kind how)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double x = array_get(&t->of->in, i), y = array_get(&t->of->in2, i);
        sum = i == 0 ? product_rounded(t->accumulator, x, y)
                     : dot_append(t->accumulator, how, sum, x, y);
    }
    return sum;
}

static enum status give(const struct task *t, double x)
{
    array_encode(&t->out, 0, 1, &x);
    return STATUS_OK;
}

static enum status honest(const struct task *t, struct problem *p)
{
    (void)p;
    return give(t, serial(t, t->of->in.n, t->of->product));
}

/* Says that it rounds products, and fuses them. */
static enum status fuses(const struct task *t, struct problem *p)
{
    (void)p;
    return give(t, serial(t, t->of->in.n, PRODUCT_FUSED));
}

static enum status drops_last(const struct task *t, struct problem *p)
{
    (void)p;
    return give(t, serial(t, t->of->in.n > 32 ? t->of->in.n - 1 : t->of->in.n, t->of->product));
}

/* Skips what is multiplied by zero: infinity times 0 is lost. */
static enum status skips_zeros(const struct task *t, struct problem *p)
{
    double sum = 0;
    (void)p;
    for (size_t i = 0; i < t->of->in.n; i++) {
        double x = array_get(&t->of->in, i), y = array_get(&t->of->in2, i);
        sum = x != 0 && y != 0 ? dot_append(t->accumulator, t->of->product, sum, x, y) : sum;
    }
    return give(t, t->of->in.n > 0 ? sum : 0);
}

static enum status flushes_products(const struct task *t, struct problem *p)
{
    double sum = 0, least = format_facts[t->accumulator].smallest_normal;
    (void)p;
    for (size_t i = 0; i < t->of->in.n; i++) {
        double x =
            product_rounded(t->accumulator, array_get(&t->of->in, i), array_get(&t->of->in2, i));
        x = fabs(x) < least ? copysign(0, x) : x;
        sum = i == 0 ? x : format_add(t->accumulator, sum, x);
    }
    return give(t, sum);
}

/* The second array's sign is lost. */
static enum status forgets_a_sign(const struct task *t, struct problem *p)
{
    double sum = 0;
    (void)p;
    for (size_t i = 0; i < t->of->in.n; i++) {
        double x = product_rounded(t->accumulator, array_get(&t->of->in, i),
                                   fabs(array_get(&t->of->in2, i)));
        sum = i == 0 ? x : format_add(t->accumulator, sum, x);
    }
    return give(t, sum);
}

typedef enum status liar(const struct task *t, struct problem *p);

static struct conformance_report *report_of(liar *cpu, enum format f, unsigned products,
                                            unsigned every)
{
    static struct method m;
    struct conformance_report *r = malloc(sizeof *r);
    struct problem p = {0};
    m = *method_named("dot/serial");
    m.name = "dot/liar";
    m.cpu = cpu;
    struct conformance_request request = {
        .method = &m, .pairs = {{{f, f}}, 1}, .seed = 1, .every = every, .products = products};
    cr_assert(r && conformance_run(r, &request, &p) == STATUS_OK, "%s", p.text);
    return r;
}

static void end(struct conformance_report *r)
{
    conformance_report_free(r);
    free(r);
}

enum { ROUNDED = 1 << PRODUCT_ROUNDED, FUSED = 1 << PRODUCT_FUSED };

/* Both ways of forming products. */
Test(special_dots, an_honest_one_is_none)
{
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct conformance_report *r = report_of(honest, f, 0, 16);
        for (size_t k = 0; k < SPECIAL_CLASSES; k++) {
            const struct conformance_tally *t = &r->all[k];
            bool any = special_of_sums(special_class[k]);
            cr_expect((t->cases > 0) == any && t->impossible == 0 && t->failed == 0,
                      "%s: %zu of %zu: %s", special_class[k]->name, t->impossible, t->cases,
                      t->first ? t->first->judgement.why : "");
        }
        end(r);
    }
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

Test(special_dots, are_found_out_by_the_smallest_input)
{
    static const struct {
        const char *fault, *class;
        liar *cpu;
        unsigned products;
        size_t n;
        const char *why;
    } expected[] = {
        {"fuses what it says to round", "products", fuses, ROUNDED, 2,
         "a number that no order gives"},
        {"drops the last of many", "edges", drops_last, ROUNDED, 33,
         "a number that no order gives"},
        {"skips zeros", "products", skips_zeros, FUSED, 1,
         "a NaN, or infinities of both signs, are lost"},
        {"flushes products", "products", flushes_products, ROUNDED, 1,
         "a number that no order gives"},
        {"forgets a sign", "power", forgets_a_sign, FUSED, 1, "a number that no order gives"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct conformance_report *r = report_of(expected[i].cpu, FP32, expected[i].products, 4);
        const struct conformance_finding *f = found_by(r, expected[i].class);
        cr_assert(f, "%s: not found by %s", expected[i].fault, expected[i].class);
        cr_expect_str_eq(f->judgement.why, expected[i].why, "%s: %s", expected[i].fault,
                         f->judgement.why);
        cr_expect(f->in.x.n == expected[i].n && f->in.y.n == f->in.x.n, "%s: n = %zu",
                  expected[i].fault, f->in.x.n);
        end(r);
    }
}

/* --- what is said, and shown again --- */

static void holds(const char *text, const char *what)
{
    cr_expect(text && strstr(text, what), "'%s' is not in: %s", what, text);
}

Test(special_dots, says_it_in_pairs, .init = make_folder, .fini = remove_folder)
{
    struct conformance_report *r = report_of(skips_zeros, FP32, FUSED, 16);
    struct text text = {0};
    conformance_report_text(&text, r, NULL);
    const char *said = text_string(&text);
    holds(said,
          "products, fp32/fp32, products fused: a NaN, or infinities of both signs, are lost\n"
          "  input     n = 1: ");
    holds(said, " * ");
    holds(said, "\n  result    0x0p+0\n  possible  nan\n  again     printf '%s\\n' ");
    holds(said,
          " | ulpscope check dot/liar --special --data /dev/stdin --device cpu --storage fp32 "
          "--accumulator fp32 --product fused\n");
    text_free(&text);
    struct problem p = {0};
    cr_assert(conformance_report_write(r, folder, &p) == STATUS_OK, "%s", p.text);
    struct data_set set = expect_data(in_folder("products-fp32-fp32.npy"), FP32, false, "input");
    cr_expect(set.count == 1 && set.item[0].array.n == 2, "both arrays");
    data_free(&set);
    end(r);
}

Test(special_dots, long_pairs_are_two_loops)
{
    static struct conformance_report r;
    static double x[40], y[40];
    static struct conformance_finding f;
    struct text text = {0};
    for (size_t i = 0; i < 40; i++)
        y[i] = i == 20 ? 2 : 1;
    x[39] = 3;
    r.request.method = method_named("dot/serial");
    f = (struct conformance_finding){.subject = {.method = r.request.method,
                                                 .storage = FP64,
                                                 .accumulator = FP64,
                                                 .product = PRODUCT_ROUNDED},
                                     .in = {{FP64, 40, x}, {FP64, 40, y}}};
    r.all[0].first = &f;
    conformance_command(&text, &r, 0, NULL);
    holds(text_string(&text),
          "{ awk 'BEGIN { for (i = 0; i < 40; i++) print i == 39 ? \"0x1.8p+1\" : \"0x0p+0\" }'; "
          "awk 'BEGIN { for (i = 0; i < 40; i++) print i == 20 ? \"0x1p+1\" : \"0x1p+0\" }'; } | "
          "ulpscope check dot/serial --special --data /dev/stdin ");
    text_free(&text);
}
