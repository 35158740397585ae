/* Lists of names and numbers, as options give them. */
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "reference/base/grow.h"
#include "experiments/options/options.h"
#include "experiments/options/subject_name.h"
#include "kernels/method/method.h"
#include "reference/format/number.h"
#include "reports/text/near.h"

static enum status no_memory(struct problem *p)
{
    return problem(p, STATUS_MEMORY, "out of memory while reading the command line");
}

enum status list_append(struct list *list, const char *text, size_t length, struct problem *p)
{
    if (!grow(&list->item, list->count, sizeof *list->item))
        return no_memory(p);
    char *copy = strndup(text, length);
    if (!copy)
        return no_memory(p);
    list->item[list->count++] = copy;
    return STATUS_OK;
}

static void unescape(char *word)
{
    char *to = word;
    for (; *word; *to++ = *word++)
        word += word[0] == '\\' && word[1] == ',';
    *to = 0;
}

/* Up to the next comma that is not written `\,`. */
static size_t to_comma(const char *text)
{
    size_t at = 0;
    while (text[at] && text[at] != ',')
        at += text[at] == '\\' && text[at + 1] == ',' ? 2 : 1;
    return at;
}

/* Does a list go on here with the name of a method, rather than a command with what follows its
 * comma? */
static bool names_method(const char *text)
{
    if (name_is_program(text))
        return true;
    char *word = strndup(text, to_comma(text));
    bool named = word && (name_is_foreign(word) || method_named(word));
    free(word);
    return named;
}

static size_t item_length(const char *text)
{
    size_t at = to_comma(text);
    while (name_is_program(text) && text[at] && !names_method(text + at + 1))
        at += 1 + to_comma(text + at + 1);
    return at;
}

static enum status append(struct list *list, const char *text, size_t length, struct problem *p)
{
    enum status status = list_append(list, text, length, p);
    if (status == STATUS_OK)
        unescape(list->item[list->count - 1]);
    return status;
}

enum status list_split(struct list *list, const char *text, struct problem *p)
{
    for (;;) {
        size_t length = item_length(text);
        enum status status = append(list, text, length, p);
        if (status != STATUS_OK || !text[length])
            return status;
        text += length + 1;
    }
}

/* Does the value, commas included, name an existing file? `mark` ends the file's name. */
static bool names_file(const char *value, char mark)
{
    struct stat facts;
    const char *last = strrchr(value, ',');
    bool found = false;
    for (const char *end = value + strlen(value); last && !found && end > last; end--) {
        char *path = !*end || *end == mark ? strndup(value, (size_t)(end - value)) : NULL;
        found = path && stat(path, &facts) == 0;
        free(path);
    }
    return found;
}

static bool is_one_file(const char *name, const char *value)
{
    if (strcmp(name, "data") == 0 || strcmp(name, "scales") == 0)
        return names_file(value, '#');
    if (strcmp(name, "keys") == 0)
        return strncmp(value, "file:", 5) == 0 && names_file(value + 5, 0);
    return strcmp(name, "method") == 0 && name_is_object(value) && names_file(value, ':');
}

static enum status append_value(struct list *list, const char *name, const char *value, bool alone,
                                struct problem *p)
{
    if (is_one_file(name, value))
        return list_append(list, value, strlen(value), p);
    if (!alone && name_is_program(value))
        return append(list, value, strlen(value), p);
    return list_split(list, value, p);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void keep(void *item)
{
    (void)item;
}

enum status list_distinct(struct list *list, struct problem *p)
{
    void *seen = NULL;
    size_t count = 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < list->count; i++) {
        char **found = tsearch(list->item[i], &seen, by_text);
        if (!found)
            status = no_memory(p);
        if (!found || *found == list->item[i])
            list->item[count++] = list->item[i];
        else
            free(list->item[i]);
    }
    list->count = count;
    tdestroy(seen, keep);
    return status;
}

static enum status all_items(const struct arguments *a, const char *name, struct list *list,
                             struct problem *p)
{
    size_t times = 0;
    *list = (struct list){0};
    for (size_t i = 0; i < a->options; i++)
        times += strcmp(a->option[i].spec->name, name) == 0;
    for (size_t i = 0; i < a->options; i++) {
        if (strcmp(a->option[i].spec->name, name) != 0)
            continue;
        size_t first = list->count;
        enum status status = append_value(list, name, a->option[i].value, times == 1, p);
        for (size_t k = first; status == STATUS_OK && k < list->count; k++)
            if (!*list->item[k])
                status = problem(p, STATUS_USAGE,
                                 "option --%s: found an empty item in '%s', expected a name", name,
                                 a->option[i].value);
        if (status != STATUS_OK) {
            list_free(list);
            return status;
        }
    }
    return STATUS_OK;
}

enum status argument_list(const struct arguments *a, const char *name, struct list *list,
                          struct problem *p)
{
    enum status status = all_items(a, name, list, p);
    return status == STATUS_OK ? list_distinct(list, p) : status;
}

enum status argument_items(const struct arguments *a, const char *name, size_t *count,
                           struct problem *p)
{
    struct list all;
    enum status status = all_items(a, name, &all, p);
    *count = status == STATUS_OK ? all.count : 0;
    if (status == STATUS_OK)
        list_free(&all);
    return status;
}

void list_free(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->item[i]);
    free(list->item);
    *list = (struct list){0};
}

/* What the last letter of a number of bytes multiplies it by; 1: it is part of the number. */
static long double unit_of(const char *text, size_t length)
{
    const char last = length > 1 ? text[length - 1] : 0;
    return last == 'k' ? 0x1p10L : last == 'm' ? 0x1p20L : last == 'g' ? 0x1p30L : 1;
}

static enum status read_whole(uint64_t *value, const char *option, const char *text, size_t length,
                              enum range range, uint64_t least, uint64_t most, struct problem *p)
{
    const long double unit = range == RANGE_BYTES ? unit_of(text, length) : 1;
    long double number;
    if (!number_read(&number, text, length - (unit > 1)) || number * unit != floorl(number * unit))
        return problem(p, STATUS_USAGE, "option --%s: found '%.*s', expected a %s", option,
                       (int)length, text,
                       range == RANGE_BYTES ? "number of bytes such as 0, 512k, 32m (MiB) or 2^25"
                                            : "whole number such as 1000, 1e6 or 2^20");
    number *= unit;
    if (!(number >= (long double)least && number <= (long double)most))
        return problem(p, STATUS_USAGE, "option --%s: found %.*s, expected %llu to %llu", option,
                       (int)length, text, (unsigned long long)least, (unsigned long long)most);
    *value = (uint64_t)number;
    return STATUS_OK;
}

static enum status append_number(struct numbers *numbers, const char *option, uint64_t value,
                                 struct problem *p)
{
    enum { NUMBERS_MAX = 1000000 };
    if (numbers->count == NUMBERS_MAX)
        return problem(p, STATUS_USAGE, "option --%s: found more than %d numbers", option,
                       NUMBERS_MAX);
    if (!grow(&numbers->item, numbers->count, sizeof *numbers->item))
        return no_memory(p);
    numbers->item[numbers->count++] = value;
    return STATUS_OK;
}

static enum status append_range(struct numbers *numbers, const char *option, uint64_t from,
                                uint64_t to, enum range range, struct problem *p)
{
    enum status status = STATUS_OK;
    for (uint64_t at = from; status == STATUS_OK && at <= to;) {
        status = append_number(numbers, option, at, p);
        uint64_t next = range == RANGE_EVERY ? at + 1 : 2 * at;
        if (next <= at) /* zero does not double; the largest number has no next */
            break;
        at = next;
    }
    return status;
}

static enum status append_item(struct numbers *numbers, const char *option, const char *text,
                               size_t length, enum range range, uint64_t least, uint64_t most,
                               struct problem *p)
{
    uint64_t from, to;
    const char *dots = memmem(text, length, "..", 2);
    if (!dots) {
        enum status status = read_whole(&from, option, text, length, range, least, most, p);
        return status == STATUS_OK ? append_number(numbers, option, from, p) : status;
    }
    size_t head = (size_t)(dots - text);
    enum status status = read_whole(&from, option, text, head, range, least, most, p);
    if (status == STATUS_OK)
        status = read_whole(&to, option, dots + 2, length - head - 2, range, least, most, p);
    if (status != STATUS_OK)
        return status;
    if (from > to || (from == 0 && range != RANGE_EVERY))
        return problem(p, STATUS_USAGE, "option --%s: found the range '%.*s', expected %s", option,
                       (int)length, text,
                       from > to ? "it to ascend" : "it to start above 0, as it doubles");
    return append_range(numbers, option, from, to, range, p);
}

enum status numbers_parse(struct numbers *numbers, const char *option, const char *text,
                          enum range range, uint64_t least, uint64_t most, struct problem *p)
{
    for (;;) {
        size_t length = strcspn(text, ",");
        enum status status = append_item(numbers, option, text, length, range, least, most, p);
        if (status != STATUS_OK || !text[length])
            return status;
        text += length + 1;
    }
}

enum status argument_numbers(const struct arguments *a, const char *name, enum range range,
                             uint64_t least, uint64_t most, struct numbers *numbers,
                             struct problem *p)
{
    *numbers = (struct numbers){0};
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < a->options; i++)
        if (strcmp(a->option[i].spec->name, name) == 0)
            status = numbers_parse(numbers, name, a->option[i].value, range, least, most, p);
    if (status != STATUS_OK)
        numbers_free(numbers);
    return status;
}

void numbers_free(struct numbers *numbers)
{
    free(numbers->item);
    *numbers = (struct numbers){0};
}

enum status argument_number(const struct arguments *a, const char *name, uint64_t otherwise,
                            uint64_t least, uint64_t most, uint64_t *value, struct problem *p)
{
    const char *text = argument_value(a, name);
    *value = otherwise;
    return text ? read_whole(value, name, text, strlen(text), RANGE_EVERY, least, most, p)
                : STATUS_OK;
}

enum status real_parse(double *value, const char *option, const char *text, struct problem *p)
{
    double number;
    if (!real_read(&number, text, strlen(text)) || !(number > 0))
        return problem(p, STATUS_USAGE,
                       "option --%s: found '%s', expected a positive number below 2^1024, such as "
                       "1000, 0.5, 1e-1 or 2^20",
                       option, text);
    *value = number;
    return STATUS_OK;
}

enum status format_parse(enum format *f, const char *option, const char *text, struct problem *p)
{
    const enum format formats = strcmp(option, "accumulator") == 0 ? ACCUMULATORS : FORMATS;
    char names[128] = "";
    *f = format_named(text);
    if (*f < formats)
        return STATUS_OK;
    for (enum format i = 0; i < formats; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s",
                 i == 0             ? ""
                 : i + 1 == formats ? " or "
                                    : ", ",
                 format_facts[i].name);
    }
    return near_unknown_option(p, option, text, names);
}
