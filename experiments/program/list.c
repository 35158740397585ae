/* ulpscope list: what there is. Each section is built as JSON; the text is drawn from that. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "experiments/cases/experiment.h"
#include "experiments/inputs/input.h"
#include "experiments/system/machine.h"
#include "experiments/program/list_chips.h"
#include "experiments/program/method_json.h"
#include "experiments/program/verbs.h"
#include "kernels/gpu/gpu.h"
#include "reports/columns/columns.h"
#include "reports/text/near.h"
#include "reports/text/table.h"

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
    for (int i = 0; i < gpu_count(false); i++) {
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

/* The options that each operation reads, its methods, and the experiments that run them. */
static void list_operations(json_t *to)
{
    for (size_t i = 0; operations[i]; i++) {
        const struct operation *o = operations[i];
        json_t *options = json_array(), *methods = json_array(), *studies = json_array();
        for (size_t k = 0; k < SETTING_OPTIONS; k++)
            if (operation_asks(o, (enum setting_option)k))
                json_array_append_new(options, json_sprintf("--%s", setting_options[k].name));
        for (size_t k = 0; k < method_count; k++)
            if (method_registry[k]->operation == o)
                json_array_append_new(methods, json_string(method_registry[k]->name));
        for (size_t k = 0; experiments[k]; k++)
            if (experiment_takes(experiments[k], o))
                json_array_append_new(studies, json_string(experiments[k]->name));
        json_array_append_new(
            to, json_pack("{ss ss si ss? sb ss so so so}", "name", o->name, "summary", o->summary,
                          "arrays", (int)operation_arrays(o), "takes", operation_takes(o),
                          "makes_array", operation_makes_array(o), "exact", exact_facts[o->of].name,
                          "options", options, "methods", methods, "experiments", studies));
    }
}

static json_t *named(const json_t *objects, const char *name)
{
    size_t i;
    json_t *object;
    json_array_foreach (objects, i, object) {
        if (strcmp(json_string_value(json_object_get(object, "name")), name) == 0)
            return object;
    }
    return NULL;
}

static void add_columns(json_t *to, const char *file, column_at *column, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!named(to, column(i)->name))
            json_array_append_new(to, json_pack("{ss ss ss ss}", "name", column(i)->name, "summary",
                                                column(i)->meaning, "unit", column(i)->unit, "file",
                                                file));
}

/* Each name once, with the first file that has it. */
static void list_columns(json_t *to)
{
    for (enum columns_of of = 0; of < COLUMNS_KINDS; of++)
        add_columns(to, "results.csv", results_column_of(of), results_columns(of));
    for (enum columns_of of = 0; of < COLUMNS_KINDS; of++)
        add_columns(to, "summary.csv", summary_column_of(of), summary_columns(of));
    add_columns(to, "profile.csv", profile_column, PROFILE_COLUMNS);
    add_columns(to, "times.csv", bench_column, BENCH_COLUMNS);
    add_columns(to, "recommend.csv", recommend_column, RECOMMEND_COLUMNS);
    add_columns(to, "trial.csv", check_column, CHECK_COLUMNS);
    add_columns(to, "steps.csv", steps_column, STEPS_COLUMNS);
    add_columns(to, "scales.csv", scales_column, SCALES_COLUMNS);
    add_columns(to, "compare --out", compare_column, COMPARE_COLUMNS);
}

static void print_operations(const char *section, const json_t *objects);

static const struct section {
    const char *name;
    void (*list)(json_t *to);
    void (*print)(const char *section, const json_t *objects); /* NULL: print_section */
} sections[] = {
    {"methods", list_methods, NULL},
    {"inputs", list_inputs, NULL},
    {"experiments", list_experiments, NULL},
    {"formats", list_formats, NULL},
    {"devices", list_devices, NULL},
    {"operations", list_operations, print_operations},
    {"chips", list_chips, print_chips},
    {"columns", list_columns, NULL},
    {NULL, NULL, NULL},
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

enum { NAME_WIDTH = 20, MANY = 150 };

/* The words of a text from column `at` on; lines that follow begin there too. */
static void print_words(const char *text, size_t at)
{
    size_t column = at;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > at && column + 1 + length > TABLE_COLUMNS) {
            printf("\n%*s", (int)at, "");
            column = at;
        }
        column += (size_t)printf("%s%.*s", column > at ? " " : "", (int)length, text);
        text += length + strspn(text + length, " ");
    }
}

/* What stands behind the accumulator in added_in, as a sentence has it. */
static const char *addition_says(const char *words)
{
    static const char *const says[][2] = {{"pairs", "keeps sums as pairs of numbers"},
                                          {"triples", "keeps sums as three numbers"},
                                          {"4-tuples", "keeps sums as four numbers"},
                                          {"5-tuples", "keeps sums as five numbers"},
                                          {"then pairs", "keeps sums of tiles as pairs of numbers"},
                                          {"bins", "keeps sums in bins"},
                                          {"exact", "adds exactly"},
                                          {"undocumented", "what it adds in is not documented"}};
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        if (strcmp(words, says[i][0]) == 0)
            return says[i][1];
    return NULL;
}

/* What a method adds in, where that is not the accumulator asked for: " (adds in fp32 for fp16)".
 */
static void added_in(char text[160], const json_t *method)
{
    const char *accumulator, *last = "";
    json_t *value;
    size_t length = 0;
    *text = 0;
    json_object_foreach (json_object_get(method, "added_in"), accumulator, value) {
        const char *in = json_string_value(value);
        size_t name = strlen(accumulator);
        bool other = strncmp(in, accumulator, name) != 0;
        bool format = strlen(in) == name && in[0] != 'n';
        const char *words = other ? in : in + name + (in[name] == ' ');
        if (!*words || strcmp(words, "none") == 0 || (!format && strcmp(words, last) == 0))
            continue;
        const char *says = addition_says(words);
        length += (size_t)snprintf(text + length, 160 - length, "%s%s%s%s%s", *last ? ", " : " (",
                                   says || *last ? "" : "adds in ", says ? says : words,
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
    json_array_foreach (json_object_get(object, "parameters"), i, parameter) {
        int at = printf("  %-20s   %s=%g: ", "", text_of(parameter, "name"),
                        json_real_value(json_object_get(parameter, "default")));
        print_words(text_of(parameter, "meaning"), (size_t)at);
        printf("\n");
    }
}

static void print_operations(const char *section, const json_t *objects)
{
    size_t i, k;
    json_t *object, *option;
    printf("%s:\n", section);
    json_array_foreach (objects, i, object) {
        print_object(object);
        json_t *options = json_object_get(object, "options");
        if (json_array_size(options) > 0)
            printf("  %-20s   options:", "");
        json_array_foreach (options, k, option) {
            printf(" %s", json_string_value(option));
        }
        if (json_array_size(options) > 0)
            printf("\n");
    }
}

/* Families in a row whose methods have the same names, which share a line. */
struct families {
    struct text heads, names, all;
};

static void end_line(struct families *f)
{
    struct text line = {0};
    if (f->names.length) {
        text_format(&line, "  %s%s", f->heads.length ? text_string(&f->heads) : "",
                    text_string(&f->names) + (f->heads.length ? 0 : 1));
        text_wrapped(&f->all, &line, TABLE_COLUMNS, f->heads.length ? 4 : 2);
    }
    text_free(&f->heads);
    text_free(&f->names);
}

static void add_family(struct families *f, size_t length, const char *name, struct text *names)
{
    if (!f->names.length || strcmp(text_string(&f->names), text_string(names)) != 0) {
        end_line(f);
        f->names = *names;
    } else {
        text_free(names);
    }
    text_format(&f->heads, "%s%.*s", f->heads.length ? " " : "", (int)length, name);
    *names = (struct text){0};
}

/* The names of a section; of methods a line for each family, with a * where this build lacks them.
 */
static void print_names(const char *section, const json_t *objects)
{
    size_t i, family = 0;
    json_t *object;
    struct text names = {0};
    struct families f = {0};
    const char *last = "";
    printf("%s (ulpscope list %s says more):\n", section, section);
    bool families = strchr(text_of(json_array_get(objects, 0), "name"), '/') != NULL;
    if (!families && json_array_size(objects) > MANY) {
        printf("  %zu, in results.csv and the files beside it\n", json_array_size(objects));
        return;
    }
    json_array_foreach (objects, i, object) {
        const char *name = text_of(object, "name"), *slash = strchr(name, '/');
        json_t *devices = json_object_get(object, "devices");
        size_t length = slash ? (size_t)(slash - name) + 1 : 0;
        if (names.length && (length != family || strncmp(name, last, length) != 0))
            add_family(&f, family, last, &names);
        family = length;
        last = name;
        text_format(&names, " %s%s", name + length,
                    devices && json_array_size(devices) == 0 ? "*" : "");
    }
    if (names.length)
        add_family(&f, family, last, &names);
    end_line(&f);
    fputs(text_string(&f.all) ? f.all.data : "", stdout);
    text_free(&f.all);
}

static void print_section(const char *name, const json_t *objects)
{
    size_t i;
    json_t *object;
    printf("%s:\n", name);
    json_array_foreach (objects, i, object) {
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
        json_array_foreach (objects, i, object)
            json_object_set_new(object, "kind", json_string(section->name));
    return objects;
}

/* Those of a section that have this name, or are methods of this family. */
static json_t *matching(const json_t *objects, const char *wanted)
{
    size_t i, length = strlen(wanted);
    json_t *object, *found = json_array();
    json_array_foreach (objects, i, object) {
        const char *name = text_of(object, "name");
        bool family = strncmp(name, wanted, length) == 0 && name[length] == '/';
        if (family || strcmp(name, wanted) == 0)
            json_array_append(found, object);
    }
    return found;
}

/* What is there by that name. */
static enum status list_one(const char *wanted, bool json, struct problem *p)
{
    json_t *all = json_array(), *object;
    struct near near = {.word = wanted};
    struct text meant = {0};
    for (const struct section *s = sections; s->name; s++) {
        size_t i;
        json_t *objects = section_objects(s, true), *found = matching(objects, wanted);
        near_try(&near, s->name);
        json_array_foreach (objects, i, object)
            near_try(&near, text_of(object, "name"));
        if (!json && json_array_size(found) > 0)
            (s->print ? s->print : print_section)(s->name, found);
        if (near.found) { /* it may be of these objects */
            text_clear(&meant);
            text_add(&meant, near.found);
            near.found = text_string(&meant);
        }
        json_array_extend(all, found);
        json_decref(found);
        json_decref(objects);
    }
    enum status status = STATUS_OK;
    if (json_array_size(all) == 0)
        status =
            near.found
                ? problem(p, STATUS_USAGE, "list: found '%s': did you mean %s?", wanted, near.found)
                : problem(p, STATUS_USAGE,
                          "list: found '%s', expected methods, inputs, experiments, formats, "
                          "devices, operations, chips or columns, or the name of one of these",
                          wanted);
    else if (json)
        json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)), printf("\n");
    text_free(&meant);
    json_decref(all);
    return status;
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
            printf("%s", found ? "\n" : ""), (!wanted && !table_wide() ? print_names
                                              : s->print               ? s->print
                                                         : print_section)(s->name, objects);
        json_decref(objects);
        found = true;
    }
    if (json && found) {
        json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        printf("\n");
    }
    json_decref(all);
    return found ? STATUS_OK : list_one(wanted, json, p);
}

static void put_once(json_t *said, const char *name)
{
    if (*name && !json_object_get(said, name) && json_object_set_new(said, name, json_true()) == 0)
        printf("%s\n", name);
}

void list_put_names(void)
{
    json_t *said = json_object(), *object;
    for (const struct section *s = sections; s->name; s++) {
        size_t i;
        json_t *objects = s->list == list_devices ? json_array() : section_objects(s, false);
        put_once(said, s->name);
        json_array_foreach (objects, i, object) {
            const char *name = text_of(object, "name");
            char family[64];
            snprintf(family, sizeof family, "%.*s", (int)strcspn(name, "/"), name);
            put_once(said, family);
            put_once(said, name);
        }
        json_decref(objects);
    }
    json_decref(said);
}

const struct verb verb_list = {
    .name = "list",
    .operands = "[SECTION|NAME]",
    .most = 1,
    .summary =
        "what there is: methods, inputs, experiments, formats, devices, operations, chips, columns",
    .details =
        "Sections: methods, inputs, experiments, formats, devices, operations, chips, columns.\n"
        "Without an argument: names only, grouped; --wide says all about them. The name of "
        "an entry, or of a\n"
        "family of methods (sum), lists that alone. *: not in this build.",
    .examples = "  ulpscope list methods\n"
                "  ulpscope list sum\n"
                "  ulpscope list operations --json\n"
                "  ulpscope list err_ulp\n"
                "  ulpscope list h100\n"
                "  ulpscope list inputs --json",
    .run = run,
};
