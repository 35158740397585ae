/* Results that ought to be one. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/attempts.h"
#include "experiments/system/memory.h"
#include "reference/format/hash_array.h"

static uint64_t canonical(const struct array *a, size_t i)
{
    return format_canonical(a->format, array_bits(a, i));
}

struct hash128 check_digest(const struct check *c, const struct array *out)
{
    return operation_makes_array(c->request->method->operation)
               ? hash_array(out)
               : (struct hash128){{canonical(out, 0), 0}};
}

static struct array from_index(const struct array *a, size_t from)
{
    size_t skipped = from * (size_t)format_facts[a->format].bytes;
    return (struct array){a->format, a->n - from, (char *)a->data + skipped};
}

/* The first place in which they differ, and what stands there. */
static void note_difference(const struct check *c, struct check_outcome *o, const struct array *out,
                            size_t from)
{
    struct check_break *b = &o->found;
    size_t i = from;
    while (i + 1 < out->n && canonical(&o->first, i) == canonical(out, i))
        i++;
    b->at = c->at;
    b->index = i;
    b->bits[0] = canonical(&o->first, i);
    b->bits[1] = canonical(out, i);
}

/* What differs counts in any case; what does not, where it was no attempt before. */
static enum status count(struct check_outcome *o, struct hash128 digest, bool is_new, bool *first,
                         bool *differs, struct problem *p)
{
    bool empty = o->tally.count == 0;
    struct distinct *d = tally_add(&o->tally, digest);
    if (!d)
        return problem(p, STATUS_MEMORY, "out of memory for results");
    *first = empty;
    *differs = d != o->tally.item;
    o->attempts += !empty && (is_new || *differs);
    o->differing += *differs;
    return STATUS_OK;
}

struct check_variant check_variant(const struct check_setting *s)
{
    return (struct check_variant){.shape = s->shape,
                                  .device = s->device,
                                  .offset = s->offset,
                                  .byte = (uint8_t)~s->around,
                                  .chip = s->chip};
}

enum status check_take(const struct check *c, struct check_outcome *o, struct array *out,
                       size_t from, struct problem *p, const char *is, ...)
{
    bool first = false, differs = false;
    struct array rest = from_index(out, from);
    check_noted(c);
    enum status status = count(o, check_digest(c, &rest), check_is_new(c), &first, &differs, p);
    if (status == STATUS_OK && (first || (differs && o->differing == 1))) {
        va_list arguments;
        va_start(arguments, is);
        vsnprintf(o->found.is[!first], CHECK_WORDS, is, arguments);
        va_end(arguments);
        o->found.variant[!first] = o->now;
    }
    if (status == STATUS_OK && differs && o->differing == 1)
        note_difference(c, o, out, from);
    if (status == STATUS_OK && first)
        o->first = *out;
    else
        free(out->data);
    out->data = NULL;
    return status;
}

enum status check_take_runs(void *taking, const struct runner_results *results, struct problem *p)
{
    struct check_taking *t = taking;
    struct check_outcome *o = t->outcome;
    enum status status = STATUS_OK;
    check_noted(t->check);
    for (size_t i = 0; i < results->runs && status == STATUS_OK; i++) {
        bool first = false, differs = false;
        struct array out;
        uint64_t run = ++t->runs;
        status = count(o, results->digest[i], true, &first, &differs, p);
        bool wanted = first || (differs && o->differing == 1);
        if (status != STATUS_OK || !wanted)
            continue;
        snprintf(o->found.is[!first], CHECK_WORDS, "%s %llu", t->what, (unsigned long long)run);
        o->found.variant[!first] = o->now;
        /* Of sums, the output is the digest; runs in one batch may share its place. */
        const struct operation *operation = t->check->request->method->operation;
        status =
            memory_array(&out, t->check->at.setting.output, check_outputs(t->check), "results", p);
        if (status != STATUS_OK)
            continue;
        if (operation_makes_array(operation))
            status = results->output(results->source, i, &out, p);
        else
            array_set_bits(&out, 0, results->digest[i].word[0]);
        if (first) {
            o->first = out;
            continue;
        }
        note_difference(t->check, o, &out, 0);
        free(out.data);
    }
    return status;
}

void check_join(struct check_outcome *o, struct check_outcome *other)
{
    if (o->differing == 0 && other->differing > 0)
        o->found = other->found;
    o->attempts += other->attempts;
    o->differing += other->differing;
    if (other->tally.count > o->other.count) {
        struct tally fewer = o->other;
        o->other = other->tally;
        other->tally = fewer;
    }
}

void check_outcome_free(struct check_outcome *o)
{
    tally_free(&o->tally);
    tally_free(&o->other);
    free(o->first.data);
    *o = (struct check_outcome){0};
}
