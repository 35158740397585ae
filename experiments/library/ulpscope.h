/* libulpscope: exact sums, the errors of computed ones, mergeable sums, ulpscope's methods on the
 * CPU, and a check of your own kernel's promise.
 *
 *     #include <ulpscope.h>
 *
 *     struct ulpscope_array a = {ULPSCOPE_FP32, n, x};
 *     double sum;
 *     if (ulpscope_sum(&sum, &a, ULPSCOPE_FP64, NULL) != ULPSCOPE_OK) ...
 *
 *     cc program.c $(pkg-config --cflags --libs ulpscope)
 *
 * C and C++. Nothing here exits or prints. All functions may be called from several threads at
 * once; an object that threads share and one of them modifies must be locked by the caller. The
 * floating-point environment must be the default: round to nearest, no flush to zero.
 *
 * Numbers of all formats are handed over as doubles, which hold each of them exactly. Lengths count
 * elements, unless they say bytes. Every function that can fail returns an ulpscope_status and
 * leaves its results undefined then; the error may be NULL. Pointers to results may not. */
#ifndef ULPSCOPE_ULPSCOPE_H
#define ULPSCOPE_ULPSCOPE_H

#include <ulpscope_subject.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define ULPSCOPE_API __attribute__((visibility("default")))
#else
#define ULPSCOPE_API
#endif

/* The exit statuses of the program, too, which has 4 for ULPSCOPE_MEMORY. */
enum ulpscope_status {
    ULPSCOPE_OK = 0,
    ULPSCOPE_FAILED = 1,      /* an internal check failed: no number of this build may be trusted */
    ULPSCOPE_USAGE = 2,       /* unknown name, format or value */
    ULPSCOPE_DATA = 3,        /* malformed bytes; a subject that reports an error */
    ULPSCOPE_UNAVAILABLE = 4, /* out of threads, or a method that does not support the case */
    ULPSCOPE_MEMORY = 5       /* out of memory */
};

struct ulpscope_error {
    int status;      /* an ulpscope_status */
    char text[1024]; /* one line: what, what was found, what was expected */
};

/* n elements in host memory, little-endian, without padding, aligned to one element: fp16 and bf16
 * are uint16_t, fp32 float, fp64 double, e4m3 and e5m2 uint8_t. data may be NULL where n is 0. */
struct ulpscope_array {
    enum ulpscope_format format;
    size_t n;
    const void *data;
};

/* Of this header, as a number for #if: 200 is 0.2.0; and of the library: "0.2.0". */
#define ULPSCOPE_VERSION_MAJOR 0
#define ULPSCOPE_VERSION_MINOR 2
#define ULPSCOPE_VERSION_PATCH 0
#define ULPSCOPE_VERSION                                                                           \
    (10000 * ULPSCOPE_VERSION_MAJOR + 100 * ULPSCOPE_VERSION_MINOR + ULPSCOPE_VERSION_PATCH)
ULPSCOPE_API const char *ulpscope_version(void);

/* --- how structs grow ---
 *
 * The structs that the library fills in, ulpscope_figures, ulpscope_method and ulpscope_report, may
 * get more members in later versions, at their end; no member moves, and none goes. The functions
 * that fill them in are called through macros of their names, which pass the size of the caller's
 * struct (and ulpscope_check the version of its subject), so that a program and a library of
 * different versions fit: members that only the library knows are not written, members that only
 * the caller knows become 0. ULPSCOPE_USAGE where the size is less than that of 0.2.0.
 *
 * The functions without a size, (ulpscope_measure)(...) in C, are for programs compiled before
 * there were sizes and for other languages: they write the members of 0.2.0, whatever is added. The
 * other structs stay as they are. */

/* --- formats (IEEE 754-2019; bfloat16 as Intel 2018, with subnormals) --- */

/* "fp16", "bf16", "fp32", "fp64", "e4m3", "e5m2"; NULL for any other number. Accumulators are one
 * of the first four. */
ULPSCOPE_API const char *ulpscope_format_name(enum ulpscope_format f);
/* Of one element; 0 for any other number. */
ULPSCOPE_API size_t ulpscope_format_bytes(enum ulpscope_format f);
/* The value of an encoding, exact; bits above the width are ignored. NaN for no format. */
ULPSCOPE_API double ulpscope_decode(enum ulpscope_format f, uint64_t bits);
/* The encoding of x, rounded to nearest, ties to even; beyond the range an infinity, of e4m3, which
 * has none, a NaN; every NaN the same quiet one. 0 for no format. */
ULPSCOPE_API uint64_t ulpscope_encode(enum ulpscope_format f, double x);

/* --- exact sums ---
 *
 * The elements' exact sum, rounded once: to nearest, ties to even. With any NaN, or infinities of
 * both signs, NaN; with infinities of one sign that one; of nothing, and where the elements cancel,
 * +0; of -0s alone -0. Kept in a fixed-point number that has a place for every bit of a double
 * (Kulisch and Miranker 1981), as the method sum/exact. */

/* The sum in the format `result`. ULPSCOPE_USAGE: no such format. */
ULPSCOPE_API enum ulpscope_status ulpscope_sum(double *sum, const struct ulpscope_array *a,
                                               enum ulpscope_format result,
                                               struct ulpscope_error *error);

/* Arrays added up element by element, at the speed of vector code: out[i] is the sum of the
 * elements i of array[0 .. arrays - 1], n elements each, all in the format f, rounded once to it.
 * folds 0: the exact sum, as above. 2, 3 or 4: each element is rounded to a multiple of a unit that
 * the largest one's exponent sets, then these are added exactly: the bits of the method
 * allreduce/binned (3), error at most u|S| + (arrays-1) 2^-max(folds p, 53) max|x|. No order of the
 * arrays shows in the bits of either. Every NaN is the canonical one. `out` may be one of the
 * arrays. ULPSCOPE_USAGE: no such format or folds, NULL among the arrays. */
ULPSCOPE_API enum ulpscope_status ulpscope_sum_arrays(void *out, const void *const *array,
                                                      size_t arrays, size_t n,
                                                      enum ulpscope_format f, unsigned folds,
                                                      struct ulpscope_error *error);

/* --- the reference: what is exactly so of an array --- */

struct ulpscope_reference;

/* Reads the array once; keeps nothing of it. ULPSCOPE_MEMORY, ULPSCOPE_USAGE. What was made,
 * ulpscope_reference_free ends (NULL is fine). */
ULPSCOPE_API enum ulpscope_status ulpscope_reference_new(struct ulpscope_reference **r,
                                                         const struct ulpscope_array *a,
                                                         struct ulpscope_error *error);
ULPSCOPE_API void ulpscope_reference_free(struct ulpscope_reference *r);
/* The exact sum, all its bits, as a C99 hex float: "0x1.8p+1", "-0x1p-1074", "0x0p+0", "inf",
 * "nan". The reference's. */
ULPSCOPE_API const char *ulpscope_reference_hex(const struct ulpscope_reference *r);
/* The exact sum, and the exact sum of |x|, each rounded once to fp64. */
ULPSCOPE_API double ulpscope_reference_sum(const struct ulpscope_reference *r);
ULPSCOPE_API double ulpscope_reference_sum_abs(const struct ulpscope_reference *r);
/* log2(sum|x| / |sum x|), the binary logarithm of the condition number (Higham 2002, 4.1): digits
 * that the data cancel. inf where the sum is 0; NaN where it is not finite. */
ULPSCOPE_API double ulpscope_reference_cond_log2(const struct ulpscope_reference *r);

/* A computed sum beside the exact one. A figure that does not apply is NaN, as is one that is not a
 * number. Each is computed from the exact values, then rounded once. */
struct ulpscope_figures {
    double err_abs;      /* |result - exact|, in units of the elements */
    double err_rel;      /* err_abs / |exact| */
    double err_ulp;      /* err_abs in ulps of the exact sum, in the accumulator's format */
    double err_backward; /* err_abs / sum|x| */
    double bound;        /* on err_abs, rounded up */
    double err_over_bound;
    int within; /* err_abs <= bound, decided on the exact numbers; 0 where there is no bound */
};

/* The result, a value of `accumulator`, of additions in that format in any order. bound: (n-1) u
 * sum|x| (Jeannerod, Rump 2013), and for rounding elements to the accumulator what that costs; none
 * with inf or NaN among the elements. Of a result that is inf or NaN there is one where sum|x| and
 * the bound add up to at most the accumulator's largest number: no order overflows then, and
 * err_over_bound is inf. ULPSCOPE_USAGE. */
ULPSCOPE_API enum ulpscope_status ulpscope_measure(struct ulpscope_figures *figures,
                                                   const struct ulpscope_reference *r,
                                                   enum ulpscope_format accumulator, double result,
                                                   struct ulpscope_error *error);
ULPSCOPE_API enum ulpscope_status
ulpscope_measure_sized(size_t size, struct ulpscope_figures *figures,
                       const struct ulpscope_reference *r, enum ulpscope_format accumulator,
                       double result, struct ulpscope_error *error);
#define ulpscope_measure(figures, r, accumulator, result, error)                                   \
    ulpscope_measure_sized(sizeof *(figures), figures, r, accumulator, result, error)

/* --- sums that merge ---
 *
 * A state is a function of the multiset of its elements: parts summed by other threads, machines or
 * on other days merge, in any tree, into the same bytes. */

/* `folds` is 0: exact (as sum/exact); elements of every format. 2, 3 or 4: binned (as sum/binned2,
 * sum/binned, sum/binned4: after Demmel and Nguyen 2015), for elements of the format `storage`,
 * error at most u|S| + (n-1) 2^(-folds p) max|x| with p bits of the accumulator: smaller, and
 * faster. */
struct ulpscope_state;

/* A state of no elements. ULPSCOPE_USAGE, ULPSCOPE_MEMORY. _free: NULL is fine. */
ULPSCOPE_API enum ulpscope_status ulpscope_state_new(struct ulpscope_state **s, unsigned folds,
                                                     enum ulpscope_format storage,
                                                     enum ulpscope_format accumulator,
                                                     struct ulpscope_error *error);
ULPSCOPE_API void ulpscope_state_free(struct ulpscope_state *s);
/* Adds an array. ULPSCOPE_USAGE where a binned state takes another format, ULPSCOPE_DATA where
 * there would be 2^63 elements; the state is as it was then. */
ULPSCOPE_API enum ulpscope_status ulpscope_state_add(struct ulpscope_state *s,
                                                     const struct ulpscope_array *a,
                                                     struct ulpscope_error *error);
/* Adds what `from` holds. ULPSCOPE_USAGE where folds or formats differ (of exact states: nothing
 * to differ), ULPSCOPE_DATA where there would be 2^63 elements; `to` is as it was then. */
ULPSCOPE_API enum ulpscope_status ulpscope_state_merge(struct ulpscope_state *to,
                                                       const struct ulpscope_state *from,
                                                       struct ulpscope_error *error);
/* The sum in the accumulator's format. */
ULPSCOPE_API double ulpscope_state_sum(const struct ulpscope_state *s);
/* Serialised, the same on every machine: the size in bytes, and the bytes. Equal elements
 * give equal bytes. Integers are little-endian; bytes not listed are 0.
 *
 *     exact    binned   bytes
 *     0        0        4   "ulpe", binned "ulpb"
 *     4        4        1   the layout's version, 1
 *              5        2   storage, then accumulator, by their numbers in ulpscope_format
 *              7        1   folds
 *     5        16       1   flags: 1 NaN, 2 +inf, 4 -inf, 8 an element other than -0
 *     8        8        8   elements
 *     16              272   the sum of the positive finite elements, in units of 2^-1074
 *     288             272   minus the sum of the negative ones, likewise; 560 bytes in all
 *              18       2   J; ff ff where every finite element is a zero
 *              24      96   the sums of bins J .. J+5, 16 bytes each, two's complement; 120 in all
 *
 * The sum of bin j is in units of 2^(W j - 1074), W = 50 where the accumulator is fp64, else 21. To
 * it an element x adds the multiple of this unit that is nearest (ties to even) to what the bins
 * above left of x. With 2^e <= max|x| < 2^(e+1) over the finite elements, and D the larger of folds
 * times the accumulator's precision (11, 8, 24, 53) and the storage's precision (e4m3: 4, e5m2: 3),
 * J is the floor of (e - D + 1 + 1074) / W; but at least that of (m + 1074) / W, 2^m being the
 * storage's smallest subnormal number (m = -24, -133, -149, -1074, -9, -16, in the order of
 * ulpscope_format). What is left below bin J is forgotten. */
ULPSCOPE_API size_t ulpscope_state_bytes(const struct ulpscope_state *s);
ULPSCOPE_API void ulpscope_state_write(const struct ulpscope_state *s, void *bytes);
/* A new state from bytes of either kind; `accumulator` is that of an exact one (a binned one brings
 * its own). ULPSCOPE_DATA: no state that elements could have led to. ULPSCOPE_MEMORY. */
ULPSCOPE_API enum ulpscope_status ulpscope_state_read(struct ulpscope_state **s, const void *bytes,
                                                      size_t size, enum ulpscope_format accumulator,
                                                      struct ulpscope_error *error);

/* --- ulpscope's methods, on the CPU --- */

struct ulpscope_method {
    const char *name;    /* "sum/tiled" */
    const char *summary; /* one line */
    enum ulpscope_operation operation;
    enum ulpscope_promise promise;
    uint64_t pairs; /* ULPSCOPE_PAIRs that it supports on the CPU; 0: it needs a GPU */
};
/* Those of the operations above. */
ULPSCOPE_API size_t ulpscope_method_count(void);
/* Method i < ulpscope_method_count(). ULPSCOPE_USAGE. */
ULPSCOPE_API enum ulpscope_status ulpscope_method_get(struct ulpscope_method *m, size_t i,
                                                      struct ulpscope_error *error);
ULPSCOPE_API enum ulpscope_status ulpscope_method_get_sized(size_t size, struct ulpscope_method *m,
                                                            size_t i, struct ulpscope_error *error);
#define ulpscope_method_get(m, i, error) ulpscope_method_get_sized(sizeof *(m), m, i, error)
/* Runs the method of that name. a2: the second array of a dot product, of a's length and format;
 * else NULL. out: one element of the accumulator's format, of a scan n of them (inclusive), apart
 * from the input. threads, blocks: the launch shape, up to 1024 and 65535; 0: the method's choice.
 * ULPSCOPE_USAGE, ULPSCOPE_UNAVAILABLE, ULPSCOPE_MEMORY. */
ULPSCOPE_API enum ulpscope_status ulpscope_run(const char *method, const struct ulpscope_array *a,
                                               const struct ulpscope_array *a2,
                                               enum ulpscope_format accumulator, unsigned threads,
                                               unsigned blocks, void *out,
                                               struct ulpscope_error *error);

/* --- your own kernel ---
 *
 * The attempts of `ulpscope check`, in this process, on inputs that tell orders of additions apart:
 * runs repeated, and while the processor has other work (run_to_run); launch shapes, where the
 * subject reads them, alignments, and what lies around the input in memory (gpu_to_gpu);
 * permutations (order_invariant); the exact sum rounded once, by MPFR (correctly_rounded). A rung
 * is refuted by one differing bit. */

enum { ULPSCOPE_RUNGS = 5 };
struct ulpscope_rung {
    uint64_t attempts;  /* results compared; 0: not tried */
    uint64_t differing; /* of them */
    size_t n;           /* where any differs, the witness: elements, */
    enum ulpscope_format storage, accumulator;
    uint64_t expected, found; /* encodings of results; of scans, of the first output that differs or
                                 hashes of all */
    char is[2][96];           /* what they are the results of: "run 1", "33 threads" */
};

struct ulpscope_report {
    enum ulpscope_promise kept; /* the highest rung that was tried and kept, with all below it */
    int refuted;                /* a rung that the subject promises is broken, or its error bound */
    struct ulpscope_rung rung[ULPSCOPE_RUNGS]; /* by ulpscope_promise; [0] is empty */
};

/* Checks a subject of host memory (ulpscope_subject.h) for about `seconds`, > 0; its `run` is
 * called in the calling thread, and `seed` seeds the inputs. The floating-point environment is
 * after each call what it was before. A broken promise is ULPSCOPE_OK and stands in the report.
 * ULPSCOPE_USAGE: the subject's entry is not filled in; ULPSCOPE_DATA: its `run` returned another
 * number than 0, left a result unwritten, or wrote beyond its results or to its input;
 * ULPSCOPE_UNAVAILABLE, ULPSCOPE_MEMORY. */
ULPSCOPE_API enum ulpscope_status ulpscope_check(struct ulpscope_report *report,
                                                 const struct ulpscope_subject *subject,
                                                 double seconds, uint64_t seed,
                                                 struct ulpscope_error *error);
ULPSCOPE_API enum ulpscope_status ulpscope_check_sized(size_t size, struct ulpscope_report *report,
                                                       uint32_t version,
                                                       const struct ulpscope_subject *subject,
                                                       double seconds, uint64_t seed,
                                                       struct ulpscope_error *error);
#define ulpscope_check(report, subject, seconds, seed, error)                                      \
    ulpscope_check_sized(sizeof *(report), report, ULPSCOPE_SUBJECT_VERSION, subject, seconds,     \
                         seed, error)

#ifdef __cplusplus
}
#endif
#endif
