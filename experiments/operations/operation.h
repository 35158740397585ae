/* Operations as the program handles them: what each can be asked for, and how that is said. Only
 * these files know which operation does what; all others call the functions below. An operation
 * that reads elements alone needs nothing here (operation.c). */
#pragma once

#include "experiments/data/data.h"
#include "experiments/operations/request.h"
#include "experiments/operations/setting.h"
#include "reference/exact/matrices.h"
#include "reports/columns/columns.h"

/* Options that some operations read. */
enum setting_option {
    SETTING_SCAN,
    SETTING_OUTPUT,
    SETTING_SEGMENT,
    SETTING_PRODUCT,
    SETTING_SHIFT,
    SETTING_KEYS,
    SETTING_BINS,
    SETTING_ROWS,
    SETTING_LAYOUT,
    SETTING_KEEP,
    SETTING_SHAPE,
    SETTING_RANKS,
    SETTING_CHIP,
    SETTING_PROMOTE,
    SETTING_WORKSPACE,
    SETTING_ALGORITHM,
    SETTING_SCALES,
    SETTING_OPTIONS
};
struct setting_option_facts {
    const char *name;
    const char *method; /* that reads it: "a scan" */
    const char *plural; /* "scans" */
};
extern const struct setting_option_facts setting_options[SETTING_OPTIONS];

const struct operation *operation_named(const char *name); /* or NULL */

/* Does it read this option? */
bool operation_asks(const struct operation *o, enum setting_option option);
/* Does it take the elements of a matrix as one array, whatever rows the file has? */
bool operation_flattens(const struct operation *o);
/* The first that reads it: what a program without a name of its own is taken for. */
const struct operation *operation_asking(enum setting_option option);
/* Does this method? Not every scan heeds segments. */
bool setting_read(const struct method *m, enum setting_option option);

/* The columns that results.csv and summary.csv have for it. */
enum columns_of operation_columns(const struct operation *o);

/* Columns from CASE_SCAN on, "" where one does not apply. It points into itself: not to be
 * copied. */
struct setting_columns {
    const char *column[CASE_ALL];
    char number[5][SHAPE_NAME];
};
void setting_columns(struct setting_columns *to, const struct operation *o,
                     const struct setting *s);

/* What is asked for, as options have it. How many there are. */
struct setting_word {
    enum setting_option option;
    const char *text, *asked; /* its name, and as an option asks for it; NULL: a number */
    size_t number;
    char made[SHAPE_NAME]; /* what `text` may point to: not to be copied */
};
size_t setting_words(struct setting_word word[SETTING_OPTIONS], const struct operation *o,
                     const struct setting *s);

/* In a sentence: "40 rows, layout row". Appends nothing where nothing is asked for. */
void setting_says(struct text *to, const struct operation *o, const struct setting *s);

/* ", workspace of 0 bytes, algorithm 3"; nothing where nothing is asked for. */
void heuristic_says(struct text *to, const struct heuristic *h);

/* In a narrow column: "40 rows, row". Left as it is where there is nothing to say. */
enum { SETTING_NOTE = SHAPE_NAME };
void setting_note(char note[SETTING_NOTE], const struct method *m, const struct setting *s);

/* Does the method form products as the setting asks, and has the chip an instruction for these
 * formats? All that form none do, and where it asks for nothing. */
bool setting_can(const struct method *m, const struct setting *s, enum format storage,
                 enum format accumulator);
/* The same once what is not known, and cannot be asked for, is the method's own way. */
bool setting_settle(const struct method *m, struct setting *s, enum format storage,
                    enum format accumulator);
/* Is there one that the axes ask for? */
bool setting_any(const struct method *m, const struct setting_axes *axes, enum format storage,
                 enum format accumulator);
/* Drops what the method does not read, which others of its operation do. */
void setting_drop(const struct method *m, struct setting *s);
/* Puts what needs no memory where a method reads it. */
void setting_put(struct operands *of, const struct setting *s);

/* For whom settings are made. */
struct setting_asked {
    const struct setting_axes *axes;
    const struct method *method;
    enum format storage, accumulator;
    size_t n;
    uint64_t key_seed; /* of generated keys and masks */
};
typedef enum status setting_visit(void *context, const struct setting *s, struct problem *p);

/* The least length from n on that every setting asked for can have; n where none is near. */
size_t setting_length(const struct operation *o, const struct setting_axes *axes, size_t n);

/* Visits every setting that the axes ask an operation for and that its methods share, whichever
 * asked->method is; and each that `from`, one of those, becomes for asked->method. */
enum status setting_each(const struct operation *o, const struct setting_asked *asked,
                         setting_visit *visit, void *context, struct problem *p);
enum status setting_each_own(const struct setting_asked *asked, const struct setting *from,
                             setting_visit *visit, void *context, struct problem *p);

/* Sets what the axes leave open, and what they ask for, to the u-th of those that tell most of a
 * method; of n elements. */
void setting_vary(struct setting *s, const struct operation *o, const struct setting_axes *axes,
                  size_t n, size_t u);

/* Does it sum up rows, each by itself? Then a row's sum must not depend on its neighbours. */
bool operation_batches(const struct operation *o);
/* Has the wire (experiments/subjects/wire.h) words for it? */
bool operation_served(const struct operation *o);
/* Are results recorded that other devices are held to? */
bool operation_recorded(const struct operation *o);

/* What a method reads in this setting. */
struct setting_operands {
    struct operands of;
    uint8_t *flags; /* that `of` points to and that are its own, as keys and C; or NULL */
    uint32_t *keys;
    void *c;
    bool copied; /* `of.in` is changed, and its own too */
    /* Before it is made: the numbers that `of.in` was converted from, where they are there; the
     * caller's. */
    struct array wide;
};
/* Makes them of n elements of to->of.in, which are there and stay the caller's; the seed is a
 * mask's. STATUS_MEMORY when memory is short; STATUS_USAGE or STATUS_DATA where they do not fit. On
 * failure nothing is made. */
enum status setting_make(struct setting_operands *to, const struct operation *o,
                         const struct setting *s, uint64_t seed, struct problem *p);
void setting_free(struct setting_operands *of);

/* Bytes of what is read beside n elements. */
double setting_bytes(const struct operation *o, const struct setting *s, size_t n);

/* What is asked for where n elements stand for more: as many rows as there are elements in one. */
struct setting setting_sample(const struct operation *o, const struct setting *s, size_t n);

/* What its results are called: "sums", or "reductions" where no word is better. */
const char *operation_plural(const struct operation *o);

/* Where each output is of elements of its own, as bins, rows and moved elements are: *place says
 * which output each element goes to; what goes to none, to the one behind the last. Else *place is
 * NULL. The caller frees it. */
enum status setting_places(uint32_t **place, const struct operation *o,
                           const struct setting_operands *of, struct problem *p);

/* Where outputs are elements of a matrix product: what is multiplied; else false. */
bool setting_matrices(struct matrices *to, const struct operation *o, const struct operands *of);

/* Are several files one array of operands? */
bool operation_joins(const struct operation *o);
/* Makes it, as the operation reads it, and notes its shape in the axes where that is not asked for;
 * axes NULL: one file behind the other, whatever their shapes are. STATUS_DATA where shapes do not
 * fit, STATUS_USAGE where there are more files or fewer. */
enum status setting_join(struct data *to, const struct operation *o, const struct data *part,
                         size_t parts, struct setting_axes *axes, struct problem *p);

/* Of two cases of one operation that are not timed, the one with the smaller cost is taken to be
 * cheaper; 0 where nothing is known. */
double setting_cost(const struct method *m, const struct setting *s, enum format storage,
                    enum format accumulator);
/* That order in a sentence; NULL: there is none. */
const char *operation_costs(const struct operation *o);

/* Where each output is a sum of terms that can change places, but not elements of its own: how many
 * terms; else 0. `reorder`: writes the elements `from` to `to`, term order[k] in place of term k.
 */
size_t setting_terms(const struct operation *o, const struct operands *of);
void setting_reorder(const struct operation *o, const struct array *to, const struct array *from,
                     const struct operands *of, const uint32_t *order);

/* An output of a case among others, each computed from its own row, or its own row and column: how
 * many rows and columns there are, which ones are its own, how many terms they have, and how they
 * lie. */
enum { BATCH_SIDES = 2, BATCH_AS_IS = -1 };
struct batch_place {
    size_t side[BATCH_SIDES], at[BATCH_SIDES], terms;
    int layout; /* BATCH_AS_IS: the case's; from 0 on those that there are, without `pad` elements
                   between their rows, or with them where the operation knows of such */
    size_t pad;
    bool alike;             /* all rows, and all columns, are as its own */
    size_t of[BATCH_SIDES]; /* which output of the case it is: its row, and its column */
    /* Where it is not 0: row r is the case's row of[0] + r % turns, and columns are the case's. */
    size_t turns;
};
/* How many sides: 1, rows alone; 2; 0: its outputs are no such batch. */
unsigned operation_sides(const struct operation *o);
/* What a case of n elements is. */
struct batch_place setting_batch(const struct operation *o, const struct setting *s, size_t n);

/* The first output of a case as output number `output` of n other elements, in another setting. */
struct surrounding {
    struct setting setting;
    size_t n, output;
    uint8_t byte; /* of all other elements every byte */
    bool alike;   /* as each of its outputs: which is the one to name, outputs say */
    char are[96]; /* in words; of outputs that are alike: none */
};
/* The u-th of them; false behind the last, and where rows are what batches consist of. */
bool setting_surround(struct surrounding *to, const struct operation *o, const struct setting *s,
                      size_t u);
/* The same in a message of n elements on as many ranks, the u-th place in it; false behind the
 * last, and where ranks have no messages or do not divide n. */
bool setting_within(struct surrounding *to, const struct operation *o, const struct setting *s,
                    size_t n, size_t u);
/* Are there such messages? */
bool operation_messages(const struct operation *o);
/* An output of a case at such a place; false where there is no such layout. */
bool setting_in_batch(struct surrounding *to, const struct operation *o, const struct setting *s,
                      const struct batch_place *at);
/* Copies the first at->terms terms that it reads to its own row and column, or to all of them. */
void setting_fill_batch(const struct operation *o, const struct array *to,
                        const struct surrounding *is, const struct batch_place *at,
                        const struct array *from, const struct setting *s);
/* Copies some of its elements to other places of the same array; they do not overlap. */
static inline void setting_copy(const struct array *a, size_t to, size_t from, size_t count)
{
    const size_t bytes = (size_t)format_facts[a->format].bytes;
    memcpy((char *)a->data + to * bytes, (const char *)a->data + from * bytes, count * bytes);
}
/* Which output belongs to an item of the batch; items count row by row. A row with several outputs
 * stands for itself by its first. */
size_t setting_item_output(const struct operation *o, const struct surrounding *is,
                           const struct batch_place *at, size_t item);
/* Copies what the first output reads. */
void setting_embed(const struct operation *o, const struct array *to, const struct surrounding *at,
                   const struct array *from, const struct setting *s);

/* The same sums over ranks, with their terms dealt to others, and maybe more of them: a rank
 * without terms has -0, which changes no sum. The u-th such dealing; false behind the last, and
 * where there are no ranks. */
bool setting_deal(struct setting *to, const struct operation *o, const struct setting *s, size_t u);
/* Writes the elements that it has of those of a case. */
void setting_dealt(const struct operation *o, const struct array *to, const struct setting *dealt,
                   const struct array *from, const struct setting *s, size_t u);

/* The rank that alone ends with an output; OWNED_BY_NONE: all end with it, or there are no ranks.
 */
#define OWNED_BY_NONE SIZE_MAX
size_t setting_owner(const struct operation *o, const struct setting *s, size_t output);

/* The method in whose fixed order outputs are compared with. */
const char *setting_twin(const struct operation *o, const struct setting *s);

/* How one operation does these. NULL: there is nothing to do. */
struct operation_use {
    const struct operation *operation;
    enum columns_of columns_of;
    unsigned reads; /* flags: 1 << SETTING_... */
    void (*columns)(struct setting_columns *to, const struct setting *s);
    size_t (*words)(struct setting_word *word, const struct setting *s);
    void (*says)(struct text *to, const struct setting *s);
    void (*note)(char note[SETTING_NOTE], const struct method *m, const struct setting *s);
    size_t (*length)(const struct setting_axes *axes, size_t n); /* NULL: it can have any */
    enum status (*each)(const struct setting_asked *asked, struct setting s, setting_visit *visit,
                        void *context, struct problem *p);
    enum status (*each_own)(const struct setting_asked *asked, struct setting s,
                            setting_visit *visit, void *context, struct problem *p);
    void (*vary)(struct setting *s, const struct setting_axes *axes, size_t n, size_t u);
    bool batches, not_served, not_recorded;
    enum status (*make)(struct setting_operands *to, const struct setting *s, uint64_t seed,
                        struct problem *p);
    double (*bytes)(const struct setting *s, size_t n);
    void (*sample)(struct setting *s, size_t n);
    void (*places)(uint32_t *place, const struct operands *of);
    const char *(*twin)(const struct setting *s);
    struct matrices (*matrices)(const struct operands *of);
    enum status (*join)(struct data *to, const struct data *part, size_t parts,
                        struct setting_axes *axes, struct problem *p);
    double (*cost)(const struct method *m, const struct setting *s, enum format storage,
                   enum format accumulator);
    const char *costs;
    size_t (*terms)(const struct operands *of);
    void (*reorder)(const struct array *to, const struct array *from, const struct operands *of,
                    const uint32_t *order);
    unsigned sides;
    struct batch_place (*batch)(const struct setting *s, size_t n);
    bool (*in_batch)(struct surrounding *to, const struct setting *s, const struct batch_place *at);
    void (*fill_batch)(const struct array *to, const struct surrounding *is,
                       const struct batch_place *at, const struct array *from,
                       const struct setting *s);
    /* NULL: an item has one output, of its number. */
    size_t (*item_output)(const struct surrounding *is, const struct batch_place *at, size_t item);
    bool (*surround)(struct surrounding *to, const struct setting *s, size_t u);
    bool (*within)(struct surrounding *to, const struct setting *s, size_t n, size_t u);
    void (*embed)(const struct array *to, const struct surrounding *at, const struct array *from,
                  const struct setting *s);
    bool (*deal)(struct setting *to, const struct setting *s, size_t u);
    void (*dealt)(const struct array *to, const struct setting *dealt, const struct array *from,
                  const struct setting *s, size_t u);
    size_t (*owner)(const struct setting *s, size_t output);
    const char *request; /* request_rest, as many words as `told` reads */
    void (*tell)(char to[REQUEST_TEXT], const struct wire_request *r);
    bool (*told)(struct wire_request *r, char *const word[]);
};
extern const struct operation_use use_scan, use_dot, use_scatter, use_rows, use_rowmean,
    use_rowvariance, use_sumexp, use_logsumexp, use_softmax, use_rmsnorm, use_layernorm,
    use_transpose, use_compact, use_gemm, use_allreduce, use_reduce_scatter;
