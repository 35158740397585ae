#include "experiments/sweep/breaks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/base/grow.h"
#include "experiments/runs/tally.h"
#include "reports/text/table.h"

enum { SETTING = 96, WORDS = 512 };

/* Is it not the exact result, rounded once? One beyond the range of its format has an error of inf
 * where the exact result is beyond it too, which is right. */
static bool misrounded(const struct distinct *d)
{
    double err_ulp = d->err_ulp.value;
    return d->outcome == OUTCOME_OVERFLOW ||
           (d->err_ulp.known && (isnan(err_ulp) || (isfinite(err_ulp) && err_ulp > 0.5)));
}

void breaks_note(struct study_case *t, const struct tally *tally)
{
    const enum promise promise = t->method->promise;
    t->broken = PROMISE_NONE;
    t->has_result = tally->count > 0;
    if (!t->has_result)
        return;
    t->result = tally->item[0].digest;
    t->beside = NULL;
    if (promise >= PROMISE_RUN_TO_RUN && tally->count > 1)
        t->broken = PROMISE_RUN_TO_RUN;
    /* A scan's outputs may be rounded once more, to a narrower format. */
    bool once = t->setting.output == t->accumulator;
    for (size_t i = 0; promise == PROMISE_CORRECTLY_ROUNDED && once && i < tally->count; i++)
        if (!t->broken && misrounded(&tally->item[i]))
            t->broken = PROMISE_CORRECTLY_ROUNDED;
}

static bool same_device(const struct study_case *a, const struct study_case *b)
{
    return a->device.kind == b->device.kind && a->device.index == b->device.index;
}

static bool same_shape(const struct study_case *a, const struct study_case *b)
{
    return a->shape.threads == b->shape.threads && a->shape.blocks == b->shape.blocks;
}

/* Is the same asked of the same method? The elements, their order, the device, its load and the
 * launch shape may differ. */
static bool same_work(const struct study_case *a, const struct study_case *b)
{
    return a->method == b->method && a->accumulator == b->accumulator &&
           setting_equal(&a->setting, &b->setting);
}

/* The first case whose result the rung does not let differ, but does. */
static void hold_to(struct study_case *t, const struct study_case *first, enum promise rung)
{
    bool differs =
        t->result.word[0] != first->result.word[0] || t->result.word[1] != first->result.word[1];
    if (!differs || t->method->promise < rung || (t->broken && t->broken <= rung))
        return;
    t->broken = rung;
    t->beside = first;
}

static bool comparable(const struct study_case *t)
{
    return t->finished && t->supported && t->has_result && t->method->promise > PROMISE_NONE;
}

/* Cases of one array of elements. */
static void compare_settings(const struct source *s, struct study_case *cases)
{
    for (size_t i = s->first; i < s->first + s->cases; i++)
        for (size_t k = s->first; comparable(&cases[i]) && k < i; k++) {
            if (!comparable(&cases[k]) || !same_work(&cases[i], &cases[k]))
                continue;
            bool same = same_device(&cases[i], &cases[k]) && same_shape(&cases[i], &cases[k]);
            hold_to(&cases[i], &cases[k], same ? PROMISE_RUN_TO_RUN : PROMISE_GPU_TO_GPU);
        }
}

/* Cases of the same elements in two orders. */
static void compare_orders(const struct source *s, const struct source *first,
                           struct study_case *cases)
{
    for (size_t i = s->first; i < s->first + s->cases; i++) {
        const struct operation *o = cases[i].method->operation;
        for (size_t k = first->first; k < first->first + first->cases; k++)
            if (!operation_makes_array(o) && comparable(&cases[i]) && comparable(&cases[k]) &&
                same_work(&cases[i], &cases[k]))
                hold_to(&cases[i], &cases[k], PROMISE_ORDER_INVARIANT);
    }
}

void breaks_find(struct plan *plan)
{
    for (size_t i = 0; i < plan->sources; i++) {
        compare_settings(&plan->source[i], plan->cases);
        for (size_t k = 0; k < i; k++)
            if (source_reordered(&plan->source[i], &plan->source[k]))
                compare_orders(&plan->source[i], &plan->source[k], plan->cases);
    }
}

const char *breaks_mark(const struct study_case *t)
{
    return t->broken ? "!" : "";
}

/* A method that breaks its promise: the first case in which it does, and how many there are. */
struct breaker {
    const struct study_case *first;
    size_t cases;
};

/* All of them, in the order of their first cases, going over the cases once. The caller frees the
 * list, which is NULL when memory is short. */
static struct breaker *breakers_of(const struct plan *plan, size_t *count)
{
    struct breaker *list = NULL;
    size_t last = 0;
    *count = 0;
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        if (!t->broken)
            continue;
        /* Most cases are of the method of the one before. */
        if (last >= *count || list[last].first->method != t->method)
            for (last = 0; last < *count && list[last].first->method != t->method;)
                last++;
        if (last == *count && !grow(&list, *count, sizeof *list)) {
            free(list);
            return NULL;
        }
        if (last == *count)
            list[(*count)++] = (struct breaker){.first = t};
        list[last].cases++;
    }
    return list ? list : calloc(1, sizeof *list);
}

const char *breaks_mark_method(const struct plan *plan, const struct method *m)
{
    for (size_t i = 0; i < plan->case_count; i++)
        if (plan->cases[i].broken && plan->cases[i].method == m)
            return "!";
    return "";
}

/* "cpu, threads 4, blocks 2" */
static void setting_text(char text[SETTING], const struct study_case *t)
{
    char device[DEVICE_TEXT], threads[24] = "", blocks[24] = "";
    device_name(t->device, device);
    if (t->shape.threads)
        snprintf(threads, sizeof threads, ", threads %u", t->shape.threads);
    if (t->shape.blocks)
        snprintf(blocks, sizeof blocks, ", blocks %u", t->shape.blocks);
    snprintf(text, SETTING, "%.20s%s%s%s", device, threads, blocks,
             t->load == LOAD_BUSY ? ", busy" : "");
}

/* What was seen: "2 results in 200 runs". */
static void seen_text(char text[WORDS], const struct plan *plan, const struct study_case *t)
{
    char here[SETTING], there[SETTING];
    if (t->beside && t->broken == PROMISE_ORDER_INVARIANT) {
        snprintf(text, WORDS, "other bits than on %.300s", plan->source[t->beside->source].name);
    } else if (t->beside) {
        setting_text(here, t);
        setting_text(there, t->beside);
        snprintf(text, WORDS, "other bits (%s) than in another case (%s)", here, there);
    } else if (t->broken == PROMISE_CORRECTLY_ROUNDED) {
        snprintf(text, WORDS, "an error of %.3g ulp", t->summary.err_ulp_max.value);
    } else {
        snprintf(text, WORDS, "%llu results in %llu runs", (unsigned long long)t->summary.distinct,
                 (unsigned long long)t->summary.runs);
    }
}

void breaks_headline(struct text *to, const struct plan *plan)
{
    enum { NAMED = 4 };
    size_t count;
    struct breaker *list = breakers_of(plan, &count);
    struct text line = {0};
    to->failed |= !list;
    for (size_t i = 0; list && i < count && i < NAMED; i++) {
        if (i == 0)
            text_format(&line, "! %zu method%s: ", count,
                        count == 1 ? " breaks its promise" : "s break their promises");
        text_add(&line, i ? ", " : "");
        text_visible(&line, list[i].first->method->name);
    }
    if (list && count > NAMED)
        text_format(&line, " and %zu more", count - NAMED);
    if (list && count > 0)
        text_wrapped(to, &line, TABLE_COLUMNS, 2);
    text_free(&line);
    free(list);
}

void breaks_lines(struct text *to, const struct plan *plan)
{
    size_t count;
    struct breaker *list = breakers_of(plan, &count);
    to->failed |= !list;
    for (size_t i = 0; list && i < count; i++) {
        char seen[WORDS];
        const struct study_case *t = list[i].first;
        const struct source *s = &plan->source[t->source];
        seen_text(seen, plan, t);
        text_format(to, "! %s breaks its promise, %s: %s\n  %s, n = %zu, %s/%s, case %016llx",
                    t->method->name, promise_name[t->broken], seen, s->name, s->array.n,
                    format_facts[s->array.format].name, format_facts[t->accumulator].name,
                    (unsigned long long)t->id);
        if (list[i].cases > 1)
            text_format(to, "; %zu more cases break it", list[i].cases - 1);
        text_add(to, "\n");
    }
    free(list);
}

json_t *breaks_json(const struct plan *plan)
{
    json_t *list = json_array();
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        char seen[WORDS], id[CASE_ID_TEXT];
        if (!t->broken)
            continue;
        seen_text(seen, plan, t);
        case_id_text(id, t->id);
        json_array_append_new(list,
                              json_pack("{ss ss ss ss}", "case_id", id, "method", t->method->name,
                                        "broken", promise_name[t->broken], "seen", seen));
    }
    return list;
}

enum status breaks_status(const struct plan *plan, const char *out, struct problem *p)
{
    size_t methods;
    struct breaker *list = breakers_of(plan, &methods);
    if (!list)
        return problem(p, STATUS_MEMORY, "out of memory for broken promises");
    const struct study_case *first = methods > 0 ? list[0].first : NULL;
    free(list);
    if (!first)
        return STATUS_OK;
    char seen[WORDS];
    seen_text(seen, plan, first);
    return problem(p, STATUS_FAILED,
                   "%s/results.csv: %zu method%s what %s, the first: %s, %s: %s (case %016llx); "
                   "`check %s` looks for a small counterexample",
                   out, methods, methods > 1 ? "s break" : " breaks",
                   methods > 1 ? "they promise" : "it promises", first->method->name,
                   promise_name[first->broken], seen, (unsigned long long)first->id,
                   first->method->name);
}
