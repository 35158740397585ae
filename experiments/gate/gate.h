/* A gate for continuous integration: subjects, what each is held to, and the verdicts. */
#pragma once

#include <jansson.h>

#include "experiments/cases/axes.h"
#include "experiments/check/check.h"
#include "experiments/studies/recommend/recommend.h"

/* The worst of what was found; the order decides. */
enum gate_verdict {
    GATE_KEPT,
    GATE_NOT_TRIED, /* the evidence is not complete, so that it is not passed */
    GATE_FAILED,    /* the subject did not answer */
    GATE_CHANGED,   /* bits, error or promise are not those of the baseline */
    GATE_INEXACT,   /* the error exceeds the tolerance */
    GATE_BROKEN,    /* the promise */
    GATE_VERDICTS
};
extern const char *const gate_verdict_name[GATE_VERDICTS];

/* One result, with what tells it from others. */
struct gate_case {
    char *key;          /* "fp32/fp32 uniform n=1000 seed=1" */
    char bits[40];      /* hexadecimal; of an array, a hash of all outputs */
    char input[33];     /* XXH3-128 of what was read */
    struct figure ulps; /* err_ulp; of an array the largest */
    double error;       /* in the tolerance's quantity */
    bool judged;        /* the exact result is a finite number: a tolerance can be held */
    bool exceeds;       /* a result breaks its error bound */
};

/* What came of an entry. */
struct gate_result {
    enum gate_verdict verdict;
    char *reason;       /* what is wrong: sentences; "" where it is kept */
    char *note;         /* what the verdict leaves open; "" */
    char *show;         /* the command that shows a break again, or NULL */
    enum status status; /* of what failed */
    double seconds;
    json_t *check;         /* as `check --json` has it; NULL: no promise was tried */
    char *evidence;        /* attempts at each rung: "run_to_run 2995; gpu_to_gpu 312" */
    struct pairs left_out; /* that a program does not answer */
    struct gate_case *cases;
    size_t case_count;
    size_t worst;  /* the case with the largest error; SIZE_MAX: none */
    uint64_t runs; /* whose errors and bits were measured, of all cases */
    /* Beside the baseline. */
    bool compared;
    size_t same, changed, added, gone;
    char *difference; /* what --update accepts, "" where nothing differs */
};

struct gate_entry {
    char *name;
    const struct method *method;
    struct method *nameless; /* what stands for one that could not be described; NULL: it was */
    struct device device;
    struct request words; /* the axes, as options have them */
    enum promise promise; /* of the ladder, or one beside it alone */
    unsigned beside;      /* flags: what is promised beside the ladder */
    bool tolerant;
    struct recommend_tolerance tolerance;
    double confidence, differing, seconds;
    uint64_t wanted; /* repetitions that say so with this confidence */
    struct gate_result result;
};

struct gate {
    const char *path;
    struct gate_entry *entry;
    size_t entries;
    json_t *baseline; /* as it was read; NULL: none is held to */
    char *gone;       /* entries of the baseline that the manifest has no more, or NULL */
};

/* Is it held to this? A promise beside the ladder includes run_to_run. */
bool gate_holds(const struct gate_entry *e, enum promise rung);

/* How many runs that agree say with this confidence that fewer than `differing` of all differ:
 * ln(1 - confidence) / ln(1 - differing), rounded up. */
uint64_t gate_runs(double confidence, double differing);

/* Reads a manifest, and looks at all that it names. STATUS_DATA where a file cannot be read,
 * STATUS_USAGE where what it says is wrong: the line has the file and the place in it. A subject
 * that cannot be loaded, or fails when it is first called, has failed; others are read. gate_free
 * is due, also after failure. */
enum status gate_read(struct gate *g, const char *path, struct problem *p);
/* Makes a failed entry of a subject that fails before it says what it is: all that is known of it
 * is its name, the last word of the entry's --method. */
enum status gate_stand_in(struct gate_entry *e, enum status status, const char *why,
                          struct problem *p);
void gate_free(struct gate *g);

struct gate_options {
    const char *program; /* in commands that show a break again */
    bool measure;        /* bits are wanted of all entries */
    const volatile sig_atomic_t *stop;
    void (*show)(void *context, const struct method *m, const char *attempt, double seconds);
    void *context;
};

/* Tries one. What the subject fails with is in its result; STATUS_INTERRUPTED, STATUS_MEMORY. */
enum status gate_try(struct gate_entry *e, const struct gate_options *o, struct problem *p);

/* Runs the cases of an entry, and measures each. */
enum status gate_measure(struct gate_entry *e, const struct gate_options *o, struct problem *p);

/* Appends a sentence, after "; " where there is one; the worse verdict stays. */
void gate_say(char **to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void gate_judge(struct gate_entry *e, enum gate_verdict v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The recorded bits, DIR/baseline.json. `create`: there may be none yet. */
enum status gate_baseline_read(struct gate *g, const char *dir, bool create, struct problem *p);
/* Can it be recorded, as far as is known before anything was run? A directory that it makes for
 * this is removed again. */
enum status gate_baseline_writable(const char *dir, struct problem *p);
/* Holds what was found to it. accept: differences are told, and are no fault. */
void gate_baseline_hold(struct gate *g, bool accept);
/* Records what was kept anew; of other entries what was there stays. */
enum status gate_baseline_write(const struct gate *g, const char *dir, struct problem *p);

/* STATUS_OK where all are kept; STATUS_FAILED where one is broken, inexact, changed or not tried,
 * whatever else failed; else the first failure's. It names the worst, as gate_text does. */
enum status gate_status(const struct gate *g, struct problem *p);
/* How many have this verdict. */
size_t gate_count(const struct gate *g, enum gate_verdict v);

/* --- What is said of it --- */

/* The verdicts, for people. difference: what --update accepts is told. */
void gate_text(struct text *to, struct gate *g, bool difference);
json_t *gate_json(const struct gate *g);
/* JUnit's XML; valid XML 1.0 for any characters in names. */
void gate_junit(struct text *to, const struct gate *g);
/* A table of GitHub's Markdown. */
void gate_markdown(struct text *to, const struct gate *g);

/* Writes a report: a regular file whole or not at all; a device, a pipe as it comes. */
enum status gate_write(const char *path, struct text *text, struct problem *p);
/* Can it be written, as far as is known before anything was run? */
enum status gate_writable(const char *path, struct problem *p);
/* What an entry was held to, and what that found: "gpu_to_gpu (run_to_run 300; ...), error 1e-7 of
 * 1e-3 (rel)". */
void gate_says(struct text *to, const struct gate_entry *e);
