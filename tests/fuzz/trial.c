/* trial.csv, as `run trial` reads it where it goes on. */
#include "experiments/studies/trial_study.h"
#include "tests/fuzz/fuzz.h"

static enum status resume(struct request *words, struct problem *p)
{
    static char *argv[] = {"fuzz", NULL};
    struct trial_study s;
    struct experiment_run run = {
        .request = words, .out = fuzz_in_folder(), .argc = 1, .argv = argv};
    fuzz_hold(trial_study_make(&s, words, NULL, p) == STATUS_OK, "%s", p->text);
    enum status status = trial_study_open(&s, &run, p);
    if (status == STATUS_OK)
        status = trial_study_close(&s, p);
    trial_study_free(&s);
    return status;
}

/* Leaves the study.json to go on with. Its bytes are kept, since each resuming adds a line. */
static size_t begin(struct request *words, char *study, size_t size)
{
    char path[300];
    struct problem p = {0};
    fuzz_hold(resume(words, &p) == STATUS_OK, "%s", p.text);
    snprintf(path, sizeof path, "%s/study.json", fuzz_in_folder());
    FILE *file = fopen(path, "rb");
    size_t length = file ? fread(study, 1, size, file) : 0;
    fuzz_hold(length > 0 && length < size && fclose(file) == 0, "%s", path);
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char study[1 << 14];
    static size_t length;
    struct request words = {0};
    struct problem p = {0};
    list_split(&words.axis[AXIS_METHOD], "sum/serial,sum/tiled", NULL);
    list_split(&words.axis[AXIS_DEVICE], "cpu", NULL);
    list_split(&words.axis[AXIS_SECONDS], "1", NULL);
    if (length == 0)
        length = begin(&words, study, sizeof study);
    fuzz_file("study.json", study, length);
    fuzz_file("trial.csv", data, size);
    fuzz_problem(resume(&words, &p), &p);
    request_free(&words);
    return 0;
}
