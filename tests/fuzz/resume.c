/* The rows of a results directory, as a study of sums or of scans that goes on reads them: the
 * first byte says which. */
#include "experiments/experiment.h"
#include "experiments/resume.h"
#include "experiments/tally.h"
#include "tests/fuzz/fuzz.h"

static const char *const files[] = {"results.csv", "summary.csv", "profile.csv", NULL};

static void ask(struct request *r, enum axis axis, const char *words)
{
    list_split(&r->axis[axis], words, NULL);
}

static struct problem p;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request words = {0};
    struct axes axes;
    struct plan plan;
    struct resumed resumed;
    const struct experiment *e;
    struct directory d;
    bool scans = size > 0 && data[0] % 2;
    p = (struct problem){0};
    fuzz_files(files, data, size);
    experiment_named(&e, scans ? "drift" : "accuracy", NULL);
    ask(&words, AXIS_METHOD, scans ? "scan/tiled" : "sum/serial,sum/tiled");
    ask(&words, AXIS_DEVICE, "cpu");
    ask(&words, AXIS_STORAGE, "fp32");
    ask(&words, AXIS_ACCUMULATOR, "fp32");
    ask(&words, AXIS_INPUT, "uniform,symmetric");
    ask(&words, AXIS_N, "3,20");
    if (directory_open(&d, fuzz_in_folder(), &p) != STATUS_OK ||
        axes_resolve(&axes, e, &words, &p) != STATUS_OK ||
        plan_make(&plan, &axes, &p) != STATUS_OK) {
        fprintf(stderr, "%s\n", p.text);
        abort();
    }
    enum status status = resume_read(&resumed, &plan, &d, &p);
    fuzz_problem(status, &p);
    if (status == STATUS_OK && scans)
        fuzz_problem(resume_profile(&plan, d.profile, &resumed.profile, &p), &p);
    directory_close(&d);
    plan_free(&plan);
    axes_free(&axes);
    request_free(&words);
    return 0;
}
