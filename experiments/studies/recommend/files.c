#include "experiments/studies/recommend/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/data/data.h"
#include "experiments/sweep/provenance.h"
#include "reports/text/file.h"

static json_t *study_of(const struct recommend_request *q, const struct arguments *a)
{
    json_t *study = provenance_study(q->plan->axes, a->argc, a->argv);
    json_t *axes = json_object_get(study, "axes");
    json_object_set_new(axes, "tolerance", json_string(q->tolerance.text));
    json_object_set_new(axes, "quantity",
                        json_string(recommend_quantity_name[q->tolerance.quantity]));
    json_object_set_new(axes, "promise",
                        q->promise < PROMISES ? json_string(promise_name[q->promise])
                                              : json_null());
    json_object_set_new(axes, "confidence", json_real(q->confidence));
    json_object_set_new(axes, "seconds", json_real(q->seconds));
    if (q->no_adversarial)
        json_object_set_new(axes, "adversarial", json_string("no"));
    return study;
}

static enum status no_memory(struct problem *p)
{
    return problem(p, STATUS_DEVICE, "recommend: out of memory");
}

/* Is the directory free for this question, or is it the one that it has an answer to? */
static enum status look(struct recommend_files *f, const struct recommend_request *q,
                        const struct arguments *a, struct problem *p)
{
    bool there;
    json_t *study = study_of(q, a);
    enum status status = directory_look(&f->directory, study, argument_flag(a, "force"), &there, p);
    json_decref(study);
    f->study = study_of(q, a); /* not what the earlier answer noted of its inputs */
    return status;
}

/* Opens FILE.part, which takes the place of FILE when the answer is there. */
static enum status open_part(struct csv_file *f, const char *path,
                             const struct column *(*column)(size_t), size_t columns,
                             struct problem *p)
{
    char *part = file_part(path);
    enum status status = part ? csv_file_open(f, part, 0, column, columns, p) : no_memory(p);
    free(part);
    return status;
}

static enum status open_results(struct recommend_files *f, struct problem *p)
{
    char *part = file_part(f->directory.results);
    enum status status =
        part ? results_open(&f->results, part, 0, COLUMNS_OF_SUMS, p) : no_memory(p);
    free(part);
    return status;
}

enum status recommend_files_open(struct recommend_files *f, const char *out,
                                 const struct recommend_request *q, const struct arguments *a,
                                 struct problem *p)
{
    *f = (struct recommend_files){
        .out = out, .results.file.fd = -1, .summary.fd = -1, .times.fd = -1, .rows.fd = -1};
    enum status status = directory_open(&f->directory, out, p);
    if (status == STATUS_OK && (asprintf(&f->recommend, "%s/recommend.csv", out) < 0 ||
                                asprintf(&f->breaks, "%s/breaks.npy", out) < 0))
        status = no_memory(p);
    if (status == STATUS_OK)
        status = look(f, q, a, p);
    if (status == STATUS_OK)
        status = open_results(f, p);
    if (status == STATUS_OK)
        status = open_part(&f->summary, f->directory.summary, summary_column, SUMMARY_COLUMNS, p);
    if (status == STATUS_OK)
        status = open_part(&f->times, f->directory.times, times_column, TIMES_COLUMNS, p);
    if (status == STATUS_OK)
        status = open_part(&f->rows, f->recommend, recommend_column, RECOMMEND_COLUMNS, p);
    return status;
}

/* study.json gets the fingerprint of what was read. */
static enum status note_input(struct recommend_files *f, const struct source *s, struct problem *p)
{
    char *key = source_key(s);
    json_t *inputs = json_object_get(f->study, "inputs");
    bool noted = key && json_object_set_new(inputs, key, json_string(s->hash)) == 0;
    free(key);
    return noted ? study_write(f->study, f->directory.study, p)
                 : problem(p, STATUS_DEVICE, "recommend: out of memory");
}

/* What breaks the next cheaper one, as a file; an earlier answer's goes. */
static enum status write_break(const struct recommend_files *f, const struct recommend_report *r,
                               struct problem *p)
{
    struct recommend_sample s;
    if (r->cheaper == SIZE_MAX || !r->candidate[r->cheaper].broken) {
        unlink(f->breaks);
        return STATUS_OK;
    }
    const struct recommend_break *b = &r->candidate[r->cheaper].broke;
    enum status status = recommend_sample_make(&s, r->source, b->kind, b->draw, r->source->array.n,
                                               r->request.plan->axes->seed.item[0],
                                               (struct device){DEVICE_CPU, 0}, p);
    if (status != STATUS_OK)
        return status;
    char *part = file_part(f->breaks);
    status = part ? data_write_npy(part, &s.array, p) : no_memory(p);
    if (status == STATUS_OK && rename(part, f->breaks) != 0)
        status =
            problem(p, STATUS_DATA, "%s: could not be replaced: %s", f->breaks, strerror(errno));
    free(part);
    recommend_sample_free(&s);
    return status;
}

static enum status close_all(struct recommend_files *f, struct problem *p)
{
    enum status closed[] = {results_close(&f->results, p), csv_file_close(&f->summary, p),
                            csv_file_close(&f->times, p), csv_file_close(&f->rows, p)};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        status = status == STATUS_OK ? closed[i] : status;
    return status;
}

enum status recommend_files_finish(struct recommend_files *f, const struct recommend_report *r,
                                   struct problem *p)
{
    const struct directory *d = &f->directory;
    const char *const file[] = {d->results, d->summary, d->times, f->recommend};
    recommend_rows(&f->rows.pending, r);
    enum status status = close_all(f, p);
    if (status == STATUS_OK)
        status = write_break(f, r, p);
    if (status == STATUS_OK)
        status = directory_replace(d, file, sizeof file / sizeof *file, p);
    return status == STATUS_OK ? note_input(f, r->source, p) : status;
}

enum status recommend_files_close(struct recommend_files *f, struct problem *p)
{
    const char *const file[] = {f->directory.results, f->directory.summary, f->directory.times,
                                f->recommend, f->breaks};
    enum status status = close_all(f, p);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        char *part = file[i] ? file_part(file[i]) : NULL;
        if (part)
            unlink(part); /* of an answer that did not come to its end */
        free(part);
    }
    free(f->recommend);
    free(f->breaks);
    directory_close(&f->directory);
    json_decref(f->study);
    return status;
}
