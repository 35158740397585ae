/* A manifest of gate, and a baseline: read, told as text, JUnit and Markdown, held and recorded.
 * Nothing is run: what would begin a process, or read data, is left out. */
#include "experiments/gate/gate.h"
#include "tests/fuzz/fuzz.h"

/* XML 1.0 has no other characters below a blank; names cannot open or close an element. */
static void hold_xml(struct text *xml, size_t entries)
{
    const char *at = text_string(xml);
    size_t opened = 0;
    fuzz_hold(at && xml->length == strlen(at), "a zero in the XML");
    for (; *at; at++) {
        opened += *at == '<';
        fuzz_hold((unsigned char)*at >= 0x20 || *at == '\n', "character %d", *at);
        fuzz_hold(*at != '\xef' ||
                      (memcmp(at, "\xef\xbf\xbe", 3) != 0 && memcmp(at, "\xef\xbf\xbf", 3) != 0),
                  "no character of XML");
    }
    fuzz_hold(opened == 5 + 4 * entries, "%zu elements opened or closed", opened);
}

/* A row a line. */
static void hold_markdown(struct text *markdown, size_t entries)
{
    const char *at = text_string(markdown);
    size_t lines = 0;
    for (; at && *at; at++)
        lines += *at == '\n';
    fuzz_hold(lines == 4 + entries, "%zu lines of %zu entries", lines, entries);
}

static void tell(struct gate *g)
{
    struct text text = {0}, xml = {0}, markdown = {0};
    gate_text(&text, g, true);
    gate_junit(&xml, g);
    hold_xml(&xml, g->entries);
    gate_markdown(&markdown, g);
    hold_markdown(&markdown, g->entries);
    json_t *json = gate_json(g);
    fuzz_hold(json != NULL, "no JSON of %zu entries", g->entries);
    json_decref(json);
    text_free(&text);
    text_free(&xml);
    text_free(&markdown);
}

static void hold_baseline(struct gate *g, const char *dir)
{
    struct problem p = {0};
    enum status status = gate_baseline_read(g, dir, true, &p);
    fuzz_problem(status, &p);
    if (status != STATUS_OK)
        return;
    gate_baseline_hold(g, false);
    fuzz_hold(gate_baseline_write(g, dir, &p) == STATUS_OK, "%s", p.text);
    json_decref(g->baseline);
    g->baseline = NULL;
    fuzz_hold(gate_baseline_read(g, dir, false, &p) == STATUS_OK, "%s", p.text);
}

static bool has(const uint8_t *data, size_t size, const char *word)
{
    return size > 0 && memmem(data, size, word, strlen(word));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"gate.json", "baseline.json", NULL};
    char path[320], dir[300];
    struct problem p = {0};
    struct gate g;
    if (has(data, size, ".so") || has(data, size, "python") || has(data, size, "data\"") ||
        has(data, size, "\\u00") || has(data, size, "file:"))
        return 0;
    fuzz_files(names, data, size);
    snprintf(dir, sizeof dir, "%s", fuzz_in_folder());
    snprintf(path, sizeof path, "%s/gate.json", dir);
    enum status status = gate_read(&g, path, &p);
    fuzz_problem(status, &p);
    if (status == STATUS_OK) {
        tell(&g);
        hold_baseline(&g, dir);
    }
    gate_free(&g);
    return 0;
}
