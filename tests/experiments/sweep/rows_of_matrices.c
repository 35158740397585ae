/* Studies of sums of rows, transpositions and compactions: rows against figures found output by
 * output, resuming, and what is refused. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "experiments/inputs/mask.h"
#include "reference/format/hash_array.h"
#include "reports/results/compare.h"
#include "tests/support/study.h"

enum { N = 480, KEPT = 30 };

static study_words words = {{"device", "cpu"},
                            {"method", "rows/serial,rows/tiled,rows/exact"},
                            {"method", "transpose/naive,transpose/padded,compact/scan"},
                            {"input", "symmetric"},
                            {"n", "480"},
                            {"storage", "fp16,fp64"},
                            {"accumulator", "fp16,fp64"},
                            {"rows", "0,12"},
                            {"layout", "row,column,batch:4"},
                            {"keep", "30"},
                            {"runs", "2"},
                            {NULL}};

static struct rows results(const char *out)
{
    return rows_of(out, "results", results_column_of(COLUMNS_OF_SCATTERS),
                   results_columns(COLUMNS_OF_SCATTERS));
}

/* One row's case. */
struct once {
    const struct method *method;
    enum format storage, accumulator;
    size_t n, rows, stride;
    double x[N], sum[N];
    struct array in, out;
};

/* The elements of row r, by its layout's words. */
static size_t gather(const struct once *o, size_t r, double *row)
{
    size_t count = 0, length = o->n / o->rows;
    for (size_t i = 0; i < o->n; i++) {
        size_t batch = i / (o->stride * length), column = i % o->stride;
        if (batch * o->stride + column == r)
            row[count++] = array_get(&o->in, i);
    }
    return count;
}

/* The largest error in ulps of any row, by MPFR. */
static double worst_ulp(const struct once *o, size_t *at)
{
    double row[N], ulp = -1;
    for (size_t r = 0; r < o->rows; r++) {
        struct reference exact;
        struct measure of;
        struct theorem t = {.kind = THEOREM_ANY_ORDER};
        size_t count = gather(o, r, row);
        reference_compute(&exact, &(struct array){FP64, count, row}, REFERENCE_MPFR, NULL);
        measure(&of, &exact, o->storage, o->accumulator, array_get(&o->out, r), &t);
        if (of.err_ulp.known && of.err_ulp.value > ulp) {
            ulp = of.err_ulp.value;
            *at = r;
        }
        reference_free(&exact);
    }
    return ulp;
}

/* What the case gives, without the engine. */
static void compute(struct once *o)
{
    const struct operation *operation = o->method->operation;
    double row[N];
    size_t kept = 0;
    uint8_t *mask = NULL;
    o->out.n = operation == &operation_rows ? o->rows : o->n;
    if (operation->mask) {
        cr_assert(mask_make(&mask, &kept, o->n, KEPT, 1, NULL) == STATUS_OK);
        o->out.n = 0;
        for (size_t i = 0; i < o->n; i++)
            if (mask[i])
                array_set_bits(&o->out, o->out.n++, array_bits(&o->in, i));
        cr_assert_eq(kept, o->out.n);
        free(mask);
    }
    for (size_t i = 0; operation == &operation_transpose && i < o->n; i++)
        array_set_bits(&o->out, i % (o->n / o->rows) * o->rows + i / (o->n / o->rows),
                       array_bits(&o->in, i));
    for (size_t r = 0; operation == &operation_rows && r < o->rows; r++) {
        char sum[32];
        snprintf(sum, sizeof sum, "sum/%s", o->method->name + strlen("rows/"));
        struct array one = {o->accumulator, 1,
                            (char *)o->out.data + array_bytes(o->accumulator, r)};
        struct task task = {.of = &(struct operands){.in = {FP64, gather(o, r, row), row}},
                            .out = one,
                            .accumulator = o->accumulator,
                            .shape = {1, 0}};
        cr_assert(method_named(sum)->cpu(&task, NULL) == STATUS_OK);
    }
}

static void hold_row(const struct rows *r, size_t row)
{
    struct once o = {.method = method_named(case_field(r, row, CASE_METHOD)),
                     .storage = format_named(case_field(r, row, CASE_STORAGE)),
                     .accumulator = format_named(case_field(r, row, CASE_ACCUMULATOR)),
                     .n = strtoul(case_field(r, row, CASE_N), NULL, 10),
                     .rows = strtoul(case_field(r, row, CASE_BINS), NULL, 10)};
    const char *keys = case_field(r, row, CASE_KEYS);
    size_t at = 0, facts = results_facts(COLUMNS_OF_SCATTERS);
    struct input input;
    char hash[64];
    o.stride = strcmp(keys, "row") == 0 ? 1 : strcmp(keys, "column") == 0 ? o.rows : 4;
    o.in = (struct array){o.storage, o.n, o.x};
    o.out = (struct array){o.accumulator, 0, o.sum};
    cr_assert(input_parse(&input, "symmetric", NULL) == STATUS_OK);
    cr_assert(input_generate(&input, &o.in, 1, 0, NULL) == STATUS_OK);
    compute(&o);
    if (o.out.n == 0)
        return;
    struct hash128 h = hash_array(&o.out);
    snprintf(hash, sizeof hash, "0x%016llx%016llx", (unsigned long long)h.word[0],
             (unsigned long long)h.word[1]);
    cr_expect_str_eq(field_of(r, row, RESULTS_RESULT_BITS), hash, "row %zu: %s %s", row,
                     o.method->name, keys);
    cr_expect(strtod(field_of(r, row, RESULTS_RESULT), NULL) == array_get(&o.out, 0), "row %zu",
              row);
    double ulp = o.method->operation == &operation_rows ? worst_ulp(&o, &at) : 0;
    cr_expect(strtod(field_of(r, row, RESULTS_ERR_ULP), NULL) == ulp, "row %zu: %s %s", row,
              o.method->name, keys);
    cr_expect(strtoul(field_of(r, row, facts + 1), NULL, 10) == at, "row %zu: worst row %zu", row,
              at);
}

Test(run_rows, rows_are_sums_of_each_row_alone, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    study_run("rows", words, out);
    struct rows r = results(out);
    for (size_t i = 0; i < r.count; i++) {
        if (strcmp(field_of(&r, i, RESULTS_STATUS), "unsupported") == 0)
            continue;
        hold_row(&r, i);
        cr_expect_str_eq(field_of(&r, i, RESULTS_STATUS), "ok", "row %zu", i);
    }
    /* What moves has one format: other pairs are a row each. */
    cr_expect_eq(r.count, 3 * 4 * 2 * 3 * 2 + (2 * 2 + 1) * (2 * 2 + 2), "%zu rows", r.count);
    rows_free(&r);
}

/* Which elements of a file are kept follows from the first seed asked for; so does the case. */
Test(run_rows, seeds_draw_the_masks_of_files, .init = make_folder, .fini = remove_folder)
{
    struct bytes file = {0};
    for (uint64_t i = 0; i < N; i++)
        add_number(&file, i + 1, 2);
    const char *path = put_file("data.raw", &file);
    char ids[2][CASE_ID_TEXT];
    for (uint64_t seed = 1; seed <= 2; seed++) {
        study_words asked = {{"device", "cpu"},   {"method", "compact/scan"},
                             {"data", path},      {"raw", "yes"},
                             {"storage", "fp16"}, {"accumulator", "fp16"},
                             {"keep", "30"},      {"seed", seed == 1 ? "1,7" : "2,1"},
                             {"runs", "1"},       {NULL}};
        const char *out = in_folder(seed == 1 ? "first" : "second");
        uint8_t *mask, kept[2 * N];
        size_t count, to = 0;
        char hash[64];
        study_run("rows", asked, out);
        struct rows r = results(out);
        cr_assert_eq(r.count, 1);
        cr_assert(mask_make(&mask, &count, N, KEPT, seed, NULL) == STATUS_OK);
        for (size_t i = 0; i < N; i++)
            if (mask[i])
                memcpy(kept + 2 * to++, (char *)file.data + 2 * i, 2);
        struct hash128 h = hash_array(&(struct array){FP16, count, kept});
        snprintf(hash, sizeof hash, "0x%016llx%016llx", (unsigned long long)h.word[0],
                 (unsigned long long)h.word[1]);
        cr_expect_str_eq(field_of(&r, 0, RESULTS_RESULT_BITS), hash, "seed %d", (int)seed);
        snprintf(ids[seed - 1], CASE_ID_TEXT, "%s", case_field(&r, 0, CASE_ID));
        rows_free(&r);
        free(mask);
    }
    cr_expect_str_neq(ids[0], ids[1]);
    clear_bytes(&file);
}

/* Runs one method on a file of N numbers, and returns what `compare` finds between two studies. */
static struct compare compare_two(const char *experiment, const char *method, const char *seeds[2],
                                  const char *keys, const uint64_t first_key[2])
{
    const char *out[2] = {in_folder("a"), in_folder("b")};
    struct bytes file = {0};
    struct compare c;
    struct problem p = {0};
    for (uint64_t i = 0; i < N; i++)
        add_number(&file, i + 1, 2);
    char data[256], path[300];
    snprintf(data, sizeof data, "%s", put_file("data.raw", &file));
    snprintf(path, sizeof path, "file:%s", in_folder("keys.raw"));
    keys = keys && strcmp(keys, "file") == 0 ? path : keys;
    clear_bytes(&file);
    for (size_t s = 0; s < 2; s++) {
        for (uint64_t i = 0; i < N; i++)
            add_number(&file, (i + first_key[s]) % 7, 4);
        put_file("keys.raw", &file);
        clear_bytes(&file);
        study_words asked = {{"device", "cpu"},
                             {"method", method},
                             {"data", data},
                             {"raw", "yes"},
                             {"storage", "fp16"},
                             {"accumulator", "fp16"},
                             {"seed", seeds[s]},
                             {"runs", "1"},
                             {keys ? "keys" : NULL, keys},
                             {"bins", "7"},
                             {NULL}};
        study_run(experiment, asked, out[s]);
    }
    cr_assert(compare_read(&c, out, &p) == STATUS_OK, "%s", p.text);
    return c;
}

/* Masks and keys of other seeds, or of another file of the same name, are other inputs: no promise
 * is broken by other results of them. */
Test(run_rows, other_masks_and_keys_are_other_inputs, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *experiment, *method, *seeds[2], *keys;
        uint64_t first_key[2];
        const char *due; /* of other inputs; NULL: the same */
    } asked[] = {
        {"rows", "compact/scan", {"1", "5"}, NULL, {0}, "found seed 1 and 5"},
        {"rows", "compact/scan", {"5", "5,1"}, NULL, {0}, NULL},
        {"scatter", "scatter/sort", {"1", "5"}, "uniform", {0}, "found seed 1 and 5"},
        {"scatter", "scatter/sort", {"1", "5"}, "one", {0}, NULL},
        {"scatter", "scatter/sort", {"1", "5"}, "file", {3, 3}, NULL},
        {"scatter", "scatter/sort", {"1", "1"}, "file", {3, 4}, "found other keys"},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const char *seeds[2] = {asked[i].seeds[0], asked[i].seeds[1]};
        struct compare c = compare_two(asked[i].experiment, asked[i].method, seeds, asked[i].keys,
                                       asked[i].first_key);
        struct problem p = {0};
        enum status status = compare_status(&c, &p);
        cr_expect(c.pairs > 0 && c.broken == 0, "%zu: %zu broken", i, c.broken);
        cr_expect(c.count[asked[i].due ? VERDICT_OTHER_INPUT : VERDICT_SAME] == c.pairs, "%zu", i);
        if (asked[i].due)
            cr_expect(status == STATUS_DATA && strstr(p.text, asked[i].due), "%zu: %s", i, p.text);
        else
            cr_expect(status == STATUS_OK, "%zu: %s", i, p.text);
        compare_free(&c);
        remove_folder();
        make_folder();
    }
}

/* Ids of cases differ by device: there the hashes of files tell other keys. */
Test(run_rows, other_files_of_keys_are_known_across_devices, .init = make_folder,
     .fini = remove_folder)
{
    const char *seeds[2] = {"1", "1"}, *out[2];
    for (uint64_t second = 3; second < 5; second++) {
        const uint64_t first_key[2] = {3, second};
        struct compare c = compare_two("scatter", "scatter/sort", seeds, "file", first_key);
        struct problem p = {0};
        char command[600];
        compare_free(&c);
        snprintf(command, sizeof command, "sed -i 's/,cpu,/,cuda:0,/' '%s'/b/*.csv", folder);
        cr_assert(system(command) == 0);
        out[0] = in_folder("a");
        out[1] = in_folder("b");
        cr_assert(compare_read(&c, out, &p) == STATUS_OK, "%s", p.text);
        cr_expect(c.pairs > 0 && c.broken == 0, "%zu broken", c.broken);
        cr_expect(c.count[second == 3 ? VERDICT_SAME : VERDICT_OTHER_INPUT] == c.pairs);
        compare_free(&c);
        remove_folder();
        make_folder();
    }
}

/* Of no elements: rows of nothing, and nothing that moves. Each study runs its cases once. */
Test(run_rows, nothing, .init = make_folder, .fini = remove_folder)
{
    static study_words none = {{"device", "cpu"}, {"n", "0,1"}, {"rows", "1"}, {NULL}};
    const char *out = in_folder("out");
    study_run("rows", none, out);
    struct rows r = results(out);
    size_t rows = 0;
    for (size_t i = 0; i < r.count; i++) {
        bool sums = strncmp(case_field(&r, i, CASE_METHOD), "rows/", 5) == 0;
        bool nothing = strcmp(case_field(&r, i, CASE_N), "0") == 0;
        rows += sums && nothing;
        cr_expect_str_eq(field_of(&r, i, RESULTS_STATUS), "ok", "row %zu", i);
        if (nothing)
            cr_expect_str_eq(field_of(&r, i, RESULTS_RESULT), sums ? "0" : "", "row %zu", i);
    }
    cr_expect(rows > 30 && rows < r.count);
    rows_free(&r);
    cr_expect(study_run("rows", none, out).runs == 0, "a finished study runs again");
}

static void expect_refused(study_words asked, const char *due)
{
    struct study s = {0};
    ask(&s.request, asked);
    cr_expect(study_resolve(&s, "rows") == STATUS_USAGE && strstr(s.problem.text, due), "%s: %s",
              due, s.problem.text);
    study_free(&s);
}

Test(run_rows, what_makes_no_matrix_is_refused)
{
    static study_words seven = {{"device", "cpu"}, {"n", "100"}, {"rows", "7"}, {NULL}},
                       batch = {{"device", "cpu"},
                                {"n", "100"},
                                {"rows", "10"},
                                {"layout", "batch:4"},
                                {NULL}},
                       word = {{"device", "cpu"}, {"layout", "columns"}, {NULL}},
                       most = {{"device", "cpu"}, {"keep", "101"}, {NULL}},
                       keys = {{"device", "cpu"}, {"keys", "one"}, {NULL}};
    expect_refused(seven, "option --rows: found 7 with n = 100, expected a divisor of n");
    expect_refused(batch, "option --layout: found batch:4 with 10 rows");
    expect_refused(word, "option --layout: found 'columns'");
    expect_refused(most, "option --keep");
    expect_refused(keys, "which runs no scatter-adds");
}
