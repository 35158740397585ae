/* The exact sum of an array, rounded once, and what a plain loop makes of it.
 *
 *     cc exact.c $(pkg-config --cflags --libs ulpscope) -o exact && ./exact */
#include <stdio.h>
#include <ulpscope.h>

int main(void)
{
    static float x[100000];
    struct ulpscope_array a = {ULPSCOPE_FP32, sizeof x / sizeof *x, x};
    struct ulpscope_reference *r;
    struct ulpscope_figures is;
    struct ulpscope_error error;
    double sum;
    float loop = 0;
    for (size_t i = 0; i < a.n; i++)
        loop += x[i] = (i % 2 ? -1 : 1) * 1e6f / (float)(i + 1);
    if (ulpscope_sum(&sum, &a, ULPSCOPE_FP32, &error) != ULPSCOPE_OK ||
        ulpscope_reference_new(&r, &a, &error) != ULPSCOPE_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    enum ulpscope_status status = ulpscope_measure(&is, r, ULPSCOPE_FP32, loop, &error);
    if (status == ULPSCOPE_OK) {
        printf("exact          %s, condition number 2^%.2f\n", ulpscope_reference_hex(r),
               ulpscope_reference_cond_log2(r));
        printf("rounded once   %.9g\n", sum);
        printf("a plain loop   %.9g: %.3g ulp off, %.2g of what its theorem allows\n", loop,
               is.err_ulp, is.err_over_bound);
    }
    ulpscope_reference_free(r);
    return status == ULPSCOPE_OK && is.within ? 0 : 1;
}
