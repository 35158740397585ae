/* What the files of `check` share. */
#pragma once

#include <mpfr.h>

#include "experiments/check/check.h"
#include "experiments/runs/probe.h"
#include "experiments/runs/tally.h"

/* The results of one case. */
struct check_outcome {
    struct tally tally;
    struct tally other; /* of what was joined, where there are more results in it */
    struct array first; /* the outputs compared with; data NULL: none yet */
    uint64_t attempts, differing;
    struct check_break found; /* the first that differs, where any does */
    struct check_variant now; /* how the outputs were had that are taken next */
    size_t timed;             /* elements of the largest batch so far, and what one took of it */
    double element_ns;
};

/* What attempts of a kind were made over. */
/* What a run is over, as struct check_over counts it; 0: no ranks, no batch. */
struct check_run {
    bool there;
    size_t n;
    uint64_t shape, input, ranks, batch;
};

struct check_evidence {
    struct check_over *over[2]; /* of its rung; of a promise beside the ladder, or NULL */
    bool once;                  /* the same again is no other attempt */
    struct check_run run;       /* at hand, which counts once it has given a result */
    uint64_t key;               /* of it; 0: always another attempt */
    uint64_t *slot;             /* a hash table of those so far, 0 where there is none */
    size_t slots, keys;
};

enum { CHECK_SERVED = 64 };
struct load; /* kernels/gpu/load.h */

struct check {
    const struct check_request *request;
    struct pairs pairs;
    struct array in;              /* elements of the case at hand; of a dot product both arrays' */
    struct setting_operands made; /* what else it reads; its `in` is the case's */
    uint32_t *place; /* the output that each element goes to; NULL where outputs cover prefixes */
    struct input_cache *inputs; /* the request's, or its own */
    struct check_case at;
    struct numbers threads, blocks;  /* of launch shapes, see check_shape_at */
    struct check_evidence *evidence; /* of the kind at hand, or NULL */
    uint64_t begin, end;             /* of the time, as clock_ns says it */
    uint64_t last;                   /* no run begins behind it, but to make a break small */
    double timeout_s;                /* of a run in a process of its own, as it was set */
    uint64_t until;                  /* of the time for the case at hand */
    uint64_t least;                  /* until then it may go on while it has few attempts */
    struct load *load;               /* of the device; NULL: it is quiet */
    bool ran[CHECK_KINDS];           /* a case of it */
    bool answered;                   /* the last case gave a result, whatever came then */
    bool never_alone;                /* it failed on one processor */
    struct problem unusable;         /* why another device could not run it */
    struct problem no_load;          /* why the device could not be loaded */
    unsigned round;                  /* of the case: once more, where runs ask for it */
    const struct method *served[CHECK_SERVED]; /* processes of `ulpscope serve`, to be ended */
    size_t serving;
};

/* How a run differs from the plain one. */
struct check_setting {
    const struct method *method;
    struct device device;
    struct shape shape;
    size_t offset;
    uint8_t around;         /* as a probe's */
    const struct array *in; /* NULL: the case's */
    const uint32_t *keys;   /* NULL: the case's */
    const char *chip;       /* NULL: the case's */
};

/* Results of the case at hand. */
size_t check_outputs(const struct check *c);
bool check_is_scan(const struct check *c);

/* Makes the launch shapes of the subject; how many, and the i-th. */
enum status check_shapes_make(struct check *c, struct problem *p);
int check_ascending(const void *a, const void *b); /* of uint64_t, for qsort and bsearch */
size_t check_shape_count(const struct check *c);
struct shape check_shape_at(const struct check *c, size_t i);

/* The subject as it runs in this launch shape: told by its environment, it is a process of its own
 * for each number of threads. */
const struct method *check_method(const struct check *c, struct shape shape);

/* Notes what a run of the case at hand is made over; and that it has given a result, from when on
 * it counts. */
void check_note(const struct check *c, const struct check_setting *s);
void check_noted(const struct check *c);
/* Notes that an output of the case was computed again in another batch. */
void check_note_followed(const struct check *c, const size_t of[BATCH_SIDES]);
/* Notes that it was computed again in a message of `elements`; `asked` is the length that the user
 * named for it, 0 if none. */
void check_note_message(const struct check *c, size_t elements, uint64_t asked);
/* The i-th length that the user named for messages; 0 after the last. */
uint64_t check_message_named(const struct check_request *r, size_t i);
void check_set_add(struct check_set *set, uint64_t item);
/* Is the run noted last another than all before? */
bool check_is_new(const struct check *c);
void check_evidence_begin(struct check_evidence *e, struct check_over *over,
                          struct check_over *beside, bool once);
void check_evidence_free(struct check_evidence *e);

/* The case has results to compare, and no time for more. */
bool check_enough(const struct check *c, const struct check_outcome *o);

/* Begins other work for the device; load_end ends it. False, and `no_load` says why, where there
 * can be none. */
bool check_load(struct check *c, struct load **load);

/* Do attempts of this kind follow outputs through batches? Then a case follows at least so many. */
enum { CHECK_FOLLOWS = 4 };
bool check_follows(const struct check *c, enum check_kind kind);

/* The u-th case of a kind. */
enum check_found {
    CHECK_FOUND,
    CHECK_NONE, /* no such case, others may follow */
    CHECK_NO_MORE
};
enum check_found check_case_at(const struct check *c, enum check_kind kind, size_t u,
                               struct check_case *k);
/* One that was recorded; false behind the last one. */
bool check_recorded_at(const struct check *c, size_t u, struct check_case *k);
/* Sees to it that c->in is the case's input, and c->made and c->place. STATUS_USAGE where there is
 * no such input. */
enum status check_load_case(struct check *c, const struct check_case *k, struct problem *p);
void check_free_setting(struct check *c);
/* The i-th array of n elements among them. */
struct array check_array(const struct array *all, size_t n, unsigned i);
/* Lays a permuted copy out again: each row's elements, whose rows keys[] says, as they follow each
 * other. */
enum status check_lay_rows(const struct check *c, const struct array *copy, const uint32_t *keys,
                           struct problem *p);
/* The keys, to be moved as elements are. */
struct array check_keys_array(uint32_t *keys, size_t n);
/* They hold the sum of any doubles, 2^-1074 .. 2^1087. */
enum { CHECK_EXACT_BITS = 2200 };
/* x rounded once to f, its range and its subnormals included. */
double check_rounded_once(const mpfr_t x, enum format f);
/* Writes every element of a matrix product, rounded once. */
enum status check_set_product(const struct check *c, const struct matrices *of,
                              const struct array *out, struct problem *p);
/* Writes the sum of every bin, rounded once. */
enum status check_set_bins(const struct check *c, const struct array *out, struct problem *p);
/* Does an output break its error bound? See experiments/runs/bound.h. */
enum status check_exceeds(const struct check *c, const struct array *out, bool *exceeds,
                          struct problem *p);
struct check_setting check_plain(const struct check *c, const struct check_case *k);
enum status check_open(const struct check *c, const struct check_setting *s, struct probe **probe,
                       struct problem *p);
/* One run in a probe of its own; out->data is malloced. */
enum status check_once(const struct check *c, const struct check_setting *s, struct array *out,
                       struct problem *p);

/* What outputs are compared by. */
struct hash128 check_digest(const struct check *c, const struct array *out);
/* Takes outputs from index `from` on, of which the first are what all others are compared with.
 * Takes over and frees out->data. `is` says in words what they are the outputs of. */
enum status check_take(const struct check *c, struct check_outcome *o, struct array *out,
                       size_t from, struct problem *p, const char *is, ...)
    __attribute__((format(printf, 6, 7)));
/* Takes results of runs from a probe, as they come (a runner_digest; the context is this). */
struct check_taking {
    const struct check *check;
    struct check_outcome *outcome;
    const char *what; /* "run" */
    uint64_t runs;    /* taken so far */
};
enum status check_take_runs(void *taking, const struct runner_results *results, struct problem *p);
/* How a run in this setting is had. */
struct check_variant check_variant(const struct check_setting *s);
/* Adds what came of other inputs of the case, compared among themselves. *other is to be freed. */
void check_join(struct check_outcome *o, struct check_outcome *other);
void check_outcome_free(struct check_outcome *o);

/* Tries one kind on the case at hand; *o is zero before. */
typedef enum status (*check_try)(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_repeat(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_process(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_under_load(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_after(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_shape(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_environment(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_offset(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_neighbour(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_batch(struct check *c, struct check_outcome *o, struct problem *p);
/* For operations without rows: the first output in each of a list of surroundings. */
enum status check_surrounded(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_place(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_others(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_layout(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_device(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_with_recorded(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_permutation(struct check *c, struct check_outcome *o, struct problem *p);
enum status check_exact(struct check *c, struct check_outcome *o, struct problem *p);

/* Permutes the case's elements into to->in, and its keys into to->keys, as an attempt did. */
enum status check_order_again(struct check *c, const struct check_setting *to,
                              const struct check_variant *v, struct problem *p);

/* Did the subject refuse the case at hand with what it failed with, and does it when it is asked
 * again? If it does not, *why says so. */
bool check_refuses_again(const struct check *c, enum status status, struct problem *why);
/* Asks so for a case that has given no result. If it is refused again, notes that: true. */
bool check_refused(const struct check *c, struct check_report *report, enum check_kind kind,
                   enum status status, struct problem *why);
/* Is a length refused of which nothing was answered? */
bool check_length_refused(const struct check_report *report, size_t n);
/* What was refused is a failure where it was asked for by its length, its input or its file, or
 * where nothing was answered. */
void check_refused_asked(struct check_report *report);
bool check_stopped(const struct check *c);

/* Has a subject a process that ends with the check? check_keep makes it so. */
bool check_keeps(const struct check *c, const struct method *m);
void check_keep(struct check *c, const struct method *m);

/* `ulpscope serve` of the method, as a subject: a process of its own for each `more`, the options
 * that end its command line. */
enum status check_served(struct check *c, const struct check_setting *s, const char *more,
                         const struct method **served, struct problem *p);

/* What the other elements of a batch are: each of their bytes, or an infinity, which e4m3 has not.
 */
enum { CHECK_PLUS = 0x100, CHECK_MINUS };
const char *check_others_are(int byte); /* ", among NaN" */
bool check_others_can(enum format f, int byte);
void check_others_fill(const struct array *in, size_t n, int byte);

/* Runs the case's outputs at such a place of a batch, whose other elements are `byte`; other is
 * a copy of the check with the batch's setting, length and memory. out->data is malloced. */
enum status check_run_batch(const struct check *c, struct check *other,
                            const struct surrounding *is, const struct batch_place *at, int byte,
                            struct array *out, struct problem *p);
/* "row 3, column 5, as row 0, column 5 of 16x16x512". */
void check_say_place(char text[CHECK_WORDS], const struct check *c, const struct batch_place *place,
                     const struct setting *s);

/* Looks for the least n that shows it again, until `end`; *b is replaced by what was found. timing:
 * it may depend on that, so it must show itself more often. */
enum status check_shrink(struct check *c, bool timing, check_try try_it, uint64_t end,
                         struct check_break *b, struct problem *p);

/* The same where it is what is beside an output that shows it: the fewest terms, and the least
 * number of rows or columns that gives other bits than one alone. */
enum status check_shrink_batch(struct check *c, enum check_kind kind, bool timing, check_try try_it,
                               uint64_t end, struct check_break *b, struct problem *p);
/* Tries the case at hand again; *shows: it breaks every time, and exceeds a bound where *b, which
 * is zero else, does. */
enum status check_again(struct check *c, bool timing, check_try try_it, bool *shows,
                        struct check_break *b, struct problem *p);

/* Why a kind cannot be tried of this subject at all; NULL: it can. Says in a report why kinds
 * without an attempt have none. */
const char *check_senseless(const struct check *c, enum check_kind kind);
/* Notes that exact results were tried on inputs of this family. */
void check_note_family(struct check_report *r, const struct check_case *k);
/* correctly_rounded is a claim about every family of inputs: is one left that the kind is to try?
 */
bool check_families_left(const struct check_report *r, enum check_kind kind);
/* Notes what came of a case: `reached`: an attempt, or there is no such case. */
void check_note_case(const struct check *c, struct check_report *report, enum check_kind kind,
                     const struct check_case *k, bool reached);
void check_say_reasons(const struct check *c, struct check_report *r);

/* Asked to stop. */

/* The pairs that the subject has and that are asked for: of a program those that it answers.
 * Others, and why, are left out in the report. */
enum status check_find_pairs(struct check *c, struct check_report *report, struct problem *p);

/* The highest rung that all attempts at it and below held. */
enum promise check_kept(const struct check_report *r);
