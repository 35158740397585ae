/* Methods compiled with another release: named, loaded, and refused in one line. */
#include <criterion/criterion.h>
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
