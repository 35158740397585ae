/* The rows of a results directory, as a study that goes on reads them: of sums, of scans, or one
 * that times methods. The first byte says which. */
#include "experiments/cases/experiment.h"
#include "experiments/studies/ladder_prices.h"
#include "experiments/sweep/resume.h"
#include "experiments/sweep/times.h"
#include "tests/fuzz/fuzz.h"

static const char *const files[] = {"results.csv", "summary.csv", "profile.csv", "times.csv", NULL};

static void ask(struct request *r, enum axis axis, const char *words)
{
    list_split(&r->axis[axis], words, NULL);
}

static void read_times(const struct plan *plan, const struct directory *d)
{
    struct problem p = {0};
    struct times times;
    struct ladder ladder;
    uint64_t whole;
    fuzz_hold(times_make(&times, plan, &p) == STATUS_OK, "%s", p.text);
    fuzz_problem(times_resume(&times, d->times, &whole, &p), &p);
    times_free(&times);
    p = (struct problem){0};
    fuzz_problem(ladder_read(&ladder, plan, fuzz_in_folder(), &p), &p);
    ladder_free(&ladder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request words = {0};
    struct axes axes;
    struct plan plan;
    struct resumed resumed;
    const struct experiment *e;
    struct directory d;
    struct problem p = {0};
    int kind = size > 0 ? data[0] % 3 : 0;
    bool scans = kind == 1;
    fuzz_files(files, data, size);
    static const char *const name[] = {"accuracy", "drift", "ladder"};
    experiment_named(&e, name[kind], NULL);
    ask(&words, AXIS_METHOD, scans ? "scan/tiled" : "sum/serial,sum/tiled");
    ask(&words, AXIS_DEVICE, "cpu");
    ask(&words, AXIS_STORAGE, "fp32");
    ask(&words, AXIS_ACCUMULATOR, "fp32");
    ask(&words, AXIS_INPUT, "uniform,symmetric");
    ask(&words, AXIS_N, "3,20");
    if (kind == 2)
        ask(&words, AXIS_TIMED, "1000");
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
    if (status == STATUS_OK && experiment_times(e))
        read_times(&plan, &d);
    directory_close(&d);
    plan_free(&plan);
    axes_free(&axes);
    request_free(&words);
    return 0;
}
