/* The cases that a subject is checked on, and running one. */
#include <stdlib.h>

#include "experiments/check_private.h"
#include "experiments/memory.h"

/* On which orders of additions differ in all formats, or which show a wrong rounding. */
static const char *const telling[] = {"symmetric", "cond", "wide", "lognormal:sigma=4",
                                      "cancellation"};
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
static const uint64_t lengths[] = {65536, 1000, 2049, 33, 4095, 257, 8193, 2, 300001, 1 << 20};
static const uint64_t gpu_lengths[] = {65536, 1000, 2049,    33,     1 << 20,
                                       8193,  2,    1 << 22, 300001, 4095};
static const uint64_t short_lengths[] = {1000, 33, 2049, 3, 65536, 4095, 257, 10, 16385, 1 << 20};
enum { GROUP = 4 };

/* Which length is next: those of a group are gone through before the next, each pair of formats
 * beginning with another one. */
static size_t length_at(size_t turn, size_t pair, size_t lengths_count)
{
    size_t first = turn / GROUP * GROUP, left = lengths_count - first;
    return first + (turn - first + pair) % (left < GROUP ? left : GROUP);
}

static bool reads_two(const struct check *c)
{
    return c->request->method->operation->inputs == 2;
}

static size_t inputs_of(const struct check *c, enum check_kind kind)
{
    size_t pairs = reads_two(c) ? pair_family_count : 0;
    if (c->request->inputs)
        return c->request->inputs;
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
        return c->request->input[i];
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

/* A pass goes over all lengths and pairs, each with another of the inputs. */
bool check_case_at(const struct check *c, enum check_kind kind, size_t u, struct check_case *k)
{
    const struct check_request *r = c->request;
    if (kind == CHECK_RECORDED)
        return check_recorded_at(c, u, k);
    bool scan = check_is_scan(c), both = scan && r->scan[0] == r->scan[1];
    const uint64_t *n = kind == CHECK_EXACT             ? short_lengths
                        : r->device.kind == DEVICE_CUDA ? gpu_lengths
                                                        : lengths;
    size_t ns = sizeof lengths / sizeof *lengths, inputs = inputs_of(c, kind);
    if (r->n.count) {
        n = r->n.item;
        ns = r->n.count;
    }
    size_t pair = u % c->pairs.count, pass = u / c->pairs.count / ns;
    size_t at = length_at(u / c->pairs.count % ns, pair, ns);
    if (pass >= inputs * (both ? 2 : 1))
        return false;
    *k = (struct check_case){.pair = c->pairs.item[pair],
                             .output = c->pairs.item[pair].accumulator,
                             .input = input_of(c, kind, (pass + at + pair) % inputs),
                             .n = (size_t)n[at],
                             .seed = r->seed + pass / inputs};
    k->exclusive = scan && (both ? (pass / inputs + pass + pair) % 2 : r->scan[1]);
    check_keys_at(r, pass + at + pair, k);
    check_rows_at(r, pass + at + pair, k);
    k->shape = (struct shape){r->threads.count ? (unsigned)r->threads.item[0] : 0,
                              r->blocks.count ? (unsigned)r->blocks.item[0] : 0};
    return true;
}

enum status check_load_case(struct check *c, const struct check_case *k, struct problem *p)
{
    unsigned arrays = c->request->method->operation->inputs;
    free(c->in.data);
    c->at = *k;
    c->in.data = NULL;
    enum status status = check_load_rows(c, &c->at, p);
    if (status == STATUS_OK)
        status = check_load_keys(c, k, p);
    if (status != STATUS_OK)
        return status;
    status = memory_array(&c->in, k->pair.storage, k->n * arrays, "an input", p);
    if (status != STATUS_OK) {
        c->in.data = NULL;
        return status;
    }
    return arrays == 2 ? input_generate_pair(&k->input, &c->in, k->seed, 0, p)
                       : input_generate(&k->input, &c->in, k->seed, 0, p);
}

bool check_is_scan(const struct check *c)
{
    return c->request->method->operation == &operation_scan;
}

size_t check_outputs(const struct check *c)
{
    return c->request->method->operation->outputs(c->at.n, c->at.bins);
}

struct array check_array(const struct array *all, size_t n, unsigned i)
{
    return (struct array){all->format, n, (char *)all->data + i * array_bytes(all->format, n)};
}

struct check_setting check_plain(const struct check *c, const struct check_case *k)
{
    return (struct check_setting){
        .method = c->request->method, .device = c->request->device, .shape = k->shape};
}

enum status check_open(const struct check *c, const struct check_setting *s, struct probe **probe,
                       struct problem *p)
{
    const struct probe_spec spec = {.method = s->method,
                                    .device = s->device,
                                    .storage = c->at.pair.storage,
                                    .accumulator = c->at.pair.accumulator,
                                    .output = c->at.output,
                                    .n = c->at.n,
                                    .shape = s->shape,
                                    .offset = s->offset,
                                    .around = s->around,
                                    .exclusive = c->at.exclusive,
                                    .heads = c->mask,
                                    .bins = c->at.bins,
                                    .stride = c->stride};
    enum status status = probe_open(probe, &spec, p);
    for (unsigned i = 0; status == STATUS_OK && i < c->request->method->operation->inputs; i++) {
        struct array to = i ? probe_second(*probe) : probe_input(*probe);
        struct array from = check_array(s->in ? s->in : &c->in, c->at.n, i);
        memcpy(to.data, from.data, array_bytes(from.format, from.n));
    }
    if (status == STATUS_OK && c->request->method->operation->keys)
        memcpy(probe_keys(*probe), s->keys ? s->keys : c->keys, c->at.n * sizeof *c->keys);
    if (status == STATUS_OK)
        check_note_over(c, method_shape(s->method, s->device.kind, c->at.n, s->shape));
    return status;
}

enum status check_once(const struct check *c, const struct check_setting *s, struct array *out,
                       struct problem *p)
{
    struct probe *probe;
    enum status status = memory_array(out, c->at.output, check_outputs(c), "results", p);
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
