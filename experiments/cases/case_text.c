#include "experiments/cases/case_text.h"

#include <inttypes.h>
#include <stdio.h>

static void write_unless_zero(char text[24], size_t value)
{
    text[0] = 0;
    if (value)
        snprintf(text, 24, "%zu", value);
}

void case_text(struct case_text *c, const struct study_case *t, const struct source *s,
               const char *experiment, struct figure cond_log2)
{
    *c->cond_log2 = *c->seed = 0;
    case_id_text(c->id, t->id);
    device_name(t->device, c->device);
    snprintf(c->n, sizeof c->n, "%zu", s->array.n);
    if (cond_log2.known)
        number_decimal(c->cond_log2, cond_log2.value);
    if (s->generated)
        snprintf(c->seed, sizeof c->seed, "%" PRIu64, s->seed);
    write_unless_zero(c->threads, t->shape.threads);
    write_unless_zero(c->blocks, t->shape.blocks);
    method_added_in(c->added_in, t->method, t->accumulator);
    setting_columns(&c->setting, t->method->operation, &t->setting);
    memcpy(c->column, c->setting.column, sizeof c->column);
    c->column[CASE_EXPERIMENT] = experiment;
    c->column[CASE_ID] = c->id;
    c->column[CASE_METHOD] = t->method->name;
    c->column[CASE_PROMISE] = promise_name[t->method->promise];
    c->column[CASE_DEVICE] = c->device;
    c->column[CASE_STORAGE] = format_facts[s->array.format].name;
    c->column[CASE_ACCUMULATOR] = format_facts[t->accumulator].name;
    c->column[CASE_INPUT] = s->name;
    c->column[CASE_N] = c->n;
    c->column[CASE_COND_LOG2] = c->cond_log2;
    c->column[CASE_SEED] = c->seed;
    c->column[CASE_THREADS] = c->threads;
    c->column[CASE_BLOCKS] = c->blocks;
    c->column[CASE_ADDED_IN] = c->added_in;
    c->column[CASE_RESULT_FORMAT] = format_facts[t->setting.output].name;
}

struct case_rest case_rest(const struct study_case *t, const struct source *s, char key_seed[24])
{
    snprintf(key_seed, 24, "%" PRIu64, t->setting.key_seed);
    return (struct case_rest){.hash = s->hash,
                              .keys_hash = t->setting.keys ? t->setting.keys->hash : "",
                              .key_seed = key_seed,
                              .load = t->load == LOAD_IDLE ? "" : load_name[t->load]};
}

uint64_t case_id(const struct study_case *t, const struct source *s)
{
    struct case_text c;
    char key_seed[24];
    const struct case_rest rest = case_rest(t, s, key_seed);
    case_text(&c, t, s, "", (struct figure){0});
    return case_id_columns(c.column, &rest);
}
