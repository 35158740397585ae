/* A name that is none: what is there instead is said, and all of it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "experiments/subjects/subject.h"

static void refused(struct problem *p, const char *name, const struct operation *operation)
{
    static const char last[] = "; or exec:COMMAND, python:FUNCTION, or PATH.so:NAME";
    const struct method *m;
    *p = (struct problem){0};
    cr_expect(subject_named(&m, "check", name, operation, p) == STATUS_USAGE, "%s", name);
    size_t length = strlen(p->text);
    cr_expect(length >= strlen(last) && strcmp(p->text + length - strlen(last), last) == 0,
              "%s: %s", name, p->text);
}

static bool says(const struct problem *p, const char *name, const char *end)
{
    char word[80];
    snprintf(word, sizeof word, " %s%s", name, end);
    return strstr(p->text, word);
}

Test(subject, says_which_there_are_of_a_family)
{
    struct problem p;
    for (size_t i = 0; i < method_count; i++) {
        char name[80];
        const char *slash = strchr(method_registry[i]->name, '/');
        int length = (int)(slash - method_registry[i]->name) + 1;
        snprintf(name, sizeof name, "%.*sbogus", length, method_registry[i]->name);
        refused(&p, name, NULL);
        for (size_t k = 0; k < method_count; k++) {
            const char *other = method_registry[k]->name;
            bool due = strncmp(other, name, (size_t)length) == 0;
            bool said = says(&p, other, ",") || says(&p, other, ";");
            cr_expect(said == due, "%s: %s: %s", name, other, p.text);
        }
    }
}

Test(subject, says_which_families_there_are)
{
    struct problem p;
    static const char *const names[] = {"bogus", "bogus/tiled", "/", "tiled"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        refused(&p, names[i], NULL);
        for (size_t k = 0; k < method_count; k++) {
            char family[80];
            const char *other = method_registry[k]->name;
            snprintf(family, sizeof family, " %.*s...", (int)(strchr(other, '/') - other) + 1,
                     other);
            const char *at = strstr(p.text, family);
            cr_expect(at && !strstr(at + 1, family), "%s: %s: %s", names[i], family, p.text);
        }
    }
    refused(&p, "norm/tiled2", &operation_scan);
    cr_expect(strstr(p.text, "expected one of scan/..., "), "%s", p.text);
    cr_expect_null(strstr(p.text, "sum/"), "%s", p.text);
}
