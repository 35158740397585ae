/* The program: reads the command line, runs the verb, prints the problem if there is one. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "experiments/operations/operation.h"
#include "experiments/program/documents.h"
#include "experiments/subjects/foreign.h"
#include "experiments/system/machine.h"
#include "experiments/program/verbs.h"
#include "reports/text/table.h"

static enum status flush(struct problem *p)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return STATUS_OK;
    return problem(p, STATUS_DATA, "standard output: could not be written: %s", strerror(errno));
}

/* What functions of Python compute: of operations that have no words on the wire they compute none,
 * and verbs that are asked about one read it themselves. */
static const char *operation_of(const struct arguments *a)
{
    const char *name = argument_value(a, "operation");
    for (size_t i = 0; name && a->verb->of_operation && operations[i]; i++)
        if (strcmp(name, operations[i]->name) == 0 && !operation_served(operations[i]))
            return NULL;
    return name;
}

/* What holds for all foreign subjects. */
static enum status subjects(const struct arguments *a, struct problem *p)
{
    double seconds;
    const char *text = argument_value(a, "timeout");
    enum status status = text ? real_parse(&seconds, "timeout", text, p) : STATUS_OK;
    if (text && status == STATUS_OK)
        foreign_timeout(seconds);
    if (status == STATUS_OK)
        status = foreign_python(argument_value(a, "array"), operation_of(a), p);
    return status;
}

/* `--man [VERB]`, `--completion SHELL`: what an installation is made with. */
static enum status document(int argc, char **argv, struct problem *p)
{
    struct arguments a = {0};
    const char *what = argc > 2 ? argv[2] : "";
    if (strcmp(argv[1], "--completion") == 0)
        return completion_print(what, p);
    if (argc > 2 && arguments_parse(&a, 2, argv + 1, p) != STATUS_OK && !a.verb)
        return p->status;
    manual_print(a.verb);
    p->status = STATUS_OK; /* a missing operand is no matter here */
    return STATUS_OK;
}

static enum status dispatch(int argc, char **argv, struct problem *p)
{
    const char *first = argc > 1 ? argv[1] : "";
    struct arguments arguments;
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        printf("ulpscope %s (%s)\n", build_version, build_commit);
        return STATUS_OK;
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 ||
        (strcmp(first, "help") == 0 && argc == 2)) {
        help_print(NULL);
        return STATUS_OK;
    }
    if (strcmp(first, "--man") == 0 || strcmp(first, "--completion") == 0)
        return document(argc, argv, p);
    bool help = strcmp(first, "help") == 0;
    enum status status = help ? arguments_parse(&arguments, 2, argv + 1, p)
                              : arguments_parse(&arguments, argc, argv, p);
    if (help && arguments.verb)
        status = p->status = STATUS_OK; /* a missing operand is no matter here */
    if (status != STATUS_OK)
        return status;
    if (help || argument_flag(&arguments, "help")) {
        help_print(arguments.verb);
        return STATUS_OK;
    }
    table_set_wide(argument_flag(&arguments, "wide"));
    status = inputs_spared(&arguments, p);
    if (status == STATUS_OK)
        status = subjects(&arguments, p);
    return status == STATUS_OK ? arguments.verb->run(&arguments, p) : status;
}

/* A file that is opened later must not become 0, 1 or 2: what is said would land in it. Reading
 * from a closed standard input finds nothing, writing to a closed standard output fails as before.
 */
static void fill_descriptors(void)
{
    static const int mode[] = {O_RDONLY, O_RDONLY, O_RDWR};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode[fd]) != fd)
            _exit(STATUS_DATA);
}

int main(int argc, char **argv)
{
    struct problem p = {0};
    fill_descriptors();
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error like another */
    enum status status = dispatch(argc, argv, &p);
    foreign_end(NULL);
    enum status flushed = flush(&p);
    if (status == STATUS_OK)
        status = flushed;
    if (*p.text && status != STATUS_OK)
        fprintf(stderr, "ulpscope: %s\n", p.text);
    return status_exit(status);
}
