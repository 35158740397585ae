/* Sums of tensor cores promoted to the result's own additions every so many products, as kernels do
 * whose accumulator keeps fewer bits than its type. */
#include "kernels/mma/mma.h"

uint64_t mma_promoted(const struct mma_rule *r, enum mma_element of_b, size_t every, size_t k,
                      const void *a, const void *b, uint64_t c)
{
    const size_t bytes = (size_t)mma_elements[r->element].bits / 8;
    const unsigned char *x = a, *y = b;
    if (every == 0)
        return mma_dot_mixed(r, of_b, k, a, b, c);
    double sum = format_decode(r->result, c);
    for (size_t i = 0; i < k; i += every) {
        size_t count = k - i < every ? k - i : every;
        uint64_t part = mma_dot_mixed(r, of_b, count, x + i * bytes, y + i * bytes, 0);
        sum = format_add(r->result, sum, format_decode(r->result, part));
    }
    return sum != sum ? UINT64_MAX >> (65 - 8 * format_facts[r->result].bytes)
                      : format_encode(r->result, sum);
}
