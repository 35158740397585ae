/* cuBLAS by release: `cublas/norm@13.1.0` is cublas/norm, called in the cuBLAS 13.1.0 that lies in
 * the folder of releases, as cublas/13.1.0/libcublas.so.13 beside its libcublasLt.so.13.
 *
 * A process has one cuBLAS: its libraries find each other by name, so that a second libcublas would
 * call the first one's libcublasLt, whose version it then tells for its own. (Seen of 13.4.1 loaded
 * after 13.1.0: cublasGetProperty and cublasGetVersion said 13.1.0.) So versions alone prove
 * nothing, files are compared too, and what would mix is refused. */
#pragma once

#include <stdint.h>

#include "kernels/method/method.h"

/* Is it called in cuBLAS or cuBLASLt? */
bool method_of_cublas(const struct method *m);

/* Makes FOLDER/cublas/VERSION this process's cuBLAS, or finds it so. `is`: the version as a number;
 * fingerprint: of both files. STATUS_DATA: they are missing, damaged or of another version;
 * STATUS_USAGE names `where`: the process has another cuBLAS. `name`: the method's, which is `of`
 * without a release. */
enum status release_cublas(char fingerprint[33], const char *folder, const char *version,
                           uint32_t is, const char *where, const char *name,
                           const struct method *of, struct problem *p);

/* A method without a release is named: STATUS_USAGE where it is cuBLAS's and a release was named
 * before. A release that is named after it is refused likewise. */
enum status release_cublas_beside(const struct method *m, const char *where, struct problem *p);
