/* The reports that others read: JUnit's XML, Markdown. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/gate/gate.h"
#include "reference/base/visible.h"
#include "reports/text/file.h"

/* U+FFFE and U+FFFF are no characters of XML 1.0. */
static bool is_no_character(const char *at)
{
    return memcmp(at, "\xef\xbf\xbe", 3) == 0 || memcmp(at, "\xef\xbf\xbf", 3) == 0;
}

/* What is not to be shown stands as \xHH, as everywhere; and so does what XML has no character for.
 */
static void xml(struct text *to, const char *words)
{
    static const char special[] = "&<>\"'", *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;",
                                                               "&apos;"};
    for (size_t bytes; *words; words += bytes) {
        const char *is = strchr(special, *words);
        bytes = visible_character(words);
        if (is)
            text_add(to, entity[is - special]);
        else if (bytes == 0 || (bytes == 3 && is_no_character(words)))
            text_format(to, "\\x%02x", (unsigned char)*words);
        else
            text_append(to, words, bytes);
        if (bytes == 0 || (bytes == 3 && is_no_character(words)))
            bytes = 1;
    }
}

static void attribute(struct text *to, const char *name, const char *value)
{
    text_format(to, " %s=\"", name);
    xml(to, value);
    text_add(to, "\"");
}

static void add_case(struct text *to, const struct gate_entry *e)
{
    const struct gate_result *r = &e->result;
    struct text says = {0};
    char device[DEVICE_TEXT], seconds[32];
    device_name(e->device, device);
    snprintf(seconds, sizeof seconds, "%.3f", r->seconds);
    text_add(to, "    <testcase");
    attribute(to, "name", e->name);
    attribute(to, "classname", e->method->name);
    attribute(to, "time", seconds);
    text_add(to, ">\n");
    if (r->verdict != GATE_KEPT) {
        const char *what = r->verdict == GATE_FAILED ? "error" : "failure";
        text_format(to, "      <%s", what);
        attribute(to, "type", gate_verdict_name[r->verdict]);
        attribute(to, "message", r->reason ? r->reason : "");
        text_add(to, ">");
        if (r->show) {
            text_add(to, "reproduce: ");
            xml(to, r->show);
        }
        text_format(to, "</%s>\n", what);
    }
    text_format(to, "      <system-out>%s on %s: ", gate_verdict_name[r->verdict], device);
    gate_says(&says, e);
    if (r->note && r->verdict == GATE_KEPT)
        text_format(&says, "; open: %s", r->note);
    xml(to, text_string(&says) ? text_string(&says) : "");
    text_free(&says);
    text_add(to, "</system-out>\n    </testcase>\n");
}

void gate_junit(struct text *to, const struct gate *g)
{
    size_t errors = gate_count(g, GATE_FAILED), kept = gate_count(g, GATE_KEPT);
    double seconds = 0;
    for (size_t i = 0; i < g->entries; i++)
        seconds += g->entry[i].result.seconds;
    text_add(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    for (size_t i = 0; i < 2; i++) {
        text_add(to, i ? "  <testsuite" : "<testsuites");
        attribute(to, "name", g->path);
        text_format(to, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"%.3f\">\n",
                    g->entries, g->entries - kept - errors, errors, seconds);
    }
    for (size_t i = 0; i < g->entries; i++)
        add_case(to, &g->entry[i]);
    text_add(to, "  </testsuite>\n</testsuites>\n");
}

/* In a cell: nothing ends it, nothing is marked up. */
static void cell(struct text *to, const char *words)
{
    struct text visible = {0};
    text_visible(&visible, words);
    const char *at = text_string(&visible);
    for (; at && *at; at++) {
        if (*at == '<' || *at == '>' || *at == '&')
            text_add(to, *at == '<' ? "&lt;" : *at == '>' ? "&gt;" : "&amp;");
        else
            text_format(to, "%s%c", strchr("\\`*_{}[]()#+!|~$@", *at) ? "\\" : "", *at);
    }
    to->failed |= !at;
    text_free(&visible);
}

void gate_markdown(struct text *to, const struct gate *g)
{
    size_t kept = gate_count(g, GATE_KEPT);
    text_format(to, "### %s: %zu of %zu kept\n\n", kept == g->entries ? "Passed" : "Failed", kept,
                g->entries);
    text_add(to,
             "| verdict | subject | device | held to | why |\n| --- | --- | --- | --- | --- |\n");
    for (enum gate_verdict v = GATE_VERDICTS; v-- > 0;)
        for (size_t i = 0; i < g->entries; i++) {
            const struct gate_entry *e = &g->entry[i];
            const struct gate_result *r = &e->result;
            struct text says = {0};
            char device[DEVICE_TEXT];
            if (r->verdict != v)
                continue;
            device_name(e->device, device);
            text_format(to, v == GATE_KEPT ? "| %s | " : "| **%s** | ", gate_verdict_name[v]);
            cell(to, e->name);
            text_format(to, " | %s | ", device);
            gate_says(&says, e);
            cell(to, text_string(&says) ? text_string(&says) : "");
            text_free(&says);
            text_add(to, " | ");
            cell(to, r->reason ? r->reason : r->note ? r->note : "");
            if (r->difference && v == GATE_KEPT) {
                text_add(to, r->note ? "; " : "");
                cell(to, r->difference);
            }
            text_add(to, " |\n");
        }
}

enum status gate_writable(const char *path, struct problem *p)
{
    struct stat facts;
    if (stat(path, &facts) != 0 || S_ISREG(facts.st_mode))
        return file_writable(path, p);
    int error = S_ISDIR(facts.st_mode) ? EISDIR : access(path, W_OK) != 0 ? errno : 0;
    return error ? problem(p, STATUS_DATA, "%s: could not be written: %s", path, strerror(error))
                 : STATUS_OK;
}

enum status gate_write(const char *path, struct text *text, struct problem *p)
{
    struct stat facts;
    if (text->failed)
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
    if (stat(path, &facts) != 0 || S_ISREG(facts.st_mode))
        return file_replace(path, text->data, text->length, p);
    FILE *file = fopen(path, "we");
    bool good = file && fwrite(text->data, 1, text->length, file) == text->length;
    int error = errno;
    if (file && fclose(file) != 0 && good) {
        good = false;
        error = errno;
    }
    return good ? STATUS_OK
                : problem(p, STATUS_DATA, "%s: could not be written: %s", path, strerror(error));
}
