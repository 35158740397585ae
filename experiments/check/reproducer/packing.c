/* Numbers as bytes in a program of Python: by its struct, or by a pair of functions for formats
 * that struct does not know. */
#include <string.h>

#include "experiments/check/reproducer/reproducer.h"

static const char *const letter[FORMATS] = {[FP16] = "e", [FP32] = "f", [FP64] = "d"};

const char *reproducer_letter(enum format f)
{
    return letter[f];
}

static bool read_bytes(const struct reproducer *r)
{
    return strncmp(r->method->name, "exec:", 5) == 0;
}

/* Two functions for formats that Python's struct does not have. In what they are given, the last
 * encoding is that of infinity, or of the largest number where the format has no infinity. */
void reproducer_packing(struct text *to, const struct reproducer *r)
{
    bool bytes = read_bytes(r);
    const struct format_facts *in = &format_facts[r->storage], *out = &format_facts[r->output];
    if (letter[r->output] && (!bytes || letter[r->storage]))
        return;
    text_format(to,
                "\n\n# Bytes, bits of the significand, the smallest normal number's exponent, the "
                "last encoding, NaN's; infinities.\n"
                "STORED = (%d, %d, %d, %#llx, %#llx, %s)\nRESULTS = (%d, %d, %d, %#llx, %#llx, "
                "%s)\n\n\n",
                in->bytes, in->precision, in->emin, (unsigned long long)in->last,
                (unsigned long long)in->nan, in->last == in->specials ? "True" : "False",
                out->bytes, out->precision, out->emin, (unsigned long long)out->last,
                (unsigned long long)out->nan, out->last == out->specials ? "True" : "False");
    text_add(to, "def pack(x, size, digits, least, last, nan, infinite):\n"
                 "    if math.isnan(x):\n        return nan.to_bytes(size, \"little\")\n"
                 "    exponent = max(math.frexp(x)[1] - 1, least) if x else least\n"
                 "    bits = last if infinite and math.isinf(x) else \\\n"
                 "        (exponent - least << digits - 1) + int(math.ldexp(abs(x), digits - 1 - "
                 "exponent))\n"
                 "    sign = 1 << 8 * size - 1 if math.copysign(1, x) < 0 else 0\n"
                 "    return (sign | bits).to_bytes(size, \"little\")\n");
    if (bytes && !letter[r->output])
        text_add(
            to,
            "\n\ndef unpack(raw, size, digits, least, last, nan, infinite):\n"
            "    bits = int.from_bytes(raw, \"little\")\n"
            "    sign = -1.0 if bits >> 8 * size - 1 else 1.0\n"
            "    bits &= (1 << 8 * size - 1) - 1\n"
            "    if bits > last:\n        return math.nan\n"
            "    exponent = max(bits >> digits - 1, 1)\n"
            "    if bits == last and infinite:\n        return sign * math.inf\n"
            "    return sign * math.ldexp(bits - (exponent - 1 << digits - 1), exponent + least - "
            "digits)\n");
}
