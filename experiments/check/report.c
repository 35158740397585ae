#include "experiments/check/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/subjects/mpi.h"
#include "reference/format/number.h"
#include "reports/text/against.h"
#include "reports/text/table.h"

bool check_partly(const struct check_report *r)
{
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        if (!r->request.tried[kind])
            return true;
    return false;
}

void check_kinds_text(char text[CHECK_TEXT], const struct check_report *r, enum promise rung,
                      bool differing)
{
    size_t used = 0, size = CHECK_TEXT;
    *text = 0;
    for (size_t kind = 0; kind < CHECK_KINDS; kind++) {
        const uint64_t number = differing ? r->tried[kind].differing : r->tried[kind].attempts;
        if (check_kind_of(kind, rung) && number)
            used += (size_t)snprintf(text + used, size - used, "%s%s %llu", used ? ", " : "",
                                     check_kinds[kind].name, (unsigned long long)number);
    }
}

void check_untried_text(char text[CHECK_LONG], const struct check_report *r, enum promise rung,
                        bool late)
{
    size_t used = 0, size = CHECK_LONG;
    *text = 0;
    for (size_t kind = 0; kind < CHECK_KINDS && used < size; kind++)
        if (check_kind_of(kind, rung) && *r->tried[kind].untried && (!late || r->tried[kind].late))
            used += (size_t)snprintf(text + used, size - used, "%s%s (%s)", used ? ", " : "",
                                     check_kinds[kind].name, r->tried[kind].untried);
}

/* A report of one subject fits on a screen of 80 x 24, below the prompt. */
enum { WIDTH = 80, INDENT = 2, SCREEN_ROWS = 23 };

static void add_wrapped(struct text *to, struct text *line)
{
    text_wrapped(to, line, WIDTH, INDENT);
}

static void add_count(struct table *t, bool known, uint64_t count)
{
    if (known)
        table_cell(t, "%llu", (unsigned long long)count);
    else
        table_cell(t, "%s", "");
}

/* A rung a row: its verdict, and over what attempts were made. */
static void add_rungs(struct text *to, const struct check_report *r, bool all)
{
    bool ranks = operation_asks(r->request.method->operation, SETTING_RANKS);
    const char *const name[] = {"rung",    "verdict", "attempts",
                                "differ",  "results", ranks ? "ranks" : "shapes",
                                "lengths", "inputs",  "how often each"};
    const struct operation *o = r->request.method->operation;
    struct table table = {.align = "llrrrrrrl"};
    bool several = false;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        table_cell(&table, "%s", name[i]);
    for (enum promise rung = check_next(o, 0); rung < PROMISES_ALL; rung = check_next(o, rung)) {
        struct check_rung is = check_rung(r, rung);
        bool tried = is.attempts > 0;
        several |= is.distinct > 1;
        table_cell(&table, "%s", promise_name[rung]);
        table_cell(&table, "%s", check_state_name[is.state]);
        add_count(&table, tried, is.attempts);
        add_count(&table, tried, is.differing);
        add_count(&table, is.distinct > 1, is.distinct);
        add_count(&table, tried, ranks ? r->over[rung].ranks.count : is.shapes);
        add_count(&table, tried, is.lengths);
        add_count(&table, tried, is.inputs);
        table_cell(&table, "%s", all && is.distinct > 1 ? is.counts : "");
    }
    table_draw(to, &table);
    table_free(&table);
    if (several)
        text_add(to, "results: the largest number of different results of one case\n");
}

/* Why rungs were not tried, and what is open of those kept; each reason once. */
static void add_reasons(struct text *to, const struct check_report *r)
{
    const struct operation *o = r->request.method->operation;
    bool said[PROMISES_ALL] = {0};
    for (enum promise rung = check_next(o, 0); rung < PROMISES_ALL; rung = check_next(o, rung)) {
        struct check_rung is = check_rung(r, rung);
        if (said[rung] || !*is.reason || is.differing > 0 || is.state == CHECK_FAILED)
            continue;
        struct text line = {0};
        text_add(&line, promise_name[rung]);
        for (enum promise other = check_next(o, rung); other < PROMISES_ALL;
             other = check_next(o, other)) {
            struct check_rung too = check_rung(r, other);
            if (too.state != is.state || strcmp(too.reason, is.reason) != 0)
                continue;
            text_format(&line, ", %s", promise_name[other]);
            said[other] = true;
        }
        text_format(&line, ": %s", is.reason);
        add_wrapped(to, &line);
    }
}

#define UNSEEN "95%% confident: under %s%% of runs differ (%s"

/* ", n = 2 to 65536": over which lengths, and more, a rung is kept. */
static void add_lengths(struct text *to, const struct check_rung *is, bool columns)
{
    if (is->most_n > 0)
        text_format(to, ", n = %zu", is->least_n);
    if (is->most_n > is->least_n)
        text_format(to, " to %zu", is->most_n);
    if (is->batches > 0)
        text_format(to, ", %zu number%s of rows%s", is->batches, text_s(is->batches),
                    columns ? " and columns" : "");
    if (is->followed > 0)
        text_format(to, ", %s%zu %s followed", is->followed < CHECK_SET ? "" : "at least ",
                    is->followed, columns ? "elements" : "rows");
}

/* What was tried, what was not and why, and how sure that makes what is kept. */
static void add_evidence(struct text *to, const struct check_report *r)
{
    char words[CHECK_LONG];
    const struct operation *o = r->request.method->operation;
    struct text tried = {0}, differed = {0}, untried = {0}, unseen = {0}, chosen = {0};
    for (enum promise rung = check_next(o, 0); rung < PROMISES_ALL; rung = check_next(o, rung)) {
        struct check_rung is = check_rung(r, rung);
        if (is.attempts == 0)
            continue;
        is.followed = rung > PROMISES ? is.followed : 0; /* its place is beside the ladder */
        /* Runs that are repeated are a sample; what is varied was chosen, and proves no share. */
        bool sample = rung == PROMISE_RUN_TO_RUN;
        is.batches = sample ? 0 : is.batches;
        if (is.state == CHECK_KEPT && sample)
            text_format(&unseen, UNSEEN, text_percent_at_most(is.unseen_p95).value,
                        promise_name[rung]);
        else if (is.state == CHECK_KEPT)
            text_format(&chosen, "%s%s",
                        chosen.length ? "; " : "no attempt differs: ", promise_name[rung]);
        if (is.state == CHECK_KEPT)
            add_lengths(sample ? &unseen : &chosen, &is, operation_sides(o) > 1);
        if (is.state == CHECK_KEPT && sample)
            text_add(&unseen, ")");
        if (rung > PROMISES) /* its kinds are those of a rung */
            continue;
        check_kinds_text(words, r, rung, false);
        text_format(&tried, "%s%s", tried.length ? ", " : "tried: ", words);
        bool several = strchr(words, ',') != NULL; /* else the table says it */
        check_kinds_text(words, r, rung, true);
        if (*words && several)
            text_format(&differed, "%s%s", differed.length ? ", " : "differed: ", words);
        check_untried_text(words, r, rung, check_partly(r));
        if (*words)
            text_format(&untried, "%s%s", untried.length ? ", " : "not tried: ", words);
    }
    struct text *const part[] = {&unseen, &chosen, &tried, &differed, &untried};
    text_add(to, tried.length ? "\n" : "");
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (part[i]->length)
            add_wrapped(to, part[i]);
}

/* What is wrong whatever is promised. */
static void add_exceeding(struct text *to, const struct check_report *r)
{
    struct text line = {0};
    const struct check_tried *exact = &r->tried[CHECK_EXACT];
    if (!check_exceeded(r))
        return;
    text_format(
        &line,
        "error bound (%s): in %llu of %llu cases a result %sis not finite where nothing can "
        "overflow",
        theorem_words(r->request.method->bound), (unsigned long long)exact->exceeding,
        (unsigned long long)exact->cases, r->request.method->foreign ? "" : "exceeds it, or ");
    add_wrapped(to, &line);
}

/* Of inputs that were chosen: where nothing is rounded no order can change the bits, and a subject
 * that promises less looks exact. */
static void add_exact(struct text *to, const struct check_report *r)
{
    bool chosen = r->request.datas > 0 || r->request.inputs > 0;
    if (chosen && r->request.method->promise < PROMISE_CORRECTLY_ROUNDED &&
        check_rung(r, PROMISE_CORRECTLY_ROUNDED).state == CHECK_KEPT)
        text_add(to, "note: every result is the exact one, rounded once; these inputs may not need "
                     "any\n  rounding, so try others, too\n");
}

/* Is it what the subject promises itself that it is held to? */
static bool own(const struct check_report *r)
{
    return r->request.promise == r->request.method->promise &&
           r->request.beside == r->request.method->beside;
}

/* The verdict on the required rung, or where none is on the promise beside the ladder. */
static void add_held(struct text *to, const struct check_report *r, enum promise held)
{
    enum check_state state = check_rung(r, held).state;
    const char *name = promise_name[held],
               *whose = own(r) ? "which it promises" : "which --promise asks for";
    bool part = check_partly(r), more = held < PROMISES && r->kept > held;
    if (state == CHECK_BROKEN)
        text_format(to, "BREAKS %s, %s", name, whose);
    else if (r->failure.status != STATUS_OK)
        text_format(to, "FAILED in %s", check_kinds[r->failed].name);
    else if (state != CHECK_KEPT)
        text_format(to, "%s, %s, was not tried", name, whose); /* whatever is kept above it */
    else if (part)
        text_format(to, "no attempt breaks %s, %s", name, whose);
    else if (more)
        text_format(to, "keeps %s, %s %s", promise_name[r->kept],
                    own(r) ? "promises" : "--promise asks for", name);
    else
        text_format(to, "keeps %s, %s", name, own(r) ? "as promised" : "as --promise asks");
}

/* What else it is held to, beside the ladder. */
static void add_beside(struct text *to, const struct check_report *r, enum promise held)
{
    const struct operation *o = r->request.method->operation;
    bool kept = check_rung(r, held).state == CHECK_KEPT, part = check_partly(r);
    for (enum promise rung = check_next(o, PROMISES); rung < PROMISES_ALL;
         rung = check_next(o, rung)) {
        struct check_rung is = check_rung(r, rung);
        const char *name = promise_name[rung],
                   *whose = own(r) ? "which it promises" : "which --promise asks for";
        if (rung == held || !check_holds(&r->request, rung))
            continue;
        if (is.state == CHECK_BROKEN)
            text_format(to, "; BREAKS %s, %s", name, whose);
        else if (is.state == CHECK_KEPT)
            text_format(to, !kept ? "; keeps %s" : part ? ", nor %s" : ", and %s", name);
        else if (!part && r->failure.status == STATUS_OK)
            text_format(to, "; %s, %s, was not tried", name, whose);
    }
}

/* Of a part of the ladder: what no attempt breaks, though nothing is promised. */
static void add_unbroken(struct text *to, const struct check_report *r)
{
    const struct operation *o = r->request.method->operation;
    const char *before = "no attempt breaks ", *after = "";
    for (enum promise rung = check_next(o, 0); rung < PROMISES_ALL; rung = check_next(o, rung))
        if (check_rung(r, rung).state == CHECK_KEPT) {
            text_format(to, "%s%s", before, promise_name[rung]);
            before = ", ";
            after = "; ";
        }
    text_add(to, after);
}

/* A rung includes those below it, so the verdict names the ones that were not tried. */
static void add_gaps(struct text *to, const struct check_report *r)
{
    const char *before = "; not tried: ";
    for (enum promise low = PROMISE_RUN_TO_RUN; low < r->kept; low++)
        if (check_rung(r, low).state == CHECK_NOT_TRIED) {
            text_format(to, "%s%s", before, promise_name[low]);
            before = ", ";
        }
}

/* The numbers of ranks that the rung was tried on, else any: "3, 4 ranks", the least first. */
static void add_ranks(struct text *to, const struct check_report *r, enum promise rung)
{
    enum { LISTED = 8 };
    const struct check_set *set = &r->over[rung].ranks;
    for (size_t i = 0; set->count == 0 && i < PROMISES_ALL; i++)
        set = &r->over[i].ranks;
    uint64_t first = 0, last = 0;
    for (size_t i = 0; i < set->count; i++) {
        uint64_t next = UINT64_MAX;
        for (size_t k = 0; k < set->count; k++)
            next = set->item[k] > last && set->item[k] < next ? set->item[k] : next;
        first = i == 0 ? next : first;
        last = next;
        if (set->count <= LISTED)
            text_format(to, ", %llu", (unsigned long long)next);
    }
    if (set->count > LISTED)
        text_format(to, ", %zu numbers of ranks from %llu to %llu", set->count,
                    (unsigned long long)first, (unsigned long long)last);
    else if (set->count > 0)
        text_format(to, " rank%s", set->count == 1 ? text_s(last) : "s");
    mpi_hosts_words(to, r->request.method);
}

/* The answer, on one line. Of a part of the ladder there is no highest rung that is kept. */
static void add_verdict(struct text *to, const struct check_report *r)
{
    const struct operation *o = r->request.method->operation;
    enum promise ladder = r->request.promise, held = ladder;
    bool part = check_partly(r);
    size_t broken = 0; /* the kind of attempt that breaks the lowest rung */
    char device[DEVICE_TEXT];
    device_name(r->request.device, device);
    while (broken < CHECK_KINDS && r->tried[broken].broken == 0)
        broken++;
    for (enum promise rung = check_next(o, PROMISES); held == PROMISE_NONE && rung < PROMISES_ALL;
         rung = check_next(o, rung))
        held = check_holds(&r->request, rung) ? rung : PROMISE_NONE;
    text_format(to, "%s on %s", r->request.method->name, device);
    add_ranks(to, r, held > PROMISE_NONE ? held : r->kept);
    check_batches_words(to, r);
    text_add(to, check_exceeded(r) ? ": BREAKS its error bound; " : ": ");
    if (held > PROMISE_NONE)
        add_held(to, r, held);
    else if (r->failure.status != STATUS_OK)
        text_format(to, "FAILED in %s", check_kinds[r->failed].name);
    else {
        if (part)
            add_unbroken(to, r);
        else
            text_format(to, "keeps %s, ", promise_name[r->kept]);
        text_add(to, "promises none");
    }
    add_beside(to, r, held);
    if (part && broken < CHECK_KINDS && !check_broken(r))
        text_format(to, "; breaks %s", promise_name[check_meant(r, broken)]);
    else if (!part && (r->kept < ladder || held > PROMISES))
        text_format(to, "; keeps %s", promise_name[r->kept]);
    if (!part &&
        (held == PROMISE_NONE || check_rung(r, held).state == CHECK_KEPT || r->kept < ladder))
        add_gaps(to, r);
    text_add(to, "\n");
}

/* What programs left unanswered, and what time did not suffice for. */
static void add_pairs(struct text *to, const char *what, const struct pairs *pairs)
{
    char names[PAIRS_TEXT];
    struct text line = {0};
    pairs_text(names, pairs);
    if (!*names)
        return;
    text_format(&line, "%s: %s", what, names);
    add_wrapped(to, &line);
}

static size_t screen_rows(const struct text *report)
{
    size_t rows = 0, column = 0;
    for (size_t i = 0; i < report->length; i++) {
        column = report->data[i] == '\n' ? 0 : column + 1;
        rows += column == 0 || (column > WIDTH && (column - 1) % WIDTH == 0);
    }
    return rows;
}

/* The paragraph that begins a line with `word`, up to the next line that is not indented. */
static bool find_paragraph(const struct text *report, const char *word, size_t *begin, size_t *end)
{
    const char *text = report->data;
    size_t length = strlen(word), i = 0;
    while (i + length <= report->length && strncmp(text + i, word, length) != 0) {
        const char *next = memchr(text + i, '\n', report->length - i);
        i = next ? (size_t)(next - text) + 1 : report->length;
    }
    if (i + length > report->length)
        return false;
    for (*begin = i, *end = i; *end < report->length; (*end)++)
        if (text[*end] == '\n' && (*end + 1 == report->length || text[*end + 1] != ' ')) {
            (*end)++;
            return true;
        }
    return false;
}

/* Leaves out what is in parentheses: why kinds of attempts were not tried. */
static void add_names(struct text *to, const char *text, size_t length)
{
    struct text line = {0};
    size_t depth = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i] == '\n' ? ' ' : text[i];
        depth += c == '(';
        bool blank = c == ' ' && (i + 1 == length || text[i + 1] == ' ' || text[i + 1] == '(');
        if (depth == 0 && !blank)
            text_append(&line, &c, 1);
        depth -= c == ')' && depth > 0;
    }
    text_add(&line, " (--wide says why)");
    add_wrapped(to, &line);
}

/* A report of more rows than a screen has loses what --wide says, too: first what a column means,
 * then why kinds were not tried, then how many attempts there were of each kind, and how many of
 * them differed. */
static void fit(struct text *to, struct text *report)
{
    static const char *const word[] = {"results: ", "not tried: ", "tried: ", "differed: "};
    enum { WORDS = sizeof word / sizeof *word, NAMED = 1 };
    for (size_t i = 0, begin, end; i < WORDS && screen_rows(report) > SCREEN_ROWS; i++) {
        struct text shorter = {0};
        if (!find_paragraph(report, word[i], &begin, &end))
            continue;
        text_append(&shorter, report->data, begin);
        if (i == NAMED)
            add_names(&shorter, report->data + begin, end - begin);
        text_append(&shorter, report->data + end, report->length - end);
        text_free(report);
        *report = shorter;
    }
    text_join(to, report);
    text_free(report);
}

void check_text(struct text *to, const struct check_report *r, const char *program, bool all)
{
    struct text report = {0};
    add_verdict(&report, r);
    text_add(&report, "\n");
    add_rungs(&report, r, all);
    add_reasons(&report, r);
    check_batches_text(&report, r, all);
    add_evidence(&report, r);
    add_exceeding(&report, r);
    add_exact(&report, r);
    if (r->failure.status != STATUS_OK)
        text_format(&report, "failed in %s: %s\n", check_kinds[r->failed].name, r->failure.text);
    add_pairs(&report, "not answered", &r->left_out);
    add_pairs(&report, "not asked, time ran out", &r->unasked);
    check_witnesses_text(&report, r, program, all);
    if (all)
        text_join(to, &report), text_free(&report);
    else
        fit(to, &report);
}
