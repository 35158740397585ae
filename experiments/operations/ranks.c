/* Sums over ranks: how many ranks there are. */
#include <stdio.h>
#include <string.h>

#include "experiments/operations/operation.h"
#include "kernels/blocks/ranks.h"

static void columns(struct setting_columns *to, const struct setting *s)
{
    snprintf(to->number[0], sizeof to->number[0], "ranks:%zu", s->ranks);
    snprintf(to->number[1], sizeof to->number[1], "%zu", s->bins);
    to->column[CASE_KEYS] = to->number[0];
    to->column[CASE_BINS] = to->number[1];
}

static size_t words(struct setting_word *word, const struct setting *s)
{
    *word = (struct setting_word){SETTING_RANKS, NULL, NULL, s->ranks, ""};
    return 1;
}

static void says(struct text *to, const struct setting *s)
{
    text_format(to, "%zu rank%s", s->ranks, text_s(s->ranks));
}

static void note(char note[SETTING_NOTE], const struct method *m, const struct setting *s)
{
    (void)m;
    snprintf(note, SETTING_NOTE, "%zu rank%s", s->ranks, text_s(s->ranks));
}

static size_t common_divisor(size_t a, size_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

static size_t length(const struct setting_axes *axes, size_t n)
{
    enum { MOST = 1 << 20 };
    size_t multiple = 1;
    for (size_t i = 0; i < axes->ranks.count && multiple <= MOST; i++) {
        size_t ranks = (size_t)axes->ranks.item[i];
        multiple *= ranks / common_divisor(multiple, ranks);
    }
    return multiple <= MOST ? (n + multiple - 1) / multiple * multiple : n;
}

static enum status each(const struct setting_asked *asked, struct setting s, setting_visit *visit,
                        void *context, struct problem *p)
{
    const struct numbers *ranks = &asked->axes->ranks;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < ranks->count && status == STATUS_OK; i++) {
        s.ranks = (size_t)ranks->item[i];
        s.bins = asked->n / s.ranks;
        if (s.bins == 0 || asked->n % s.ranks != 0)
            return problem(p, STATUS_USAGE,
                           "option --ranks: found %zu with n = %zu, expected a divisor of n",
                           s.ranks, asked->n);
        status = visit(context, &s, p);
    }
    return status;
}

static enum status make(struct setting_operands *to, const struct setting *s, uint64_t seed,
                        struct problem *p)
{
    (void)seed;
    if (s->ranks == 0 || s->bins == 0 || to->of.in.n != s->ranks * s->bins)
        return problem(p, STATUS_USAGE,
                       "option --ranks: found %zu with n = %zu, expected a divisor of n", s->ranks,
                       to->of.in.n);
    to->of.stride = s->bins; /* as columns of a matrix lie */
    return STATUS_OK;
}

static void places(uint32_t *place, const struct operands *of)
{
    for (size_t i = 0; i < of->in.n; i++)
        place[i] = (uint32_t)(i % of->bins);
}

/* Of those that divide n the u-th, one where none does. */
static void some_ranks(struct setting *s, size_t n, size_t u)
{
    static const size_t some[] = {4, 3, 8, 5, 6, 16, 7, 12, 2};
    enum { SOME = sizeof some / sizeof *some };
    s->ranks = n > 0 && n <= RANKS_MOST ? n : 1;
    for (size_t i = 0; i < SOME; i++)
        if (n % some[(u + i) % SOME] == 0 && n > 0) {
            s->ranks = some[(u + i) % SOME];
            break;
        }
    s->bins = n / s->ranks;
}

static void vary(struct setting *s, const struct setting_axes *axes, size_t n, size_t u)
{
    some_ranks(s, n, u);
    if (axes->ranks.count) {
        s->ranks = (size_t)axes->ranks.item[u % axes->ranks.count];
        s->bins = n / s->ranks;
    }
}

static void sample(struct setting *s, size_t n)
{
    some_ranks(s, n, 0);
}

/* --- the first element of each rank elsewhere in a message, of which it was the first --- */

static size_t owner(const struct setting *s, size_t output)
{
    size_t rank = 0;
    while (ranks_begin(s->bins, s->ranks, rank + 1) <= output)
        rank++;
    return rank;
}

struct message {
    size_t length, at;
    uint8_t byte;
    const char *are; /* NULL: all alike */
};

static void put(struct surrounding *to, const struct setting *s, const struct message *is)
{
    *to = (struct surrounding){.setting = *s, .byte = is->byte, .output = is->at};
    to->setting.bins = is->length;
    to->n = s->ranks * is->length;
    to->alike = !is->are;
    if (is->are)
        snprintf(to->are, sizeof to->are, "element %zu of a message of %zu, %s", is->at, is->length,
                 is->are);
}

static bool surround(struct surrounding *to, const struct setting *s, size_t u)
{
    static const struct message places[] = {
        {1, 0, 0x00, "alone"},
        {2, 1, 0xff, "among NaN"},
        {3, 1, 0x3c, "among small numbers"},
        {4, 3, 0x7b, "among large numbers"},
        {7, 2, 0xfb, "among large negative numbers"},
        {8, 5, 0x00, "among zeros"},
        {16, 15, 0x3c, "among small numbers"},
        {33, 10, 0xff, "among NaN"},
        {64, 31, 0x3c, "among small numbers"},
        {64, 32, 0x3c, "among small numbers"},
        {100, 99, 0x7b, "among large numbers"},
        {1000, 333, 0x3c, "among small numbers"},
        {1000, 667, 0xff, "among NaN"},
        {1000, 0, 0x00, NULL},
    };
    if (u >= sizeof places / sizeof *places)
        return false;
    put(to, s, &places[u]);
    return true;
}

static bool within(struct surrounding *to, const struct setting *s, size_t n, size_t u)
{
    const size_t length = n / s->ranks, places = length > 2 ? 2 : 1;
    if (length == 0 || n % s->ranks != 0 || u + (length == 1) > places)
        return false;
    put(to, s,
        u < places ? &(struct message){length, u * (length / 3 * 2), 0x3c, "among small numbers"}
                   : &(struct message){.length = length});
    return true;
}

static void say_owner(struct surrounding *to)
{
    if (to->alike)
        return;
    size_t used = strlen(to->are);
    snprintf(to->are + used, sizeof to->are - used, ", in the block of rank %zu",
             owner(&to->setting, to->output));
}

static bool surround_owned(struct surrounding *to, const struct setting *s, size_t u)
{
    bool there = surround(to, s, u);
    if (there)
        say_owner(to);
    return there;
}

static bool within_owned(struct surrounding *to, const struct setting *s, size_t n, size_t u)
{
    bool there = within(to, s, n, u);
    if (there)
        say_owner(to);
    return there;
}

static void embed(const struct array *to, const struct surrounding *at, const struct array *from,
                  const struct setting *s)
{
    const size_t end = at->alike ? at->setting.bins : at->output + 1;
    for (size_t r = 0; r < s->ranks; r++)
        for (size_t i = at->output; i < end; i++)
            array_set_bits(to, r * at->setting.bins + i, array_bits(from, r * s->bins));
}

/* --- the terms of a sum on other ranks, and more of them --- */

/* Under mpirun each is a process. */
enum { DEALS = 8, DEALT_MOST = 64 };

static bool deal(struct setting *to, const struct setting *s, size_t u)
{
    const size_t more[DEALS] = {1, 0, s->ranks, 3, 1, s->ranks / 2, 0, 2};
    if (u >= DEALS)
        return false;
    *to = *s;
    if (s->ranks + more[u] <= DEALT_MOST)
        to->ranks += more[u];
    return true;
}

/* Rank r goes to step r + first, modulo as many as there are now: no two to one place. The first
 * dealing leaves all where they are. */
static void dealt(const struct array *to, const struct setting *is, const struct array *from,
                  const struct setting *s, size_t u)
{
    size_t step = u + 1;
    while (common_divisor(step, is->ranks) != 1)
        step++;
    for (size_t i = 0; i < to->n; i++)
        array_encode(to, i, 1, &(double){-0.0});
    for (size_t r = 0; r < s->ranks; r++)
        for (size_t i = 0; i < s->bins; i++)
            array_set_bits(to, (step * r + u) % is->ranks * s->bins + i,
                           array_bits(from, r * s->bins + i));
}

#define USE_OF_RANKS(its_operation, its_owner, its_surround, its_within)                           \
    {                                                                                              \
        .operation = &(its_operation), .columns_of = COLUMNS_OF_SCATTERS,                          \
        .reads = 1 << SETTING_RANKS, .columns = columns, .words = words, .says = says,             \
        .note = note, .length = length, .each = each, .make = make, .places = places,              \
        .vary = vary, .sample = sample, .batches = true, .not_served = true, .not_recorded = true, \
        .owner = its_owner, .surround = its_surround, .within = its_within, .embed = embed,        \
        .deal = deal, .dealt = dealt                                                               \
    }
const struct operation_use use_allreduce =
                               USE_OF_RANKS(operation_allreduce, NULL, surround, within),
                           use_reduce_scatter = USE_OF_RANKS(operation_reduce_scatter, owner,
                                                             surround_owned, within_owned);
