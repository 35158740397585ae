#include "experiments/inputs/philox.h"

#include <math.h>
#include <Random123/philox.h>

#include "experiments/inputs/portable.h"

void random_block(const uint32_t counter[4], const uint32_t key[2], uint32_t block[4])
{
    philox4x32_ctr_t c = {{counter[0], counter[1], counter[2], counter[3]}};
    philox4x32_key_t k = {{key[0], key[1]}};
    c = philox4x32_R(10, c, k);
    for (int i = 0; i < 4; i++)
        block[i] = c.v[i];
}

struct draw random_draw(uint64_t seed, enum random_stream stream, uint64_t i)
{
    uint32_t counter[4] = {(uint32_t)i, (uint32_t)(i >> 32), (uint32_t)stream, 0};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, block[4];
    random_block(counter, key, block);
    return (struct draw){
        {(uint64_t)block[1] << 32 | block[0], (uint64_t)block[3] << 32 | block[2]}};
}

double random_normal(struct draw d)
{
    double positive = (double)((d.word[0] >> 11) + 1) * 0x1p-53; /* (0, 1]: log is finite */
    return sqrt(-2 * portable_log(positive)) *
           portable_sin_turns(d.word[1] >> 11, UINT64_C(1) << 53);
}
