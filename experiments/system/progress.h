/* Progress on a terminal: how much is done, at which rate, how long it will take. */
#ifndef ULPSCOPE_SYSTEM_PROGRESS_H
#define ULPSCOPE_SYSTEM_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    bool shown;
    size_t cases;
    uint64_t runs;       /* of all cases */
    uint64_t begun_with; /* runs done before this process */
    uint64_t begin_ns, drawn_ns;
};

/* shown: standard error is a terminal, and nobody asked for quiet. */
void progress_begin(struct progress *p, bool shown, size_t cases, uint64_t runs, uint64_t done);
/* Draws one line in place, ten times a second at most. */
void progress_draw(struct progress *p, size_t cases_done, uint64_t runs_done);
/* Takes the line away, for other text. */
void progress_clear(struct progress *p);

#endif
