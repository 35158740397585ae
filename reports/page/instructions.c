/* The pictures of matrix products that sweep one thing: K, the interval of promotion, the number of
 * slices. A panel has all formats that were tried on an input, so that instructions compare. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/report.h"

enum { NAME = 160, SWEPT_LEAST = 3 };

/* A case that is drawn, and what its sample points to. */
struct drawn {
    const struct gathered_case *of;
    double x;
    bool level;  /* nothing of it is swept: it has this error at every x */
    bool joined; /* one before it has its errors everywhere, and its name too */
    char panel[NAME], method[NAME], label[NAME];
};

struct sweep {
    const struct page *r;
    struct drawn *item;
    size_t count;
    double least, most; /* of what is swept */
};

/* "wgmma" of "gemm/wgmma" */
static const char *behind_slash(const char *method)
{
    const char *slash = strchr(method, '/');
    return slash ? slash + 1 : method;
}

static bool has_chip(const struct gathered_case *c)
{
    return *c->field[CASE_CHIP];
}

static bool measured(const struct gathered_case *c)
{
    return c->runs > 0 && c->err_backward.known && isfinite(c->err_backward.value);
}

/* As an instruction of a chip reads it. */
static const char *read_as(const struct gathered_case *c)
{
    const char *storage = c->field[CASE_STORAGE];
    return has_chip(c) && strcmp(storage, "fp32") == 0 ? "tf32" : storage;
}

static bool in_fp64(const struct gathered_case *c)
{
    return strcmp(c->field[CASE_ACCUMULATOR], "fp64") == 0;
}

static struct drawn *add(struct sweep *s, const struct gathered_case *c, double x, bool level)
{
    struct drawn *d = &s->item[s->count++];
    *d = (struct drawn){.of = c, .x = x, .level = level};
    snprintf(d->method, NAME, "%s", c->field[CASE_METHOD]);
    return d;
}

static bool same_pair(const struct gathered_case *a, const struct gathered_case *b)
{
    return strcmp(a->field[CASE_STORAGE], b->field[CASE_STORAGE]) == 0 &&
           strcmp(a->field[CASE_ACCUMULATOR], b->field[CASE_ACCUMULATOR]) == 0 &&
           strcmp(a->field[CASE_DEVICE], b->field[CASE_DEVICE]) == 0;
}

static bool of_series(const struct drawn *d, const struct drawn *series)
{
    return d->level == series->level && same_pair(d->of, series->of) &&
           strcmp(d->of->field[CASE_METHOD], series->of->field[CASE_METHOD]) == 0 &&
           strcmp(d->of->field[CASE_CHIP], series->of->field[CASE_CHIP]) == 0;
}

static bool at_same_place(const struct drawn *a, const struct drawn *b)
{
    return a->x == b->x && strcmp(a->panel, b->panel) == 0 &&
           strcmp(a->of->field[CASE_SEED], b->of->field[CASE_SEED]) == 0;
}

/* Has the series of `a` the errors of the series of `b`, wherever either was measured? */
static bool errs_alike(const struct sweep *s, const struct drawn *a, const struct drawn *b)
{
    size_t of_a = 0, of_b = 0, alike = 0;
    for (size_t i = 0; i < s->count; i++) {
        of_b += of_series(&s->item[i], b);
        if (!of_series(&s->item[i], a))
            continue;
        of_a++;
        for (size_t k = 0; k < s->count; k++)
            alike += of_series(&s->item[k], b) && at_same_place(&s->item[i], &s->item[k]) &&
                     s->item[i].of->err_backward.value == s->item[k].of->err_backward.value;
    }
    return of_a == of_b && alike == of_a;
}

/* Instructions of two units that err alike in all cases have one curve, with both names. */
static void join(struct sweep *s)
{
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < i && !s->item[i].joined; k++) {
            const struct drawn a = s->item[k], b = s->item[i];
            if (a.joined || of_series(&a, &b) || a.level != b.level || !has_chip(b.of) ||
                !same_pair(a.of, b.of) || strcmp(a.panel, b.panel) != 0 || !errs_alike(s, &a, &b))
                continue;
            for (size_t j = 0; j < s->count; j++) {
                struct drawn *d = &s->item[j];
                size_t end = strlen(d->method);
                if (of_series(d, &b))
                    d->joined = true;
                else if (of_series(d, &a))
                    snprintf(d->method + end, NAME - end, " and %s", b.of->field[CASE_METHOD]);
            }
        }
}

/* "mma and wgmma, fp16 to fp32" */
static void name_series(struct drawn *d, bool formats)
{
    const char *from = d->method;
    size_t length = 0;
    while (from && length < NAME) {
        const char *next = strstr(from, " and ");
        length += (size_t)snprintf(d->label + length, NAME - length, "%.*s%s",
                                   (int)(next ? next - from : (ptrdiff_t)strlen(from)) -
                                       (int)(behind_slash(from) - from),
                                   behind_slash(from), next ? " and " : "");
        from = next ? next + strlen(" and ") : NULL;
    }
    if (formats && length < NAME)
        length += (size_t)snprintf(d->label + length, NAME - length, ", %s to %s", read_as(d->of),
                                   d->of->field[CASE_ACCUMULATOR]);
    if (d->level && length < NAME)
        snprintf(d->label + length, NAME - length, ", not promoted");
}

/* Of a format the same colour in every picture of these; fp16 as its accumulator is darker. */
static size_t colour_of(const struct gathered_case *c)
{
    return (size_t)format_named(c->field[CASE_STORAGE]) + 1;
}

static struct sample sample_of(const struct drawn *d, bool formats)
{
    const struct gathered_case *c = d->of;
    return (struct sample){.storage = c->field[CASE_STORAGE],
                           .accumulator = c->field[CASE_ACCUMULATOR],
                           .method = c->field[CASE_METHOD],
                           .device = c->field[CASE_DEVICE],
                           .x = d->x,
                           .y = c->err_backward.value,
                           .bound = c->first_bound.known ? c->first_bound.value : NAN,
                           .chip = c->field[CASE_CHIP],
                           .promote = "", /* x is */
                           .panel = d->panel,
                           .methods = d->method,
                           .label = d->label,
                           .colour = formats ? colour_of(c) : 0,
                           .shade = strcmp(c->field[CASE_ACCUMULATOR], "fp16") == 0};
}

/* Of what is swept; sets the ends. */
static size_t count_places(struct sweep *s)
{
    size_t places = 0;
    s->least = INFINITY;
    s->most = -INFINITY;
    for (size_t i = 0; i < s->count; i++) {
        bool seen = s->item[i].level;
        for (size_t k = 0; !seen && k < i; k++)
            seen = !s->item[k].level && s->item[k].x == s->item[i].x;
        places += !seen;
        if (!s->item[i].level) {
            s->least = fmin(s->least, s->item[i].x);
            s->most = fmax(s->most, s->item[i].x);
        }
    }
    return places;
}

/* "h100, uniform, K = 4096", of what there is. */
static void name_panel(struct drawn *d, const char *before, double k)
{
    struct text input = {0};
    page_input(&input, d->of->field[CASE_INPUT]);
    int length = snprintf(d->panel, NAME, "%s%s%.80s", before, *before ? ", " : "",
                          text_string(&input) ? input.data : "");
    if (k > 0)
        snprintf(d->panel + length, NAME - (size_t)length, ", K = %.0f", k);
    text_free(&input);
}

#define IN_COLOUR                                                                                  \
    " Colours tell the format of A and B here, marks the instruction; the darker shade is added "  \
    "in fp16. Instructions whose errors are the same share a curve."

#define ERROR                                                                                      \
    "The largest error of an element of D over all seeds and runs, as a share of the sum of its "  \
    "products' magnitudes, which of positive numbers is the relative error"

#define LOOK                                                                                       \
    .y_label = "error / sum|a b|", .unit = "sum|a b|", .y_name = "err_backward", .log_x = true,    \
    .lines = true, .worst_first = true, .top_most = 300, .series_most = 24

/* --- what is swept --- */

static void take_k(struct sweep *s, const struct gathered_case *c)
{
    if (has_chip(c) && !*c->field[CASE_PROMOTE] && !in_fp64(c))
        name_panel(add(s, c, page_terms(s->r, c).count, false), c->field[CASE_CHIP], 0);
}

static void take_promoted(struct sweep *s, const struct gathered_case *c)
{
    const double every = strtod(c->field[CASE_PROMOTE], NULL);
    if (has_chip(c) && !in_fp64(c))
        name_panel(add(s, c, every, !(every > 0)), c->field[CASE_CHIP], page_terms(s->r, c).count);
}

static void take_sliced(struct sweep *s, const struct gathered_case *c)
{
    const struct method *m = method_named(c->field[CASE_METHOD]);
    const double blocks = strtod(c->field[CASE_BLOCKS], NULL);
    char formats[NAME];
    if (!m || !(m->shape_order & SHAPE_BLOCKS) || !(blocks > 0))
        return;
    snprintf(formats, sizeof formats, "%s added in %s, D in %s", c->field[CASE_STORAGE],
             c->field[CASE_ACCUMULATOR], c->field[CASE_RESULT_FORMAT]);
    name_panel(add(s, c, blocks, false), formats, page_terms(s->r, c).count);
}

static const struct swept {
    struct look look;
    void (*take)(struct sweep *s, const struct gathered_case *c);
    bool formats;       /* do they tell series apart? */
    const char *before; /* of a number, in a finding */
    const char *after;
    double between; /* a finding names this place too: 0: none */
} swept[] = {
    {.look = {.name = "instructions",
              .heading = "Error of each matrix instruction against K",
              .caption =
                  ERROR "." IN_COLOUR " fp64, whose errors are 10^9 times smaller, is left out.",
              .x_label = "K, products added in an element",
              .x_name = "k",
              .x_before = "at K = ",
              .x_after = "",
              .decades_most = 9,
              LOOK},
     .take = take_k,
     .formats = true,
     .before = "at K = ",
     .after = ""},
    {.look = {.name = "promotion",
              .heading = "Error against the interval of promotion",
              .caption = ERROR
              ", when sums move to fp32 every so many products." IN_COLOUR
              " An instruction that is not promoted has one error, at every "
              "interval. Bounds are those of the first element, as a share of its own sum.",
              .x_label = "products between promotions",
              .x_name = "every",
              .x_before = "every ",
              .x_after = " products",
              .bounds = true,
              .decades_most = 12,
              LOOK},
     .take = take_promoted,
     .formats = true,
     .before = "every ",
     .after = " products",
     .between = GEMM_PROMOTE},
    {.look = {.name = "splits",
              .heading = "Error against the number of slices",
              .caption = ERROR ", when K is split into so many slices. Bounds are those of the "
                               "first element, as a share of its own sum.",
              .x_label = "slices of K",
              .x_name = "slices",
              .x_before = "with ",
              .x_after = " slices",
              .bounds = true,
              .decades_most = 12,
              LOOK},
     .take = take_sliced,
     .before = "with ",
     .after = " slices"},
};
enum { SWEEPS = sizeof swept / sizeof *swept };

/* Everything in the page that the sweep has; nothing where it has too few places for a curve. */
static enum status gather(struct sweep *s, const struct page *r, const struct swept *of,
                          struct problem *p)
{
    *s = (struct sweep){.r = r, .item = calloc(r->g.count + 1, sizeof *s->item)};
    if (!s->item)
        return problem(p, STATUS_MEMORY, "%s: out of memory for the pictures", r->folder);
    for (size_t i = 0; i < r->g.count; i++)
        if (measured(&r->g.item[i]))
            of->take(s, &r->g.item[i]);
    if (count_places(s) < SWEPT_LEAST)
        s->count = 0;
    join(s);
    for (size_t i = 0; i < s->count; i++)
        name_series(&s->item[i], of->formats);
    return STATUS_OK;
}

static enum status draw(struct page *r, const struct swept *of, struct problem *p)
{
    struct sweep s;
    size_t count = 0;
    enum status status = gather(&s, r, of, p);
    struct sample *sample = status == STATUS_OK ? calloc(2 * s.count + 1, sizeof *sample) : NULL;
    for (size_t i = 0; sample && i < s.count; i++) {
        const struct drawn *d = &s.item[i];
        if (d->joined)
            continue;
        sample[count] = sample_of(d, of->formats);
        sample[count++].x = d->level ? s.least : d->x;
        if (d->level) {
            sample[count] = sample[count - 1];
            sample[count++].x = s.most;
        }
    }
    if (status == STATUS_OK && !sample)
        status = problem(p, STATUS_MEMORY, "%s: out of memory for the pictures", r->folder);
    if (count > 0)
        status = page_samples(r, &of->look, sample, count, p);
    free(sample);
    free(s.item);
    return status;
}

enum status page_instructions(struct page *r, struct problem *p)
{
    return draw(r, &swept[0], p);
}

enum status page_promotion(struct page *r, struct problem *p)
{
    return draw(r, &swept[1], p);
}

enum status page_splits(struct page *r, struct problem *p)
{
    return draw(r, &swept[2], p);
}

/* --- in sentences --- */

/* The largest error of a series at x, in the panel of `like`; NaN: none. */
static double error_at(const struct sweep *s, const struct drawn *like, double x)
{
    double most = NAN;
    for (size_t i = 0; i < s->count; i++) {
        const struct drawn *d = &s->item[i];
        if (of_series(d, like) && strcmp(d->panel, like->panel) == 0 && (d->level || d->x == x))
            most = fmax(most, d->of->err_backward.value);
    }
    return most;
}

/* Of a series in one panel: where it begins, where it ends, and what is named between. */
static void say_series(struct text *to, const struct sweep *s, const struct swept *of,
                       const struct drawn *d)
{
    const double x[] = {s->least, of->between, s->most};
    const char *before = "an error of ", *share = " of sum|a b|";
    text_add(to, "<li class=\"plain\">");
    html_format(to, "%s: ", d->label);
    for (size_t i = 0; i < (d->level ? 1 : 3); i++) {
        const double error = error_at(s, d, x[i]);
        if (isnan(error) || (i == 1 && (x[1] <= s->least || x[1] >= s->most)))
            continue;
        html_format(to, "%s%s%s", before, short_number(error).text, share);
        if (!d->level)
            html_format(to, " %s%.0f%.*s", of->before, x[i],
                        (int)strlen(of->after) - (x[i] == 1 && *of->after), of->after);
        before = ", ";
        share = "";
    }
    html_format(to, " (%s).", d->panel);
    text_add(to, "</li>\n");
}

/* Of the series in the panel of `of`, the one that errs most where they end, but less than `below`;
 * with `least` the one that errs least. NULL: there is none. */
static const struct drawn *series_by_end(const struct sweep *s, const struct drawn *of,
                                         double below, bool least)
{
    const struct drawn *found = NULL;
    for (size_t i = 0; i < s->count; i++) {
        const struct drawn *d = &s->item[i];
        const double error = error_at(s, d, s->most),
                     best = found ? error_at(s, found, s->most) : 0;
        if (d->joined || strcmp(d->panel, of->panel) != 0 || !(error < below) ||
            (d->level && !least))
            continue;
        if (!found || (least ? error < best : error > best))
            found = d;
    }
    return found;
}

/* Of the panel with the largest error the few series that err most, and the one that errs least. */
static void say_swept(struct text *to, const struct sweep *s, const struct swept *of)
{
    enum { SAID = 3 };
    const struct drawn *worst = NULL, *next;
    double below = INFINITY;
    for (size_t i = 0; i < s->count; i++)
        if (!worst || s->item[i].of->err_backward.value > worst->of->err_backward.value)
            worst = &s->item[i];
    for (size_t said = 0; worst && said < SAID; said++)
        if ((next = series_by_end(s, worst, below, false))) {
            say_series(to, s, of, next);
            below = error_at(s, next, s->most);
        }
    if (worst && (next = series_by_end(s, worst, below, true)))
        say_series(to, s, of, next);
}

void page_product_findings(struct text *to, const struct page *r)
{
    for (size_t i = 0; i < SWEEPS; i++) {
        struct sweep s;
        struct problem p = {0};
        if (gather(&s, r, &swept[i], &p) == STATUS_OK)
            say_swept(to, &s, &swept[i]);
        free(s.item);
    }
    page_error_findings(to, r);
}
