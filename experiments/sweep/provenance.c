#include "experiments/sweep/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "experiments/cases/experiment.h"
#include "experiments/subjects/foreign.h"
#include "experiments/subjects/mpi.h"
#include "experiments/subjects/subject.h"
#include "experiments/system/machine.h"
#include "kernels/gpu/gpu.h"
#include "reports/columns/columns.h"
#include "reports/results/study.h"

/* Shared objects by their names, with the fingerprints of their files; NULL where there are none.
 */
static json_t *objects(const struct axes *axes)
{
    json_t *object = NULL;
    for (size_t i = 0; i < axes->methods; i++) {
        const char *fingerprint = subject_fingerprint(axes->method[i]);
        if (fingerprint && !object)
            object = json_object();
        if (fingerprint)
            json_object_set_new(object, axes->method[i]->name, json_string(fingerprint));
    }
    return object;
}

/* Files of keys by the column `keys`, with the hash of what they hold; NULL where there are none.
 * Of files of one name that differ, no hash. */
static json_t *keys_files(const struct axes *axes)
{
    json_t *object = NULL;
    for (size_t i = 0; i < axes->setting.keys; i++) {
        const struct keys *k = &axes->setting.key[i];
        if (!*k->hash)
            continue;
        object = object ? object : json_object();
        const char *before = json_string_value(json_object_get(object, k->name));
        json_object_set_new(object, k->name,
                            json_string(before && strcmp(before, k->hash) != 0 ? "" : k->hash));
    }
    return object;
}

/* Functions of Python by their names, with what their processes say of them; NULL where there are
 * none. */
static json_t *functions(const struct axes *axes)
{
    json_t *object = NULL;
    for (size_t i = 0; i < axes->methods; i++) {
        const json_t *facts = foreign_facts(axes->method[i]);
        if (facts && !object)
            object = json_object();
        if (facts)
            json_object_set_new(object, axes->method[i]->name, json_deep_copy(facts));
    }
    return object;
}

void provenance_changed(const struct axes *axes, const json_t *study, const char *path,
                        void (*note)(void *context, const char *line), void *context)
{
    for (size_t i = 0; i < axes->methods; i++) {
        const char *name = axes->method[i]->name, *object = subject_fingerprint(axes->method[i]);
        const char *is =
            object ? object
                   : json_string_value(json_object_get(foreign_facts(axes->method[i]), "sha256"));
        const json_t *of = json_object_get(study, object ? "objects" : "python");
        const json_t *there = json_object_get(of, name);
        const char *was = json_string_value(object ? there : json_object_get(there, "sha256"));
        char line[1000];
        if (!was || !is || strcmp(was, is) == 0)
            continue;
        snprintf(line, sizeof line,
                 "run: %.300s: its file is not the one that %.300s used: found %s %s, there %s",
                 name, path, object ? "XXH3-128" : "sha256", is, was);
        note(context, line);
    }
}

void provenance_moment(json_t *study, const char *name)
{
    struct timespec now;
    struct tm utc;
    char second[32] = "", text[48];
    clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &utc))
        strftime(second, sizeof second, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text, sizeof text, "%s.%03dZ", second, (int)(now.tv_nsec / 1000000));
    json_object_set_new(study, name, json_string(text));
}

void provenance_hosts(json_t *study, const struct method *const *method, size_t methods)
{
    json_t *all = json_object_get(study, "hosts");
    for (size_t i = 0; i < methods; i++) {
        json_t *hosts = mpi_hosts(method[i]), *before = json_object_get(all, method[i]->name);
        if (hosts && !all) {
            all = json_object();
            json_object_set_new(study, "hosts", all);
        }
        const char *ranks;
        json_t *now;
        json_object_foreach (hosts, ranks, now) {
            /* Of a study that was taken up elsewhere the fewer: not all of it ran on more. */
            json_t *was = json_object_get(before, ranks);
            if (before && (!was || json_integer_value(now) < json_integer_value(was)))
                json_object_set(before, ranks, now);
        }
        if (hosts && !before)
            json_object_set(all, method[i]->name, hosts);
        json_decref(hosts);
    }
}

/* "2026-01-31T12:34:56Z". */
static json_t *now_text(void)
{
    char text[32] = "";
    struct tm utc;
    time_t now = time(NULL);
    if (gmtime_r(&now, &utc))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json_string(text);
}

static json_t *program(void)
{
    return json_pack("{ss ss ss ss ss ss ss ss ss}", "version", build_version, "commit",
                     build_commit, "build_type", build_type, "compiler", build_compiler, "flags",
                     build_flags, "cuda_compiler", build_cuda_compiler, "cccl", build_cccl,
                     "cuda_flags", build_cuda_flags, "cuda_architectures",
                     build_cuda_architectures);
}

/* Those that the study runs on. */
static json_t *gpus(const struct axes *axes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < axes->devices; i++) {
        struct gpu_facts facts;
        char name[DEVICE_TEXT];
        if (axes->device[i].kind != DEVICE_CUDA ||
            gpu_describe(axes->device[i].index, &facts, NULL) != STATUS_OK)
            continue;
        device_name(axes->device[i], name);
        json_array_append_new(
            list,
            json_pack("{ss ss so si so}", "device", name, "name", facts.name, "compute_capability",
                      json_sprintf("%d.%d", facts.capability_major, facts.capability_minor),
                      "multiprocessors", facts.multiprocessors, "memory_bytes",
                      json_integer((json_int_t)facts.memory_total)));
    }
    return list;
}

/* To load cuBLAS, or to ask the driver, takes longer than a small study, and each of many ranks
 * would do it: only where a GPU is used. */
static bool uses_gpu(const struct axes *axes)
{
    bool does = false;
    for (size_t i = 0; i < axes->devices; i++)
        does |= axes->device[i].kind == DEVICE_CUDA;
    return does;
}

static json_t *machine(const struct axes *axes)
{
    char cpu[MACHINE_TEXT], system[MACHINE_TEXT];
    bool gpu = uses_gpu(axes);
    const char *cublas = gpu ? gpu_cublas() : NULL;
    machine_cpu(cpu);
    machine_system(system);
    return json_pack("{ss si so ss so ss* ss ss ss}", "cpu", cpu, "processors",
                     (int)machine_processors(), "memory_bytes",
                     json_integer((json_int_t)machine_memory()), "system", system, "gpus",
                     gpus(axes), "visible_devices", getenv("CUDA_VISIBLE_DEVICES"), "cuda_driver",
                     gpu ? gpu_driver() : "not looked for: no GPU is used", "cuda_runtime",
                     gpu_build() ? gpu_build() : "", "cublas", cublas ? cublas : "");
}

json_t *provenance_arguments(int argc, char **argv)
{
    json_t *list = json_array();
    for (int i = 0; i < argc; i++) {
        json_array_append_new(list, study_path(argv[i]));
    }
    return list;
}

json_t *provenance_study(const struct axes *axes, int argc, char **argv)
{
    return provenance_words(axes, axes_json(axes), argc, argv);
}

json_t *provenance_words(const struct axes *axes, json_t *axes_words, int argc, char **argv)
{
    return json_pack("{si ss so so* so* so* so so so so so}", "schema_version", SCHEMA_VERSION,
                     "experiment", axes->experiment->name, "axes", axes_words, "objects",
                     objects(axes), "python", functions(axes), "keys", keys_files(axes),
                     "arguments", provenance_arguments(argc, argv), "program", program(), "machine",
                     machine(axes), "inputs", json_object(), "started", now_text());
}

void provenance_shard(json_t *study, struct shard shard)
{
    char text[SHARD_TEXT];
    shard_text(text, shard);
    if (study && shard.count > 0)
        json_object_set_new(study, "shard", json_string(text));
}

void provenance_resumed(json_t *study, const struct axes *axes, int argc, char **argv)
{
    json_t *list = json_object_get(study, "resumed");
    if (!list) {
        list = json_array();
        json_object_set_new(study, "resumed", list);
    }
    json_array_append_new(list, json_pack("{so so so so}", "started", now_text(), "arguments",
                                          provenance_arguments(argc, argv), "program", program(),
                                          "machine", machine(axes)));
}
