/* ulpscope-hdf5 FILE DATASET STORAGE: one dataset of an HDF5 file on standard output, for
 * experiments/data/hdf5.c. A process of its own, so that a file that makes libhdf5 fail ends this
 * one alone, and nothing else needs that library. STORAGE says what unsigned integers are.
 *
 * First a line: "array FORMAT N ROWS" and then N elements in native byte order; else "usage TEXT",
 * "data TEXT" or "memory TEXT". */
#include <errno.h>
#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/data/file.h"
#include "experiments/options/options.h"

enum {
    BLOCK = 1 << 22,      /* bytes read at once, at least one row of the last dimension's */
    CACHE = 32 << 20,     /* for chunks */
    CHUNK_MOST = 1 << 29, /* bytes of one */
    MEMORY_MOST_GB = 4,   /* for whatever a file makes the library ask for */
    SPARSE = 1 << 30,     /* bytes that a file may claim without holding them, */
    ABSENT = 1 << 18,     /* and chunks: each is looked for, however small it is */
    RATIO_MOST = 4096     /* bytes of data from a byte of the file */
};

#define fail(word, ...)                                                                            \
    do {                                                                                           \
        printf(word " " __VA_ARGS__);                                                              \
        printf("\n");                                                                              \
        exit(0);                                                                                   \
    } while (0)

struct names {
    size_t count;
    char first[512], all[300];
};

static herr_t note(hid_t group, const char *name, const H5O_info_t *info, void *context)
{
    struct names *n = context;
    (void)group;
    if (info->type != H5O_TYPE_DATASET)
        return 0;
    if (n->count++ == 0)
        snprintf(n->first, sizeof n->first, "/%s", name);
    size_t used = strlen(n->all);
    if (used < sizeof n->all / 2)
        snprintf(n->all + used, sizeof n->all - used, "%s/%.100s", used ? ", " : "", name);
    else if (strcmp(n->all + used - 3, "...") != 0)
        snprintf(n->all + used, sizeof n->all - used, ", ...");
    return 0;
}

static herr_t refuse_link(const char *parent_file, const char *parent, const char *file,
                          const char *object, unsigned *flags, hid_t fapl, void *context)
{
    (void)parent_file, (void)parent, (void)file, (void)object, (void)flags, (void)fapl;
    *(int *)context = 1;
    return -1;
}

static enum format float_format(hid_t type)
{
    static const struct {
        enum format format;
        size_t size, sign, exponent, exponent_bits, mantissa_bits, bias;
    } known[] = {{FP16, 2, 15, 10, 5, 10, 15},
                 {BF16, 2, 15, 7, 8, 7, 127},
                 {FP32, 4, 31, 23, 8, 23, 127},
                 {FP64, 8, 63, 52, 11, 52, 1023}};
    size_t sign, exponent, exponent_bits, mantissa, mantissa_bits, bias = H5Tget_ebias(type);
    if (H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0 ||
        mantissa != 0 || H5Tget_norm(type) != H5T_NORM_IMPLIED)
        return FORMATS;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].size == H5Tget_size(type) && known[i].sign == sign &&
            known[i].exponent == exponent && known[i].exponent_bits == exponent_bits &&
            known[i].mantissa_bits == mantissa_bits && known[i].bias == bias)
            return known[i].format;
    return FORMATS;
}

static enum format format_of(hid_t type, const char *storage)
{
    H5T_class_t class = H5Tget_class(type);
    size_t size = H5Tget_size(type);
    struct problem p = {0};
    enum format asked = FORMATS;
    if (*storage && format_parse(&asked, "storage", storage, &p) != STATUS_OK)
        fail("usage", "%s", p.text);
    if (class == H5T_FLOAT) {
        enum format f = float_format(type);
        if (f == FORMATS)
            fail("data",
                 "found a floating-point type of %zu bytes that is none of fp16, bf16, "
                 "fp32 and fp64",
                 size);
        return f;
    }
    bool whole = class == H5T_INTEGER && H5Tget_precision(type) == 8 * size;
    bool plain = (whole && H5Tget_sign(type) == H5T_SGN_NONE) || class == H5T_OPAQUE;
    if (!plain || (size != 1 && size != 2))
        fail("data", "found a type that is no floating-point number, expected fp16, bf16, fp32 or "
                     "fp64, or their bits as unsigned integers of 8 or 16 bits with --storage");
    if (asked == FORMATS || (size_t)format_facts[asked].bytes != size)
        fail("usage", "found integers of %zu bits: expected --storage %s, if that is what they are",
             8 * size, size == 1 ? "e4m3 or e5m2" : "bf16 or fp16");
    return asked;
}

static void put(const void *from, size_t size)
{
    for (const char *at = from; size > 0;) {
        ssize_t done = write(STDOUT_FILENO, at, size);
        if (done < 0 && errno != EINTR)
            exit(1);
        if (done > 0) {
            at += done;
            size -= (size_t)done;
        }
    }
}

struct box {
    int rank, cut; /* dimensions before the cut are walked one by one, that at it in steps */
    hsize_t length[H5S_MAX_RANK], start[H5S_MAX_RANK], count[H5S_MAX_RANK], step;
    size_t inner; /* bytes of one index of the dimension at the cut */
};

static void divide(struct box *b, size_t width, const hsize_t *chunk)
{
    b->inner = width;
    b->cut = b->rank - 1;
    while (b->cut > 0 && b->inner * b->length[b->cut] <= BLOCK) {
        b->inner *= (size_t)b->length[b->cut];
        b->cut--;
    }
    b->step = b->inner < BLOCK ? BLOCK / b->inner : 1;
    if (chunk && chunk[b->cut] <= b->step)
        b->step -= b->step % chunk[b->cut];
    if (b->step > b->length[b->cut])
        b->step = b->length[b->cut];
    for (int d = 0; d < b->rank; d++) {
        b->start[d] = 0;
        b->count[d] = d < b->cut ? 1 : b->length[d];
    }
}

static bool advance(struct box *b)
{
    b->start[b->cut] += b->count[b->cut];
    for (int d = b->cut; b->start[d] >= b->length[d]; d--) {
        if (d == 0)
            return false;
        b->start[d] = 0;
        b->start[d - 1]++;
    }
    return true;
}

static void send(hid_t set, hid_t space, hid_t type, size_t width, struct box *b,
                 const hsize_t *chunk)
{
    divide(b, width, chunk);
    void *room = malloc((size_t)b->step * b->inner);
    if (!room)
        exit(1);
    do {
        hsize_t left = b->length[b->cut] - b->start[b->cut];
        b->count[b->cut] = left < b->step ? left : b->step;
        hsize_t bytes = b->count[b->cut] * b->inner, elements = bytes / width;
        hid_t memory = H5Screate_simple(1, &elements, NULL);
        if (H5Sselect_hyperslab(space, H5S_SELECT_SET, b->start, NULL, b->count, NULL) < 0 ||
            H5Dread(set, type, memory, space, H5P_DEFAULT, room) < 0)
            exit(1);
        H5Sclose(memory);
        put(room, (size_t)bytes);
    } while (advance(b));
    free(room);
}

static void check_layout(hid_t list, size_t width, hsize_t chunk[H5S_MAX_RANK], bool *chunked)
{
    H5D_layout_t layout = H5Pget_layout(list);
    if (layout == H5D_VIRTUAL)
        fail("data",
             "found a virtual dataset, whose elements lie in other files, expected its own");
    if (H5Pget_external_count(list) > 0)
        fail("data", "found elements in other files, expected them in this one");
    *chunked = layout == H5D_CHUNKED;
    int rank = *chunked ? H5Pget_chunk(list, H5S_MAX_RANK, chunk) : 0;
    size_t bytes = width;
    for (int d = 0; d < rank; d++)
        if (__builtin_mul_overflow(bytes, (size_t)chunk[d], &bytes) || bytes > CHUNK_MOST)
            fail("data", "found chunks of more than %d bytes, expected smaller ones", CHUNK_MOST);
}

/* A chunk that is there takes a byte of the file, or more. */
static void check_chunks(const struct box *b, const hsize_t *chunk, long long size)
{
    size_t chunks = 1;
    bool overflow = false;
    for (int d = 0; d < b->rank; d++) {
        hsize_t each = chunk[d] > 0 ? chunk[d] : 1, left = b->length[d] % each;
        overflow |=
            __builtin_mul_overflow(chunks, (size_t)(b->length[d] / each + (left > 0)), &chunks);
    }
    if (overflow || chunks > ABSENT + (size_t)size)
        fail("data", "found %zu chunks, more than its %lld bytes can hold", chunks, size);
}

static hid_t open_dataset(hid_t file, const char *path)
{
    int linked = 0;
    hid_t list = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_elink_cb(list, refuse_link, &linked);
    H5Pset_nlinks(list, 16);
    H5Pset_chunk_cache(list, 12421, CACHE, 1.0);
    H5Pset_virtual_prefix(list, "/dev/null");
    H5Pset_efile_prefix(list, "/dev/null");
    hid_t set = H5Dopen2(file, path, list);
    if (set < 0 && linked)
        fail("data", "found a link to another file, expected a dataset of its own");
    return set;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
#ifndef DATA_NO_LIMIT /* sanitizers reserve more */
    struct rlimit most = {(rlim_t)MEMORY_MOST_GB << 30, (rlim_t)MEMORY_MOST_GB << 30};
    setrlimit(RLIMIT_AS, &most);
#endif
    setlinebuf(stdout);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    struct stat facts;
    hid_t file = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0 || stat(argv[1], &facts) != 0)
        fail("data", "libhdf5 could not open it: damaged, or no HDF5 file");
    struct names names = {0};
    hid_t set = *argv[2] ? open_dataset(file, argv[2]) : -1;
    if (set < 0 && H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, note, &names) < 0)
        fail("data", "libhdf5 could not list it: damaged");
    if (set < 0 && (*argv[2] || names.count != 1))
        fail("usage", "found %s%.100s%s, expected FILE:/PATH with one of: %s",
             *argv[2]      ? "no dataset '"
             : names.count ? "several datasets"
                           : "no datasets",
             argv[2], *argv[2] ? "'" : "", names.count ? names.all : "(it has none)");
    if (set < 0)
        set = open_dataset(file, names.first);
    hid_t type = H5Dget_type(set), space = H5Dget_space(set), list = H5Dget_create_plist(set);
    if (set < 0 || type < 0 || space < 0 || list < 0)
        fail("data", "libhdf5 could not open the dataset: damaged");
    enum format f = format_of(type, argv[3]);
    size_t width = (size_t)format_facts[f].bytes, n = 1, bytes;
    hsize_t chunk[H5S_MAX_RANK];
    bool chunked, overflow = false, empty = H5Sget_simple_extent_type(space) == H5S_NULL;
    check_layout(list, width, chunk, &chunked);
    struct box b = {.rank = H5Sget_simple_extent_dims(space, b.length, NULL)};
    size_t shape[H5S_MAX_RANK];
    if (b.rank < 0)
        fail("data", "found a dataset without a shape: damaged");
    for (int d = 0; d < b.rank; d++) {
        shape[d] = (size_t)b.length[d];
        empty |= b.length[d] == 0;
        overflow |= __builtin_mul_overflow(n, shape[d], &n);
    }
    overflow |= __builtin_mul_overflow(n, width, &bytes);
    if (!empty && (overflow || (bytes > SPARSE && bytes / RATIO_MOST > (size_t)facts.st_size)))
        fail("data", "found a shape of more elements than its %lld bytes can hold",
             (long long)facts.st_size);
    if (!empty && chunked)
        check_chunks(&b, chunk, (long long)facts.st_size);
    n = empty ? 0 : n;
    printf("array %s %zu %zu\n", format_facts[f].name, n,
           n > 0 ? data_rows((size_t)b.rank, shape) : 0);
    if (b.rank == 0) {
        b.rank = 1;
        b.length[0] = 1;
    }
    hid_t native = H5Tcopy(type);
    if (H5Tget_class(type) != H5T_OPAQUE)
        H5Tset_order(native, H5Tget_order(H5T_NATIVE_INT));
    if (n > 0 && H5Sget_simple_extent_ndims(space) == 0) {
        double room;
        if (H5Dread(set, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, &room) < 0)
            return 1;
        put(&room, width);
    } else if (n > 0) {
        send(set, space, native, width, &b, chunked ? chunk : NULL);
    }
    return 0;
}
