/* The cases that a subject is checked on, and running one. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/batches.h"
#include "experiments/inputs/cache.h"
#include "experiments/system/memory.h"
#include "kernels/gpu/gpu.h"

/* On which orders of additions differ in all formats, or which show a wrong rounding; the first,
 * which does so most often, again. The last has zeros among its elements, often some in a row. */
static const char *const telling[] = {"symmetric",    "cond", "symmetric", "lognormal:sigma=4",
                                      "cancellation", "wide", "relu"};
static const char *const ill_conditioned[] = {
    "cond:target=1024", "cond:target=1048576", "cond:target=1073741824", "cond:target=2^50",
    "cond:target=2^80", "cond:target=2^120",   "ties:negative=1",        "wide:order=descending"};
/* On which those differ too that carry errors, and on the way to an overflow. */
static const char *const permuted[] = {
    "symmetric",        "cond:target=2^80", "wide", "ladder", "cond", "near_overflow",
    "cond:target=2^50", "lognormal:sigma=4"};
enum {
    TELLING = sizeof telling / sizeof *telling,
    PERMUTED = sizeof permuted / sizeof *permuted,
    ILL_CONDITIONED = sizeof ill_conditioned / sizeof *ill_conditioned
};
/* Around powers of two and tiles, in groups: time may end the list, so the first few say most. */
static const uint64_t lengths[] = {65536, 1000, 2049, 33, 1 << 20, 257, 8193, 2, 300001, 4095};
static const uint64_t gpu_lengths[] = {65536, 1000, 2049,    33,     1 << 20,
                                       8193,  2,    1 << 22, 300001, 4095};
static const uint64_t short_lengths[] = {1000, 33, 2049, 3, 65536, 4095, 257, 10, 16385, 1 << 20};
/* Of data: the whole, and prefixes. */
static const uint64_t prefixes[] = {UINT64_MAX, 1000, 65536, 33, 4095, 257, 2};
/* Many rows are followed through a few batches, and some through all: a break may show in few rows,
 * or in few batches. The first case of our own methods, which are quick, goes through all. */
enum { FULL_EACH = 8, FULL_EACH_DRAWN = 5 };
enum { GROUP = 4, LENGTHS = sizeof lengths / sizeof *lengths, SERVED_CASES = 6 };

/* Which length is next: those of a group are gone through before the next, each pair of formats
 * beginning with another one. */
static size_t length_at(size_t turn, size_t pair, size_t lengths_count)
{
    size_t first = turn / GROUP * GROUP, left = lengths_count - first;
    return first + (turn - first + pair) % (left < GROUP ? left : GROUP);
}

static bool reads_two(const struct check *c)
{
    return operation_has(c->request->method->operation, OPERAND_IN2);
}

/* The user's own, and generated ones. */
static size_t inputs_of(const struct check *c, enum check_kind kind)
{
    const struct check_request *r = c->request;
    size_t pairs = reads_two(c) ? pair_family_count : 0;
    if (r->inputs || r->datas)
        return r->datas + r->inputs;
    if (kind == CHECK_PERMUTATION)
        return PERMUTED + pairs;
    return (kind == CHECK_EXACT ? ILL_CONDITIONED + input_family_count : TELLING) + pairs;
}

/* Those of two arrays behind the first one of the others. */
static struct input input_of(const struct check *c, enum check_kind kind, size_t i)
{
    struct input in;
    size_t pairs = reads_two(c) ? pair_family_count : 0;
    if (c->request->inputs)
        return c->request->input[i - c->request->datas];
    bool pair = i > 0 && i <= pairs;
    size_t k = i > pairs ? i - pairs : 0;
    const char *name = pair                        ? pair_families[i - 1]->name
                       : kind == CHECK_PERMUTATION ? permuted[k]
                       : kind != CHECK_EXACT       ? telling[k]
                       : k < ILL_CONDITIONED       ? ill_conditioned[k]
                                                   : input_families[k - ILL_CONDITIONED]->name;
    input_parse(&in, name, NULL);
    return in;
}

/* Sets the input and its length; false where there is none of this format and so long. */
static bool set_input(const struct check *c, enum check_kind kind, struct check_case *k, size_t i,
                      uint64_t n)
{
    const struct check_request *r = c->request;
    k->n = (size_t)n;
    if (i >= r->datas) {
        k->input = input_of(c, kind, i);
        return n < UINT64_MAX;
    }
    k->data = &r->data[i];
    if (n == UINT64_MAX)
        k->n = k->data->array.n;
    return k->data->array.format == k->pair.storage && k->n <= k->data->array.n && k->n > 0;
}

bool check_follows(const struct check *c, enum check_kind kind)
{
    return kind >= CHECK_BATCH && kind <= CHECK_LAYOUT &&
           operation_sides(c->request->method->operation) > 0;
}

static struct numbers lengths_of(const struct check *c, enum check_kind kind)
{
    /* 8x8x512, and 256 rows of 256: time is for other numbers of rows. */
    static uint64_t of_product[] = {8256}, of_rows[] = {65536};
    const struct check_request *r = c->request;
    if (check_is_counted(c->request, kind) && r->n.count == 0 && r->datas == 0)
        return (struct numbers){1,
                                operation_sides(r->method->operation) > 1 ? of_product : of_rows};
    const uint64_t *own = r->datas                        ? prefixes
                          : kind == CHECK_EXACT           ? short_lengths
                          : r->device.kind == DEVICE_CUDA ? gpu_lengths
                                                          : lengths;
    /* Batches of other sizes are made of the whole. */
    size_t count = r->datas && check_follows(c, kind) ? 1
                   : r->datas                         ? sizeof prefixes / sizeof *prefixes
                                                      : LENGTHS;
    return r->n.count ? r->n : (struct numbers){count, (uint64_t *)own};
}

/* In how many rounds all outputs of a case are followed. */
static size_t rounds_of(const struct check *c, enum check_kind kind, const struct check_case *k)
{
    if (check_is_counted(c->request, kind))
        return check_batches_rounds(c, k);
    struct batch_place is = setting_batch(c->request->method->operation, &k->setting, k->n);
    return (is.side[0] * is.side[1] + CHECK_FOLLOWS - 1) / CHECK_FOLLOWS;
}

/* Is all of a case asked for but its launch shape? Then its seed is too, and there are no more.
 * Data goes on where the next round differs: in its permutations, or as one more repetition. */
static bool fixed(const struct check_request *r, enum check_kind kind)
{
    bool goes_on = check_kinds[kind].rung == PROMISE_RUN_TO_RUN || kind == CHECK_PERMUTATION;
    return (r->n.count > 0 && r->inputs + r->datas > 0) || (r->datas > 0 && !goes_on);
}

/* Where a case stands among those of its kind: in each pass all lengths have their turn. */
struct place {
    size_t pair, turn, pass;
};

/* Every other case is of the first pair, the most usual: it meets all lengths soon. */
static struct place place_of(const struct check *c, enum check_kind kind, size_t lengths_count,
                             size_t u)
{
    size_t pairs = c->pairs.count, first = 0;
    if (pairs > 2 && !fixed(c->request, kind) && !check_is_counted(c->request, kind)) {
        if (u % 2 == 0)
            return (struct place){0, u / 2 % lengths_count, u / 2 / lengths_count};
        first = 1;
        pairs--;
        u /= 2;
    }
    return (struct place){first + u % pairs, u / pairs % lengths_count, u / pairs / lengths_count};
}

/* Does an earlier launch shape come to the same for this length? */
static bool comes_again(const struct check *c, const struct check_case *k, size_t i)
{
    const struct check_request *r = c->request;
    struct shape own = check_shape_made(r, k->n, check_shape_at(c, i));
    for (size_t earlier = 0; earlier < i; earlier++) {
        struct shape is = check_shape_made(r, k->n, check_shape_at(c, earlier));
        if (is.threads == own.threads && is.blocks == own.blocks)
            return true;
    }
    return false;
}

/* Of both, an eighth of the cases, some in a row, which one load is begun for. Nobody asked: ours
 * are loaded in repetitions alone, which take long enough. */
static bool is_busy(const struct check_request *r, size_t u)
{
    bool asked = r->load[0] || r->load[1], can = r->device.kind == DEVICE_CPU || gpu_build(),
         both = asked ? r->load[0] && r->load[1] : r->method->foreign && can;
    return both ? u % 32 / 4 == 2 : r->load[1];
}

/* A pass goes over all lengths and pairs, each with another of the inputs and another launch shape.
 * Passes go on for ever, with new seeds, but where the case is asked for. */
enum check_found check_case_at(const struct check *c, enum check_kind kind, size_t u,
                               struct check_case *k)
{
    const struct check_request *r = c->request;
    if (kind == CHECK_RECORDED)
        return check_recorded_at(c, u, k) ? CHECK_FOUND : CHECK_NO_MORE;
    bool last = fixed(r, kind), scan = check_is_scan(c), both = scan && r->scan[0] == r->scan[1];
    struct numbers n = lengths_of(c, kind);
    struct place at = place_of(c, kind, n.count, u);
    struct format_pair pair = c->pairs.item[at.pair];
    size_t length = length_at(at.turn, at.pair, n.count), shapes = check_shape_count(c);
    size_t inputs = inputs_of(c, kind), round = at.pass / inputs;
    size_t mixed = at.pass + length + at.pair;
    size_t rounds_asked =
        shapes * (both ? 2 : 1) * (r->setting.ranks.count ? r->setting.ranks.count : 1);
    if (last && !check_follows(c, kind) && round >= rounds_asked)
        return CHECK_NO_MORE;
    *k = (struct check_case){.pair = pair,
                             .setting.output = pair.accumulator,
                             .seed = r->seed + (last ? 0 : at.pass),
                             .busy = is_busy(r, u)};
    if (!set_input(c, kind, k, mixed % inputs, n.item[length]))
        return CHECK_NONE;
    if (scan && both)
        k->setting.exclusive = (last ? round / shapes : round + at.pass + at.pair) % 2;
    else
        k->setting.exclusive = scan && r->scan[1];
    struct setting_axes axes = r->setting;
    axes.no_c = r->method->no_c;
    axes.file_rows = k->data && k->n == k->data->array.n ? k->data->rows : 0;
    bool one = check_is_counted(c->request, kind) && n.count == 1 && r->n.count == 0 &&
               axes.rows.count == 0 && axes.layouts == 0;
    setting_vary(&k->setting, r->method->operation, &axes, k->n, one ? 0 : mixed);
    if (k->setting.ranks && r->n.count == 0) /* lengths of ours, which may leave a rest */
        k->n = k->setting.ranks * k->setting.bins;
    if (k->n == 0)
        return CHECK_NONE;
    setting_drop(r->method, &k->setting);
    if (!setting_can(r->method, &k->setting, pair.storage, pair.accumulator))
        return CHECK_NONE; /* another chip that is asked for can: see check_find_pairs */
    k->round = at.pass;
    k->few = check_follows(c, kind) && u % FULL_EACH_DRAWN != (r->method->foreign ? 1 : 0);
    if (last && check_follows(c, kind)) {
        size_t rounds = rounds_of(c, kind, k);
        if (round >= rounds * shapes)
            return CHECK_NONE; /* other lengths may have more outputs */
        k->round = round % rounds;
        k->few = round % FULL_EACH < FULL_EACH - 1;
        round += round / rounds;
    }
    /* Ours are asked in processes that stay, a few for each shape. */
    size_t shape = at.turn + at.pair + at.pass % inputs + round;
    if (kind == CHECK_PROCESS && !r->method->foreign && !last)
        shape = u / SERVED_CASES;
    k->shape = check_shape_at(c, shape % shapes);
    if (last && !check_follows(c, kind) && comes_again(c, k, shape % shapes))
        return CHECK_NONE;
    return CHECK_FOUND;
}

void check_input_text(const struct check_case *k, char text[INPUT_TEXT])
{
    if (k->data)
        snprintf(text, INPUT_TEXT, "%.*s", INPUT_TEXT - 1, k->data->name);
    else
        input_name(&k->input, text);
}

/* The second array of a dot product of data: turned by one element, as `run` does. */
static void copy_data(const struct check *c, const struct check_case *k)
{
    struct array from = {k->data->array.format, k->n, k->data->array.data};
    struct array second = check_array(&c->in, k->n, 1);
    memcpy(c->in.data, from.data, array_bytes(from.format, from.n));
    for (size_t i = 0; reads_two(c) && i < k->n; i++)
        array_set_bits(&second, i, array_bits(&from, (i + 1) % k->n));
}

/* What is read beside elements, all of it drawn with the seed of the case. */
static enum status load_setting(struct check *c, struct problem *p)
{
    struct check_case *k = &c->at;
    const struct operation *o = c->request->method->operation;
    check_free_setting(c);
    k->setting.key_seed = k->seed;
    c->made.of.in = check_array(&c->in, k->n, 0);
    enum status status = setting_make(&c->made, o, &k->setting, k->seed, p);
    k->setting.bins = c->made.of.bins;
    return status == STATUS_OK ? setting_places(&c->place, o, &c->made, p) : status;
}

void check_free_setting(struct check *c)
{
    setting_free(&c->made);
    free(c->place);
    c->place = NULL;
}

enum status check_load_case(struct check *c, const struct check_case *k, struct problem *p)
{
    unsigned arrays = operation_arrays(c->request->method->operation);
    free(c->in.data);
    c->at = *k;
    c->in.data = NULL;
    enum status status = memory_array(&c->in, k->pair.storage, k->n * arrays, "an input", p);
    if (status != STATUS_OK) {
        c->in.data = NULL;
        return status;
    }
    if (k->data)
        copy_data(c, k);
    else
        status = input_cached(c->inputs, &k->input, &c->in, k->seed, arrays == 2, p);
    return status == STATUS_OK ? load_setting(c, p) : status;
}

bool check_is_scan(const struct check *c)
{
    return operation_asks(c->request->method->operation, SETTING_SCAN);
}

size_t check_outputs(const struct check *c)
{
    return c->request->method->operation->outputs(c->at.n, c->at.setting.bins);
}

struct array check_array(const struct array *all, size_t n, unsigned i)
{
    return (struct array){all->format, n, (char *)all->data + i * array_bytes(all->format, n)};
}

struct check_setting check_plain(const struct check *c, const struct check_case *k)
{
    return (struct check_setting){
        .method = check_method(c, k->shape), .device = c->request->device, .shape = k->shape};
}

enum status check_open(const struct check *c, const struct check_setting *s, struct probe **probe,
                       struct problem *p)
{
    const struct probe_spec spec = {.method = s->method,
                                    .device = s->device,
                                    .storage = c->at.pair.storage,
                                    .accumulator = c->at.pair.accumulator,
                                    .output = c->at.setting.output,
                                    .n = c->at.n,
                                    .shape = s->shape,
                                    .offset = s->offset,
                                    .around = s->around,
                                    .exclusive = c->at.setting.exclusive,
                                    .mask = c->made.of.mask,
                                    .bins = c->at.setting.bins,
                                    .stride = c->made.of.stride,
                                    .gemm = c->made.of.gemm,
                                    .c = c->made.of.c,
                                    .chip = s->chip ? s->chip : c->at.setting.chip,
                                    .promote = c->at.setting.promote};
    enum status status = probe_open(probe, &spec, p);
    for (unsigned i = 0; status == STATUS_OK && i < operation_arrays(c->request->method->operation);
         i++) {
        struct array to = i ? probe_second(*probe) : probe_input(*probe);
        struct array from = check_array(s->in ? s->in : &c->in, c->at.n, i);
        memcpy(to.data, from.data, array_bytes(from.format, from.n));
    }
    if (status == STATUS_OK && c->made.of.keys)
        memcpy(probe_keys(*probe), s->keys ? s->keys : c->made.of.keys, c->at.n * sizeof *s->keys);
    if (status == STATUS_OK)
        check_note(c, s);
    return status;
}

enum status check_once(const struct check *c, const struct check_setting *s, struct array *out,
                       struct problem *p)
{
    struct probe *probe;
    enum status status = memory_array(out, c->at.setting.output, check_outputs(c), "results", p);
    if (status != STATUS_OK)
        return status;
    status = check_open(c, s, &probe, p);
    if (status == STATUS_OK)
        status = probe_run(probe, out, p);
    probe_close(probe);
    if (status != STATUS_OK)
        free(out->data);
    return status;
}
