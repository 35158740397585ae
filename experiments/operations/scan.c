#include "experiments/operations/scan.h"

#include <stdio.h>
#include <string.h>

#include "experiments/inputs/heads.h"
#include "experiments/operations/operation.h"

const char *const scan_name[SCAN_KINDS] = {
    [SCAN_INCLUSIVE] = "inclusive",
    [SCAN_EXCLUSIVE] = "exclusive",
};
const char *const output_name[OUTPUT_KINDS] = {
    [OUTPUT_ACCUMULATOR] = "accumulator",
    [OUTPUT_STORAGE] = "storage",
};

static void columns(struct setting_columns *to, const struct setting *s)
{
    to->column[CASE_SCAN] = scan_name[s->exclusive];
    to->column[CASE_OUTPUT] = format_facts[s->output].name;
    if (s->segment == 0)
        return;
    snprintf(to->number[0], sizeof to->number[0], "%zu", s->segment);
    to->column[CASE_SEGMENT] = to->number[0];
}

static size_t words(struct setting_word *word, const struct setting *s)
{
    const char *name = scan_name[s->exclusive];
    *word = (struct setting_word){SETTING_SCAN, name, name, 0, ""};
    return 1;
}

static void says(struct text *to, const struct setting *s)
{
    text_add(to, scan_name[s->exclusive]);
}

/* What outputs cover, and their format. Those that come to the same, once. */
static enum status each(const struct setting_asked *asked, struct setting s, setting_visit *visit,
                        void *context, struct problem *p)
{
    const struct setting_axes *axes = asked->axes;
    size_t outputs = asked->accumulator == asked->storage ? 1 : axes->outputs;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < axes->scans; i++)
        for (size_t k = 0; status == STATUS_OK && k < outputs; k++) {
            s.exclusive = axes->scan[i] == SCAN_EXCLUSIVE;
            s.output = axes->output[k] == OUTPUT_STORAGE ? asked->storage : asked->accumulator;
            status = visit(context, &s, p);
        }
    return status;
}

/* Segments, where the method heeds them. */
static enum status each_own(const struct setting_asked *asked, struct setting s,
                            setting_visit *visit, void *context, struct problem *p)
{
    enum status status = STATUS_OK;
    if (!asked->method->segmented)
        return visit(context, &s, p);
    for (size_t i = 0; status == STATUS_OK && i < asked->axes->segment.count; i++) {
        s.segment = asked->axes->segment.item[i];
        status = visit(context, &s, p);
    }
    return status;
}

static enum status make(struct setting_operands *to, const struct setting *s, uint64_t seed,
                        struct problem *p)
{
    (void)seed;
    enum status status = heads_make(&to->flags, to->of.in.n, s->segment, p);
    to->of.heads = to->flags;
    return status;
}

static const char *twin(const struct setting *s)
{
    return s->segment ? "scan/segmented" : "scan/tiled";
}

static double bytes(const struct setting *s, size_t n)
{
    return s->segment ? (double)n : 0;
}

static void tell(char to[REQUEST_TEXT], const struct wire_request *r)
{
    snprintf(to, REQUEST_TEXT, " %s %s", scan_name[r->exclusive], format_facts[r->output].name);
}

static bool told(struct wire_request *r, char *const word[])
{
    r->exclusive = strcmp(word[0], scan_name[SCAN_EXCLUSIVE]) == 0;
    r->output = format_named(word[1]);
    return r->output < FORMATS && (r->exclusive || strcmp(word[0], scan_name[SCAN_INCLUSIVE]) == 0);
}

const struct operation_use use_scan = {
    .operation = &operation_scan,
    .columns_of = COLUMNS_OF_SCANS,
    .reads = 1 << SETTING_SCAN | 1 << SETTING_OUTPUT | 1 << SETTING_SEGMENT,
    .columns = columns,
    .words = words,
    .says = says,
    .each = each,
    .each_own = each_own,
    .make = make,
    .twin = twin,
    .bytes = bytes,
    .request = "inclusive|exclusive OUTPUT",
    .tell = tell,
    .told = told,
};
