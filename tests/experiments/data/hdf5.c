/* HDF5, in files that h5py wrote (tests/fuzz/corpus/hdf5, behind a byte that is the harness'). */
#include "tests/support/files.h"

TestSuite(hdf5, .init = make_folder, .fini = remove_folder);

static const char *put_corpus(const char *name, const char *member)
{
    static char part[400];
    char path[400];
    snprintf(path, sizeof path, ULPSCOPE_SOURCE "/tests/fuzz/corpus/hdf5/%s", name);
    struct bytes b = get_file(path), rest = {0};
    cr_assert(b.size > 1, "%s", path);
    add_bytes(&rest, b.data + 1, b.size - 1);
    snprintf(part, sizeof part, "%s%s", put_file("x.h5", &rest), member);
    clear_bytes(&b);
    clear_bytes(&rest);
    return part;
}

static const struct {
    const char *name;
    enum format format;
} good[] = {{"plain", FP64}, {"chunked", FP32}, {"half", FP16}};

Test(hdf5, datasets)
{
    static const char *const member[] = {"", ":/x", ":x", "#/x"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        for (size_t k = 0; k < 4; k++) {
            const char *path = put_corpus(good[i].name, member[k]);
            struct data_set set = expect_data(path, FORMATS, false, path);
            const struct array *a = &set.item[0].array;
            cr_assert(a->n == 12 && a->format == good[i].format, "%s: %zu", path, a->n);
            cr_expect(set.item[0].rows == 3, "%s: %zu rows", path, set.item[0].rows);
            for (size_t e = 0; e < 12; e++)
                cr_expect(array_get(a, e) == (double)e, "%s: element %zu", path, e);
            data_free(&set);
        }
}

Test(hdf5, refused)
{
    static const struct {
        const char *name, *member, *said;
        enum status status;
    } bad[] = {
        {"external_link", ":/x", "a link to another file", STATUS_DATA},
        {"external_file", ":/x", "elements in other files", STATUS_DATA},
        {"virtual", ":/x", "a virtual dataset", STATUS_DATA},
        {"huge", ":/x", "more elements than", STATUS_DATA},
        {"overflow", ":/x", "more elements than", STATUS_DATA},
        {"many_chunks", ":/x", "found 11141124 chunks", STATUS_DATA}, /* some minutes else */
        {"integers", ":/x", "no floating-point number", STATUS_DATA},
        {"twelve_bits", ":/x", "no floating-point number", STATUS_DATA},
        {"loop", ":/x", "no dataset '/x'", STATUS_USAGE},
        {"two", "", "several datasets, expected FILE:/PATH with one of: /", STATUS_USAGE},
        {"plain", ":/y", "one of: /x", STATUS_USAGE},
        {"long_names", "", "b, ...", STATUS_USAGE}, /* the third is not named */
        {"short", ":/x", "libhdf5", STATUS_DATA},
        {"damaged", ":/x", "libhdf5", STATUS_DATA},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_problem(put_corpus(bad[i].name, bad[i].member), FORMATS, bad[i].status, bad[i].said,
                       bad[i].name);
    expect_problem(put_corpus("twelve_bits", ":/x"), BF16, STATUS_DATA, "no floating-point number",
                   "twelve bits as bf16");
    struct bytes nothing = {0};
    expect_problem(put_file("nothing.h5", &nothing), FORMATS, STATUS_DATA, "found an empty file",
                   "a file without bytes");
}
