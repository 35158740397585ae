/* The formats of a case in words, and what its outputs are of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/page/report.h"

/* Of a subject with unknown arithmetic the accumulator is what was asked for. */
static bool adds_unknown(const char *added_in)
{
    return strcmp(added_in, "unknown") == 0 || strcmp(added_in, "undocumented") == 0;
}

static void say_formats(struct text *to, const char *storage, const char *accumulator,
                        const char *added_in, const char *result)
{
    text_add(to, storage);
    if (adds_unknown(added_in))
        text_format(to, " with %s asked for", accumulator);
    else if (strcmp(added_in, "none") != 0) /* a move of bits */
        page_added_in(to, " ", *added_in ? added_in : accumulator, result);
}

void page_formats(struct text *to, const char *storage, const char *accumulator,
                  const char *added_in, const char *behind)
{
    say_formats(to, storage, accumulator, added_in, accumulator);
    text_add(to, behind);
}

void page_added_in(struct text *to, const char *before, const char *added_in, const char *result)
{
    text_add(to, before);
    if (adds_unknown(added_in))
        text_format(to, "result in %s, accumulator %s", result, added_in);
    else if (strcmp(added_in, "exact") == 0)
        text_add(to, "added exactly");
    else if (strcmp(added_in, "none") == 0)
        text_add(to, "nothing added");
    else
        text_format(to, "added in %s", added_in);
    if (strcmp(added_in, result) != 0 && !adds_unknown(added_in))
        text_format(to, ", result in %s", result);
}

/* Older files do not say what the result is rounded to. */
static const char *result_of(const char *result, const char *accumulator)
{
    return *result ? result : accumulator;
}

void page_case_formats(struct text *to, const struct gathered_case *c, const char *behind)
{
    say_formats(to, c->field[CASE_STORAGE], c->field[CASE_ACCUMULATOR], c->field[CASE_ADDED_IN],
                result_of(c->field[CASE_RESULT_FORMAT], c->field[CASE_ACCUMULATOR]));
    text_add(to, behind);
}

void page_time_formats(struct text *to, const struct page_time *t, const char *behind)
{
    say_formats(to, t->field[TIMES_STORAGE], t->field[TIMES_ACCUMULATOR], t->field[TIMES_ADDED_IN],
                result_of(t->field[TIMES_RESULT_FORMAT], t->field[TIMES_ACCUMULATOR]));
    text_add(to, behind);
}

void page_times_formats(struct text *to, const struct page_time *t, const char *behind)
{
    const char *added_in = t->field[TIMES_ADDED_IN];
    page_formats(to, t->field[TIMES_STORAGE], t->field[TIMES_ACCUMULATOR],
                 adds_unknown(added_in) ? added_in : "", behind);
}

void page_pair_formats(struct text *to, const struct page *r, const char *storage,
                       const char *accumulator, const char *behind)
{
    const char *added_in = "";
    for (size_t i = 0; i < r->g.count; i++) {
        char *const *field = r->g.item[i].field;
        if (strcmp(field[CASE_STORAGE], storage) == 0 &&
            strcmp(field[CASE_ACCUMULATOR], accumulator) == 0 && adds_unknown(field[CASE_ADDED_IN]))
            added_in = field[CASE_ADDED_IN];
    }
    page_formats(to, storage, accumulator, added_in, behind);
}

void page_pair_head(struct text *to, const struct page *r, const struct gathered_case *pair)
{
    const char *storage = pair->field[CASE_STORAGE], *accumulator = pair->field[CASE_ACCUMULATOR];
    if (r->candidates > 0) /* which add in formats of their own */
        text_format(to, "%s with accumulator %s: ", storage, accumulator);
    else
        page_pair_formats(to, r, storage, accumulator, ": ");
}

struct page_terms page_terms(const struct page *r, const struct gathered_case *c)
{
    static const struct page_terms
        elements = {0, "Error against length", "n, elements", "n", "n", "at n = ", ""},
        products = {0, "Error against K", "K, products added in an element", "k", "K", "at K = ",
                    ""},
        ranks = {0, "Error against the number of ranks", "P, ranks", "ranks", "P", "of ", " ranks"},
        rows = {0,
                "Error against the length of rows",
                "n, elements in a row",
                "row_length",
                "n",
                "in rows of ",
                ""};
    const struct operation *o = page_operation_of(r, c);
    const double outputs = strtod(c->field[CASE_BINS], NULL);
    size_t m, n, k;
    bool shaped =
        o && operation_reads_c(o) && sscanf(c->field[CASE_KEYS], "%zux%zux%zu", &m, &n, &k) == 3;
    bool whole = !o || !(outputs > 0) || operation_has(o, OPERAND_KEYS);
    struct page_terms of = shaped ? products : whole ? elements : o->ranks ? ranks : rows;
    of.count = shaped ? (double)k : whole ? c->n : c->n / outputs;
    return of;
}

void page_case_place(struct text *to, const struct gathered_case *c)
{
    static const char ranks[] = "ranks:";
    const struct method *m = method_named(c->field[CASE_METHOD]);
    const struct operation *o = m ? m->operation : NULL;
    const char *keys = c->field[CASE_KEYS], *bins = c->field[CASE_BINS];
    page_input(to, c->field[CASE_INPUT]);
    if (o && operation_reads_c(o)) { /* of a product the shape tells more */
        text_format(to, ", %s, %s", keys, c->field[CASE_DEVICE]);
        return;
    }
    text_format(to, ", n = %.0f", c->n);
    if (strncmp(keys, ranks, strlen(ranks)) == 0)
        text_format(to, ", %s ranks", keys + strlen(ranks));
    else if (o && operation_has(o, OPERAND_KEYS) && *keys)
        text_format(to, ", keys %s, %s bins", keys, bins);
    else if (o && *bins)
        text_format(to, ", %s row%s", bins, strcmp(bins, "1") == 0 ? "" : "s");
    text_format(to, ", %s", c->field[CASE_DEVICE]);
}
