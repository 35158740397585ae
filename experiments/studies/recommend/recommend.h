/* Which accumulator and method are enough for a sum: candidates on the data, on arrays like it and
 * on the worst that its magnitudes allow; the cheapest that holds a tolerance, with its evidence.
 */
#pragma once

#include <jansson.h>
#include <signal.h>

#include "experiments/check/check.h"
#include "experiments/cases/experiment.h"
#include "experiments/cases/plan.h"
#include "experiments/runs/truth.h"
#include "reports/results/results.h"

/* What an error is measured in. The exact sum of nothing but cancellation is 0: then an error of 0
 * is 0 and any other infinite. */
enum recommend_quantity {
    RECOMMEND_REL,      /* |error| / |exact sum| */
    RECOMMEND_BACKWARD, /* |error| / sum|x| */
    RECOMMEND_ULP,      /* |error| / ulp(exact sum), of the storage format: one scale for all */
    RECOMMEND_QUANTITIES
};
extern const char *const recommend_quantity_name[RECOMMEND_QUANTITIES];

struct recommend_tolerance {
    enum recommend_quantity quantity;
    double limit;  /* of the quantity: what is larger does not hold */
    char text[48]; /* as it was asked for */
};

/* `1e-3`, of `quantity`, a name or NULL: rel; `4ulp`; or `0.5bits`: that many bits less than the
 * exact sum rounded to the storage format may have, an error of 2^0.5 times half an ulp.
 * STATUS_USAGE. */
enum status recommend_tolerance_parse(struct recommend_tolerance *t, const char *text,
                                      const char *quantity, struct problem *p);

/* The error of a result, in the quantity; NaN for a NaN. */
double recommend_error(const struct recommend_tolerance *t, const struct measure *m,
                       const struct reference *r, enum format storage);
/* The same of a bound on the absolute error; not known where there is none. */
struct figure recommend_bound(const struct recommend_tolerance *t, const struct theorem *theorem,
                              const struct reference *r, enum format storage,
                              enum format accumulator);

/* The arrays that candidates are tried on. Those from RECOMMEND_RESAMPLE on are drawn. */
enum recommend_kind {
    RECOMMEND_DATA,      /* as it is */
    RECOMMEND_ASCENDING, /* its elements in other orders: by value, */
    RECOMMEND_DESCENDING,
    RECOMMEND_SMALL,    /* by magnitude, the smallest first, */
    RECOMMEND_LARGE,    /* or the largest */
    RECOMMEND_ONE_SIGN, /* the worst that its magnitudes allow: nothing cancels, */
    RECOMMEND_CLIMB,    /* the same, the largest first, so that small ones meet large sums; */
    RECOMMEND_RETURN,   /* out to half of sum|x| and back, with RECOMMEND_BACKWARD alone: beside
                           an exact sum near 0 no error is small */
    RECOMMEND_RESAMPLE, /* as many of its elements, drawn with replacement */
    RECOMMEND_SHUFFLE,  /* its elements in a random order */
    RECOMMEND_EXTENDED, /* followed by elements drawn from it */
    RECOMMEND_KINDS
};

/* Not the user's data in any order, nor drawn from it: made of its magnitudes to be hard. */
static inline bool recommend_adversarial(enum recommend_kind kind)
{
    return kind >= RECOMMEND_ONE_SIGN && kind <= RECOMMEND_RETURN;
}

struct recommend_product; /* of matrix products: the exact elements */

struct recommend_sample {
    struct source source; /* its name is that of the data, the kind and the draw behind it */
    struct array array;   /* its own, but for RECOMMEND_DATA */
    struct truth truth;
    struct gpu_input *gpu; /* NULL on the CPU */
    bool owned;
    struct recommend_product *product; /* NULL: it is a sum, whose truth stands above */
};
/* draw: which of the drawn ones. n: elements, those of `from` but for RECOMMEND_EXTENDED.
 * recommend_sample_free is due after success. */
enum status recommend_sample_make(struct recommend_sample *s, const struct source *from,
                                  enum recommend_kind kind, uint64_t draw, size_t n, uint64_t seed,
                                  struct device device, struct problem *p);
void recommend_sample_free(struct recommend_sample *s);

/* Two-level accumulation: serial partial sums of `chunk` elements in the format `partial`, each
 * promoted to the accumulator's format and added to the ones before. `method` is what is run, on
 * the CPU; no hardware is timed by it. */
struct recommend_promoted {
    enum format partial;
    size_t chunk;
    struct method method; /* "two-level/fp16:128" */
};
extern const struct recommend_promoted recommend_promoted[];
extern const size_t recommend_promoted_count;
/* Is it for this storage and accumulator? */
bool recommend_promotes(const struct recommend_promoted *c, enum format storage,
                        enum format accumulator);

enum { RECOMMEND_TEXT = 320 };

/* What trying the promise asked for came to. */
struct recommend_promised {
    bool tried; /* by check's engine; else nothing of it is known */
    enum check_state state;
    uint64_t attempts, differing;
    size_t shapes, lengths, inputs; /* that attempts were made over */
    char reason[CHECK_RUNG_REASON]; /* where it is not kept */
    char *show;                     /* the command that shows a break; or NULL */
};

/* Where a result lies, of several. */
struct recommend_place {
    unsigned sides; /* 0: there is one; 1: a row's; 2: a row's and a column's */
    size_t row, column;
};

struct recommend_candidate {
    const struct method *method;
    enum format accumulator;
    struct setting setting;                    /* of a sum its result's format alone */
    double cost;                               /* setting_cost */
    struct shape asked;                        /* launch shape */
    const struct recommend_promoted *promoted; /* or NULL: a method of the registry, or foreign */
    /* On the arrays that all candidates were tried on. */
    double error;               /* the largest, NaN where any is; */
    char worst[RECOMMEND_TEXT]; /* on this one */
    bool guaranteed; /* on the data, by `bound`; of no foreign subject, whose additions are unknown
                      */
    struct figure bound;        /* of the theorem, on the data */
    double data_error;          /* on the data itself */
    double most;                /* the largest on any array that it was tried on */
    size_t tried;               /* arrays, all in all */
    uint64_t drawn, drawn_held; /* of them drawn, each other than the others; that held */
    /* The first that broke it, of the user's own where one of these did; "" while none did. */
    struct recommend_break {
        char input[RECOMMEND_TEXT], id[CASE_ID_TEXT];
        enum recommend_kind kind;
        uint64_t draw;
        size_t output;                /* the one where its error is largest, */
        struct recommend_place place; /* and where it lies */
        double error, result, exact;
    } broke;
    bool broken; /* by an array */
    bool failed; /* it did not answer: the note says why, and its errors are none */
    struct recommend_promised promised;
    /* Its time beside that of a raw read; 0 where it is not known, the note says why. */
    double time_ns, raw_ns, rate; /* rate: 10^9 bytes/s */
    size_t timed_n;               /* elements that it was timed on; */
    bool timed_short;             /* on fewer elements than the fastest: rates cannot be compared */
    char note[256];
    bool pareto;
};

#define RECOMMEND_ANY_LENGTH (UINT64_C(1) << 48)

struct recommend_growth {
    bool measured;
    size_t lengths; /* tried, beside the data's own */
    /* breaks_at: the shortest length tried that broke; 0: none did. holds_to: the longest tried
     * before it, or of all: those tried up to it held. Between them nothing is known. */
    uint64_t holds_to, breaks_at;
    uint64_t fails_at; /* the shortest at which it gave no answer; 0: it gave one at each */
    char why[240];
    bool theorem_known;
    /* The theorem keeps the error within the limit up to here, within a part in 4096; 0: nowhere;
     * RECOMMEND_ANY_LENGTH: as far as was looked. */
    uint64_t theorem_to;
    /* The same were its rounding errors independent, with the confidence asked for; of sums by
     * plain additions alone. */
    bool likely_known;
    uint64_t likely_to;
    struct figure stagnates; /* where a running sum of elements of this mean stands still */
    struct figure overflows; /* where the sum leaves the accumulator's range */
};

struct recommend_report;
struct recommend_outcome;

/* What differs from operation to operation. */
struct recommend_use {
    const struct experiment *experiment;            /* of one operation */
    const char *sweep;                              /* the study that runs a case again */
    const char *unit[RECOMMEND_QUANTITIES], *exact; /* for people */
    /* Its methods on the CPU show what a GPU computes: none is timed, and those whose order follows
     * a launch shape are candidates too. */
    bool stands_in;
    bool grows;                       /* tried on longer arrays; and in two levels */
    enum recommend_quantity quantity; /* where none is asked for */
    enum status (*sample)(const struct recommend_report *r, struct recommend_sample *s,
                          enum recommend_kind kind, uint64_t draw, size_t n, struct device device,
                          struct problem *p);
    enum status (*run)(const struct recommend_report *r, const struct recommend_candidate *c,
                       struct recommend_sample *s, struct recommend_outcome *o, struct problem *p);
    /* What is known of the data themselves. STATUS_DATA where they are not finite. */
    enum status (*begin)(struct recommend_report *r, const struct recommend_sample *s,
                         struct problem *p);
    /* Sees to it that arrays for all candidates fit in so many seconds; or NULL. */
    enum status (*part)(struct recommend_report *r, double seconds, struct problem *p);
};
extern const struct recommend_use recommend_sums, recommend_products;
/* Of statistics of rows, by operation. */
enum { RECOMMEND_ROWS = 7 };
extern const struct recommend_use recommend_rows_of[RECOMMEND_ROWS];
/* By the name of the operation, NULL: sums. STATUS_USAGE where there is none. */
enum status recommend_use_named(const struct recommend_use **use, const char *name,
                                struct problem *p);

struct recommend_request {
    const struct recommend_use *use; /* NULL: sums */
    const struct plan *plan;         /* one source, one device */
    struct recommend_tolerance tolerance;
    enum promise promise; /* that candidates are to keep, of the ladder or beside it; PROMISES where
                             any will do */
    bool no_adversarial;  /* on the data, its orders and what is drawn from it alone */
    double confidence;
    double seconds;           /* to spend on arrays and on growth, about */
    struct results *results;  /* a row for each run */
    struct csv_file *summary; /* a row for each case */
    struct csv_file *times;   /* a row for each candidate timed */
    const char *out;          /* the results directory */
    const char *program;      /* in commands that show something again */
    const volatile sig_atomic_t *stop;
    /* Told now and then what is done, and how many seconds are left, about; or NULL. */
    void (*show)(void *context, const char *doing, double seconds);
    void *context;
};

struct recommend_report {
    struct recommend_request request;
    uint64_t begin_ns; /* of the seconds asked for; 0 before */
    const struct source *source;
    struct device device;
    struct setting setting; /* that all candidates share, as the shape of a product */
    /* Where a product has more elements than there is time for, those of evenly spaced rows and
     * columns are tried, and of statistics drawn rows: `source` is `part` then, and `setting` has
     * its shape. */
    struct source part;
    struct array part_array;
    struct given_scales *part_scales; /* the scales of its rows and columns; or NULL */
    struct gemm_shape whole;
    size_t step[2]; /* from one row, and from one column, to the next that is tried */
    size_t rows;    /* of statistics: how many the whole matrix has */
    size_t *row;    /* and which of them those of `part` are, ascending; NULL: it is all of them */
    char *operands; /* of data from several files: the file that holds all; else NULL */
    struct figure cond_log2;
    struct recommend_candidate *candidate; /* in the order of cost */
    size_t count;
    size_t common;          /* arrays that all were tried on */
    size_t chosen, cheaper; /* SIZE_MAX: none; cheaper: where none is chosen, the nearest to it */
    bool narrower;          /* `cheaper` is no faster here, but narrower */
    bool dearer;            /* it is neither; it breaks all the same */
    uint64_t draws_wanted;  /* drawn arrays for the confidence */
    double unseen;          /* with the confidence, the share of drawn arrays that break it is
                               no larger */
    size_t timed_n;         /* elements that the fastest were timed on */
    bool in_cache;          /* they fit in the device's last-level cache */
    size_t timed_short;     /* how many others were timed on fewer, which would have taken long */
    size_t slow;            /* methods left out: a run would take seconds */
    struct recommend_growth growth;
};

static inline const struct recommend_use *recommend_use_of(const struct recommend_report *r)
{
    return r->request.use ? r->request.use : &recommend_sums;
}
/* What an error of 1 is, for people. */
static inline const char *recommend_unit(const struct recommend_report *r)
{
    return recommend_use_of(r)->unit[r->request.tolerance.quantity];
}

/* Does all of it. STATUS_OK also where nothing holds. recommend_free is due, also after failure. */
enum status recommend(struct recommend_report *r, const struct recommend_request *request,
                      struct problem *p);
void recommend_free(struct recommend_report *r);

/* Is a promise asked for that can break? */
static inline bool recommend_promises(const struct recommend_report *r)
{
    return r->request.promise > PROMISE_NONE && r->request.promise != PROMISES;
}

/* Is the candidate known not to be enough: did an array break it, or was its promise tried and not
 * kept? */
static inline bool recommend_refused(const struct recommend_candidate *c)
{
    return c->broken || c->failed || (c->promised.tried && c->promised.state != CHECK_KEPT);
}

/* Does the error hold? NaN does not. */
static inline bool recommend_holds(const struct recommend_tolerance *t, double error)
{
    return error <= t->limit;
}

/* The answer, its evidence and the frontier, for people. */
void recommend_text(struct text *to, const struct recommend_report *r, const char *out,
                    const char *command);
/* The part of it that compares candidates. */
void recommend_frontier(struct text *to, const struct recommend_report *r, const char *out);
json_t *recommend_json(const struct recommend_report *r, const char *out, const char *command);
void recommend_rows(struct text *to, const struct recommend_report *r);
/* Files for the scales of A and B, which are written into the directory of out/breaks.npy. */
extern const char *const recommend_scales_name[2];
/* The command that runs the candidate once more on what broke it, out/breaks.npy. */
void recommend_show(struct text *to, const struct recommend_report *r,
                    const struct recommend_candidate *c, const char *out);
