/* What `ulpscope run --dry-run` prints. */

#include <stdio.h>
#include <stdlib.h>

#include "experiments/program/run_command.h"
#include "reports/results/study.h"
#include "reports/text/table.h"

static json_t *case_json(const struct plan *plan, const struct study_case *t)
{
    char id[CASE_ID_TEXT], device[DEVICE_TEXT];
    struct setting_columns setting;
    const struct source *s = &plan->source[t->source];
    case_id_text(id, t->id);
    device_name(t->device, device);
    json_t *object =
        json_pack("{ss ss ss ss ss ss ss sI}", "case_id", id, "method", t->method->name, "promise",
                  promise_name[t->method->promise], "device", device, "storage",
                  format_facts[s->array.format].name, "accumulator",
                  format_facts[t->accumulator].name, "input", s->name, "n", (json_int_t)s->array.n);
    if (s->generated)
        json_object_set_new(object, "seed", json_integer((json_int_t)s->seed));
    if (t->shape.threads)
        json_object_set_new(object, "threads", json_integer(t->shape.threads));
    if (t->shape.blocks)
        json_object_set_new(object, "blocks", json_integer(t->shape.blocks));
    setting_columns(&setting, t->method->operation, &t->setting);
    for (size_t i = CASE_SCAN; i < CASE_ALL; i++)
        if (*setting.column[i])
            json_object_set_new(object, case_columns[i].name, json_string(setting.column[i]));
    if (*setting.column[CASE_KEYS])
        json_object_set_new(object, "bins", json_integer((json_int_t)t->setting.bins));
    if (t->setting.segment)
        json_object_set_new(object, "segment", json_integer((json_int_t)t->setting.segment));
    if (t->load != LOAD_IDLE)
        json_object_set_new(object, "load", json_string(load_name[t->load]));
    json_object_set_new(object, "runs", json_integer((json_int_t)t->runs));
    json_object_set_new(object, "supported", json_boolean(t->supported));
    return object;
}

/* How ranks would share the cases, if costs were what they are taken for. */
struct dealt {
    size_t hands, most;     /* and cases of a hand */
    double least, greatest; /* of the ranks' shares, parts of all */
};

static enum status deal(struct dealt *d, const struct run_command *c, struct problem *p)
{
    struct hand *hand;
    double *load = calloc(c->rank.count, sizeof *load), all = 0;
    *d = (struct dealt){0};
    enum status status = load ? shard_hands(&hand, &d->hands, &c->plan, c->rank.count, p)
                              : problem(p, STATUS_MEMORY, "out of memory");
    if (status != STATUS_OK) {
        free(load);
        return status;
    }
    for (size_t i = 0; i < d->hands; i++) {
        uint32_t least = 0;
        for (uint32_t k = 1; k < c->rank.count; k++)
            least = load[k] < load[least] ? k : least;
        load[least] += hand[i].cost;
        all += hand[i].cost;
        d->most = hand[i].count > d->most ? hand[i].count : d->most;
    }
    d->least = 1;
    for (uint32_t k = 0; all > 0 && k < c->rank.count; k++) {
        d->least = load[k] / all < d->least ? load[k] / all : d->least;
        d->greatest = load[k] / all > d->greatest ? load[k] / all : d->greatest;
    }
    free(hand);
    free(load);
    return STATUS_OK;
}

enum status run_dry_json(const struct run_command *c, struct problem *p)
{
    struct dealt d;
    json_t *cases = json_array();
    enum status status = deal(&d, c, p);
    if (status != STATUS_OK) {
        json_decref(cases);
        return status;
    }
    for (size_t i = 0; i < c->plan.case_count; i++)
        json_array_append_new(cases, case_json(&c->plan, &c->plan.cases[i]));
    run_print_json(json_pack("{ss so sI sI sI sI sI so so}", "experiment", c->experiment->name,
                             "out", study_path(c->out), "cases", (json_int_t)c->plan.case_count,
                             "inputs_left_out", (json_int_t)c->plan.left_out, "runs",
                             (json_int_t)run_command_runs(c), "ranks", (json_int_t)c->rank.count,
                             "hands", (json_int_t)d.hands, "axes", axes_json(&c->axes), "case_list",
                             cases));
    return STATUS_OK;
}

/* Is it something that a person would ask for, and has it a value? */
static bool axis_shown(const struct run_command *c, enum axis axis, const json_t *words)
{
    bool cuda = false;
    for (size_t i = 0; i < c->axes.devices; i++)
        cuda |= c->axes.device[i].kind == DEVICE_CUDA;
    if (axis > AXIS_FORMATS && !(axis == AXIS_RUNS_CUDA && cuda))
        return false;
    const char *only =
        json_array_size(words) == 1 ? json_string_value(json_array_get(words, 0)) : "";
    return json_array_size(words) > 0 && strcmp(only, "0") != 0;
}

/* Words of an axis, in lines of at most 100 columns where the words allow it. */
static void print_axis(const char *name, const json_t *words)
{
    size_t i, column = 14;
    json_t *word;
    printf("  %-12s", name);
    json_array_foreach (words, i, word) {
        size_t width = 1 + json_string_length(word);
        if (column + width > 100) {
            printf("\n%14s", "");
            column = 14;
        }
        printf(" %s", json_string_value(word));
        column += width;
    }
    printf("\n");
}

enum status run_dry_text(const struct run_command *c, struct problem *p)
{
    struct dealt d;
    if (deal(&d, c, p) != STATUS_OK)
        return p->status;
    json_t *axes = axes_json(&c->axes);
    struct text out = {0};
    text_visible(&out, c->out);
    printf("%s: cases: %zu, inputs: %zu, runs: %llu, would go to %s\n", c->experiment->name,
           c->plan.case_count, c->plan.sources, (unsigned long long)run_command_runs(c),
           text_string(&out) ? out.data : "");
    text_free(&out);
    if (c->rank.count > 1)
        printf("  %u ranks take them in %zu hands of at most %zu cases, the costliest first: by "
               "runs x "
               "elements, and what inputs cost\n  %.3g%% to %.3g%% of the work each\n",
               c->rank.count, d.hands, d.most, 100 * d.least, 100 * d.greatest);
    for (enum axis axis = 0; axis < AXES; axis++) {
        const json_t *words = json_object_get(axes, axis_name[axis]);
        if (axis_shown(c, axis, words))
            print_axis(axis_name[axis], words);
    }
    json_decref(axes);
    return STATUS_OK;
}
