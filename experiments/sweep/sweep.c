#include "experiments/sweep/sweep.h"

#include <stdio.h>
#include <stdlib.h>

#include "experiments/sweep/breaks.h"
#include "experiments/system/clock.h"
#include "experiments/cases/experiment.h"
#include "experiments/sweep/fold.h"
#include "experiments/sweep/provenance.h"
#include "experiments/sweep/resume.h"
#include "experiments/sweep/engine.h"

/* study.json is written anew for new inputs, but not more often than this. */
enum { STUDY_WRITE_NS = 500000000 };

static enum status write_study(struct sweep *w, bool at_once, struct problem *p)
{
    uint64_t now = clock_ns();
    if (!w->study_changed || (!at_once && now - w->study_written_ns < STUDY_WRITE_NS))
        return STATUS_OK;
    w->study_changed = false;
    w->study_written_ns = now;
    return study_write(w->study, w->directory.study, p);
}

/* Loads a source and records its hash, or holds it to the one recorded. */
static enum status load(struct sweep *w, struct source *s, struct problem *why, struct problem *p)
{
    char recorded[HASH_TEXT];
    memcpy(recorded, s->hash, sizeof recorded);
    if (source_load(s, why) != STATUS_OK)
        return STATUS_OK;
    if (*recorded && strcmp(recorded, s->hash) != 0)
        return problem(p, STATUS_DATA,
                       "%s: found other elements than the study has recorded (XXH3 %s, expected "
                       "%s): was it another version of the program?",
                       s->name, s->hash, recorded);
    if (s->recorded)
        return STATUS_OK;
    char *key = source_key(s);
    json_t *inputs = json_object_get(w->study, "inputs");
    if (!key || json_object_set_new(inputs, key, json_string(s->hash)) != 0)
        problem(p, STATUS_MEMORY, "%s: out of memory", s->name);
    free(key);
    s->recorded = w->study_changed = true;
    return p->status == STATUS_OK ? write_study(w, false, p) : p->status;
}

/* Is there nothing left to do for this process? */
static bool settled(const struct study_case *t)
{
    return t->summarised || t->elsewhere;
}

static bool all_settled(const struct plan *plan, const struct source *s)
{
    for (size_t i = 0; i < s->cases; i++)
        if (!settled(&plan->cases[s->first + i]))
            return false;
    return true;
}

void sweep_progress(struct sweep *w)
{
    const struct sweep_share *share = w->options->share;
    struct meeting_done done = {w->outcome->finished, w->runs_done};
    if (share) {
        done = (struct meeting_done){done.cases - w->cases_before, done.runs - w->runs_before};
        meeting_tell(share->meeting, done);
        if (!w->options->progress)
            return;
        done = meeting_told(share->meeting, done);
        done.cases += share->before.cases;
        done.runs += share->before.runs;
    }
    progress_draw(&w->progress, done.cases, done.runs);
}

/* Its array could not be had: a row of each case says so. */
static enum status fail_all(struct sweep *w, const struct source *s, const struct problem *why,
                            struct problem *p)
{
    char line[1400];
    snprintf(line, sizeof line, "%zu case%s of %s, n = %zu, %s: %s", s->cases,
             s->cases > 1 ? "s" : "", s->name, s->array.n, format_facts[s->array.format].name,
             why->text);
    progress_clear(&w->progress);
    if (w->options->note)
        w->options->note(w->options->context, line);
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < s->cases; i++) {
        struct study_case *t = &w->plan->cases[s->first + i];
        if (!t->finished && !t->failed && !t->elsewhere)
            status = t->supported ? sweep_fail(w, t, why, p) : sweep_case(w, t, p);
    }
    return status;
}

static enum status run_case(struct sweep *w, struct study_case *t, struct problem *p)
{
    if (w->options->stop && *w->options->stop)
        return problem(p, STATUS_INTERRUPTED, "interrupted");
    enum exact_value of = t->method->operation->of;
    w->truth = w->known[of] ? &w->truths[of] : NULL;
    enum status status = settled(t) || t->failed ? STATUS_OK : sweep_case(w, t, p);
    sweep_progress(w);
    return status;
}

/* Behind each case those that scan alike, so that what they share is there once. */
static enum status run_cases(struct sweep *w, const struct source *s, struct problem *p)
{
    enum status status = STATUS_OK;
    struct study_case *cases = &w->plan->cases[s->first];
    for (size_t i = 0; status == STATUS_OK && i < s->cases; i++) {
        status = run_case(w, &cases[i], p);
        for (size_t k = i + 1; status == STATUS_OK && k < s->cases; k++)
            if (shared_alike(&cases[i], &cases[k]))
                status = run_case(w, &cases[k], p);
    }
    shared_end(&w->shared);
    return status;
}

/* Does the source have unfinished cases that are held against this value? */
static bool asks_for(const struct sweep *w, const struct source *s, enum exact_value of)
{
    for (size_t i = 0; i < s->cases; i++) {
        const struct study_case *t = &w->plan->cases[s->first + i];
        if (!settled(t) && t->method->operation->of == of)
            return true;
    }
    return false;
}

static void free_truths(struct sweep *w)
{
    for (enum exact_value of = 0; of < EXACT_VALUES; of++)
        if (w->known[of])
            truth_free(&w->truths[of]);
    memset(w->known, 0, sizeof w->known);
    w->truth = NULL;
}

static enum status make_truths(struct sweep *w, const struct source *s, struct problem *p)
{
    enum status status = STATUS_OK;
    for (enum exact_value of = 0; of < EXACT_VALUES && status == STATUS_OK; of++)
        if (!w->known[of] && asks_for(w, s, of)) {
            status = truth_make_of(&w->truths[of], s->name, of, &s->array,
                                   s->pair ? &s->second : NULL, w->plan->axes->reference, p);
            w->known[of] = status == STATUS_OK;
        }
    return status;
}

/* --- Hands, of a rank --- */

/* Takes the next hand with a case that is open. */
static enum status take_hand(struct sweep *w, struct problem *p)
{
    const struct sweep_share *share = w->options->share;
    enum status status = STATUS_OK;
    for (bool open = false; status == STATUS_OK && !open && w->at < w->hands;) {
        uint64_t number;
        status = meeting_take(share->meeting, &number, p);
        w->at = status == STATUS_OK && number < w->hands ? (size_t)number : w->hands;
        for (size_t i = 0; w->at < w->hands && i < w->hand[w->at].count; i++)
            open |= !share->taken[w->hand[w->at].first + i];
    }
    return status;
}

static void open_hand(struct sweep *w)
{
    const struct hand *hand = &w->hand[w->at];
    for (size_t i = hand->first; i < hand->first + hand->count; i++)
        w->plan->cases[i].elsewhere &= w->options->share->taken[i] != 0;
}

/* Takes the next hand; it is opened at once where it reads what is loaded. */
static bool more_of(struct sweep *w, const struct source *s, enum status *status, struct problem *p)
{
    if (!w->options->share || w->at == w->hands)
        return false;
    *status = take_hand(w, p);
    bool more = *status == STATUS_OK && w->at < w->hands &&
                &w->plan->source[w->plan->cases[w->hand[w->at].first].source] == s;
    if (more)
        open_hand(w);
    return more;
}

/* What a source's cases need is there. */
static enum status run_loaded(struct sweep *w, struct source *s, struct problem *p)
{
    struct problem why = {0};
    enum status status;
    do {
        status = make_truths(w, s, &why);
        if (status == STATUS_OK)
            status = run_cases(w, s, p);
        else if (status == STATUS_FAILED)
            problem(p, status, "%s", why.text);
        else
            status = fail_all(w, s, &why, p);
    } while (status == STATUS_OK && more_of(w, s, &status, p));
    free_truths(w);
    return status;
}

static enum status run_source(struct sweep *w, struct source *s, struct problem *p)
{
    struct problem why = {0};
    bool needed = !all_settled(w->plan, s);
    if (!needed && s->recorded)
        return STATUS_OK;
    enum status status = load(w, s, &why, p);
    if (status != STATUS_OK || why.status != STATUS_OK)
        return status == STATUS_OK && needed ? fail_all(w, s, &why, p) : status;
    if (needed)
        status = run_loaded(w, s, p);
    for (size_t i = 0; i < w->plan->axes->devices; i++) {
        if (w->gpu[i])
            gpu_release(w->gpu[i]);
        w->gpu[i] = NULL;
    }
    source_unload(s);
    return status;
}

static enum status open_directory(struct sweep *w, struct problem *p)
{
    bool resumed;
    enum columns_of of = experiment_columns(w->plan->axes->experiment);
    struct resumed found = {0};
    const struct sweep_options *o = w->options;
    enum status status = directory_open(&w->directory, o->out, p);
    if (status == STATUS_OK && !o->share && !o->joins)
        status = fold_wait(o->out, p);
    if (status == STATUS_OK)
        status = directory_claim(&w->directory, w->study, o->force, &resumed, p);
    if (status == STATUS_OK && !o->share)
        status = resumed ? fold_ranks(w->plan, &w->directory, w->study, 0, NULL, p)
                         : fold_drop(o->out, p);
    if (status == STATUS_OK && !o->share)
        fold_end(o->out);
    if (status == STATUS_OK && resumed)
        status = resume_inputs(w->plan, w->study, w->directory.study, true, p);
    if (status == STATUS_OK && resumed)
        status = resume_read(&found, w->plan, &w->directory, p);
    if (status == STATUS_OK)
        status = results_open(&w->results, w->directory.results, found.whole, of, p);
    if (status == STATUS_OK)
        status = csv_file_open(&w->summary, w->directory.summary, found.summary,
                               summary_column_of(of), summary_columns(of), p);
    if (status == STATUS_OK && of == COLUMNS_OF_SCANS)
        status = profile_open(&w->profile, w->directory.profile, found.profile, p);
    if (o->share) /* written just now */
        w->study_written_ns = clock_ns();
    w->outcome->broken = found.broken;
    memcpy(w->outcome->first_broken, found.first_broken, sizeof found.first_broken);
    return status;
}

/* What is done, and whether anything is left. */
static bool count(struct sweep *w)
{
    uint64_t runs = 0;
    bool left = false;
    for (size_t i = 0; i < w->plan->case_count; i++) {
        const struct study_case *t = &w->plan->cases[i];
        runs += t->runs;
        w->runs_done += t->supported ? t->done : 0;
        w->outcome->finished += t->finished;
        left |= !t->finished;
    }
    const struct sweep_share *share = w->options->share;
    w->runs_before = w->runs_done;
    w->cases_before = w->outcome->finished;
    progress_begin(&w->progress, w->options->progress, w->plan->case_count, runs,
                   share ? share->before.runs : w->runs_done);
    return left;
}

/* The first case of a merged study that is not there, and the shard that it belongs to. */
static enum status missing(const struct sweep *w, struct problem *p)
{
    const struct plan *plan = w->plan;
    uint32_t *dealt = calloc(plan->case_count + 1, sizeof *dealt);
    enum status status = dealt ? shard_deal(dealt, plan, w->options->merged, p)
                               : problem(p, STATUS_MEMORY, "out of memory");
    size_t first = 0;
    while (plan->cases[first].finished)
        first++;
    if (status == STATUS_OK)
        status = problem(
            p, STATUS_DATA,
            "%zu of %zu cases are missing, the first %s on %s, n = %zu, of shard "
            "%u/%u: run that shard again until it is finished, then merge again",
            plan->case_count - w->outcome->finished, plan->case_count,
            plan->cases[first].method->name, plan->source[plan->cases[first].source].name,
            plan->source[plan->cases[first].source].array.n, dealt[first], w->options->merged);
    free(dealt);
    return status;
}

static void wait_drawing(void *sweep)
{
    sweep_progress(sweep);
}

/* study.json says when the cases of this process began, and when they had ended. */
static void stamp(struct sweep *w, const char *name)
{
    provenance_moment(w->study, name);
    provenance_hosts(w->study, w->plan->axes->method, w->plan->axes->methods);
    w->study_changed = true;
}

/* First what this rank had begun before it was killed, then hands. */
static enum status run_share(struct sweep *w, struct problem *p)
{
    json_object_del(w->study, "cases_ended");
    stamp(w, "cases_began");
    struct plan *plan = w->plan;
    enum status status = shard_hands(&w->hand, &w->hands, plan, w->options->share->ranks, p);
    w->at = w->hands;
    for (size_t i = 0; i < plan->case_count; i++)
        plan->cases[i].elsewhere = plan->cases[i].done == 0;
    for (size_t i = 0; status == STATUS_OK && i < plan->sources; i++)
        if (!all_settled(plan, &plan->source[i]))
            status = run_source(w, &plan->source[i], p);
    w->at = 0;
    if (status == STATUS_OK && w->hands > 0)
        status = take_hand(w, p);
    while (status == STATUS_OK && w->at < w->hands) {
        size_t source = plan->cases[w->hand[w->at].first].source, at = w->at;
        open_hand(w);
        status = run_source(w, &plan->source[source], p);
        if (status == STATUS_OK && w->at == at) /* its input could not be had */
            status = take_hand(w, p);
    }
    stamp(w, "cases_ended");
    enum status written = write_study(w, true, p);
    status = status == STATUS_OK ? written : status;
    return status == STATUS_OK ? meeting_end(w->options->share->meeting, wait_drawing, w, p)
                               : status;
}

static enum status run_sources(struct sweep *w, struct problem *p)
{
    enum status status = STATUS_OK;
    bool left = count(w);
    if (w->options->share)
        return run_share(w, p);
    if (left && w->options->merged)
        return missing(w, p);
    if (left && json_object_size(json_object_get(w->study, "inputs")) > 0) {
        provenance_resumed(w->study, w->plan->axes, w->options->argc, w->options->argv);
        w->study_changed = true;
    }
    if (left) {
        json_object_del(w->study, "cases_ended");
        stamp(w, "cases_began");
    }
    for (size_t i = 0; status == STATUS_OK && i < w->plan->sources; i++)
        status = run_source(w, &w->plan->source[i], p);
    if (left && status == STATUS_OK)
        stamp(w, "cases_ended");
    enum status written = write_study(w, true, p);
    return status == STATUS_OK ? written : status;
}

enum status sweep_run(struct sweep_outcome *outcome, struct plan *plan,
                      const struct sweep_options *options, struct problem *p)
{
    struct sweep w = {.plan = plan, .options = options, .outcome = outcome};
    *outcome = (struct sweep_outcome){0};
    w.results.file.fd = w.summary.fd = w.profile.fd = w.directory.lock = -1;
    w.study = provenance_study(plan->axes, options->argc, options->argv);
    provenance_shard(w.study, options->shard);
    w.gpu = calloc(plan->axes->devices, sizeof *w.gpu);
    enum status status =
        w.study && w.gpu ? open_directory(&w, p) : problem(p, STATUS_MEMORY, "out of memory");
    if (status == STATUS_OK)
        status = run_sources(&w, p);
    bool whole = !options->share;
    /* Rank 0 copies what ranks leave behind, and sees to it that the copy is on the disk. */
    if (status == STATUS_OK && !whole)
        w.results.file.passing = w.summary.passing = w.profile.passing = true;
    if (status == STATUS_OK && whole && experiment_times(plan->axes->experiment))
        status = sweep_times(&w, p);
    breaks_find(plan);
    progress_clear(&w.progress);
    enum status closed = results_close(&w.results, p);
    if (csv_file_close(&w.summary, p) != STATUS_OK && closed == STATUS_OK)
        closed = STATUS_DATA;
    if (csv_file_close(&w.profile, p) != STATUS_OK && closed == STATUS_OK)
        closed = STATUS_DATA;
    status = status == STATUS_OK ? closed : status;
    if (status == STATUS_OK && whole && plan->axes->experiment->derive)
        status = plan->axes->experiment->derive(plan, options->out, p);
    if (w.directory.lock >= 0)
        directory_close(&w.directory);
    tally_free(&w.tally);
    json_decref(w.study);
    free(w.gpu);
    free(w.hand);
    return status;
}

enum status sweep_verdict(const struct sweep_outcome *outcome, const struct plan *plan,
                          const char *out, struct problem *p)
{
    char failed[96] = "";
    if (outcome->failed > 0)
        snprintf(failed, sizeof failed, "%zu of %zu cases failed (status `error`)", outcome->failed,
                 plan->case_count);
    if (outcome->broken > 0)
        return problem(p, STATUS_FAILED,
                       "%s/results.csv: %zu row%s broke the bound, the first: %s%s%s", out,
                       outcome->broken, outcome->broken > 1 ? "s" : "", outcome->first_broken,
                       outcome->failed > 0 ? "; " : "", failed);
    if (breaks_status(plan, out, p) != STATUS_OK)
        return p->status;
    if (outcome->failed > 0)
        return problem(p, outcome->failed_status,
                       "%s/results.csv: %s; the same command tries them again", out, failed);
    if (outcome->untimed > 0)
        return problem(p, outcome->untimed_status,
                       "%s/times.csv: %zu times could not be taken; the same command tries again",
                       out, outcome->untimed);
    return STATUS_OK;
}
