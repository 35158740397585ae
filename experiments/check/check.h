/* Trying to refute what a subject promises of its bits, rung by rung. */
#pragma once

#include <signal.h>

#include "experiments/system/device.h"
#include "experiments/inputs/input.h"
#include "experiments/inputs/keys.h"
#include "experiments/operations/operation.h"
#include "experiments/options/pairs.h"

/* What is tried, each against one rung of the ladder; of operations that can promise more beside
 * it, some are evidence for that too. */
enum check_kind {
    CHECK_REPEAT,
    CHECK_PROCESS,
    CHECK_LOAD,
    CHECK_AFTER,
    CHECK_SHAPE,
    CHECK_ENVIRONMENT,
    CHECK_OFFSET,
    CHECK_NEIGHBOUR,
    CHECK_BATCH,
    CHECK_PLACE,
    CHECK_OTHERS,
    CHECK_LAYOUT,
    CHECK_DEVICE,
    CHECK_RECORDED,
    CHECK_PERMUTATION,
    CHECK_EXACT,
    CHECK_KINDS
};

struct check_kind_facts {
    const char *name;
    enum promise rung;
    enum promise beside; /* PROMISE_NONE: none */
    const char *summary; /* what differs between two runs that must agree */
};
extern const struct check_kind_facts check_kinds[CHECK_KINDS];

enum { CHECK_RUNS = 20 };             /* where nobody says how many */
enum { CHECK_CACHE_BYTES = 1 << 25 }; /* of generated inputs */
enum { CHECK_LEAST = 10 };            /* a rung with fewer attempts is not tried */

/* An array of the user's own. */
struct check_data {
    const char *asked;  /* as --data names it, each comma as `\,` */
    const char *second; /* of A and B from two files, B's name, as --data has it; else NULL */
    const char *name;   /* as the column `input` does */
    struct array array;
    size_t rows;               /* of a matrix; else 0 */
    bool converted, saturated; /* rounded by --convert, clamped by --saturate */
};

struct check_recorded; /* experiments/check/recorded.h */
struct input_cache;    /* experiments/inputs/cache.h */
struct check_batches;  /* experiments/check/batches.h */

struct check_request {
    const struct method *method;
    struct device device;
    struct pairs pairs;        /* what the method does not support is skipped */
    const struct input *input; /* none: those that suit what is tried */
    size_t inputs;
    struct check_data *data; /* arrays that promises are tried on; with none, and no input: those
                                that suit what is tried */
    size_t datas;
    struct check_file *file; /* that they were read from (experiments/check/data.h), or NULL */
    size_t files;
    size_t named; /* how often --data was given, which lists a file once; 0: as often as it lists */
    struct numbers n, threads, blocks; /* likewise; lengths of prefixes of data */
    bool load[2];                      /* of the device: idle, busy; neither: both */
    bool scan[2];                      /* of scans: inclusive, exclusive; neither: both */
    struct setting_axes setting;       /* but for scans; likewise */
    /* Numbers of rows that batches are to have, and what came of them with the subject that was
     * checked last; NULL: those that tell most. */
    struct check_batches *batches;
    /* Of inputs, which requests made one after the other share; NULL: a check has its own. */
    struct input_cache *cache;
    uint64_t seed, runs; /* runs: of a repetition; what is no repetition is tried runs / CHECK_RUNS
                            times, at least once */
    double seconds;      /* to be spent on all; each kind has one case at least */
    /* Where it is not 0, a kind ends before its time: repetitions behind as many attempts, all
     * others behind those of check_wanted. */
    uint64_t enough;
    enum promise promise; /* that the subject is held to */
    unsigned beside;      /* flags: and to these */
    bool tried[CHECK_KINDS];
    bool shrink;                           /* look for the least n that shows a break */
    const struct check_recorded *recorded; /* NULL: none */
    const char *recorded_in;               /* where that was asked for with --recorded; or NULL */
    /* Told now and then what is tried, and how much of the time is left; may be NULL. */
    void (*show)(void *context, const struct method *m, const char *attempt, double seconds);
    void *context;
    const volatile sig_atomic_t *stop; /* not 0: STATUS_INTERRUPTED; or NULL */
};

/* What is asked of a subject once. */
struct check_case {
    struct format_pair pair;
    struct input input;
    /* Its first n elements, in place of a generated input; or NULL. */
    const struct check_data *data;
    size_t n;
    uint64_t seed;
    size_t round;           /* which outputs are followed through batches: others in each */
    bool few;               /* in those batches alone that tell most */
    bool busy;              /* the device has other work, whatever is tried */
    struct setting setting; /* keys have the seed of the case, bins of compactions are those kept */
    struct shape shape;     /* asked for */
    const struct check_recorded_row *recorded; /* what was recorded of it, or NULL */
};

/* The canonical specification, or what data is called; cut off where it is long. */
void check_input_text(const struct check_case *k, char text[INPUT_TEXT]);

enum { CHECK_WORDS = 96, CHECK_COUNTS = 64 };

/* How a result was had, where it is not by the case as it stands. */
struct check_variant {
    struct shape shape;
    struct device device;
    size_t offset;       /* elements off an aligned address */
    uint8_t byte;        /* all bytes around the input */
    const char *chip;    /* NULL: the case's */
    bool permuted;       /* by check_order_again: */
    size_t order, count; /* which permutation, of how many elements */
    unsigned round;
    struct batch_place place; /* of attempts at batches */
};

enum { CHECK_BEFORE = 4 };

/* Two results of one case that are not the same. */
struct check_break {
    struct check_case at;
    struct check_variant variant[2];
    struct shape
        other_shape; /* of launch shapes: that of the second result; at.shape of the first */
    uint64_t runs;
    size_t index;     /* of scans and scatter-adds: the first output that differs */
    bool hash;        /* bits are of hashes of all outputs */
    uint64_t bits[2]; /* NaN canonical; in the output's format */
    bool exceeds;     /* of exact results: the second one breaks its error bound */
    char is[2][CHECK_WORDS];
    /* Of what a process has run before: that, between runs of the case; was one of these first? */
    struct check_case before[CHECK_BEFORE];
    size_t befores;
    bool own_first;
};

enum { CHECK_REASON = 160, CHECK_RUNG_REASON = 9 * CHECK_REASON, CHECK_SET = 256 };

/* Distinct things; of more than CHECK_SET, that many. */
struct check_set {
    size_t count;
    uint64_t item[CHECK_SET];
};

/* What came of a kind. An attempt is a result that is compared with another. */
struct check_tried {
    /* Lengths that were asked for: those that it has cases of; those at which attempts were made;
     * those at which there was time, and nothing for it to vary. */
    struct check_set due, reached, idle;
    char untried[CHECK_REASON]; /* why there is no attempt; empty where there are */
    bool late;                  /* because time ran out */
    bool all;                   /* all cases that there are were tried: time would add none */
    uint64_t cases, broken;     /* broken: cases in which a result differed */
    uint64_t exceeding;         /* of exact results: cases in which one breaks its error bound */
    uint64_t attempts, differing;
    uint64_t unanswered;        /* runs that had no answer when the time ended; no attempts */
    uint64_t distinct;          /* results, in the case with most of them */
    char counts[CHECK_COUNTS];  /* how often each came there: "17 2 1" */
    struct check_break witness; /* where broken */
};

/* What the attempts at a rung were made over. An input is a generated one with its seed, or an
 * array of the user's; a launch shape is what the method made of what was asked for. */
struct check_over {
    struct check_set shapes, lengths, inputs;
    struct check_set ranks;    /* numbers of them, where there are any */
    struct check_set batches;  /* numbers of rows and columns, where results are of such */
    struct check_set followed; /* outputs that were computed again in other batches */
    size_t least_n, most_n;    /* of all lengths, also of those that the set has no room for */
    struct check_set messages; /* lengths of the user's that were a message of an element's, too */
    size_t least_message, most_message; /* elements of all messages of an element; 0: there are
                                           none */
};

/* Cases that the subject refused whenever it was asked. */
struct check_refusals {
    struct check_set lengths; /* of them */
    bool whole;               /* one was an array of the user's, whole */
    struct problem first;     /* STATUS_OK: none */
    enum check_kind kind;     /* in which that was */
};

struct check_report {
    struct check_request request;
    struct check_tried tried[CHECK_KINDS];
    struct check_over over[PROMISES_ALL];
    enum promise kept; /* the highest rung that was kept; none below it is broken, though one
                          may be not tried, which check_rung says */
    struct check_set families; /* of inputs, by their place in input_families, that exact results
                                  were tried on, or that a case cannot be of */
    struct pairs left_out;     /* that a program does not answer */
    struct pairs unasked;      /* that there was no time to ask it for */
    struct check_refusals refused;
    struct problem failure; /* STATUS_OK, or what ended it; the rungs above were not tried */
    enum check_kind failed;
    struct problem untried; /* STATUS_OK; or, where not one case was tried and nothing failed, why:
                               what the first was refused for, else the kinds asked for */
};

/* Checks one subject. What a subject fails with (a crash, a hang, no memory) stands in the report
 * and is STATUS_OK here. STATUS_DEVICE where the device does not run it in any of the pairs;
 * STATUS_INTERRUPTED. */
enum status check_subject(struct check_report *report, const struct check_request *request,
                          struct problem *p);

struct request; /* experiments/cases/axes.h */
enum { CHECK_DEVICES = 16 };
/* Reads what is asked for in words: formats, inputs, lengths, shapes, scans, keys, bins, seed,
 * runs, seconds. All kinds are tried. check_request_free is due, also after failure. */
enum status check_asked(struct check_request *r, const struct request *q, struct problem *p);
void check_request_free(struct check_request *r);
/* The devices asked for, each once; where none is, `auto`. */
enum status check_devices(struct device devices[CHECK_DEVICES], size_t *count,
                          const struct request *q, struct problem *p);

struct arguments; /* experiments/options/options.h */
/* STATUS_USAGE where --operation says that the subject computes what it does not. */
enum status check_computes(const struct method *m, const char *verb, const struct arguments *a,
                           struct problem *p);
/* STATUS_USAGE where an option that only other subjects read is given with this one. */
enum status check_takes(const struct method *m, const struct arguments *a, struct problem *p);

/* STATUS_USAGE where numbers of rows are asked for, and not the attempts that vary them. */
enum status check_batches_meant(const struct check_request *r, struct problem *p);

enum check_state {
    CHECK_NOT_TRIED, /* or in fewer than CHECK_LEAST attempts, of which none differed; or on one
                        device alone, where the rung speaks of several */
    CHECK_KEPT,
    CHECK_BROKEN, /* itself, or a rung below it */
    CHECK_FAILED, /* the subject, in an attempt */
    CHECK_STATES
};
extern const char *const check_state_name[CHECK_STATES]; /* "not tried", "kept", ... */

/* Is the kind evidence for this rung, or promise beside the ladder? The next of those that the
 * subject's operation can promise, up the ladder, then beside it; PROMISES_ALL: there is none. */
bool check_kind_of(enum check_kind kind, enum promise rung);
enum promise check_next(const struct operation *o, enum promise rung);
/* What a break of this kind is a break of: the lowest rung, but the promise beside the ladder where
 * the subject can make that. */
enum promise check_meant(const struct check_report *r, enum check_kind kind);
/* The rung that the subject is held to; where it is none, what beside the ladder; "none". */
const char *check_held_name(const struct check_request *r);
/* Is the subject held to it? */
bool check_holds(const struct check_request *r, enum promise rung);

/* What is known of a rung: the verdict of every verb. Numbers are sums over its kinds. */
struct check_rung {
    enum check_state state;
    uint64_t attempts, differing, distinct, unanswered;
    size_t shapes, lengths, inputs, batches, followed; /* that attempts were made over */
    size_t least_n, most_n;
    const char *counts;
    double unseen_p95;              /* 1 - 0.05^(1/attempts) */
    char reason[CHECK_RUNG_REASON]; /* why it is not tried, failed, or broken by a rung below; of
                                  what is kept, what that leaves open; or "" */
};
struct check_rung check_rung(const struct check_report *r, enum promise rung);
/* Was a promise that is asked for not tried? Where attempts are left out (--only), those that are
 * left must have been made on all that was asked for, and often enough. A counterexample that is
 * run again is one case, of which there may be few attempts. */
bool check_unheld(const struct check_report *r, enum promise promise);

/* Does nothing but its environment tell the subject how many threads to use? Of ours, and of what
 * runs on a GPU, launch shapes do; ranks of an all-reduce are tried otherwise. */
bool check_environs(const struct check_request *r);
/* The launch shape in which the subject runs where this is asked for; threads may be those that its
 * environment says. */
struct shape check_shape_made(const struct check_request *r, size_t n, struct shape asked);

/* How many threads a subject that its environment tells has where so many are asked for, as far as
 * its library says; else so many. */
unsigned check_threads_made(const struct check_request *r, unsigned asked);

/* Is something that was asked for by --n, --threads, --blocks, --ranks or --batch in no attempt at
 * the rung? In words, where they are asked for: "n = 480000; 4, 8 threads". */
bool check_missed(char words[CHECK_REASON], const struct check_report *report, enum promise rung);
/* The same while one kind of attempt is being tried: has it a length left to try, or is something
 * else that was asked for in no attempt at its rung? */
bool check_kind_missed(const struct check_report *report, enum check_kind kind);

/* "it refused n = 3, 33, not tried there: ValueError: ..."; "": nothing was refused. */
enum { CHECK_REFUSED = 400 };
void check_refused_text(char text[CHECK_REFUSED], const struct check_report *report);

/* How many attempts of a kind are enough for a request; UINT64_MAX: as many as time allows. */
uint64_t check_wanted(const struct check_request *r, enum check_kind kind);

/* Is a rung broken that the subject is held to, or a promise beside the ladder? The first; or
 * PROMISE_NONE. */
enum promise check_first_broken(const struct check_report *r);
/* Does a result break its error bound? See experiments/runs/bound.h. */
bool check_exceeded(const struct check_report *r);
/* Is there one or the other? */
bool check_broken(const struct check_report *r);

/* The command that shows a break again, by this name of the program. The caller frees it; NULL when
 * memory is short. */
char *check_command(const struct check_report *r, enum check_kind kind, const char *program);
