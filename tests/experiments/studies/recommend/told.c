/* What recommend tells of hand-made findings: errors, theory, rows and JSON. */
#include <math.h>

#include "experiments/studies/recommend/candidates.h"
#include "tests/support/recommends.h"

/* What the theorem says of growth, for n elements of a format. */
static struct recommend_growth theory_of(const char *method, enum format accumulator,
                                         const struct array *a, double limit)
{
    struct source source = {.name = (char *)"few", .array = *a};
    struct recommend_candidate c = {.method = method_named(method), .accumulator = accumulator};
    struct recommend_report r = {.candidate = &c, .count = 1, .source = &source};
    struct reference data;
    r.request.tolerance.limit = limit;
    r.request.confidence = 0.99;
    cr_assert_eq(reference_compute(&data, a, REFERENCE_FAST, NULL), STATUS_OK);
    recommend_theory(&r, &data);
    reference_free(&data);
    return r.growth;
}

/* (n-1) u <= 1e-4 up to n = 1678 with u = 2^-24; with lambda = sqrt(2 ln 200), lambda sqrt(n-1) <=
 * 1677 up to n = 1 + (1677 / lambda)^2, to a part in 4096. */
Test(recommend_told, theory_of_growth)
{
    float ones[] = {1, 1, 1};
    const struct array a = {FP32, 3, ones};
    double likely = 1 + pow(1677 / sqrt(2 * log(200)), 2);
    struct recommend_growth g = theory_of("sum/serial", FP32, &a, 1e-4);
    cr_expect(g.theorem_known && g.likely_known);
    cr_expect_eq(g.theorem_to, 1678);
    cr_expect_float_eq((double)g.likely_to, likely, likely / 4000, "%llu, expected %g",
                       (unsigned long long)g.likely_to, likely);
    g = theory_of("sum/widened", FP32, &a, 1e-4);
    cr_expect(g.likely_known && g.likely_to >= g.theorem_to && g.theorem_to > 1678);
    cr_expect_not(theory_of("sum/exact", FP32, &a, 1e-4).likely_known);
}

/* A guarantee ends where sum|x| may leave the range: for ones of both signs long before the sum
 * does. */
Test(recommend_told, walls_of_growth)
{
    double wide[] = {1000, -900, 1000, -900}, beyond[] = {1.5e308, -1e308, 1.5e308, -1.5e308};
    struct recommend_growth g = theory_of("sum/exact", FP16, &(struct array){FP64, 4, wide}, 0.5);
    cr_expect_eq(g.theorem_to, (uint64_t)(65504 / 950.0), "%llu", (unsigned long long)g.theorem_to);
    cr_expect_eq(g.overflows.value, 65504 / 50.0);
    /* sum|x| is no double: nothing is said. */
    g = theory_of("sum/exact", FP64, &(struct array){FP64, 4, beyond}, 0.5);
    cr_expect(!g.stagnates.known && !g.overflows.known);
}

/* Of a sum that is 0: any error is infinite, none is none, and so are bounds. */
Test(recommend_told, errors_of_a_sum_of_zero)
{
    double opposite[] = {1, -1};
    const struct array a = {FP64, 2, opposite};
    const struct recommend_tolerance t = {.quantity = RECOMMEND_REL};
    const struct theorem rounded = {.kind = THEOREM_CORRECTLY_ROUNDED},
                         tree = {.kind = THEOREM_TREE, .height = 1};
    struct reference r;
    struct measure m;
    cr_assert_eq(reference_compute(&r, &a, REFERENCE_MPFR, NULL), STATUS_OK);
    measure(&m, &r, FP64, FP64, 1, &rounded);
    cr_expect_eq(recommend_error(&t, &m, &r, FP64), INFINITY);
    measure(&m, &r, FP64, FP64, 0, &rounded);
    cr_expect_eq(recommend_error(&t, &m, &r, FP64), 0);
    measure(&m, &r, FP64, FP64, NAN, &rounded);
    cr_expect(isnan(recommend_error(&t, &m, &r, FP64)));
    struct figure bound = recommend_bound(&t, &rounded, &r, FP64, FP64);
    cr_expect(bound.known && bound.value == 0, "%g", bound.value);
    bound = recommend_bound(&t, &tree, &r, FP64, FP64);
    cr_expect(bound.known && bound.value == INFINITY, "%g", bound.value);
    reference_free(&r);
}

/* Two candidates: the one after the other is recommended, the one before breaks. */
static void describe(struct recommend_report *r, struct recommend_candidate c[3],
                     struct source *source)
{
    static float one = 1;
    *source = (struct source){.name = (char *)"one", .array = {FP32, 1, &one}};
    for (size_t i = 0; i < 3; i++)
        c[i] = (struct recommend_candidate){
            .method = method_named("sum/tiled"), .accumulator = FP32, .error = 0.5, .most = 0.25};
    c[0].broken = true;
    c[2].failed = true;
    c[2].most = 0.125;
    *r = (struct recommend_report){
        .request = {.tolerance = {.limit = 1, .text = "1"}, .promise = PROMISES},
        .source = source,
        .candidate = c,
        .count = 3,
        .chosen = 1,
        .cheaper = 0};
    r->growth = (struct recommend_growth){
        .measured = true, .lengths = 7, .holds_to = 10, .breaks_at = 20, .theorem_known = true};
    r->growth.stagnates = (struct figure){true, INFINITY};
}

static struct rows rows_as_read(const struct recommend_report *r)
{
    struct text text = {0};
    struct bytes b = {0};
    columns_header(&text, recommend_column, RECOMMEND_COLUMNS);
    recommend_rows(&text, r);
    add_string(&b, text_string(&text));
    put_file("recommend.csv", &b);
    clear_bytes(&b);
    text_free(&text);
    return rows_of(folder, "recommend", recommend_column, RECOMMEND_COLUMNS);
}

/* The verdict, what a candidate is, and what is told of the chosen one and of one that failed. */
Test(recommend_told, rows, .init = make_folder, .fini = remove_folder)
{
    struct recommend_candidate c[3];
    struct recommend_report r;
    struct source source;
    describe(&r, c, &source);
    for (int step = 0; step < 3; step++) {
        static const char *const is[] = {"next_cheaper", "next_narrower", "next_dearer"};
        static const char *const due[3][8] = {
            {"breaks", "", "0.5", "0.25", "", "", "", ""},
            {"holds", "recommended", "0.5", "0.25", "7", "10", "20", "inf"},
            {"failed", "", "", "", "", "", "", ""}};
        static const size_t column[8] = {
            RECOMMEND_VERDICT, RECOMMEND_IS,       RECOMMEND_ERROR,     RECOMMEND_MOST,
            RECOMMEND_LENGTHS, RECOMMEND_HOLDS_TO, RECOMMEND_BREAKS_AT, RECOMMEND_STAGNATES};
        r.narrower = step == 1;
        r.dearer = step == 2;
        struct rows rows = rows_as_read(&r);
        cr_assert_eq(rows.count, 3);
        for (size_t i = 0; i < 3; i++)
            for (size_t k = 0; k < 8; k++)
                if (i > 0 || k != 1)
                    cr_expect_str_eq(field_of(&rows, i, column[k]), due[i][k], "%zu: %s", i,
                                     recommend_column(column[k])->name);
        cr_expect_str_eq(field_of(&rows, 0, RECOMMEND_IS), is[step]);
        rows_free(&rows);
    }
}

/* The same as JSON: numbers that it has none for are words. */
Test(recommend_told, json)
{
    struct recommend_candidate c[3];
    struct recommend_report r;
    struct source source;
    describe(&r, c, &source);
    json_t *answer = recommend_json(&r, "out", "again");
    const json_t *next = json_object_get(answer, "next");
    const json_t *growth = json_object_get(answer, "growth");
    cr_expect_eq(number_of(answer, "margin"), 4);
    cr_expect_str_eq(word_of(next, "is"), "next_cheaper");
    cr_expect_str_eq(word_of(next, "verdict"), "breaks");
    cr_expect_str_eq(word_of(growth, "stagnates_at"), "inf");
    cr_expect_eq(number_of(growth, "breaks_at"), 20);
    json_decref(answer);
    r.chosen = SIZE_MAX;
    r.growth = (struct recommend_growth){0};
    answer = recommend_json(&r, "out", "again");
    cr_expect_str_eq(word_of(json_object_get(answer, "next"), "is"), "nearest");
    cr_expect(json_is_null(json_object_get(answer, "margin")));
    json_decref(answer);
}

/* As fast within a tenth and as narrow: the faster first. Beside a chosen candidate the nearest
 * with a narrower accumulator is named, of those that are not simulated. */
Test(recommend_told, which_comes_first_and_next)
{
    const struct method *m = method_named("sum/tiled");
    struct recommend_candidate c[] = {
        {.method = m, .accumulator = FP32, .rate = 95, .error = 1},
        {.method = m, .accumulator = FP32, .rate = 100, .error = 2},
        {.method = m, .accumulator = FP16, .error = 9, .broken = true},
        {.method = m, .accumulator = FP32, .error = 7, .broken = true},
        {.method = &recommend_promoted[0].method,
         .accumulator = FP16,
         .promoted = &recommend_promoted[0],
         .error = 8,
         .broken = true},
    };
    struct recommend_report r = {.candidate = c, .count = 2, .chosen = 0, .cheaper = SIZE_MAX};
    recommend_sort(&r);
    cr_expect(c[0].error == 2 && c[1].error == 1, "%g, %g", c[0].error, c[1].error);
    r.count = sizeof c / sizeof *c;
    recommend_find_cheaper(&r);
    cr_expect(r.cheaper == 2 && r.narrower, "%zu", r.cheaper);
    r.chosen = r.cheaper = SIZE_MAX;
    c[3].error = 9.5;
    recommend_find_cheaper(&r);
    cr_expect(r.cheaper == 2 && !r.narrower, "%zu", r.cheaper);
}

/* What is not timed stands in the order given, but for the user's own, what breaks and what a
 * theorem guarantees, and nothing is called cheaper. */
Test(recommend_told, nothing_is_cheaper_than_what_was_not_timed)
{
    const struct method *m = method_named("sum/tiled");
    struct method own = *m;
    struct foreign *const somebody = (void *)&own; /* not looked into */
    own.foreign = somebody;
    for (int step = 0; step < 7; step++) {
        static const char *const due[] = {
            "\nnext in the order given: sum/tiled",
            "\nnext in the order below: sum/tiled",
            "\nnext narrower, not timed: sum/tiled",
            "\nnot timed: nothing before it in the order below, and nothing narrower, was",
            "\nit is the only candidate: nothing else was there to break\n",
            "\nnext cheaper: sum/tiled",
            "\nnot enough: sum/tiled"};
        struct recommend_candidate c[3];
        struct recommend_report r;
        struct source source;
        struct text text = {0};
        describe(&r, c, &source);
        c[0].method = c[1].method = step == 0 ? &own : m;
        c[0].accumulator = step == 1 || step == 2 ? FP16 : FP32;
        c[0].rate = step == 5 ? 200 : 0;
        c[1].rate = step == 5 ? 100 : 0;
        r.narrower = step == 2;
        r.dearer = step == 6;
        r.cheaper = step == 3 || step == 4 ? SIZE_MAX : 0;
        r.count = step == 4 ? 1 : 3;
        r.chosen = step == 4 ? 0 : 1;
        r.request.program = "ulpscope";
        recommend_text(&text, &r, "out", "again");
        const char *said = text_string(&text);
        cr_expect(strstr(said, due[step]), "%d: %s", step, said);
        cr_expect_eq(strstr(said, "cheap") != NULL, step == 5, "%d: %s", step, said);
        cr_expect_eq(strstr(said, "\nthe order where nothing is timed: ") != NULL, step != 5,
                     "%d: %s", step, said);
        text_free(&text);
    }
    struct recommend_candidate c[] = {{.method = m, .accumulator = FP32, .error = 0},
                                      {.method = m, .accumulator = FP32, .error = 1},
                                      {.method = m, .accumulator = FP32, .error = 2},
                                      {.method = &own, .accumulator = FP32, .error = 3},
                                      {.method = m, .accumulator = FP16, .error = 4},
                                      {.method = m, .accumulator = FP32, .error = 5}};
    c[2].guaranteed = true;
    c[5].broken = true;
    struct recommend_report r = {.candidate = c, .count = 6, .chosen = SIZE_MAX};
    static const double order[] = {4, 3, 5, 2, 0, 1};
    recommend_sort(&r);
    for (size_t i = 0; i < 6; i++)
        cr_expect_eq(c[i].error, order[i], "%zu: %g", i, c[i].error);
}

/* A method without such a result is told with those that it has: no promise is at fault. */
Test(recommend_told, which_results_there_are, .init = make_folder, .fini = remove_folder)
{
    char *words[] = {"ulpscope", "recommend",   "--device", "cpu",       "--out",
                     "",         "--input",     "uniform",  "--storage", "fp16",
                     "--n",      "10",          "--method", "",          "--accumulator",
                     "fp16",     "--tolerance", "1e-3",     "--promise", "run_to_run"};
    for (int has = 0; has < 2; has++) {
        struct arguments a;
        struct problem p = {0};
        char out[256];
        snprintf(out, sizeof out, "%s", in_folder("out"));
        words[5] = out;
        words[13] = has ? "sum/atomic" : "sum/double_word";
        cr_assert_eq(arguments_parse(&a, sizeof words / sizeof *words, words, &p), STATUS_OK);
        cr_expect_eq(a.verb->run(&a, &p), STATUS_USAGE);
        cr_expect(
            strstr(p.text, has ? "none of 1 methods declares the promise run_to_run"
                               : "of fp16 elements sum/double_word has results in fp32,fp64; "
                                 "found --accumulator fp16, expected --accumulator fp32,fp64"),
            "%s", p.text);
    }
}

/* Elements are drawn one by one, not in pairs. */
Test(recommend_told, neighbours_are_drawn_apart)
{
    enum { N = 1000 };
    static double x[N];
    struct source from;
    struct recommend_sample s;
    size_t equal = 0;
    for (size_t i = 0; i < N; i++)
        x[i] = (double)i;
    const struct data data = {.name = "few", .array = {FP64, N, x}};
    cr_assert_eq(source_data(&from, &data, N, NULL), STATUS_OK);
    cr_assert_eq(
        recommend_sample_make(&s, &from, RECOMMEND_RESAMPLE, 1, N, 7, (struct device){0}, NULL),
        STATUS_OK);
    for (size_t i = 1; i < N; i++)
        equal += array_get(&s.array, i) == array_get(&s.array, i - 1);
    cr_expect(equal < 20, "%zu", equal); /* 1 is due */
    recommend_sample_free(&s);
    source_free(&from);
}

/* Theorems bound additions in an accumulator. That somebody's code makes these is not known. */
Test(recommend_told, guarantees_suppose_what_a_subject_does)
{
    struct method m = *method_named("sum/serial");
    struct foreign *const somebody = (void *)&m; /* not looked into */
    for (int foreign = 0; foreign < 2; foreign++) {
        struct recommend_candidate c[3];
        struct recommend_report r;
        struct source source;
        struct text text = {0};
        describe(&r, c, &source);
        m.foreign = foreign ? somebody : NULL;
        c[r.chosen].method = &m;
        c[r.chosen].accumulator = FP32;
        c[r.chosen].bound = (struct figure){true, 1e-9};
        r.growth.theorem_known = true;
        r.growth.theorem_to = 1000;
        r.request.program = "ulpscope";
        recommend_text(&text, &r, "out", "again");
        const char *said = text_string(&text);
        cr_assert(said);
        cr_expect(strstr(said, foreign
                                   ? "\n  if it only adds, and in fp32: guaranteed on these data"
                                   : "\n  guaranteed on these data"),
                  "%s", said);
        cr_expect(strstr(said, foreign ? "\n  if it only adds, and in fp32: guaranteed only up to n"
                                       : "\n  guaranteed only up to n"),
                  "%s", said);
        text_free(&text);
    }
}

/* Where some elements of D were tried, the bound is said of these alone. */
Test(recommend_told, guarantees_are_of_what_was_tried)
{
    struct recommend_candidate c[3];
    struct recommend_report r;
    struct source source;
    struct text text = {0};
    describe(&r, c, &source);
    c[r.chosen].bound = (struct figure){true, 1e-9};
    r.part = source;
    r.source = &r.part;
    r.request.program = "ulpscope";
    recommend_text(&text, &r, "out", "again");
    const char *said = text_string(&text);
    cr_assert(said);
    cr_expect(strstr(said, "\n  guaranteed on what was tried of these data: "), "%s", said);
    text_free(&text);
}

/* A comma of a command, written `\,`, stays with it in a list of methods. */
Test(recommend_told, commas_of_a_command)
{
    struct recommend_candidate c[3];
    struct recommend_report r;
    struct source source;
    struct text text = {0};
    struct method m = *method_named("sum/serial");
    describe(&r, c, &source);
    m.name = "exec:awk -F, x,sum/tiled";
    c[0].method = &m;
    r.request.program = "ulpscope";
    recommend_show(&text, &r, &c[0], "out");
    cr_expect(strstr(text_string(&text), "--method 'exec:awk -F\\, x\\,sum/tiled' --out"), "%s",
              text_string(&text));
    text_clear(&text);
    recommend_show(&text, &r, &c[1], "out");
    cr_expect(strstr(text_string(&text), "--method sum/tiled --out"), "%s", text_string(&text));
    text_free(&text);
}

/* What has no row in the table is counted, and has one in a wide table; of data that all candidates
 * add without error that is said. */
Test(recommend_told, counts_what_has_no_row)
{
    struct recommend_candidate c[3];
    struct recommend_report r;
    struct source source;
    describe(&r, c, &source);
    c[0].broken = c[1].broken = true;
    r.chosen = 2;
    c[2].failed = false;
    r.cheaper = SIZE_MAX;
    for (int step = 0; step < 4; step++) {
        static const char *const due[] = {
            "2 more candidates (--wide, out/recommend.csv): 2 break\n",
            "1 more candidate (--wide, out/recommend.csv): 1 failed\n", NULL,
            "note: all 2 candidates add the data without error: "};
        struct text text = {0};
        c[0].data_error = step < 3 ? 0.5 : 0;
        c[1].pareto = step > 0;
        c[0].failed = step > 0;
        table_set_wide(step == 2);
        recommend_frontier(&text, &r, "out");
        const char *said = text_string(&text);
        if (due[step])
            cr_expect(strstr(said, due[step]), "%d: %s", step, said);
        else
            cr_expect(!strstr(said, "more candidate") && strstr(said, "\n- sum/tiled"), "%s", said);
        text_free(&text);
    }
    table_set_wide(false);
}

/* The answer on the first line, then the question, the evidence, and the command; no line but a
 * command's is wider than 100. */
Test(recommend_told, verdict_first)
{
    struct recommend_candidate c[3];
    struct recommend_report r;
    struct source source;
    describe(&r, c, &source);
    r.request.program = "ulpscope";
    for (int enough = 0; enough < 2; enough++) {
        struct text text = {0};
        r.chosen = enough ? 1 : SIZE_MAX;
        c[1].tried = 1234567;
        c[1].drawn = 123456;
        recommend_text(&text, &r, "out", "ulpscope recommend WORDS");
        const char *said = text_string(&text);
        const char *due = enough ? "enough: sum/tiled, added in fp32\n\none: 1 elements of fp32\n"
                                 : "nothing is enough: none of 3 candidates\n\none: 1 elements";
        cr_expect(strncmp(said, due, strlen(due)) == 0, "%s", said);
        cr_expect(strstr(said, "\nreproduce: ulpscope recommend WORDS\n"), "%s", said);
        for (const char *at = said; at; at = strchr(at, '\n')) {
            at += *at == '\n';
            cr_expect(strcspn(at, "\n") <= 100 || strstr(at, "reproduce: ") ||
                          strncmp(at, "out: recommend.csv", 18) == 0,
                      "%.*s", (int)strcspn(at, "\n"), at);
        }
        text_free(&text);
    }
}

/* So few arrays that nothing follows for the others: no percentage is told. */
Test(recommend_told, few_drawn_arrays_tell_no_share)
{
    static const char *const due[] = {
        " and 1 drawn one (resamples, shuffles), too few to say how many",
        ": 95% confident that at most 5%"};
    struct recommend_candidate c[3];
    struct recommend_report r;
    struct source source;
    describe(&r, c, &source);
    r.request.program = "ulpscope";
    for (size_t k = 0; k < 2; k++) {
        struct text text = {0}, flat = {0};
        r.chosen = 1;
        r.request.confidence = 0.95;
        r.unseen = k == 0 ? 0.95 : 0.05;
        c[1].drawn = k == 0 ? 1 : 59;
        recommend_text(&text, &r, "out", "ulpscope recommend WORDS");
        for (const char *at = text_string(&text); *at; at++)
            if (*at != ' ' || at[1] != ' ')
                text_append(&flat, *at == '\n' ? "" : at, *at != '\n');
        cr_expect(strstr(text_string(&flat), due[k]), "%zu: %s", k, text_string(&text));
        text_free(&text);
        text_free(&flat);
    }
}
