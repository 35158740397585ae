/* A results directory, all of its files: as `report` and `compare` read it. gnuplot is out of the
 * way, so that nothing is drawn. */
#include "reports/results/compare.h"
#include "experiments/cases/experiment.h"
#include "reports/page/report.h"
#include "tests/fuzz/fuzz.h"

static const char *const files[] = {"study.json", "results.csv", "summary.csv",   "profile.csv",
                                    "times.csv",  "trial.csv",   "recommend.csv", "atomics.csv",
                                    "growth.csv", NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct problem p = {0};
    struct compare c;
    struct text text = {0};
    char *page = NULL;
    setenv("PATH", "", 1);
    fuzz_files(files, data, size);
    const char *const both[2] = {fuzz_in_folder(), fuzz_in_folder()};
    enum status status = compare_read(&c, both, &p);
    fuzz_problem(status, &p);
    if (status == STATUS_OK) {
        compare_text(&text, &c);
        compare_rows(&text, &c);
        json_decref(compare_json(&c));
        fuzz_hold(c.count[VERDICT_MISSING_A] + c.count[VERDICT_MISSING_B] == 0,
                  "a study lacks cases of itself");
    }
    compare_free(&c);
    text_free(&text);
    p = (struct problem){0};
    status =
        page_write(&page, fuzz_in_folder(), &(struct page_options){0}, experiment_operation, &p);
    fuzz_problem(status, &p);
    free(page);
    return 0;
}
