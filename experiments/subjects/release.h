/* Methods of libraries, by release. `cub/sum@3.1.4` is cub/sum, compiled with CCCL 3.1.4: that of
 * the shared object 3.1.4.so, which experiments/releases/releases made. `cublas/norm@13.1.0` is
 * cublas/norm, called in cuBLAS 13.1.0 (release_cublas.h).
 *
 * All lie in the folder that the environment variable ULPSCOPE_RELEASES names, else in
 * build/releases. They are loaded into this process: their methods are run as those of the registry
 * are, and promise what these promise. */
#pragma once

#include "kernels/method/method.h"

#define RELEASE_FOLDER "build/releases"

/* Is it the name of a method of the registry, '@', and more? */
bool name_is_release(const char *name);

/* The method of such a name, the same for the same name; it lives as long as the process.
 * STATUS_USAGE names `where`, and what is not in this release; STATUS_DATA the object that is
 * missing, damaged, of another release, or compiled from sources that this program is not made of.
 */
enum status release_named(const struct method **m, const char *where, const char *name,
                          struct problem *p);

/* The XXH3-128 of the object of a method so named, in hexadecimal; NULL for any other. */
const char *release_fingerprint(const struct method *m);
