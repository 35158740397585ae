/* What a page says of errors: a NaN is the worst of any method's, and methods are ranked among
 * those of one operation. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/page/report.h"
#include "tests/support/study.h"

/* Runs a study and reads it; free_told is due. */
static struct page read_study(const char *experiment, study_words words)
{
    static char out[320]; /* what is read keeps it */
    struct page r = {0};
    struct problem p = {0};
    snprintf(out, sizeof out, "%s", in_folder("out"));
    study_run(experiment, words, out);
    cr_assert(gathered_read(&r.g, out, &p) == STATUS_OK, "%s", p.text);
    return r;
}

static void expect_told(const char *told, const char *what, bool due)
{
    cr_expect((strstr(told, what) != NULL) == due, "%s'%s' in: %s", due ? "no " : "", what, told);
}

Test(report, nan_stays_the_largest)
{
    static const double order[][3] = {
        {NAN, 1, INFINITY}, {1, NAN, 2}, {INFINITY, 1, NAN}, {NAN, NAN, 0}};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct figure most = {0};
        for (size_t k = 0; k < 3; k++)
            gathered_raise(&most, (struct figure){true, order[i][k]});
        gathered_raise(&most, (struct figure){0});
        cr_expect(most.known && isnan(most.value), "%zu: %g", i, most.value);
    }
}

/* Products overflow in the first input, whose sum is finite, and dot/exact alone holds it. */
Test(report, nan_is_the_worst_case, .init = make_folder, .fini = remove_folder)
{
    struct page r = read_study("dot", (study_words){{"method", "dot/serial,dot/tiled,dot/exact"},
                                                    {"device", "cpu"},
                                                    {"input", "product_overflow,symmetric"},
                                                    {"n", "1000"},
                                                    {"storage", "fp32"},
                                                    {"accumulator", "fp32"},
                                                    {NULL}});
    struct text text = {0};
    page_findings(&text, &r);
    const char *told = text_string(&text);
    expect_told(told, "fp32 added in fp32: dot/exact errs least, ", true);
    expect_told(told, "; dot/serial and dot/tiled most, whose results are not finite.", true);
    text_clear(&text);
    page_methods(&text, &r);
    expect_told(
        text_string(&text),
        "<td>dot/tiled</td><td class=\"r\">not finite</td><td>fp32/fp32</td><td class=\"r\">0",
        true);
    expect_told(text_string(&text), "each case ran once, so that its time is that of a cold run",
                true);
    text_free(&text);
    gathered_free(&r.g);
}

static struct text drawn_from(const char *name)
{
    char line[256];
    struct text all = {0};
    FILE *file = fopen(in_folder(name), "r");
    cr_assert(file, "%s", name);
    while (fgets(line, sizeof line, file))
        text_add(&all, line);
    fclose(file);
    return all;
}

/* Partial sums of 12 such elements in fp16 overflow to NaN; those of 15 do not. Where another input
 * stays in range the curves are of that one; else NaN has no mark. */
static void hold_near_overflow(const char *inputs, bool alone)
{
    struct page r = read_study("accuracy", (study_words){{"method", "sum/tiled,sum/exact"},
                                                         {"device", "cpu"},
                                                         {"input", inputs},
                                                         {"n", "12,15,60"},
                                                         {"storage", "fp16"},
                                                         {"accumulator", "fp16,fp32"},
                                                         {NULL}});
    struct problem p = {0};
    char page[320];
    snprintf(page, sizeof page, "%s", in_folder("page"));
    r.folder = page;
    mkdir(r.folder, 0777);
    struct text drawn;
    if (!alone) {
        cr_assert(page_heat(&r, &p) == STATUS_OK, "%s", p.text);
        drawn = drawn_from("page/heat.dat");
        expect_told(text_string(&drawn), "\n0 0 0.0000 0.0\n", true);
        expect_told(text_string(&drawn), "\n1 0 16.0000 exact\n", true); /* the second tried */
        text_free(&drawn);
    }
    cr_assert(page_growth(&r, &p) == STATUS_OK, "%s", p.text);
    drawn = drawn_from("page/growth.dat");
    expect_told(text_string(&drawn), "\n12 NaN ", alone);
    expect_told(text_string(&drawn), "\n12 ", true);
    text_free(&drawn);
    text_free(&r.hero);
    text_free(&r.pictures);
    gathered_free(&r.g);
}

Test(report, nan_has_no_digit_and_its_input_no_curve, .init = make_folder, .fini = remove_folder)
{
    hold_near_overflow("near_overflow,uniform", false);
}

Test(report, nan_has_no_mark, .init = make_folder, .fini = remove_folder)
{
    hold_near_overflow("near_overflow", true);
}

/* Beyond the accumulator's range an infinity is what the exact sum rounds to: no error of a method,
 * while an overflow on the way is one. */
Test(report, infinities_that_are_right, .init = make_folder, .fini = remove_folder)
{
    static const char *const beside[] = {"uniform", "near_overflow"};
    for (int lost = 0; lost < 2; lost++) {
        char input[64];
        snprintf(input, sizeof input, "ones:value=60000,%s", beside[lost]);
        struct page r = read_study("accuracy", (study_words){{"method", "sum/serial,sum/exact"},
                                                             {"device", "cpu"},
                                                             {"input", input},
                                                             {"n", "12"},
                                                             {"storage", "fp16"},
                                                             {"accumulator", "fp16"},
                                                             {NULL}});
        struct text text = {0};
        page_findings(&text, &r);
        expect_told(text_string(&text), "sum/serial most, whose result is not finite", lost);
        expect_told(text_string(&text), "sum/exact errs least", true);
        text_clear(&text);
        page_methods(&text, &r);
        expect_told(text_string(&text), ">not finite<", lost);
        text_free(&text);
        gathered_free(&r.g);
        remove_folder();
        make_folder();
    }
}

/* What there is none of is not told. */
Test(report, counts_what_there_is)
{
    static const struct {
        uint64_t runs;
        const char *status;
    } is[] = {{3, "ok"}, {0, "unsupported"}, {0, "error"}, {2, "ok"}};
    for (unsigned which = 1; which < 16; which++) {
        struct gathered_case item[4] = {0};
        struct page r = {.g.item = item};
        struct text text = {0};
        for (size_t k = 0; k < 4; k++)
            if (which >> k & 1) {
                struct gathered_case *c = &item[r.g.count++];
                for (size_t i = 0; i < CASE_ALL; i++)
                    c->field[i] = "";
                c->runs = c->distinct = is[k].runs;
                snprintf(c->status, sizeof c->status, "%s", is[k].status);
            }
        page_findings(&text, &r);
        expect_told(text_string(&text), "; 1 case is unsupported", which >> 1 & 1);
        expect_told(text_string(&text), "unsupported", which >> 1 & 1);
        expect_told(text_string(&text), "; 1 case failed", which >> 2 & 1);
        expect_told(text_string(&text), "failed", which >> 2 & 1);
        text_free(&text);
    }
}

/* Cases by hand: what is NaN is told, not what comes behind it. */
Test(report, nan_breaks_a_bound)
{
    static const double share[] = {0.5, NAN, 7, 2};
    struct gathered_case item[4] = {0};
    struct page r = {.g = {.item = item, .count = 4}};
    struct text text = {0};
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < CASE_ALL; k++)
            item[i].field[k] = k >= CASE_CHIP ? "" : i == 1 ? "first" : "other";
        item[i].err_over_bound = (struct figure){true, share[i]};
    }
    page_findings(&text, &r);
    expect_told(text_string(&text),
                "In 3 of 4 cases the error exceeds its method&#39;s bound, at worst with a "
                "result that is not finite (first, ",
                true);
    text_free(&text);
}

/* Of 1000 elements one seed gave a NaN: they have no mark. */
Test(report, nan_has_no_spread, .init = make_folder, .fini = remove_folder)
{
    static const char *const due[][2] = {
        {"1000", "nan"}, {"1000", "0.5"}, {"2000", "0.25"}, {"4000", "0.125"}};
    char *cell[4][ATOMICS_COLUMNS], page[320];
    struct page r = {.folder = page,
                     .atomics = {.count = 4, .columns = ATOMICS_COLUMNS, .cell = *cell}};
    struct problem p = {0};
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < ATOMICS_COLUMNS; k++)
            cell[i][k] = "fp32";
        cell[i][CASE_N] = (char *)due[i][0];
        cell[i][ATOMICS_VS_MAX] = (char *)due[i][1];
        cell[i][ATOMICS_DISTINCT] = "5";
    }
    snprintf(page, sizeof page, "%s", in_folder("page"));
    mkdir(page, 0777);
    cr_assert(page_spread(&r, &p) == STATUS_OK, "%s", p.text);
    struct text drawn = drawn_from("page/spread.dat");
    expect_told(text_string(&drawn), "\n1000 ", false);
    expect_told(text_string(&drawn), "\n2000 0.25\n4000 0.125\n", true);
    text_free(&drawn);
    text_free(&r.hero);
    text_free(&r.pictures);
}

/* No power of ten lies beside a single length: it is named itself, and one value has a range. */
Test(report, one_length_is_named_on_its_axis, .init = make_folder, .fini = remove_folder)
{
    char *cell[1][ATOMICS_COLUMNS], page[320];
    struct page r = {.folder = page,
                     .atomics = {.count = 1, .columns = ATOMICS_COLUMNS, .cell = *cell}};
    struct problem p = {0};
    for (size_t k = 0; k < ATOMICS_COLUMNS; k++)
        cell[0][k] = "fp32";
    cell[0][CASE_N] = "64";
    cell[0][ATOMICS_VS_MAX] = "4e-7";
    cell[0][ATOMICS_DISTINCT] = "5";
    snprintf(page, sizeof page, "%s", in_folder("page"));
    mkdir(page, 0777);
    cr_assert(page_spread(&r, &p) == STATUS_OK, "%s", p.text);
    struct text script = drawn_from("page/spread.gp");
    expect_told(text_string(&script), "set xtics (64, 64)\n", true);
    expect_told(text_string(&script), "set yrange [1e-7 : 1e-6]\n", true);
    text_free(&script);
    text_free(&r.hero);
    text_free(&r.pictures);
}

/* Bounds that say nothing, as those of squares that underflow, do not push the errors off the axis.
 */
Test(report, bounds_far_above_all_errors, .init = make_folder, .fini = remove_folder)
{
    struct page r = read_study("norm", (study_words){{"method", "norm/serial,norm/exact"},
                                                     {"device", "cpu"},
                                                     {"input", "uniform,subnormal"},
                                                     {"n", "1000,4000"},
                                                     {"storage", "fp32"},
                                                     {"accumulator", "fp32"},
                                                     {NULL}});
    struct problem p = {0};
    char page[320];
    double lower = NAN, upper = NAN;
    snprintf(page, sizeof page, "%s", in_folder("page"));
    r.folder = page;
    mkdir(r.folder, 0777);
    cr_assert(page_growth(&r, &p) == STATUS_OK, "%s", p.text);
    struct text script = drawn_from("page/growth.gp");
    const char *range = strstr(text_string(&script), "set yrange [");
    cr_assert(range && sscanf(range, "set yrange [%lf : %lf]", &lower, &upper) == 2);
    cr_expect(lower < 1 && upper <= 1e9, "%g to %g", lower, upper);
    text_free(&script);
    text_free(&r.hero);
    text_free(&r.pictures);
    gathered_free(&r.g);
}

/* Of each operation who errs least and most, not of one against another. */
Test(report, ranks_within_an_operation, .init = make_folder, .fini = remove_folder)
{
    struct page r =
        read_study("norm", (study_words){{"method", "norm/serial,norm/scaled,mean/serial,"
                                                    "mean/exact,variance/textbook,"
                                                    "variance/two_pass"},
                                         {"device", "cpu"},
                                         {"input", "uniform,normal:mean=1e3"},
                                         {"n", "1,1000"},
                                         {"storage", "fp16"},
                                         {"accumulator", "fp16"},
                                         {NULL}});
    static const char *const due[] = {
        "fp16 added in fp16: norm/scaled errs least, ",
        "; norm/serial most, ",
        "fp16 added in fp16: mean/exact errs least, ",
        "; mean/serial most, ",
        "each of the 2 methods of variance has a case whose result is not finite.",
    };
    struct text text = {0};
    page_findings(&text, &r);
    for (size_t i = 0; i < sizeof due / sizeof *due; i++)
        expect_told(text_string(&text), due[i], true);
    text_free(&text);
    gathered_free(&r.g);
}

/* What moves elements errs by nothing; of sums of rows there is something to say. */
Test(report, what_moves_is_not_ranked, .init = make_folder, .fini = remove_folder)
{
    struct page r = read_study(
        "rows", (study_words){{"method", "rows/serial,rows/exact,transpose/naive,transpose/tiled,"
                                         "compact/scan"},
                              {"device", "cpu"},
                              {"input", "symmetric"},
                              {"n", "4096"},
                              {"storage", "fp32"},
                              {"accumulator", "fp32"},
                              {NULL}});
    struct text text = {0};
    page_findings(&text, &r);
    const char *told = text_string(&text);
    expect_told(told, "fp32 added in fp32: rows/exact errs least, ", true);
    expect_told(told, "; rows/serial most, ", true);
    expect_told(told, "transpose/naive errs least", false);
    text_free(&text);
    gathered_free(&r.g);
}

/* LayerNorm's page answers with LayerNorm's errors, a function of Python's among them; where there
 * is nothing to rank, with how large they are. */
Test(report, leads_with_the_errors_of_statistics, .init = make_folder, .fini = remove_folder)
{
    struct page r =
        read_study("rowstats", (study_words){{"method", "layernorm/two_pass,layernorm/welford"},
                                             {"device", "cpu"},
                                             {"input", "normal:mean=10"},
                                             {"n", "1000"},
                                             {"rows", "4"},
                                             {"layout", "row"},
                                             {"storage", "fp16"},
                                             {"accumulator", "fp32"},
                                             {NULL}});
    struct text text = {0};
    static const char lead[] = "<section id=\"findings\"><h2>Findings</h2>\n<ul>\n"
                               "<li class=\"plain\">";
    r.study = page_study("rowstats");
    page_findings(&text, &r);
    const char *told = text_string(&text);
    cr_expect(strncmp(told, lead, strlen(lead)) == 0 &&
                  strncmp(told + strlen(lead), "fp16 added in fp32: layernorm/two_pass errs", 43) ==
                      0,
              "%s", told);
    text_clear(&text);
    struct gathered_case item[2];
    cr_assert(r.g.count == 2);
    memcpy(item, r.g.item, sizeof item);
    struct page other = r;
    other.g.item = item;
    for (size_t i = 0; i < 2; i++)
        if (strcmp(item[i].field[CASE_METHOD], "layernorm/welford") == 0)
            item[i].field[CASE_METHOD] = "python:a/mine.py:layernorm";
    page_findings(&text, &other);
    expect_told(text_string(&text), "python:a/mine.py:layernorm most, ", true);
    text_clear(&text);
    for (size_t i = 0; i < 2; i++)
        item[i].field[CASE_METHOD] = "layernorm/two_pass";
    page_findings(&text, &other);
    told = text_string(&text);
    cr_expect(strncmp(told, lead, strlen(lead)) == 0, "%s", told);
    expect_told(told, "layernorm, fp16 added in fp32: layernorm/two_pass: the largest error is ",
                true);
    text_free(&text);
    gathered_free(&r.g);
}

/* A product is named by its shape, which tells more than how many elements its operands have. */
Test(report, names_a_product_by_its_shape, .init = make_folder, .fini = remove_folder)
{
    struct page r = read_study("gemm", (study_words){{"method", "gemm/serial"},
                                                     {"device", "cpu"},
                                                     {"input", "normal"},
                                                     {"shape", "8x8x16"},
                                                     {"storage", "fp16"},
                                                     {"accumulator", "fp32"},
                                                     {NULL}});
    struct text text = {0};
    page_findings(&text, &r);
    expect_told(text_string(&text), "(gemm/serial, fp16 added in fp32, normal, 8x8x16, cpu)", true);
    expect_told(text_string(&text), "n = ", false);
    text_free(&text);
    gathered_free(&r.g);
}

/* From its cliff on no digit of a method is right, and the row before has one. */
Test(report, writes_cliffs_beside_the_points, .init = make_folder, .fini = remove_folder)
{
    struct page r = read_study("cond", (study_words){{"method", "sum/serial,sum/exact"},
                                                     {"device", "cpu"},
                                                     {"n", "1000"},
                                                     {"seed", "1"},
                                                     {"storage", "bf16"},
                                                     {"accumulator", "bf16"},
                                                     {NULL}});
    struct problem p = {0};
    char page[320];
    snprintf(page, sizeof page, "%s", in_folder("page"));
    r.folder = page;
    mkdir(r.folder, 0777);
    cr_assert(page_cond(&r, &p) == STATUS_OK, "%s", p.text);
    struct text drawn = drawn_from("page/cond.csv");
    static const char header[] =
        "storage,accumulator,method,device,cond_log2,err_rel,bound,cliff_log2\n";
    const char *all = text_string(&drawn), *row = all;
    cr_assert(strncmp(all, header, strlen(header)) == 0, "%s", all);
    size_t rows = 0, without = 0;
    while ((row = strchr(row, '\n')) && *++row) {
        double cond, error, cliff;
        if (strncmp(row, "bf16,bf16,sum/exact,cpu,", 24) == 0) {
            without += row[strcspn(row, "\n") - 1] == ',';
            continue;
        }
        cr_assert(
            sscanf(row, "bf16,bf16,sum/serial,cpu,%lf,%lf,%*[^,],%lf", &cond, &error, &cliff) == 3,
            "%s", row);
        cr_expect(cond >= cliff ? error >= 1 : cond + 2 < cliff || error < 1, "%s", row);
        rows++;
    }
    cr_expect(rows > 3 && without > 3, "%zu and %zu rows", rows, without);
    text_free(&drawn);
    text_free(&r.hero);
    text_free(&r.pictures);
    gathered_free(&r.g);
}
