/* study.json: read, written, read again, and its axes as words. */
#include "experiments/cases/axes.h"
#include "experiments/cases/experiment.h"
#include "reports/results/study.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *study, *again;
    struct problem p = {0};
    struct request request = {0};
    const struct experiment *e;
    char path[300];
    snprintf(path, sizeof path, "%s", fuzz_file("study.json", data, size));
    enum status status = study_read(&study, path, &p);
    fuzz_problem(status, &p);
    if (status != STATUS_OK)
        return 0;
    fuzz_hold(study_write(study, path, &p) == STATUS_OK &&
                  study_read(&again, path, &p) == STATUS_OK,
              "%s", p.text);
    fuzz_hold(study_same(again, study, path, &p) == STATUS_OK, "%s", p.text);
    json_decref(again);
    const char *name = json_string_value(json_object_get(study, "experiment"));
    if (name && experiment_named(&e, name, NULL) == STATUS_OK) {
        status = request_repeat(&request, e, json_object_get(study, "axes"), path, &p);
        fuzz_problem(status, &p);
    }
    request_free(&request);
    json_decref(study);
    return 0;
}
