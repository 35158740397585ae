/* Which runs `check` takes for the same again, and over what it says that attempts were made. */
#include <criterion/criterion.h>

#include "tests/support/check_made.h"

static struct check_over over;
static struct check_evidence evidence;

static void begin(struct check *c, const struct check_request *r, const char *input)
{
    make_check(c, r, 40);
    input_parse(&c->at.input, input, NULL);
    over = (struct check_over){0};
    check_evidence_begin(&evidence, &over, NULL, true);
    c->evidence = &evidence;
}

static void end(struct check *c)
{
    check_evidence_free(&evidence);
    free_check(c);
}

static bool is_new(const struct check *c, const struct check_setting *s)
{
    check_note(c, s);
    return check_is_new(c);
}

/* A run that differs in one thing from all before is another attempt; once. */
Test(check_evidence, each_difference_is_another_attempt)
{
    struct check_request r = request_for(method_named("scan/serial"), 1);
    struct check c;
    uint8_t mask[40] = {0};
    begin(&c, &r, "ones");
    struct check_setting s = {.method = r.method};
    for (size_t i = 0; i < 12; i++) {
        struct array turned = check_array(&c.in, 40, 1);
        s = i == 1   ? (struct check_setting){.method = r.method, .offset = 1}
            : i == 2 ? (struct check_setting){.method = r.method, .offset = 2}
            : i == 3 ? (struct check_setting){.method = r.method, .around = 255}
            : i == 4 ? (struct check_setting){.method = r.method, .device = {DEVICE_CUDA, 0}}
            : i == 5 ? (struct check_setting){.method = r.method, .device = {DEVICE_CUDA, 1}}
            : i == 6 ? (struct check_setting){.method = r.method, .in = &turned}
                     : (struct check_setting){.method = r.method};
        c.at.setting.exclusive = i == 7;
        c.at.setting.bins = i == 8 ? 4 : 0;
        c.made.of.stride = i == 9 ? 2 : 0;
        c.made.of.mask = i >= 10 ? mask : NULL;
        mask[5] = i == 11;
        cr_expect(is_new(&c, &s), "%zu", i);
        cr_expect(!is_new(&c, &s), "%zu again", i);
    }
    c.made.of.mask = NULL;
    end(&c);
}

/* Launch shapes are those that the method makes of what is asked for. */
Test(check_evidence, shapes_are_the_methods)
{
    struct check_request r = request_for(method_named("sum/serial"), 1);
    struct check_setting s = {0};
    struct shape made = {0};
    struct check c;
    for (size_t i = 0; i < method_count && made.threads == 0; i++) {
        s.method = method_registry[i];
        if (s.method->cpu && operation_plain(s.method->operation))
            made = method_shape(s.method, DEVICE_CPU, 40, s.shape);
    }
    cr_assert(made.threads > 0);
    r.method = s.method;
    begin(&c, &r, "ones");
    cr_expect(is_new(&c, &s));
    s.shape = made;
    cr_expect(!is_new(&c, &s) && over.shapes.count == 1, "%zu shapes", over.shapes.count);
    s.shape.threads++;
    cr_expect(is_new(&c, &s) && over.shapes.count == 2, "%zu shapes", over.shapes.count);
    end(&c);
}

/* Each length and each input once; one that no seed is read for is one input with any. */
Test(check_evidence, lengths_and_inputs_are_counted_once)
{
    struct check_request r = request_for(method_named("sum/serial"), 1);
    const struct check_setting s = {.method = r.method};
    struct check c;
    begin(&c, &r, "ones");
    for (size_t seeded = 0; seeded < 2; seeded++) {
        input_parse(&c.at.input, seeded ? "uniform" : "ones", NULL);
        for (uint64_t i = 0; i < 6; i++) {
            c.at.seed = 1 + i % 3;
            c.at.n = 38 + i % 2;
            check_note(&c, &s);
        }
        cr_expect(over.inputs.count == (seeded ? 4 : 1), "%zu inputs", over.inputs.count);
        cr_expect(over.lengths.count == 2, "%zu lengths", over.lengths.count);
        cr_expect(over.least_n == 38 && over.most_n == 39, "%zu to %zu", over.least_n, over.most_n);
    }
    end(&c);
}

/* However many there are, none is forgotten. */
Test(check_evidence, many_attempts_are_remembered)
{
    enum { MANY = 5000 };
    struct check_request r = request_for(method_named("sum/serial"), 1);
    struct check c;
    begin(&c, &r, "ones");
    for (size_t again = 0; again < 2; again++)
        for (uint64_t i = 1; i <= MANY; i++) {
            evidence.key = 1021 * i;
            cr_assert(check_is_new(&c) == !again, "%llu", (unsigned long long)i);
        }
    end(&c);
}
