/* Compactions: about how many hundredths of the elements are kept. */
#include <stdio.h>

#include "experiments/inputs/mask.h"
#include "experiments/operations/operation.h"

static void columns(struct setting_columns *to, const struct setting *s)
{
    snprintf(to->number[0], sizeof to->number[0], "keep:%zu", s->keep);
    to->column[CASE_KEYS] = to->number[0];
}

static size_t words(struct setting_word *word, const struct setting *s)
{
    *word = (struct setting_word){SETTING_KEEP, NULL, NULL, s->keep, ""};
    return 1;
}

static void says(struct text *to, const struct setting *s)
{
    text_format(to, "%zu%% kept", s->keep);
}

static void note(char note[SETTING_NOTE], const struct method *m, const struct setting *s)
{
    (void)m;
    snprintf(note, SETTING_NOTE, "keeps %zu%%", s->keep);
}

static enum status each(const struct setting_asked *asked, struct setting s, setting_visit *visit,
                        void *context, struct problem *p)
{
    const struct numbers *keep = &asked->axes->keep;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < keep->count; i++) {
        s.keep = (size_t)keep->item[i];
        s.key_seed = asked->key_seed;
        status = visit(context, &s, p);
    }
    return status;
}

static enum status make(struct setting_operands *to, const struct setting *s, uint64_t seed,
                        struct problem *p)
{
    enum status status = mask_make(&to->flags, &to->of.bins, to->of.in.n, s->keep, seed, p);
    to->of.mask = to->flags;
    return status;
}

static void places(uint32_t *place, const struct operands *of)
{
    size_t kept = 0;
    for (size_t i = 0; i < of->in.n; i++)
        place[i] = (uint32_t)(of->mask[i] ? kept++ : of->bins);
}

static void vary(struct setting *s, const struct setting_axes *axes, size_t n, size_t u)
{
    (void)n;
    s->keep = axes->keep.count ? (size_t)axes->keep.item[u % axes->keep.count] : u % 3 * 49 + 1;
}

static double bytes(const struct setting *s, size_t n)
{
    (void)s;
    return (double)n;
}

const struct operation_use use_compact = {
    .operation = &operation_compact,
    .columns_of = COLUMNS_OF_SCATTERS,
    .reads = 1 << SETTING_KEEP,
    .columns = columns,
    .words = words,
    .says = says,
    .note = note,
    .each = each,
    .make = make,
    .places = places,
    .vary = vary,
    .not_served = true,
    .not_recorded = true,
    .bytes = bytes,
};
