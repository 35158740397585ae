/* From a witness to a bug report: a program of one file that needs the subject alone, not ulpscope.
 *
 * It runs the subject twice, or again and again, on the witness, embedded as hexadecimal floats.
 * Its exit status is 1, with both results printed in hexadecimal, where they differ or a result is
 * not among those that are possible; 0 where this is not seen; 2 where the subject cannot be run.
 */
#pragma once

#include "experiments/check/check.h"
#include "reference/possible/any_order.h"
#include "reports/text/text.h"

/* How one of both results is had. */
struct reproducer_run {
    const struct array *in; /* elements; of a dot product those of both arrays */
    const uint32_t *keys;   /* or NULL */
    struct shape shape;
    struct device device;
    size_t offset; /* elements off an aligned address */
    uint8_t byte;  /* all bytes around the input */
};

struct reproducer {
    const struct method *method;
    struct device device;
    enum format storage, accumulator, output;
    size_t n, outputs; /* `n` elements of each array */
    bool exclusive;    /* of scans */
    size_t bins, stride;
    struct reproducer_run run[2];
    size_t from, end;                /* the outputs that are looked at: [from, end) */
    uint64_t runs;                   /* times that the second run is tried */
    bool fresh;                      /* each run in a process of its own */
    bool after;                      /* every other one of these runs on other lengths before */
    const struct array *before;      /* or the second run comes behind runs on these, */
    size_t befores;                  /* so many, in one process; */
    bool own_first;                  /* each behind a run on its own elements; else but the first */
    bool load;                       /* while the processors have other work */
    const struct possible *possible; /* what one output may be: the second run is not compared */
    const char *title;               /* what is shown, in one line */
    const char *words[2];            /* what the results are of */
    const char *command;             /* that found it */
    const char *file;                /* that is written */
    const volatile sig_atomic_t *stop;
};

/* What came of a program. */
enum { REPRODUCER_SAID = 400 };
struct reproducer_said {
    bool found, seen;            /* is there a break to write one of; did it show it here */
    char words[REPRODUCER_SAID]; /* of that, in a line */
};

enum { REPRODUCER_ELEMENTS = 1 << 20 }; /* at most so many are embedded */

struct arguments; /* experiments/options/options.h */
/* Where --reproducer asks for one: STATUS_USAGE where it cannot be written of this subject, or of
 * so many subjects or devices. */
enum status reproducer_asked(const struct arguments *a, const struct method *m, size_t devices,
                             struct problem *p);
/* What became of it, in a line. */
void reproducer_say(struct text *to, const char *file, const struct reproducer_said *said);

/* Appends the program. STATUS_USAGE where the subject does not let itself be run so. */
enum status reproducer_write(struct text *to, const struct reproducer *r, struct problem *p);

enum status reproducer_save(const char *file, struct text *text, struct problem *p);
/* Saves it, runs it where that can be done here, for a bounded time, and adds a last line to it
 * that says what came of that. */
enum status reproducer_try(struct reproducer_said *said, struct text *text,
                           const struct reproducer *r, struct problem *p);

/* Writes that of the lowest rung's break into a file. */
enum status reproducer_of_check(const char *file, const struct check_report *report,
                                const char *program, struct reproducer_said *said,
                                struct problem *p);

/* --- for the files of this room --- */

enum status reproducer_c(struct text *to, const struct reproducer *r, struct problem *p);
enum status reproducer_cuda(struct text *to, const struct reproducer *r, struct problem *p);
enum status reproducer_python(struct text *to, const struct reproducer *r, struct problem *p);

/* The format's letter in Python's struct, or NULL: the program has pack(x, *STORED), pack(x,
 * *RESULTS) and unpack(raw, *RESULTS) of its own then, which reproducer_packing writes. */
const char *reproducer_letter(enum format f);
void reproducer_packing(struct text *to, const struct reproducer *r);

/* Can reproducer_cuda run this method of ours, which calls a library? */
bool reproducer_calls(const struct method *m);

/* The comment in front: title, what the results are of, versions. Each line behind `prefix`. */
void reproducer_head(struct text *to, const struct reproducer *r, const char *prefix);

/* What a comment holds, whatever it is, and a line break. */
void reproducer_comment(struct text *to, const char *prefix, const char *string);

/* Elements [0, n) of one array, in lines: in C as numbers of a type (of 16 and 8 bits, encodings),
 * in Python as words for float.fromhex. */
void reproducer_elements(struct text *to, const struct array *a, bool python);

/* What is embedded: one array, or two that differ (permuted). */
size_t reproducer_arrays(const struct reproducer *r);

/* What C and CUDA share: types, elements and keys; then, behind the subject's `run`, main. */
void reproducer_c_data(struct text *to, const struct reproducer *r);
void reproducer_c_main(struct text *to, const struct reproducer *r);
/* The end of the comment in front: how it is compiled. */
void reproducer_compile(struct text *to, const char *compiler, const char *file, const char *rest);
/* What a shared object exports, and `begin`, which loads it; both in C and C++. */
extern const char *const reproducer_interface, *const reproducer_begin;
/* `path` and `name`, of PATH.so:NAME. False where memory is short. */
bool reproducer_path(struct text *to, const char *subject);
/* Text as a string literal of C or Python. */
void reproducer_quoted(struct text *to, const char *string);
