#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/inputs/input.h"
#include "tests/support/holds_scan.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

/* ---- one array ---- */

/* The one result in every accumulator, each with another of the launch shapes; with the first where
 * `turn` is 0. */
static bool check_one(const struct method *m, const struct array *in, size_t turn, const char *what,
                      char why[WHY])
{
    struct shape shape[SHAPES_TRIED];
    size_t shapes = shapes_tried(m, in->n, shape);
    bool fine = true;
    double due[ACCUMULATORS];
    oracle_values(due, value_due(m), in);
    for (enum format f = 0; fine && f < ACCUMULATORS; f++) {
        uint64_t got = 0, want = format_encode(f, due[f]);
        struct shape own = shape[turn > 0 ? (turn + f) % shapes : 0];
        if (!method_supports(m, DEVICE_CPU, in->format, f))
            continue;
        if (run_method_once(m, in, f, own, &got) != STATUS_OK)
            fine = not_held(why, m, in->format, f, in->n, own, "it could not be run");
        else if (got != want)
            fine = not_held(why, m, in->format, f, in->n, own,
                            "%s: result %#" PRIx64 ", MPFR says %#" PRIx64, what, got, want);
    }
    return fine;
}

enum { LONGEST = 70001 };

/* Of the longest, each input is added up in half of them. */
static bool is_chosen(const struct method *m, const struct array *in, enum format f, size_t turn)
{
    return method_supports(m, DEVICE_CPU, in->format, f) && (in->n < LONGEST || (turn + f) % 2);
}

/* Every inclusive prefix, rounded to the accumulators that are chosen. */
static double (*prefixes_of(const struct method *m, const struct array *in, size_t turn))[LONGEST]
{
    static double prefix[ACCUMULATORS][LONGEST];
    MPFR_DECL_INIT(term, 53);
    mpfr_t sum;
    mpfr_init2(sum, 2200);
    for (size_t i = 0; i < in->n; i++) {
        mpfr_set_d(term, array_get(in, i), MPFR_RNDN);
        if (i == 0)
            mpfr_set(sum, term, MPFR_RNDN);
        else
            mpfr_add(sum, sum, term, MPFR_RNDN);
        for (enum format f = 0; f < ACCUMULATORS; f++)
            if (is_chosen(m, in, f, turn))
                prefix[f][i] = oracle_round(f, sum);
    }
    mpfr_clear(sum);
    return prefix;
}

/* Inclusive and exclusive, in every accumulator and one output format of each. */
static bool holds_scan(const struct method *m, const struct array *in, size_t turn,
                       const char *what, char why[WHY])
{
    static double got[LONGEST];
    double(*prefix)[LONGEST] = prefixes_of(m, in, turn);
    struct shape shape[SHAPES_TRIED];
    size_t shapes = shapes_tried(m, in->n, shape);
    for (size_t k = 0; k < 2 * ACCUMULATORS; k++) {
        enum format f = k / 2;
        struct scan_case c = {.in = *in,
                              .accumulator = f,
                              .output = (in->n + k) % 3 ? f : (enum format)(in->n % ACCUMULATORS),
                              .shape = shape[(turn + k) % shapes],
                              .exclusive = k % 2};
        struct array out = {c.output, in->n, got};
        if (!is_chosen(m, in, f, turn))
            continue;
        if (scan_run(m, &c, got) != STATUS_OK)
            return scan_failed(why, m, &c, "it could not be run");
        for (size_t i = 0; i < in->n; i++) {
            double due = !c.exclusive ? prefix[f][i] : i > 0 ? prefix[f][i - 1] : 0;
            uint64_t want = format_encode(c.output, due), bits = array_bits(&out, i);
            if (bits != want)
                return scan_failed(why, m, &c,
                                   "%s: output %zu is %#" PRIx64 ", MPFR says %#" PRIx64, what, i,
                                   bits, want);
        }
    }
    return true;
}

static bool check_array(const struct method *m, const struct array *in, size_t turn,
                        const char *what, char why[WHY])
{
    bool scan = m->operation == &operation_scan;
    return (scan ? holds_scan : check_one)(m, in, turn, what, why);
}

/* ---- every input family ---- */

static bool holds_families(const struct method *m, char why[WHY])
{
    static const size_t lengths[] = {0, 1, 2, 3, 100, 1000, 5000, LONGEST};
    static double data[LONGEST];
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    for (size_t k = 0; k < input_family_count * ARRANGEMENTS * LENGTHS * ACCUMULATORS; k++) {
        enum format s = k % ACCUMULATORS;
        size_t n = lengths[k / ACCUMULATORS % LENGTHS],
               i = k / ACCUMULATORS / LENGTHS / ARRANGEMENTS;
        enum arrangement how = (enum arrangement)(k / ACCUMULATORS / LENGTHS % ARRANGEMENTS);
        struct array in = {s, n, data};
        struct input input;
        char name[INPUT_TEXT];
        /* Of rearranged ones, and of the longest, a share. */
        if ((how != ARRANGED_AS_GENERATED && (n != 1000 || (i + s) % ARRANGEMENTS != how)) ||
            (n == LONGEST && i % ACCUMULATORS != s))
            continue;
        double cond = ldexp(1, (int)(k * 37 % 200));
        if (input_parse(&input, input_families[i]->name, NULL) != STATUS_OK)
            return not_held(why, m, s, FORMATS, n, (struct shape){0, 0}, "no input %s",
                            input_families[i]->name);
        input.arrangement = how;
        input_name(&input, name);
        /* A family may not have a member of this size in this format. */
        if (input_generate(&input, &in, k + 1, cond, NULL) == STATUS_OK &&
            !check_array(m, &in, 1 + i + s, name, why))
            return false;
    }
    return true;
}

/* ---- random encodings ---- */

static uint64_t sign_bit(enum format f)
{
    return UINT64_C(1) << (8 * format_facts[f].bytes - 1);
}

/* A finite number whose exponent field is `field` or a few more. */
static uint64_t bits_near(enum format f, uint64_t field, uint64_t *seed)
{
    int fraction = format_facts[f].precision - 1;
    uint64_t draw = sample_next(seed), inf = format_encode(f, __builtin_inf());
    uint64_t bits =
        ((field + draw % 6) << fraction | (draw >> 8 & ((UINT64_C(1) << fraction) - 1)));
    return (bits % inf) | (draw >> 7 & 1 ? sign_bit(f) : 0);
}

/* Any encodings; finite ones; those of some neighbouring binades, which cancel; and pairs that undo
 * each other around a few that are left, among them ties. */
enum drawing { ANY, FINITE, NEIGHBOURS, UNDONE, DRAWINGS };
static const char *const drawing_name[] = {"any bits", "finite bits", "neighbours", "undone"};

static void draw_array(const struct array *a, enum drawing how, uint64_t *seed)
{
    enum format f = a->format;
    uint64_t inf = format_encode(f, __builtin_inf()), field = sample_next(seed) % 4096;
    size_t left = 1 + sample_next(seed) % 3, pairs = a->n > left ? (a->n - left) / 2 : 0;
    for (size_t i = 0; i < a->n; i++) {
        uint64_t bits = sample_next(seed);
        if (how == FINITE || (how == UNDONE && i < pairs))
            bits = ((bits & ~sign_bit(f)) % inf) | (bits & sign_bit(f));
        else if (how == UNDONE && i < 2 * pairs)
            bits = array_bits(a, i - pairs) ^ sign_bit(f);
        else if (how != ANY)
            bits = bits_near(f, field, seed);
        if (how == UNDONE && i >= 2 * pairs && bits >> 20 & 1) /* few bits: ties */
            bits &= ~((UINT64_C(1) << (format_facts[f].precision - 2)) - 1);
        array_set_bits(a, i, bits);
    }
    for (size_t i = 1; i < a->n; i++) {
        size_t j = sample_next(seed) % (i + 1);
        uint64_t bits = array_bits(a, i);
        array_set_bits(a, i, array_bits(a, j));
        array_set_bits(a, j, bits);
    }
}

static bool check_bits(const struct method *m, size_t elements, char why[WHY])
{
    uint64_t seed = 20;
    static double data[3000];
    char what[64];
    for (size_t drawn = 0; drawn < elements;) {
        uint64_t start = seed, draw = sample_next(&seed);
        struct array a = {draw % ACCUMULATORS, 1 + (draw >> 8) % (draw >> 4 & 255 ? 12 : 3000),
                          data};
        enum drawing how = (draw >> 40) % DRAWINGS;
        draw_array(&a, how, &seed);
        snprintf(what, sizeof what, "%s, seed %#" PRIx64, drawing_name[how], start);
        if (!check_array(m, &a, a.n > 12 ? draw >> 50 : 0, what, why))
            return false;
        drawn += a.n;
    }
    return true;
}

bool holds_rounded(const struct method *m, char why[WHY])
{
    if (m->promise < PROMISE_CORRECTLY_ROUNDED)
        return true;
    return holds_families(m, why) &&
           check_bits(m, only_adds(m) && m->operation != &operation_scan ? 2000000 : 500000, why);
}
