#include "kernels/blocks/exact_state.h"

#include "kernels/blocks/little_endian.h"

enum {
    VERSION = 1,
    AT_VERSION = 4,
    AT_FLAGS = 5,
    AT_TERMS = 8,
    AT_SIDES = 16,
    SIDE_BYTES = 8 * FIXED_LIMBS,
    FLAG_NAN = 1,
    FLAG_INF = 2,
    FLAG_NEGATIVE_INF = 4,
    FLAG_PLAIN = 8
};
static const unsigned char magic[] = {'u', 'l', 'p', 'e'};

void exact_state_init(struct exact_state *s)
{
    exact_init(&s->sum);
    s->terms = 0;
}

void exact_state_add(struct exact_state *s, const struct array *a, size_t begin, size_t count)
{
    exact_add_array(&s->sum, a, begin, count);
    s->terms += count;
}

enum status exact_state_merge(struct exact_state *to, const struct exact_state *from,
                              struct problem *p)
{
    if (from->terms > INT64_MAX - to->terms)
        return problem(p, STATUS_DATA, "exact state: more than 2^63 - 1 elements");
    exact_merge(&to->sum, &from->sum);
    to->terms += from->terms;
    return STATUS_OK;
}

double exact_state_finish(const struct exact_state *s, enum format f)
{
    return exact_round(&s->sum, f);
}

void exact_state_write(const struct exact_state *s, unsigned char bytes[EXACT_STATE_BYTES])
{
    const struct exact *e = &s->sum;
    memset(bytes, 0, EXACT_STATE_BYTES);
    memcpy(bytes, magic, sizeof magic);
    bytes[AT_VERSION] = VERSION;
    bytes[AT_FLAGS] =
        (unsigned char)((e->nan ? FLAG_NAN : 0) | (e->inf[0] ? FLAG_INF : 0) |
                        (e->inf[1] ? FLAG_NEGATIVE_INF : 0) | (e->plain ? FLAG_PLAIN : 0));
    put_little(bytes + AT_TERMS, 8, s->terms);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < FIXED_LIMBS; i++)
            put_little(bytes + AT_SIDES + SIDE_BYTES * side + 8 * i, 8, e->side[side].limb[i]);
}

static enum status check_header(const unsigned char *bytes, size_t size, struct problem *p)
{
    if (size != EXACT_STATE_BYTES)
        return problem(p, STATUS_DATA, "exact state: %zu bytes, expected %d", size,
                       EXACT_STATE_BYTES);
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return problem(p, STATUS_DATA,
                       "exact state: bytes 0 to 3 are %02x %02x %02x %02x, expected 75 6c 70 65",
                       bytes[0], bytes[1], bytes[2], bytes[3]);
    if (bytes[AT_VERSION] != VERSION)
        return problem(p, STATUS_DATA, "exact state: layout version %d, expected %d",
                       bytes[AT_VERSION], VERSION);
    if (bytes[AT_FLAGS] >= 2 * FLAG_PLAIN)
        return problem(p, STATUS_DATA, "exact state: flags %#x at byte %d, expected at most 0xf",
                       bytes[AT_FLAGS], AT_FLAGS);
    if (get_little(bytes + AT_FLAGS + 1, 2) != 0)
        return problem(p, STATUS_DATA, "exact state: bytes 6 and 7 are not 0");
    return STATUS_OK;
}

static bool is_zero(const struct fixed *x)
{
    for (int i = 0; i < FIXED_LIMBS; i++)
        if (x->limb[i])
            return false;
    return true;
}

/* The elements' number against their kinds and magnitudes: none is above the largest double. */
static enum status check_terms(const struct exact_state *s, struct problem *p)
{
    enum { LARGEST_AT = 971 - FIXED_LOWEST };
    const uint64_t largest = (UINT64_C(1) << 53) - 1; /* times 2^971 */
    const struct exact *e = &s->sum;
    struct fixed most = {{0}}, rest;
    unsigned infinite = (unsigned)e->nan + e->inf[0] + e->inf[1];
    unsigned sides = (unsigned)!is_zero(&e->side[0]) + !is_zero(&e->side[1]);
    if (s->terms > INT64_MAX)
        return problem(p, STATUS_DATA, "exact state: 2^63 elements or more");
    if (infinite + sides > s->terms || (e->plain && s->terms == 0))
        return problem(p, STATUS_DATA,
                       "exact state: %llu elements, but more are NaN, infinite, above and below 0",
                       (unsigned long long)s->terms);
    if (infinite + sides > 0 && !e->plain)
        return problem(p, STATUS_DATA, "exact state: all -0 by the flags, but elements are not");
    fixed_add_at(&most, (unsigned __int128)largest * (s->terms - infinite), LARGEST_AT);
    if (fixed_difference(&rest, &most, &e->side[0]) < 0 ||
        fixed_difference(&most, &rest, &e->side[1]) < 0)
        return problem(p, STATUS_DATA,
                       "exact state: the sums at bytes %d and %d are larger than %llu finite "
                       "elements can make",
                       AT_SIDES, AT_SIDES + SIDE_BYTES, (unsigned long long)s->terms - infinite);
    return STATUS_OK;
}

enum status exact_state_read(struct exact_state *s, const void *bytes, size_t size,
                             struct problem *p)
{
    const unsigned char *from = bytes;
    enum status status = check_header(from, size, p);
    if (status != STATUS_OK)
        return status;
    exact_state_init(s);
    s->terms = get_little(from + AT_TERMS, 8);
    s->sum.nan = from[AT_FLAGS] & FLAG_NAN;
    s->sum.inf[0] = from[AT_FLAGS] & FLAG_INF;
    s->sum.inf[1] = from[AT_FLAGS] & FLAG_NEGATIVE_INF;
    s->sum.plain = from[AT_FLAGS] & FLAG_PLAIN;
    s->sum.empty = s->terms == 0;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < FIXED_LIMBS; i++)
            s->sum.side[side].limb[i] = get_little(from + AT_SIDES + SIDE_BYTES * side + 8 * i, 8);
    return check_terms(s, p);
}
