#include "tests/support/rank_sums.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/support/oracle.h"
#include "tests/support/samples.h"

void rank_sums_run(struct rank_sums *c, const struct method *m, enum format s, enum format f,
                   size_t ranks, size_t length)
{
    struct problem p = {0};
    c->x = (struct array){s, ranks * length, c->in};
    c->y = (struct array){f, length, c->out};
    struct operands of = {.in = c->x, .bins = length, .stride = length};
    struct task t = {.of = &of,
                     .out = c->y,
                     .accumulator = f,
                     .method = m,
                     .shape = method_shape(m, DEVICE_CPU, of.in.n, (struct shape){0}),
                     .device = -1};
    char why[OPERANDS_TEXT] = "";
    cr_assert(length == 0 || operation_fits(m->operation, &of, why), "%s", why);
    cr_assert_eq(m->cpu(&t, &p), STATUS_OK, "%s: %s", m->name, p.text);
}

/* What the tree gives for an element. */
static double walk(const struct rank_sums *c, const char *tree, size_t length, size_t at,
                   enum format f)
{
    double stack[SUMMED_RANKS];
    size_t used = 0;
    for (; *tree; tree++)
        if (*tree == '+') {
            used--;
            stack[used - 1] = format_add(f, stack[used - 1], stack[used]);
        } else {
            size_t rank = (size_t)(*tree <= '9' ? *tree - '0' : *tree - 'a' + 10);
            stack[used++] = format_round(f, array_get(&c->x, rank * length + at));
        }
    cr_assert_eq(used, 1);
    return stack[0];
}

void expect_ranks_tree(const char *name, size_t ranks, size_t length, size_t at, const char *tree)
{
    static struct rank_sums c;
    const struct method *m = method_named(name);
    size_t differ = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        enum format f = (enum format)(seed % 3); /* fp16, bf16, fp32 */
        c.x = (struct array){FP64, ranks * length, c.in};
        uint64_t state = seed;
        for (size_t i = 0; i < ranks * length; i++)
            c.in[i] = ldexp((double)(int64_t)sample_next(&state), -60 - (int)(i * 7 % 5));
        rank_sums_run(&c, m, FP64, f, ranks, length);
        double due = walk(&c, tree, length, at, f), got = array_get(&c.y, at);
        double from_0 = format_round(f, c.in[at]);
        for (size_t r = 1; r < ranks; r++)
            from_0 = format_add(f, from_0, format_round(f, c.in[r * length + at]));
        differ += from_0 != due;
        cr_assert(memcmp(&due, &got, sizeof due) == 0,
                  "%s, %zu ranks, element %zu: %a, expected %a", name, ranks, at, got, due);
    }
    /* Else these numbers tell no order from another. */
    cr_assert(strncmp(tree, "01+2+3", 6) == 0 || ranks < 3 || differ > 10, "%s: %zu differ", name,
              differ);
}
