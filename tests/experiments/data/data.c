#include <fcntl.h>
#include <math.h>
#include <mpfr.h>
#include <pthread.h>

#include "tests/support/files.h"

TestSuite(data, .init = make_folder, .fini = remove_folder);

static uint64_t state = 0x5eed0001;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

Test(data, raw)
{
    struct bytes b = {0};
    add_number(&b, UINT64_C(0x3ff8000000000000), 8); /* 1.5 */
    add_number(&b, UINT64_C(0xc000000000000001), 8);
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int named = 0; named < 2; named++) {
            const char *path = put_file(named ? "x.raw" : "x.unknown", &b);
            struct data_set set = expect_data(path, f, false, path);
            const struct data *item = &set.item[0];
            cr_expect(set.count == 1 && item->array.format == f && item->file_format == f);
            cr_expect(item->array.n == 16 / (size_t)format_facts[f].bytes &&
                      memcmp(item->array.data, b.data, 16) == 0);
            data_free(&set);
            expect_problem(path, FORMATS, STATUS_USAGE, "--storage", "raw without a format");
        }
    b.size = 15;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        expect_problem(put_file("x.bin", &b), f, STATUS_DATA, "15 bytes", "15 bytes");
    clear_bytes(&b);
}

/* Numbers that look like text: the name decides, and without one that says so, the bytes. */
Test(data, what_a_file_is)
{
    struct bytes b = {0};
    add_string(&b, "12345678");
    struct data_set set = expect_data(put_file("x.bin", &b), FP64, false, ".bin");
    cr_expect(set.item[0].array.n == 1 && memcmp(set.item[0].array.data, "12345678", 8) == 0);
    data_free(&set);
    static const char *const names[] = {"x.txt", "x.csv", "x.dat", "x", "x.log"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        set = expect_data(put_file(names[i], &b), FP32, false, names[i]);
        cr_expect(set.item[0].array.n == 1 && array_get(&set.item[0].array, 0) == 12345678, "%s",
                  names[i]);
        data_free(&set);
    }
    expect_problem(put_file("x.npy", &b), FP64, STATUS_DATA, ".npy", "text named .npy");
    expect_problem(put_file("x.safetensors", &b), FP64, STATUS_DATA, "header length",
                   "text named .safetensors");
    b.data[3] = 0;
    expect_problem(put_file("x.txt", &b), FP64, STATUS_DATA, "line 1", "binary named .txt");
    set = expect_data(put_file("x", &b), FP64, false, "binary without a name");
    cr_expect(set.item[0].array.n == 1 && memcmp(set.item[0].array.data, b.data, 8) == 0);
    data_free(&set);
    clear_bytes(&b);
}

Test(data, nothing_to_read)
{
    static const char *const names[] = {"e.npy", "e.safetensors", "e.txt", "e.raw", "e"};
    struct bytes none = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_problem(put_file(names[i], &none), FP64, STATUS_DATA, "found", names[i]);
    char path[300];
    snprintf(path, sizeof path, "%s/missing.npy", folder);
    expect_problem(path, FORMATS, STATUS_DATA, "No such file", "a missing file");
    snprintf(path, sizeof path, "%s/missing.npy#tensor", folder);
    expect_problem(path, FORMATS, STATUS_DATA, "No such file", "a missing file with a tensor");
    expect_problem(folder, FORMATS, STATUS_DATA, "directory", "a folder");
    expect_problem("", FORMATS, STATUS_DATA, "No such file", "an empty name");
    struct bytes b = {0};
    add_string(&b, "1\n");
    snprintf(path, sizeof path, "%s#tensor", put_file("x.txt", &b));
    expect_problem(path, FORMATS, STATUS_USAGE, "#tensor", "a tensor of a text");
    clear_bytes(&b);
}

/* The rounding that IEEE 754 asks for, by MPFR: its exponents are one above IEEE's. */
static double round_by_mpfr(double x, enum format f)
{
    const struct format_facts *facts = &format_facts[f];
    mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
    mpfr_t r;
    mpfr_init2(r, facts->precision);
    mpfr_set_emin(facts->emin - facts->precision + 2);
    mpfr_set_emax(facts->emax + 1);
    mpfr_subnormalize(r, mpfr_set_d(r, x, MPFR_RNDN), MPFR_RNDN);
    double rounded = mpfr_get_d(r, MPFR_RNDN);
    mpfr_set_emin(least);
    mpfr_set_emax(most);
    mpfr_clear(r);
    return rounded;
}

/* Random encodings; near 1, near the narrow formats' ranges' ends; their ties; NaN and inf. */
static uint64_t draw_bits(enum format f)
{
    static const int scale[] = {0,   0,   15,   16,   127,  128,  -14,
                                -24, -25, -126, -133, -134, -149, -150};
    if (f != FP64 || draw() % 4 == 0)
        return draw();
    double x =
        ldexp(1 + (double)(draw() >> 12) * 0x1p-52, scale[draw() % (sizeof scale / sizeof *scale)]);
    uint64_t bits = double_bits(draw() & 1 ? x : -x);
    static const int kept[] = {0, 8, 9, 11, 12, 24, 25, 30};
    int zeros = 52 - kept[draw() % 8];
    return draw() % 3 ? bits & ~((UINT64_C(1) << zeros) - 1) : bits;
}

Test(data, conversion)
{
    enum { N = 20000 };
    printf("seed %llu\n", (unsigned long long)state);
    static unsigned char memory[8 * N];
    for (enum format from = 0; from < ACCUMULATORS; from++) {
        struct bytes b = {0};
        struct array a = {from, N, memory};
        for (size_t i = 0; i < N; i++)
            array_set_bits(&a, i, draw_bits(from));
        struct problem p = {0};
        char path[256];
        snprintf(path, sizeof path, "%s/from.npy", folder);
        cr_assert(data_write_npy(path, &a, &p) == STATUS_OK, "%s", p.text);
        for (enum format to = 0; to < ACCUMULATORS && from != BF16; to++) {
            if (to != from)
                expect_problem(path, to, STATUS_USAGE, "--convert", "without --convert");
            if (to == BF16 && from == BF16)
                continue;
            struct data_set set = expect_data(path, to, true, "conversion");
            const struct data *item = &set.item[0];
            char name[64];
            snprintf(name, sizeof name, "from.npy%s%s",
                     from == to ? "" : ":from=", from == to ? "" : format_facts[from].name);
            cr_expect(strcmp(item->name, name) == 0, "%s, expected %s", item->name, name);
            cr_expect(item->converted == (from != to) && item->file_format == from &&
                      item->array.format == to && item->array.n == N);
            for (size_t i = 0; i < N; i++) {
                double x = array_get(&a, i), expected = round_by_mpfr(x, to);
                uint64_t got = format_canonical(to, array_bits(&item->array, i));
                if (got != format_encode(to, expected))
                    cr_assert_fail("%a from %s to %s: %llx, expected %a", x,
                                   format_facts[from].name, format_facts[to].name,
                                   (unsigned long long)got, expected);
            }
            data_free(&set);
        }
        clear_bytes(&b);
    }
}

/* Saturated, what is beyond the largest number is that number, infinities too; nothing else
 * changes, and the name says it: from arrays and from text. */
Test(data, saturation)
{
    enum { N = 20000 };
    printf("seed %llu\n", (unsigned long long)state);
    static double x[N];
    struct bytes numbers = {0};
    char path[256], text[64];
    for (size_t i = 0; i < N; i++) {
        x[i] = i < 2 ? (i ? -INFINITY : INFINITY) : double_from_bits(draw_bits(FP64));
        snprintf(text, sizeof text, "%a\n", x[i]);
        add_string(&numbers, text);
    }
    snprintf(path, sizeof path, "%s/x.npy", folder);
    struct problem p = {0};
    cr_assert(data_write_npy(path, &(struct array){FP64, N, x}, &p) == STATUS_OK, "%s", p.text);
    const char *const paths[] = {path, put_file("x.txt", &numbers)};
    for (enum format to = 0; to < FORMATS; to++)
        for (int k = 0; k < 2 && to != FP64; k++) {
            struct data_options options = {.storage = to, .convert = true, .saturate = true};
            struct data_set set;
            cr_assert(data_read(&set, paths[k], &options, &p) == STATUS_OK, "%s", p.text);
            const struct data *item = &set.item[0];
            cr_expect_str_eq(item->name, k ? "x.txt:saturated" : "x.npy:from=fp64:saturated");
            cr_expect(item->saturated && item->array.n == N);
            double largest = format_facts[to].largest;
            for (size_t i = 0; i < N; i++) {
                double due =
                    fabs(x[i]) > largest ? copysign(largest, x[i]) : round_by_mpfr(x[i], to);
                uint64_t got = format_canonical(to, array_bits(&item->array, i));
                cr_assert_eq(got, format_encode(to, due), "%a to %s: %llx, expected %a", x[i],
                             format_facts[to].name, (unsigned long long)got, due);
            }
            data_free(&set);
        }
    clear_bytes(&numbers);
}

/* The hash is of the bytes after conversion; known answers by another implementation of XXH3. */
Test(data, hash)
{
    struct bytes b = {0};
    add_string(&b, "1\n-2\n3.5\n");
    struct data_set text = expect_data(put_file("a.txt", &b), FP32, false, "text");
    clear_bytes(&b);
    add_number(&b, 0x3f800000, 4);
    add_number(&b, 0xc0000000, 4);
    add_number(&b, 0x40600000, 4);
    struct data_set raw = expect_data(put_file("a.raw", &b), FP32, false, "raw");
    cr_expect(strcmp(text.item[0].hash, "f171ac04ac8438708931823915008783") == 0, "%s",
              text.item[0].hash);
    cr_expect(strcmp(raw.item[0].hash, "f171ac04ac8438708931823915008783") == 0, "%s",
              raw.item[0].hash);
    struct array none = {FP64, 0, b.data};
    struct problem p = {0};
    char path[256];
    snprintf(path, sizeof path, "%s/none.npy", folder);
    cr_assert(data_write_npy(path, &none, &p) == STATUS_OK, "%s", p.text);
    struct data_set empty = expect_data(path, FORMATS, false, "no elements");
    cr_expect(strcmp(empty.item[0].hash, "99aa06d3014798d86001c324468d497f") == 0, "%s",
              empty.item[0].hash);
    data_free(&text);
    data_free(&raw);
    data_free(&empty);
    clear_bytes(&b);
}

struct feed {
    int fd;
    const struct bytes *bytes;
};

/* Writes into a pipe in odd pieces, from another thread: more than a pipe holds. */
static void *feed(void *argument)
{
    struct feed *f = argument;
    for (size_t done = 0; done < f->bytes->size;) {
        size_t piece = f->bytes->size - done < 7919 ? f->bytes->size - done : 7919;
        ssize_t put = write(f->fd, f->bytes->data + done, piece);
        if (put <= 0)
            abort();
        done += (size_t)put;
    }
    close(f->fd);
    return NULL;
}

/* Reads the bytes through a pipe: as `-` (standard input), or by the pipe's own path. */
static enum status read_pipe(struct data_set *set, const struct bytes *b, bool standard_input,
                             enum format storage, struct problem *p)
{
    int ends[2];
    char path[64] = "-";
    pthread_t thread;
    cr_assert(pipe(ends) == 0);
    struct feed f = {ends[1], b};
    if (standard_input)
        cr_assert(dup2(ends[0], 0) == 0);
    else
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    cr_assert(pthread_create(&thread, NULL, feed, &f) == 0);
    struct data_options options = {.storage = storage};
    enum status status = data_read(set, path, &options, p);
    pthread_join(thread, NULL);
    close(ends[0]);
    return status;
}

Test(data, pipes)
{
    enum { N = 100003 };
    static float values[N];
    char path[256], text[64];
    struct bytes npy = {0}, raw = {0}, numbers = {0};
    for (size_t i = 0; i < N; i++) {
        values[i] = (float)(i % 251) - 125.5f;
        snprintf(text, sizeof text, "%a\n", (double)values[i]);
        add_string(&numbers, text);
    }
    add_bytes(&raw, values, sizeof values);
    struct problem p = {0};
    struct array a = {FP32, N, values};
    snprintf(path, sizeof path, "%s/a.npy", folder);
    cr_assert(data_write_npy(path, &a, &p) == STATUS_OK, "%s", p.text);
    static unsigned char whole[sizeof values + 128];
    FILE *file = fopen(path, "rb");
    cr_assert(file && fread(whole, 1, sizeof whole, file) == sizeof whole);
    fclose(file);
    add_bytes(&npy, whole, sizeof whole);
    for (int standard_input = 0; standard_input < 2; standard_input++) {
        const struct bytes *const sources[] = {&npy, &raw, &numbers};
        for (size_t i = 0; i < 3; i++) {
            struct data_set set;
            enum status status = read_pipe(&set, sources[i], standard_input, FP32, &p);
            cr_assert(status == STATUS_OK, "source %zu: %s", i, p.text);
            cr_expect(set.item[0].array.format == FP32 && set.item[0].array.n == N &&
                          memcmp(set.item[0].array.data, values, sizeof values) == 0,
                      "source %zu, standard input %d", i, standard_input);
            cr_expect(!standard_input || strcmp(set.item[0].name, "-") == 0);
            data_free(&set);
        }
    }
    struct data_set set;
    cr_assert(read_pipe(&set, &numbers, true, FORMATS, &p) == STATUS_OK, "%s", p.text);
    cr_expect(set.item[0].array.format == FP64 && set.item[0].array.n == N &&
              array_get(&set.item[0].array, N - 1) == (double)values[N - 1]);
    data_free(&set);
    raw.size = 3;
    cr_expect(read_pipe(&set, &raw, true, FP32, &p) == STATUS_DATA &&
                  strstr(p.text, "standard input"),
              "%s", p.text);
    clear_bytes(&npy);
    clear_bytes(&raw);
    clear_bytes(&numbers);
}

/* Files of other formats are refused rather than summed, header and all; --raw says that they are
 * numbers. */
Test(data, files_of_other_formats, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *name, *bytes;
        size_t at, size;
        const char *said;
    } file[] = {
        {"x.pt", "PK\3\4", 0, 4, "a zip file"},
        {"x.gz", "\x1f\x8b\x08", 0, 3, "a gzip file"},
        {"x.zst", "\x28\xb5\x2f\xfd", 0, 4, "a zstd file"},
        {"x.xz", "\xfd\x37zXZ", 0, 6, "an xz file"},
        {"x.bz2", "BZh91AY&SY", 0, 10, "a bzip2 file"},
        {"x.png", "\x89PNG\r\n\x1a\n", 0, 8, "a PNG picture"},
        {"x.jpg", "\xff\xd8\xff\xe0", 0, 4, "a JPEG picture"},
        {"x.parquet", "PAR1", 0, 4, "a Parquet file"},
        {"x.pkl", "\x80\4\x95\x20\0\0\0\0\0\0\0", 0, 11, "a pickle file"},
        {"x2.pkl", "\x80\3}q", 0, 4, "a pickle file"},
        {"x.so", "\x7f\x45LF", 0, 4, "an ELF program"},
        {"x.mat", "MATLAB 5.0 MAT-file", 0, 19, "a MATLAB file"},
        {"x.raw", "PK\3\4", 0, 4, "a zip file"},
        {"x.bin", "\x1f\x8b\x08", 0, 3, "a gzip file"},
    };
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        static unsigned char zeros[4096];
        struct bytes b = {0};
        struct data_set set;
        struct problem p = {0};
        add_bytes(&b, zeros, sizeof zeros);
        memcpy(b.data + file[i].at, file[i].bytes, file[i].size);
        const char *path = put_file(file[i].name, &b);
        expect_problem(path, FP64, STATUS_DATA, file[i].said, file[i].name);
        expect_problem(path, FP64, STATUS_DATA, "--raw", file[i].name);
        struct data_options options = {.storage = FP64, .raw = true};
        cr_expect(data_read(&set, path, &options, &p) == STATUS_OK && set.item[0].array.n == 512,
                  "%s: %s", file[i].name, p.text);
        data_free(&set);
        clear_bytes(&b);
    }
}

/* Half of a signature is none. */
Test(data, files_that_begin_almost_like_others, .init = make_folder, .fini = remove_folder)
{
    static const char *const begin[] = {"\x89HDF\r\n\x1a\r", "PK\3\5", "\x1f\x8b\x07\1",
                                        "\x80\6\x95\1", "\x80\4\x95\xff\xff\xff\xff\xff"};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++) {
        static unsigned char bytes[16];
        struct bytes b = {0};
        memcpy(bytes, begin[i], strlen(begin[i]));
        add_bytes(&b, bytes, sizeof bytes);
        struct data_set set = expect_data(put_file("x", &b), FP64, false, begin[i]);
        cr_expect_eq(set.item[0].array.n, 2);
        data_free(&set);
        clear_bytes(&b);
    }
}
