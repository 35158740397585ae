/* Pictures of matrix products that sweep K, the interval of promotion, the number of slices. */
#include <sys/stat.h>

#include "reports/page/report.h"
#include "tests/support/study.h"

static char out[320], page[320]; /* what is read keeps them */

static struct page read_study(study_words words)
{
    struct page r = {0};
    struct problem p = {0};
    snprintf(out, sizeof out, "%s", in_folder("out"));
    snprintf(page, sizeof page, "%s", in_folder("page"));
    study_run("gemm", words, out);
    cr_assert(gathered_read(&r.g, out, &p) == STATUS_OK, "%s", p.text);
    r.folder = page;
    mkdir(r.folder, 0777);
    return r;
}

static void free_study(struct page *r)
{
    text_free(&r->hero);
    text_free(&r->pictures);
    gathered_free(&r->g);
}

/* Rows of a picture's CSV file that begin like this. */
static size_t rows_like(const char *name, const char *begin)
{
    char line[512];
    size_t count = 0;
    FILE *file = fopen(in_folder(name), "r");
    cr_assert(file, "%s", name);
    while (fgets(line, sizeof line, file))
        count += strncmp(line, begin, strlen(begin)) == 0;
    fclose(file);
    return count;
}

static bool said(const char *name, const char *what)
{
    char line[4096];
    bool found = false;
    FILE *file = fopen(in_folder(name), "r");
    cr_assert(file, "%s", name);
    while (fgets(line, sizeof line, file))
        found |= strstr(line, what) != NULL;
    fclose(file);
    return found;
}

/* One panel an input has all instructions: fp16's of both units err alike and share a curve, fp8's
 * do not. */
Test(sweeps, instructions_against_k, .init = make_folder, .fini = remove_folder)
{
    struct problem p = {0};
    struct page r = read_study((study_words){{"method", "gemm/mma,gemm/wgmma"},
                                             {"device", "cpu"},
                                             {"chip", "h100"},
                                             {"input", "uniform,normal"},
                                             {"shape", "4x4x32,4x4x128,4x4x512"},
                                             {"storage", "e4m3,fp16,fp64"},
                                             {"accumulator", "fp16,fp32,fp64"},
                                             {"runs", "1"},
                                             {NULL}});
    cr_assert(page_instructions(&r, &p) == STATUS_OK, "%s", p.text);
    cr_expect_eq(r.drawn, 2);
    static const char *const inputs[] = {"uniform", "normal"};
    for (size_t i = 0; i < 2; i++) {
        char begin[128];
        snprintf(begin, sizeof begin, "\"h100, %s\",e4m3,fp32,gemm/mma,cpu,", inputs[i]);
        cr_expect_eq(rows_like("page/instructions.csv", begin), 3, "%s", begin);
        snprintf(begin, sizeof begin, "\"h100, %s\",e4m3,fp32,gemm/wgmma,cpu,", inputs[i]);
        cr_expect_eq(rows_like("page/instructions.csv", begin), 3, "%s", begin);
        snprintf(begin, sizeof begin, "\"h100, %s\",fp16,fp32,gemm/mma and gemm/wgmma,cpu,",
                 inputs[i]);
        cr_expect_eq(rows_like("page/instructions.csv", begin), 3, "%s", begin);
        snprintf(begin, sizeof begin, "\"h100, %s\",fp64,", inputs[i]);
        cr_expect_eq(rows_like("page/instructions.csv", begin), 0, "%s", begin);
    }
    cr_expect(said("page/instructions.gp", "mma and wgmma, fp16 to fp32"));
    cr_expect(said("page/instructions.gp", "'wgmma, e4m3 to fp32'"));
    struct text told = {0};
    page_product_findings(&told, &r);
    cr_expect(strstr(text_string(&told), "wgmma, e4m3 to fp32: an error of "), "%s", told.data);
    cr_expect(strstr(text_string(&told), " at K = 512 (h100, uniform)."), "%s", told.data);
    text_free(&told);
    /* Nothing else is swept. */
    cr_expect(page_promotion(&r, &p) == STATUS_OK && page_splits(&r, &p) == STATUS_OK);
    cr_expect_eq(r.drawn, 2);
    free_study(&r);
}

/* What is not promoted has its error at both ends; promoted as rarely, wgmma's is that. */
Test(sweeps, intervals_of_promotion, .init = make_folder, .fini = remove_folder)
{
    struct problem p = {0};
    struct page r = read_study((study_words){{"method", "gemm/promoted,gemm/wgmma,gemm/mma"},
                                             {"device", "cpu"},
                                             {"chip", "h100"},
                                             {"promote", "32,128,512"},
                                             {"input", "uniform"},
                                             {"shape", "4x4x512"},
                                             {"storage", "e4m3"},
                                             {"accumulator", "fp32"},
                                             {"runs", "1"},
                                             {NULL}});
    cr_assert(page_promotion(&r, &p) == STATUS_OK, "%s", p.text);
    static const char promoted[] = "\"h100, uniform, K = 512\",e4m3,fp32,gemm/promoted,cpu,",
                      level[] = "\"h100, uniform, K = 512\",e4m3,fp32,gemm/wgmma,cpu,";
    cr_expect_eq(rows_like("page/promotion.csv", promoted), 3);
    cr_expect_eq(rows_like("page/promotion.csv", level), 2);
    double last = 0, first = 0, all = 0, bound = 0;
    FILE *file = fopen(in_folder("page/promotion.csv"), "r");
    for (char line[512]; fgets(line, sizeof line, file);) {
        double every, error;
        if (strncmp(line, promoted, strlen(promoted)) == 0 &&
            sscanf(line + strlen(promoted), "%lf,%lf,%lf", &every, &error, &bound) == 3) {
            first = every == 32 ? error : first;
            last = every == 512 ? error : last;
            cr_expect(bound > error, "%g, bound %g", error, bound);
        } else if (strncmp(line, level, strlen(level)) == 0) {
            sscanf(line + strlen(level), "%lf,%lf", &every, &all);
        }
    }
    fclose(file);
    cr_expect(last == all && first > 0 && first < last / 10, "%g, %g, %g", first, last, all);
    struct text told = {0};
    page_product_findings(&told, &r);
    cr_expect(strstr(text_string(&told), " every 128 products, "), "%s", told.data);
    cr_expect(strstr(text_string(&told), "mma, e4m3 to fp32, not promoted: an error of "), "%s",
              told.data);
    text_free(&told);
    free_study(&r);
}

Test(sweeps, slices_in_bf16_and_not, .init = make_folder, .fini = remove_folder)
{
    struct problem p = {0};
    struct page r = read_study(
        (study_words){{"method", "gemm/split_k,gemm/split_k_rounded,gemm/split_k_stored"},
                      {"device", "cpu"},
                      {"blocks", "1,4,64"},
                      {"input", "uniform"},
                      {"shape", "4x4x512"},
                      {"storage", "bf16"},
                      {"accumulator", "bf16,fp32"},
                      {"runs", "1"},
                      {NULL}});
    cr_assert(page_splits(&r, &p) == STATUS_OK, "%s", p.text);
    static const char *const names[] = {"split_k", "split_k_rounded", "split_k_stored"};
    for (size_t i = 0; i < 3; i++) {
        char begin[160];
        snprintf(begin, sizeof begin,
                 "\"bf16 added in fp32, D in fp32, uniform, K = 512\",bf16,fp32,gemm/%s,cpu,",
                 names[i]);
        cr_expect_eq(rows_like("page/splits.csv", begin), 3, "%s", begin);
    }
    /* One method in two panels, each with its formats. */
    cr_expect_eq(rows_like("page/splits.csv", "\"bf16 added in bf16, D in bf16, uniform, K = 512\","
                                              "bf16,bf16,gemm/split_k,cpu,"),
                 3);
    struct text told = {0};
    page_product_findings(&told, &r);
    cr_expect(strstr(text_string(&told), " with 1 slice, "), "%s", told.data);
    cr_expect(strstr(text_string(&told), " with 64 slices ("), "%s", told.data);
    text_free(&told);
    free_study(&r);
}
