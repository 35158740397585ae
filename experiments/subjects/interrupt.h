/* Signals that ask to stop: what was measured is then told, and exit status 130. */
#pragma once

#include <signal.h>

/* From now on the first SIGINT, SIGTERM or SIGHUP, but for a SIGHUP that is ignored (nohup), sets
 * what is returned to 1, and ends the run of a subject that is not ours; one that comes half a
 * second later, or after that, kills. */
const volatile sig_atomic_t *interrupt_catch(void);
