#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/support/files.h"

TestSuite(npy_write, .init = make_folder, .fini = remove_folder);

static struct array make_array(enum format f, size_t n)
{
    struct array a = {f, n, malloc(n * (size_t)format_facts[f].bytes + 1)};
    if (!a.data)
        abort();
    for (size_t i = 0; i < n; i++)
        array_set_bits(&a, i, UINT64_C(0x9e3779b97f4a7c15) * (i + 1) >> 7);
    return a;
}

static size_t files_in_folder(void)
{
    glob_t found;
    size_t count = glob(in_folder("*"), 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

/* The bytes as the format's description asks for them, written out by hand. */
Test(npy_write, bytes)
{
    static const char *const type[ACCUMULATORS] = {"<f2", "<V2", "<f4", "<f8"};
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct problem p = {0};
        struct array a = make_array(f, 3);
        const char *path = in_folder("w.npy");
        cr_assert(data_write_npy(path, &a, &p) == STATUS_OK, "%s", p.text);
        unsigned char got[256], expected[128];
        char text[119];
        FILE *file = fopen(path, "rb");
        cr_assert(file != NULL);
        size_t size = fread(got, 1, sizeof got, file);
        fclose(file);
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (3,), }",
                 type[f]);
        memset(expected, ' ', sizeof expected);
        memcpy(expected, "\x93NUMPY\1\0\x76\0", 10);
        memcpy(expected + 10, text, strlen(text));
        expected[127] = '\n';
        size_t bytes = 3 * (size_t)format_facts[f].bytes;
        cr_expect(size == 128 + bytes, "%s: %zu bytes", type[f], size);
        cr_expect(memcmp(got, expected, 128) == 0, "%s: header", type[f]);
        cr_expect(memcmp(got + 128, a.data, bytes) == 0, "%s: data", type[f]);
        free(a.data);
    }
}

Test(npy_write, read_back)
{
    static const size_t sizes[] = {0, 1, 2, 1000, 100003};
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct problem p = {0};
            struct array a = make_array(f, sizes[i]);
            const char *path = in_folder("back.npy");
            cr_assert(data_write_npy(path, &a, &p) == STATUS_OK, "%s", p.text);
            struct data_set set = expect_data(path, f, false, format_facts[f].name);
            cr_expect(set.item[0].array.n == a.n &&
                          memcmp(set.item[0].array.data, a.data, array_bytes(f, a.n)) == 0,
                      "%s, n = %zu", format_facts[f].name, a.n);
            data_free(&set);
            free(a.data);
        }
    cr_expect(files_in_folder() == 1, "something is left beside the file");
}

static void expect_unwritable(const char *path, const struct array *a, const char *said)
{
    struct problem p = {0};
    enum status status = data_write_npy(path, a, &p);
    cr_expect(status == STATUS_DATA && p.status == STATUS_DATA, "%s: status %d", path, (int)status);
    cr_expect(strstr(p.text, path) && strstr(p.text, said), "%s: %s", path, p.text);
}

Test(npy_write, unwritable)
{
    struct array a = make_array(FP64, 100000);
    struct stat facts;
    expect_unwritable("/dev/full", &a, strerror(ENOSPC));
    cr_expect(stat("/dev/full", &facts) == 0 && S_ISCHR(facts.st_mode), "/dev/full is gone");
    expect_unwritable(in_folder("no/such/x.npy"), &a, strerror(ENOENT));
    expect_unwritable(folder, &a, strerror(EISDIR));
    expect_unwritable("", &a, strerror(ENOENT));
    cr_expect(files_in_folder() == 0, "something is left behind");
    free(a.data);
}

/* A disk that fills up on the way: what stood there before stays, and nothing beside it. */
Test(npy_write, full_on_the_way)
{
    struct array small = make_array(FP32, 10), large = make_array(FP64, 1000000);
    struct problem p = {0};
    const char *path = in_folder("kept.npy");
    cr_assert(data_write_npy(path, &small, &p) == STATUS_OK, "%s", p.text);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, limit;
    cr_assert(getrlimit(RLIMIT_FSIZE, &before) == 0);
    limit = before;
    limit.rlim_cur = 1 << 20;
    cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    expect_unwritable(path, &large, strerror(EFBIG));
    expect_unwritable(in_folder("new.npy"), &large, strerror(EFBIG));
    cr_assert(setrlimit(RLIMIT_FSIZE, &before) == 0);
    cr_expect(files_in_folder() == 1, "%zu files", files_in_folder());
    struct data_set set = expect_data(in_folder("kept.npy"), FP32, false, "kept.npy");
    cr_expect(set.item[0].array.n == 10 && memcmp(set.item[0].array.data, small.data, 40) == 0);
    data_free(&set);
    free(small.data);
    free(large.data);
}

/* A symbolic link stays one, and the file that it leads to is replaced. */
Test(npy_write, through_a_link)
{
    struct array a = make_array(FP16, 5);
    struct problem p = {0};
    struct stat facts;
    struct bytes old = {0};
    char target[256], link[256];
    snprintf(target, sizeof target, "%s", put_file("target.npy", &old));
    snprintf(link, sizeof link, "%s", in_folder("link.npy"));
    cr_assert(symlink(target, link) == 0);
    cr_assert(data_write_npy(link, &a, &p) == STATUS_OK, "%s", p.text);
    cr_expect(lstat(link, &facts) == 0 && S_ISLNK(facts.st_mode), "the link is gone");
    struct data_set set = expect_data(target, FP16, false, "target");
    cr_expect(set.item[0].array.n == 5);
    data_free(&set);
    free(a.data);
}
