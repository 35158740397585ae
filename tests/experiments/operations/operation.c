/* Each operation answers for itself, and what it answers fits together. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "experiments/operations/operation.h"
#include "kernels/mma/mma.h"

enum { N = 48 };
static float elements[N];

static struct keys key[] = {
    {.kind = KEYS_UNIFORM, .asked = (char *)"uniform", .name = (char *)"uniform"},
    {.kind = KEYS_ONE, .asked = (char *)"one", .name = (char *)"one"}};
static struct layout layout[] = {{LAYOUT_ROW, 0, "row"}, {LAYOUT_BATCH, 2, "batch:2"}};
static uint64_t segment[] = {0, 5}, bins[] = {1, 7}, rows[] = {0, 4, 48}, keep[] = {0, 30, 100},
                promote[] = {8, 128}, workspace[] = {0, 1 << 25}, algorithm[] = {0, 1, 7};
static const char *chip[2]; /* as the table has them: see settings_of */
static const struct setting_axes axes = {.scan = {SCAN_INCLUSIVE, SCAN_EXCLUSIVE},
                                         .output = {OUTPUT_ACCUMULATOR, OUTPUT_STORAGE},
                                         .scans = 2,
                                         .outputs = 2,
                                         .segment = {2, segment},
                                         .product = {PRODUCT_ROUNDED, PRODUCT_EXACT},
                                         .products = 2,
                                         .key = key,
                                         .keys = 2,
                                         .bins = {2, bins},
                                         .layout = layout,
                                         .layouts = 2,
                                         .rows = {3, rows},
                                         .keep = {3, keep},
                                         .chip = chip,
                                         .chips = 2,
                                         .promote = {2, promote},
                                         .workspace = {2, workspace},
                                         .algorithm = {3, algorithm}};

struct met {
    struct setting_asked asked;
    struct setting setting[64];
    size_t count;
};

/* What it reads can be made, and each element goes to an output, or to none. */
static void expect_made(const struct operation *o, const struct setting *s, size_t n)
{
    struct setting_operands made = {.of.in = {FP32, n, elements}};
    struct problem p = {0};
    uint32_t *place;
    size_t has[N + 2] = {0};
    cr_assert(setting_make(&made, o, s, 3, &p) == STATUS_OK, "%s: %s", o->name, p.text);
    size_t outputs = o->outputs(n, made.of.bins);
    cr_assert(setting_places(&place, o, &made, &p) == STATUS_OK && outputs <= N);
    for (size_t i = 0; place && i < n; i++) {
        cr_assert(place[i] <= outputs, "%s: element %zu goes to %u", o->name, i, place[i]);
        has[place[i]]++;
    }
    for (size_t k = 0; place && operation_moves(o) && k < outputs; k++)
        cr_expect(has[k] == 1, "%s: output %zu is %zu elements", o->name, k, has[k]);
    cr_expect(!place || o->array, "%s: one output has no places", o->name);
    cr_expect(setting_bytes(o, s, n) == (made.of.keys ? 4.0 * (double)n : 0) +
                                            (made.of.heads || made.of.mask ? (double)n : 0),
              "%s", o->name);
    free(place);
    setting_free(&made);
}

/* Words are of options that it reads; columns, of those that its files have. */
static void expect_said(const struct operation *o, const struct setting *s)
{
    struct setting_word word[SETTING_OPTIONS];
    struct setting_columns columns;
    struct text says = {0};
    size_t words = setting_words(word, o, s);
    for (size_t i = 0; i < words; i++)
        cr_expect(operation_asks(o, word[i].option), "%s: --%s", o->name,
                  setting_options[word[i].option].name);
    setting_columns(&columns, o, s);
    for (size_t i = CASE_SCAN; i < CASE_ALL; i++)
        cr_expect(!*columns.column[i] || columns_case_has(operation_columns(o), i), "%s has %s, %s",
                  o->name, case_columns[i].name, columns.column[i]);
    setting_says(&says, o, s);
    cr_expect((says.length > 0) == (words > 0), "%s says %zu words", o->name, words);
    text_free(&says);
}

static enum status meet_own(void *context, const struct setting *s, struct problem *p)
{
    struct met *met = context;
    const struct method *m = met->asked.method;
    (void)p;
    for (size_t i = 0; i < met->count; i++)
        cr_expect(!setting_equal(&met->setting[i], s), "%s: twice", m->name);
    cr_assert(met->count < 64);
    met->setting[met->count++] = *s;
    struct setting own = *s, sample = setting_sample(m->operation, s, 12);
    expect_made(m->operation, s, N);
    expect_made(m->operation, &sample, 12);
    expect_said(m->operation, s);
    if (setting_settle(m, &own, met->asked.storage, met->asked.accumulator))
        cr_expect(setting_can(m, &own, met->asked.storage, met->asked.accumulator), "%s", m->name);
    cr_expect((s->chip != NULL) == setting_read(m, SETTING_CHIP) &&
                  (s->promote != 0) == setting_read(m, SETTING_PROMOTE),
              "%s", m->name);
    cr_expect(s->heuristic.has_workspace == setting_read(m, SETTING_WORKSPACE) &&
                  s->heuristic.has_algorithm == setting_read(m, SETTING_ALGORITHM),
              "%s", m->name);
    own = *s;
    setting_drop(m, &own);
    cr_expect(setting_equal(&own, s), "%s: what it reads is dropped", m->name);
    return STATUS_OK;
}

static enum status meet(void *context, const struct setting *s, struct problem *p)
{
    const struct met *met = context;
    return setting_each_own(&met->asked, s, meet_own, context, p);
}

static size_t settings_of(const char *method)
{
    chip[0] = mma_chip_named("h100");
    chip[1] = mma_chip_named("a100"); /* has no wgmma: what lacks an instruction is met too */
    struct met met = {.asked = {.axes = &axes,
                                .method = method_named(method),
                                .storage = FP16,
                                .accumulator = FP32,
                                .n = N,
                                .key_seed = 1}};
    struct problem p = {0};
    cr_assert(setting_each(met.asked.method->operation, &met.asked, meet, &met, &p) == STATUS_OK,
              "%s", p.text);
    return met.count;
}

Test(operation, each_setting_is_met_once_and_made)
{
    cr_expect(settings_of("sum/tiled") == 1);
    cr_expect(settings_of("scan/tiled") == 2 * 2);
    cr_expect(settings_of("scan/segmented") == 2 * 2 * 2);
    cr_expect(settings_of("dot/tiled") == 2);
    cr_expect(settings_of("scatter/sort") == 2 * 2);
    cr_expect(settings_of("rows/tiled") == 3 * 2);
    cr_expect(settings_of("transpose/tiled") == 3);
    cr_expect(settings_of("compact/scan") == 3);
    cr_expect(settings_of("gemm/tiled") == 2);
    cr_expect(settings_of("gemm/wgmma") == 2 * 2);
    cr_expect(settings_of("gemm/promoted") == 2 * 2 * 2);
    cr_expect(settings_of("cublaslt/product_16") == 2 * 2 * 3);
    cr_expect(settings_of("cublaslt/product_16_no_workspace") == 2 * 3);
    cr_expect(settings_of("cublaslt/product_16_second") == 2 * 2);
    cr_expect(settings_of("cublas/matrix_product_16") == 2);
}

/* Of those that tell most, too: nothing asked for, or everything. */
Test(operation, what_varies_is_made)
{
    static const struct setting_axes none = {0};
    chip[0] = chip[1] = mma_chip_named("ada");
    for (size_t k = 0; operations[k]; k++)
        for (size_t u = 0; u < 40; u++) {
            struct setting s = {0};
            const struct setting_axes *asked = u % 2 ? &none : &axes;
            setting_vary(&s, operations[k], asked, N, u / 2);
            if (s.bins <= N)
                expect_made(operations[k], &s, N);
            expect_said(operations[k], &s);
        }
}

/* A method that gives what others are compared with exists, and is of the operation. */
Test(operation, twins_are_methods)
{
    for (size_t k = 0; operations[k]; k++)
        for (size_t segments = 0; segments < 2; segments++) {
            const char *name = setting_twin(operations[k], &(struct setting){.segment = segments});
            const struct method *m = method_named(name);
            cr_expect(m && m->operation == operations[k], "%s: %s", operations[k]->name, name);
        }
}
