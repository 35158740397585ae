/* Judges for tests: MPFR, and integers of our own that are themselves held to MPFR. */
#pragma once

#include <mpfr.h>

#include "reference/format/array.h"
#include "reference/exact/value.h"

/* The value of an encoding, assembled by MPFR from sign, exponent and fraction. */
void oracle_decode(mpfr_t to, enum format f, uint64_t bits);

/* x rounded once to f by MPFR, exponent range and subnormals included. */
double oracle_round(enum format f, const mpfr_t x);

/* The root of x, and a / b, rounded once to f by MPFR in the same way. */
double oracle_root(enum format f, const mpfr_t x);
double oracle_quotient(enum format f, const mpfr_t a, const mpfr_t b);

/* The exact a + b, a b and a b + c, rounded once to f by MPFR. */
double oracle_add(enum format f, double a, double b);
double oracle_multiply(enum format f, double a, double b);
double oracle_multiply_add(enum format f, double a, double b, double c);

/* The bits that hold every sum of some of the elements, or of their opposites, exactly: as many as
 * their exponents need. */
mpfr_prec_t oracle_precision(const struct array *a);

/* Sets `to` (its precision is changed) to the exact sum of an array, or of its magnitudes: one
 * MPFR addition after the other, at a precision that rounds none. */
void oracle_sum(mpfr_t to, const struct array *a, bool magnitudes);

/* due[f] = what an operation of one array is due to give, rounded once to f: its exact sum, norm,
 * mean, variance, product or extremum; of nothing what kernels/method/method.h says. */
void oracle_values(double due[ACCUMULATORS], enum exact_value of, const struct array *a);

/* Equal numbers of the same sign, or both NaN. */
bool same_mpfr(const mpfr_t a, const mpfr_t b);

/* The encoding of the rounded sum of two encodings, in integer arithmetic alone; NaN canonical. */
uint64_t integer_add(enum format f, uint64_t a, uint64_t b);

/* The same double: equal as bits, or both NaN. */
bool same_double(double a, double b);
