/* The formats of a case in words. */
#include <string.h>

#include "reports/page/report.h"

/* Of a subject with unknown arithmetic the accumulator is what was asked for. */
static bool adds_unknown(const char *added_in)
{
    return strcmp(added_in, "unknown") == 0 || strcmp(added_in, "undocumented") == 0;
}

void page_formats(struct text *to, const char *storage, const char *accumulator,
                  const char *added_in, const char *behind)
{
    text_format(to, adds_unknown(added_in) ? "%s with %s asked for%s" : "%s added in %s%s", storage,
                accumulator, behind);
}

void page_case_formats(struct text *to, const struct gathered_case *c, const char *behind)
{
    page_formats(to, c->field[CASE_STORAGE], c->field[CASE_ACCUMULATOR], c->field[CASE_ADDED_IN],
                 behind);
}

void page_time_formats(struct text *to, const struct page_time *t, const char *behind)
{
    page_formats(to, t->field[TIMES_STORAGE], t->field[TIMES_ACCUMULATOR], t->field[TIMES_ADDED_IN],
                 behind);
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
    page_pair_formats(to, r, pair->field[CASE_STORAGE], pair->field[CASE_ACCUMULATOR], ": ");
}
