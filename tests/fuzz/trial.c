/* trial.csv, as `run trial` reads it where it goes on. */
#include "experiments/trial_study.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *argv[] = {"fuzz", NULL};
    struct request words = {0};
    struct trial_study s;
    struct problem p = {0};
    list_split(&words.axis[AXIS_METHOD], "sum/serial,sum/tiled", NULL);
    list_split(&words.axis[AXIS_DEVICE], "cpu", NULL);
    list_split(&words.axis[AXIS_SECONDS], "1", NULL);
    struct experiment_run run = {
        .request = &words, .out = fuzz_in_folder(), .argc = 1, .argv = argv};
    for (int round = 0; round < 2; round++) { /* the first leaves a study to go on with */
        static char path[300];
        snprintf(path, sizeof path, "%s/trial.csv", fuzz_in_folder());
        unlink(path);
        if (round == 1)
            fuzz_file("trial.csv", data, size);
        fuzz_hold(trial_study_make(&s, &words, NULL, &p) == STATUS_OK, "%s", p.text);
        enum status status = trial_study_open(&s, &run, &p);
        fuzz_problem(status, &p);
        fuzz_hold(round == 1 || status == STATUS_OK, "%s", p.text);
        if (status == STATUS_OK)
            trial_study_close(&s, &p);
        trial_study_free(&s);
    }
    request_free(&words);
    return 0;
}
