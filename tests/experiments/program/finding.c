#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "experiments/program/finding.h"

/* The findings on a few doubles, as a program reads them. */
static json_t *find(const double *values, size_t n, enum format f, enum reference_kind kind)
{
    struct finding finding;
    struct problem p = {0};
    struct array a = {f, n, calloc(n + 1, sizeof(double))};
    array_encode(&a, 0, n, values);
    enum status status = finding_make(&finding, "mine.npy", &a, kind, &p);
    cr_assert(status == STATUS_OK, "%s", p.text);
    json_t *json = finding_json(&finding);
    cr_assert(json != NULL);
    finding_free(&finding);
    free(a.data);
    char *text = json_dumps(json, JSON_REAL_PRECISION(17));
    json_decref(json);
    json_error_t error;
    json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert(json != NULL, "%s: %s", error.text, text);
    free(text);
    return json;
}

/* One value of the object, or of accumulator a's, in JSON. */
static void expect(json_t *json, int a, const char *key, const char *expected)
{
    json_t *object =
        a < 0 ? json : json_array_get(json_object_get(json, "accumulators"), (size_t)a);
    json_t *value = json_object_get(object, key);
    char *text = json_dumps(value, JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY);
    cr_expect(text && strcmp(text, expected) == 0, "accumulator %d: %s is %s, expected %s", a, key,
              text ? text : "missing", expected);
    free(text);
}

Test(finding, cancellation)
{
    const double values[] = {1, 0x1p60, 1, -0x1p60};
    for (enum reference_kind kind = REFERENCE_FAST; kind <= REFERENCE_MPFR; kind++) {
        json_t *json = find(values, 4, FP64, kind);
        expect(json, -1, "name", "\"mine.npy\"");
        expect(json, -1, "storage", "\"fp64\"");
        expect(json, -1, "n", "4");
        expect(json, -1, "exact", "\"2\"");
        expect(json, -1, "exact_hex", "\"0x1p+1\"");
        expect(json, -1, "sum_abs", "\"2.305843009213694e+18\"");
        expect(json, -1, "sum_abs_hex", "\"0x1.000000000000001p+61\"");
        expect(json, -1, "cond", "1.152921504606847e18");
        expect(json, -1, "cond_log2", "60.0");
        expect(json, -1, "smallest", "1.0");
        expect(json, -1, "largest", "1.152921504606847e18");
        expect(json, FP64, "accumulator", "\"fp64\"");
        expect(json, FP64, "method", "\"sum/serial\"");
        expect(json, FP64, "result", "0.0");
        expect(json, FP64, "result_hex", "\"0x0p+0\"");
        expect(json, FP64, "result_bits", "\"0x0000000000000000\"");
        expect(json, FP64, "err_abs", "2.0");
        expect(json, FP64, "err_rel", "1.0");
        expect(json, FP64, "err_ulp", "4503599627370496.0");
        expect(json, FP64, "err_backward", "8.6736173798840355e-19");
        expect(json, FP64, "bound", "768.00000000000011");
        expect(json, FP64, "status", "\"ok\"");
        expect(json, FP16, "accumulator", "\"fp16\"");
        expect(json, FP16, "result", "\"nan\"");
        expect(json, FP16, "result_bits", "\"0x7e00\"");
        expect(json, FP16, "err_abs", "\"nan\"");
        expect(json, FP16, "bound", "null");
        expect(json, FP16, "err_over_bound", "null");
        expect(json, FP16, "status", "\"overflow\"");
        cr_expect(json_array_size(json_object_get(json, "accumulators")) == ACCUMULATORS);
        json_decref(json);
    }
}

Test(finding, special_values)
{
    const double values[] = {0, -0., 0x1p-24, -0x1p-15, INFINITY, NAN, 3, -INFINITY};
    json_t *json = find(values, 8, FP16, REFERENCE_FAST);
    expect(json, -1, "exact", "\"nan\"");
    expect(json, -1, "exact_hex", "\"nan\"");
    expect(json, -1, "cond", "null");
    expect(json, -1, "cond_log2", "null");
    expect(json, -1, "smallest", "5.9604644775390625e-8");
    expect(json, -1, "largest", "3.0");
    expect(json, -1, "zeros", "2");
    expect(json, -1, "subnormals", "2");
    expect(json, -1, "infs", "2");
    expect(json, -1, "nans", "1");
    expect(json, FP32, "result", "\"nan\"");
    expect(json, FP32, "err_abs", "null");
    expect(json, FP32, "status", "\"nan\"");
    json_decref(json);
    const double infinite[] = {-INFINITY};
    json = find(infinite, 1, FP32, REFERENCE_FAST);
    expect(json, -1, "exact", "\"-inf\"");
    expect(json, -1, "smallest", "null");
    expect(json, -1, "largest", "null");
    expect(json, FP64, "result", "\"-inf\"");
    expect(json, FP64, "result_bits", "\"0xfff0000000000000\"");
    json_decref(json);
}

Test(finding, nothing_to_add)
{
    const double zeros[] = {-0., -0.};
    for (size_t n = 0; n <= 2; n += 2) {
        json_t *json = find(zeros, n, BF16, REFERENCE_FAST);
        expect(json, -1, "n", n ? "2" : "0");
        expect(json, -1, "exact", n ? "\"-0\"" : "\"0\"");
        expect(json, -1, "exact_hex", n ? "\"-0x0p+0\"" : "\"0x0p+0\"");
        expect(json, -1, "cond", "\"inf\"");
        expect(json, -1, "smallest", "null");
        expect(json, -1, "largest", n ? "0.0" : "null");
        expect(json, BF16, "result", n ? "-0.0" : "0.0");
        expect(json, BF16, "err_abs", "0.0");
        expect(json, BF16, "err_rel", "null");
        expect(json, BF16, "err_over_bound", "null");
        json_decref(json);
    }
}

/* What is more than a double holds stands as a string of digits; an exact sum of 0 makes it inf. */
Test(finding, beyond_doubles)
{
    const double wide[] = {0x1p1023, 0x1p1023, -0x1p1023, -0x1p1023, 0x1p-1074};
    json_t *json = find(wide, 5, FP64, REFERENCE_FAST);
    expect(json, -1, "exact_hex", "\"0x1p-1074\"");
    expect(json, -1, "sum_abs", "\"3.5953862697246318e+308\"");
    expect(json, -1, "cond", "\"7.2771428250243155e+631\"");
    expect(json, -1, "cond_log2", "2099.0");
    expect(json, FP64, "status", "\"overflow\"");
    json_decref(json);
    json = find(wide, 4, FP64, REFERENCE_FAST);
    expect(json, -1, "cond", "\"inf\"");
    expect(json, -1, "cond_log2", "\"inf\"");
    json_decref(json);
}

/* What a person reads of it. */
static void read_text(char *text, size_t room, const struct finding *f)
{
    char path[] = "/tmp/ulpscope-finding-XXXXXX";
    int file = mkstemp(path);
    cr_assert(file >= 0);
    cr_assert(freopen(path, "w", stdout));
    cr_expect_eq(finding_print(f, NULL), STATUS_OK);
    fflush(stdout);
    ssize_t length = read(file, text, room - 1);
    cr_assert(length > 0);
    text[length] = 0;
    unlink(path);
    close(file);
}

/* A condition number beyond the doubles has its digits, too. */
Test(finding, text_beyond_doubles)
{
    struct finding f;
    double x[] = {0x1p1000, -0x1p1000, 0x1p-304};
    char text[8192];
    cr_assert_eq(finding_make(&f, "mine", &(struct array){FP64, 3, x}, REFERENCE_FAST, NULL),
                 STATUS_OK);
    read_text(text, sizeof text, &f);
    cr_expect(strstr(text, "\ncondition      6.98465e+392             2^1305.00\n"), "%s", text);
    finding_free(&f);
}

/* A NaN without a sign, and a bound that is broken. */
Test(finding, text_of_what_went_wrong)
{
    struct finding f;
    double x[] = {1, 2};
    char text[8192];
    cr_assert_eq(finding_make(&f, "mine", &(struct array){FP64, 2, x}, REFERENCE_FAST, NULL),
                 STATUS_OK);
    f.measure[FP64].err_rel = (struct figure){true, copysign(NAN, -1)};
    f.measure[FP64].broken = true;
    read_text(text, sizeof text, &f);
    cr_expect(strstr(text, " nan ") && !strstr(text, "-nan"), "%s", text);
    const char *line = strstr(text, "\nfp64 ");
    cr_expect(line && strstr(line, "ok, BOUND BROKEN"), "%s", text);
    cr_expect_not(strstr(text, "BOUND BROKEN\nfp32"), "%s", text);
    finding_free(&f);
}
