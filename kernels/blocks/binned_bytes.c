/* A binned state as bytes, and back: the layout is binned_state.h's. */
#include "kernels/blocks/binned_state.h"
#include "kernels/blocks/little_endian.h"

enum {
    VERSION = 1,
    AT_VERSION = 4,
    AT_STORAGE = 5,
    AT_ACCUMULATOR = 6,
    AT_FOLDS = 7,
    AT_TERMS = 8,
    AT_FLAGS = 16,
    AT_WINDOW = 18,
    AT_BINS = 24,
    NO_WINDOW = 0xffff,
    FLAG_NAN = 1,
    FLAG_INF = 2,
    FLAG_NEGATIVE_INF = 4,
    FLAG_PLAIN = 8
};
static const unsigned char magic[] = {'u', 'l', 'p', 'b'};

void binned_state_write(const struct binned_state *s, unsigned char bytes[BINNED_STATE_BYTES])
{
    memset(bytes, 0, BINNED_STATE_BYTES);
    memcpy(bytes, magic, sizeof magic);
    bytes[AT_VERSION] = VERSION;
    bytes[AT_STORAGE] = (unsigned char)s->storage;
    bytes[AT_ACCUMULATOR] = (unsigned char)s->accumulator;
    bytes[AT_FOLDS] = (unsigned char)s->folds;
    put_little(bytes + AT_TERMS, 8, s->terms);
    bytes[AT_FLAGS] =
        (unsigned char)((s->nan ? FLAG_NAN : 0) | (s->inf[0] ? FLAG_INF : 0) |
                        (s->inf[1] ? FLAG_NEGATIVE_INF : 0) | (s->plain ? FLAG_PLAIN : 0));
    put_little(bytes + AT_WINDOW, 2, s->window < 0 ? NO_WINDOW : (uint64_t)s->window);
    for (int k = 0; k < BINNED_KEPT_MOST; k++) {
        put_little(bytes + AT_BINS + 16 * k, 8, (uint64_t)s->bin[k]);
        put_little(bytes + AT_BINS + 16 * k + 8, 8, (uint64_t)(s->bin[k] >> 64));
    }
}

static enum status read_header(struct binned_state *s, const unsigned char *bytes, size_t size,
                               struct problem *p)
{
    if (size != BINNED_STATE_BYTES)
        return problem(p, STATUS_DATA, "binned state: %zu bytes, expected %d", size,
                       BINNED_STATE_BYTES);
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return problem(p, STATUS_DATA,
                       "binned state: bytes 0 to 3 are %02x %02x %02x %02x, expected 75 6c 70 62",
                       bytes[0], bytes[1], bytes[2], bytes[3]);
    if (bytes[AT_VERSION] != VERSION)
        return problem(p, STATUS_DATA, "binned state: layout version %d, expected %d",
                       bytes[AT_VERSION], VERSION);
    for (int at = AT_STORAGE; at <= AT_ACCUMULATOR; at++) {
        int formats = at == AT_STORAGE ? FORMATS : ACCUMULATORS;
        if (bytes[at] >= formats)
            return problem(p, STATUS_DATA,
                           "binned state: byte %d is %d, expected a format, 0 to %d", at, bytes[at],
                           formats - 1);
    }
    if (bytes[AT_FOLDS] < BINNED_FOLDS_LEAST || bytes[AT_FOLDS] > BINNED_FOLDS_MOST)
        return problem(p, STATUS_DATA, "binned state: %d folds at byte %d, expected %d to %d",
                       bytes[AT_FOLDS], AT_FOLDS, BINNED_FOLDS_LEAST, BINNED_FOLDS_MOST);
    if (bytes[AT_FLAGS] >= 2 * FLAG_PLAIN)
        return problem(p, STATUS_DATA, "binned state: flags %#x at byte %d, expected at most 0xf",
                       bytes[AT_FLAGS], AT_FLAGS);
    if (bytes[AT_FLAGS + 1] != 0 || get_little(bytes + AT_WINDOW + 2, 4) != 0)
        return problem(p, STATUS_DATA, "binned state: byte 17 or 20 to 23 is not 0");
    return binned_state_init(s, (enum format)bytes[AT_STORAGE], (enum format)bytes[AT_ACCUMULATOR],
                             bytes[AT_FOLDS], p);
}

/* Refuses states that no elements of the number and kinds in the header can lead to. */
static enum status check_header(const struct binned_state *s, struct problem *p)
{
    unsigned kinds = (unsigned)s->nan + s->inf[0] + s->inf[1] + (s->window >= 0);
    const struct format_facts *f = &format_facts[s->storage];
    int most = binned_window(&s->bins, f->emax);
    if (s->terms > INT64_MAX)
        return problem(p, STATUS_DATA, "binned state: 2^63 elements or more");
    if (s->window != -1 && (s->window < s->bins.lowest || s->window > most))
        return problem(p, STATUS_DATA,
                       "binned state: window %d at byte %d, expected %d to %d of %s, or 65535",
                       s->window, AT_WINDOW, s->bins.lowest, most, f->name);
    if (kinds > s->terms || (s->plain && s->terms == 0))
        return problem(p, STATUS_DATA,
                       "binned state: %llu elements, but more are said to be NaN, infinite, finite",
                       (unsigned long long)s->terms);
    if (kinds > 0 && !s->plain)
        return problem(p, STATUS_DATA, "binned state: all -0 by the flags, but elements are not");
    return STATUS_OK;
}

/* Parts are multiples of what the storage's elements are multiples of, at most half a unit of the
 * next bin; and no element has parts above the bins that its window keeps. */
static enum status check_bins(const struct binned_state *s, struct problem *p)
{
    const struct format_facts *f = &format_facts[s->storage];
    __int128 most = s->window < 0 ? 0 : (__int128)s->terms << (s->bins.width - 1);
    for (int k = 0; k < BINNED_KEPT_MOST; k++) {
        int finer = f->emin - f->precision + 1 - binned_unit(&s->bins, s->window + k);
        __int128 step = s->window >= 0 && finer > 0 ? (__int128)1 << finer : 1, bin = s->bin[k];
        if (k >= s->bins.kept ? bin != 0 : bin > most || bin < -most)
            return problem(p, STATUS_DATA,
                           "binned state: the sum at byte %d is larger than %llu elements can make",
                           AT_BINS + 16 * k, (unsigned long long)s->terms);
        if (bin % step != 0)
            return problem(
                p, STATUS_DATA,
                "binned state: the sum at byte %d is no multiple of %s's smallest number",
                AT_BINS + 16 * k, f->name);
    }
    return STATUS_OK;
}

enum status binned_state_read(struct binned_state *s, const void *bytes, size_t size,
                              struct problem *p)
{
    const unsigned char *from = bytes;
    enum status status = read_header(s, from, size, p);
    if (status != STATUS_OK)
        return status;
    s->terms = get_little(from + AT_TERMS, 8);
    s->nan = from[AT_FLAGS] & FLAG_NAN;
    s->inf[0] = from[AT_FLAGS] & FLAG_INF;
    s->inf[1] = from[AT_FLAGS] & FLAG_NEGATIVE_INF;
    s->plain = from[AT_FLAGS] & FLAG_PLAIN;
    uint64_t window = get_little(from + AT_WINDOW, 2);
    s->window = window == NO_WINDOW ? -1 : (int)window;
    for (int k = 0; k < BINNED_KEPT_MOST; k++) {
        uint64_t low = get_little(from + AT_BINS + 16 * k, 8);
        uint64_t high = get_little(from + AT_BINS + 16 * k + 8, 8);
        s->bin[k] = (__int128)((unsigned __int128)high << 64 | low);
    }
    status = check_header(s, p);
    return status == STATUS_OK ? check_bins(s, p) : status;
}
