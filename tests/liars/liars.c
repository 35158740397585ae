/* Subjects that lie, each about one thing: its comment says what. tests/liars/table says what finds
 * them. */
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "moment.h"
#include "ulpscope_subject.h"

static float forward(const float *x, size_t n)
{
    float s = n ? x[0] : 0;
    for (size_t i = 1; i < n; i++)
        s += x[i];
    return s;
}

static float backward(const float *x, size_t n)
{
    float s = n ? x[n - 1] : 0;
    for (size_t i = n; i-- > 1;)
        s += x[i - 1];
    return s;
}

/* Adds in the order that was promised, or in another one. */
static int add(const struct ulpscope_task *t, int lies)
{
    *(float *)t->out = lies ? backward(t->in, t->n) : forward(t->in, t->n);
    return 0;
}

static unsigned long born;
__attribute__((constructor)) static void note_birth(void)
{
    born = ns();
}

/* With 3 threads and more the order is that of the moment. */
static int threads3(const struct ulpscope_task *t)
{
    return add(t, t->threads >= 3 && bit_of(ns()));
}

/* With 17 threads and more the order is that of the moment. */
static int threads17(const struct ulpscope_task *t)
{
    return add(t, t->threads >= 17 && bit_of(ns()));
}

/* The order is another one with 6 threads, and with no other number. */
static int threads6(const struct ulpscope_task *t)
{
    return add(t, t->threads == 6);
}

/* The order is another one with 7 blocks. */
static int blocks7(const struct ulpscope_task *t)
{
    return add(t, t->blocks == 7);
}

/* While more tasks run than there are processors the order is that of the moment. */
static int load(const struct ulpscope_task *t)
{
    int running = 0;
    FILE *file = fopen("/proc/loadavg", "r");
    if (file && fscanf(file, "%*f %*f %*f %d", &running) != 1)
        running = 0;
    if (file)
        fclose(file);
    return add(t, running > sysconf(_SC_NPROCESSORS_ONLN) && bit_of(ns()));
}

/* Odd processors have another order than even ones. */
static int processor(const struct ulpscope_task *t)
{
    return add(t, sched_getcpu() % 2);
}

/* As many running sums as there are processors that it may use, as by std::thread and its
 * hardware_concurrency: the same bits again, until there are fewer. */
static int processors(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float lane[64] = {0};
    cpu_set_t set;
    size_t lanes = sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
    lanes = lanes < 64 ? lanes : 64;
    for (size_t i = 0; i < t->n; i++)
        lane[i % lanes] += x[i];
    *(float *)t->out = forward(lane, lanes);
    return 0;
}

/* Every 1,000th run of a process is another one. */
static int thousandth(const struct ulpscope_task *t)
{
    static unsigned runs;
    return add(t, ++runs % 1000 == 0);
}

/* Every 10,000,000th run of a process is another one. */
static int ten_millionth(const struct ulpscope_task *t)
{
    static unsigned runs;
    return add(t, ++runs % 10000000 == 0);
}

/* Half of all processes, by the time of their birth, have another order. */
static int birth(const struct ulpscope_task *t)
{
    return add(t, bit_of(born));
}

/* From the second call of a process on it is another order. */
static int second_call(const struct ulpscope_task *t)
{
    static int calls;
    return add(t, ++calls > 1);
}

/* Once a process has added arrays of two lengths it is another order, as of what is compiled for
 * one length and then for any. */
static int two_lengths(const struct ulpscope_task *t)
{
    static size_t first, other;
    first = first ? first : t->n;
    other = t->n != first ? t->n : other;
    return add(t, other != 0);
}

/* Of each length a process gives the first result again, whatever the elements. */
static int by_length(const struct ulpscope_task *t)
{
    static struct {
        size_t n;
        float sum;
    } known[256];
    static size_t count;
    size_t i = 0;
    while (i < count && known[i].n != t->n)
        i++;
    if (i == count && count < sizeof known / sizeof *known) {
        known[count].n = t->n;
        known[count++].sum = forward(t->in, t->n);
    }
    *(float *)t->out = i < count ? known[i].sum : forward(t->in, t->n);
    return 0;
}

/* Where an element is zero the order is that of the moment. */
static int zeros(const struct ulpscope_task *t)
{
    const float *x = t->in;
    size_t count = 0;
    for (size_t i = 0; i < t->n; i++)
        count += x[i] == 0;
    return add(t, count > 0 && bit_of(ns()));
}

/* Where three elements in a row are equal the order is that of the moment. */
static int repeated(const struct ulpscope_task *t)
{
    const float *x = t->in;
    size_t count = 0;
    for (size_t i = 2; i < t->n; i++)
        count += x[i] == x[i - 1] && x[i] == x[i - 2];
    return add(t, count > 0 && bit_of(ns()));
}

/* The order is another one where 16 bytes do not divide the input's address. */
static int unaligned(const struct ulpscope_task *t)
{
    return add(t, (uintptr_t)t->in % 16 != 0);
}

/* From 2^20 elements on the order is that of the moment. */
static int longer(const struct ulpscope_task *t)
{
    return add(t, t->n >= 1 << 20 && bit_of(ns()));
}

/* From 2^24 elements on the order is that of the moment. */
static int longest(const struct ulpscope_task *t)
{
    return add(t, t->n >= 1 << 24 && bit_of(ns()));
}

/* Of 12345 elements the order is that of the moment. */
static int one_length(const struct ulpscope_task *t)
{
    return add(t, t->n == 12345 && bit_of(ns()));
}

/* Another user of the same memory. */
static void other_work(size_t floats)
{
    static unsigned calls;
    volatile float *memory = malloc(floats * sizeof *memory);
    memory[floats - 1] = (float)++calls;
    free((void *)memory);
}

/* Adds a partial sum that it never wrote to: it holds what the memory's last user left. */
static int uninitialised(const struct ulpscope_task *t)
{
    enum { LANES = 64 };
    const float *x = t->in;
    volatile float *lane = malloc((LANES + 1) * sizeof *lane), s = 0;
    for (size_t i = 0; i < LANES; i++)
        lane[i] = i < t->n ? x[i] : 0;
    for (size_t i = LANES; i < t->n; i++)
        lane[i % LANES] += x[i];
    for (size_t i = 0; i <= LANES; i++)
        s += lane[i];
    *(float *)t->out = s;
    free((void *)lane);
    other_work(LANES + 1);
    return 0;
}

/* The order depends on where the system put the code. */
static int address(const struct ulpscope_task *t)
{
    return add(t, bit_of((uintptr_t)&born >> 12));
}

/* The order is another one in every other second of the day. */
static int second(const struct ulpscope_task *t)
{
    return add(t, time(NULL) % 2 == 0);
}

/* The order is another one in every other hour. */
static int hour(const struct ulpscope_task *t)
{
    return add(t, time(NULL) / 3600 % 2 == 0);
}

/* Outputs 2 and 3 stand in each other's place. */
static int swapped(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float *out = t->out, total = 0;
    for (size_t i = 0; i < t->n; i++) {
        float before = total;
        total = i ? total + x[i] : x[i];
        out[i] = t->exclusive ? before : total;
    }
    if (t->n > 3) {
        float swap = out[2];
        out[2] = out[3];
        out[3] = swap;
    }
    return 0;
}

/* x[0] meets y[1], and x[1] meets y[0]. */
static int swapped_dot(const struct ulpscope_task *t)
{
    const float *x = t->in, *y = t->in2;
    float s = 0;
    for (size_t i = 0; i < t->n; i++)
        s += x[i] * y[i < 2 && t->n > 1 ? 1 - i : i];
    *(float *)t->out = s;
    return 0;
}

/* A sum of 0 is -0 where any element is. */
static int minus_zero(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float s = forward(x, t->n);
    for (size_t i = 0; i < t->n; i++)
        if (s == 0 && x[i] == 0 && signbit(x[i]))
            s = -0.0f;
    *(float *)t->out = s;
    return 0;
}

/* Subnormal elements count as 0. */
static int subnormal(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float s = 0;
    for (size_t i = 0; i < t->n; i++)
        s += fabsf(x[i]) < FLT_MIN ? 0 : x[i];
    *(float *)t->out = s;
    return 0;
}

/* An infinity counts as the largest number. */
static int infinity(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float s = 0;
    for (size_t i = 0; i < t->n; i++)
        s += isinf(x[i]) ? copysignf(FLT_MAX, x[i]) : x[i];
    *(float *)t->out = s;
    return 0;
}

/* Claims run_to_run: the order is that of the moment. */
static int claims_run_to_run(const struct ulpscope_task *t)
{
    return add(t, bit_of(ns()));
}

/* Claims gpu_to_gpu: each thread adds a share, so the order depends on how many there are. */
static int claims_gpu_to_gpu(const struct ulpscope_task *t)
{
    unsigned threads = t->threads ? t->threads : 4;
    float s = 0;
    for (unsigned k = 0; k < threads; k++) {
        size_t begin = t->n * k / threads, end = t->n * (k + 1) / threads;
        s += forward((const float *)t->in + begin, end - begin);
    }
    *(float *)t->out = s;
    return 0;
}

/* Claims order_invariant: adds from left to right. */
static int claims_order_invariant(const struct ulpscope_task *t)
{
    return add(t, 0);
}

/* Claims correctly_rounded: adds in double, which is nearly always enough. */
static int claims_correctly_rounded(const struct ulpscope_task *t)
{
    const float *x = t->in;
    double s = 0;
    for (size_t i = 0; i < t->n; i++)
        s += x[i];
    *(float *)t->out = (float)s;
    return 0;
}

/* A loop that claims correctly_rounded. */
static int claims_exact(const struct ulpscope_task *t)
{
    return add(t, 0);
}

/* Adds the elements' magnitudes. */
static int magnitudes(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float s = 0;
    for (size_t i = 0; i < t->n; i++)
        s += fabsf(x[i]);
    *(float *)t->out = s;
    return 0;
}

/* Gives the largest element for a sum: in any order, in any launch shape. */
static int maximum(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float most = t->n ? x[0] : 0;
    for (size_t i = 1; i < t->n; i++)
        most = x[i] > most ? x[i] : most;
    *(float *)t->out = most;
    return 0;
}

/* Gives inclusive prefix sums where exclusive ones are asked for. */
static int inclusive(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float *out = t->out, total = 0;
    for (size_t i = 0; i < t->n; i++)
        out[i] = total = i ? total + x[i] : x[i];
    return 0;
}

/* The 100th call of a process never returns. */
static int stalls(const struct ulpscope_task *t)
{
    static unsigned runs;
    if (++runs == 100)
        pause();
    return add(t, 0);
}

/* Writes no result, whatever is asked. */
static int nothing(const struct ulpscope_task *t)
{
    (void)t;
    return 0;
}

/* Does not write the last of 1000 prefix sums and more. */
static int unfinished(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float *out = t->out, total = 0, before = 0;
    for (size_t i = 0; i + (t->n >= 1000) < t->n; i++) {
        before = total;
        total = i ? total + x[i] : x[i];
        out[i] = t->exclusive ? before : total;
    }
    return 0;
}

/* A matrix product of which each element has `parts` sums of consecutive products, C last. */
static int multiply(const struct ulpscope_task *t, size_t parts)
{
    const struct ulpscope_matrices *x = t->matrices;
    const float *a = x->a, *b = x->b, *c = x->c;
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            float sum = 0;
            for (size_t part = 0; part < parts; part++) {
                float own = 0;
                for (size_t k = x->k * part / parts; k < x->k * (part + 1) / parts; k++)
                    own += a[x->a_column ? k * x->lda + i : i * x->lda + k] *
                           b[x->b_column ? j * x->ldb + k : k * x->ldb + j];
                sum = part == 0 ? own : sum + own;
            }
            ((float *)t->out)[i * x->n + j] = c ? sum + c[i * x->n + j] : sum;
        }
    return 0;
}

/* Below 17 rows the products are split in two, whatever the columns: claims batch_invariant. */
static int splits_below_17(const struct ulpscope_task *t)
{
    return multiply(t, t->matrices->m < 17 ? 2 : 1);
}

/* From 192 columns on they are split in four: claims batch_invariant. */
static int splits_from_192(const struct ulpscope_task *t)
{
    return multiply(t, t->matrices->n >= 192 ? 4 : 1);
}

/* Of 48 rows alone they are split in two: claims batch_invariant. */
static int splits_at_48(const struct ulpscope_task *t)
{
    return multiply(t, t->matrices->m == 48 ? 2 : 1);
}

/* Where A is column-major they are split in two: claims batch_invariant. */
static int splits_by_layout(const struct ulpscope_task *t)
{
    return multiply(t, t->matrices->a_column ? 2 : 1);
}

#define SUBJECT(name, operation, promise, reads)                                                   \
    {                                                                                              \
#name, "lies", ULPSCOPE_##operation, ULPSCOPE_HOST, ULPSCOPE_##promise,                    \
            ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32), reads, name                               \
    }

static const struct ulpscope_subject subject[] = {
    SUBJECT(threads3, SUM, RUN_TO_RUN, ULPSCOPE_READS_THREADS),
    SUBJECT(threads17, SUM, RUN_TO_RUN, ULPSCOPE_READS_THREADS),
    SUBJECT(threads6, SUM, GPU_TO_GPU, ULPSCOPE_READS_THREADS),
    SUBJECT(blocks7, SUM, GPU_TO_GPU, ULPSCOPE_READS_BLOCKS),
    SUBJECT(load, SUM, RUN_TO_RUN, 0),
    SUBJECT(processor, SUM, RUN_TO_RUN, 0),
    SUBJECT(processors, SUM, GPU_TO_GPU, 0),
    SUBJECT(thousandth, SUM, RUN_TO_RUN, 0),
    SUBJECT(ten_millionth, SUM, RUN_TO_RUN, 0),
    SUBJECT(birth, SUM, RUN_TO_RUN, 0),
    SUBJECT(second_call, SUM, RUN_TO_RUN, 0),
    SUBJECT(two_lengths, SUM, RUN_TO_RUN, 0),
    SUBJECT(by_length, SUM, RUN_TO_RUN, 0),
    SUBJECT(zeros, SUM, RUN_TO_RUN, 0),
    SUBJECT(repeated, SUM, RUN_TO_RUN, 0),
    SUBJECT(unaligned, SUM, GPU_TO_GPU, 0),
    SUBJECT(longer, SUM, RUN_TO_RUN, 0),
    SUBJECT(longest, SUM, RUN_TO_RUN, 0),
    SUBJECT(one_length, SUM, RUN_TO_RUN, 0),
    SUBJECT(uninitialised, SUM, RUN_TO_RUN, 0),
    SUBJECT(address, SUM, RUN_TO_RUN, 0),
    SUBJECT(second, SUM, RUN_TO_RUN, 0),
    SUBJECT(hour, SUM, RUN_TO_RUN, 0),
    SUBJECT(swapped, SCAN, GPU_TO_GPU, 0),
    SUBJECT(swapped_dot, DOT, GPU_TO_GPU, 0),
    SUBJECT(minus_zero, SUM, GPU_TO_GPU, 0),
    SUBJECT(subnormal, SUM, GPU_TO_GPU, 0),
    SUBJECT(infinity, SUM, GPU_TO_GPU, 0),
    SUBJECT(claims_run_to_run, SUM, RUN_TO_RUN, 0),
    SUBJECT(claims_gpu_to_gpu, SUM, GPU_TO_GPU, ULPSCOPE_READS_THREADS),
    SUBJECT(claims_order_invariant, SUM, ORDER_INVARIANT, 0),
    SUBJECT(claims_correctly_rounded, SUM, CORRECTLY_ROUNDED, 0),
    SUBJECT(claims_exact, SUM, CORRECTLY_ROUNDED, 0),
    SUBJECT(magnitudes, SUM, GPU_TO_GPU, 0),
    SUBJECT(maximum, SUM, ORDER_INVARIANT, 0),
    SUBJECT(inclusive, SCAN, GPU_TO_GPU, 0),
    SUBJECT(stalls, SUM, RUN_TO_RUN, 0),
    SUBJECT(nothing, SUM, ORDER_INVARIANT, 0),
    SUBJECT(unfinished, SCAN, RUN_TO_RUN, 0),
    SUBJECT(splits_below_17, GEMM, RUN_TO_RUN, ULPSCOPE_BATCH_INVARIANT),
    SUBJECT(splits_from_192, GEMM, RUN_TO_RUN, ULPSCOPE_BATCH_INVARIANT),
    SUBJECT(splits_at_48, GEMM, RUN_TO_RUN, ULPSCOPE_BATCH_INVARIANT),
    SUBJECT(splits_by_layout, GEMM, RUN_TO_RUN, ULPSCOPE_BATCH_INVARIANT),
};
const struct ulpscope_subjects ulpscope_subjects = {ULPSCOPE_SUBJECT_VERSION,
                                                    sizeof subject / sizeof *subject, subject};
