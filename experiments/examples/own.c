/* Checks a kernel of one's own: eight partial sums, as a vector unit adds, that are promised to be
 * the same for every order of the elements. They are not; the exit status is 1.
 *
 *     cc own.c $(pkg-config --cflags --libs ulpscope) -o own && ./own */
#include <stdio.h>
#include <string.h>
#include <ulpscope.h>

static int eight_lanes(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float lane[8] = {0}, sum = 0;
    for (size_t i = 0; i < t->n; i++)
        lane[i % 8] += x[i];
    for (int i = 0; i < 8; i++)
        sum += lane[i];
    memcpy(t->out, &sum, sizeof sum);
    return 0;
}

int main(void)
{
    const struct ulpscope_subject mine = {.name = "eight_lanes",
                                          .summary = "eight partial sums",
                                          .operation = ULPSCOPE_SUM,
                                          .memory = ULPSCOPE_HOST,
                                          .promise = ULPSCOPE_ORDER_INVARIANT,
                                          .pairs = ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32),
                                          .run = eight_lanes};
    static const char *const name[] = {"none", "run_to_run", "gpu_to_gpu", "order_invariant",
                                       "correctly_rounded"};
    struct ulpscope_report report;
    struct ulpscope_error error;
    if (ulpscope_check(&report, &mine, 1, 0, &error) != ULPSCOPE_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    for (int i = 1; i < ULPSCOPE_RUNGS; i++) {
        const struct ulpscope_rung *rung = &report.rung[i];
        printf("%-17s %s\n", name[i], rung->differing ? "broken" : "kept");
        if (rung->differing)
            printf("    n = %zu: 0x%08llx is %s, 0x%08llx is %s\n", rung->n,
                   (unsigned long long)rung->expected, rung->is[0], (unsigned long long)rung->found,
                   rung->is[1]);
    }
    printf("kept: %s; promised: %s\n", name[report.kept], name[mine.promise]);
    return report.refuted;
}
