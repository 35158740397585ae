/* Work cut into shares, done by threads. */
#pragma once

#include <stddef.h>

/* Calls work(context, share) for share = 0 .. count-1, each once, on up to `threads` threads, the
 * caller's among them; returns when all are done. Which thread does which share is not known.
 * Threads that cannot be had are done without. */
void shares_run(unsigned threads, size_t count, void (*work)(void *context, size_t share),
                void *context);
