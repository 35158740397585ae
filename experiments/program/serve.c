/* ulpscope serve: a method, as a program that others ask through standard input and output. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/check/check.h"
#include "experiments/operations/operation.h"
#include "experiments/system/clock.h"
#include "experiments/subjects/foreign.h"
#include "experiments/system/memory.h"
#include "experiments/program/method_json.h"
#include "experiments/subjects/object.h"
#include "experiments/runs/probe.h"
#include "experiments/subjects/subject.h"
#include "experiments/program/verbs.h"
#include "experiments/subjects/wire.h"

struct server {
    const struct method *method;
    bool object; /* of a shared object */
    struct device device;
    struct shape shape;
    size_t offset;
    uint8_t around; /* every byte of what lies around the input */
    bool timed;     /* answers are followed by the time */
    FILE *in, *out;
    struct probe *probe; /* for requests like the last one; NULL: none yet */
    char *body, *next;   /* what followed the line of a first request, and how far it is taken */
    struct probe_spec spec;
    struct array results;
    struct array c; /* of a matrix product */
    const char *chip;
    uint64_t promote;
};

/* Our own standard input and output, out of the way of what a shared object reads or prints: that
 * finds nothing to read, and prints to standard error. */
static enum status take_channels(struct server *s, struct problem *p)
{
    int in = dup(STDIN_FILENO), out = dup(STDOUT_FILENO), nothing = open("/dev/null", O_RDONLY);
    s->in = in >= 0 ? fdopen(in, "r") : NULL;
    s->out = out >= 0 ? fdopen(out, "w") : NULL;
    if (!s->in || !s->out || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
        dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return problem(p, STATUS_DATA, "serve: standard input and output: %s", strerror(errno));
    close(nothing);
    return STATUS_OK;
}

static enum status find(struct server *s, const struct arguments *a, struct problem *p)
{
    const char *name = a->operand[0], *operation = argument_value(a, "operation");
    s->object = name_is_object(name);
    enum status status = s->object
                             ? object_load(&s->method, name, p)
                             : subject_askable(&s->method, "serve", name,
                                               operation ? operation_named(operation) : NULL, p);
    return status == STATUS_OK ? check_computes(s->method, "serve", a, p) : status;
}

static enum status settings(struct server *s, const struct arguments *a, struct problem *p)
{
    uint64_t threads, blocks, offset, around;
    const char *device = argument_value(a, "device");
    if (!device)
        device = !s->object ? "auto" : object_on_device() ? "cuda" : "cpu";
    enum status status = device_parse(&s->device, device, p);
    if (status == STATUS_OK)
        status = argument_number(a, "threads", 0, 0, THREADS_MAX, &threads, p);
    if (status == STATUS_OK)
        status = argument_number(a, "blocks", 0, 0, BLOCKS_MAX, &blocks, p);
    if (status == STATUS_OK)
        status = argument_number(a, "offset", 0, 0, 255, &offset, p);
    if (status == STATUS_OK)
        status = argument_number(a, "around", 255, 0, 255, &around, p);
    if (status == STATUS_OK)
        status = argument_number(a, "promote", 0, 1, SHAPE_MOST, &s->promote, p);
    if (status == STATUS_OK && argument_value(a, "chip"))
        status = chip_parse(&s->chip, argument_value(a, "chip"), p);
    if (status != STATUS_OK)
        return status;
    s->shape = (struct shape){(unsigned)threads, (unsigned)blocks};
    s->offset = offset;
    s->around = (uint8_t)around;
    return STATUS_OK;
}

/* Lines that change what follows and are answered by nothing: what we tell a shared object's
 * process (experiments/subjects/run.c). */
static bool setting(struct server *s, const char *line)
{
    size_t offset;
    unsigned long long threads, blocks;
    char end;
    if (strcmp(line, "time") == 0 && s->object)
        s->timed = true;
    else if (sscanf(line, "offset %zu%c", &offset, &end) == 1 && offset < 256)
        s->offset = offset;
    else if (sscanf(line, "shape %llu %llu%c", &threads, &blocks, &end) == 2 &&
             threads <= THREADS_MAX && blocks <= BLOCKS_MAX)
        s->shape = (struct shape){(unsigned)threads, (unsigned)blocks};
    else
        return false;
    return true;
}

static void close_probe(struct server *s)
{
    probe_close(s->probe);
    free(s->results.data);
    free(s->c.data);
    s->probe = NULL;
    s->results.data = s->c.data = NULL;
}

/* The bytes behind the line of a request. */
static size_t body_bytes(const struct wire_request *r)
{
    return array_bytes(r->storage, r->n) + request_behind_bytes(r);
}

/* Takes in what follows a line, in pieces: a line may promise more than comes, and memory is for
 * what comes. */
static enum status gather(struct server *s, const struct wire_request *r, struct problem *p)
{
    enum { FIRST = 1 << 16 };
    size_t due = body_bytes(r), found = 0, capacity = 0;
    size_t outputs = array_bytes(r->output, r->operation->outputs(r->n, r->bins));
    if (!memory_has(due + outputs))
        return problem(p, STATUS_MEMORY, "request: out of memory for %zu elements of %s", r->n,
                       format_facts[r->storage].name);
    while (found < due) {
        capacity = capacity == 0 ? FIRST : 2 * capacity;
        capacity = capacity < due ? capacity : due;
        char *grown = memory_has(capacity - found) ? realloc(s->body, capacity) : NULL;
        if (!grown)
            return problem(p, STATUS_MEMORY, "request: out of memory after %zu of %zu bytes", found,
                           due);
        s->body = grown;
        size_t got = fread(s->body + found, 1, capacity - found, s->in);
        found += got;
        if (found < capacity)
            break;
    }
    s->next = s->body;
    size_t elements = array_bytes(r->storage, r->n) * operation_arrays(r->operation);
    if (found < elements)
        return problem(p, STATUS_DATA, "request: found %zu of %zu bytes of elements", found,
                       elements);
    return found == due ? STATUS_OK
           : operation_reads_c(r->operation)
               ? problem(p, STATUS_DATA, "request: found %zu of %zu bytes of C", found - elements,
                         due - elements)
               : problem(p, STATUS_DATA, "request: found %zu of %zu keys",
                         (found - elements) / sizeof(uint32_t), r->n);
}

/* Like fread of bytes, from what was gathered where something was. */
static size_t take(struct server *s, void *to, size_t bytes)
{
    if (!s->body)
        return fread(to, 1, bytes, s->in);
    memcpy(to, s->next, bytes);
    s->next += bytes;
    return bytes;
}

/* Sees to it that there is a probe for this request. */
static enum status ready(struct server *s, const struct wire_request *r, struct problem *p)
{
    struct probe_spec spec = {.method = s->method,
                              .device = s->device,
                              .storage = r->storage,
                              .accumulator = r->accumulator,
                              .output = r->output,
                              .n = r->n,
                              .shape = s->shape,
                              .offset = s->offset,
                              .around = (uint8_t)~s->around,
                              .exclusive = r->exclusive,
                              .bins = r->bins,
                              .stride = r->stride,
                              .gemm = r->gemm,
                              .chip = s->chip,
                              .promote = s->promote};
    if (r->operation != s->method->operation)
        return problem(p, STATUS_DATA, "request: found a %s, expected a %s: %s", r->operation->name,
                       s->method->operation->name, s->method->name);
    const struct probe_spec *is = &s->spec;
    if (s->probe && is->storage == spec.storage && is->accumulator == spec.accumulator &&
        is->output == spec.output && is->n == spec.n && is->shape.threads == spec.shape.threads &&
        is->shape.blocks == spec.shape.blocks && is->offset == spec.offset &&
        is->exclusive == spec.exclusive && is->bins == spec.bins && is->stride == spec.stride &&
        shape_equal(&is->gemm, &spec.gemm))
        return STATUS_OK;
    close_probe(s);
    enum status status = gather(s, r, p);
    if (status != STATUS_OK)
        return status;
    size_t outputs = r->operation->outputs(r->n, r->bins);
    status = memory_array(&s->results, r->output, outputs, s->method->name, p);
    if (status == STATUS_OK && operation_reads_c(r->operation))
        status = memory_array(&s->c, r->output, outputs, "C", p);
    if (s->c.data)
        memset(s->c.data, 0, array_bytes(r->output, outputs));
    spec.c = s->c;
    s->spec = spec;
    return status == STATUS_OK ? probe_open(&s->probe, &spec, p) : status;
}

/* The keys of the elements, where there are any, are each below the number of bins. */
static enum status read_keys(struct server *s, struct problem *p)
{
    uint32_t *keys = probe_keys(s->probe);
    size_t n = s->spec.n, found = keys ? take(s, keys, n * sizeof *keys) / sizeof *keys : n;
    if (found < n)
        return problem(p, STATUS_DATA, "request: found %zu of %zu keys", found, n);
    for (size_t i = 0; keys && i < n; i++)
        if (keys[i] >= s->spec.bins)
            return problem(p, STATUS_DATA, "request: key %zu: found %u, expected less than %zu", i,
                           keys[i], s->spec.bins);
    return STATUS_OK;
}

/* C follows where there is one; else it is zeros. */
static enum status read_c(struct server *s, const struct wire_request *r, struct problem *p)
{
    if (!operation_reads_c(r->operation) || request_behind(r) == 0)
        return STATUS_OK;
    if (s->method->no_c)
        return problem(p, STATUS_DATA, "request: found a C of %zu elements, expected none: %s",
                       request_behind(r), s->method->name);
    size_t bytes = request_behind_bytes(r), found = take(s, s->c.data, bytes);
    return found == bytes
               ? STATUS_OK
               : problem(p, STATUS_DATA, "request: found %zu of %zu bytes of C", found, bytes);
}

/* Runs it `runs` times. *time_ns is their total: as a shared object's subject measures it, else by
 * the clock. */
static enum status run_times(struct server *s, size_t runs, uint64_t *time_ns, struct problem *p)
{
    enum status status = STATUS_OK;
    *time_ns = 0;
    for (size_t i = 0; i < runs && status == STATUS_OK; i++) {
        uint64_t begin = clock_ns();
        status = probe_run(s->probe, &s->results, p);
        *time_ns += s->object ? object_time_ns() : clock_ns() - begin;
    }
    return status;
}

/* runs: 0 where no time is asked for. */
static enum status answer(struct server *s, const struct wire_request *r, size_t runs,
                          struct problem *p)
{
    uint64_t time_ns;
    enum status status = ready(s, r, p);
    if (status != STATUS_OK)
        return status;
    struct array in = probe_input(s->probe);
    struct array second = probe_second(s->probe);
    size_t bytes = array_bytes(in.format, in.n), found = take(s, in.data, bytes);
    if (found == bytes && second.data)
        found = take(s, second.data, bytes);
    if (found < bytes)
        return problem(p, STATUS_DATA, "request: found %zu of %zu bytes of elements", found, bytes);
    status = read_keys(s, p);
    if (status == STATUS_OK)
        status = read_c(s, r, p);
    free(s->body);
    s->body = NULL;
    if (status == STATUS_OK)
        status = run_times(s, runs ? runs : 1, &time_ns, p);
    if (status == STATUS_DATA && s->object && object_refused())
        status = p->status = STATUS_FAILED; /* as foreign_declined has it */
    if (status != STATUS_OK)
        return status;
    fwrite(s->results.data, 1, array_bytes(r->output, s->results.n), s->out);
    if (s->timed || runs)
        fwrite(&time_ns, 1, sizeof time_ns, s->out);
    return fflush(s->out) == 0
               ? STATUS_OK
               : problem(p, STATUS_DATA, "standard output: could not be written: %s",
                         strerror(errno));
}

/* A line, without its break. False at the end of the input. */
static bool read_line(struct server *s, char line[WIRE_LINE], struct problem *p)
{
    if (!fgets(line, WIRE_LINE, s->in))
        return false;
    size_t length = strlen(line);
    if (length == 0 || line[length - 1] != '\n')
        problem(p, STATUS_DATA,
                "request: found '%.60s', without a line break: expected a line of "
                "at most %d bytes",
                line, WIRE_LINE - 1);
    else
        line[length - 1] = 0;
    return true;
}

static enum status serve(struct server *s, struct problem *p)
{
    char line[WIRE_LINE];
    struct wire_request r;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && read_line(s, line, p)) {
        const char *request = line;
        size_t runs = 0;
        if (p->status != STATUS_OK || setting(s, line)) {
            status = p->status;
            continue;
        }
        wire_timed(&request, &runs);
        status = wire_parse(&r, request, p);
        if (status == STATUS_OK)
            status = answer(s, &r, runs, p);
    }
    close_probe(s);
    free(s->body);
    return status;
}

static enum status describe(struct server *s, struct problem *p)
{
    json_t *object = method_json(s->method);
    if (!object)
        return problem(p, STATUS_MEMORY, "%s: out of memory", s->method->name);
    json_dumpf(object, s->out, JSON_INDENT(2));
    json_decref(object);
    return fprintf(s->out, "\n") > 0 && fflush(s->out) == 0
               ? STATUS_OK
               : problem(p, STATUS_DATA, "standard output: could not be written: %s",
                         strerror(errno));
}

static enum status run(const struct arguments *a, struct problem *p)
{
    struct server s = {0};
    enum status status = take_channels(&s, p);
    if (status == STATUS_OK)
        status = find(&s, a, p);
    if (status == STATUS_OK && argument_flag(a, "describe"))
        return describe(&s, p);
    if (status == STATUS_OK)
        status = settings(&s, a, p);
    return status == STATUS_OK ? serve(&s, p) : status;
}

const struct verb verb_serve = {
    .name = "serve",
    .operands = "METHOD",
    .least = 1,
    .most = 1,
    .summary = "answers with a method for other programs, over standard input and output",
    .details =
        "A request is one line and N elements, little-endian, without padding; the answer "
        "is the results,\n"
        "in the same way:\n"
        "\n"
        "  sum N STORAGE ACCUMULATOR                              1 element of ACCUMULATOR\n"
        "  (norm, asum, mean, variance, product, minimum, maximum, minimum_number, maximum_number, "
        "argmin,\n"
        "  argmax likewise)\n"
        "  scan N STORAGE ACCUMULATOR inclusive|exclusive OUTPUT  N elements of OUTPUT\n"
        "  dot N STORAGE ACCUMULATOR                              1 element; 2 N are read, x "
        "before y\n"
        "  scatter N STORAGE ACCUMULATOR BINS                     BINS elements; N keys of 4 bytes "
        "are\n"
        "                                                         read after the N elements\n"
        "  rows N STORAGE ACCUMULATOR ROWS STRIDE                 ROWS elements; row r begins at "
        "element\n"
        "                                                         r N/ROWS if STRIDE is 1, at r if "
        "it is\n"
        "                                                         ROWS (a column); between: "
        "batches of\n"
        "                                                         STRIDE\n"
        "  (rowmean, rowvariance, sumexp, logsumexp likewise; of softmax, rmsnorm, layernorm N "
        "elements)\n"
        "  transpose N STORAGE ACCUMULATOR ROWS STRIDE            N elements\n"
        "  gemm N STORAGE ACCUMULATOR OUTPUT ROWS COLUMNS K LAYOUT LDA LDB C\n"
        "                                                         ROWS COLUMNS elements of OUTPUT: "
        "A B + C,\n"
        "                                                         row after row; the N elements "
        "are A,\n"
        "                                                         ROWS x K, and B, K x COLUMNS, by "
        "rows\n"
        "                                                         or (t) by columns, as LAYOUT "
        "says: nn,\n"
        "                                                         nt, tn or tt, LDA and LDB "
        "elements\n"
        "                                                         apart, both padded by\n"
        "                                                         as many; C elements of OUTPUT "
        "follow:\n"
        "                                                         0, or ROWS COLUMNS of them\n"
        "  time R REQUEST                                         the same, followed by the "
        "nanoseconds\n"
        "                                                         of R runs, 8 bytes\n"
        "\n"
        "Formats are fp16, bf16, fp32, fp64; elements may also be e4m3 or e5m2. Requests "
        "follow each other\n"
        "until the input ends. A malformed request ends the program with exit status 3 and "
        "a line on standard\n"
        "error. --method exec:COMMAND speaks this protocol, so exec:'ulpscope serve METHOD' "
        "is the method in a\n"
        "process of its own, and exec:'ssh HOST ulpscope serve METHOD' the method on "
        "another machine. METHOD\n"
        "may also be PATH.so:NAME, a subject of a shared object. Without --threads and "
        "--blocks, or with 0, the\n"
        "method chooses the launch shape; the input begins --offset elements after an "
        "address aligned to 256\n"
        "bytes. --describe prints a description of the method as JSON.",
    .examples = "  printf 'sum 2 fp32 fp32\\n\\0\\0\\200\\077\\0\\0\\0\\100' | ulpscope serve "
                "sum/serial --device cpu | od -An -tf4\n"
                "  ulpscope serve sum/tiled --describe",
    .run = run,
};
