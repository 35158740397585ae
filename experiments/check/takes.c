/* Which options say something to which subjects. */
#include "experiments/check/check.h"
#include "experiments/options/options.h"

static bool takes_keys(const struct method *m)
{
    return m->operation->keys;
}

static bool takes_rows(const struct method *m)
{
    return m->operation->matrix;
}

static bool takes_mask(const struct method *m)
{
    return m->operation->mask;
}

static bool scans(const struct method *m)
{
    return m->operation == &operation_scan;
}

static bool heeds_segments(const struct method *m)
{
    return m->segmented;
}

static bool forms_products(const struct method *m)
{
    return m->operation->inputs == 2;
}

static const struct {
    const char *option;
    bool (*takes)(const struct method *m);
    const char *expected;
} due[] = {{"keys", takes_keys, "a method that takes keys"},
           {"bins", takes_keys, "a method that takes keys"},
           {"rows", takes_rows, "a method that reads a matrix"},
           {"layout", takes_rows, "a method that reads a matrix"},
           {"keep", takes_mask, "a compaction"},
           {"scan", scans, "a scan"},
           {"segment", heeds_segments, "a segmented scan"},
           {"product", forms_products, "a dot product"}};

enum status check_takes(const struct method *m, const struct arguments *a, struct problem *p)
{
    for (size_t i = 0; i < sizeof due / sizeof *due; i++)
        if (argument_value(a, due[i].option) && !due[i].takes(m))
            return problem(p, STATUS_USAGE, "check: found %s with --%s, expected %s", m->name,
                           due[i].option, due[i].expected);
    return STATUS_OK;
}
