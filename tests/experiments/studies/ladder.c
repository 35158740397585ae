/* run ladder: what a person sees of it is what the files say. */
#include <math.h>

#include "experiments/studies/ladder_prices.h"
#include "tests/support/study.h"

enum { RUNS = 6, RESULTS_MOST = 4000 };

/* Two inputs in two orders each, two launch shapes, several lengths of cases and times. */
static study_words words = {
    {"method", "sum/atomic,sum/two_kernel,sum/serial,sum/tiled,sum/sum2"},
    {"device", "cpu"},
    {"storage", "fp32"},
    {"accumulator", "fp32"},
    {"input", "symmetric,symmetric:order=shuffled,cond,cond:order=ascending"},
    {"cond", "2^30"},
    {"n", "3000"},
    {"threads", "0,32"},
    {"timed", "9000"},
    {"runs", "6"},
    {NULL}};
static const char *const input[] = {"symmetric", "cond:target=1073741824"};

/* The words of the line that has the first two columns' cells; the first cell may be empty. */
static size_t words_of(char *word[], char line[TABLE_WIDTH + 1], const struct text *text,
                       const char *method)
{
    size_t count = 0;
    for (const char *at = strstr(text->data, "\npromise "); at && count == 0;
         at = strchr(at, '\n')) {
        at += *at == '\n';
        snprintf(line, TABLE_WIDTH + 1, "%.*s", (int)strcspn(at, "\n"), at);
        char *name = strstr(line, method);
        if (!name || name - line < 12 || name - line > 20) /* behind the promise */
            continue;
        for (char *w = strtok(name, " "); w; w = strtok(NULL, " "))
            word[count++] = w;
    }
    return count;
}

static int by_bits(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Different results of a method in rows of an input: of one order and shape (threads), or of any,
 * where these are NULL. */
static size_t different(const struct rows *r, const char *method, const char *base,
                        const char *order, const char *threads)
{
    const char *bits[RESULTS_MOST];
    size_t count = 0, kept = 0, length = strlen(base);
    const size_t at = RESULTS_METHOD - CASE_METHOD;
    for (size_t i = 0; i < r->count; i++) {
        const char *name = field_of(r, i, at + CASE_INPUT);
        if (strcmp(field_of(r, i, RESULTS_METHOD), method) == 0 &&
            strncmp(name, base, length) == 0 && (!order || strcmp(name + length, order) == 0) &&
            (!threads || strcmp(field_of(r, i, at + CASE_THREADS), threads) == 0))
            bits[count++] = field_of(r, i, RESULTS_RESULT_BITS);
    }
    cr_assert(count <= RESULTS_MOST);
    qsort(bits, count, sizeof *bits, by_bits);
    for (size_t i = 0; i < count; i++)
        kept += i == 0 || strcmp(bits[i], bits[i - 1]) != 0;
    return kept;
}

/* What the columns runs, launches and orders are to be. */
static struct ladder_results results_of(const struct rows *r, const struct study *s,
                                        const char *method)
{
    static const char *const order[2][2] = {{"", ":order=shuffled"}, {"", ":order=ascending"}};
    struct ladder_results most = {0};
    for (size_t i = 0; i < 2; i++) {
        size_t any = different(r, method, input[i], NULL, NULL);
        most.orders = any > most.orders ? any : most.orders;
        for (size_t k = 0; k < 2; k++) {
            size_t any_shape = different(r, method, input[i], order[i][k], NULL);
            most.launches = any_shape > most.launches ? any_shape : most.launches;
        }
    }
    for (size_t i = 0; i < s->plan.case_count; i++)
        if (strcmp(s->plan.cases[i].method->name, method) == 0 &&
            s->plan.cases[i].summary.distinct > most.runs)
            most.runs = s->plan.cases[i].summary.distinct;
    return most;
}

static double error_of(const struct rows *r, const char *method, const char *base)
{
    double most = 0;
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(field_of(r, i, RESULTS_METHOD), method) == 0 &&
            strncmp(field_of(r, i, RESULTS_METHOD + CASE_INPUT - CASE_METHOD), base,
                    strlen(base)) == 0)
            most = fmax(most, strtod(field_of(r, i, RESULTS_ERR_ULP), NULL));
    return most;
}

/* The row of times.csv. */
static const char *time_field(const struct rows *r, const char *method, const char *name,
                              size_t column)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(field_of(r, i, TIMES_METHOD), method) == 0 &&
            strcmp(field_of(r, i, TIMES_INPUT), name) == 0)
            return field_of(r, i, column);
    cr_assert_fail("no time of %s on %s", method, name);
    return NULL;
}

static void expect_line(const struct study *s, const struct text *text, const struct rows *results,
                        const struct rows *times, const char *method)
{
    char line[TABLE_WIDTH + 1], cell[32], *word[20];
    bool shapes = method_named(method)->shape_read[DEVICE_CPU] != 0;
    cr_assert_eq(words_of(word, line, text, method), 7 + shapes, "%s:\n%s", method, text->data);
    for (size_t i = 0; i < 2; i++) {
        double ratio = 1 / strtod(time_field(times, method, input[i], TIMES_OF_RAW), NULL);
        snprintf(cell, sizeof cell, ratio < 99.5 ? "%.2f" : "%.0f", ratio);
        cr_expect_str_eq(word[1 + i], cell, "%s: time on %s", method, input[i]);
        double error = error_of(results, method, input[i]);
        snprintf(cell, sizeof cell, error < 99.5 ? "%.2g" : "%.1e", error);
        cr_expect_str_eq(word[3 + i], cell, "%s: error on %s", method, input[i]);
    }
    struct ladder_results most = results_of(results, s, method);
    /* Of a method that reads no launch shape none was tried. */
    const uint64_t with[] = {most.runs, most.launches, most.orders},
                   without[] = {most.runs, most.orders}, *expected = shapes ? with : without;
    for (size_t i = 0; i < 2u + shapes; i++)
        cr_expect_eq(strtoull(word[5 + i], NULL, 10), expected[i], "%s: %s", method, word[5 + i]);
}

Test(ladder, cells_are_what_the_files_say, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    const char *out = in_folder("out");
    study_make(&s, "ladder", words);
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    struct text text = table_of(&s, out);
    struct rows results = rows_read(out, false),
                times = rows_of(out, "times", times_column, TIMES_COLUMNS);
    for (size_t m = 0; m < s.axes.methods; m++)
        expect_line(&s, &text, &results, &times, s.axes.method[m]->name);
    cr_expect(strstr(text.data, "\nlaunches: over 2 launch shapes\n  blank: the method reads no "
                                "launch shape\norders: over 2 orders of the same elements\n"),
              "%s", text.data);
    cr_expect(strstr(text.data, "cpu, fp32/fp32, n = 3000, 6 runs of each case\n"
                                "a: symmetric, condition number 2^") &&
                  strstr(text.data, "b: cond:target=1073741824, condition number 2^30; timed at n "
                                    "= 9000, raw read "),
              "%s", text.data);
    cr_expect(!strstr(text.data, "!:") == !strstr(text.data, "!") && !strstr(text.data, "memory  "),
              "a column without figures is left out, no promise is broken: %s", text.data);
    /* The rungs in their order. */
    const char *rung = strstr(text.data, "\nnone  "), *prices = strstr(text.data, "cheapest");
    for (enum promise p = PROMISE_RUN_TO_RUN; p <= PROMISE_GPU_TO_GPU; p++) {
        char begin[40];
        snprintf(begin, sizeof begin, "\n%s  ", promise_name[p]);
        cr_assert(rung);
        rung = strstr(rung, begin);
    }
    cr_expect(rung && rung < prices, "%s", text.data);
    /* What is found of the ladder itself: the shape matters to one, the order to a plain tree. */
    cr_expect(results_of(&results, &s, "sum/two_kernel").launches == 2 &&
              results_of(&results, &s, "sum/two_kernel").runs == 1 &&
              results_of(&results, &s, "sum/tiled").launches == 1 &&
              results_of(&results, &s, "sum/tiled").orders == 2);
    rows_free(&results);
    rows_free(&times);
    text_free(&text);
    study_free(&s);
}

/* For each promise the fastest that makes it or more, on each input. */
Test(ladder, prices, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    const char *out = in_folder("out");
    study_make(&s, "ladder", words);
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    struct text text = table_of(&s, out);
    struct rows times = rows_of(out, "times", times_column, TIMES_COLUMNS);
    const char *at = strstr(text.data, "\npromise     cheapest on a");
    cr_assert(at, "%s", text.data);
    char verdict[400] =
        "cpu, fp32/fp32, n = 3000: cost of each promise, in raw reads of symmetric:";
    for (enum promise p = PROMISE_NONE; p < PROMISES; p++) {
        char name[2][40] = {"", ""}, rung[40] = "", ratio[2][16];
        at = strchr(at + 1, '\n');
        if (p > PROMISE_GPU_TO_GPU) {
            cr_expect(at[1] == '\n' || !at[1], "none of these methods promises more: %s", at);
            break;
        }
        cr_assert_eq(
            sscanf(at, " %39s %39s %15s %39s %15s", rung, name[0], ratio[0], name[1], ratio[1]), 5,
            "%s", at);
        cr_expect_str_eq(rung, promise_name[p]);
        size_t used = strlen(verdict);
        snprintf(verdict + used, sizeof verdict - used, "%s %s %.8s (%s)",
                 p > PROMISE_NONE ? "," : "", rung, ratio[0], name[0]);
        for (size_t i = 0; i < 2; i++) {
            char cell[16];
            double best = strtod(time_field(&times, name[i], input[i], TIMES_TIME), NULL);
            double of_raw = strtod(time_field(&times, name[i], input[i], TIMES_OF_RAW), NULL);
            snprintf(cell, sizeof cell, 1 / of_raw < 99.5 ? "%.2f" : "%.0f", 1 / of_raw);
            cr_expect_str_eq(ratio[i], cell);
            cr_expect_geq(method_named(name[i])->promise, p);
            for (size_t m = 0; m < s.axes.methods; m++)
                cr_expect(
                    s.axes.method[m]->promise < p ||
                        strtod(time_field(&times, s.axes.method[m]->name, input[i], TIMES_TIME),
                               NULL) >= best,
                    "%s on %s: %s is faster than %s", rung, input[i], s.axes.method[m]->name,
                    name[i]);
        }
    }
    /* The same prices stand first, in a line of words. */
    size_t i = 0;
    for (const char *c = text.data; verdict[i] && *c; c++)
        if (*c != ' ' && *c != '\n') {
            i += strspn(verdict + i, " ");
            if (verdict[i++] != *c)
                break;
        }
    cr_expect(!verdict[i], "%s\nexpected first: %s", text.data, verdict);
    rows_free(&times);
    text_free(&text);
    study_free(&s);
}

/* Replaces the first result_bits of a method in one launch shape and order. */
static void change_result(const char *out, const struct rows *r, size_t row)
{
    char path[400], old[200], changed[200];
    snprintf(path, sizeof path, "%s/results.csv", out);
    struct bytes b = get_file(path);
    snprintf(old, sizeof old, "%s,%s,", field_of(r, row, RESULTS_CASE_ID),
             field_of(r, row, RESULTS_RUN));
    char *line = memmem(b.data, b.size, old, strlen(old));
    cr_assert(line);
    snprintf(old, sizeof old, ",%s,", field_of(r, row, RESULTS_RESULT_BITS));
    snprintf(changed, sizeof changed, "%s", old);
    size_t last = strlen(changed) - 2;
    changed[last] = changed[last] == '0' ? '1' : '0';
    char *bits = strstr(line, old);
    cr_assert(bits && bits < strchr(line, '\n'));
    memcpy(bits, changed, strlen(changed));
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(b.data, 1, b.size, file) == b.size && fclose(file) == 0);
    clear_bytes(&b);
}

/* A fixed order that gave another result in one launch shape is marked, and has no price. */
Test(ladder, broken_promises, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    const char *out = in_folder("out");
    char line[TABLE_WIDTH + 1], *word[20];
    study_make(&s, "ladder",
               (study_words){{"method", "sum/tiled,sum/kahan"},
                             {"device", "cpu"},
                             {"storage", "fp32"},
                             {"accumulator", "fp32"},
                             {"input", "symmetric"},
                             {"n", "10000"},
                             {"threads", "1,2"},
                             {"timed", "9000"},
                             {"runs", "3"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    struct text text = table_of(&s, out);
    /* That it is the cheapest then, which a stall of the machine may change, is not held. */
    cr_assert_eq(words_of(word, line, &text, "sum/tiled"), 5, "%s", text.data);
    cr_expect(strcmp(word[3], "1") == 0 && strcmp(word[4], "1") == 0, "%s", text.data);
    text_free(&text);
    struct rows r = rows_read(out, false);
    size_t row = 0;
    while (strcmp(field_of(&r, row, RESULTS_METHOD), "sum/tiled") != 0 ||
           strcmp(field_of(&r, row, RESULTS_METHOD + CASE_THREADS - CASE_METHOD), "2") != 0)
        cr_assert(++row < r.count);
    change_result(out, &r, row);
    text = table_of(&s, out);
    cr_assert_eq(words_of(word, line, &text, "sum/tiled"), 5, "%s", text.data);
    cr_expect(strcmp(word[3], "1") == 0 && strcmp(word[4], "2!") == 0, "%s", text.data);
    cr_expect(strstr(text.data, "\norders: not tried\n  blank: one order was run; give another "),
              "%s", text.data);
    const char *prices = strstr(text.data, "cheapest");
    cr_assert(prices, "%s", text.data);
    cr_expect(!strstr(prices, "sum/tiled") && strstr(prices, "sum/kahan"), "%s", text.data);
    rows_free(&r);
    text_free(&text);
    /* One case of several whose runs differ. */
    size_t first = 0;
    while (strcmp(s.plan.cases[first].method->name, "sum/tiled") != 0)
        first++;
    s.plan.cases[first].summary.distinct = 3;
    text = table_of(&s, out);
    cr_assert_eq(words_of(word, line, &text, "sum/tiled"), 5, "%s", text.data);
    cr_expect_str_eq(word[3], "3!");
    text_free(&text);
    study_free(&s);
}

/* Of several accumulators each has its own times; a raw read is that with the fewest threads. */
Test(ladder, times_in_view, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    struct ladder l;
    char rate[40];
    const char *out = in_folder("out");
    study_make(&s, "ladder",
               (study_words){{"method", "sum/atomic,sum/serial"},
                             {"device", "cpu"},
                             {"storage", "fp32"},
                             {"accumulator", "fp32,fp64"},
                             {"input", "ones"},
                             {"n", "100"},
                             {"threads", "3"},
                             {"timed", "9000"},
                             {"runs", "1"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    cr_assert_eq(ladder_read(&l, &s.plan, out, &s.problem), STATUS_OK, "%s", s.problem.text);
    struct ladder_view v = {&l, {DEVICE_CPU, 0}, FP32, FP32, 100};
    const struct ladder_time *t[2], *raw = ladder_time(&v, NULL, "ones");
    for (size_t i = 0; i < 2; i++) {
        v.accumulator = i ? FP64 : FP32;
        t[i] = ladder_time(&v, method_named("sum/atomic"), "ones");
        cr_assert(t[i] && t[i]->accumulator == v.accumulator && t[i]->threads == 3);
    }
    cr_expect(t[0] != t[1] && t[0]->time_us.value > 0 && t[1]->time_us.value > 0);
    cr_assert(raw && !raw->method && raw->threads == 1);
    cr_expect_null(ladder_time(&v, method_named("sum/atomic"), "twos"));
    struct text text = table_of(&s, out);
    snprintf(rate, sizeof rate, "raw read %.3g GB/s", raw->gb_per_s.value);
    cr_expect(strstr(text.data, rate), "%s: %s", rate, text.data);
    text_free(&text);
    ladder_free(&l);
    study_free(&s);
}

/* What results a promise rules out. */
Test(ladder, what_breaks_a_promise)
{
    for (uint64_t bits = 0; bits < 8; bits++)
        for (enum promise p = 0; p < PROMISES; p++) {
            const struct method m = {.promise = p};
            const struct ladder_results r = {
                .runs = bits & 1 ? 2 : 1, .launches = bits & 2 ? 2 : 1, .orders = bits & 4 ? 2 : 1};
            bool broken = (p >= PROMISE_RUN_TO_RUN && bits & 1) ||
                          (p >= PROMISE_GPU_TO_GPU && bits & 2) ||
                          (p >= PROMISE_ORDER_INVARIANT && bits & 4);
            cr_expect_eq(ladder_broken(&m, &r), broken, "%s: %d", promise_name[p], (int)bits);
        }
}

/* Orders are orders of the same elements: with the defaults too, on either kind of device. */
Test(ladder, orders_hold_the_same_elements)
{
    const struct experiment *e = experiment_of("ladder");
    struct list list = {0};
    cr_assert_eq(list_split(&list, e->axes[DEVICE_CPU].input, NULL), STATUS_OK);
    cr_expect_str_eq(e->axes[DEVICE_CPU].input, e->axes[DEVICE_CUDA].input);
    cr_assert_eq(list.count, 4);
    for (size_t i = 0; i < list.count; i += 2) {
        enum { N = 1000 };
        double x[2][N];
        size_t places = 0;
        for (size_t k = 0; k < 2; k++) {
            struct input in;
            const struct array a = {FP64, N, x[k]};
            cr_assert_eq(input_parse(&in, list.item[i + k], NULL), STATUS_OK);
            cr_assert_eq(input_generate(&in, &a, 7, 0x1p40 * in.family->uses_cond, NULL),
                         STATUS_OK);
        }
        for (size_t k = 0; k < N; k++)
            places += x[0][k] != x[1][k];
        cr_expect_gt(places, N / 2, "%s is in another order", list.item[i + 1]);
        for (size_t k = 0; k < 2; k++)
            cr_assert_eq(input_arrange(&(struct array){FP64, N, x[k]}, ARRANGED_ASCENDING, 0, NULL),
                         STATUS_OK);
        cr_expect(memcmp(x[0], x[1], sizeof x[0]) == 0, "%s", list.item[i + 1]);
    }
    list_free(&list);
}

/* The user's own array is run in other orders too; one launch shape, or one run, says nothing. */
Test(ladder, orders_of_data, .init = make_folder, .fini = remove_folder)
{
    enum { N = 400 };
    struct study s;
    double x[N];
    char path[320], line[TABLE_WIDTH + 1], *word[20];
    const struct array a = {FP64, N, x};
    struct input in;
    cr_assert_eq(input_parse(&in, "symmetric", NULL), STATUS_OK);
    cr_assert_eq(input_generate(&in, &a, 7, 0, NULL), STATUS_OK);
    snprintf(path, sizeof path, "%s", in_folder("x.npy"));
    cr_assert_eq(data_write_npy(path, &a, NULL), STATUS_OK);
    for (int time = 0; time < 2; time++) { /* resumed too */
        study_make(&s, "ladder",
                   (study_words){{"method", "sum/serial,sum/exact"},
                                 {"device", "cpu"},
                                 {"data", path},
                                 {"timed", "9000"},
                                 {"runs", "2"},
                                 {NULL}});
        cr_assert_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
        cr_expect_eq(s.outcome.runs, time ? 0 : 2 * 5 * 2);
        struct text text = table_of(&s, in_folder("out"));
        cr_expect(strstr(text.data, "a: x.npy, condition number 2^"), "%s", text.data);
        cr_expect(!strstr(text.data, "b: "), "%s", text.data);
        struct rows r = rows_read(in_folder("out"), false);
        size_t orders = different(&r, "sum/serial", "x.npy", NULL, NULL);
        cr_expect_gt(orders, 2);
        cr_assert_eq(words_of(word, line, &text, "sum/serial"), 5, "%s", text.data);
        cr_expect(strcmp(word[3], "1") == 0 && strtoull(word[4], NULL, 10) == orders, "%s",
                  text.data);
        cr_assert_eq(words_of(word, line, &text, "sum/exact"), 5, "%s", text.data);
        cr_expect(strcmp(word[3], "1") == 0 && strcmp(word[4], "1") == 0, "%s", text.data);
        cr_expect(strstr(text.data, "\norders: over 5 orders of the same elements\n"), "%s",
                  text.data);
        /* The elements, reordered, have the same exact sum; and one time, of the array as it is. */
        for (size_t i = 1; i < r.count; i++)
            cr_expect_str_eq(field_of(&r, i, RESULTS_EXACT_HEX),
                             field_of(&r, 0, RESULTS_EXACT_HEX));
        struct rows times = rows_of(in_folder("out"), "times", times_column, TIMES_COLUMNS);
        cr_expect_eq(times.count, 3, "%zu", times.count);
        rows_free(&times);
        rows_free(&r);
        text_free(&text);
        study_free(&s);
    }
}
