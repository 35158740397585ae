/* Ids of cases, of every kind: they must not change, since results directories are joined by them.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <xxhash.h>

#include "experiments/cases/plan.h"
#include "kernels/mma/mma.h"
#include "reports/results/study.h"

static char *words(const char *text)
{
    return (char *)text; /* names that are not written to */
}

static const struct source generated = {
    .name = (char *)"uniform", .generated = true, .seed = 7, .array = {FP16, 1000, NULL}};
static const struct source data = {
    .name = (char *)"x.npy", .hash = "0123456789abcdef0123456789abcdef", .array = {FP64, 12, NULL}};

enum { KINDS = 15 };
static struct keys keys;
static const struct layout layout = {LAYOUT_BATCH, 8, "batch:8"};

static struct study_case trial_of(const char *method)
{
    const struct method *m = method_named(method);
    cr_assert(m, "%s", method);
    return (struct study_case){
        .method = m, .accumulator = FP32, .setting.output = FP32, .setting.product = m->product};
}

/* A case of each kind, and what its id is the hash of. */
static const char *kind(size_t k, struct study_case *t, const struct source **s)
{
    *s = k == 1 ? &data : &generated;
    switch (k) {
    case 0:
        *t = trial_of("sum/serial");
        return "method=sum/serial\ndevice=cpu\nstorage=fp16\naccumulator=fp32\ninput=uniform\n"
               "n=1000\nseed=7\nthreads=0\nblocks=0\n";
    case 1:
        *t = trial_of("sum/serial");
        t->accumulator = FP64;
        return "method=sum/serial\ndevice=cpu\nstorage=fp64\naccumulator=fp64\ninput=x.npy\nn=12\n"
               "hash=0123456789abcdef0123456789abcdef\nthreads=0\nblocks=0\n";
    case 2:
        *t = trial_of("sum/atomic");
        t->device = (struct device){DEVICE_CUDA, 1};
        t->shape = (struct shape){128, 40};
        return "method=sum/atomic\ndevice=cuda:1\nstorage=fp16\naccumulator=fp32\ninput=uniform\n"
               "n=1000\nseed=7\nthreads=128\nblocks=40\n";
    case 3:
        *t = trial_of("sum/atomic");
        t->load = LOAD_BUSY;
        return "method=sum/atomic\ndevice=cpu\nstorage=fp16\naccumulator=fp32\ninput=uniform\n"
               "n=1000\nseed=7\nthreads=0\nblocks=0\nload=busy\n";
    case 4:
        *t = trial_of("scan/tiled");
        return "method=scan/tiled\ndevice=cpu\nstorage=fp16\naccumulator=fp32\ninput=uniform\n"
               "n=1000\nseed=7\nthreads=0\nblocks=0\nscan=inclusive\noutput=fp32\nsegment=0\n";
    case 5:
        *t = trial_of("scan/segmented");
        t->setting.exclusive = true;
        t->setting.output = FP16;
        t->setting.segment = 33;
        return "method=scan/segmented\ndevice=cpu\nstorage=fp16\naccumulator=fp32\ninput=uniform\n"
               "n=1000\nseed=7\nthreads=0\nblocks=0\nscan=exclusive\noutput=fp16\nsegment=33\n";
    case 6:
        *t = trial_of("dot/tiled");
        t->setting.product = PRODUCT_FUSED;
        return "method=dot/tiled\ndevice=cpu\nstorage=fp16\naccumulator=fp32\ninput=uniform\n"
               "n=1000\nseed=7\nthreads=0\nblocks=0\nproduct=fused\n";
    case 7:
        *t = trial_of("scatter/sort");
        keys = (struct keys){.kind = KEYS_UNIFORM, .name = words("uniform")};
        t->setting.keys = &keys;
        t->setting.key_seed = 7;
        t->setting.bins = 10;
        return "method=scatter/sort\ndevice=cpu\nstorage=fp16\naccumulator=fp32\ninput=uniform\n"
               "n=1000\nseed=7\nthreads=0\nblocks=0\nkeys=uniform \nbins=10\nkey_seed=7\n";
    case 8:
        *t = trial_of("scatter/sort");
        keys = (struct keys){
            .kind = KEYS_FILE, .name = words("file:k.npy"), .hash = "fedcba9876543210"};
        t->setting.keys = &keys;
        t->setting.bins = 20;
        return "method=scatter/sort\ndevice=cpu\nstorage=fp16\naccumulator=fp32\ninput=uniform\n"
               "n=1000\nseed=7\nthreads=0\nblocks=0\nkeys=file:k.npy fedcba9876543210\nbins=20\n"
               "key_seed=0\n";
    case 9:
        *t = trial_of("rows/tiled");
        t->setting.bins = 40;
        t->setting.layout = &layout;
        return "method=rows/tiled\ndevice=cpu\nstorage=fp16\naccumulator=fp32\ninput=uniform\n"
               "n=1000\nseed=7\nthreads=0\nblocks=0\nrows=40\nlayout=batch:8\n";
    case 10:
        *t = trial_of("transpose/tiled");
        t->setting.bins = 50;
        return "method=transpose/tiled\ndevice=cpu\nstorage=fp16\naccumulator=fp32\ninput=uniform\n"
               "n=1000\nseed=7\nthreads=0\nblocks=0\nrows=50\nlayout=\n";
    case 12:
        *t = trial_of("gemm/promoted");
        t->setting.product = PRODUCT_NONE;
        t->setting.shape = (struct gemm_shape){.m = 2, .n = 3, .k = 5};
        t->setting.bins = 6;
        t->setting.chip = mma_chip_named("h200");
        t->setting.promote = 64;
        return "method=gemm/promoted\ndevice=cpu\nstorage=fp16\naccumulator=fp32\ninput=uniform\n"
               "n=1000\nseed=7\nthreads=0\nblocks=0\nshape=2x3x5\noutput=fp32\nchip=h200\n"
               "promote=64\n";
    case 13: /* nothing is asked of its heuristic: as before it could be */
    case 14:
        *t = trial_of("cublaslt/product_16");
        t->setting.product = PRODUCT_NONE;
        t->device = (struct device){DEVICE_CUDA, 0};
        t->setting.shape = (struct gemm_shape){.m = 2, .n = 3, .k = 5};
        t->setting.bins = 6;
        if (k == 13)
            return "method=cublaslt/product_16\ndevice=cuda:0\nstorage=fp16\naccumulator=fp32\n"
                   "input=uniform\nn=1000\nseed=7\nthreads=0\nblocks=0\nshape=2x3x5\n"
                   "output=fp32\n";
        heuristic_workspace(&t->setting.heuristic, 0);
        heuristic_algorithm(&t->setting.heuristic, 3);
        return "method=cublaslt/product_16\ndevice=cuda:0\nstorage=fp16\naccumulator=fp32\n"
               "input=uniform\nn=1000\nseed=7\nthreads=0\nblocks=0\nshape=2x3x5\noutput=fp32\n"
               "workspace=0\nalgorithm=3\n";
    default:
        *t = trial_of("compact/scan");
        t->setting.keep = 25;
        return "method=compact/scan\ndevice=cpu\nstorage=fp16\naccumulator=fp32\ninput=uniform\n"
               "n=1000\nseed=7\nthreads=0\nblocks=0\nkeep=25\n";
    }
}

Test(case_id, stays_what_it_was)
{
    static const uint64_t golden[KINDS] = {
        0xaba3174daacf5b5e, 0x474ab8f5cc5e9058, 0xb60afa4440416dc3, 0xd14e682d6c302bd0,
        0x44b89d7974de92e8, 0xbf13dd6e137ffc6a, 0xfbcbc4800e346f5c, 0x48e1dd28c3ee9544,
        0x5e23e5af608b093a, 0xacf394e5f42141d8, 0xa117c572b9d401ff, 0x1c5cc577af3cf20b,
        0x6c8dc23b22c4691f, 0x7d7cad034f722004, 0xf869d5eeae29b49f,
    };
    for (size_t k = 0; k < KINDS; k++) {
        struct study_case t;
        const struct source *s;
        char id[CASE_ID_TEXT], due[CASE_ID_TEXT];
        const char *text = kind(k, &t, &s);
        snprintf(due, sizeof due, "%016llx", (unsigned long long)golden[k]);
        case_id_text(id, case_id(&t, s));
        cr_expect(strcmp(id, due) == 0, "found %s, expected %s, of:\n%s", id, due, text);
        cr_expect(XXH64(text, strlen(text), 0) == golden[k], "%s", text);
    }
}

/* Whatever makes a case makes its id. */
Test(case_id, every_part_counts)
{
    struct study_case t;
    const struct source *s;
    kind(7, &t, &s);
    uint64_t id = case_id(&t, s);
    struct study_case other = t;
    other.setting.key_seed++;
    cr_expect(case_id(&other, s) != id, "the keys' seed");
    other = t;
    other.setting.bins++;
    cr_expect(case_id(&other, s) != id, "bins");
    struct source seeded = *s;
    seeded.seed++;
    cr_expect(case_id(&t, &seeded) != id, "the seed");
}

/* --- methods that had another name --- */

/* Of a row that was recorded under the first name (reports/recorded/h200-cond). */
Test(case_id, of_a_renamed_method_stays)
{
    const struct source s = {.name = words("cond:sum=6.103515625e-05:target=1"),
                             .generated = true,
                             .seed = 1,
                             .array = {FP16, 4096, NULL}};
    struct study_case t = trial_of("cublas/sum_by_gemv_16");
    t.device = (struct device){DEVICE_CUDA, 0};
    cr_expect(case_id(&t, &s) == 0xdb308c3cc59e2d05, "found %016llx",
              (unsigned long long)case_id(&t, &s));
    cr_expect(method_named("cublas/gemv_16") == t.method);
}

/* A name that any method had or has is that of one method. */
Test(case_id, former_names_are_of_one_method)
{
    size_t renamed = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        cr_expect(method_named(m->name) == m, "%s", m->name);
        cr_expect_str_eq(method_first_name(m->name), m->former ? m->former : m->name);
        if (!m->former)
            continue;
        cr_expect(method_named(m->former) == m, "%s", m->former);
        cr_expect_str_eq(method_first_name(m->former), m->former);
        for (size_t k = 0; k < method_count; k++)
            cr_expect(strcmp(method_registry[k]->name, m->former) != 0 &&
                          (k == i || !method_registry[k]->former ||
                           strcmp(method_registry[k]->former, m->former) != 0),
                      "%s was %s", m->name, m->former);
        renamed++;
    }
    cr_expect(renamed == 11, "%zu", renamed);
    cr_expect_str_eq(method_first_name("exec:./mine"), "exec:./mine");
}

static bool same_study(const char *found, const char *asked)
{
    struct problem p = {0};
    json_t *one = json_pack("{ss s{s[ss]}}", "experiment", "accuracy", "axes", "method",
                            "sum/tiled", found),
           *other = json_pack("{ss s{s[ss]}}", "experiment", "accuracy", "axes", "method",
                              "sum/tiled", asked);
    bool same = study_same(one, other, "study.json", &p) == STATUS_OK;
    json_decref(one);
    json_decref(other);
    return same;
}

Test(case_id, studies_of_renamed_methods_go_on)
{
    cr_expect(same_study("cublas/dot", "cublas/sum_by_dot"));
    cr_expect(same_study("cublas/sum_by_dot", "cublas/sum_by_dot"));
    cr_expect(!same_study("cublas/dot", "cublas/dot_product"));
    cr_expect(!same_study("cublas/dot", "cublas/sum_by_gemv"));
}
