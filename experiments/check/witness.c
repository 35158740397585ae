/* A break made small, and the command that shows it again. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/batches.h"
#include "experiments/subjects/foreign.h"
#include "experiments/system/clock.h"
#include "experiments/system/shell.h"

enum { RUNS_SHOWN = 4, RUNS_SHOWN_RARE = 100, ROUNDS_SHOWN = 60, AGAIN = 5 };

enum status check_again(struct check *c, bool timing, check_try try_it, bool *shows,
                        struct check_break *b, struct problem *p)
{
    const size_t times = timing ? AGAIN : 2;
    *shows = true;
    for (size_t i = 0; i < times && *shows; i++) {
        struct check_outcome o = {0};
        enum status status = try_it(c, &o, p);
        *shows = status == STATUS_OK && o.differing > 0 && (!b->exceeds || o.found.exceeds);
        if (*shows)
            *b = o.found;
        check_outcome_free(&o);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

enum status check_shrink(struct check *c, bool timing, check_try try_it, uint64_t end,
                         struct check_break *b, struct problem *p)
{
    const struct check_case found = b->at;
    for (size_t n = 2; n < found.n && clock_ns() < end; n += n < 8 ? 1 : n / 4) {
        bool shows;
        struct check_break smaller = {.exceeds = b->exceeds};
        struct check_case k = found;
        struct problem why = {0};
        k.n = n;
        enum status status = check_load_case(c, &k, &why);
        if (status == STATUS_USAGE)
            continue;
        if (status == STATUS_OK)
            status = check_again(c, timing, try_it, &shows, &smaller, &why);
        if (status == STATUS_DATA && c->request->method->foreign && foreign_declined())
            continue; /* so few elements, perhaps */
        if (status != STATUS_OK)
            return problem(p, status, "%s", why.text);
        if (shows) {
            *b = smaller;
            return STATUS_OK;
        }
    }
    return STATUS_OK;
}

static void add_setting(struct text *t, const struct operation *o, const struct setting *s)
{
    struct setting_word word[SETTING_OPTIONS];
    size_t words = setting_words(word, o, s);
    for (size_t i = 0; i < words; i++) {
        text_format(t, " --%s ", setting_options[word[i].option].name);
        if (word[i].asked)
            shell_word(t, word[i].asked);
        else
            text_format(t, "%zu", word[i].number);
    }
}

static void add_axes(struct text *t, const struct check_report *r, enum check_kind kind)
{
    const struct check_break *b = &r->tried[kind].witness;
    const struct check_request *q = &r->request;
    char input[INPUT_TEXT], device[DEVICE_TEXT];
    check_input_text(&b->at, input);
    device_name(q->device, device);
    text_format(t, " --device %s --storage %s --accumulator %s", device,
                format_facts[b->at.pair.storage].name, format_facts[b->at.pair.accumulator].name);
    if (b->at.data && b->at.data->converted)
        text_add(t, " --convert");
    if (b->at.data && b->at.data->saturated)
        text_add(t, " --saturate");
    text_add(t, b->at.data ? " --data " : " --input ");
    shell_word(t, b->at.data ? b->at.data->asked : input);
    if (b->at.data && b->at.data->second) {
        text_add(t, " --data ");
        shell_word(t, b->at.data->second);
    }
    text_format(t, " --n %zu --seed %llu", b->at.n, (unsigned long long)b->at.seed);
    add_setting(t, q->method->operation, &b->at.setting);
    /* What depends on timing is to show itself once more; between runs in other processes there is
     * so much time that it may do so rarely. */
    bool rare = kind == CHECK_PROCESS && r->tried[CHECK_REPEAT].broken > 0;
    if (b->runs)
        text_format(t, " --runs %llu",
                    (unsigned long long)(b->runs * (rare ? RUNS_SHOWN_RARE : RUNS_SHOWN)));
    else if (check_rung(r, PROMISE_RUN_TO_RUN).state == CHECK_BROKEN)
        text_format(t, " --runs %d", ROUNDS_SHOWN * CHECK_RUNS);
}

static void add_number(struct text *t, const char *option, bool read, unsigned first,
                       unsigned second)
{
    if (!read || (first == 0 && second == 0)) /* what is tried first */
        return;
    text_format(t, " --%s %u", option, first);
    if (second != first)
        text_format(t, ",%u", second);
}

/* The launch shapes in question, and what else the device did. */
static void add_shapes(struct text *t, const struct check_report *r, enum check_kind kind)
{
    const struct check_request *q = &r->request;
    const struct check_break *b = &r->tried[kind].witness;
    bool told = check_environs(q),
         two = kind == CHECK_SHAPE || (kind == CHECK_ENVIRONMENT && b->at.shape.threads);
    struct shape first = b->at.shape, second = two ? b->other_shape : first;
    unsigned read = q->method->shape_read[q->device.kind];
    add_number(t, "threads", told || read & SHAPE_THREADS, first.threads, second.threads);
    add_number(t, "blocks", read & SHAPE_BLOCKS, first.blocks, second.blocks);
    if (b->at.busy && check_kinds[kind].rung > PROMISE_RUN_TO_RUN)
        text_add(t, " --load busy");
    if (kind == CHECK_RECORDED && q->recorded_in) {
        text_add(t, " --recorded ");
        shell_word(t, q->recorded_in);
    }
}

/* The two numbers of rows; two are needed to compare, also where one shows it in itself. */
static void add_batches(struct text *t, const struct check_break *b)
{
    size_t first = b->variant[0].place.side[0], second = b->variant[1].place.side[0];
    text_format(t, " --batch %zu,%zu", first, second == first ? first + 1 : second);
}

char *check_command(const struct check_report *r, enum check_kind kind, const char *program)
{
    struct text t = {0};
    const struct check_kind_facts *facts = &check_kinds[kind];
    text_add(&t, program);
    text_add(&t, " check ");
    shell_word(&t, r->request.method->name);
    enum promise rung = check_meant(r, kind);
    text_format(&t, " --only %s/%s", promise_name[rung], facts->name);
    add_axes(&t, r, kind);
    add_shapes(&t, r, kind);
    if (check_is_counted(&r->request, kind))
        add_batches(&t, &r->tried[kind].witness);
    if (!method_promises(r->request.method, rung))
        text_format(&t, " --promise %s", promise_name[rung]);
    const char *string = text_string(&t);
    char *command = string ? strdup(string) : NULL;
    text_free(&t);
    return command;
}
