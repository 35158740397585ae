#include "experiments/program/sum_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/subjects/interrupt.h"
#include "experiments/system/clock.h"
#include "experiments/system/machine.h"
#include "experiments/system/progress.h"
#include "reference/base/grow.h"
#include "reference/base/hash.h"
#include "reports/text/file.h"

static uint64_t hash_text(const char *text, const char *more)
{
    struct hash128 h = {{0, 0}};
    uint64_t at = 0;
    for (const char *c = text; *c; c++)
        hash_add(&h, at++, (unsigned char)*c);
    for (const char *c = more; *c; c++)
        hash_add(&h, at++, (unsigned char)*c);
    return h.word[0];
}

static enum status no_memory(const char *path, struct problem *p)
{
    return problem(p, STATUS_MEMORY, "%s: out of memory", path);
}

/* --- meeting --- */

/* What rank 0 says. */
struct word {
    uint64_t shares, bytes, build;
};

/* 0 for a path that also names a part of a file (FILE:NAME): its shares are compared instead. */
static uint64_t bytes_of(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 ? (uint64_t)facts.st_size : 0;
}

enum status sum_ranks_open(struct sum_ranks *s, struct rank rank, const char *path,
                           struct problem *p)
{
    *s = (struct sum_ranks){.rank = rank};
    if (asprintf(&s->folder, ".ulpscope-sum-%016llx", (unsigned long long)hash_text(path, "")) <
        0) {
        s->folder = NULL;
        return no_memory(path, p);
    }
    return meeting_open(&s->meeting, s->folder, rank, interrupt_catch(), p);
}

static char *state_path(const struct sum_ranks *s, uint32_t rank)
{
    char *path;
    return asprintf(&path, "%s/%u.state", s->folder, rank) < 0 ? NULL : path;
}

static void remove_states(const struct sum_ranks *s)
{
    for (uint32_t k = 1; k < s->rank.count; k++) {
        char *path = state_path(s, k);
        if (path)
            unlink(path);
        free(path);
    }
}

void sum_ranks_close(struct sum_ranks *s)
{
    if (s->meeting && s->rank.index == 0) {
        remove_states(s);
        meeting_clear(s->folder);
    }
    meeting_close(s->meeting);
    for (size_t i = 0; i < s->parts; i++)
        free(s->part[i].name);
    free(s->part);
    free(s->folder);
}

enum status sum_ranks_agree(struct sum_ranks *s, bool *shares, const char *path, struct problem *p)
{
    struct word ours = {*shares, bytes_of(path), hash_text(build_version, build_commit)}, *heard;
    size_t bytes;
    uint32_t came;
    if (s->rank.index == 0) {
        remove_states(s); /* of an earlier job */
        return meeting_say(s->meeting, &ours, sizeof ours, &came, p);
    }
    void *word;
    enum status status = meeting_hear(s->meeting, &word, &bytes, p);
    if (status != STATUS_OK)
        return status;
    heard = word;
    *shares = bytes == sizeof *heard && heard->shares;
    if (bytes != sizeof *heard || heard->build != ours.build)
        problem(p, STATUS_USAGE, "sum: rank %u of %u is of another build than rank 0",
                s->rank.index, s->rank.count);
    else if (heard->bytes != ours.bytes)
        problem(p, STATUS_DATA, "%s: rank %u of %u finds %llu bytes, rank 0 %llu", path,
                s->rank.index, s->rank.count, (unsigned long long)ours.bytes,
                (unsigned long long)heard->bytes);
    free(word);
    return p->status;
}

/* --- a share --- */

struct reading {
    struct sum_ranks *s;
    size_t at;                      /* the array at hand */
    struct reference_blocks blocks; /* of it, so far */
    struct progress_line *line;
    uint64_t begin_ns;
};

static enum status take_block(void *context, const struct array *block, size_t done, size_t of,
                              struct problem *p)
{
    struct reading *r = context;
    (void)p;
    reference_blocks_add(&r->blocks, block);
    double seconds = (double)(clock_ns() - r->begin_ns) / 1e9, rate = (double)done / seconds;
    progress_line_say(r->line, rate > 0 ? ((double)of - (double)done) / rate : 0,
                      "rank 0 of %u: %.2f of %.2f GB, %.2f GB/s", r->s->rank.count,
                      (double)done / 1e9, (double)of / 1e9, rate / 1e9);
    return STATUS_OK;
}

static enum status end_blocks(void *context, const struct data *about, struct problem *p)
{
    struct reading *r = context;
    struct sum_ranks *s = r->s;
    if (r->at == s->parts) {
        char *name = strdup(about->name);
        if (!name || !grow(&s->part, s->parts, sizeof *s->part)) {
            free(name);
            return no_memory(about->name, p);
        }
        s->part[s->parts++] = (struct sum_part){name, about->array.format, r->blocks};
    } else {
        reference_blocks_merge(&s->part[r->at].blocks, &r->blocks);
    }
    r->at++;
    reference_blocks_begin(&r->blocks);
    r->begin_ns = clock_ns();
    return STATUS_OK;
}

/* Adds the share of a rank. */
static enum status read_share(struct sum_ranks *s, uint32_t index, const char *path,
                              struct data_options options, bool progress, struct problem *p)
{
    struct reading r = {.s = s, .begin_ns = clock_ns()};
    const struct data_stream stream = {take_block, end_blocks, &r, index, s->rank.count};
    struct data_set none;
    options.stream = &stream;
    reference_blocks_begin(&r.blocks);
    r.line = progress_line_begin(progress);
    enum status status = data_read(&none, path, &options, p);
    progress_line_end(r.line);
    return status;
}

/* A rank's sums, without the names: those of one build are the same bytes everywhere. */
static enum status write_state(const struct sum_ranks *s, struct problem *p)
{
    size_t bytes = s->parts * sizeof(struct reference_blocks);
    char *path = state_path(s, s->rank.index);
    struct reference_blocks *all = malloc(bytes + 1);
    enum status status = path && all ? STATUS_OK : no_memory(s->folder, p);
    for (size_t i = 0; status == STATUS_OK && i < s->parts; i++)
        all[i] = s->part[i].blocks;
    if (status == STATUS_OK)
        status = file_replace(path, (const char *)all, bytes, p);
    free(all);
    free(path);
    return status;
}

/* Sets whether the share of a rank is there. */
static bool add_state(struct sum_ranks *s, uint32_t rank)
{
    struct reference_blocks from;
    char *path = state_path(s, rank);
    FILE *file = path ? fopen(path, "rb") : NULL;
    struct stat facts;
    bool good =
        file && fstat(fileno(file), &facts) == 0 && (size_t)facts.st_size == s->parts * sizeof from;
    for (size_t i = 0; good && i < s->parts; i++) {
        good = fread(&from, sizeof from, 1, file) == 1;
        if (good)
            reference_blocks_merge(&s->part[i].blocks, &from);
    }
    if (file)
        fclose(file);
    free(path);
    return good;
}

/* Adds the shares that are there; *missing: a byte a rank, of those that left none. */
static enum status add_states(struct sum_ranks *s, char **missing, const char *path,
                              struct problem *p)
{
    uint32_t lost = 0;
    *missing = calloc(s->rank.count, 1);
    if (!*missing)
        return no_memory(path, p);
    for (uint32_t k = 1; k < s->rank.count; k++)
        lost += (*missing)[k] = !add_state(s, k);
    if (lost > 0)
        fprintf(stderr, "ulpscope: sum: %u of %u ranks left no share of %s: rank 0 reads theirs\n",
                lost, s->rank.count, path);
    return STATUS_OK;
}

enum status sum_ranks_read(struct sum_ranks *s, const char *path,
                           const struct data_options *options, bool progress, struct problem *p)
{
    enum status status =
        read_share(s, s->rank.index, path, *options, progress && s->rank.index == 0, p);
    if (status == STATUS_OK && s->rank.index > 0)
        return write_state(s, p);
    char *missing = NULL;
    if (status == STATUS_OK)
        status = meeting_end(s->meeting, NULL, NULL, p);
    if (status == STATUS_OK)
        status = add_states(s, &missing, path, p);
    for (uint32_t k = 1; status == STATUS_OK && k < s->rank.count; k++)
        if (missing[k])
            status = read_share(s, k, path, *options, progress, p);
    free(missing);
    return status;
}
