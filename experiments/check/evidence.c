/* What attempts were made over, and which of them were made before: the same again is no more
 * evidence. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/batches.h"
#include "experiments/subjects/foreign.h"
#include "experiments/system/clock.h"
#include "reference/base/hash.h"
#include "reference/format/hash_array.h"
#include "reports/text/text.h"

static bool has(const struct check_set *set, uint64_t item)
{
    size_t i = 0;
    while (i < set->count && set->item[i] != item)
        i++;
    return i < set->count;
}

void check_set_add(struct check_set *set, uint64_t item)
{
    if (!has(set, item) && set->count < CHECK_SET)
        set->item[set->count++] = item;
}

static uint64_t mixed(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = hash_mix(hash ^ (unsigned char)*text);
    return hash;
}

static void note_over(struct check_over *over, const struct check_run *run)
{
    check_set_add(&over->shapes, run->shape);
    over->least_n = over->lengths.count == 0 || run->n < over->least_n ? run->n : over->least_n;
    over->most_n = run->n > over->most_n ? run->n : over->most_n;
    check_set_add(&over->lengths, run->n);
    check_set_add(&over->inputs, run->input);
    if (run->ranks)
        check_set_add(&over->ranks, run->ranks);
    if (run->batch)
        check_set_add(&over->batches, run->batch);
}

static struct check_run run_of(const struct check *c, struct shape shape)
{
    char name[INPUT_TEXT];
    const struct check_case *k = &c->at;
    check_input_text(k, name);
    bool seeded = !k->data && input_uses_seed(&k->input);
    struct check_run run = {.there = true,
                            .shape = (uint64_t)shape.threads << 32 | shape.blocks,
                            .n = k->n,
                            .input = mixed(seeded ? k->seed : 0, name),
                            .ranks = k->setting.ranks};
    if (operation_sides(c->request->method->operation) > 0) {
        struct batch_place is = setting_batch(c->request->method->operation, &k->setting, k->n);
        run.batch = (uint64_t)is.side[0] << 32 | is.side[1];
    }
    return run;
}

/* Writes down what is missing from a list that was asked for: the first few values, and how many
 * more. */
struct missed {
    char *words;
    size_t used, listed, more;
    uint64_t last;
    const char *before, *noun; /* of the list: "n = ", ""; or "", "thread" */
};

enum { LISTED = 4 };

static void miss(struct missed *m, uint64_t item)
{
    if (m->listed == LISTED) {
        m->more++;
        return;
    }
    const char *between = m->listed > 0 ? ", " : m->used > 0 ? "; " : "";
    if (m->words && m->used < CHECK_REASON)
        m->used += (size_t)snprintf(m->words + m->used, CHECK_REASON - m->used, "%s%s%llu", between,
                                    m->listed > 0 ? "" : m->before, (unsigned long long)item);
    m->last = item;
    m->listed++;
}

/* Ends a list; returns whether it is empty. */
static bool ended(struct missed *m)
{
    bool none = m->listed == 0;
    if (m->words && !none && m->more > 0 && m->used < CHECK_REASON)
        m->used +=
            (size_t)snprintf(m->words + m->used, CHECK_REASON - m->used, " and %zu more", m->more);
    if (m->words && !none && *m->noun && m->used < CHECK_REASON)
        m->used += (size_t)snprintf(m->words + m->used, CHECK_REASON - m->used, " %s%s", m->noun,
                                    m->listed == 1 ? text_s(m->last) : "s");
    m->listed = m->more = 0;
    return none;
}

/* Did an attempt run in what the method makes of so many threads, or blocks, at a length tried? */
static bool ran_in(const struct check_over *over, const struct check_request *r, struct shape asked)
{
    for (size_t i = 0; i < over->lengths.count; i++) {
        struct shape is = check_shape_made(r, (size_t)over->lengths.item[i], asked);
        for (size_t k = 0; k < over->shapes.count; k++) {
            uint64_t shape = over->shapes.item[k];
            if (asked.threads ? shape >> 32 == is.threads : (uint32_t)shape == is.blocks)
                return true;
        }
    }
    return false;
}

/* Is a length that was asked for in no attempt at the rung, although some kind could make one? A
 * subject of the user's must have run in another launch shape at this length. */
static bool length_missed(const struct check_report *report, enum promise rung, uint64_t n)
{
    bool reached = false, idle = true;
    for (size_t kind = 0; kind < CHECK_KINDS; kind++) {
        const struct check_tried *t = &report->tried[kind];
        bool shapes = kind == CHECK_SHAPE || kind == CHECK_ENVIRONMENT;
        if (!check_kind_of(kind, rung) || !has(&t->due, n))
            continue;
        bool made = has(&t->reached, n), nothing = has(&t->idle, n);
        if (shapes && report->request.method->foreign && !made && !nothing)
            return true;
        reached |= made;
        idle &= nothing;
    }
    return !reached && !idle;
}

static void miss_lengths(struct missed *m, const struct check_report *report, enum promise rung)
{
    struct check_set seen = {0};
    for (size_t kind = 0; kind < CHECK_KINDS; kind++) {
        const struct check_set *due = &report->tried[kind].due;
        for (size_t i = 0; check_kind_of(kind, rung) && i < due->count; i++) {
            if (!has(&seen, due->item[i]) && length_missed(report, rung, due->item[i]))
                miss(m, due->item[i]);
            check_set_add(&seen, due->item[i]);
        }
    }
}

/* Was there a case of this length, and in this pair, that had all of them? 0, NULL: of any. */
static bool all_counted(const struct check_batches *b, uint64_t n, const struct format_pair *pair,
                        size_t *most)
{
    for (size_t i = 0; i < b->tables; i++) {
        const struct batch_table *t = &b->table[i];
        const struct format_pair *is = &t->at.pair;
        bool meant =
            (n == 0 || t->at.n == n) &&
            (!pair || (is->storage == pair->storage && is->accumulator == pair->accumulator));
        if (meant && t->tried == t->asked)
            return true;
        *most = meant && t->tried > *most ? t->tried : *most;
    }
    return false;
}

/* "3062 of 4096 numbers of rows", where that is what time did not suffice for. */
static bool uncounted(struct missed *m, const struct check_report *report)
{
    const struct check_batches *b = report->request.batches;
    const struct check_tried *t = &report->tried[CHECK_BATCH];
    size_t pairs = b->pairs_asked ? b->pairs.count : 0, lengths = t->due.count;
    for (size_t i = 0; i < (pairs ? pairs : 1); i++)
        for (size_t k = 0; k < (lengths ? lengths : 1); k++) {
            size_t most = 0;
            if (all_counted(b, lengths ? t->due.item[k] : 0, pairs ? &b->pairs.item[i] : NULL,
                            &most) ||
                (lengths && most == 0 && has(&t->reached, t->due.item[k])))
                continue; /* or reached, and refused */
            if (m->words && m->used < CHECK_REASON)
                snprintf(m->words + m->used, CHECK_REASON - m->used, "%s%zu of %zu numbers of rows",
                         m->used > 0 ? "; " : "", b->rows.count - most, b->rows.count);
            return true;
        }
    return false;
}

/* Has a case of this length elements that are followed? */
static bool message_due(const struct check_report *report, size_t i, uint64_t n)
{
    const struct check_request *r = &report->request;
    const struct numbers *ranks = &r->setting.ranks;
    bool fits = ranks->count == 0;
    for (size_t k = 0; k < ranks->count; k++)
        fits |= ranks->item[k] <= n && (r->n.count == 0 || n % ranks->item[k] == 0);
    if (r->n.count > 0)
        return fits && has(&report->tried[CHECK_BATCH].due, n);
    bool read = false;
    for (size_t k = 0; k < r->pairs.count; k++)
        read |= r->pairs.item[k].storage == r->data[i].array.format &&
                format_pairs_have(method_pairs(r->method, r->device.kind), r->pairs.item[k].storage,
                                  r->pairs.item[k].accumulator);
    return fits && read;
}

/* Bits of an element may change with the length of its message: each that the user named must have
 * been one, since another length of the user's alone is compared with itself. */
static bool messages_missed(struct missed *m, const struct check_report *report, enum promise rung)
{
    const struct check_request *r = &report->request;
    uint64_t n;
    if (!check_kind_of(CHECK_BATCH, rung) || !r->tried[CHECK_BATCH] ||
        !operation_messages(r->method->operation))
        return false;
    m->before = "messages of n = ";
    m->noun = "";
    for (size_t i = 0; (n = check_message_named(r, i)) > 0; i++)
        if (!has(&report->over[rung].messages, n) && message_due(report, i, n) &&
            !length_missed(report, rung, n)) /* else that is said */
            miss(m, n);
    return !ended(m);
}

/* Of what else was asked for, behind lengths. */
static bool lists_missed(struct missed *m, const struct check_report *report, enum promise rung)
{
    const struct check_over *over = &report->over[rung];
    const struct check_request *r = &report->request;
    unsigned read = r->method->shape_read[r->device.kind];
    bool all = true;
    m->before = "";
    m->noun = "thread";
    bool threads = (read & SHAPE_THREADS) || check_environs(r);
    for (size_t i = 0; threads && i < r->threads.count; i++) {
        struct shape asked = {.threads = (unsigned)r->threads.item[i]};
        if (asked.threads && !ran_in(over, r, asked))
            miss(m, asked.threads);
    }
    all &= ended(m);
    m->noun = "block";
    for (size_t i = 0; (read & SHAPE_BLOCKS) && i < r->blocks.count; i++) {
        struct shape asked = {.blocks = (unsigned)r->blocks.item[i]};
        if (asked.blocks && !ran_in(over, r, asked))
            miss(m, asked.blocks);
    }
    all &= ended(m);
    m->noun = "rank";
    for (size_t i = 0; i < r->setting.ranks.count && setting_read(r->method, SETTING_RANKS); i++)
        if (!has(&over->ranks, r->setting.ranks.item[i]))
            miss(m, r->setting.ranks.item[i]);
    all &= ended(m);
    bool counted = check_kind_of(CHECK_BATCH, rung) && check_is_counted(r, CHECK_BATCH) &&
                   r->tried[CHECK_BATCH];
    return (counted && uncounted(m, report)) || !all;
}

bool check_missed(char words[CHECK_REASON], const struct check_report *report, enum promise rung)
{
    struct missed m = {.words = words, .before = "n = ", .noun = ""};
    miss_lengths(&m, report, rung);
    bool lengths = !ended(&m), lists = lists_missed(&m, report, rung);
    return messages_missed(&m, report, rung) || lists || lengths;
}

bool check_kind_missed(const struct check_report *report, enum check_kind kind)
{
    const struct check_tried *t = &report->tried[kind];
    struct missed m = {.words = NULL};
    for (size_t i = 0; i < t->due.count; i++)
        if (!has(&t->reached, t->due.item[i]) && !has(&t->idle, t->due.item[i]))
            return true;
    return lists_missed(&m, report, check_kinds[kind].rung) ||
           (kind == CHECK_BATCH && messages_missed(&m, report, check_kinds[kind].rung));
}

void check_note_followed(const struct check *c, const size_t of[BATCH_SIDES])
{
    char name[INPUT_TEXT];
    struct check_evidence *e = c->evidence;
    check_input_text(&c->at, name);
    uint64_t key = mixed(hash_mix(c->at.seed) ^ c->at.n, name);
    for (size_t i = 0; i < BATCH_SIDES; i++)
        key = hash_mix(key ^ hash_mix(of[i] + i));
    for (size_t i = 0; e && i < 2; i++)
        if (e->over[i])
            check_set_add(&e->over[i]->followed, key);
}

void check_note_message(const struct check *c, size_t elements, uint64_t asked)
{
    for (size_t i = 0; c->evidence && i < 2; i++) {
        struct check_over *over = c->evidence->over[i];
        if (!over)
            continue;
        bool first = over->most_message == 0;
        over->least_message =
            first || elements < over->least_message ? elements : over->least_message;
        over->most_message = elements > over->most_message ? elements : over->most_message;
        if (asked)
            check_set_add(&over->messages, asked);
    }
}

/* Notes what came of a case of this length. Without an attempt it says something only where time
 * does not tell why: a process that was not started may have shown another result. */
void check_note_case(const struct check *c, struct check_report *report, enum check_kind kind,
                     const struct check_case *k, bool reached)
{
    struct check_tried *t = &report->tried[kind];
    if (kind == CHECK_EXACT)
        check_note_family(report, k);
    bool starts = kind == CHECK_PROCESS || kind == CHECK_AFTER || kind == CHECK_ENVIRONMENT;
    if (reached)
        check_set_add(&t->reached, k->n);
    else if (!starts && clock_ns() < c->until)
        check_set_add(&t->idle, k->n);
}

static uint64_t key_of(const struct check *c, const struct check_setting *s, struct shape shape)
{
    const struct array *in = s->in ? s->in : &c->in;
    const uint64_t facts[] = {c->at.n,
                              c->at.setting.bins,
                              c->made.of.stride,
                              c->at.setting.exclusive,
                              (uint64_t)c->at.pair.storage << 8 | c->at.pair.accumulator,
                              (uint64_t)shape.threads << 32 | shape.blocks,
                              (uint64_t)s->device.kind << 32 | (uint32_t)s->device.index,
                              s->offset << 8 | s->around,
                              foreign_threads_made(s->method),
                              c->at.setting.promote,
                              (uint64_t)c->made.of.gemm.m << 32 | c->made.of.gemm.n,
                              (uint64_t)c->made.of.gemm.pad << 2 |
                                  (uint64_t)c->made.of.gemm.a_column << 1 |
                                  c->made.of.gemm.b_column};
    const char *chip = s->chip ? s->chip : c->at.setting.chip;
    uint64_t key = hash_array(in).word[0];
    if (c->made.of.keys) {
        struct array keys =
            check_keys_array((uint32_t *)(s->keys ? s->keys : c->made.of.keys), c->at.n);
        key = hash_mix(key) ^ hash_array(&keys).word[0];
    }
    for (size_t i = 0; c->made.of.mask && i < c->at.n; i++)
        key = hash_mix(key ^ c->made.of.mask[i]);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        key = hash_mix(key ^ hash_mix(facts[i] + i));
    key = chip ? mixed(key, chip) : key;
    return key ? key : 1;
}

void check_note(const struct check *c, const struct check_setting *s)
{
    struct check_evidence *e = c->evidence;
    if (!e)
        return;
    /* That of the subject, also where a program serves it, whose command has the shape. */
    struct shape shape = method_shape(c->request->method, s->device.kind, c->at.n, s->shape);
    if (foreign_threads(s->method)) {
        foreign_ask_threads(s->method, s->device.kind == DEVICE_CUDA ? s->device.index : -1);
        shape.threads = foreign_threads_made(s->method);
    }
    e->run = run_of(c, shape);
    e->key = e->once ? key_of(c, s, shape) : 0;
}

void check_noted(const struct check *c)
{
    struct check_evidence *e = c->evidence;
    for (size_t i = 0; e && e->run.there && i < 2; i++)
        if (e->over[i])
            note_over(e->over[i], &e->run);
    if (e)
        e->run.there = false;
}

/* Doubles the table; false when memory is short. */
static bool grow(struct check_evidence *e)
{
    struct check_evidence more = *e;
    more.slots = e->slots ? 2 * e->slots : 1024;
    more.slot = calloc(more.slots, sizeof *more.slot);
    if (!more.slot)
        return false;
    for (size_t i = 0; i < e->slots; i++) {
        size_t at = e->slot[i] & (more.slots - 1);
        while (e->slot[i] && more.slot[at])
            at = (at + 1) & (more.slots - 1);
        if (e->slot[i])
            more.slot[at] = e->slot[i];
    }
    free(e->slot);
    *e = more;
    return true;
}

bool check_is_new(const struct check *c)
{
    struct check_evidence *e = c->evidence;
    if (!e || !e->key)
        return true;
    if (2 * e->keys >= e->slots && !grow(e))
        return false; /* rather too little evidence than too much */
    size_t at = e->key & (e->slots - 1);
    while (e->slot[at] && e->slot[at] != e->key)
        at = (at + 1) & (e->slots - 1);
    bool is_new = !e->slot[at];
    e->slot[at] = e->key;
    e->keys += is_new;
    return is_new;
}

void check_evidence_begin(struct check_evidence *e, struct check_over *over,
                          struct check_over *beside, bool once)
{
    check_evidence_free(e);
    *e = (struct check_evidence){.over = {over, beside}, .once = once};
}

void check_evidence_free(struct check_evidence *e)
{
    free(e->slot);
    e->slot = NULL;
}
