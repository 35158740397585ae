#include "reports/tree/text.h"

/* A name may be any command line. */
static void print_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

void reveal_tree_dot(FILE *to, const struct reveal_tree *t, size_t first, const char *title)
{
    fputs("graph order {\n    label = ", to);
    print_quoted(to, title);
    fputs("; labelloc = t; fontname = \"sans-serif\";\n"
          "    nodesep = 0.12; ranksep = 0.25; splines = line; ordering = out;\n"
          "    node [fontname = \"sans-serif\", fontsize = 11, height = 0.25, width = 0.25, "
          "margin = 0.03];\n"
          "    node [shape = box, style = filled, fillcolor = \"#dbe9f6\", color = \"#dbe9f6\"];\n",
          to);
    for (size_t i = 0; i < t->leaves; i++)
        fprintf(to, "    %zu [label = \"%zu\"];\n", i, first + i);
    fprintf(to, "    node [shape = circle, fixedsize = true, fillcolor = white, color = black, "
                "label = \"+\"];\n");
    for (size_t k = 0; k < t->additions; k++) {
        size_t children = t->begin[k + 1] - t->begin[k];
        if (children > 2)
            fprintf(to,
                    "    %zu [shape = box, fixedsize = false, fillcolor = \"#fde5c8\", label = "
                    "\"%zu at once\"];\n",
                    t->leaves + k, children);
        else
            fprintf(to, "    %zu;\n", t->leaves + k);
        for (uint32_t c = t->begin[k]; c < t->begin[k + 1]; c++)
            fprintf(to, "    %zu -- %u;\n", t->leaves + k, t->child[c]);
    }
    fprintf(to, "}\n");
}
