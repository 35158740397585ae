/* What a case reads: a generated input, or the user's data. */
#pragma once

#include "experiments/data/data.h"
#include "experiments/inputs/input.h"

enum { HASH_TEXT = 33 };

struct source {
    char *name; /* column `input`: the canonical specification, which names the target condition
                   number, or the data's name */
    bool generated;
    struct input input; /* where generated */
    uint64_t seed;
    struct array array;     /* data NULL while it is not there */
    struct array wide;      /* of data: what it was converted from, where that is kept */
    bool pair;              /* there are two arrays, for dot products: */
    struct array second;    /* as long, of the same format, and there when the first is */
    size_t rows;            /* of data that is a whole matrix; else 0 */
    char hash[HASH_TEXT];   /* XXH3-128 of the stored bytes, of two arrays (`wide` is one)
                               that of both hashes; "" while it is not known */
    const char *with;       /* of data: what is hashed with it, "scales"; else NULL */
    bool recorded;          /* study.json has its hash */
    enum arrangement order; /* of data: */
    struct array unordered; /* and what is put into this order; data NULL: it is as it was read */
    size_t first, cases;    /* in the plan's cases */
};

/* Does it have a target condition number that its specification does not say? */
bool source_takes_cond(const struct input *in);

/* A generated input. cond is the target condition number for a family that has one and whose
 * specification does not say it; 0 leaves it to the family. */
enum status source_generated(struct source *s, const struct input *in, enum format storage,
                             size_t n, uint64_t seed, double cond, struct problem *p);

/* The first n elements of data, which is kept, not copied, and hashed. STATUS_USAGE where it has
 * fewer. */
enum status source_data(struct source *s, const struct data *data, size_t n, struct problem *p);

/* Makes a generated source one of two arrays (input_generate_pair); to be called before it is
 * loaded. */
void source_pair(struct source *s);

/* The same of data: the second array is the first turned by `shift` elements, y[i] = x[(i + shift)
 * mod n]. The name tells of it: NAME:shift=K. */
enum status source_shift(struct source *s, uint64_t shift, struct problem *p);

/* Puts data into another order when it is loaded. The name tells of it: NAME:order=ARRANGEMENT; the
 * hash stays that of the elements as they were read. */
enum status source_arrange(struct source *s, enum arrangement order, struct problem *p);

/* Are they the same elements in different orders? */
bool source_reordered(const struct source *a, const struct source *b);

/* Its name without the order of the elements. STATUS_MEMORY when memory is short. */
enum status source_base(char **name, const struct source *s, struct problem *p);

/* Sees to it that the array and its hash are there. */
enum status source_load(struct source *s, struct problem *p);
void source_unload(struct source *s); /* arrays that can be made again are freed */
void source_free(struct source *s);

/* What tells it from others in messages and in study.json: name, storage, n, seed. The caller frees
 * it; NULL when memory is short. */
char *source_key(const struct source *s);
