/* run_to_run: the same again, in this process, in others, while the device has other work, and
 * after other lengths. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/check/attempts.h"
#include "experiments/system/clock.h"
#include "experiments/subjects/foreign.h"
#include "experiments/system/shell.h"
#include "experiments/subjects/subject.h"
#include "kernels/gpu/load.h"

enum { PROCESSES = 3 }; /* each asked one time more than a tenth of the runs */

/* As many runs as there is time for behind these: two at least, in one go where they fit. */
static uint64_t runs_next(const struct check *c, uint64_t done, uint64_t left, uint64_t begin)
{
    uint64_t now = clock_ns();
    if (done == 0)
        return left < 2 ? left : 2;
    if (now >= c->until)
        return 0;
    double fit = (double)(c->until - now) / ((double)(now - begin + 1) / (double)done);
    return fit < 1 ? 1 : fit < (double)left ? (uint64_t)fit : left;
}

static enum status repeat(struct check *c, struct check_outcome *o, const char *what,
                          struct problem *p)
{
    struct probe *probe;
    struct check_setting plain = check_plain(c, &c->at);
    struct check_taking taking = {.check = c, .outcome = o, .what = what};
    enum status status = check_open(c, &plain, &probe, p);
    uint64_t begin = clock_ns(), runs = c->request->runs, done = 0, next;
    while (status == STATUS_OK && done < runs &&
           (next = runs_next(c, done, runs - done, begin)) > 0) {
        status = probe_repeat(probe, next, check_take_runs, &taking, p);
        done += next;
    }
    o->found.runs = runs;
    probe_close(probe);
    return status;
}

enum status check_repeat(struct check *c, struct check_outcome *o, struct problem *p)
{
    return repeat(c, o, "run", p);
}

enum status check_under_load(struct check *c, struct check_outcome *o, struct problem *p)
{
    struct load *load;
    struct array out;
    struct check_setting plain = check_plain(c, &c->at);
    enum status status = check_once(c, &plain, &out, p);
    if (status == STATUS_OK)
        status = check_take(c, o, &out, 0, p, "on an idle device");
    if (status != STATUS_OK || !check_load(c, &load))
        return status;
    status = repeat(c, o, "under load, run", p);
    load_end(load);
    return status;
}

/* What no request says: whose instructions are modelled, and how sums are promoted. */
static void add_own(struct text *to, const struct check *c)
{
    struct setting_word word[SETTING_OPTIONS];
    size_t words = setting_words(word, c->request->method->operation, &c->at.setting);
    for (size_t i = 0; i < words; i++) {
        if (word[i].option == SETTING_CHIP)
            text_format(to, " --chip %s", word[i].text);
        if (word[i].option == SETTING_PROMOTE)
            text_format(to, " --promote %zu", word[i].number);
    }
}

bool check_keeps(const struct check *c, const struct method *m)
{
    size_t i = 0;
    while (i < c->serving && c->served[i] != m)
        i++;
    return i < c->serving;
}

void check_keep(struct check *c, const struct method *m)
{
    if (!check_keeps(c, m) && c->serving < CHECK_SERVED)
        c->served[c->serving++] = m;
}

enum status check_served(struct check *c, const struct check_setting *s, const char *more,
                         const struct method **served, struct problem *p)
{
    char path[PATH_MAX], device[DEVICE_TEXT];
    struct text text = {0};
    foreign_program_path(path);
    device_name(s->device, device);
    text_add(&text, "exec:exec ");
    shell_word(&text, path);
    text_add(&text, " serve ");
    shell_word(&text, s->method->name);
    add_own(&text, c);
    text_format(&text, " --device %s --threads %u --blocks %u --offset %zu %s", device,
                s->shape.threads, s->shape.blocks, s->offset, more);
    const char *command = text_string(&text);
    enum status status =
        command ? subject_named(served, "check", command, c->request->method->operation, p)
                : problem(p, STATUS_MEMORY, "out of memory");
    text_free(&text);
    if (status == STATUS_OK)
        check_keep(c, *served);
    return status;
}

/* Ours are asked through `serve`, in processes that stay; others are started anew. */
static enum status process(struct check *c, int i, struct check_setting *s, struct problem *p)
{
    char more[16];
    snprintf(more, sizeof more, "# %d", i + 1);
    if (!s->method->foreign)
        return check_served(c, s, more, &s->method, p);
    foreign_end(s->method);
    return STATUS_OK;
}

/* One fresh process is hardly evidence: of those that take long to begin, as interpreters do, the
 * first case asks all once in up to this share of the time. */
#define PROCESS_SHARE 0.3

static bool few_processes(const struct check *c, uint64_t begin)
{
    uint64_t now = clock_ns();
    bool shrinking = !c->evidence;
    return !shrinking && c->request->method->foreign && now < c->end &&
           now < begin + clock_span(PROCESS_SHARE * c->request->seconds);
}

enum status check_process(struct check *c, struct check_outcome *o, struct problem *p)
{
    struct array out;
    uint64_t runs = 1 + c->request->runs / 10, begin = clock_ns();
    struct check_setting plain = check_plain(c, &c->at);
    enum status status = check_once(c, &plain, &out, p);
    if (status == STATUS_OK)
        status = check_take(c, o, &out, 0, p, "in one process");
    for (int i = 0;
         i < PROCESSES && status == STATUS_OK && (!check_enough(c, o) || few_processes(c, begin));
         i++) {
        struct check_setting other = plain;
        status = process(c, i, &other, p);
        for (uint64_t run = 0;
             run < runs && status == STATUS_OK && (run == 0 || !check_enough(c, o)); run++) {
            status = check_once(c, &other, &out, p);
            if (status == STATUS_OK)
                status = check_take(c, o, &out, 0, p, "in fresh process %d", i + 1);
        }
    }
    o->found.runs = c->request->runs;
    return status;
}

/* Cases in the same formats with other lengths, at most LONGER times as long; the second one has
 * other elements of the same length, unless they are the user's data. Where --n names lengths,
 * these are others. */
enum { LENGTHS_BEFORE = CHECK_BEFORE, LOOKED_THROUGH = 64, LONGER = 16, LENGTH_LEAST = 1 << 16 };

static size_t other_lengths(const struct check *c, struct check_case others[LENGTHS_BEFORE])
{
    struct check_request r = *c->request;
    struct check looked = *c;
    struct check_case k;
    size_t count = 0, most = c->at.n > LENGTH_LEAST / LONGER ? LONGER * c->at.n : LENGTH_LEAST;
    r.n = (struct numbers){0};
    looked.request = &r;
    for (size_t u = 0; u < LOOKED_THROUGH && count < LENGTHS_BEFORE; u++) {
        enum check_found found = check_case_at(&looked, CHECK_AFTER, u, &k);
        if (found == CHECK_NO_MORE)
            break;
        bool other = found == CHECK_FOUND && k.n != c->at.n && k.n <= most &&
                     k.pair.storage == c->at.pair.storage &&
                     k.pair.accumulator == c->at.pair.accumulator;
        for (size_t i = 0; i < count && other; i++)
            other = others[i].n != k.n;
        k.shape = c->at.shape;
        if (other)
            others[count++] = k;
        if (other && count == 1 && !c->at.data) {
            others[count] = c->at;
            others[count++].seed++;
        }
    }
    return count;
}

/* Runs another case in the process of this one, which then is the case at hand again. One that the
 * subject refuses changes nothing; but what it refuses only behind a run of this one is a failure.
 */
static enum status run_other(struct check *c, const struct check_case *other, bool *ran,
                             struct problem *p)
{
    const struct check_case own = c->at;
    struct problem why = {0};
    struct array out;
    enum status status = check_load_case(c, other, &why);
    if (status == STATUS_OK) {
        struct check_setting plain = check_plain(c, other);
        status = check_once(c, &plain, &out, &why);
    }
    *ran = status == STATUS_OK;
    if (status == STATUS_OK)
        free(out.data);
    if (status != STATUS_OK && status != STATUS_USAGE && !check_refuses_again(c, status, &why))
        return problem(p, status, "%s", why.text);
    return check_load_case(c, &own, p);
}

/* Takes a result behind a run on the last of these, which the others were run before. */
static enum status take_after(struct check *c, struct check_outcome *o,
                              const struct check_case *others, size_t count, bool own_first,
                              struct problem *p)
{
    struct array out;
    bool ran = false;
    const struct check_case *other = &others[count - 1];
    const uint64_t differing = o->differing;
    enum status status = run_other(c, other, &ran, p);
    if (status != STATUS_OK || !ran)
        return status;
    struct check_setting plain = check_plain(c, &c->at);
    status = check_once(c, &plain, &out, p);
    if (status == STATUS_OK)
        status = check_take(c, o, &out, 0, p, "%s %zu%s elements",
                            own_first || count > 1 ? "after a run on"
                                                   : "in a process whose first run was on",
                            other->n, other->n == c->at.n ? " other" : "");
    o->found.runs = c->request->runs;
    if (status == STATUS_OK && differing == 0 && o->differing > 0) {
        memcpy(o->found.before, others, count * sizeof *others);
        o->found.befores = count;
        o->found.own_first = own_first;
    }
    return status;
}

#define START_SHARE       0.25
#define CHEAP_START_SHARE 0.1

/* What compiles or tunes itself for a length may do so for any from then on. Subjects that are not
 * ours begin in a fresh process, which has run no other length. */
enum status check_after(struct check *c, struct check_outcome *o, struct problem *p)
{
    struct array out;
    struct check_case others[LENGTHS_BEFORE];
    size_t count = other_lengths(c, others);
    struct check_setting plain = check_plain(c, &c->at);
    bool fresh = plain.method->foreign && foreign_restarts(plain.method);
    enum status status = STATUS_OK;
    /* Of the time, no more than so much is for one start; of cheap ones, for two. */
    double start_s = fresh ? foreign_start_s(plain.method) : 0;
    bool time = !fresh || !c->evidence || start_s < START_SHARE * c->request->seconds,
         cheap = start_s < CHEAP_START_SHARE * c->request->seconds;
    if (count == 0 || !time)
        return STATUS_OK;
    if (fresh)
        foreign_end(plain.method);
    status = check_once(c, &plain, &out, p);
    if (status == STATUS_OK)
        status =
            check_take(c, o, &out, 0, p, fresh ? "first in a process" : "before other lengths");
    const size_t at = count > 1;
    for (size_t i = 0;
         i < (fresh ? 1 : count) && status == STATUS_OK && (i == 0 || !check_enough(c, o)); i++)
        status = take_after(c, o, others, i + 1, true, p);
    if (!fresh || status != STATUS_OK || (check_enough(c, o) && !cheap))
        return status;
    /* A process that keeps what it has computed has the first result from then on: in another one
     * others come first, of the same length before all, where there are such. */
    foreign_end(plain.method);
    for (size_t i = at; i < count && status == STATUS_OK && (i == at || !check_enough(c, o)); i++)
        status = take_after(c, o, &others[at], i - at + 1, false, p);
    return status;
}
