#include "experiments/recommend_files.h"

#include <stdio.h>
#include <stdlib.h>

#include "experiments/data.h"
#include "experiments/provenance.h"

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

/* Times hold within one run: what the same command left there before is written anew. */
static enum status claim(struct recommend_files *f, const struct recommend_request *q,
                         const struct arguments *a, struct problem *p)
{
    bool there;
    f->study = study_of(q, a);
    enum status status =
        directory_claim(&f->directory, f->study, argument_flag(a, "force"), &there, p);
    if (status != STATUS_OK || !there)
        return status;
    json_decref(f->study);
    f->study = study_of(q, a);
    return directory_claim(&f->directory, f->study, true, &there, p);
}

enum status recommend_files_open(struct recommend_files *f, const char *out,
                                 const struct recommend_request *q, const struct arguments *a,
                                 struct problem *p)
{
    char *path = NULL;
    *f = (struct recommend_files){
        .out = out, .results.file.fd = -1, .summary.fd = -1, .times.fd = -1, .rows.fd = -1};
    enum status status = directory_open(&f->directory, out, p);
    if (status == STATUS_OK)
        status = claim(f, q, a, p);
    if (status == STATUS_OK)
        status = results_open(&f->results, f->directory.results, 0, COLUMNS_OF_SUMS, p);
    if (status == STATUS_OK)
        status =
            csv_file_open(&f->summary, f->directory.summary, 0, summary_column, SUMMARY_COLUMNS, p);
    if (status == STATUS_OK)
        status = csv_file_open(&f->times, f->directory.times, 0, times_column, TIMES_COLUMNS, p);
    if (status == STATUS_OK && asprintf(&path, "%s/recommend.csv", out) < 0)
        status = problem(p, STATUS_DEVICE, "recommend: out of memory");
    if (status == STATUS_OK)
        status = csv_file_open(&f->rows, path, 0, recommend_column, RECOMMEND_COLUMNS, p);
    free(path);
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

/* What breaks the next cheaper one, as a file. */
static enum status write_break(const struct recommend_files *f, const struct recommend_report *r,
                               struct problem *p)
{
    struct recommend_sample s;
    char *path;
    if (r->cheaper == SIZE_MAX || !r->candidate[r->cheaper].broken)
        return STATUS_OK;
    const struct recommend_break *b = &r->candidate[r->cheaper].broke;
    enum status status = recommend_sample_make(&s, r->source, b->kind, b->draw, r->source->array.n,
                                               r->request.plan->axes->seed.item[0],
                                               (struct device){DEVICE_CPU, 0}, p);
    if (status != STATUS_OK)
        return status;
    if (asprintf(&path, "%s/breaks.npy", f->out) < 0) {
        status = problem(p, STATUS_DEVICE, "recommend: out of memory");
    } else {
        status = data_write_npy(path, &s.array, p);
        free(path);
    }
    recommend_sample_free(&s);
    return status;
}

enum status recommend_files_finish(struct recommend_files *f, const struct recommend_report *r,
                                   struct problem *p)
{
    recommend_rows(&f->rows.pending, r);
    enum status status = csv_file_flush(&f->rows, p);
    if (status == STATUS_OK)
        status = note_input(f, r->source, p);
    return status == STATUS_OK ? write_break(f, r, p) : status;
}

enum status recommend_files_close(struct recommend_files *f, struct problem *p)
{
    enum status closed[] = {results_close(&f->results, p), csv_file_close(&f->summary, p),
                            csv_file_close(&f->times, p), csv_file_close(&f->rows, p)};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        status = status == STATUS_OK ? closed[i] : status;
    directory_close(&f->directory);
    json_decref(f->study);
    return status;
}
