/* The sums of tiles, groups and super-groups, as blocks tell them each other, by a warp.
 *
 * A sum is published as words that are not 0, into places that are 0 until then; so neither fences
 * nor flags are needed. There are two sets of places: a launch uses one and empties the other for
 * the next. */
#pragma once

#include "kernels/scan/row.cuh"

namespace scan_pass
{

static_assert(SCAN_GROUP == warp_lanes, "a warp folds a group");

/* The workspace: this, and behind it two sets of places. */
struct alignas(256) state {
    word claims; /* tiles claimed so far; in the upper half which set this launch uses */
};

/* One set: places of tiles, of groups, and of the sums of all before a super-group. */
struct places {
    unsigned tiles, groups, supers;
    __host__ __device__ explicit places(unsigned tiles)
        : tiles(tiles), groups(tiles / SCAN_GROUP), supers(groups / SCAN_GROUP)
    {
    }
    __host__ __device__ size_t count() const { return (size_t)tiles + groups + supers; }
};

template <typename P> __device__ inline void publish(word *place, P sum)
{
#pragma unroll
    for (unsigned k = 0; k < P::words; k++)
        ((volatile word *)place)[k] = sum.code(k);
}

/* A lane's question for a published sum: asked first and answered later, so that the answers to
 * several are on their way at once. `place` is NULL where the lane has none, whose answer is
 * nothing. */
template <typename P> struct question {
    const word *place;
    word w[P::words];
    __device__ explicit question(const word *from) : place(from)
    {
#pragma unroll
        for (unsigned k = 0; k < P::words; k++)
            w[k] = place ? ((const volatile word *)place)[k] : P::nothing().code(k);
    }
    __device__ bool answered() const
    {
        bool all = true;
#pragma unroll
        for (unsigned k = 0; k < P::words; k++)
            all = all && w[k];
        return all;
    }
    /* By all lanes of a warp together. */
    __device__ P answer()
    {
        while (!answered())
            *this = question(place);
        __syncwarp();
        return P::decode(w);
    }
};

/* One set of places, from the address of its first. */
template <typename P> struct shelf {
    places p;
    word *set;
    __device__ shelf(state *s, unsigned tiles, unsigned turn) : p(tiles)
    {
        set = (word *)(s + 1) + turn * p.count() * P::words;
    }
    __device__ word *tile(unsigned i) const { return set + (size_t)i * P::words; }
    __device__ word *group(unsigned i) const { return tile(p.tiles) + (size_t)i * P::words; }
    /* The sum of all before super-group i >= 1. */
    __device__ word *super(unsigned i) const
    {
        return group(p.groups) + (size_t)(i - 1) * P::words;
    }
};

/* Where a tile stands. */
struct standing {
    unsigned group, super, before, groups; /* its numbers; tiles and groups before it in them */
    bool ends_group, ends_super;
    __device__ explicit standing(unsigned tile)
        : group(tile / SCAN_GROUP), super(group / SCAN_GROUP), before(tile % SCAN_GROUP),
          groups(group % SCAN_GROUP), ends_group(before == SCAN_GROUP - 1),
          ends_super(ends_group && groups == SCAN_GROUP - 1)
    {
    }
};

/* Empties the places that the next launch will find a tile's sums in. */
template <typename P> __device__ inline void empty(const shelf<P> &next, unsigned tile)
{
    standing at(tile);
    for (unsigned k = 0; k < P::words; k++) {
        next.tile(tile)[k] = 0;
        if (at.ends_group)
            next.group(at.group)[k] = 0;
        if (at.ends_super)
            next.super(at.super + 1)[k] = 0;
    }
}

/* By the block of a tile that ends a group, whose sum is `sum`: publishes what it completes. */
template <typename P>
__device__ inline void complete_group(const shelf<P> &now, unsigned tile, P sum)
{
    unsigned lane = threadIdx.x % warp_lanes;
    standing at(tile);
    question<P> tiles(lane < at.before ? now.tile(tile - at.before + lane) : NULL);
    P of_tile = tiles.answer();
    sum = fold_lanes<warp_lanes>(lane == at.before ? sum : of_tile);
    if (lane == 0)
        publish(now.group(at.group), sum);
    if (!at.ends_super)
        return;
    question<P> groups(lane < at.groups ? now.group(at.group - at.groups + lane) : NULL);
    question<P> supers(at.super > 0 ? now.super(at.super) : NULL);
    P of_group = groups.answer();
    sum = fold_lanes<warp_lanes>(lane == at.groups ? sum : of_group);
    sum = join(supers.answer(), sum);
    if (lane == 0)
        publish(now.super(at.super + 1), sum);
}

/* The sum of all before a tile. */
template <typename P> __device__ inline P look_back(const shelf<P> &now, unsigned tile)
{
    unsigned lane = threadIdx.x % warp_lanes;
    standing at(tile);
    question<P> tiles(lane < at.before ? now.tile(tile - at.before + lane) : NULL);
    question<P> groups(lane < at.groups ? now.group(at.group - at.groups + lane) : NULL);
    question<P> supers(at.super > 0 ? now.super(at.super) : NULL);
    P of_group = fold_lanes<warp_lanes>(groups.answer());
    P of_tile = fold_lanes<warp_lanes>(tiles.answer());
    return join(join(supers.answer(), of_group), of_tile);
}

} // namespace scan_pass
