/* The command line: one table of verbs, one of options, one parser. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference/format/format.h"
#include "reference/base/problem.h"

struct arguments;

struct verb {
    const char *name;
    const char *operands; /* as usage prints them: "EXPERIMENT" */
    size_t least, most;   /* how many operands */
    const char *summary;
    const char *details;  /* paragraphs for --help */
    const char *examples; /* for --help, one command a line; each works as printed */
    bool of_operation;    /* --operation says what is asked about, not python: functions alone */
    enum status (*run)(const struct arguments *a, struct problem *p);
};
extern const struct verb *const verbs[]; /* ends with NULL */
const char *verb_names(void);            /* "list, run, ..." */

struct option_spec {
    const char *name;     /* "method" for --method */
    char letter;          /* 'o' for -o, or 0 */
    const char *argument; /* "LIST", or NULL for a flag */
    const char *verbs;    /* the verbs that take it, separated by spaces */
    const char *help;
};
extern const struct option_spec option_specs[]; /* ends with a NULL name */

/* Does this verb take this option? */
bool option_of(const struct option_spec *spec, const struct verb *verb);

enum { OPTIONS_MAX = 256, OPERANDS_MAX = 4096 };

struct arguments {
    int argc;
    char **argv; /* as the program got it */
    const struct verb *verb;
    size_t operands, options;
    const char *operand[OPERANDS_MAX];
    struct {
        const struct option_spec *spec;
        const char *value;
    } option[OPTIONS_MAX];
};

/* Reads the command line. STATUS_USAGE with a line that says what is expected. */
enum status arguments_parse(struct arguments *a, int argc, char **argv, struct problem *p);

bool argument_flag(const struct arguments *a, const char *name);
const char *argument_value(const struct arguments *a, const char *name); /* the last, or NULL */

/* A list of strings: every occurrence of the option, each split at commas. A comma that belongs to
 * an item is written `\,`. Two kinds of value are never split: the name of an existing file (of
 * --data, --scales, --keys file:, a .so), and an `exec:` value of an option given more than once.
 * An `exec:` value of an option given once is split only where a method's name follows the comma.
 * Equal items are kept once. The caller frees the list with list_free. */
struct list {
    size_t count;
    char **item;
};
enum status argument_list(const struct arguments *a, const char *name, struct list *list,
                          struct problem *p);
/* How many items it would have, were equal ones kept as often as they are given. */
enum status argument_items(const struct arguments *a, const char *name, size_t *count,
                           struct problem *p);
/* Appends the items of a text, or `length` bytes of it as they stand. */
enum status list_split(struct list *list, const char *text, struct problem *p);
enum status list_append(struct list *list, const char *text, size_t length, struct problem *p);
/* Drops items that stood before. */
enum status list_distinct(struct list *list, struct problem *p);
void list_free(struct list *list);

/* A list of whole numbers: `1000`, `1e6`, `2^20`, `2^10..2^20` (doubling), and where `range` says
 * so `1..5` (every number), or `32m`, of bytes (doubling; k, m and g are powers of 1024). Each lies
 * within least .. most. */
enum range { RANGE_DOUBLING, RANGE_EVERY, RANGE_BYTES };
struct numbers {
    size_t count;
    uint64_t *item;
};
enum status argument_numbers(const struct arguments *a, const char *name, enum range range,
                             uint64_t least, uint64_t most, struct numbers *numbers,
                             struct problem *p);
/* The same from a text; `option` names it in messages. */
enum status numbers_parse(struct numbers *numbers, const char *option, const char *text,
                          enum range range, uint64_t least, uint64_t most, struct problem *p);
void numbers_free(struct numbers *numbers);
/* One such number above 0. */
enum status real_parse(double *value, const char *option, const char *text, struct problem *p);
/* One whole number, or `otherwise` where the option is not given. */
enum status argument_number(const struct arguments *a, const char *name, uint64_t otherwise,
                            uint64_t least, uint64_t most, uint64_t *value, struct problem *p);

/* A format by its name. */
enum status format_parse(enum format *f, const char *option, const char *text, struct problem *p);
