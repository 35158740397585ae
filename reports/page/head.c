/* The head of the page: its style, and what the study asked of what, where and when. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/format/format.h"
#include "reports/page/report.h"

static const char style[] =
    ":root{color-scheme:light "
    "dark;--ink:#1a1a1a;--dim:#595959;--page:#fff;--line:#ccc;--good:#00664b;"
    "--bad:#a63700;--panel:#fbfbfb;--link:#00558a;--other:#999;--c1:#0072b2;--c2:#cc4e00;"
    "--c3:#008f69;--c4:#be5a92;--c5:#3a96cc;--c6:#ba7e00;--c8:#767676;--c9:#7a44a0;--d1:#003959;"
    "--d2:#662700;--d3:#004834;--d4:#5f2d49;--d5:#1d4b66;--d6:#5d3f00;--d7:#595959;--d8:#3b3b3b;"
    "--d9:#3d2250;--shade:#0004}\n"
    "@media (prefers-color-scheme:dark){:root{--ink:#e6e6e6;--dim:#adadad;--page:#15171a;"
    "--line:#474b50;--good:#4fd1a5;--bad:#ff9a5c;--panel:#1b1e22;--link:#7cc4f0;--other:#6b7076;"
    "--c1:#4aa3dd;--c2:#ff7f35;--c3:#2fc296;--c4:#e08dbb;--c5:#8fd0f5;--c6:#edb040;--c8:#9a9a9a;"
    "--c9:#bd94de;--d1:#aed6f0;--d2:#ffc5a4;--d3:#a1e4d0;--d4:#f1cce0;--d5:#cdeafa;--d6:#f7dba9;"
    "--d7:#b0b0b0;--d8:#d2d2d2;--d9:#e1cff0;--shade:#fff5}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1rem;max-width:92rem;font:1rem/1.5 system-ui,sans-serif;"
    "color:var(--ink);background:var(--page);overflow-wrap:anywhere}\n"
    "a{color:var(--link)}h1{font-size:1.75rem;line-height:1.2;margin:.3rem 0}"
    "h2{font-size:1.2rem;line-height:1.3;margin:2rem 0 .6rem}\n"
    "p,li{max-width:50rem}.how,figcaption,.sub,.back{color:var(--dim);font-size:.875rem}"
    ".how{margin:.5rem 0}.sub,.back{margin:0}\n"
    "ul{padding-left:1.2rem}li{margin:.4rem 0}\n"
    "#findings li:first-child{font-size:1.15rem;font-weight:600;line-height:1.4}\n"
    "li.good::marker{content:'\\2713  ';color:var(--good)}"
    "li.bad::marker{content:'\\2717  ';color:var(--bad)}li.bad{color:var(--bad)}\n"
    ".facts{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .9rem;margin:.7rem 0 1rem;"
    "font-size:.875rem}.facts dt{color:var(--dim)}.facts dd{margin:0}\n"
    "nav{font-size:.875rem;line-height:1.35}nav ul{list-style:none;margin:0;padding:0;display:flex;"
    "flex-wrap:wrap;gap:.2rem 1rem}nav li{margin:0}\n"
    ".panels{display:grid;gap:1rem;align-items:start;grid-template-columns:repeat(auto-fill,minmax("
    "min(100%,21.5rem),1fr))}\n"
    ".alone{display:grid;gap:.5rem 2rem;align-items:start}\n"
    ".uneven{display:block;columns:3 21.5rem}.uneven figure{margin:0 0 1rem;break-inside:avoid}\n"
    "figure{margin:0;border:1px solid var(--line);border-radius:.3rem;padding:.4rem;min-width:0;"
    "background:var(--panel)}\n"
    "figure svg{display:block;width:100%;height:auto;color:var(--ink)}\n"
    "svg .k{fill:none;color:var(--ink);stroke:currentColor}svg .t{stroke:none;fill:var(--ink)}svg "
    ".d{stroke:none;fill:#000}\n"
    "svg [color=\"black\"]{color:var(--ink)}svg [stroke=\"black\"]{stroke:var(--ink)}"
    "svg text{stroke:none}\n"
    /* A shadow at an edge behind which there are more columns: the first two layers, which scroll,
     * cover the last two, which do not. */
    ".wide{overflow-x:auto;width:fit-content;max-width:100%;border:1px solid "
    "var(--line);border-radius:.3rem;max-height:40rem;background:"
    "linear-gradient(to right,var(--page) 40%,transparent) 0/2.5rem 100% no-repeat local,"
    "linear-gradient(to left,var(--page) 40%,transparent) 100%/2.5rem 100% no-repeat local,"
    "linear-gradient(to right,var(--shade),transparent) 0/.9rem 100% no-repeat scroll,"
    "linear-gradient(to left,var(--shade),transparent) 100%/.9rem 100% no-repeat scroll}\n"
    ".wide:focus-visible{outline:2px solid var(--link)}\n"
    "table{border-collapse:collapse;font-size:.8125rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.2rem .6rem;text-align:left;white-space:nowrap;"
    "border-bottom:1px solid var(--line)}th{position:sticky;top:0;background:var(--page);z-index:1}"
    "th.r,td.r{text-align:right}\n"
    "#provenance td{white-space:normal;min-width:8rem}\n"
    "summary{cursor:pointer;padding:.3rem "
    "0}code{font-size:.9em}pre{margin:0;padding:.5rem;font-size:.8125rem;line-height:1.3;"
    "overflow-wrap:normal}\n"
    ".o{white-space:nowrap}.inks{max-width:none}.inks span{white-space:nowrap}.inks "
    "span::before{content:'';display:inline-block;width:.7em;height:.7em;margin:0 .25em 0 "
    ".1em;"
    "background:var(--c)}.i1{--c:var(--c1)}.i2{--c:var(--c2)}.i3{--c:var(--c3)}.i4{--c:var(--c4)}"
    ".i5{--c:var(--c5)}.i6{--c:var(--c6)}.i7{--c:var(--ink)}.i8{--c:var(--c8)}.i9{--c:var(--c9)}\n"
    ".many th:first-child,.many td:first-child{position:sticky;left:0;background:var(--page)}"
    ".many th:first-child{z-index:2}\n"
    "@media(max-width:30rem){.many::before{content:'More columns: scroll the table sideways "
    "\\2192';display:block;position:sticky;left:0;width:max-content;padding:.2rem .6rem;font-size:"
    ".75rem;color:var(--dim)}.many "
    "th{white-space:normal;overflow-wrap:normal;vertical-align:bottom}.many td:first-child"
    "{white-space:normal;min-width:8.5rem;max-width:11rem;border-right:1px solid var(--line)}"
    "th,td{padding:.2rem .4rem}}\n"
    "@media(max-width:30rem){body{padding:.75rem}figure{padding:.2rem}h1{font-size:1.4rem}"
    ".facts{display:block}.facts dt{float:left;margin-right:.5em}.facts dd{margin-bottom:.15rem}}\n"
    "@media(max-width:59.99rem){.lead{display:flex;flex-direction:column}.lead #findings,"
    ".lead #findings ul{display:contents}.lead li{order:3;margin-left:1.2rem}"
    ".lead li:first-child{order:1}.lead>section:last-child{order:2}}\n"
    /* What is said of the picture stands below the findings: beside it there is room. */
    "@media(min-width:60rem){.lead{display:grid;grid-template-columns:1fr minmax(0,34rem);"
    "grid-template-rows:auto auto 1fr;column-gap:2rem}.lead h2{margin-top:.5rem}"
    ".lead>section:last-child{display:contents}.lead #findings{grid-area:1/1/3/2}"
    ".lead>section:last-child>h2{grid-area:1/2}.lead figure{grid-area:2/2/4/3;align-self:start}"
    ".lead .said{grid-area:3/1}}\n"
    "@media(min-width:48rem){.alone{grid-template-columns:minmax(0,30rem) minmax(0,1fr)}}\n"
    "@media(min-width:75rem){.page{display:grid;grid-template-columns:11rem minmax(0,1fr);gap:2rem}"
    "nav{position:sticky;top:1rem;align-self:start;border-right:1px solid var(--line);"
    "padding-right:.8rem}nav ul{display:block}nav li{margin:.35rem 0}}\n"
    "@media print{body{max-width:none}.wide{overflow:visible;max-height:none;border:0}nav{display:"
    "none}.page,.lead{display:block}"
    "figure,tr{break-inside:avoid}.wide table{font-size:7pt}th,td{white-space:normal}"
    ".panels{grid-template-columns:1fr 1fr}}\n";

static void begin_fact(struct text *to, const char *name)
{
    text_format(to, "<dt>%s</dt><dd>", name);
}

enum { OPTION_MOST = 24 };

enum { OPERANDS_MOST = 8, OPERANDS_FIRST = 3 };

/* Folders that were merged, say: words from i on that are no options. */
static size_t operands_from(const json_t *arguments, size_t i)
{
    size_t count = 0;
    for (const char *word; (word = json_string_value(json_array_get(arguments, i + count)));
         count++)
        if (*word == '-')
            break;
    return count;
}

/* The command as it was typed, but for where the program lies. Of many folders the first ones and
 * the last. */
static void add_command(struct text *to, const struct page *r)
{
    const json_t *arguments = json_object_get(r->g.study, "arguments"), *argument;
    size_t i, operands = operands_from(arguments, 2);
    size_t left_from = operands > OPERANDS_MOST ? 2 + OPERANDS_FIRST : SIZE_MAX;
    begin_fact(to, "Command");
    text_add(to, "<code>");
    json_array_foreach ((json_t *)arguments, i, argument) {
        if (i >= left_from && i < 1 + operands) {
            text_add(to, i == left_from ? " ..." : "");
            continue;
        }
        const char *word = json_string_value(argument), *slash = word ? strrchr(word, '/') : NULL;
        word = i == 0 && slash ? slash + 1 : word ? word : "";
        bool quoted = word[strcspn(word, " \t\n'\"\\$`*?;&|<>()")];
        /* An option is not parted after its hyphens. */
        bool option = strncmp(word, "--", 2) == 0 && strlen(word) < OPTION_MOST;
        text_add(to, i ? " " : "");
        text_add(to, option ? "<span class=\"o\">" : "");
        html_format(to, "%s%s%s", quoted ? "'" : "", word, quoted ? "'" : "");
        text_add(to, option ? "</span>" : "");
    }
    text_add(to, "</code></dd>\n");
}

enum { WORDS_MOST = 6, PAIRS_SHOWN = 8 };

/* The first few words of an axis, and how many more there are. Returns whether there is any. */
static bool add_axis(struct text *to, const struct page *r, const char *axis, const char *before)
{
    const json_t *list = json_object_get(json_object_get(r->g.study, "axes"), axis), *word;
    size_t i, count = json_array_size(list);
    json_array_foreach ((json_t *)list, i, word) {
        if (i < WORDS_MOST && json_is_string(word)) {
            struct text input = {0};
            if (strcmp(axis, "rows") == 0 && strcmp(json_string_value(word), "0") == 0)
                text_add(&input, "as in the file"); /* --rows 0 */
            else
                page_input(&input, json_string_value(word));
            html_format(to, "%s%s", i ? ", " : before, text_string(&input) ? input.data : "");
            text_free(&input);
        }
    }
    if (count > WORDS_MOST)
        text_format(to, " and %zu more", count - WORDS_MOST);
    return count > 0;
}

/* Lengths: all, or of many the least and the largest. */
static void add_lengths(struct text *to, const struct page *r)
{
    const json_t *list = json_object_get(json_object_get(r->g.study, "axes"), "n"), *word;
    size_t i, count = json_array_size(list);
    double least = INFINITY, most = 0;
    json_array_foreach ((json_t *)list, i, word) {
        double n = json_is_string(word) ? strtod(json_string_value(word), NULL) : NAN;
        least = fmin(least, n);
        most = fmax(most, n);
    }
    if (count <= WORDS_MOST)
        add_axis(to, r, "n", "; n = ");
    else
        text_format(to, "; n = %.0f to %.0f (%zu lengths)", least, most, count);
}

static bool same_pair(const struct gathered_case *a, const struct gathered_case *b)
{
    return strcmp(a->field[CASE_STORAGE], b->field[CASE_STORAGE]) == 0 &&
           strcmp(a->field[CASE_ACCUMULATOR], b->field[CASE_ACCUMULATOR]) == 0;
}

/* Pairs of formats that gave a result; where there are no rows of that, those asked for. */
static void add_formats(struct text *to, const struct page *r)
{
    size_t pairs = 0;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        bool seen = c->runs == 0;
        for (size_t k = 0; k < i && !seen; k++)
            seen = r->g.item[k].runs > 0 && same_pair(c, &r->g.item[k]);
        if (!seen && pairs++ < PAIRS_SHOWN)
            html_format(to, "%s%s/%s", pairs == 1 ? "; storage/accumulator " : ", ",
                        c->field[CASE_STORAGE], c->field[CASE_ACCUMULATOR]);
    }
    if (pairs > PAIRS_SHOWN)
        text_format(to, " and %zu more", pairs - PAIRS_SHOWN);
    if (r->g.count == 0)
        add_axis(to, r, "formats", "; storage/accumulator ");
}

static void add_data(struct text *to, const struct page *r)
{
    begin_fact(to, "Data");
    bool any = add_axis(to, r, "input", "");
    any |= add_axis(to, r, "data", any ? ", " : "");
    if (!any)
        text_add(to, "inputs of its own");
    if (!add_axis(to, r, "shape", "; ")) /* of products n is the elements of both matrices */
        add_lengths(to, r);
    add_axis(to, r, "rows", "; rows ");
    add_axis(to, r, "ranks", "; ranks ");
    add_formats(to, r);
    text_add(to, "</dd>\n");
}

void page_head(struct text *to, const struct page *r)
{
    const char *experiment = gathered_word(&r->g, NULL, "experiment"),
               *started = gathered_word(&r->g, NULL, "started");
    text_add(to, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                 "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    html_format(to, "%s %s on %s", r->study->question, experiment, gathered_machine(&r->g));
    text_format(to, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<header>\n", style);
    if (r->options->index) {
        text_add(to, "<p class=\"back\"><a href=\"");
        html_text(to, r->options->index);
        text_add(to, "\">&larr; All studies</a></p>\n");
    }
    text_add(to, "<h1>");
    html_text(to, r->study->question);
    text_add(to, "</h1>\n<dl class=\"facts\">\n");
    add_command(to, r);
    add_data(to, r);
    begin_fact(to, "Machine");
    const char *machine = gathered_machine(&r->g), *cpu = gathered_word(&r->g, "machine", "cpu");
    bool same = strcmp(machine, cpu) == 0;
    html_format(to, "%s%s%s; %s", machine, same ? "" : "; ", same ? "" : cpu,
                gathered_word(&r->g, "machine", "system"));
    text_add(to, "</dd>\n");
    begin_fact(to, "Date");
    const char *commit = gathered_word(&r->g, "program", "commit");
    html_format(to, "%.10s %.5s UTC; ulpscope %s (%.12s%s)", started,
                strlen(started) > 16 ? started + 11 : "",
                gathered_word(&r->g, "program", "version"), commit,
                strstr(commit, "-dirty") ? "-dirty" : "");
    text_add(to, "</dd>\n</dl>\n</header>\n");
}
