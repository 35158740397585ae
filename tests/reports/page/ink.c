/* Colours of methods: how each adds, the same wherever it is drawn. */
#include <criterion/criterion.h>

#include "reports/page/report.h"

static bool of_a_library(const char *name)
{
    return strncmp(name, "cub/", 4) == 0 || strncmp(name, "cublas/", 7) == 0 ||
           strncmp(name, "cublaslt/", 9) == 0 || strncmp(name, "thrust/", 7) == 0;
}

enum { LIBRARIES = 9 };

/* A method without a family would be drawn as a library's. */
Test(ink, each_of_ours_has_a_family)
{
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        size_t colour = page_ink(m->name).colour;
        if (!operation_moves(m->operation))
            cr_expect((colour == LIBRARIES) == of_a_library(m->name), "%s: %zu", m->name, colour);
    }
}

/* Where two methods of an operation have a colour, they differ in their marks. */
Test(ink, no_two_of_an_operation_look_alike)
{
    for (size_t i = 0; i < method_count; i++)
        for (size_t k = 0; k < i; k++) {
            struct ink a = page_ink(method_registry[i]->name),
                       b = page_ink(method_registry[k]->name);
            bool library = a.colour == LIBRARIES || b.colour == LIBRARIES;
            cr_expect(library || method_registry[i]->operation != method_registry[k]->operation ||
                          a.colour != b.colour || a.mark != b.mark,
                      "%s and %s", method_registry[i]->name, method_registry[k]->name);
        }
}

Test(ink, subjects_of_others)
{
    cr_expect_eq(page_ink("./mine.so:serial").colour, LIBRARIES);
    cr_expect_eq(page_ink("exec:./sum/serial").colour, LIBRARIES);
    cr_expect_eq(page_ink("sum/serial").colour, page_ink("scan/serial").colour);
    cr_expect_neq(page_ink("sum/serial").colour, page_ink("sum/atomic").colour);
}

Test(ink, each_colour_is_told)
{
    struct text told = {0};
    page_inks(&told);
    for (char colour = '1'; colour <= '9'; colour++) {
        char class[] = "class=\"i \"";
        class[8] = colour;
        cr_expect(strstr(text_string(&told), class), "%s", class);
    }
    text_free(&told);
}
