#include "experiments/check/reproducer/reproducer.h"

#include <stdio.h>
#include <string.h>

#include "experiments/options/options.h"
#include "experiments/options/subject_name.h"
#include "experiments/subjects/foreign.h"
#include "experiments/subjects/release_cublas.h"
#include "experiments/system/machine.h"
#include "kernels/gpu/gpu.h"
#include "reference/format/number.h"
#include "reports/text/file.h"

enum status reproducer_asked(const struct arguments *a, const struct method *m, size_t devices,
                             struct problem *p)
{
    if (!argument_value(a, "reproducer"))
        return STATUS_OK;
    if (argument_flag(a, "all") || a->operands != 1 || devices != 1)
        return problem(p, STATUS_USAGE,
                       "check --reproducer: found several subjects or devices, expected one");
    bool lent = name_is_python(m->name) && !foreign_restarts(m);
    if ((name_is_foreign(m->name) && !name_is_mpi(m->name) && !lent) || reproducer_calls(m))
        return STATUS_OK;
    return problem(p, STATUS_USAGE,
                   "check --reproducer: found %s, expected PATH.so:NAME, exec:COMMAND, "
                   "python:FUNCTION, or a library's call: cub/sum, cub/sum_run_to_run, "
                   "cub/sum_gpu_to_gpu, cub/sum_not_guaranteed, cub/sum_by_key, cub/reduce_by_key, "
                   "cub/scan, thrust/sum, thrust/scan, cublas/sum_by_dot, cublas/sum_by_dot_16, "
                   "cublas/dot_product, cublas/norm, "
                   "cublas/l1_norm",
                   m->name);
}

void reproducer_say(struct text *to, const char *file, const struct reproducer_said *said)
{
    struct text name = {0};
    text_visible(&name, file);
    text_format(
        to, said->found ? "reproducer: %s\n" : "reproducer: %s is not written, nothing was found\n",
        text_string(&name) ? text_string(&name) : "");
    text_free(&name);
    struct text line = {0};
    text_format(&line, "  %s", said->words);
    if (said->found)
        text_wrapped(to, &line, 80, 2);
    text_free(&line);
}

enum status reproducer_save(const char *file, struct text *text, struct problem *p)
{
    const char *string = text_string(text);
    return string ? file_replace(file, string, text->length, p)
                  : problem(p, STATUS_MEMORY, "check --reproducer: out of memory");
}

enum status reproducer_write(struct text *to, const struct reproducer *r, struct problem *p)
{
    if (r->n * operation_arrays(r->method->operation) > REPRODUCER_ELEMENTS)
        return problem(p, STATUS_USAGE,
                       "check --reproducer: the shortest input found has %zu elements, expected at "
                       "most %d: ask for fewer with --n",
                       r->n, REPRODUCER_ELEMENTS);
    if (r->load && r->device.kind == DEVICE_CUDA)
        return problem(p, STATUS_USAGE,
                       "check --reproducer: the break was seen while the GPU had other work, which "
                       "is not reproduced; look for another with --only");
    if (name_is_program(r->method->name) || name_is_python(r->method->name))
        return reproducer_python(to, r, p);
    return reproducer_calls(r->method) || r->device.kind == DEVICE_CUDA ? reproducer_cuda(to, r, p)
                                                                        : reproducer_c(to, r, p);
}

size_t reproducer_arrays(const struct reproducer *r)
{
    return !r->possible && (r->run[1].in != r->run[0].in || r->run[1].keys != r->run[0].keys) ? 2
                                                                                              : 1;
}

/* What a comment holds, whatever it is. */
void reproducer_comment(struct text *to, const char *prefix, const char *string)
{
    struct text shown = {0};
    text_visible(&shown, string);
    const char *at = text_string(&shown);
    text_append(to, prefix, strlen(prefix) - !*string);
    for (; at && *at; at++) {
        text_append(to, at, 1);
        if ((at[0] == '*' && at[1] == '/') || (at[0] == '/' && at[1] == '*'))
            text_add(to, " ");
    }
    text_add(to, "\n");
    text_free(&shown);
}

/* What compiled the object, as it says itself. */
static void object_compiler(char compiler[128], const char *name)
{
    static const char *const says[] = {"GCC: (", "clang version "};
    char path[4096];
    snprintf(path, sizeof path, "%s", name);
    char *end = strstr(path, ".so:");
    if (end)
        end[3] = 0;
    FILE *file = fopen(path, "re");
    char block[1 << 14];
    size_t kept = 0, got;
    *compiler = 0;
    while (file && !*compiler && (got = fread(block + kept, 1, sizeof block - kept, file)) > 0) {
        size_t length = kept + got;
        for (size_t i = 0; i < sizeof says / sizeof *says && !*compiler; i++) {
            const char *at = memmem(block, length, says[i], strlen(says[i]));
            size_t left = at ? length - (size_t)(at - block) : 0;
            if (at && memchr(at, 0, left) && *at)
                snprintf(compiler, 128, "%s", at);
        }
        kept = length < 128 ? length : 128;
        memmove(block, block + length - kept, kept);
    }
    if (file)
        fclose(file);
}

static void facts(struct text *to, const struct reproducer *r, const char *prefix)
{
    const json_t *told = foreign_facts(r->method);
    const char *fingerprint = foreign_fingerprint(r->method);
    char line[512], compiler[128];
    if (fingerprint) {
        object_compiler(compiler, r->method->name);
        snprintf(line, sizeof line, "object: XXH3-128 %s%s%s", fingerprint,
                 *compiler ? ", compiled by " : "", compiler);
        reproducer_comment(to, prefix, line);
    }
    if (told) {
        char *flags = json_dumps(json_object_get(told, "flags"), JSON_COMPACT);
        const char *cuda = json_string_value(json_object_get(told, "cuda"));
        snprintf(line, sizeof line, "library: %s %s, Python %s%s%s%s%s",
                 json_string_value(json_object_get(told, "array")),
                 json_string_value(json_object_get(told, "version")),
                 json_string_value(json_object_get(told, "python")), cuda && *cuda ? ", CUDA " : "",
                 cuda ? cuda : "", flags && strcmp(flags, "{}") != 0 ? ", " : "",
                 flags && strcmp(flags, "{}") != 0 ? flags : "");
        reproducer_comment(to, prefix, line);
        free(flags);
    }
    if (!r->method->foreign) {
        const char *cublas = gpu_cublas(), *at = strchr(r->method->name, '@');
        const char *cccl = at && !method_of_cublas(r->method) ? at + 1 : build_cccl;
        snprintf(line, sizeof line, "library: CUDA %s%s%s%s%s, compiled by %s",
                 gpu_build() ? gpu_build() : "not in this build", *cccl ? ", CCCL " : "", cccl,
                 cublas ? ", cuBLAS " : "", cublas ? cublas : "",
                 *build_cuda_compiler ? build_cuda_compiler : "nothing");
        reproducer_comment(to, prefix, line);
    }
}

static void machine(struct text *to, const struct reproducer *r, const char *prefix)
{
    char cpu[MACHINE_TEXT], system[MACHINE_TEXT], line[3 * MACHINE_TEXT];
    struct gpu_facts gpu;
    machine_cpu(cpu);
    machine_system(system);
    snprintf(line, sizeof line, "machine: %s, %s", cpu, system);
    reproducer_comment(to, prefix, line);
    if (r->device.kind == DEVICE_CUDA && gpu_describe(r->device.index, &gpu, NULL) == STATUS_OK) {
        snprintf(line, sizeof line, "device: %s, compute capability %d.%d, the driver's CUDA %s",
                 gpu.name, gpu.capability_major, gpu.capability_minor, gpu_driver());
        reproducer_comment(to, prefix, line);
    }
}

void reproducer_head(struct text *to, const struct reproducer *r, const char *prefix)
{
    char line[512];
    reproducer_comment(to, prefix, r->title);
    snprintf(line, sizeof line, "Found: %s; and %s.", r->words[0], r->words[1]);
    reproducer_comment(to, prefix, line);
    reproducer_comment(
        to, prefix, "Exit status: 1 where this is seen, 0 where it is not, 2 for other failures.");
    reproducer_comment(to, prefix, "");
    facts(to, r, prefix);
    machine(to, r, prefix);
    snprintf(line, sizeof line,
             "written by ulpscope %s (commit %s), which found it by:", build_version, build_commit);
    reproducer_comment(to, prefix, line);
    struct text command = {0};
    text_format(&command, "    %s", r->command ? r->command : "ulpscope check");
    if (text_string(&command))
        reproducer_comment(to, prefix, text_string(&command));
    text_free(&command);
}

static void element(char word[NUMBER_TEXT + 16], const struct array *a, size_t i, bool python)
{
    char number[NUMBER_TEXT];
    double x = array_get(a, i);
    bool narrow = a->format != FP32 && a->format != FP64;
    number_hex(number, x);
    if (python)
        strcpy(word, number);
    else if (narrow)
        snprintf(word, NUMBER_TEXT + 16, "0x%0*llx", 2 * (int)format_facts[a->format].bytes,
                 (unsigned long long)array_bits(a, i));
    else if (x != x)
        strcpy(word, "NAN");
    else if (x - x != 0)
        strcpy(word, x > 0 ? "INFINITY" : "-INFINITY");
    else
        snprintf(word, NUMBER_TEXT + 16, "%s%s", number, a->format == FP32 ? "f" : "");
}

void reproducer_elements(struct text *to, const struct array *a, bool python)
{
    enum { WIDTH = 100 };
    size_t column = WIDTH;
    for (size_t i = 0; i < a->n; i++) {
        char word[NUMBER_TEXT + 16];
        element(word, a, i, python);
        size_t length = strlen(word) + (python ? 1 : 2);
        if (column + length > WIDTH) {
            text_add(to, "\n   ");
            column = 3;
        }
        text_format(to, " %s%s", word, python ? "" : ",");
        column += length;
    }
}

void reproducer_quoted(struct text *to, const char *string)
{
    text_add(to, "\"");
    for (; *string; string++) {
        unsigned char c = (unsigned char)*string;
        if (c == '"' || c == '\\')
            text_format(to, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            text_format(to, "\\%03o", c);
        else
            text_append(to, string, 1);
    }
    text_add(to, "\"");
}
