/* What a cache gives has the bits of what is generated, whatever was asked for before. */
#include <criterion/criterion.h>
#include <string.h>

#include "experiments/inputs/cache.h"
#include "tests/support/samples.h"

enum { MOST = 5000 };

struct asked {
    struct input input;
    size_t n;
    enum format format;
    uint64_t seed;
    bool pair;
};

static struct asked drawn(uint64_t *state)
{
    static const char *const name[] = {
        "uniform",           "symmetric", "cond", "cond:target=1024", "uniform:order=descending",
        "lognormal:sigma=4", "ones"};
    struct asked a = {.n = sample_next(state) % 3 ? sample_next(state) % 40 : 1000,
                      .format = (enum format)(sample_next(state) % FORMATS),
                      .seed = sample_next(state) % 3,
                      .pair = sample_next(state) % 4 == 0};
    struct problem p = {0};
    input_parse(&a.input, name[sample_next(state) % (sizeof name / sizeof *name)], &p);
    cr_assert_eq(p.status, STATUS_OK, "%s", p.text);
    return a;
}

/* Small caches evict at nearly each call, large ones never. */
Test(input_cache, gives_the_bits_of_what_is_generated)
{
    for (size_t bytes = 100; bytes <= 1000000; bytes *= 100) {
        struct input_cache *cache = input_cache_new(bytes);
        uint64_t state = bytes;
        size_t refused = 0;
        for (int round = 0; round < 4000; round++) {
            struct asked a = drawn(&state);
            static unsigned char got[16 * MOST], due[16 * MOST];
            struct array to[2] = {{a.format, a.n * (a.pair ? 2 : 1), got},
                                  {a.format, a.n * (a.pair ? 2 : 1), due}};
            struct problem p[2] = {0};
            memset(got, 0xaa, sizeof got);
            memset(due, 0x55, sizeof due);
            enum status cached = input_cached(cache, &a.input, &to[0], a.seed, a.pair, &p[0]);
            enum status plain = a.pair ? input_generate_pair(&a.input, &to[1], a.seed, 0, &p[1])
                                       : input_generate(&a.input, &to[1], a.seed, 0, &p[1]);
            char text[INPUT_TEXT];
            input_name(&a.input, text);
            cr_assert_eq(cached, plain, "%s: %s, %s", text, p[0].text, p[1].text);
            cr_assert_str_eq(p[0].text, p[1].text);
            refused += plain != STATUS_OK;
            size_t size = array_bytes(a.format, to[0].n);
            cr_assert(plain != STATUS_OK || memcmp(got, due, size) == 0,
                      "%zu bytes, round %d: %s, n = %zu, %s, seed %d", bytes, round, text, a.n,
                      format_facts[a.format].name, (int)a.seed);
            cr_assert_eq(got[size], 0xaa, "wrote behind the array");
        }
        cr_expect(refused < 2000, "%zu of 4000 refused", refused);
        input_cache_free(cache);
    }
}

/* Without a cache, and of an array that is too large for it. */
Test(input_cache, is_not_needed)
{
    struct input in;
    struct problem p = {0};
    float got[100], due[100];
    struct array to = {FP32, 100, got}, from = {FP32, 100, due};
    input_parse(&in, "uniform", &p);
    input_generate(&in, &from, 3, 0, &p);
    struct input_cache *cache[] = {NULL, input_cache_new(0), input_cache_new(1599)};
    for (size_t i = 0; i < 3; i++)
        for (int again = 0; again < 2; again++) {
            memset(got, 0, sizeof got);
            cr_assert_eq(input_cached(cache[i], &in, &to, 3, false, &p), STATUS_OK);
            cr_assert(memcmp(got, due, sizeof got) == 0);
        }
    for (size_t i = 0; i < 3; i++)
        input_cache_free(cache[i]);
}
