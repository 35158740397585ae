/* run cond: which condition numbers it takes, and what a person sees of it. */
#include <math.h>

#include "tests/support/study.h"

enum { PLACES = 200 };

/* The words of the first line behind `from` that begins with this word; how many there are. */
static size_t words_of(char *word[], char line[TABLE_WIDTH + 1], const char *from,
                       const char *first)
{
    size_t count = 0, length = strlen(first);
    for (const char *at = from; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, first, length) != 0 || at[length] != ' ')
            continue;
        snprintf(line, TABLE_WIDTH + 1, "%.*s", (int)strcspn(at, "\n"), at);
        for (char *w = strtok(line, " "); w; w = strtok(NULL, " "))
            word[count++] = w;
        break;
    }
    return count;
}

/* What results.csv says of a method: its largest error and bound, relative to the sum, at 2^i. */
struct curve {
    bool known[PLACES];
    double error[PLACES], bound[PLACES];
};

static double field_value(const struct rows *r, size_t row, size_t column)
{
    return strtod(field_of(r, row, column), NULL);
}

static void curve_of(struct curve *c, const struct rows *r, const char *method)
{
    *c = (struct curve){0};
    for (size_t i = 0; i < r->count; i++) {
        double log2_cond = field_value(r, i, RESULTS_METHOD + CASE_COND_LOG2 - CASE_METHOD);
        size_t place = (size_t)lround(log2_cond);
        cr_assert(place < PLACES);
        if (strcmp(field_of(r, i, RESULTS_METHOD), method) != 0)
            continue;
        double bound = *field_of(r, i, RESULTS_BOUND) ? field_value(r, i, RESULTS_BOUND) /
                                                            fabs(field_value(r, i, RESULTS_EXACT))
                                                      : INFINITY;
        c->known[place] = true;
        c->error[place] = fmax(c->error[place], field_value(r, i, RESULTS_ERR_REL));
        c->bound[place] = fmax(c->bound[place], bound);
    }
}

/* The cell of the least condition number at which a curve reaches 1. */
static void cliff_of(char cell[16], const struct curve *c, const double *curve)
{
    int last = 0;
    for (int i = 0; i < PLACES; i++) {
        if (c->known[i] && curve[i] >= 1) {
            snprintf(cell, 16, "2^%d", i);
            return;
        }
        last = c->known[i] ? i : last;
    }
    snprintf(cell, 16, ">2^%d", last);
}

static void digits_of(char cell[16], double error)
{
    snprintf(cell, 16, error == 0 ? "exact" : "%.1f", error >= 1 ? 0 : -log10(error));
}

/* The place at which a curve reaches 1; PLACES: nowhere. */
static int place_of(const struct curve *c, const double *curve)
{
    int i = 0;
    while (i < PLACES && !(c->known[i] && curve[i] >= 1))
        i++;
    return i;
}

/* The first of the methods whose place is least, or largest, and how many others have it. */
struct tie {
    const char *first;
    int place, others;
};

static void tie_add(struct tie *t, const char *name, int place, bool better)
{
    if (!t->first || better)
        *t = (struct tie){name, place, 0};
    else if (place == t->place)
        t->others++;
}

static void add_others(struct text *to, int others)
{
    if (others > 0)
        text_format(to, " and %d other%s", others, others == 1 ? "" : "s");
}

/* Every method of the registry, with two seeds, of which the worse is shown. */
Test(cond, cells_are_what_the_rows_say, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    const char *out = in_folder("out");
    static const int shown[] = {0, 12, 24, 36, 48, 60, 72, 84, 90};
    enum { CLIFF = 1, THEORY, DIGITS };
    study_make(&s, "cond",
               (study_words){{"device", "cpu"},
                             {"storage", "fp32"},
                             {"accumulator", "fp32"},
                             {"n", "2^9"},
                             {"cond", "1..2^90x8"},
                             {"seed", "1,2"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    struct text text = table_of(&s, out);
    struct rows r = rows_read(out, false);
    char line[TABLE_WIDTH + 1], cell[16], *word[40];
    cr_assert(strstr(text.data, "\nfp32/fp32, n = 512\n"), "%s", text.data);
    size_t header = words_of(word, line, text.data, "method"), methods = 0;
    struct tie sooner = {0}, later = {0};
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        snprintf(cell, sizeof cell, "2^%d", shown[k]);
        cr_expect_str_eq(word[DIGITS + k], cell);
    }
    cr_expect_eq(header, 1 + sizeof shown / sizeof *shown + 2);
    for (size_t m = 0; m < s.axes.methods; m++) {
        struct curve c;
        const char *name = s.axes.method[m]->name;
        if (!method_supports(s.axes.method[m], DEVICE_CPU, FP32, FP32))
            continue;
        methods++;
        curve_of(&c, &r, name);
        cr_assert_eq(words_of(word, line, text.data, name), header, "%s", name);
        for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
            digits_of(cell, c.error[shown[k]]);
            cr_expect_str_eq(word[DIGITS + k], cell, "%s at 2^%d", name, shown[k]);
        }
        cliff_of(cell, &c, c.error);
        cr_expect_str_eq(word[CLIFF], cell, "%s", name);
        int place = place_of(&c, c.error);
        tie_add(&sooner, name, place, place < sooner.place);
        tie_add(&later, name, place, place > later.place);
        cliff_of(cell, &c, c.bound);
        cr_expect_str_eq(word[THEORY], cell, "%s: theory", name);
        for (int i = 0; i < PLACES; i++)
            cr_expect(!c.known[i] || c.error[i] <= c.bound[i], "%s at 2^%d", name, i);
    }
    cr_expect(strstr(text.data, "\ncolumns are some of the 31 condition numbers tried; --wide has "
                                "all\n") &&
                  !strstr(text.data, "left out"),
              "%s", text.data);
    /* The verdict comes first: who is the first to lose all digits, and who keeps some; ties are
     * counted. */
    struct text due = {0}, wrapped = {0};
    cr_assert(sooner.first && later.first);
    text_format(&due, "fp32/fp32, n = 512: %s", sooner.first);
    add_others(&due, sooner.others);
    text_format(&due, " ha%s no digit right from a condition number of 2^%d on; %s",
                sooner.others ? "ve" : "s", sooner.place, later.first);
    add_others(&due, later.others);
    text_format(&due, " keep%s some up to 2^90, the largest tried", later.others ? "" : "s");
    text_wrapped(&wrapped, &due, TABLE_COLUMNS, 2);
    cr_expect(later.place == PLACES && later.others > 0, "%d", later.place);
    cr_expect(strncmp(text.data, text_string(&wrapped), wrapped.length) == 0, "%s\nexpected %s",
              text.data, wrapped.data);
    text_free(&due);
    text_free(&wrapped);
    cr_expect(methods >= 13 && r.count == methods * 31 * 2, "%zu methods, %zu rows", methods,
              r.count);
    rows_free(&r);
    text_free(&text);
    char path[400];
    snprintf(path, sizeof path, "%s/results.csv", out);
    cr_assert_eq(remove(path), 0);
    cr_expect_eq(s.axes.experiment->table(&text, &s.plan, out, &s.problem), STATUS_DATA);
    text_free(&text);
    study_free(&s);
}

/* A table for each pair of formats and length. */
Test(cond, tables, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    const char *out = in_folder("out");
    study_make(&s, "cond",
               (study_words){{"method", "sum/tiled"},
                             {"device", "cpu"},
                             {"storage", "fp16,fp64"},
                             {"accumulator", "fp32,fp64"},
                             {"input", "cond,zero_sum,uniform"},
                             {"n", "20,30"},
                             {"cond", "2^4"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    struct text text = table_of(&s, out);
    for (size_t i = 0; i < 8; i++) {
        char heading[64], line[TABLE_WIDTH + 1], *word[40];
        snprintf(heading, sizeof heading, "\n%s/%s, n = %s\n", i & 1 ? "fp16" : "fp64",
                 i & 2 ? "fp32" : "fp64", i & 4 ? "20" : "30");
        const char *at = strstr(text.data, heading);
        cr_assert(at && !strstr(at + 1, heading), "%s: %s", heading, text.data);
        /* uniform has condition 1, cond 2^4, zero_sum none that is finite */
        cr_assert_eq(words_of(word, line, at, "method"), 5, "%s", text.data);
        cr_expect(strcmp(word[3], "2^0") == 0 && strcmp(word[4], "2^4") == 0, "%s", text.data);
        cr_assert_eq(words_of(word, line, at, "sum/tiled"), 5, "%s", text.data);
        cr_expect_str_eq(word[1], ">2^4");
    }
    cr_expect(strstr(text.data, ": sum/tiled keeps digits up to a condition number of 2^4, the "
                                "largest tried\n"),
              "%s", text.data);
    text_free(&text);
    study_free(&s);
}

static double target_of(const struct source *s)
{
    return s->input.parameter[1];
}

/* What is beyond a format is left out where nobody asked for it, and a failure else. */
Test(cond, within_reach, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    const char *out = in_folder("out");
    double most[ACCUMULATORS] = {0};
    size_t count[ACCUMULATORS] = {0};
    study_make(&s, "cond", (study_words){{"method", "sum/tiled"}, {"device", "cpu"}, {NULL}});
    for (size_t i = 0; i < s.plan.sources; i++) {
        struct source *source = &s.plan.source[i];
        enum format f = source->array.format;
        most[f] = fmax(most[f], log2(target_of(source)));
        count[f]++;
        cr_expect_eq(source_load(source, &s.problem), STATUS_OK, "%s", s.problem.text);
        double sum_abs = 0;
        for (size_t k = 0; k < source->array.n; k++)
            sum_abs += fabs(array_get(&source->array, k));
        cr_expect(sum_abs <= format_facts[f].largest, "%s in %s", source->name,
                  format_facts[f].name);
        source_unload(source);
    }
    cr_expect(most[FP16] == 28 && most[BF16] == 140 && most[FP32] == 140 && most[FP64] == 608,
              "2^%g 2^%g 2^%g 2^%g", most[FP16], most[BF16], most[FP32], most[FP64]);
    cr_expect(s.plan.left_out > 0 &&
                  s.plan.left_out + s.plan.sources == ACCUMULATORS * s.axes.conds,
              "%zu left out of %zu", s.plan.left_out, ACCUMULATORS * s.axes.conds);
    study_free(&s);
    study_make(&s, "cond",
               (study_words){{"method", "sum/tiled"}, {"device", "cpu"}, {"n", "1"}, {NULL}});
    cr_expect_eq(s.plan.sources, ACCUMULATORS, "one element has the condition number 1");
    study_free(&s);
    study_make(&s, "cond",
               (study_words){{"method", "sum/tiled"},
                             {"device", "cpu"},
                             {"storage", "fp16"},
                             {"cond", "2^4,2^60"},
                             {"n", "1000"},
                             {NULL}});
    cr_expect_eq(s.plan.left_out, 0);
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.failed == 2 && strstr(s.notes, "out of reach"), "%s", s.notes);
    study_free(&s);
}

static json_t *study_json(const char *out)
{
    char path[400];
    json_t *json;
    struct problem p = {0};
    snprintf(path, sizeof path, "%s/study.json", out);
    cr_assert_eq(study_read(&json, path, &p), STATUS_OK, "%s", p.text);
    return json;
}

/* study.json says which condition numbers, and whether they were asked for. */
Test(cond, repeated_from_study_json, .init = make_folder, .fini = remove_folder)
{
    for (int named = 0; named < 2; named++) {
        struct study s, again = {0};
        const char *out = in_folder(named ? "named" : "defaults");
        study_words words = {{"device", "cpu"},
                             {"method", "sum/serial"},
                             {"n", "100"},
                             {"storage", "fp16"},
                             {named ? "cond" : "seed", named ? "1,2^70" : "1"},
                             {NULL}};
        study_make(&s, "cond", words);
        cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
        json_t *json = study_json(out), *axes = json_object_get(json, "axes");
        cr_expect_eq(json_array_size(json_object_get(axes, "cond_named")), (size_t)named);
        cr_assert_eq(
            request_repeat(&again.request, experiment_of("cond"), axes, out, &again.problem),
            STATUS_OK, "%s", again.problem.text);
        cr_assert_eq(study_resolve(&again, "cond"), STATUS_OK, "%s", again.problem.text);
        cr_expect(again.plan.case_count == s.plan.case_count &&
                      again.plan.left_out == s.plan.left_out,
                  "named %d: %zu cases, then %zu", named, s.plan.case_count, again.plan.case_count);
        for (size_t i = 0; i < s.plan.case_count; i++)
            cr_expect_not_null(plan_find(&again.plan, s.plan.cases[i].id));
        json_decref(json);
        study_free(&s);
        study_free(&again);
    }
    /* Studies made before there were such experiments stay what they are. */
    study_run("accuracy",
              (study_words){{"device", "cpu"}, {"method", "sum/serial"}, {"n", "3"}, {NULL}},
              in_folder("accuracy"));
    json_t *json = study_json(in_folder("accuracy"));
    cr_expect_null(json_object_get(json_object_get(json, "axes"), "cond_named"));
    json_decref(json);
}

Test(cond, ranges)
{
    const struct {
        const char *word;
        size_t count;
        double last;
    } good[] = {{"1..2^10", 11, 1024},
                {"1..2^10x4", 6, 1024},
                {"2^3..2^100x2^40", 3, 0x1p83},
                {"10..100x1.5", 6, 75.9375},
                {"1e6", 1, 1e6}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct study s = {0};
        ask(&s.request, (study_words){{"device", "cpu"}, {"cond", good[i].word}, {NULL}});
        cr_assert_eq(axes_resolve(&s.axes, experiment_of("cond"), &s.request, &s.problem),
                     STATUS_OK, "%s", s.problem.text);
        cr_expect(s.axes.conds == good[i].count && s.axes.cond[good[i].count - 1] == good[i].last &&
                      s.axes.cond_named,
                  "%s: %zu, the last %g", good[i].word, s.axes.conds,
                  s.axes.cond[s.axes.conds - 1]);
        study_free(&s);
    }
    static const char *const bad[] = {"1..2^10x1", "1..2^10x0.5", "1..2^10x", "1..2^10x2x2",
                                      "1..x4",     "8..4x2",      "4x2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct study s = {0};
        ask(&s.request, (study_words){{"device", "cpu"}, {"cond", bad[i]}, {NULL}});
        cr_expect_eq(axes_resolve(&s.axes, experiment_of("cond"), &s.request, &s.problem),
                     STATUS_USAGE, "%s", bad[i]);
        cr_expect(strstr(s.problem.text, "--cond"), "%s: %s", bad[i], s.problem.text);
        study_free(&s);
    }
}
