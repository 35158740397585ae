/* What `check --special` is asked for. */
#pragma once

#include "experiments/data/data.h"
#include "experiments/options/options.h"
#include "experiments/conformance/run.h"

struct conformance_asked {
    const struct arguments *a;
    struct conformance_request request; /* but for the method, the device and who hears of it */
    struct list devices;                /* by name; one at least */
    struct data_set data;               /* the user's own input; */
    struct special_input input;         /* what a method makes of it */
};

/* Reads the options. conformance_asked_free is due, also after failure. */
enum status conformance_asked_read(struct conformance_asked *s, const struct arguments *a,
                                   struct problem *p);

/* Sets the request's input, where there is one, as the method reads it: a dot product's is one
 * file, too, x first, then y. */
enum status conformance_asked_of(struct conformance_asked *s, const struct method *m,
                                 struct problem *p);

void conformance_asked_free(struct conformance_asked *s);
