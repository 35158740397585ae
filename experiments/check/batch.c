/* Batch invariance: a row's sum, or an element of a matrix product, must depend neither on how many
 * others there are, nor on where it lies, nor on the others' data, nor on the layout. Each attempt
 * computes an output of a case again, from its first terms, in a batch that differs in one of
 * these; attempts that are compared with each other follow the same output. For an element of a
 * message that ranks sum up a fixed list of surroundings is tried. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/batches.h"
#include "experiments/system/clock.h"
#include "experiments/system/memory.h"

/* --- an output of another batch --- */

enum { SHORT = 64 }; /* terms, or elements */
enum { LIKE = -1 };  /* others equal it; otherwise the byte that says what they are */

struct batch {
    struct batch_place place;
    int others;
};

void check_say_place(char text[CHECK_WORDS], const struct check *c, const struct batch_place *place,
                     const struct setting *s)
{
    const struct operation *o = c->request->method->operation;
    struct text all = {0};
    const size_t *of = place->of, *at = place->at;
    bool two = operation_sides(o) > 1;
    if (of[0] + of[1] > 0) {
        text_format(&all, "row %zu", of[0]);
        text_format(&all, two ? ", column %zu, as " : " as ", of[1]);
    }
    text_format(&all, "row %zu", at[0]);
    if (two)
        text_format(&all, ", column %zu", at[1]);
    text_add(&all, " of ");
    setting_says(&all, o, s);
    const char *words = text_string(&all);
    snprintf(text, CHECK_WORDS, "%s", words ? words : "");
    text_free(&all);
}

static void say(char text[CHECK_WORDS], const struct check *c, const struct batch *b,
                const struct setting *s)
{
    check_say_place(text, c, &b->place, s);
    size_t used = strlen(text);
    snprintf(text + used, CHECK_WORDS - used, "%s",
             b->others == LIKE ? "" : check_others_are(b->others));
}

/* If all items are alike, the first that differs from earlier attempts; otherwise its own. */
static size_t item_of(const struct check *c, const struct check_outcome *o, const struct array *out,
                      const struct surrounding *is, const struct batch *b)
{
    const struct operation *operation = c->request->method->operation;
    size_t items = b->place.side[0] * b->place.side[1];
    for (size_t i = 0; b->others == LIKE && o->first.data && i < items; i++) {
        size_t output = setting_item_output(operation, is, &b->place, i);
        if (format_canonical(out->format, array_bits(out, output)) !=
            format_canonical(out->format, array_bits(&o->first, 0)))
            return i;
    }
    return b->place.at[0] * b->place.side[1] + b->place.at[1];
}

enum status check_run_batch(const struct check *c, struct check *other,
                            const struct surrounding *is, const struct batch_place *at, int byte,
                            struct array *out, struct problem *p)
{
    const struct operation *operation = c->request->method->operation;
    struct check_setting plain = check_plain(c, &c->at);
    check_others_fill(&other->in, is->n, byte);
    setting_fill_batch(operation, &other->in, is, at, &c->in, &c->at.setting);
    other->made = (struct setting_operands){.of.in = other->in};
    enum status status = setting_make(&other->made, operation, &is->setting, c->at.seed, p);
    if (status == STATUS_OK)
        status = check_once(other, &plain, out, p);
    setting_free(&other->made);
    return status;
}

/* Does so large a batch fit in a share of the time left, by what the largest before took? Batches
 * grow a thousandfold, and a slow method would spend all of it on one. */
static bool has_time(const struct check *c, const struct check_outcome *o, size_t n)
{
    uint64_t now = clock_ns(), left = c->end > now ? c->end - now : 0;
    if (o->attempts == 0 && (n <= o->timed || n <= c->at.n))
        return true;                 /* what the first is compared with */
    return c->until == UINT64_MAX || /* a witness is being minimised, which has its own limit */
           o->element_ns * (double)n <= (double)left / 8 + 1e7;
}

/* The greatest common divisor. */
static size_t common(size_t a, size_t b)
{
    return b ? common(b, a % b) : a;
}

/* Chooses the output that the next attempts follow: another one each time, far from the one before,
 * until all had their turn. */
static void follow(const struct check *c, size_t time, struct batch_place *place)
{
    struct batch_place is = setting_batch(c->request->method->operation, &c->at.setting, c->at.n);
    size_t items = is.side[0] * is.side[1], step = items - items / 3;
    while (step > 1 && common(items, step) > 1)
        step--;
    size_t item = items ? (c->at.round * CHECK_FOLLOWS + time) % items * step % items : 0;
    place->of[0] = item / (is.side[1] ? is.side[1] : 1);
    place->of[1] = item % (is.side[1] ? is.side[1] : 1);
}

/* Takes the output in this batch; none where it cannot lie so, or would take too long. */
static enum status take(const struct check *c, struct check_outcome *o, struct batch b,
                        struct problem *p)
{
    const struct operation *operation = c->request->method->operation;
    struct surrounding is;
    struct check other = *c;
    struct array out, one;
    char text[CHECK_WORDS];
    b.place.alike = b.others == LIKE;
    if (!setting_in_batch(&is, operation, &c->at.setting, &b.place))
        return STATUS_OK;
    if (!has_time(c, o, is.n))
        return STATUS_OK;
    enum status status = memory_array(&other.in, c->in.format, is.n, "a batch", p);
    if (status != STATUS_OK)
        return status;
    other.at.n = is.n;
    other.at.setting = is.setting;
    uint64_t begin = clock_ns();
    status = check_run_batch(c, &other, &is, &b.place, b.others == LIKE ? 0 : b.others, &out, p);
    /* The fixed cost of a run says nothing about longer ones. */
    double took = (double)(clock_ns() - begin) / (double)(is.n > SHORT ? is.n : SHORT);
    o->element_ns = is.n > o->timed ? took : o->element_ns;
    o->timed = is.n > o->timed ? is.n : o->timed;
    free(other.in.data);
    if (status != STATUS_OK)
        return status;
    size_t item = item_of(c, o, &out, &is, &b);
    status = memory_array(&one, out.format, 1, "an output", p);
    if (status == STATUS_OK)
        array_set_bits(&one, 0,
                       array_bits(&out, setting_item_output(operation, &is, &b.place, item)));
    free(out.data);
    b.place.at[0] = item / b.place.side[1];
    b.place.at[1] = item % b.place.side[1];
    say(text, c, &b, &is.setting);
    o->now = (struct check_variant){.place = b.place};
    check_note_followed(c, b.place.of);
    return status == STATUS_OK ? check_take(c, o, &one, 0, p, "%s", text) : status;
}

/* --- how many others --- */

enum { MOST = 4096, MIDDLE = 512, OTHER_COUNTS = 96 };
static const size_t ROOM = (size_t)1 << 20; /* products, or elements, of a batch at least */

/* What tells most first: powers of two and their neighbours, then what is left to 64. */
static const uint16_t counts[] = {
    2,    16,  64,   128, 3,   8,    33,   4,   32,   256, 1024, 4096, 17,   65,  129,  5,
    9,    512, 2048, 257, 7,   15,   31,   63,  127,  255, 513,  1025, 2049, 511, 1023, 2047,
    4095, 96,  192,  384, 768, 1536, 3072, 100, 1000, 6,   10,   11,   12,   13,  14,   18,
    19,   20,  21,   22,  23,  24,   25,   26,  27,   28,  29,   30,   34,   35,  36,   37,
    38,   39,  40,   41,  42,  43,   44,   45,  46,   47,  48,   49,   50,   51,  52,   53,
    54,   55,  56,   57,  58,  59,   60,   61,  62,   66,  72,   80,   112,  132, 144,  160};
enum { COUNTS = sizeof counts / sizeof *counts };

/* Beyond the list: other numbers in each case, so that in time all of them are tried. */
static size_t count_at(const struct check *c, size_t u)
{
    return u < COUNTS ? counts[u] : 1 + (c->at.seed * 5077 + (u - COUNTS) * 1327) % MOST;
}

static bool has_room(const struct check *c, const struct batch_place *at)
{
    size_t most = ROOM + 4 * c->at.n, rows = at->side[0], columns = at->side[1];
    return rows * columns <= most && (at->terms == 0 || rows * columns <= most / at->terms);
}

/* `like` says which output is followed, and how many of its terms. */
static enum status take_count(const struct check *c, struct check_outcome *o, size_t rows,
                              size_t columns, const struct batch_place *like, struct problem *p)
{
    struct batch b = {*like, LIKE};
    b.place.side[0] = rows;
    b.place.side[1] = columns;
    return has_room(c, &b.place) && !check_enough(c, o) ? take(c, o, b, p) : STATUS_OK;
}

/* With two sides, each changes alone, then both. */
static enum status take_counts(const struct check *c, struct check_outcome *o, size_t count,
                               const struct batch_place *like, struct problem *p)
{
    bool two = operation_sides(c->request->method->operation) > 1;
    enum status status = take_count(c, o, count, 1, like, p);
    if (two && status == STATUS_OK)
        status = take_count(c, o, 1, count, like, p);
    if (two && status == STATUS_OK)
        status = take_count(c, o, count, 16, like, p);
    if (two && status == STATUS_OK && count <= SHORT)
        status = take_count(c, o, count, count, like, p);
    return status;
}

static enum status sweep(const struct check *c, struct check_outcome *o, size_t time, size_t terms,
                         size_t from, size_t to, struct problem *p)
{
    struct check_outcome own = {0};
    struct batch_place is = setting_batch(c->request->method->operation, &c->at.setting, c->at.n);
    struct batch_place like = {.terms = terms, .layout = BATCH_AS_IS, .alike = true};
    follow(c, time, &like);
    enum status status = take_count(c, &own, 1, 1, &like, p);
    if (status == STATUS_OK)
        status = take_count(c, &own, is.side[0], is.side[1], &like, p);
    for (size_t u = from; u < to && status == STATUS_OK && !check_enough(c, &own); u++)
        status = take_counts(c, &own, count_at(c, u), &like, p);
    if (status == STATUS_OK)
        check_join(o, &own);
    check_outcome_free(&own);
    return status;
}

/* --- outputs in turn --- */

/* The next few outputs, each in the batches that show most. */
static enum status take_few(struct check *c, struct check_outcome *o, size_t terms,
                            struct problem *p)
{
    enum { TELLING = 10 };
    enum status status = STATUS_OK;
    for (size_t time = 0; time < CHECK_FOLLOWS && status == STATUS_OK; time++)
        status = sweep(c, o, time, terms, 0, TELLING, p);
    return status;
}

/* A row of many terms fits beside few others, so its first terms are also tried beside many. */
enum status check_batch(struct check *c, struct check_outcome *o, struct problem *p)
{
    const struct operation *operation = c->request->method->operation;
    if (operation_sides(operation) == 0)
        return check_surrounded(c, o, p);
    size_t terms = setting_batch(operation, &c->at.setting, c->at.n).terms;
    enum status status = STATUS_OK;
    if (check_outputs(c) == 0)
        return STATUS_OK;
    if (c->request->batches)
        return check_batches_try(c, o, p);
    if (c->at.few)
        return take_few(c, o, terms, p);
    if (terms > SHORT)
        status = sweep(c, o, 1, SHORT, 0, COUNTS, p);
    if (terms > MIDDLE && status == STATUS_OK)
        status = sweep(c, o, 2, MIDDLE, 0, COUNTS, p);
    if (status == STATUS_OK)
        status = sweep(c, o, 0, terms, 0, COUNTS, p);
    return status == STATUS_OK
               ? sweep(c, o, 3, terms < SHORT ? terms : SHORT, COUNTS, COUNTS + OTHER_COUNTS, p)
               : status;
}

/* --- where, beside what, and how all lie --- */

/* Sets at->terms to how many of the case's terms fit in a batch of so many rows and columns. */
static bool fitting(const struct check *c, struct batch_place *at)
{
    struct batch_place is = setting_batch(c->request->method->operation, &c->at.setting, c->at.n);
    at->terms = is.terms;
    while (at->terms > SHORT && !has_room(c, at))
        at->terms /= 2;
    if (operation_sides(c->request->method->operation) < 2)
        at->side[1] = 1;
    return check_outputs(c) > 0;
}

static enum status joined(struct check_outcome *o, struct check_outcome *own, enum status status)
{
    if (status == STATUS_OK)
        check_join(o, own);
    check_outcome_free(own);
    return status;
}

/* The first place, its neighbours, the middle and the end. */
static enum status take_places(const struct check *c, struct check_outcome *o, size_t time,
                               const size_t side[BATCH_SIDES], struct problem *p)
{
    struct batch b = {{.side = {side[0], side[1]}, .layout = BATCH_AS_IS}, 0x3c};
    enum status status = STATUS_OK;
    if (!fitting(c, &b.place))
        return STATUS_OK;
    follow(c, time, &b.place);
    for (unsigned side = 0; side < operation_sides(c->request->method->operation); side++) {
        size_t most = b.place.side[side];
        const size_t at[] = {0, 1, 2, 3, 5, most / 2, most - 2, most - 1};
        for (size_t i = 0; i < sizeof at / sizeof *at && status == STATUS_OK && !check_enough(c, o);
             i++) {
            b.place.at[side] = at[i];
            if (at[i] < most)
                status = take(c, o, b, p);
        }
        b.place.at[side] = most / 3;
    }
    return status;
}

enum status check_place(struct check *c, struct check_outcome *o, struct problem *p)
{
    static const size_t sides[][BATCH_SIDES] = {{8, 8}, {33, 5}, {2, 3}, {200, 1}, {1000, 2}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof sides / sizeof *sides && status == STATUS_OK; i++) {
        struct check_outcome own = {0};
        status = joined(o, &own, take_places(c, &own, i, sides[i], p));
    }
    return status;
}

enum status check_others(struct check *c, struct check_outcome *o, struct problem *p)
{
    static const int bytes[] = {LIKE, 0xff, 0x00, 0x3c, 0x7b, 0xfb, CHECK_PLUS, CHECK_MINUS};
    static const size_t sides[][BATCH_SIDES] = {{8, 8}, {33, 5}, {2, 2}, {200, 3}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof sides / sizeof *sides && status == STATUS_OK; i++) {
        struct check_outcome own = {0};
        struct batch b = {{.side = {sides[i][0], sides[i][1]}, .at = {1, 0}, .layout = BATCH_AS_IS},
                          LIKE};
        bool fits = fitting(c, &b.place);
        follow(c, i, &b.place);
        b.place.at[1] = b.place.side[1] / 2;
        for (size_t k = 0; fits && k < sizeof bytes / sizeof *bytes && status == STATUS_OK &&
                           !check_enough(c, &own);
             k++) {
            b.others = bytes[k];
            if (b.others == LIKE || check_others_can(c->in.format, b.others))
                status = take(c, &own, b, p);
        }
        status = joined(o, &own, status);
    }
    return status;
}

enum status check_layout(struct check *c, struct check_outcome *o, struct problem *p)
{
    enum { LAYOUTS = 5 };
    static const size_t pads[] = {0, 1, 2, 3, 8, 64};
    static const size_t sides[][BATCH_SIDES] = {{8, 8}, {64, 16}, {1, 16}, {200, 1}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof sides / sizeof *sides && status == STATUS_OK; i++) {
        struct check_outcome own = {0};
        struct batch b = {{.side = {sides[i][0], sides[i][1]}, .at = {sides[i][0] / 2, 0}}, 0x3c};
        bool fits = fitting(c, &b.place);
        follow(c, i, &b.place);
        for (size_t k = 0; fits && k < LAYOUTS * sizeof pads / sizeof *pads &&
                           status == STATUS_OK && !check_enough(c, &own);
             k++) {
            b.place.layout = (int)(k % LAYOUTS);
            b.place.pad = pads[k / LAYOUTS];
            status = take(c, &own, b, p);
        }
        status = joined(o, &own, status);
    }
    return status;
}

/* --- minimising a witness --- */

/* Compares the batch of the case, all rows as its first, with that one alone. */
static enum status as_it_is(struct check *c, struct check_outcome *o, struct problem *p)
{
    size_t terms = setting_batch(c->request->method->operation, &c->at.setting, c->at.n).terms;
    return sweep(c, o, 0, terms, 0, 0, p);
}

struct shrinking {
    struct check *check;
    struct check_case found;
    check_try try_it;
    bool timing;
    uint64_t end;
    struct check_break *best;
    size_t most; /* terms that are tried where few show nothing */
};

/* Does a batch of this size show the break? If so it becomes the best witness so far. */
static enum status shows(struct shrinking *s, size_t rows, size_t columns, size_t terms, bool *are,
                         struct problem *p)
{
    struct check *c = s->check;
    struct check_case k = s->found;
    struct surrounding is;
    struct check_break smaller = {0};
    struct problem why = {0};
    const struct batch_place at = {.side = {rows, columns}, .terms = terms, .layout = BATCH_AS_IS};
    *are = false;
    if (!setting_in_batch(&is, c->request->method->operation, &k.setting, &at) ||
        (k.data && is.n > k.data->array.n))
        return STATUS_OK;
    k.setting = is.setting;
    k.n = is.n;
    k.round = 0; /* as the command begins that shows it again */
    enum status status = check_load_case(c, &k, &why);
    if (status == STATUS_USAGE)
        return STATUS_OK;
    if (status == STATUS_OK)
        status = check_again(c, s->timing, s->try_it, are, &smaller, &why);
    if (status == STATUS_OK && *are)
        *s->best = smaller;
    return status == STATUS_OK ? status : problem(p, status, "%s", why.text);
}

/* The same, with what few terms may not show shown by more of them, or of another seed. */
static enum status shows_somehow(struct shrinking *s, struct batch_place *at, bool *are,
                                 struct problem *p)
{
    enum { SEEDS = 4 };
    const uint64_t seed = s->found.seed;
    enum status status = shows(s, at->side[0], at->side[1], at->terms, are, p);
    for (uint64_t i = 0; status == STATUS_OK && !*are && i < (s->found.data ? 1 : SEEDS); i++) {
        s->found.seed = seed + i;
        status = shows(s, at->side[0], at->side[1], s->most, are, p);
        at->terms = *are ? s->most : at->terms;
    }
    s->found.seed = *are ? s->found.seed : seed;
    return status;
}

/* The least number of one side that shows it: first where it begins below what is known, then,
 * while there is time, any less. */
static enum status least_side(struct shrinking *s, struct batch_place *at, unsigned side,
                              struct problem *p)
{
    enum status status = STATUS_OK;
    size_t low = 1;
    bool are;
    while (status == STATUS_OK && at->side[side] - low > 1 && clock_ns() < s->end) {
        struct batch_place is = *at;
        is.side[side] = low + (at->side[side] - low) / 2;
        status = shows_somehow(s, &is, &are, p);
        if (are)
            *at = is;
        else
            low = is.side[side];
    }
    for (size_t i = 2; status == STATUS_OK && i < at->side[side] && clock_ns() < s->end; i++) {
        struct batch_place is = *at;
        is.side[side] = i;
        status = shows_somehow(s, &is, &are, p);
        if (are)
            *at = is;
    }
    return status;
}

static enum status least_terms(struct shrinking *s, struct batch_place *at, bool *any,
                               struct problem *p)
{
    enum status status = STATUS_OK;
    const size_t most = at->terms;
    for (size_t k = 2; status == STATUS_OK && !*any && k < most && clock_ns() < s->end;
         k += k < 8 ? 1 : k / 4) {
        status = shows(s, at->side[0], at->side[1], k, any, p);
        at->terms = *any ? k : most;
    }
    return status == STATUS_OK && !*any ? shows(s, at->side[0], at->side[1], most, any, p) : status;
}

/* Few terms first; then, of counts, one side alone, and less of it. */
enum status check_shrink_batch(struct check *c, enum check_kind kind, bool timing, check_try try_it,
                               uint64_t end, struct check_break *b, struct problem *p)
{
    bool count = kind == CHECK_BATCH, any = false, are = false;
    struct shrinking s = {c, b->at, count ? as_it_is : try_it, timing, end, b, 0};
    struct batch_place at = b->variant[1].place;
    s.most = at.terms < SHORT ? at.terms : SHORT;
    enum status status = least_terms(&s, &at, &any, p);
    for (unsigned side = BATCH_SIDES; side-- > 0 && status == STATUS_OK && any && count;) {
        struct batch_place is = at;
        is.side[side] = 1;
        if (at.side[side] > 1)
            status = shows_somehow(&s, &is, &are, p);
        if (at.side[side] > 1 && are)
            at = is;
    }
    for (unsigned side = 0; side < BATCH_SIDES && status == STATUS_OK && any && count; side++)
        status = least_side(&s, &at, side, p);
    are = false;
    return status == STATUS_OK && any && count ? least_terms(&s, &at, &are, p) : status;
}
