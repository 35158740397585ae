#include "experiments/system/progress.h"

#include <stdio.h>

#include "experiments/system/clock.h"

enum { REDRAW_NS = 100000000 };

void progress_begin(struct progress *p, bool shown, size_t cases, uint64_t runs, uint64_t done)
{
    *p = (struct progress){shown, cases, runs, done, clock_ns(), 0};
}

/* "75 s", "12 min", "3.2 h". */
static void duration(char text[32], double seconds)
{
    if (seconds < 100)
        snprintf(text, 32, "%.0f s", seconds);
    else if (seconds < 6000)
        snprintf(text, 32, "%.0f min", seconds / 60);
    else
        snprintf(text, 32, "%.1f h", seconds / 3600);
}

void progress_draw(struct progress *p, size_t cases_done, uint64_t runs_done)
{
    uint64_t now = p->shown ? clock_ns() : 0;
    if (!p->shown || now - p->drawn_ns < REDRAW_NS)
        return;
    p->drawn_ns = now;
    char left[32] = "?";
    double seconds = (double)(now - p->begin_ns) / 1e9;
    double rate = (double)(runs_done - p->begun_with) / seconds;
    if (rate > 0)
        duration(left, (double)(p->runs - runs_done) / rate);
    fprintf(stderr, "\r\033[K%zu of %zu cases, %.3g runs/s, %s left", cases_done, p->cases, rate,
            left);
    fflush(stderr);
}

void progress_clear(struct progress *p)
{
    if (!p->shown || p->drawn_ns == 0)
        return;
    fprintf(stderr, "\r\033[K");
    fflush(stderr);
    p->drawn_ns = 0;
}
