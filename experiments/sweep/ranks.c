#include "experiments/sweep/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/sweep/fold.h"
#include "experiments/sweep/provenance.h"
#include "reference/base/hash.h"

/* What rank 0 tells the others: which cases there are, and then a byte for each, `taken`. */
static struct hash128 hash_of(const struct plan *plan)
{
    struct hash128 h = {{plan->case_count, 0}};
    for (size_t i = 0; i < plan->case_count; i++)
        hash_add(&h, i, plan->cases[i].id ^ plan->cases[i].runs);
    return h;
}

static enum status say(struct meeting *m, struct rank rank, const struct plan *plan,
                       const char *taken, const struct sweep_options *o, struct problem *p)
{
    struct hash128 hash = hash_of(plan);
    uint32_t came = 0;
    char line[160], *word = malloc(sizeof hash + plan->case_count);
    if (!word)
        return problem(p, STATUS_MEMORY, "%s: out of memory", o->out);
    memcpy(word, &hash, sizeof hash);
    memcpy(word + sizeof hash, taken, plan->case_count);
    enum status status = meeting_say(m, word, sizeof hash + plan->case_count, &came, p);
    if (status == STATUS_OK && came < rank.count && o->note) {
        snprintf(line, sizeof line,
                 "only %u of %u ranks came: the study goes on with these (ULPSCOPE_RANK=off for a "
                 "process by itself)",
                 came, rank.count);
        o->note(o->context, line);
    }
    free(word);
    return status;
}

static enum status hear(char **taken, struct meeting *m, struct rank rank, const struct plan *plan,
                        const char *out, struct problem *p)
{
    struct hash128 hash = hash_of(plan);
    void *word;
    size_t bytes = 0;
    *taken = NULL;
    enum status status = meeting_hear(m, &word, &bytes, p);
    if (status != STATUS_OK)
        return status;
    bool same = bytes == sizeof hash + plan->case_count && memcmp(word, &hash, sizeof hash) == 0;
    if (same)
        *taken = memmove(word, (char *)word + sizeof hash, plan->case_count);
    else
        free(word);
    return same
               ? STATUS_OK
               : problem(p, STATUS_USAGE,
                         "%s: rank %u of %u has other cases than rank 0: do all ranks run the same "
                         "command of the same program?",
                         out, rank.index, rank.count);
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
    char *folder = fold_folder(o->out);
    *meeting = NULL;
    enum status status = folder ? STATUS_OK : problem(p, STATUS_MEMORY, "out of memory");
    if (status == STATUS_OK && rank.index == 0)
        status = ready(&found, &d, plan, o, rank.count, p);
    if (status == STATUS_OK)
        status = meeting_open(meeting, folder, rank, o->stop, p);
    if (status == STATUS_OK && rank.index == 0)
        status = say(*meeting, rank, plan, found.taken, o, p);
    if (status == STATUS_OK && rank.index > 0)
        status = hear(&found.taken, *meeting, rank, plan, o->out, p);
    if (status == STATUS_OK)
        status = work(*meeting, rank, plan, found.taken, found.done, o, p);
    if (rank.index == 0)
        directory_close(&d);
    free(found.taken);
    free(folder);
    return status;
}
