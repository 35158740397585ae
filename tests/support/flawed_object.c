/* Subjects of tests, in a shared object. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/flawed_sums.h"
#include "ulpscope_subject.h"

#ifndef VERSION
#define VERSION ULPSCOPE_SUBJECT_VERSION
#endif

static int sum(const struct ulpscope_task *t)
{
    const double *x = t->in;
    double s = t->n ? x[0] : 0;
    for (size_t i = 1; i < t->n; i++)
        s += x[i];
    *(double *)t->out = s;
    return 0;
}

/* What it was asked for and given, as a number: tells the test. */
static int told(const struct ulpscope_task *t)
{
    size_t place = (size_t)t->in % 64 / sizeof(double);
    *(double *)t->out = (double)t->threads + 1e4 * (double)t->blocks + 1e10 * (double)place +
                        (t->device == -1 && !t->stream && !t->in2 ? 0.5 : 0);
    return 0;
}

static int scan(const struct ulpscope_task *t)
{
    const double *x = t->in;
    double s = 0, before = 0;
    for (size_t i = 0; i < t->n; i++) {
        before = s;
        s = i ? s + x[i] : x[0];
        double result = t->exclusive ? before : s;
        if (t->output == ULPSCOPE_FP32)
            ((float *)t->out)[i] = (float)result;
        else
            ((double *)t->out)[i] = result;
    }
    return 0;
}

/* Leaves out the last one. */
static int scan_short(const struct ulpscope_task *t)
{
    struct ulpscope_task less = *t;
    less.n -= t->n > 7;
    return scan(&less);
}

static int crash(const struct ulpscope_task *t)
{
    if (t->n == 13)
        abort();
    return sum(t);
}

static int hang(const struct ulpscope_task *t)
{
    if (t->n == 13)
        sleep(1000);
    return sum(t);
}

static int leave(const struct ulpscope_task *t)
{
    if (t->n == 13)
        exit(0);
    return sum(t);
}

/* In each process the third call. */
static int leave_third(const struct ulpscope_task *t)
{
    static unsigned calls;
    if (++calls == 3)
        exit(0);
    return sum(t);
}

static int print(const struct ulpscope_task *t)
{
    printf("printed to standard output\n");
    fflush(stdout);
    if (getchar() != EOF)
        exit(6);
    return sum(t);
}

static int fail(const struct ulpscope_task *t)
{
    return t->n == 13 ? 7 : sum(t);
}

/* Of 13 elements it writes no result, of 14 and 15 the NaN that is there, all bits set, or the
 * other one. */
static int silent(const struct ulpscope_task *t)
{
    if (t->n != 14 && t->n != 15)
        return t->n == 13 ? 0 : sum(t);
    memset(t->out, 0xff, sizeof(double));
    if (t->n == 15)
        ((unsigned char *)t->out)[7] = 0x7f;
    return 0;
}

/* Of 13 elements each writes to what is not its own. */
static int into_input(const struct ulpscope_task *t)
{
    int status = sum(t);
    if (t->n == 13)
        ((double *)t->in)[12] += 1;
    return status;
}

static int into_second(const struct ulpscope_task *t)
{
    int status = sum(t);
    if (t->n == 13)
        ((double *)t->in2)[0] += 1;
    return status;
}

static int beyond(const struct ulpscope_task *t)
{
    if (t->n == 13)
        ((double *)t->out)[1] = 1;
    return sum(t);
}

static int before(const struct ulpscope_task *t)
{
    if (t->n == 13)
        ((char *)t->out)[-1] = 1;
    return sum(t);
}

static int scan_beyond(const struct ulpscope_task *t)
{
    struct ulpscope_task more = *t;
    more.n += t->n == 13;
    return scan(&more);
}

/* Of no elements: an error, a sum of 1, a crash. */
static int refuses(const struct ulpscope_task *t)
{
    return t->n == 0 ? 9 : sum(t);
}

/* Takes 100 elements and more; none at all; no NaN; no array of zeros, which comes first of each
 * length. */
static int needs_100(const struct ulpscope_task *t)
{
    return t->n > 0 && t->n < 100 ? 5 : sum(t);
}

static int needs_more(const struct ulpscope_task *t)
{
    return t->n > 0 ? 5 : sum(t);
}

/* Of elements in fp32 it takes no number. */
static int one_pair(const struct ulpscope_task *t)
{
    return t->n > 0 && t->storage != ULPSCOPE_FP64 ? 5 : sum(t);
}

/* Takes 100 elements at most. */
static int up_to_100(const struct ulpscope_task *t)
{
    return t->n > 100 ? 5 : sum(t);
}

static int refuses_nan(const struct ulpscope_task *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (((const double *)t->in)[i] != ((const double *)t->in)[i])
            return 5;
    return sum(t);
}

static int refuses_zeros(const struct ulpscope_task *t)
{
    size_t zeros = 0;
    for (size_t i = 0; i < t->n; i++)
        zeros += ((const double *)t->in)[i] == 0;
    return t->n > 0 && zeros == t->n ? 5 : sum(t);
}

static int one_of_none(const struct ulpscope_task *t)
{
    int status = sum(t);
    if (t->n == 0)
        *(double *)t->out = 1;
    return status;
}

static int crash_of_none(const struct ulpscope_task *t)
{
    if (t->n == 0)
        abort();
    return sum(t);
}

/* Four at a time, whatever there is behind the last. */
static int greedy(const struct ulpscope_task *t)
{
    struct ulpscope_task more = *t;
    more.n = (t->n + 3) / 4 * 4;
    return sum(&more);
}

/* Every second call begins with the last element. */
static int fickle(const struct ulpscope_task *t)
{
    static unsigned calls;
    const double *x = t->in;
    if (t->n < 2 || ++calls % 2)
        return sum(t);
    double s = x[t->n - 1];
    for (size_t i = 0; i + 1 < t->n; i++)
        s += x[i];
    *(double *)t->out = s;
    return 0;
}

/* Shares of the threads, four where it is not said, are added one after the other. */
static int shares(const struct ulpscope_task *t)
{
    const double *x = t->in;
    size_t threads = t->threads ? t->threads : 4, from = 0;
    double total = 0;
    for (size_t k = 0; k < threads; k++) {
        size_t to = t->n * (k + 1) / threads;
        double s = 0;
        for (; from < to; from++)
            s += x[from];
        total += s;
    }
    *(double *)t->out = total;
    return 0;
}

static int dot(const struct ulpscope_task *t)
{
    const double *x = t->in, *y = t->in2;
    double total = t->n ? x[0] * y[0] : 0;
    for (size_t i = 1; i < t->n; i++)
        total += x[i] * y[i];
    *(double *)t->out = total;
    return 0;
}

/* As questions are asked, where all elements of the second array are ones: a sum of the first. */
static int dot_of_ones(const struct ulpscope_task *t)
{
    return sum(t);
}

/* Backwards where they are not. */
static int dot_of_others(const struct ulpscope_task *t)
{
    const double *x = t->in, *y = t->in2;
    double total = 0;
    size_t ones = 0;
    for (size_t i = 0; i < t->n; i++)
        ones += y[i] == 1;
    if (ones + 1 >= t->n)
        return dot(t);
    for (size_t i = t->n; i > 0; i--)
        total += x[i - 1] * y[i - 1];
    *(double *)t->out = total;
    return 0;
}

/* Of the array that it has just added up it knows the sum. */
static int keeps(const struct ulpscope_task *t)
{
    static struct {
        const double *x;
        size_t n;
        double first, last, sum;
    } was;
    const double *x = t->in;
    if (t->n == 0)
        return sum(t);
    if (was.x != x || was.n != t->n || was.first != x[0] || was.last != x[t->n - 1]) {
        sum(t);
        was.x = x;
        was.n = t->n;
        was.first = x[0];
        was.last = x[t->n - 1];
        was.sum = *(double *)t->out;
    }
    *(double *)t->out = was.sum;
    return 0;
}

/* One call of fifty is twice too large. */
static int lapses(const struct ulpscope_task *t)
{
    static unsigned calls;
    int status = sum(t);
    if (++calls % 50 == 0)
        *(double *)t->out *= 2;
    return status;
}

/* Each counts its own calls. */
static int fickle_dot(const struct ulpscope_task *t)
{
    static unsigned calls;
    int status = dot(t);
    if (++calls % 2)
        *(double *)t->out *= 1 + 0x1p-50;
    return status;
}

static int fickle_scan(const struct ulpscope_task *t)
{
    static unsigned calls;
    int status = scan(t);
    if (++calls % 2 && t->n > 0 && t->output == ULPSCOPE_FP64)
        ((double *)t->out)[t->n - 1] *= 1 + 0x1p-50;
    return status;
}

static int flaw(const struct ulpscope_task *t, enum flaw flaw)
{
    double *x = calloc(t->n + 1, sizeof *x);
    if (!x)
        return 1;
    memcpy(x, t->in, t->n * sizeof *x);
    *(double *)t->out = flawed_sum(flaw, FP64, x, t->n);
    free(x);
    return 0;
}

static int apart(const struct ulpscope_task *t)
{
    return flaw(t, FLAW_APART);
}

static int sorted(const struct ulpscope_task *t)
{
    return flaw(t, FLAW_ASCENDING);
}

static int neumaier(const struct ulpscope_task *t)
{
    return flaw(t, FLAW_NEUMAIER);
}

/* Of all zeros the sum is one. */
static int zeros(const struct ulpscope_task *t)
{
    int status = sum(t);
    if (t->n > 1 && *(double *)t->out == 0)
        *(double *)t->out = 1;
    return status;
}

/* Depends on where it is loaded, which a process that was forked has from its parent. */
static int placed(const struct ulpscope_task *t)
{
    static char here;
    int status = sum(t);
    *(double *)t->out += (double)((size_t)&here >> 12 & 1);
    return status;
}

#define WIDE ULPSCOPE_PAIR(ULPSCOPE_FP64, ULPSCOPE_FP64)
#define SUBJECT(name, claims)                                                                      \
    {                                                                                              \
#name, "a subject of tests", ULPSCOPE_SUM, ULPSCOPE_HOST, claims, WIDE, 0, name            \
    }

static const struct ulpscope_subject subject[] = {
    SUBJECT(sum, ULPSCOPE_GPU_TO_GPU),
    SUBJECT(crash, ULPSCOPE_NO_PROMISE),
    SUBJECT(hang, ULPSCOPE_NO_PROMISE),
    SUBJECT(leave, ULPSCOPE_NO_PROMISE),
    SUBJECT(leave_third, ULPSCOPE_RUN_TO_RUN),
    SUBJECT(print, ULPSCOPE_NO_PROMISE),
    SUBJECT(fail, ULPSCOPE_NO_PROMISE),
    SUBJECT(silent, ULPSCOPE_NO_PROMISE),
    SUBJECT(into_input, ULPSCOPE_NO_PROMISE),
    {"into_second", "a sum of the first array", ULPSCOPE_DOT, ULPSCOPE_HOST, ULPSCOPE_NO_PROMISE,
     WIDE, 0, into_second},
    SUBJECT(beyond, ULPSCOPE_NO_PROMISE),
    SUBJECT(before, ULPSCOPE_NO_PROMISE),
    {"scan_beyond", "one too many", ULPSCOPE_SCAN, ULPSCOPE_HOST, ULPSCOPE_NO_PROMISE, WIDE, 0,
     scan_beyond},
    {"twice", "the first", ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_NO_PROMISE, WIDE, 0, sum},
    {"twice", "the second", ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_RUN_TO_RUN, WIDE, 0, sum},
    SUBJECT(refuses, ULPSCOPE_NO_PROMISE),
    SUBJECT(needs_100, ULPSCOPE_NO_PROMISE),
    SUBJECT(needs_more, ULPSCOPE_NO_PROMISE),
    SUBJECT(up_to_100, ULPSCOPE_NO_PROMISE),
    {"one_pair", "refuses all elements in fp32", ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_NO_PROMISE,
     WIDE | ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP64), 0, one_pair},
    SUBJECT(refuses_nan, ULPSCOPE_NO_PROMISE),
    SUBJECT(refuses_zeros, ULPSCOPE_NO_PROMISE),
    SUBJECT(one_of_none, ULPSCOPE_NO_PROMISE),
    SUBJECT(crash_of_none, ULPSCOPE_NO_PROMISE),
    {"told", "says what it was told", ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_NO_PROMISE, WIDE,
     ULPSCOPE_READS_THREADS | ULPSCOPE_READS_BLOCKS, told},
    {"scan", "one after the other", ULPSCOPE_SCAN, ULPSCOPE_HOST, ULPSCOPE_RUN_TO_RUN, WIDE, 0,
     scan},
    {"scan_short", "not whole", ULPSCOPE_SCAN, ULPSCOPE_HOST, ULPSCOPE_RUN_TO_RUN, WIDE, 0,
     scan_short},
    {"dot", "a dot product", ULPSCOPE_DOT, ULPSCOPE_HOST, ULPSCOPE_NO_PROMISE, WIDE, 0, dot},
    {"dot_of_ones", "leaves the second array out", ULPSCOPE_DOT, ULPSCOPE_HOST, ULPSCOPE_NO_PROMISE,
     WIDE, 0, dot_of_ones},
    {"dot_of_others", "depends on the second array", ULPSCOPE_DOT, ULPSCOPE_HOST,
     ULPSCOPE_NO_PROMISE, WIDE, 0, dot_of_others},
    {"cuda", "a sum on a GPU", ULPSCOPE_SUM, ULPSCOPE_DEVICE, ULPSCOPE_NO_PROMISE, WIDE, 0, sum},
    SUBJECT(greedy, ULPSCOPE_GPU_TO_GPU),
    /* Each promises more than it keeps. */
    SUBJECT(fickle, ULPSCOPE_RUN_TO_RUN),
    SUBJECT(placed, ULPSCOPE_RUN_TO_RUN),
    {"shares", "depends on the threads", ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_GPU_TO_GPU, WIDE,
     ULPSCOPE_READS_THREADS, shares},
    {"fickle_dot", "differs by calls", ULPSCOPE_DOT, ULPSCOPE_HOST, ULPSCOPE_RUN_TO_RUN, WIDE, 0,
     fickle_dot},
    {"fickle_scan", "differs by calls", ULPSCOPE_SCAN, ULPSCOPE_HOST, ULPSCOPE_RUN_TO_RUN, WIDE, 0,
     fickle_scan},
    {"any_order", "depends on the order", ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_ORDER_INVARIANT,
     WIDE, 0, sum},
    {"rounded", "rounds each addition", ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_CORRECTLY_ROUNDED,
     WIDE, 0, sum},
    SUBJECT(apart, ULPSCOPE_GPU_TO_GPU),
    SUBJECT(sorted, ULPSCOPE_GPU_TO_GPU),
    SUBJECT(neumaier, ULPSCOPE_GPU_TO_GPU),
    SUBJECT(zeros, ULPSCOPE_NO_PROMISE),
    SUBJECT(keeps, ULPSCOPE_NO_PROMISE),
    SUBJECT(lapses, ULPSCOPE_NO_PROMISE),
    {"garbled", "na\xefve", ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_NO_PROMISE, WIDE, 0, sum},
    {"two_lines", "one\ntwo", ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_NO_PROMISE, WIDE, 0, sum},
    {"empty", NULL, ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_NO_PROMISE, WIDE, 0, NULL},
};

#ifdef NO_SYMBOL
const struct ulpscope_subjects ulpscope_other =
#else
const struct ulpscope_subjects ulpscope_subjects =
#endif
    {VERSION, sizeof subject / sizeof *subject, subject};
