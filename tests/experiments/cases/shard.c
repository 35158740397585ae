/* Shares of a study: each case in one, the same in every process, none with much more to do. */
#include <math.h>

#include "experiments/cases/shard.h"
#include "tests/support/study.h"

static void make(struct study *s, const char *n)
{
    study_make(s, "accuracy",
               (study_words){{"method", "sum/serial,sum/tiled,sum/exact"},
                             {"device", "cpu"},
                             {"storage", "fp32,fp16"},
                             {"accumulator", "fp32,fp64"},
                             {"input", "ones,uniform,symmetric"},
                             {"n", n},
                             {"seed", "1,2"},
                             {NULL}});
}

static double cost(const struct plan *plan, size_t i)
{
    return (double)plan->source[plan->cases[i].source].array.n + 20000;
}

/* Greedy dealing, costliest first: the fullest shard has no more than a fair share and one hand,
 * here a hand of at most half a share. */
Test(shard, deals_each_case_once_and_evenly, .init = make_folder, .fini = remove_folder)
{
    static const char *const lengths[] = {"1000", "10,100,100000", "1000000,10", "2^10..2^20"};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (uint32_t count = 1; count <= 40; count = count * 3 / 2 + 1) {
            struct study s;
            make(&s, lengths[k]);
            uint32_t dealt[2000], again[2000];
            double load[64] = {0}, all = 0, largest = 0, most = 0;
            cr_assert(s.plan.case_count < 2000);
            cr_assert_eq(shard_deal(dealt, &s.plan, count, NULL), STATUS_OK);
            cr_assert_eq(shard_deal(again, &s.plan, count, NULL), STATUS_OK);
            cr_assert(memcmp(dealt, again, s.plan.case_count * sizeof *dealt) == 0);
            for (size_t i = 0; i < s.plan.case_count; i++) {
                cr_assert(dealt[i] >= 1 && dealt[i] <= count);
                load[dealt[i]] += cost(&s.plan, i);
                all += cost(&s.plan, i);
                largest = cost(&s.plan, i) > largest ? cost(&s.plan, i) : largest;
            }
            for (uint32_t i = 1; i <= count; i++)
                most = load[i] > most ? load[i] : most;
            double hand = all / count / 2 > largest ? all / count / 2 : largest;
            cr_expect(most <= all / count + hand, "n = %s, %u shards: %g of %g", lengths[k],
                      (unsigned)count, most, all / count);
            study_free(&s);
        }
}

static double making(const struct study *s, size_t i)
{
    const struct source *from = &s->plan.source[s->plan.cases[i].source];
    return input_cost(&from->input) * (double)from->array.n;
}

/* All cases, each in one hand of one input; no hand above an eighth of a share that is not a case,
 * or what its input takes to be made; few hands where there are many cases (of whole cases, a hand
 * has more than half of its eighth), and at the end small ones: then ranks that take the next one
 * whenever they are done with one end nearly together. */
Test(shard, hands_are_few_and_small_at_the_end, .init = make_folder, .fini = remove_folder)
{
    static const char *const lengths[] = {"1000", "10,300000", "2^10..2^20"};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (uint32_t count = 1; count <= 40; count = count * 3 / 2 + 1) {
            struct study s;
            study_make(&s, "accuracy",
                       (study_words){{"method", "sum/two_kernel,sum/atomic,sum/host_finish,"
                                                "sum/last_block,sum/block_atomic,sum/warp_atomic"},
                                     {"device", "cpu"},
                                     {"storage", "fp32"},
                                     {"accumulator", "fp32,fp64"},
                                     {"input", "uniform"},
                                     {"n", lengths[k]},
                                     {"threads", "32,64,128,256,512"},
                                     {"blocks", "1..256"},
                                     {"seed", "1,2"},
                                     {NULL}});
            struct hand *hand;
            size_t hands, cases = s.plan.case_count;
            double load[64] = {0}, all = 0, largest = 0, smallest = INFINITY, most = 0, dealt = 0;
            char *seen = calloc(cases + 1, 1);
            cr_assert_eq(shard_hands(&hand, &hands, &s.plan, count, NULL), STATUS_OK);
            for (size_t i = 0; i < cases; i++) {
                double its = 2 * cost(&s.plan, i);
                all += its;
                largest = fmax(largest, its + making(&s, i));
                smallest = its < smallest ? its : smallest;
            }
            for (size_t h = 0; h < hands; h++) {
                double together = 0;
                uint32_t least = 0;
                for (size_t i = hand[h].first; i < hand[h].first + hand[h].count; i++) {
                    cr_assert(i < cases && !seen[i]++);
                    cr_assert_eq(s.plan.cases[i].source, s.plan.cases[hand[h].first].source);
                    together += 2 * cost(&s.plan, i);
                }
                double made = making(&s, hand[h].first);
                cr_assert_float_eq(hand[h].cost, together + made, all * 1e-12);
                cr_assert(h == 0 || hand[h].cost <= hand[h - 1].cost);
                cr_expect(hand[h].count == 1 ||
                          together <= fmax(all / count / 8, s.plan.sources >= count ? made : 0) *
                                          (1 + 1e-12));
                for (uint32_t r = 1; r < count; r++)
                    least = load[r] < load[least] ? r : least;
                load[least] += hand[h].cost;
                dealt += hand[h].cost;
            }
            for (size_t i = 0; i < cases; i++)
                cr_assert(seen[i]);
            for (uint32_t r = 0; r < count; r++)
                most = load[r] > most ? load[r] : most;
            double eighths = 8.0 * count, of_smallest = all / eighths / smallest;
            double few = of_smallest > 1 ? 2 * eighths * (1 + log(of_smallest)) : (double)cases;
            cr_expect(hands <= (size_t)few + s.plan.sources,
                      "n = %s, %u ranks: %zu hands of %zu cases, expected %g", lengths[k],
                      (unsigned)count, hands, cases, few);
            cr_expect(most <= dealt / count * 1.02 + largest, "n = %s, %u ranks: %g of %g",
                      lengths[k], (unsigned)count, most, dealt / count);
            free(seen);
            free(hand);
            study_free(&s);
        }
}

/* An input of normal numbers takes longer to be made than four sums of it: such hands go first, and
 * are not cut where there are as many inputs as ranks. */
Test(shard, hands_count_what_inputs_cost, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    study_make(&s, "accuracy",
               (study_words){{"method", "sum/serial,sum/tiled,sum/kahan,sum/sum2"},
                             {"device", "cpu"},
                             {"storage", "fp32"},
                             {"accumulator", "fp32"},
                             {"input", "uniform,ones,lognormal"},
                             {"n", "2^20"},
                             {"seed", "1..20"},
                             {NULL}});
    static const char *const by_turns[] = {"lognormal", "uniform", "ones"};
    static const size_t due[] = {20, 20, 20};
    struct hand *hand;
    size_t hands, turn = 0, found[3] = {0};
    cr_assert_eq(s.plan.sources, 60, "%zu", s.plan.sources);
    cr_assert_eq(shard_hands(&hand, &hands, &s.plan, 60, NULL), STATUS_OK);
    for (size_t h = 0; h < hands; h++) {
        const char *name = s.plan.source[s.plan.cases[hand[h].first].source].name;
        while (turn < 3 && strcmp(name, by_turns[turn]) != 0)
            turn++;
        cr_assert(turn < 3, "hand %zu of %zu is of %s", h, hands, name);
        found[turn]++;
    }
    for (size_t k = 0; k < 3; k++)
        cr_expect_eq(found[k], due[k], "%zu hands of %s", found[k], by_turns[k]);
    free(hand);
    cr_assert_eq(shard_hands(&hand, &hands, &s.plan, 61, NULL), STATUS_OK);
    cr_expect_eq(hands, 4 * 60, "found %zu hands", hands); /* more ranks than inputs */
    free(hand);
    study_free(&s);
}

Test(shard, keeps_its_cases_and_their_inputs, .init = make_folder, .fini = remove_folder)
{
    enum { COUNT = 5 };
    struct study whole;
    make(&whole, "10,1000,100000");
    size_t cases = 0;
    for (uint32_t index = 1; index <= COUNT; index++) {
        struct study s;
        make(&s, "10,1000,100000");
        cr_assert_eq(shard_keep(&s.plan, (struct shard){index, COUNT}, NULL), STATUS_OK);
        cases += s.plan.case_count;
        size_t at = 0;
        for (size_t k = 0; k < s.plan.sources; k++) {
            cr_assert_eq(s.plan.source[k].first, at);
            cr_assert(s.plan.source[k].cases > 0);
            at += s.plan.source[k].cases;
        }
        cr_assert_eq(at, s.plan.case_count);
        for (size_t i = 0; i < s.plan.case_count; i++) {
            const struct study_case *t = &s.plan.cases[i];
            cr_assert_eq(plan_find(&s.plan, t->id), t);
            cr_assert_eq(case_id(t, &s.plan.source[t->source]), t->id);
            cr_assert(plan_find(&whole.plan, t->id));
        }
        study_free(&s);
    }
    cr_expect_eq(cases, whole.plan.case_count);
    study_free(&whole);
}

Test(shard, words)
{
    struct shard s;
    char text[SHARD_TEXT];
    static const char *const bad[] = {"",     "1",       "0/3",        "4/3",  "1/0",
                                      "1/",   "/3",      "-1/3",       "1/3x", "1 /3",
                                      "1/ 3", "1/65537", "1/99999999", "a/b"};
    cr_assert_eq(shard_parse(&s, "option --shard", "12/65536", NULL), STATUS_OK);
    cr_assert(s.index == 12 && s.count == SHARDS_MAX);
    shard_text(text, s);
    cr_assert_str_eq(text, "12/65536");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct problem p = {0};
        cr_expect_eq(shard_parse(&s, "option --shard", bad[i], &p), STATUS_USAGE, "%s", bad[i]);
        cr_expect(strstr(p.text, "option --shard") && strstr(p.text, "1/4 to 4/4"));
    }
}
