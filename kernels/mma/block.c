/* One element of a matrix product, and a product, by the rules of block.h. */
#include "kernels/mma/block.h"

#include "reference/format/array.h"

/* One copy of the loop for each element, in which what depends on it is constant. */
static uint64_t instruction(const struct mma_rule *r, enum mma_element of_b, size_t first, size_t k,
                            const void *a, const void *b, uint64_t c)
{
    if (of_b != r->element)
        return of_b == MMA_E5M2 ? instruction_of(MMA_E4M3, MMA_E5M2, r, first, k, a, b, c)
                                : instruction_of(MMA_E5M2, MMA_E4M3, r, first, k, a, b, c);
    switch (r->element) {
    case MMA_FP16:
        return instruction_of(MMA_FP16, MMA_FP16, r, first, k, a, b, c);
    case MMA_BF16:
        return instruction_of(MMA_BF16, MMA_BF16, r, first, k, a, b, c);
    case MMA_TF32:
        return instruction_of(MMA_TF32, MMA_TF32, r, first, k, a, b, c);
    case MMA_E4M3:
        return instruction_of(MMA_E4M3, MMA_E4M3, r, first, k, a, b, c);
    case MMA_E5M2:
        return instruction_of(MMA_E5M2, MMA_E5M2, r, first, k, a, b, c);
    case MMA_FP64:
    case MMA_ELEMENTS:
        break;
    }
    return not_a_number(r->result);
}

uint64_t mma_dot(const struct mma_rule *r, size_t k, const void *a, const void *b, uint64_t c)
{
    return mma_dot_mixed(r, r->element, k, a, b, c);
}

uint64_t mma_dot_mixed(const struct mma_rule *r, enum mma_element of_b, size_t k, const void *a,
                       const void *b, uint64_t c)
{
    static const double zero;
    const size_t bytes = (size_t)mma_elements[r->element].bits / 8, whole = (size_t)r->k;
    size_t i = 0;
    if (r->fraction == MMA_EXACT) { /* one zero behind it does what more of them do */
        c = fused_in_order(k, a, b, c);
        return k % whole == 0 ? c : fused_in_order(1, &zero, &zero, c);
    }
    for (; k - i >= whole; i += whole)
        c = instruction(r, of_b, i, whole, a, b, c);
    if (i < k) { /* zeros behind it, as kernels pad */
        unsigned char last[2][8 * MMA_BLOCK] = {{0}};
        memcpy(last[0], (const unsigned char *)a + i * bytes, (k - i) * bytes);
        memcpy(last[1], (const unsigned char *)b + i * bytes, (k - i) * bytes);
        c = instruction(r, of_b, 0, whole, last[0], last[1], c);
    }
    return c;
}

void mma_product(const struct mma_rule *r, size_t m, size_t n, size_t k, const void *a,
                 const void *b, const void *c, void *d)
{
    const size_t bytes = (size_t)mma_elements[r->element].bits / 8;
    const struct array from = {r->result, m * n, (void *)(uintptr_t)c}, to = {r->result, m * n, d};
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            array_set_bits(&to, i * n + j,
                           mma_dot(r, k, (const unsigned char *)a + i * k * bytes,
                                   (const unsigned char *)b + j * k * bytes,
                                   c ? array_bits(&from, i * n + j) : 0));
}
