/* Progress on a terminal: how much is done, at which rate, how long it will take. */
#pragma once

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

/* A line that a thread of its own draws five times a second, from the second second on: also while
 * the caller waits for something that takes long. */
struct progress_line;
/* NULL, which all below take, where it is not shown or there is no thread for it. */
struct progress_line *progress_line_begin(bool shown);
/* "WORDS, about 7 s left": the seconds count down until other words are said. */
void progress_line_say(struct progress_line *l, double seconds_left, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Takes the line away for other text, until it is drawn again. */
void progress_line_clear(struct progress_line *l);
/* Takes the line away, and frees it. */
void progress_line_end(struct progress_line *l);
