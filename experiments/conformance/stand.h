/* A subject made ready for one special input after another, of one length; each run is judged. */
#pragma once

#include "experiments/runs/probe.h"
#include "experiments/conformance/judge.h"

struct special_stand {
    const struct special_subject *subject;
    struct probe *probe;
    uint8_t *heads;
    struct array out;
    double one[1]; /* the output, where there is one */
};

/* special_stand_close is due, also after failure. */
enum status special_stand_open(struct special_stand *s, const struct special_subject *subject,
                               size_t n, struct problem *p);
/* To be filled: its elements are what the run before had. */
struct special_input special_stand_input(const struct special_stand *s);
/* Runs and judges. */
enum status special_stand_run(struct special_stand *s, struct judgement *j, struct problem *p);
void special_stand_close(struct special_stand *s);

/* All in one: runs on these elements, up to `runs` times until one is impossible. */
enum status special_try(struct judgement *j, const struct special_subject *subject,
                        const struct special_input *in, unsigned runs, struct problem *p);
