/* All our methods on all special inputs. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <time.h>

#include "experiments/special_run.h"
#include "reference/number.h"

static struct pairs all_pairs(void)
{
    struct pairs pairs = {0};
    struct problem p = {0};
    cr_assert(pairs_parse(&pairs, "all", &p) == STATUS_OK, "%s", p.text);
    return pairs;
}

static void say(const struct special_tally *t, const char *method, const char *class)
{
    const struct special_finding *f = t->first;
    char text[POSSIBLE_TEXT], number[NUMBER_TEXT], list[512] = "";
    if (!f)
        return;
    special_words(text, &f->judgement.due);
    number_hex(number, f->judgement.result);
    for (size_t i = 0; i < f->in.n; i++) if (array_get(&f->in, i) != 0)
        snprintf(list + strlen(list), sizeof list - strlen(list), " [%zu]%a", i, array_get(&f->in, i));
    fprintf(stderr, "%s, %s, %s/%s, n = %zu:%s: %s at %zu, possible %s: %s (%zu of %zu)\n", method, class,
            format_facts[f->subject.storage].name, format_facts[f->subject.accumulator].name,
            f->in.n, list, number, f->judgement.output, text, f->judgement.why, t->impossible, t->cases);
}

Test(special, our_methods_conform)
{
    unsigned every = getenv("EVERY") ? (unsigned)atoi(getenv("EVERY")) : 64;
    for (size_t i = 0; i < method_count; i++) {
        struct special_request request = {.method = method_registry[i],
                                          .pairs = all_pairs(),
                                          .seed = 1,
                                          .every = every};
        if (!request.method->cpu || (getenv("ONLY") && strcmp(getenv("ONLY"), request.method->name)))
            continue;
        struct special_report r;
        struct problem p = {0};
        clock_t begin = clock();
        cr_assert(special_run(&r, &request, &p) == STATUS_OK, "%s", p.text);
        size_t cases = 0, noted = 0;
        for (size_t k = 0; k < SPECIAL_CLASSES; k++) {
            cases += r.all[k].cases; noted += r.all[k].noted;
            say(&r.all[k], request.method->name, special_class[k]->name);
            cr_expect(r.all[k].impossible == 0);
        }
        fprintf(stderr, "%s: %zu cases, %zu noted, %.2f s\n", request.method->name, cases, noted, (double)(clock() - begin) / CLOCKS_PER_SEC);
        special_report_free(&r);
    }
}
