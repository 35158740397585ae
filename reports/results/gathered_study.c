/* study.json of a results directory that is gathered by case. */
#include "reports/results/gathered.h"

#include <stdio.h>
#include <stdlib.h>

#include "reports/results/study.h"

enum status gathered_study(struct gathered *g, const char *path, struct problem *p)
{
    char *study;
    *g = (struct gathered){.path = path};
    if (asprintf(&study, "%s/study.json", path) < 0)
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
    enum status status = study_read(&g->study, study, p);
    if (status == STATUS_OK && study_merging(g->study))
        status = problem(p, STATUS_DATA,
                         "%s: found a merge that was interrupted: run the same `ulpscope merge` "
                         "again, which begins anew",
                         study);
    free(study);
    return status;
}

const char *gathered_machine(const struct gathered *g)
{
    const json_t *machine = json_object_get(g->study, "machine"),
                 *gpu = json_array_get(json_object_get(machine, "gpus"), 0);
    const char *name =
        json_string_value(json_object_get(gpu ? gpu : machine, gpu ? "name" : "cpu"));
    return name ? name : "a machine that study.json does not name";
}

const char *gathered_word(const struct gathered *g, const char *object, const char *name)
{
    const json_t *from = object ? json_object_get(g->study, object) : g->study;
    const char *word = json_string_value(json_object_get(from, name));
    return word ? word : "";
}
