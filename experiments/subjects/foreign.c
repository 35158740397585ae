#include "experiments/subjects/foreign_state.h"

#include <stdlib.h>

#include "experiments/operations/operation.h"
#include "reference/base/visible.h"

double foreign_timeout_s = 60;
const volatile sig_atomic_t *foreign_stop;
const char *foreign_server_path = "/proc/self/exe";

static struct foreign *all;
static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;

void foreign_timeout(double seconds)
{
    foreign_timeout_s = seconds;
}

void foreign_interrupt(const volatile sig_atomic_t *stop)
{
    foreign_stop = stop;
}

void foreign_server(const char *path)
{
    foreign_server_path = path;
}

const char *foreign_program(void)
{
    return foreign_server_path;
}

void foreign_products(struct method *m)
{
    bool dot = operation_asks(m->operation, SETTING_PRODUCT);
    m->product = dot ? PRODUCT_UNKNOWN : PRODUCT_NONE;
    m->products = dot ? 1u << PRODUCT_UNKNOWN : 0;
}

static void free_one(struct foreign *f)
{
    pthread_mutex_destroy(&f->mutex);
    free(f->name);
    free(f->summary);
    free(f);
}

/* Names stand in JSON, in CSV and in tables, and are read back from there. */
static enum status check_name(const char *where, const char *name, struct problem *p)
{
    if (!visible_all(name))
        return problem(
            p, STATUS_USAGE,
            "%s: found '%s', with a control character, or which is not UTF-8: expected one line of "
            "text",
            where, name);
    if (strchr("=+-@", *name)) /* a formula, to a spreadsheet that opens the CSV */
        return problem(p, STATUS_USAGE, "%s: found '%s', expected ./%s", where, name, name);
    return STATUS_OK;
}

static enum status make_program(struct foreign *f, const char *where,
                                const struct operation *operation, struct problem *p)
{
    const char *command = f->name + strlen("exec:");
    if (strspn(command, " \t") == strlen(command))
        return problem(p, STATUS_USAGE, "%s: found '%s', expected exec:COMMAND", where, f->name);
    f->method.summary = "a program of yours";
    f->method.operation = operation ? operation : &operation_sum;
    foreign_products(&f->method);
    f->method.pairs[DEVICE_CPU] = f->method.pairs[DEVICE_CUDA] =
        (struct format_pairs)FORMAT_PAIRS_ALL;
    return STATUS_OK;
}

static enum status make_object(struct foreign *f, const char *where, struct problem *p)
{
    enum status status = foreign_describe(f, where, p);
    return status == STATUS_OK ? foreign_hash(f, where, p) : status;
}

static enum status make(struct foreign **made, const char *where, const char *name,
                        const struct operation *operation, struct problem *p)
{
    struct foreign *f = calloc(1, sizeof *f);
    if (!f || !(f->name = strdup(name))) {
        free(f);
        return problem(p, STATUS_DEVICE, "%s: out of memory", where);
    }
    pthread_mutex_init(&f->mutex, NULL);
    f->object = name_is_object(name);
    f->method = (struct method){.name = f->name,
                                .promise = PROMISE_NONE,
                                .foreign = true,
                                .addition = ADDITION_UNKNOWN,
                                .bound = THEOREM_ANY_ORDER,
                                .cpu = foreign_run};
    enum status status = check_name(where, name, p);
    if (status == STATUS_OK)
        status = f->object ? make_object(f, where, p) : make_program(f, where, operation, p);
    *made = f;
    if (status != STATUS_OK)
        free_one(f);
    return status;
}

enum status foreign_named(const struct method **m, const char *where, const char *name,
                          const struct operation *operation, struct problem *p)
{
    const struct operation *wanted = operation ? operation : &operation_sum;
    enum status status = STATUS_OK;
    pthread_mutex_lock(&all_mutex);
    struct foreign *f = all;
    while (f && !(strcmp(f->name, name) == 0 && (f->object || f->method.operation == wanted)))
        f = f->next;
    if (!f) {
        status = make(&f, where, name, operation, p);
        if (status == STATUS_OK) {
            f->next = all;
            all = f;
        }
    }
    pthread_mutex_unlock(&all_mutex);
    *m = status == STATUS_OK ? &f->method : NULL;
    return status;
}

bool foreign_times(const struct method *m)
{
    const struct foreign *f = (const struct foreign *)m;
    return m->cpu == foreign_run && (f->object || f->times == TIMES_ITSELF);
}

bool foreign_time(const struct method *m, uint64_t *time_ns)
{
    const struct foreign *f = (const struct foreign *)m;
    bool timed = m->cpu == foreign_run && f->timed;
    *time_ns = timed ? f->time_ns : 0;
    return timed;
}

const char *foreign_fingerprint(const struct method *m)
{
    const struct foreign *f = (const struct foreign *)m;
    return m->cpu == foreign_run && f->object ? f->fingerprint : NULL;
}

struct foreign *foreign_all(void)
{
    pthread_mutex_lock(&all_mutex);
    struct foreign *first = all;
    pthread_mutex_unlock(&all_mutex);
    return first;
}

void foreign_end(const struct method *m)
{
    for (struct foreign *f = foreign_all(); f; f = f->next) {
        if (m && m != &f->method)
            continue;
        pthread_mutex_lock(&f->mutex);
        process_close(f->process);
        f->process = NULL;
        pthread_mutex_unlock(&f->mutex);
    }
}
