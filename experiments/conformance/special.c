#include "experiments/conformance/special.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/check/reproducer/reproducer.h"
#include "experiments/subjects/interrupt.h"
#include "experiments/conformance/asked.h"
#include "experiments/conformance/exact.h"
#include "experiments/conformance/product.h"
#include "experiments/conformance/report.h"
#include "experiments/conformance/statistic.h"
#include "experiments/subjects/subject.h"
#include "reports/results/directory.h"

/* Foreign subjects, scans and statistics take longer: fewer inputs, other ones at each length. */
enum { EVERY_SCAN = 4, EVERY_FOREIGN = 4, EVERY_STATISTIC = 4 };

struct special {
    const struct arguments *a;
    struct conformance_asked asked;
    json_t *json; /* an array, or NULL for text */
    struct csv_file csv;
    const char *folder;
    bool all;
    size_t subjects, impossible, found; /* subjects; results; subjects with such */
    char first[128];                    /* of these */
    struct problem failure;
};

static void show(const struct conformance_subject *s, size_t n)
{
    fprintf(stderr, "\r\033[K%s: %s/%s, n = %zu", s->method->name, format_facts[s->storage].name,
            format_facts[s->accumulator].name, n);
}

static enum status report(struct special *s, const struct conformance_report *r, struct problem *p)
{
    struct text text = {0};
    enum status status = STATUS_OK;
    if (s->folder) {
        status = conformance_report_write(r, s->folder, p);
        conformance_report_csv(&s->csv.pending, r, s->folder);
        if (status == STATUS_OK)
            status = csv_file_flush(&s->csv, p);
    }
    if (s->json) {
        json_array_append_new(s->json, conformance_report_json(r, s->folder));
        return status;
    }
    conformance_report_text(&text, r, s->folder);
    const char *string = text_string(&text);
    if (string)
        printf("%s", string);
    else
        status = problem(p, STATUS_MEMORY, "check: out of memory");
    text_free(&text);
    return status;
}

/* The program that shows the first finding, where it is asked for. */
static enum status reproduce(const struct special *s, const struct conformance_report *r,
                             struct problem *p)
{
    const char *file = argument_value(s->a, "reproducer");
    struct text said = {0};
    struct reproducer_said is = {0};
    enum status status = file ? conformance_reproduce(file, r, &is, p) : STATUS_OK;
    if (file && status == STATUS_OK && !s->json) {
        reproducer_say(&said, file, &is);
        fputs(text_string(&said) ? text_string(&said) : "", stdout);
    }
    text_free(&said);
    return status;
}

static bool supported(const struct conformance_request *q)
{
    bool any = false;
    for (size_t i = 0; i < q->pairs.count; i++)
        any |= conformance_runs(q, &q->pairs.item[i]);
    return any;
}

/* What was found is reported also where it was interrupted. */
static enum status check_device(struct special *s, const char *name, struct problem *p)
{
    const struct conformance_request *q = &s->asked.request;
    enum status status = device_parse(&s->asked.request.device, name, p);
    if (status != STATUS_OK)
        return status;
    if (!supported(q))
        return s->all ? STATUS_OK
                      : problem(p, STATUS_DEVICE, "check: %s does not support these formats on %s",
                                q->method->name, name);
    struct conformance_report *r = malloc(sizeof *r);
    if (!r)
        return problem(p, STATUS_MEMORY, "check: out of memory");
    status = conformance_run(r, q, p);
    if (q->show)
        fprintf(stderr, "\r\033[K");
    s->subjects++;
    if (status == STATUS_OK || status == STATUS_INTERRUPTED) {
        enum status reported = report(s, r, status == STATUS_OK ? p : NULL);
        status = status == STATUS_OK ? reported : status;
    }
    if (status == STATUS_OK)
        status = reproduce(s, r, p);
    size_t impossible = conformance_report_total(r).impossible;
    s->impossible += impossible;
    if (impossible > 0 && s->found++ == 0)
        snprintf(s->first, sizeof s->first, "%s", q->method->name);
    if (r->failure.status != STATUS_OK && s->failure.status == STATUS_OK)
        s->failure = r->failure;
    conformance_report_free(r);
    free(r);
    return status;
}

static bool is_special(const struct method *m)
{
    const bool rows = special_reads_rows(m) && operation_adds_elements(m->operation);
    return special_is_exact(m) || special_multiplies(m) || special_is_statistic(m) ||
           ((rows || !operation_takes(m->operation)) &&
            exact_facts[m->operation->of].form == FORM_SUM);
}

/* Of files, where there are more subjects than one. */
static void set_prefix(struct special *s, size_t place)
{
    char *prefix = s->asked.request.prefix;
    if (!s->all && s->a->operands < 2)
        return;
    if (s->asked.request.method->foreign)
        snprintf(prefix, SPECIAL_PREFIX, "subject%zu-", place + 1);
    else
        snprintf(prefix, SPECIAL_PREFIX, "%.40s-", s->asked.request.method->name);
    for (; *prefix; prefix++)
        *prefix = *prefix == '/' ? '-' : *prefix;
}

static enum status check_method(struct special *s, const struct method *m, size_t place,
                                struct problem *p)
{
    enum status status = conformance_asked_of(&s->asked, m, p);
    s->asked.request.method = m;
    set_prefix(s, place);
    if (status == STATUS_OK && operation_has(m->operation, OPERAND_IN2) &&
        s->asked.request.products && !(s->asked.request.products & m->products))
        status = problem(p, STATUS_USAGE, "check --special: %s does not form products so", m->name);
    s->asked.request.every = m->foreign                ? EVERY_FOREIGN
                             : special_is_scan(m)      ? EVERY_SCAN
                             : special_is_statistic(m) ? EVERY_STATISTIC
                                                       : 1;
    if (status == STATUS_OK && s->asked.request.chip && !m->of_chip)
        status = problem(p, STATUS_USAGE,
                         "option --chip: found %s, expected gemm/mma, gemm/wgmma or gemm/promoted",
                         m->name);
    for (size_t i = 0; i < s->asked.devices.count && status == STATUS_OK; i++)
        status = check_device(s, s->asked.devices.item[i], p);
    return status;
}

/* All operands are looked at before the first is run. */
static enum status find_methods(const struct special *s, const struct method *m[OPERANDS_MAX],
                                struct problem *p)
{
    const struct arguments *a = s->a;
    const char *name = argument_value(a, "operation");
    const struct operation *operation = name                        ? operation_named(name)
                                        : argument_value(a, "scan") ? operation_asking(SETTING_SCAN)
                                                                    : NULL;
    enum status status = s->all ? reproducer_asked(a, NULL, s->asked.devices.count, p) : STATUS_OK;
    for (size_t i = 0; i < a->operands && status == STATUS_OK; i++) {
        status = subject_named(&m[i], "check", a->operand[i], operation, p);
        if (status == STATUS_OK && !is_special(m[i]))
            status = problem(
                p, STATUS_USAGE,
                "check --special: found %s, whose operation is %s: expected a sum, a "
                "scan, a dot product, a matrix product, a norm, a mean, a variance, a product, an "
                "extremum, or a sum or a statistic of rows",
                m[i]->name, m[i]->operation->name);
        if (status == STATUS_OK)
            status = check_takes(m[i], a, p);
        if (status == STATUS_OK)
            status = reproducer_asked(a, m[i], s->asked.devices.count, p);
    }
    return status;
}

static enum status check_methods(struct special *s, struct problem *p)
{
    const struct method *m[OPERANDS_MAX];
    enum status status = find_methods(s, m, p);
    for (size_t i = 0; i < s->a->operands && status == STATUS_OK; i++)
        status = check_method(s, m[i], i, p);
    for (size_t i = 0; s->all && i < method_count && status == STATUS_OK; i++)
        if (is_special(method_registry[i]))
            status = check_method(s, method_registry[i], i, p);
    return status;
}

static enum status check_into(struct special *s, struct problem *p)
{
    enum status status = STATUS_OK;
    struct directory directory = {.lock = -1};
    s->folder = argument_value(s->a, "out");
    if (s->folder) {
        struct text path = {0};
        status = directory_open(&directory, s->folder, p);
        text_format(&path, "%s/special.csv", s->folder);
        if (status == STATUS_OK)
            status =
                csv_file_open(&s->csv, text_string(&path), 0, special_column, SPECIAL_COLUMNS, p);
        text_free(&path);
    }
    bool csv = s->folder && status == STATUS_OK;
    s->csv.once = true;
    if (status == STATUS_OK)
        status = check_methods(s, p);
    if (csv) {
        enum status closed = csv_file_close(&s->csv, p);
        status = status == STATUS_OK ? closed : status;
    }
    directory_close(&directory);
    return status;
}

/* One device is an object, several are an array of them. */
static enum status print_json(const json_t *all, struct problem *p)
{
    const json_t *top = json_array_size(all) == 1 ? json_array_get(all, 0) : all;
    if (json_dumpf(top, stdout, JSON_INDENT(2)) != 0)
        return problem(p, STATUS_DATA, "standard output: could not be written");
    printf("\n");
    return STATUS_OK;
}

static enum status verdict(const struct special *s, struct problem *p)
{
    if (s->impossible > 0 && s->subjects == 1)
        return problem(p, STATUS_FAILED, "check: %s: %zu results that cannot be", s->first,
                       s->impossible);
    if (s->impossible > 0)
        return problem(p, STATUS_FAILED,
                       "check: %zu of %zu subjects give results that cannot be, first %s", s->found,
                       s->subjects, s->first);
    if (s->failure.status != STATUS_OK)
        return problem(p, s->failure.status, "%s", s->failure.text);
    return STATUS_OK;
}

enum status conformance_check(const struct arguments *a, struct problem *p)
{
    struct special s = {.a = a, .all = argument_flag(a, "all")};
    enum status status = conformance_asked_read(&s.asked, a, p);
    s.asked.request.show = isatty(STDERR_FILENO) ? show : NULL;
    s.asked.request.stop = interrupt_catch();
    if (status == STATUS_OK && argument_flag(a, "json"))
        s.json = json_array();
    if (status == STATUS_OK)
        status = check_into(&s, p);
    if (s.json && json_array_size(s.json) > 0) {
        enum status printed = print_json(s.json, status == STATUS_OK ? p : NULL);
        status = status == STATUS_OK ? printed : status;
    }
    if (status == STATUS_OK)
        status = verdict(&s, p);
    json_decref(s.json);
    conformance_asked_free(&s.asked);
    return status;
}
