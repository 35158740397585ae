/* Runs a program that was just written, where that can be done here, and says in its last line what
 * came of it: a bug report whose program shows nothing is worse than none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/check/reproducer/reproducer.h"
#include "experiments/options/subject_name.h"
#include "experiments/system/process.h"

/* A program looks for what depends on timing for 10 s; a library of Python may take some to load.
 */
#define LIMIT_S 40
enum { ANSWER = 1 << 16 };

/* Its exit status, what it printed, and what is said of its end. */
struct end {
    int status; /* -1: it has none */
    char printed[ANSWER];
    struct problem why;
};

static void run(struct end *e, const char *const argv[], const volatile sig_atomic_t *stop)
{
    static const char *const none[] = {NULL};
    struct process *process;
    size_t found = ANSWER - 1;
    e->status = -1;
    if (process_open(&process, "reproducer", argv, none, &e->why) != STATUS_OK)
        return;
    enum status status = process_ask(process,
                                     &(struct question){.line = "",
                                                        .answer = e->printed,
                                                        .due = ANSWER - 1,
                                                        .found = &found,
                                                        .timeout_s = LIMIT_S,
                                                        .limit = "",
                                                        .stop = stop},
                                     &e->why);
    e->status = status == STATUS_OK ? 0 : process_exit_status(process);
    process_close(process);
}

static void run_python(struct end *e, const struct reproducer *r)
{
    const char *python = getenv("ULPSCOPE_PYTHON");
    const char *const argv[] = {
        "/bin/sh", "-c", "exec \"$0\" \"$1\"", python && *python ? python : "python3",
        r->file,   NULL};
    run(e, argv, r->stop);
}

static void run_c(struct end *e, const struct reproducer *r)
{
    const char *folder = getenv("TMPDIR");
    char made[4096], program[4200];
    snprintf(made, sizeof made, "%s/ulpscope-XXXXXX", folder && *folder ? folder : "/tmp");
    if (!mkdtemp(made)) {
        problem(&e->why, STATUS_DATA, "reproducer: no folder could be made to compile it in");
        e->status = -1;
        return;
    }
    snprintf(program, sizeof program, "%s/reproducer", made);
    const char *const argv[] = {
        "/bin/sh", "-c",    "cc -O1 \"$0\" -o \"$1\" -ldl -lpthread -lm || exit 2; exec \"$1\"",
        r->file,   program, NULL};
    run(e, argv, r->stop);
    unlink(program);
    rmdir(made);
}

/* Of what it printed, the last line. */
static const char *last_line(char printed[ANSWER])
{
    size_t length = strlen(printed);
    while (length > 0 && printed[length - 1] == '\n')
        printed[--length] = 0;
    const char *line = strrchr(printed, '\n');
    return line ? line + 1 : printed;
}

static void say(char said[REPRODUCER_SAID], struct end *e)
{
    const char *why = e->why.text, *mine = "reproducer: ";
    if (e->status == 1 && strstr(e->printed, ": output "))
        snprintf(said, REPRODUCER_SAID, "It was run here when it was written: the break was seen.");
    else if (e->status == 0)
        snprintf(said, REPRODUCER_SAID,
                 "It was run here when it was written, and the break was NOT seen: %.200s.",
                 last_line(e->printed));
    else
        snprintf(said, REPRODUCER_SAID, "It could not be run here when it was written: %.300s",
                 why + (strncmp(why, mine, strlen(mine)) == 0 ? strlen(mine) : 0));
}

enum status reproducer_try(struct reproducer_said *said, struct text *text,
                           const struct reproducer *r, struct problem *p)
{
    bool python = name_is_program(r->method->name) || name_is_python(r->method->name);
    bool cuda = !python && (reproducer_calls(r->method) || r->device.kind == DEVICE_CUDA);
    struct end *e = calloc(1, sizeof *e);
    enum status status = reproducer_save(r->file, text, p);
    if (!e && status == STATUS_OK)
        status = problem(p, STATUS_MEMORY, "check --reproducer: out of memory");
    if (status == STATUS_OK && cuda)
        snprintf(said->words, REPRODUCER_SAID,
                 "It was not run here when it was written: nvcc is to compile it.");
    else if (status == STATUS_OK) {
        if (python)
            run_python(e, r);
        else
            run_c(e, r);
        say(said->words, e);
    }
    said->seen = status == STATUS_OK && !cuda && e->status == 1;
    free(e);
    if (status != STATUS_OK)
        return status;
    reproducer_comment(text, python ? "# " : "// ", said->words);
    return reproducer_save(r->file, text, p);
}
