/* What the two sides of each pair mean for each other. */
#include "reports/results/compare.h"

#include <stdio.h>
#include <stdlib.h>

/* --- Which case of A stands against which of B --- */

/* The columns that make a case but for its device, the launch shape last. cond_log2 follows from
 * the others. */
static const enum case_column key[] = {
    CASE_METHOD, CASE_STORAGE, CASE_ACCUMULATOR, CASE_INPUT,     CASE_N,       CASE_SEED,
    CASE_SCAN,   CASE_OUTPUT,  CASE_SEGMENT,     CASE_PRODUCT,   CASE_KEYS,    CASE_BINS,
    CASE_CHIP,   CASE_PROMOTE, CASE_WORKSPACE,   CASE_ALGORITHM, CASE_THREADS, CASE_BLOCKS};
enum { KEY = sizeof key / sizeof *key, KEY_ANY_SHAPE = KEY - 2 };

static int by_columns(const struct gathered_case *a, const struct gathered_case *b, size_t columns)
{
    int order = 0;
    for (size_t i = 0; i < columns && order == 0; i++)
        order = strcmp(a->field[key[i]], b->field[key[i]]);
    return order;
}

/* In the order of the keys, then of the file. */
static int by_key(const void *x, const void *y)
{
    const struct gathered_case *a = *(struct gathered_case *const *)x,
                               *b = *(struct gathered_case *const *)y;
    int order = by_columns(a, b, KEY);
    return order ? order : (a > b) - (a < b);
}

static int by_key_any_shape(const void *x, const void *y)
{
    return by_columns(*(struct gathered_case *const *)x, *(struct gathered_case *const *)y,
                      KEY_ANY_SHAPE);
}

struct joining {
    struct compare *compare;
    struct gathered_case **partner; /* of each of A's cases */
    struct gathered_case **sorted[2];
};

static void join(struct joining *j, struct gathered_case *a, struct gathered_case *b)
{
    j->partner[a - j->compare->side[0].item] = b;
    a->joined = b->joined = true;
}

static void join_by_id(struct joining *j)
{
    struct gathered *a = &j->compare->side[0], *b = &j->compare->side[1];
    for (size_t i = 0; i < a->count; i++) {
        struct gathered_case *found = gathered_named(b, a->item[i].field[CASE_ID]);
        if (found)
            join(j, &a->item[i], found);
    }
}

/* Both lists are sorted: cases of one key are joined in the order of their files. */
static void join_by_key(struct joining *j)
{
    struct gathered_case **a = j->sorted[0], **b = j->sorted[1];
    struct gathered_case **a_end = a + j->compare->side[0].count,
                         **b_end = b + j->compare->side[1].count;
    while (a < a_end && b < b_end) {
        int order = by_columns(*a, *b, KEY);
        if ((*a)->joined)
            a++;
        else if ((*b)->joined)
            b++;
        else if (order == 0)
            join(j, *a++, *b++);
        else if (order < 0)
            a++;
        else
            b++;
    }
}

/* Do results depend on the launch shape, and on that alone? */
static bool bound_to_shape(const struct gathered_case *c)
{
    return c->promise == PROMISE_RUN_TO_RUN;
}

/* A case of the other side, joined or not, that has the same key but for its shape. */
static struct gathered_case *any_shape(struct joining *j, struct gathered_case *c, size_t other)
{
    struct gathered_case **found =
        bound_to_shape(c) ? NULL
                          : bsearch(&c, j->sorted[other], j->compare->side[other].count,
                                    sizeof *j->sorted[other], by_key_any_shape);
    return found && !bound_to_shape(*found) ? *found : NULL;
}

static void add_pair(struct compare *c, struct gathered_case *a, struct gathered_case *b)
{
    if (a && b)
        a->joined = b->joined = true;
    c->pair[c->pairs++] = (struct compare_pair){.of = {a, b}};
}

static void list_pairs(struct joining *j)
{
    struct compare *c = j->compare;
    for (size_t i = 0; i < c->side[0].count; i++) {
        struct gathered_case *a = &c->side[0].item[i];
        add_pair(c, a, j->partner[i] ? j->partner[i] : any_shape(j, a, 1));
    }
    for (size_t i = 0; i < c->side[1].count; i++) {
        struct gathered_case *b = &c->side[1].item[i];
        if (!b->joined)
            add_pair(c, any_shape(j, b, 0), b);
    }
}

static enum status compare_join(struct compare *c, struct problem *p)
{
    struct joining j = {.compare = c};
    bool good = true;
    for (size_t s = 0; s < 2; s++) {
        const struct gathered *side = &c->side[s];
        j.sorted[s] = calloc(side->count + 1, sizeof *j.sorted[s]);
        good &= j.sorted[s] != NULL;
        for (size_t i = 0; good && i < side->count; i++)
            j.sorted[s][i] = &side->item[i];
        if (good)
            qsort(j.sorted[s], side->count, sizeof *j.sorted[s], by_key);
    }
    j.partner = calloc(c->side[0].count + 1, sizeof *j.partner);
    c->pair = calloc(c->side[0].count + c->side[1].count + 1, sizeof *c->pair);
    good &= j.partner && c->pair;
    if (good) {
        join_by_id(&j);
        join_by_key(&j);
        list_pairs(&j);
    }
    free(j.sorted[0]);
    free(j.sorted[1]);
    free(j.partner);
    return good ? STATUS_OK : problem(p, STATUS_MEMORY, "compare: out of memory");
}

const char *const verdict_name[VERDICTS] = {
    [VERDICT_SAME] = "same",
    [VERDICT_WITHIN_BOUND] = "within_bound",
    [VERDICT_NO_BOUND] = "no_bound",
    [VERDICT_BROKEN_BOUND] = "broken_bound",
    [VERDICT_OTHER_INPUT] = "other_input",
    [VERDICT_MISSING_A] = "missing_a",
    [VERDICT_MISSING_B] = "missing_b",
    [VERDICT_NEITHER] = "neither",
};

/* The hash of a case's input that its study has, or NULL. Keys as source_key makes them. */
static const char *input_hash(const struct gathered *side, const struct gathered_case *c)
{
    char *name = NULL;
    const char *seed = c->field[CASE_SEED];
    if (asprintf(&name, "%s %s n=%s%s%s", c->field[CASE_INPUT], c->field[CASE_STORAGE],
                 c->field[CASE_N], *seed ? " seed=" : "", seed) < 0)
        return NULL;
    const char *hash =
        json_string_value(json_object_get(json_object_get(side->study, "inputs"), name));
    free(name);
    return hash;
}

static bool other_input(const struct compare *c, const struct compare_pair *pair)
{
    const char *a = input_hash(&c->side[0], pair->of[0]), *b = input_hash(&c->side[1], pair->of[1]);
    return a && b && strcmp(a, b) != 0;
}

/* Are these keys, or is this mask, drawn with a seed? */
static bool is_drawn(const char *keys)
{
    return strcmp(keys, "uniform") == 0 || strcmp(keys, "sorted") == 0 ||
           strncmp(keys, "zipf:", 5) == 0 || strncmp(keys, "keep:", 5) == 0;
}

/* The hash of a case's file of keys that its study has; "": of several. Older studies have none. */
static const char *keys_hash(const struct gathered *side, const struct gathered_case *c)
{
    const json_t *keys = json_object_get(side->study, "keys");
    const char *hash = json_string_value(json_object_get(keys, c->field[CASE_KEYS]));
    return hash ? hash : "";
}

/* Other keys of data: drawn with other seeds, or of another file, which no column tells. Of files
 * that have no hash, that is known on one device alone. */
static bool other_keys(const struct compare *c, const struct gathered_case *a,
                       const struct gathered_case *b)
{
    const char *hash[2] = {keys_hash(&c->side[0], a), keys_hash(&c->side[1], b)};
    if (*hash[0] && *hash[1])
        return strcmp(hash[0], hash[1]) != 0;
    if (a->key_seed && b->key_seed && is_drawn(a->field[CASE_KEYS]))
        return strcmp(a->key_seed, b->key_seed) != 0;
    return strncmp(a->field[CASE_KEYS], "file:", 5) == 0 && by_columns(a, b, KEY) == 0 &&
           strcmp(a->field[CASE_DEVICE], b->field[CASE_DEVICE]) == 0 &&
           strcmp(a->field[CASE_ID], b->field[CASE_ID]) != 0;
}

/* Both lists are sorted. */
static size_t shared(const struct gathered_case *a, const struct gathered_case *b)
{
    size_t count = 0;
    for (size_t i = 0, k = 0; i < a->distinct && k < b->distinct;) {
        int order = memcmp(&a->bits[i], &b->bits[k], sizeof *a->bits);
        count += order == 0;
        i += order <= 0;
        k += order >= 0;
    }
    return count;
}

static bool beyond(const struct gathered_case *c)
{
    return c->err_over_bound.known && !(c->err_over_bound.value <= 1);
}

static enum verdict verdict_of(const struct compare *c, const struct compare_pair *pair)
{
    const struct gathered_case *a = pair->of[0], *b = pair->of[1];
    bool there[2] = {a && a->runs, b && b->runs};
    if (!there[0] || !there[1])
        return there[1] ? VERDICT_MISSING_A : there[0] ? VERDICT_MISSING_B : VERDICT_NEITHER;
    if (other_input(c, pair) || other_keys(c, a, b))
        return VERDICT_OTHER_INPUT;
    if (beyond(a) || beyond(b))
        return VERDICT_BROKEN_BOUND;
    if (pair->shared == a->distinct && pair->shared == b->distinct)
        return VERDICT_SAME;
    return a->err_over_bound.known && b->err_over_bound.known ? VERDICT_WITHIN_BOUND
                                                              : VERDICT_NO_BOUND;
}

/* Runs of one case may differ by no rung but `none`; the two sides, by none from gpu_to_gpu on. */
static bool breaks_promise(const struct compare_pair *pair)
{
    bool within = false;
    for (size_t s = 0; s < 2; s++)
        within |=
            pair->of[s] && pair->of[s]->promise >= PROMISE_RUN_TO_RUN && pair->of[s]->distinct > 1;
    if (pair->verdict > VERDICT_BROKEN_BOUND)
        return within;
    bool differ = pair->shared < pair->of[0]->distinct || pair->shared < pair->of[1]->distinct;
    return within || (differ && pair->promise >= PROMISE_GPU_TO_GPU);
}

/* Steps of compare_read. */
static void compare_judge(struct compare *c)
{
    for (size_t i = 0; i < c->pairs; i++) {
        struct compare_pair *pair = &c->pair[i];
        const struct gathered_case *a = pair->of[0], *b = pair->of[1];
        pair->promise = !a || (b && b->promise < a->promise) ? b->promise : a->promise;
        pair->shared = a && b ? shared(a, b) : 0;
        pair->verdict = verdict_of(c, pair);
        pair->broken = breaks_promise(pair);
        c->count[pair->verdict]++;
        c->broken += pair->broken;
    }
}

enum status compare_read(struct compare *c, const char *const path[2], struct problem *p)
{
    *c = (struct compare){0};
    enum status status = gathered_read(&c->side[0], path[0], p);
    if (status == STATUS_OK)
        status = gathered_read(&c->side[1], path[1], p);
    if (status == STATUS_OK)
        status = compare_join(c, p);
    if (status == STATUS_OK)
        compare_judge(c);
    return status;
}

void compare_free(struct compare *c)
{
    gathered_free(&c->side[0]);
    gathered_free(&c->side[1]);
    free(c->pair);
    *c = (struct compare){0};
}

static const struct compare_pair *first_of(const struct compare *c, enum verdict verdict)
{
    size_t i = 0;
    while (i < c->pairs && c->pair[i].verdict != verdict)
        i++;
    return i < c->pairs ? &c->pair[i] : NULL;
}

/* Of a pair of other inputs. */
static void say_difference(char *to, size_t size, const struct compare *c,
                           const struct compare_pair *pair)
{
    const struct gathered_case *a = pair->of[0], *b = pair->of[1];
    if (other_input(c, pair))
        snprintf(to, size, "found hash %s and %s", input_hash(&c->side[0], a),
                 input_hash(&c->side[1], b));
    else if (is_drawn(a->field[CASE_KEYS]))
        snprintf(to, size, "found seed %s and %s, which draw %s", a->key_seed, b->key_seed,
                 a->field[CASE_KEYS]);
    else
        snprintf(to, size, "found other keys in %s", a->field[CASE_KEYS]);
}

enum status compare_status(const struct compare *c, struct problem *p)
{
    const char *a = c->side[0].path, *b = c->side[1].path;
    size_t compared = c->count[VERDICT_SAME] + c->count[VERDICT_WITHIN_BOUND] +
                      c->count[VERDICT_NO_BOUND] + c->count[VERDICT_BROKEN_BOUND];
    if (c->broken)
        return problem(p, STATUS_FAILED, "%s, %s: %zu %s", a, b, c->broken,
                       c->broken == 1 ? "case breaks what its method promises"
                                      : "cases break what their methods promise");
    if (c->count[VERDICT_BROKEN_BOUND])
        return problem(p, STATUS_FAILED, "%s, %s: results of %zu %s", a, b,
                       c->count[VERDICT_BROKEN_BOUND],
                       c->count[VERDICT_BROKEN_BOUND] == 1 ? "case break its bound"
                                                           : "cases break their bounds");
    if (c->count[VERDICT_OTHER_INPUT]) {
        const struct compare_pair *pair = first_of(c, VERDICT_OTHER_INPUT);
        const struct gathered_case *x = pair->of[0];
        const char *seed = x->field[CASE_SEED];
        char found[400];
        say_difference(found, sizeof found, c, pair);
        return problem(p, STATUS_DATA, "%s, %s: %zu %s %s %s n=%s%s%s: %s, expected the same", a, b,
                       c->count[VERDICT_OTHER_INPUT],
                       c->count[VERDICT_OTHER_INPUT] == 1 ? "case had another input,"
                                                          : "cases had other inputs, of which the "
                                                            "first is",
                       x->field[CASE_INPUT], x->field[CASE_STORAGE], x->field[CASE_N],
                       *seed ? " seed=" : "", seed, found);
    }
    if (!compared)
        return problem(p, STATUS_DATA,
                       "%s, %s: found no case that has results in both, expected at least one", a,
                       b);
    return STATUS_OK;
}
