#include "experiments/sweep/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/sweep/fold.h"
#include "experiments/sweep/provenance.h"
#include "reference/base/hash.h"

static struct hash128 hash_of(const struct plan *plan)
{
    struct hash128 h = {{plan->case_count, 0}};
    for (size_t i = 0; i < plan->case_count; i++)
        hash_add(&h, i, plan->cases[i].id ^ plan->cases[i].runs);
    return h;
}

static enum status say(struct meeting *m, const struct ranks_word *word, struct problem *p)
{
    uint32_t came = 0;
    char line[160], *all = malloc(sizeof word->hash + word->count);
    if (!all)
        return problem(p, STATUS_MEMORY, "%s: out of memory", word->out);
    memcpy(all, &word->hash, sizeof word->hash);
    memcpy(all + sizeof word->hash, word->taken, word->count);
    enum status status = meeting_say(m, all, sizeof word->hash + word->count, &came, p);
    if (status == STATUS_OK && came < word->rank.count && word->note) {
        snprintf(line, sizeof line,
                 "only %u of %u ranks came: the study goes on with these (ULPSCOPE_RANK=off for a "
                 "process by itself)",
                 came, word->rank.count);
        word->note(word->context, line);
    }
    free(all);
    return status;
}

static enum status hear(struct meeting *m, struct ranks_word *word, struct problem *p)
{
    void *all;
    size_t bytes = 0;
    enum status status = meeting_hear(m, &all, &bytes, p);
    if (status != STATUS_OK)
        return status;
    bool same = bytes == sizeof word->hash + word->count &&
                memcmp(all, &word->hash, sizeof word->hash) == 0;
    if (same)
        word->taken = memmove(all, (char *)all + sizeof word->hash, word->count);
    else
        free(all);
    return same
               ? STATUS_OK
               : problem(p, STATUS_USAGE,
                         "%s: rank %u of %u has other cases than rank 0: do all ranks run the same "
                         "command of the same program?",
                         word->out, word->rank.index, word->rank.count);
}

enum status ranks_agree(struct meeting **m, struct ranks_word *word, struct problem *p)
{
    char *folder = fold_folder(word->out);
    *m = NULL;
    enum status status = folder ? meeting_open(m, folder, word->rank, word->stop, p)
                                : problem(p, STATUS_MEMORY, "out of memory");
    free(folder);
    if (status != STATUS_OK)
        return status;
    return word->rank.index == 0 ? say(*m, word, p) : hear(*m, word, p);
}

enum status ranks_failed(const struct meeting *m, enum status status, const struct problem *why,
                         struct problem *p)
{
    const bool resumable = m && status != STATUS_USAGE;
    return problem(p, status, "%s%s", why->text,
                   resumable ? "; the same command goes on from there" : "");
}

/* Takes the directory, and moves there what ranks that have no place in this job left. */
static enum status ready(struct fold_found *found, struct directory *d, const struct plan *plan,
                         const struct sweep_options *o, uint32_t ranks, struct problem *p)
{
    bool resumed = false;
    json_t *study = provenance_study(plan->axes, o->argc, o->argv);
    provenance_shard(study, o->shard);
    enum status status =
        study ? directory_open(d, o->out, p) : problem(p, STATUS_MEMORY, "out of memory");
    if (status == STATUS_OK)
        status = fold_wait(o->out, p);
    if (status == STATUS_OK)
        status = directory_claim(d, study, o->force, &resumed, p);
    if (status == STATUS_OK && !resumed)
        status = fold_drop(o->out, p);
    if (status == STATUS_OK)
        status = fold_ranks(plan, d, study, ranks, found, p);
    json_decref(study);
    return status;
}

static enum status work(struct meeting *m, struct rank rank, struct plan *plan, const char *taken,
                        struct meeting_done before, const struct sweep_options *options,
                        struct problem *p)
{
    const struct sweep_share share = {m, rank.count, taken, before};
    struct sweep_options o = *options;
    struct sweep_outcome outcome;
    char *out = fold_rank(options->out, rank.index);
    o.out = out;
    o.share = &share;
    o.force = false;
    o.note = NULL;
    o.progress &= rank.index == 0;
    enum status status =
        out ? sweep_run(&outcome, plan, &o, p) : problem(p, STATUS_MEMORY, "out of memory");
    free(out);
    return status;
}

enum status ranks_sweep(struct meeting **meeting, struct rank rank, struct plan *plan,
                        const struct sweep_options *o, struct problem *p)
{
    struct directory d = {.lock = -1};
    struct fold_found found = {0};
    enum status status = STATUS_OK;
    *meeting = NULL;
    if (rank.index == 0)
        status = ready(&found, &d, plan, o, rank.count, p);
    struct ranks_word word = {.rank = rank,
                              .out = o->out,
                              .stop = o->stop,
                              .hash = hash_of(plan),
                              .count = plan->case_count,
                              .taken = found.taken,
                              .note = o->note,
                              .context = o->context};
    if (status == STATUS_OK)
        status = ranks_agree(meeting, &word, p);
    if (status == STATUS_OK)
        status = work(*meeting, rank, plan, word.taken, found.done, o, p);
    if (rank.index == 0)
        directory_close(&d);
    free(word.taken);
    return status;
}
