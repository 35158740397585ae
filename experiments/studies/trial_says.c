#include <stdio.h>

#include "experiments/studies/says.h"
#include "experiments/studies/trial_study.h"
#include "experiments/system/shell.h"
#include "reports/text/table.h"

/* What came of a subject, the worst first. */
enum came { BROKEN, FAILED, IN_PART, KEPT, NOTHING_PROMISED, NOTHING_TRIED, ABSENT };

static enum came came_of(const struct trial_subject *t)
{
    const enum promise promise = t->method->promise;
    const bool nothing = promise == PROMISE_NONE && !t->method->beside;
    return t->absent                         ? ABSENT
           : t->broken                       ? BROKEN
           : t->failed                       ? FAILED
           : nothing && !t->tried            ? NOTHING_TRIED
           : nothing                         ? NOTHING_PROMISED
           : t->kept < promise || t->untried ? IN_PART
                                             : KEPT;
}

static size_t count(const struct trial_study *s, enum came came)
{
    size_t found = 0;
    for (size_t i = 0; i < s->subjects; i++)
        found += came_of(&s->subject[i]) == came;
    return found;
}

/* --- The conclusion --- */

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static const char *broken_name(const struct trial_subject *t)
{
    return t->broken_rung > PROMISE_NONE ? promise_name[t->broken_rung] : "error bound";
}

static void add_names(struct text *to, const struct trial_study *s, enum came came)
{
    size_t names = 0;
    for (size_t i = 0; i < s->subjects; i++) {
        const struct trial_subject *t = &s->subject[i];
        if (came_of(t) != came || !says_next(to, &names, ": "))
            continue;
        text_visible(to, t->method->name);
        if (came == BROKEN)
            text_format(to, " (%s)", broken_name(t));
    }
    says_rest(to, names);
}

static bool is_loose(const struct trial_subject *t)
{
    return came_of(t) == NOTHING_PROMISED &&
           strncmp(t->cell[PROMISE_RUN_TO_RUN], "broken", strlen("broken")) == 0;
}

/* Where none promises anything: whose bits differed from run to run, which is what a user asks
 * first. */
static void add_loose(struct text *to, const struct trial_study *s)
{
    struct text line = {0};
    size_t names = 0, loose = 0, all = count(s, NOTHING_PROMISED);
    for (size_t i = 0; i < s->subjects; i++)
        loose += is_loose(&s->subject[i]);
    text_format(&line, "%zu of %zu subject%s that promise%s nothing gave other bits run after run",
                loose, all, plural(all), all == 1 ? "s" : "");
    for (size_t i = 0; i < s->subjects; i++)
        if (is_loose(&s->subject[i]) && says_next(&line, &names, ": "))
            text_visible(&line, s->subject[i].method->name);
    says_rest(&line, names);
    if (loose > 0)
        says_line(to, &line);
    text_free(&line);
}

static bool any_exceeds(const struct trial_study *s)
{
    bool any = false;
    for (size_t i = 0; i < s->subjects; i++)
        any |= !s->subject[i].absent && s->subject[i].exceeds;
    return any;
}

/* "2 of 5 subjects break their promise: sum/x (gpu_to_gpu), ..." */
static void add_verdict(struct text *to, const struct trial_study *s)
{
    struct text line = {0};
    const size_t all = s->subjects - count(s, ABSENT) - count(s, NOTHING_TRIED);
    const size_t kept = count(s, KEPT);
    unsigned long long attempts = 0;
    const bool nothing = all > 0 && count(s, NOTHING_PROMISED) == all;
    if (nothing)
        add_loose(to, s);
    for (size_t i = 0; i < s->subjects; i++)
        attempts += came_of(&s->subject[i]) == KEPT ? s->subject[i].attempts : 0;
    if (count(s, BROKEN) > 0) {
        text_format(&line, "%zu of %zu subject%s break%s a promise%s", count(s, BROKEN), all,
                    plural(all), count(s, BROKEN) == 1 ? "s" : "",
                    any_exceeds(s) ? " or an error bound" : "");
        add_names(&line, s, BROKEN);
    } else if (count(s, FAILED) == all) {
        text_add(&line, "no promise was tried");
    } else if (!nothing) {
        text_format(&line, "no promise was broken");
    }
    if (kept > 0)
        text_format(&line, "; %zu subject%s kept what %s promise%s in %llu attempts", kept,
                    plural(kept), kept == 1 ? "it" : "they", kept == 1 ? "s" : "", attempts);
    if (count(s, NOTHING_PROMISED) > 0)
        text_format(&line, "%s%zu %spromise%s nothing", nothing ? "" : "; ",
                    count(s, NOTHING_PROMISED), nothing ? all == 1 ? "subject " : "subjects " : "",
                    count(s, NOTHING_PROMISED) == 1 ? "s" : "");
    says_line(to, &line);
    if (count(s, IN_PART) > 0) {
        text_add(&line, "not tried as far as promised");
        add_names(&line, s, IN_PART);
        says_line(to, &line);
    }
    if (count(s, NOTHING_TRIED) > 0) {
        text_add(&line, "not tried");
        add_names(&line, s, NOTHING_TRIED);
        says_line(to, &line);
    }
    if (count(s, FAILED) > 0) {
        text_add(&line, "failed");
        add_names(&line, s, FAILED);
        says_line(to, &line);
    }
}

/* What bits kept beyond what is promised: chance, or a promise to make. */
static void add_more(struct text *to, const struct trial_study *s)
{
    struct text line = {0};
    size_t names = 0;
    for (size_t i = 0; i < s->subjects; i++) {
        const struct trial_subject *t = &s->subject[i];
        if (came_of(t) == ABSENT || t->broken || t->kept <= t->method->promise ||
            !says_next(&line, &names, "kept more than promised: "))
            continue;
        text_visible(&line, t->method->name);
        text_format(&line, " (%s)", promise_name[t->kept]);
    }
    says_rest(&line, names);
    if (names > 0)
        says_line(to, &line);
    text_free(&line);
}

/* --- The table --- */

static void add_wide(struct text *to, const struct trial_study *s)
{
    struct table table = {.align = "llllllll"};
    static const char *const header[] = {"method", "device", "promises", "keeps"};
    char device[DEVICE_TEXT];
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        table_cell(&table, "%s", header[i]);
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++)
        table_cell(&table, "%s", promise_name[rung]);
    for (size_t i = 0; i < s->subjects; i++) {
        const struct trial_subject *t = &s->subject[i];
        if (t->absent)
            continue;
        device_name(t->device, device);
        table_cell(&table, "%s", t->method->name);
        table_cell(&table, "%s", device);
        table_cell(&table, "%s", promise_name[t->method->promise]);
        table_cell(&table, "%s%s", promise_name[t->kept], t->broken ? "!" : "");
        for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++)
            table_cell(&table, "%s", t->cell[rung]);
    }
    table_draw(to, &table);
    to->failed |= table.failed;
    table_free(&table);
}

static bool on(const struct trial_subject *t, struct device d)
{
    return !t->absent && t->device.kind == d.kind && t->device.index == d.index;
}

/* "kept 210" is a number alone, "broken 13/18" a fraction. */
static const char *short_cell(const char *cell)
{
    static const char *const word[] = {"kept ", "broken "};
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (strncmp(cell, word[i], strlen(word[i])) == 0)
            return cell + strlen(word[i]);
    return cell;
}

/* The promise that it keeps, or what is wrong with that. */
static void keeps_cell(struct table *table, const struct trial_subject *t)
{
    const char *promise = promise_name[t->method->promise];
    switch (came_of(t)) {
    case BROKEN:
        table_cell(table, "not %s",
                   t->broken_rung == PROMISE_NONE ? "its bound"
                   : t->broken_rung > PROMISES    ? promise_name[t->broken_rung]
                                                  : promise);
        break;
    case FAILED:
        table_cell(table, "failed");
        break;
    case IN_PART:
        table_cell(table, "part of %s", promise);
        break;
    case NOTHING_PROMISED:
    case NOTHING_TRIED:
        table_cell(table, "none promised");
        break;
    case KEPT:
    case ABSENT:
        table_cell(table, "%s", promise);
        break;
    }
}

static void add_narrow(struct text *to, const struct trial_study *s, struct device on_device)
{
    struct table table = {.align = "llrrrR"};
    table_cell(&table, "method");
    table_cell(&table, "keeps");
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++)
        table_cell(&table, "%s", promise_name[rung]);
    for (size_t i = 0; i < s->subjects; i++) {
        const struct trial_subject *t = &s->subject[i];
        if (!on(t, on_device))
            continue;
        table_cell(&table, "%s", t->method->name);
        keeps_cell(&table, t);
        for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++)
            table_cell(&table, "%s", short_cell(t->cell[rung]));
    }
    table_draw(to, &table);
    to->failed |= table.failed;
    table_free(&table);
}

/* What can be promised beside the ladder, of the subjects of which it can. */
static void add_beside(struct text *to, const struct trial_study *s, const struct device *only)
{
    struct table table = {.align = "lll"};
    bool any = false;
    table_cell(&table, "method");
    table_cell(&table, "beside the ladder");
    table_cell(&table, "verdict");
    for (size_t i = 0; i < s->subjects; i++) {
        const struct trial_subject *t = &s->subject[i];
        const struct operation *o = t->method->operation;
        if (only ? !on(t, *only) : t->absent)
            continue;
        for (enum promise rung = check_next(o, PROMISES); rung < PROMISES_ALL;
             rung = check_next(o, rung)) {
            any = true;
            table_cell(&table, "%s", t->method->name);
            table_cell(&table, "%s%s", promise_name[rung],
                       method_promises(t->method, rung) ? ", promised" : "");
            table_cell(&table, "%s", t->cell[rung]);
        }
    }
    text_add(to, any ? "\n" : "");
    if (any)
        table_draw(to, &table);
    to->failed |= table.failed;
    table_free(&table);
}

/* A table for each device, in the order in which they come. */
static void add_tables(struct text *to, const struct trial_study *s)
{
    for (size_t i = 0; i < s->subjects; i++) {
        char device[DEVICE_TEXT];
        size_t k = 0;
        while (k < i && !on(&s->subject[k], s->subject[i].device))
            k++;
        if (k < i || s->subject[i].absent)
            continue;
        device_name(s->subject[i].device, device);
        text_format(to,
                    "\nkeeps: the promise that is kept, on %s. N: N attempts, the same bits; k/N: "
                    "k of N differed\n",
                    device);
        add_narrow(to, s, s->subject[i].device);
        add_beside(to, s, &s->subject[i].device);
    }
}

/* The first subject that broke its promise, else the first that failed; NULL: there is none. */
static const struct trial_subject *to_look_at(const struct trial_study *s)
{
    for (enum came came = BROKEN; came <= FAILED; came++)
        for (size_t i = 0; i < s->subjects; i++)
            if (came_of(&s->subject[i]) == came)
                return &s->subject[i];
    return NULL;
}

static void add_next(struct text *to, const struct trial_study *s, const struct experiment_run *run)
{
    const struct trial_subject *t = to_look_at(s);
    char device[DEVICE_TEXT];
    text_add(to, "reproduce: ");
    shell_word(to, run->argv[0]);
    text_add(to, " run --from ");
    shell_word(to, run->out);
    text_add(to, "/study.json --out ");
    shell_word(to, run->out);
    text_add(to, "-again\nnext: ");
    shell_word(to, run->argv[0]);
    if (!t) {
        text_add(to, " report ");
        shell_word(to, run->out);
    } else {
        device_name(t->device, device);
        text_add(to, " check ");
        shell_word(to, t->method->name);
        text_format(to, " --device %s", device);
    }
    text_add(to, "\n");
}

void trial_says(struct text *to, const struct trial_study *s, const struct experiment_run *run)
{
    struct text line = {0};
    const size_t absent = count(s, ABSENT), subjects = s->subjects - absent;
    add_verdict(to, s);
    add_more(to, s);
    if (table_wide()) {
        text_add(to, "\n");
        add_wide(to, s);
        add_beside(to, s, NULL);
    } else {
        add_tables(to, s);
    }
    text_format(&line, "%zu subject%s", subjects, plural(subjects));
    if (absent > 0)
        text_format(&line, ", %zu other%s not there", absent, plural(absent));
    text_add(&line, ": ");
    text_visible(&line, run->out);
    text_add(&line, "/trial.csv (a row for each rung, with a witness where it is broken), "
                    "study.json");
    text_add(to, "\n");
    says_line(to, &line);
    add_next(to, s, run);
}
