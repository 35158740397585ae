#include <gmp.h>
#include <math.h>

#include "tests/support/files.h"

TestSuite(text, .init = make_folder, .fini = remove_folder);

static struct data_set read_text(const char *text, enum format f, const char *what)
{
    struct bytes b = {0};
    add_string(&b, text);
    const char *path = put_file("numbers.txt", &b);
    clear_bytes(&b);
    return expect_data(path, f, false, what);
}

Test(text, forms)
{
    static const char text[] =
        "# comment\n\n1\n  -2.5  \n+3e2\r\n\t# another\n.5\n4.\n0x1.8p+1\n"
        "0XAP-1\n0x.8\n-inf\nInfinity\nnan\n-NaN\n-0\n1e400\n-1E-400\n"
        "9007199254740993\n007\n1e99999999999999999999\n-1e-99999999999999999999\n"
        "0e99999999999999999999\n0x1p-99999999999999999999";
    static const double expected[] = {1,   -2.5,      300,      0.5,      4,   3,   5,
                                      0.5, -INFINITY, INFINITY, NAN,      NAN, -0., INFINITY,
                                      -0., 0x1p53,    7,        INFINITY, -0., 0,   0};
    static const struct {
        const char *name, *before;
    } files[] = {{"a.txt", ""}, {"a.CSV", ""}, {"a.dat", "\xef\xbb\xbf"}, {"a", ""}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct bytes b = {0};
        add_string(&b, files[i].before);
        add_string(&b, text);
        struct data_set set = expect_data(put_file(files[i].name, &b), FORMATS, false, "forms");
        const struct array *a = &set.item[0].array;
        cr_expect(set.count == 1 && strcmp(set.item[0].name, files[i].name) == 0 &&
                  !set.item[0].converted && set.item[0].file_format == FP64);
        cr_assert(a->format == FP64 && a->n == sizeof expected / sizeof *expected, "n = %zu", a->n);
        for (size_t k = 0; k < a->n; k++)
            cr_expect(array_bits(a, k) == format_encode(FP64, expected[k]), "%s: number %zu: %a",
                      files[i].name, k, array_get(a, k));
        data_free(&set);
        clear_bytes(&b);
    }
}

Test(text, no_numbers)
{
    static const struct {
        const char *text, *line;
    } bad[] = {
        {"1\n2\nthree\n", "line 3: found 'three'"},
        {"1 2\n", "line 1: found '1 2'"},
        {"1,2\n", "line 1: found '1,2'"},
        {"# c\n\n1.5.\n", "line 3: found '1.5.'"},
        {"price\n3\n", "line 1: found 'price'"},
        {"1e\n", "'1e'"},
        {"1e+\n", "'1e+'"},
        {".\n", "'.'"},
        {"-\n", "'-'"},
        {"+-1\n", "'+-1'"},
        {"--1\n", "'--1'"},
        {"0x\n", "'0x'"},
        {"0x.p1\n", "'0x.p1'"},
        {"0x1p\n", "'0x1p'"},
        {"0x1e5g\n", "'0x1e5g'"},
        {"0b11\n", "'0b11'"},
        {"1@5\n", "'1@5'"},
        {"@nan@\n", "'@nan@'"},
        {"nan(7)\n", "'nan(7)'"},
        {"infin\n", "'infin'"},
        {"1d5\n", "'1d5'"},
        {"1p5\n", "'1p5'"},
        {"3f\n", "'3f'"},
        {"1;\n", "'1;'"},
        {"1 # one\n", "'1 # one'"},
        {"1_000\n", "'1_000'"},
        {"# nothing\n\n", "no number"},
        {"\n", "no number"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
         "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bytes b = {0};
        add_string(&b, bad[i].text);
        expect_problem(put_file("bad.txt", &b), FORMATS, STATUS_DATA, bad[i].line, bad[i].text);
        clear_bytes(&b);
    }
    struct bytes b = {0};
    add_bytes(&b, "1\n2\0003\n", 6);
    expect_problem(put_file("zero.txt", &b), FORMATS, STATUS_DATA, "line 2", "a zero byte");
    clear_bytes(&b);
}

/* Decimals whose rounding to fp64 falls on a tie of the narrow format. */
Test(text, rounded_once)
{
    static const struct {
        const char *text;
        enum format f;
        double expected;
    } known[] = {
        {"1.000488281250000000000000000001", FP16, 1 + 0x1p-10},
        {"1.00048828125", FP16, 1},
        {"1.00146484374999999999999999999999", FP16, 1 + 0x1p-10},
        {"1.00390625000000000000000000000001", BF16, 1 + 0x1p-7},
        {"1.000000059604644775390625000000000001", FP32, 1 + 0x1p-23},
        {"65519.999999999999999999999", FP16, 65504},
        {"65520", FP16, INFINITY},
        {"-65520", FP16, -INFINITY},
        {"2.98023223876953125e-8", FP16, 0},
        {"2.98023223876953125000000000000000000001e-8", FP16, 0x1p-24},
        {"-1e-30", FP16, -0.},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct data_set set = read_text(known[i].text, known[i].f, known[i].text);
        cr_expect(set.item[0].array.format == known[i].f && !set.item[0].converted &&
                      array_bits(&set.item[0].array, 0) ==
                          format_encode(known[i].f, known[i].expected),
                  "%s in %s: %a", known[i].text, format_facts[known[i].f].name,
                  array_get(&set.item[0].array, 0));
        data_free(&set);
    }
}

static uint64_t state = 0x20240607;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* A finite number of the format, of any exponent; in one of four cases near an end of the range. */
static double draw_finite(enum format f)
{
    const struct format_facts *facts = &format_facts[f];
    double x;
    switch (draw() % 8) {
    case 0:
        return (double)(draw() % 200) * facts->smallest;
    case 1:
        return facts->largest;
    default:
        do
            x = fabs(format_decode(f, draw()));
        while (!isfinite(x));
        return x;
    }
}

/* digits * 10^exponent, exactly. */
struct decimal {
    mpz_t digits;
    long exponent;
};

/* The middle between x and the next number above, as a decimal; beyond the largest number the
 * next number is where it would be. A dyadic fraction k / 2^e is k 5^e / 10^e. */
static void middle(struct decimal *d, enum format f, double x)
{
    double half = format_ulp(f, x) / 2;
    int e = half > 0 ? ilogb(half) : -1075; /* half the smallest fp64 is no double */
    mpz_set_d(d->digits, ldexp(x, -e - 1 > 1000 ? 1000 : -e - 1));
    if (-e - 1 > 1000) /* in two steps, for subnormals */
        mpz_set_d(d->digits, ldexp(ldexp(x, 1000), -e - 1001));
    mpz_mul_2exp(d->digits, d->digits, 1);
    mpz_add_ui(d->digits, d->digits, 1);
    d->exponent = 0;
    if (e >= 0) {
        mpz_mul_2exp(d->digits, d->digits, (mp_bitcnt_t)e);
        return;
    }
    mpz_t five;
    mpz_init(five);
    mpz_ui_pow_ui(five, 5, (unsigned long)-e);
    mpz_mul(d->digits, d->digits, five);
    mpz_clear(five);
    d->exponent = e;
}

/* Ties go to the number whose encoding is even; a little more or less decides otherwise. */
Test(text, every_kind_of_tie)
{
    enum { SHIFT = 40, ROUNDS = 1500 };
    printf("seed %llu\n", (unsigned long long)state);
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct bytes b = {0};
        uint64_t *expected = calloc(3 * ROUNDS, sizeof *expected);
        struct decimal d;
        mpz_t ten;
        mpz_inits(d.digits, ten, NULL);
        mpz_ui_pow_ui(ten, 10, SHIFT);
        for (size_t i = 0; i < ROUNDS; i++) {
            double x = draw_finite(f);
            uint64_t low = format_encode(f, x), sign = draw() & 1;
            uint64_t minus = sign << (8 * format_facts[f].bytes - 1);
            middle(&d, f, x);
            mpz_mul(d.digits, d.digits, ten);
            for (int k = -1; k <= 1; k++) {
                char *digits, exponent[32];
                if (k >= 0)
                    mpz_add_ui(d.digits, d.digits, 1);
                else
                    mpz_sub_ui(d.digits, d.digits, 1);
                digits = mpz_get_str(NULL, 10, d.digits);
                snprintf(exponent, sizeof exponent, "e%ld\n", d.exponent - SHIFT);
                add_string(&b, sign ? "-" : "");
                add_string(&b, digits);
                add_string(&b, exponent);
                expected[3 * i + (size_t)(k + 1)] = minus | (k < 0   ? low
                                                             : k > 0 ? low + 1
                                                                     : low + (low & 1));
                free(digits);
            }
        }
        struct data_set set = expect_data(put_file("ties.txt", &b), f, false, "ties");
        cr_assert(set.item[0].array.n == 3 * ROUNDS);
        for (size_t i = 0; i < 3 * ROUNDS; i++)
            if (array_bits(&set.item[0].array, i) != expected[i])
                cr_assert_fail("%s, number %zu (%s a tie): %llx, expected %llx",
                               format_facts[f].name, i, i % 3 == 1 ? "on" : "beside",
                               (unsigned long long)array_bits(&set.item[0].array, i),
                               (unsigned long long)expected[i]);
        data_free(&set);
        mpz_clears(d.digits, ten, NULL);
        free(expected);
        clear_bytes(&b);
    }
}

/* Every number of a format, printed exactly, comes back; hexadecimal too. */
Test(text, round_trip)
{
    enum { ROUNDS = 4000 };
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct bytes b = {0};
        double written[ROUNDS];
        for (size_t i = 0; i < ROUNDS; i++) {
            char text[64];
            written[i] = draw() & 1 ? draw_finite(f) : -draw_finite(f);
            snprintf(text, sizeof text, draw() & 1 ? "%a\n" : "%.17g\n", written[i]);
            add_string(&b, text);
        }
        struct data_set set = expect_data(put_file("trip.txt", &b), f, false, "round trip");
        for (size_t i = 0; i < ROUNDS; i++)
            if (array_bits(&set.item[0].array, i) != format_encode(f, written[i]))
                cr_assert_fail("%s: %a came back as %a", format_facts[f].name, written[i],
                               array_get(&set.item[0].array, i));
        data_free(&set);
        clear_bytes(&b);
    }
}
