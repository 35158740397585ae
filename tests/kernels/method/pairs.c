/* Sets of pairs of formats, against lists of pairs. */
#include <criterion/criterion.h>

#include "kernels/method/method.h"

static bool all(enum format s, enum format a)
{
    return s < FORMATS && a < ACCUMULATORS;
}

static bool from_all(enum format s, enum format a)
{
    return s < FORMATS && (a == BF16 || a == FP64);
}

static bool from_16(enum format s, enum format a)
{
    return s <= FP64 && a == FP32;
}

static bool same(enum format s, enum format a)
{
    return s == a;
}

static bool some(enum format s, enum format a)
{
    return (s == FP16 && a == FP32) || (s == FP64 && (a == FP16 || a == FP64));
}

static bool none(enum format s, enum format a)
{
    return s > a && a > s;
}

Test(pairs, hold_what_is_listed)
{
    const struct {
        struct format_pairs pairs;
        bool (*has)(enum format s, enum format a);
    } due[] = {{FORMAT_PAIRS_ALL, all},
               {FORMAT_PAIRS_FROM_ALL(IN(BF16) | IN(FP64)), from_all},
               {FORMAT_PAIRS_FROM_16(IN(FP32)), from_16},
               {FORMAT_PAIRS_SAME, same},
               {FORMAT_PAIRS([FP16] = IN(FP32), [FP64] = IN(FP16) | IN(FP64)), some},
               {{{0}}, none}};
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        struct format_pairs added = {{0}};
        bool any = false;
        for (enum format s = 0; s < FORMATS; s++)
            for (enum format a = 0; a < FORMATS; a++) {
                bool has = due[i].has(s, a);
                any |= has;
                cr_expect(format_pairs_have(&due[i].pairs, s, a) == has, "%zu: %s/%s", i,
                          format_facts[s].name, format_facts[a].name);
                cr_expect(!format_pairs_have(&added, s, a));
                if (has)
                    format_pairs_add(&added, s, a);
                cr_expect(format_pairs_have(&added, s, a) == has);
            }
        cr_expect(format_pairs_any(&due[i].pairs) == any && format_pairs_any(&added) == any);
        for (enum format s = 0; s < FORMATS; s++)
            cr_expect(added.accumulators[s] == due[i].pairs.accumulators[s]);
    }
}

/* Ours that state none have the usual ones; what states some, or is foreign, has those. */
Test(pairs, none_stated_are_the_usual)
{
    struct method m = {.name = "sum/none"};
    cr_expect(format_pairs_have(method_pairs(&m, DEVICE_CPU), E5M2, FP16));
    cr_expect(format_pairs_have(method_pairs(&m, DEVICE_CUDA), BF16, FP64));
    cr_expect(!format_pairs_have(method_pairs(&m, DEVICE_CUDA), E4M3, FP32));
    m.foreign = true;
    cr_expect(!format_pairs_any(method_pairs(&m, DEVICE_CPU)));
    m = (struct method){.pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP32] = IN(FP32))}};
    cr_expect(!format_pairs_any(method_pairs(&m, DEVICE_CPU)));
    cr_expect(format_pairs_have(method_pairs(&m, DEVICE_CUDA), FP32, FP32));
}
