/* A subject made ready for one special input after another, of one length; each run is judged. */
#pragma once

#include "experiments/runs/probe.h"
#include "experiments/conformance/judge.h"

struct conformance_stand {
    const struct conformance_subject *subject;
    struct probe *probe;
    uint8_t *heads;
    struct array out;
    struct special_input product; /* of matrix products: the terms of an element of D, */
    struct array c;               /* and C */
    double one[1];                /* the output, where there is one */
};

/* conformance_stand_close is due, also after failure. */
enum status conformance_stand_open(struct conformance_stand *s,
                                   const struct conformance_subject *subject, size_t n,
                                   struct problem *p);
/* To be filled: its elements are what the run before had. */
struct special_input conformance_stand_input(const struct conformance_stand *s);
/* Runs and judges. */
enum status conformance_stand_run(struct conformance_stand *s, struct judgement *j,
                                  struct problem *p);
void conformance_stand_close(struct conformance_stand *s);

/* All in one: runs on these elements, up to `runs` times until one is impossible. */
enum status conformance_try(struct judgement *j, const struct conformance_subject *subject,
                            const struct special_input *in, unsigned runs, struct problem *p);
