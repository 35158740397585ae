/* Methods compiled with another release: named, loaded, and refused in one line. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/subjects/release.h"
#include "experiments/subjects/subject.h"

static void begin(void)
{
    setenv("ULPSCOPE_RELEASES", PLANTED_RELEASES, 1);
}

static enum status name(const struct method **m, const char *of, struct problem *p)
{
    *p = (struct problem){0};
    return subject_named(m, "test", of, NULL, p);
}

Test(release, names_a_method_and_what_it_was_compiled_with, .init = begin)
{
    struct problem p;
    const struct method *m, *again, *ours = method_named("cub/sum");
    cr_assert(name(&m, "cub/sum@3.1.4", &p) == STATUS_OK, "%s", p.text);
    cr_expect_str_eq(m->name, "cub/sum@3.1.4");
    cr_expect(strstr(m->summary, "compiled with CCCL 3.1.4"), "%s", m->summary);
    cr_expect(m != ours && m->operation == ours->operation && m->promise == ours->promise);
    cr_expect(m->bound == ours->bound && !m->foreign && method_cuda(m) == m->cuda && m->cuda);
    cr_expect(name(&again, "cub/sum@3.1.4", &p) == STATUS_OK && again == m);
    cr_expect(strlen(release_fingerprint(m)) == 32 &&
              subject_fingerprint(m) == release_fingerprint(m));
    cr_expect(!release_fingerprint(ours) && !subject_fingerprint(ours));
}

/* Those that both the method and the object have. */
Test(release, has_the_pairs_that_were_compiled, .init = begin)
{
    struct problem p;
    const struct method *m;
    cr_assert(name(&m, "cub/sum@3.1.4", &p) == STATUS_OK, "%s", p.text);
    for (enum format s = 0; s < FORMATS; s++)
        for (enum format a = 0; a < ACCUMULATORS; a++)
            cr_expect(method_supports(m, DEVICE_CUDA, s, a) == (s == a && (s == FP32 || s == FP64)),
                      "%d in %d", (int)s, (int)a);
    cr_expect(!method_supports(m, DEVICE_CPU, FP32, FP32));
}

static void refused(const char *of, enum status status, const char *why)
{
    struct problem p;
    const struct method *m;
    enum status found = name(&m, of, &p);
    cr_expect(found == status, "%s: status %d, expected %d: %s", of, (int)found, (int)status,
              p.text);
    cr_expect(strstr(p.text, why), "%s: found '%s', expected '%s'", of, p.text, why);
    cr_expect(!strchr(p.text, '\n') && !m);
}

Test(release, is_refused_in_one_line, .init = begin)
{
    refused("cub/sum_gpu_to_gpu@3.1.4", STATUS_USAGE, "cub/sum_gpu_to_gpu is not in CCCL 3.1.4");
    refused("cub/sum@3.5.0", STATUS_DATA, "3.5.0.so: could not be read");
    refused("cub/sum@3.2.0", STATUS_DATA, "of its structures, expected");
    refused("cub/sum@3.3.3", STATUS_DATA, "found CCCL 3.1.4 in it, expected 3.3.3");
    refused("cub/sum@3.4.2", STATUS_DATA, "found no symbol ulpscope_release");
    refused("cub/sum@newest", STATUS_USAGE, "expected a release as in cub/sum@3.1.4");
    refused("cub/sum@3.1", STATUS_USAGE, "expected a release as in cub/sum@3.1.4");
    refused("cub/sum@../3.1.4", STATUS_USAGE, "expected a release as in cub/sum@3.1.4");
    refused("cub/sun@3.1.4", STATUS_USAGE, "expected one of cub/sum");
    refused("cub/sum@", STATUS_USAGE, "expected a method");
}

/* cuBLAS: the methods of the registry, in the library of a release. Each test has its process. */
Test(release, loads_cublas, .init = begin)
{
    struct problem p;
    const struct method *m, *again, *ours = method_named("cublas/norm");
    cr_assert(name(&m, "cublas/norm@13.1.0", &p) == STATUS_OK, "%s", p.text);
    cr_expect_str_eq(m->name, "cublas/norm@13.1.0");
    cr_expect(strstr(m->summary, ", cuBLAS 13.1.0"), "%s", m->summary);
    cr_expect(m != ours && m->operation == ours->operation && m->promise == ours->promise);
    cr_expect(method_cuda(m) == method_cuda(ours) && !m->foreign);
    char of_both[2][33];
    cr_assert(subject_hash_file(of_both[0], PLANTED_RELEASES "/cublas/13.1.0/libcublas.so.13"));
    cr_assert(subject_hash_file(of_both[1], PLANTED_RELEASES "/cublas/13.1.0/libcublasLt.so.13"));
    cr_expect(strlen(release_fingerprint(m)) == 32);
    cr_expect(strncmp(release_fingerprint(m), of_both[0], 16) == 0);
    cr_expect(strncmp(release_fingerprint(m) + 16, of_both[1], 16) == 0);
    cr_expect(name(&again, "cublas/norm@13.1.0", &p) == STATUS_OK && again == m);
    cr_assert(name(&again, "cublaslt/product@13.1.0", &p) == STATUS_OK, "%s", p.text);
    cr_expect_str_eq(release_fingerprint(again), release_fingerprint(m));
    int major = 0, (*property)(int, int *) = NULL;
    void *found = dlopen("libcublas.so.13", RTLD_LAZY | RTLD_NOLOAD);
    cr_assert(found);
    *(void **)&property = dlsym(found, "cublasGetProperty");
    cr_expect(property && property(0, &major) == 0 && major == 13);
    cr_expect(name(&again, "cub/sum@3.1.4", &p) == STATUS_OK, "%s", p.text);
}

static const char *const apart = "a process has one cuBLAS: name others in commands of their own";

Test(release, refuses_two_of_cublas, .init = begin)
{
    struct problem p;
    const struct method *m;
    cr_assert(name(&m, "cublas/norm@13.4.1", &p) == STATUS_OK, "%s", p.text);
    refused("cublas/norm@13.1.0", STATUS_USAGE,
            "test: found cublas/norm@13.1.0, beside methods of cuBLAS 13.4.1");
    refused("cublas/l1_norm@13.1.0", STATUS_USAGE, apart);
    refused("cublas/norm", STATUS_USAGE,
            "test: found cublas/norm, beside methods of cuBLAS 13.4.1");
    refused("cublaslt/product", STATUS_USAGE, apart);
    cr_expect(name(&m, "cub/sum", &p) == STATUS_OK, "%s", p.text);
    cr_expect(name(&m, "cublas/l1_norm@13.4.1", &p) == STATUS_OK, "%s", p.text);
}

Test(release, refuses_a_release_behind_the_program_s_cublas, .init = begin)
{
    struct problem p;
    const struct method *m;
    cr_assert(name(&m, "cublas/norm", &p) == STATUS_OK, "%s", p.text);
    refused("cublas/norm@13.1.0", STATUS_USAGE, "found cublas/norm@13.1.0, beside cublas/norm");
}

/* As a Python module or another library in the process may. */
static void refuses_behind(const char *library)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/cublas/13.4.1/%s", PLANTED_RELEASES, library);
    void *theirs = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    cr_assert(theirs, "%s", dlerror());
    refused("cublas/norm@13.1.0", STATUS_USAGE, "but the process has loaded libcublasLt.so.13");
    dlclose(theirs);
    struct problem p;
    const struct method *m;
    cr_expect(name(&m, "cublas/norm@13.1.0", &p) == STATUS_OK, "%s", p.text);
}

Test(release, refuses_a_release_behind_another_cublas, .init = begin)
{
    refuses_behind("libcublas.so.13");
}

Test(release, refuses_a_release_behind_another_cublaslt, .init = begin)
{
    refuses_behind("libcublasLt.so.13");
}

Test(release, refuses_cublas_that_is_not_the_release, .init = begin)
{
    struct problem p;
    const struct method *m;
    refused("cublas/norm@13.2.0", STATUS_DATA,
            "libcublasLt.so.13: found cuBLAS 13.1.0 in it, expected 13.2.0");
    refused("cublas/norm@13.3.0", STATUS_DATA, "libcublasLt.so.13: could not be read");
    refused("cublas/norm@13.5.0", STATUS_DATA,
            "libcublas.so.13: loaded, but it is not what this process has for libcublas.so.13");
    refused("cublas/norm@13.6.0", STATUS_DATA, "libcublas.so.13: loaded, but it is not");
    refused("cublas/norm@13.1", STATUS_USAGE, "expected a release as in cublas/norm@13.1.0");
    cr_expect(name(&m, "cublas/norm@13.1.0", &p) == STATUS_OK, "%s", p.text);
}
