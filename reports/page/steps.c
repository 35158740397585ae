/* Weights that are updated step by step: the error along the way, and where they stand still. */
#include <math.h>
#include <stdlib.h>

#include "reports/page/report.h"

static bool cells_equal(const struct page *r, size_t a, size_t b, size_t column)
{
    return strcmp(page_cell(&r->steps, a, column), page_cell(&r->steps, b, column)) == 0;
}

/* Is row i the last of its weight? */
static bool ends(const struct page *r, size_t i)
{
    return page_number(&r->steps, i, STEPS_STEP) == page_number(&r->steps, i, STEPS_N);
}

static bool all_finite(const struct page *r, size_t i)
{
    return isfinite(page_number(&r->steps, i, STEPS_ERR_REL));
}

enum status page_steps(struct page *r, struct problem *p)
{
    static const struct look look = {
        .name = "steps",
        .heading = "Error against step",
        .caption =
            "A weight after each of many updates (of steps.csv the first input, and the last "
            "weight "
            "that it starts from): |weight - exact| over |exact|, the largest of all seeds; the "
            "formats with the largest error first. Where a weight that began at 0 stands still, "
            "its line rises towards 1.",
        .x_label = "step",
        .y_label = "error / |exact weight|",
        .unit = "of the exact weight",
        .x_name = "step",
        .y_name = "err_rel",
        .log_x = true,
        .lines = true,
        .worst_first = true,
        .decades_most = 12,
        .top_most = 3,
        .series_most = 8,
        .level = 1,
        .level_says = "no digit is right"};
    size_t count = 0, last = r->steps.count - 1;
    if (r->steps.count == 0)
        return STATUS_OK;
    struct sample *sample = calloc(r->steps.count, sizeof *sample);
    if (!sample)
        return problem(p, STATUS_MEMORY, "%s: out of memory for the pictures", r->folder);
    for (size_t i = 0; i < r->steps.count; i++) {
        if (!cells_equal(r, i, 0, STEPS_INPUT) || !cells_equal(r, i, last, STEPS_START) ||
            !all_finite(r, i))
            continue;
        sample[count++] = (struct sample){.storage = page_cell(&r->steps, i, STEPS_STORAGE),
                                          .accumulator = page_cell(&r->steps, i, STEPS_ACCUMULATOR),
                                          .method = page_cell(&r->steps, i, STEPS_METHOD),
                                          .device = "cpu",
                                          .x = page_number(&r->steps, i, STEPS_STEP),
                                          .y = page_number(&r->steps, i, STEPS_ERR_REL),
                                          .bound = NAN};
    }
    enum status status = count > 0 ? page_samples(r, &look, sample, count, p) : STATUS_OK;
    free(sample);
    return status;
}

void page_steps_findings(struct text *to, const struct page *r)
{
    /* never: moves at every step; at_once: no step has an effect */
    size_t weights = 0, predicted = 0, still = 0, at_once = 0, never = 0, left = 0, over = 0;
    for (size_t i = 0; i < r->steps.count; i++) {
        double from = page_number(&r->steps, i, STEPS_STILL_FROM),
               due = page_number(&r->steps, i, STEPS_PREDICTED);
        over += page_number(&r->steps, i, STEPS_OVER_BOUND) > 1;
        weights += ends(r, i);
        predicted += ends(r, i) && !isnan(due);
        bool moves = due == 0 && isnan(from), as_due = ends(r, i) && (due == from || moves);
        bool finite = strcmp(page_cell(&r->steps, i, STEPS_STATUS), "overflow") != 0 &&
                      strcmp(page_cell(&r->steps, i, STEPS_STATUS), "nan") != 0;
        left += as_due && !finite;
        still += as_due && finite && !moves;
        at_once += as_due && finite && due == 1;
        never += as_due && finite && moves;
    }
    if (weights == 0)
        return;
    const size_t met = still + left + never;
    text_format(to, "<li class=\"%s\">", met == predicted ? "good" : "bad");
    html_format(to, "%zu of %zu plain weights with equal updates do as predicted: ", met,
                predicted);
    if (still > 0)
        html_format(to, "%zu stand%s still from the predicted step on", still,
                    still == 1 ? "s" : "");
    if (at_once > 0)
        html_format(to, " (%zu from the first: no update has an effect)", at_once);
    if (left > 0)
        html_format(to, "%s%zu leave%s the range of the format at the predicted step",
                    still > 0 ? ", " : "", left, left == 1 ? "s" : "");
    if (never > 0)
        html_format(to, "%s%zu move%s at every step", still + left > 0 ? ", " : "", never,
                    never == 1 ? "s" : "");
    text_add(to, met > 0 ? ".</li>\n" : "none.</li>\n");
    if (over > 0)
        text_format(to, "<li class=\"bad\">%zu rows exceed their bound.</li>\n", over);
    text_format(to, "<li class=\"plain\">%zu weights, %zu rows of steps.csv.</li>\n", weights,
                r->steps.count);
}
