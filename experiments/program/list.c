/* ulpscope list: what there is. Each section is built as JSON; the text is drawn from that. */
#include <jansson.h>
#include <stdio.h>

#include "experiments/cases/experiment.h"
#include "experiments/inputs/input.h"
#include "experiments/system/machine.h"
#include "experiments/program/method_json.h"
#include "experiments/program/verbs.h"
#include "kernels/gpu/gpu.h"

static void list_methods(json_t *to)
{
    for (size_t i = 0; i < method_count; i++)
        json_array_append_new(to, method_json(method_registry[i]));
}

static json_t *parameters_of(const struct input_family *family)
{
    json_t *parameters = json_array();
    for (const struct input_parameter *q = family->parameter; q->name; q++)
        json_array_append_new(parameters, json_pack("{ss sf ss}", "name", q->name, "default",
                                                    q->value, "meaning", q->meaning));
    return parameters;
}

/* In which storage formats an array of 1000 elements with the default parameters is order-safe. */
static json_t *safe_formats(const struct input_family *family)
{
    struct input in = {0};
    json_t *safe = json_array();
    if (input_parse(&in, family->name, NULL) != STATUS_OK)
        return safe;
    for (enum format f = 0; f < FORMATS; f++)
        if (input_order_safe(&in, 1000, 0, f))
            json_array_append_new(safe, json_string(format_facts[f].name));
    return safe;
}

static void list_inputs(json_t *to)
{
    for (size_t i = 0; i < input_family_count + pair_family_count; i++) {
        const struct input_family *family =
            i < input_family_count ? input_families[i] : pair_families[i - input_family_count];
        json_array_append_new(to, json_pack("{ss ss so sb sb sb so}", "name", family->name,
                                            "summary", family->summary, "parameters",
                                            parameters_of(family), "uses_seed", family->uses_seed,
                                            "uses_cond", family->uses_cond, "pair", family->pair,
                                            "order_safe_at_1000", safe_formats(family)));
    }
}

static void list_experiments(json_t *to)
{
    for (size_t i = 0; experiments[i]; i++)
        json_array_append_new(to, json_pack("{ss ss}", "name", experiments[i]->name, "summary",
                                            experiments[i]->summary));
}

static void list_formats(json_t *to)
{
    for (enum format f = 0; f < FORMATS; f++) {
        const struct format_facts *facts = &format_facts[f];
        json_array_append_new(
            to, json_pack("{ss so si si si si sf sf sf sf}", "name", facts->name, "summary",
                          json_sprintf("%d bits, %d of precision, u = 2^-%d, largest %.9g, "
                                       "smallest %.3g",
                                       8 * facts->bytes, facts->precision, facts->precision,
                                       facts->largest, facts->smallest),
                          "bits", 8 * facts->bytes, "precision", facts->precision, "emin",
                          facts->emin, "emax", facts->emax, "unit_roundoff", facts->unit_roundoff,
                          "largest", facts->largest, "smallest_normal", facts->smallest_normal,
                          "smallest", facts->smallest));
    }
}

static void list_devices(json_t *to)
{
    char cpu[MACHINE_TEXT];
    machine_cpu(cpu);
    json_array_append_new(to,
                          json_pack("{ss so}", "name", "cpu", "summary",
                                    json_sprintf("%s, %u processors", cpu, machine_processors())));
    for (int i = 0; i < gpu_count(); i++) {
        struct gpu_facts facts;
        if (gpu_describe(i, &facts, NULL) != STATUS_OK)
            continue;
        json_array_append_new(
            to, json_pack("{so so si so}", "name", json_sprintf("cuda:%d", i), "summary",
                          json_sprintf("%s, %d multiprocessors, compute capability %d.%d, %.1f GiB",
                                       facts.name, facts.multiprocessors, facts.capability_major,
                                       facts.capability_minor, (double)facts.memory_total / 0x1p30),
                          "multiprocessors", facts.multiprocessors, "memory_bytes",
                          json_integer((json_int_t)facts.memory_total)));
    }
}

static const struct section {
    const char *name;
    void (*list)(json_t *to);
} sections[] = {
    {"methods", list_methods}, {"inputs", list_inputs},   {"experiments", list_experiments},
    {"formats", list_formats}, {"devices", list_devices}, {NULL, NULL},
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

enum { NAME_WIDTH = 20, COLUMNS = 120 };

/* The words of a text from column `at` on; lines that follow begin there too. */
static void print_words(const char *text, size_t at)
{
    size_t column = at;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > at && column + 1 + length > COLUMNS) {
            printf("\n%*s", (int)at, "");
            column = at;
        }
        column += (size_t)printf("%s%.*s", column > at ? " " : "", (int)length, text);
        text += length + strspn(text + length, " ");
    }
}

/* What a method adds in, where that is not the accumulator asked for: " (adds in pairs)". */
static void added_in(char text[160], const json_t *method)
{
    const char *accumulator, *last = "";
    json_t *value;
    size_t length = 0;
    *text = 0;
    json_object_foreach(json_object_get(method, "added_in"), accumulator, value)
    {
        const char *in = json_string_value(value);
        size_t name = strlen(accumulator);
        bool other = strncmp(in, accumulator, name) != 0;
        bool format = strlen(in) == name && in[0] != 'n';
        const char *words = other ? in : in + name;
        if (!*words || strcmp(words, "none") == 0 || (!format && strcmp(words, last) == 0))
            continue;
        length += (size_t)snprintf(text + length, 160 - length, "%s%s%s%s",
                                   *last ? ", " : " (adds in ", words + (*words == ' '),
                                   format ? " for " : "", format ? accumulator : "");
        last = words;
    }
    if (length > 0)
        snprintf(text + length, 160 - length, ")");
}

/* A name that is too long for its column has a line of its own. */
static void print_object(const json_t *object)
{
    const char *name = text_of(object, "name"), *promise = text_of(object, "promise");
    char summary[512], adds[160];
    json_t *devices = json_object_get(object, "devices");
    added_in(adds, object);
    snprintf(summary, sizeof summary, "%s%s%s", text_of(object, "summary"), adds,
             devices && json_array_size(devices) == 0 ? " (not in this build)" : "");
    if (strlen(name) > NAME_WIDTH)
        printf("  %s\n  %-*s ", name, NAME_WIDTH, "");
    else
        printf("  %-*s ", NAME_WIDTH, name);
    if (*promise)
        printf("%-17s ", promise);
    print_words(summary, 3 + NAME_WIDTH + (*promise ? 18 : 0));
    printf("\n");
}

static void print_parameters(const json_t *object)
{
    size_t i;
    json_t *parameter;
    json_array_foreach(json_object_get(object, "parameters"), i, parameter) printf(
        "  %-20s   %s=%g: %s\n", "", text_of(parameter, "name"),
        json_real_value(json_object_get(parameter, "default")), text_of(parameter, "meaning"));
}

static void print_section(const char *name, const json_t *objects)
{
    size_t i;
    json_t *object;
    printf("%s:\n", name);
    json_array_foreach(objects, i, object)
    {
        print_object(object);
        print_parameters(object);
    }
}

static json_t *section_objects(const struct section *section, bool kind)
{
    json_t *objects = json_array(), *object;
    size_t i;
    section->list(objects);
    if (kind)
        json_array_foreach(objects, i, object)
            json_object_set_new(object, "kind", json_string(section->name));
    return objects;
}

static enum status run(const struct arguments *a, struct problem *p)
{
    const char *wanted = a->operands ? a->operand[0] : NULL;
    bool json = argument_flag(a, "json"), found = false;
    json_t *all = json_array();
    for (const struct section *s = sections; s->name; s++) {
        if (wanted && strcmp(wanted, s->name) != 0)
            continue;
        json_t *objects = section_objects(s, !wanted);
        if (json)
            json_array_extend(all, objects);
        else
            printf("%s", found ? "\n" : ""), print_section(s->name, objects);
        json_decref(objects);
        found = true;
    }
    if (json && found) {
        json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        printf("\n");
    }
    json_decref(all);
    return found ? STATUS_OK
                 : problem(p, STATUS_USAGE,
                           "list: found '%s', expected methods, inputs, experiments, formats or "
                           "devices",
                           wanted);
}

const struct verb verb_list = {
    .name = "list",
    .operands = "[methods|inputs|experiments|formats|devices]",
    .most = 1,
    .summary = "what there is: methods with their promises, inputs, experiments, formats, devices",
    .examples = "  ulpscope list methods\n"
                "  ulpscope list inputs --json",
    .run = run,
};
