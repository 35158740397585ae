/* Methods on a GPU on special inputs. Ours give what some order gives, or what their theorem says;
 * what libraries give is told, not judged here. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "experiments/conformance/run.h"
#include "reference/format/number.h"

/* One input in so many: other ones at each length and in each pair of formats. */
enum { EVERY_SUM = 64, EVERY_SCAN = 256, EVERY_EXTREMUM = 256 };

static void say(const struct conformance_report *r, const char *name, size_t class)
{
    const struct conformance_finding *f = r->all[class].first;
    char input[INPUT_WORDS], due[POSSIBLE_TEXT], number[NUMBER_TEXT];
    if (!f)
        return;
    special_input_words(input, &f->in);
    special_due_words(due, &f->judgement);
    number_hex(number, f->judgement.result);
    fprintf(stderr, "%s, %s, %s/%s, %s: output %zu is %s, possible %s: %s\n", name,
            special_class[class]->name, format_facts[f->subject.storage].name,
            format_facts[f->subject.accumulator].name, input, f->judgement.output, number, due,
            f->judgement.why);
}

static void hold(const struct method *m, bool ours)
{
    static struct conformance_report r;
    struct problem p = {0};
    struct conformance_request request = {
        .method = m,
        .device = {DEVICE_CUDA, 0},
        .seed = 1,
        .every = m->operation->array                                  ? EVERY_SCAN
                 : exact_facts[m->operation->of].form >= FORM_ELEMENT ? EVERY_EXTREMUM
                                                                      : EVERY_SUM};
    size_t impossible = 0, cases = 0;
    cr_assert(pairs_parse(&request.pairs, "all", &p) == STATUS_OK, "%s", p.text);
    cr_assert(conformance_run(&r, &request, &p) == STATUS_OK, "%s: %s", m->name, p.text);
    for (size_t k = 0; k < SPECIAL_CLASSES; k++) {
        impossible += r.all[k].impossible;
        cases += r.all[k].cases;
        say(&r, m->name, k);
    }
    cr_expect(!ours || r.failed == 0, "%s: %zu runs failed: %s", m->name, r.failed, r.failure.text);
    cr_expect(!ours || impossible == 0, "%s: %zu of %zu", m->name, impossible, cases);
    conformance_report_free(&r);
}

static void registry(const struct operation *operation)
{
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        bool here = false;
        for (enum format s = 0; s < ACCUMULATORS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++)
                here |= method_supports(m, DEVICE_CUDA, s, f);
        if (here && m->operation == operation)
            hold(m, m->cpu != NULL);
    }
}

Test(gpu_special, sums)
{
    for (size_t i = 0; operations[i]; i++)
        if (exact_facts[operations[i]->of].form == FORM_SUM && operation_plain(operations[i]) &&
            operations[i]->inputs == 1 && !operations[i]->array)
            registry(operations[i]);
}

Test(gpu_special, norms)
{
    registry(&operation_norm);
}

Test(gpu_special, products_and_extrema)
{
    for (size_t i = 0; operations[i]; i++)
        if (exact_facts[operations[i]->of].form >= FORM_PRODUCT)
            registry(operations[i]);
}

Test(gpu_special, scans)
{
    registry(&operation_scan);
}
