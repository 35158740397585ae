/* Larger trees, in outline. */
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/trees.h"
#include "reports/tree/text.h"

static enum status add_outline(struct text *to, struct shown_tree *shown, struct problem *p)
{
    char *outline = NULL;
    size_t length;
    FILE *file = open_memstream(&outline, &length);
    if (!file)
        return problem(p, STATUS_DEVICE, "report: out of memory for an outline");
    enum status status = reveal_tree_text(file, &shown->tree, 0, p);
    if (fclose(file) != 0 && status == STATUS_OK)
        status = problem(p, STATUS_DEVICE, "report: out of memory for an outline");
    if (status == STATUS_OK) {
        text_add(to, "<details><summary>");
        html_text(to, text_string(&shown->methods) ? text_string(&shown->methods) : "");
        text_add(to, "</summary>\n<div class=\"wide\" tabindex=\"0\"><pre>");
        html_text(to, outline);
        text_add(to, "</pre></div></details>\n");
    }
    free(outline);
    return status;
}

enum status report_outlines(struct report *r, struct shown_trees *trees, struct problem *p)
{
    enum status status = STATUS_OK;
    if (trees->count == 0)
        return STATUS_OK;
    text_format(&r->pictures,
                "<section id=\"outlines\"><h2>The trees of %d elements, in outline</h2>\n<p>A line "
                "is a partial sum of the elements named, below it are the two that it adds; "
                "<code>as</code> is one of the same shape, some elements further on; <code>by "
                "2</code>: every second element.</p>\n",
                TREES_LARGE);
    for (size_t i = 0; status == STATUS_OK && i < trees->count; i++)
        status = add_outline(&r->pictures, &trees->item[i], p);
    text_add(&r->pictures, "</section>\n");
    return status;
}
