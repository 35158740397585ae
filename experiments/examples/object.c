/* Functions of a shared object under the scope: a sum in eight lanes, as a vectorised loop makes
 * it, and a running total.
 *
 *     cc -O2 -shared -fPIC -Ikernels experiments/examples/object.c -o build/mine.so
 *     build/ulpscope run accuracy --device cpu --method build/mine.so:lanes,sum/serial
 *     build/ulpscope run drift --device cpu --method build/mine.so:running
 */
#include "ulpscope_subject.h" /* in kernels/; `cmake --install` puts it into include/ */

static int sum_lanes(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float lane[8] = {0};
    for (size_t i = 0; i < t->n; i++)
        lane[i % 8] += x[i];
    for (int width = 4; width > 0; width /= 2)
        for (int i = 0; i < width; i++)
            lane[i] += lane[i + width];
    *(float *)t->out = lane[0];
    return 0;
}

static int scan_running(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float *out = t->out, total = 0;
    for (size_t i = 0; i < t->n; i++) {
        float before = total;
        total = i ? total + x[i] : x[i];
        out[i] = t->exclusive ? before : total;
    }
    return 0;
}

static const struct ulpscope_subject subject[] = {
    {
        .name = "lanes",
        .summary = "eight running sums, folded in halves",
        .operation = ULPSCOPE_SUM,
        .memory = ULPSCOPE_HOST,
        .promise = ULPSCOPE_GPU_TO_GPU, /* the order depends on n alone */
        .pairs = ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32),
        .run = sum_lanes,
    },
    {
        .name = "running",
        .summary = "one after the other",
        .operation = ULPSCOPE_SCAN,
        .memory = ULPSCOPE_HOST,
        .promise = ULPSCOPE_GPU_TO_GPU,
        .pairs = ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32),
        .run = scan_running,
    },
};

const struct ulpscope_subjects ulpscope_subjects = {ULPSCOPE_SUBJECT_VERSION,
                                                    sizeof subject / sizeof *subject, subject};
