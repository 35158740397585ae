#include "experiments/system/ranks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/system/clock.h"
#include "reports/text/file.h"

#define SECOND_NS UINT64_C(1000000000)

enum { PLACE_SECONDS = 10, LOOK_US_LEAST = 1000, LOOK_US_MOST = 20000 };

/* --- files --- */

struct meeting {
    struct rank rank;
    uint64_t come_s; /* that rank 0 waits for the others, and half of what they wait for it */
    const volatile sig_atomic_t *stop;
    char *folder;
    int place;      /* our lock, held */
    uint64_t token; /* ours: whose word lists it speaks to us, not to one who was here before */
    uint64_t job;
    /* Of the others: what stands there, for whomever it was said. */
    uint64_t said_job;
    uint32_t said_count;
    /* Of rank 0. */
    void *said;
    size_t said_bytes;
    uint64_t *heard; /* tokens of the ranks that were told, 0 for none */
    struct meeting_done others;
    uint64_t looked_ns, told_ns;
};

/* What a rank's file says, always as long. */
enum { LINE = 2 * 17 + 2 * 21 };
#define LINE_FORMAT "%016" PRIx64 " %016" PRIx64 " %020" PRIu64 " %020" PRIu64 "\n"

struct line {
    uint64_t token, job; /* 0 until it works for one */
    struct meeting_done done;
};

/* What is said begins with this, a token a rank, and then the word. */
struct heading {
    uint64_t job;
    uint32_t count, unused;
};

struct counter {
    uint64_t job, next;
};

static char *path_of(const struct meeting *m, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", m->folder, name) < 0 ? NULL : path;
}

static int open_in(const char *folder, const char *name, int flags)
{
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return -1;
    int fd = open(path, flags | O_CLOEXEC, 0666);
    int error = errno;
    free(path);
    errno = error;
    return fd;
}

static int open_place(const char *folder, uint32_t index, int flags)
{
    char name[32];
    snprintf(name, sizeof name, "%u.lock", index);
    return open_in(folder, name, flags);
}

static uint64_t draw(void)
{
    uint64_t drawn = 0;
    while (drawn == 0)
        if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
            drawn = clock_ns() ^ (uint64_t)getpid() << 32;
    return drawn;
}

static bool put_line(int fd, struct line l)
{
    char text[LINE + 1];
    snprintf(text, sizeof text, LINE_FORMAT, l.token, l.job, l.done.cases, l.done.runs);
    return pwrite(fd, text, LINE, 0) == LINE;
}

/* Is a process there? What it says stands in *l, or zeros. */
static bool is_there(const char *folder, uint32_t index, struct line *l)
{
    char text[LINE + 1] = "";
    int fd = open_place(folder, index, O_RDWR);
    *l = (struct line){0};
    if (fd < 0)
        return false;
    bool there = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (pread(fd, text, LINE, 0) != LINE ||
        sscanf(text, "%" SCNx64 " %" SCNx64 " %" SCNu64 " %" SCNu64, &l->token, &l->job,
               &l->done.cases, &l->done.runs) != 4)
        *l = (struct line){0};
    close(fd);
    return there;
}

bool meeting_held(const char *folder, uint32_t *index)
{
    struct line l;
    struct dirent *entry;
    bool held = false;
    DIR *d = opendir(folder);
    while (d && !held && (entry = readdir(d))) {
        int end = 0;
        if (sscanf(entry->d_name, "%6u.lock%n", index, &end) == 1 && end > 0 && !entry->d_name[end])
            held = is_there(folder, *index, &l) && l.job != 0;
    }
    if (d)
        closedir(d);
    return held;
}

static enum status failed(const struct meeting *m, const char *what, struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: %s: %s", m->folder, what, strerror(errno));
}

/* A tenth of what was waited so far: what comes soon is seen soon, and who waits long looks seldom.
 */
static enum status pause_here(const struct meeting *m, uint64_t begin, struct problem *p)
{
    uint64_t us = (clock_ns() - begin) / 10000;
    usleep(us < LOOK_US_LEAST ? LOOK_US_LEAST : us > LOOK_US_MOST ? LOOK_US_MOST : (useconds_t)us);
    return m->stop && *m->stop ? problem(p, STATUS_INTERRUPTED, "interrupted") : STATUS_OK;
}

/* --- coming and going --- */

static enum status no_rank_0(const struct meeting *m, struct problem *p)
{
    return problem(
        p, STATUS_DATA,
        "%s: rank %u of %u found no rank 0 in %d s: do all ranks see this folder? or was "
        "this process not started as one of several? (then ULPSCOPE_RANK=off)",
        m->folder, m->rank.index, m->rank.count, (int)(2 * m->come_s));
}

static enum status take_place(struct meeting *m, struct problem *p)
{
    uint64_t begin = clock_ns();
    while ((m->place = open_place(m->folder, m->rank.index, O_RDWR | O_CREAT)) < 0) {
        if (errno != ENOENT || m->rank.index == 0)
            return failed(m, "a rank cannot open its file", p);
        if (clock_ns() - begin > 2 * m->come_s * SECOND_NS)
            return no_rank_0(m, p);
        if (pause_here(m, begin, p) != STATUS_OK)
            return p->status;
    }
    begin = clock_ns();
    while (flock(m->place, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return failed(m, "a rank cannot lock its file", p);
        if (clock_ns() - begin > PLACE_SECONDS * SECOND_NS)
            return problem(p, STATUS_DATA,
                           "%s: another ulpscope is rank %u of %u there: does an earlier job still "
                           "run?",
                           m->folder, m->rank.index, m->rank.count);
        if (pause_here(m, begin, p) != STATUS_OK)
            return p->status;
    }
    return put_line(m->place, (struct line){.token = m->token})
               ? STATUS_OK
               : failed(m, "a rank cannot write its file", p);
}

enum status meeting_open(struct meeting **made, const char *folder, struct rank r,
                         const volatile sig_atomic_t *stop, struct problem *p)
{
    struct meeting *m = calloc(1, sizeof *m);
    *made = m;
    if (!m || !(m->folder = strdup(folder)) || !(m->heard = calloc(r.count, sizeof *m->heard)))
        return problem(p, STATUS_MEMORY, "%s: out of memory", folder);
    m->rank = r;
    m->stop = stop;
    m->place = -1;
    m->token = draw();
    m->come_s = rank_seconds();
    /* An mpirun that is killed tells nobody. A shell may end before the ranks that it began. */
    if (!getenv("ULPSCOPE_RANK"))
        prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (r.index == 0 && mkdir(folder, 0777) != 0 && errno != EEXIST)
        return failed(m, "could not be made", p);
    return take_place(m, p);
}

void meeting_clear(const char *folder)
{
    struct dirent *entry;
    DIR *d = opendir(folder);
    while (d && (entry = readdir(d))) {
        const char *name = entry->d_name, *end = strrchr(name, '.');
        if (strcmp(name, "job") == 0 || strcmp(name, "next") == 0 ||
            (end && (strcmp(end, ".lock") == 0 || strcmp(end, ".part") == 0)))
            unlinkat(dirfd(d), name, 0);
    }
    if (d)
        closedir(d);
    rmdir(folder);
}

void meeting_close(struct meeting *m)
{
    if (!m)
        return;
    if (m->folder && m->place >= 0)
        close(m->place);
    free(m->folder);
    free(m->said);
    free(m->heard);
    free(m);
}

/* Has another process cleared the folder since? */
static bool place_lost(const struct meeting *m)
{
    struct stat ours, named = {0};
    char *path, name[32];
    snprintf(name, sizeof name, "%u.lock", m->rank.index);
    path = path_of(m, name);
    bool lost =
        path && fstat(m->place, &ours) == 0 &&
        (stat(path, &named) != 0 || named.st_ino != ours.st_ino || named.st_dev != ours.st_dev);
    free(path);
    return lost;
}

/* --- the word that begins a job --- */

static enum status put_file(const struct meeting *m, const char *name, const void *data,
                            size_t bytes, struct problem *p)
{
    char *path = path_of(m, name);
    enum status status = path ? file_replace_passing(path, data, bytes, p)
                              : problem(p, STATUS_MEMORY, "%s: out of memory", m->folder);
    free(path);
    return status;
}

static enum status write_said(struct meeting *m, struct problem *p)
{
    size_t tokens = m->rank.count * sizeof *m->heard;
    size_t bytes = sizeof(struct heading) + tokens + m->said_bytes;
    char *all = malloc(bytes);
    if (!all)
        return problem(p, STATUS_MEMORY, "%s: out of memory", m->folder);
    const struct heading heading = {m->job, m->rank.count, 0};
    memcpy(all, &heading, sizeof heading);
    memcpy(all + sizeof heading, m->heard, tokens);
    if (m->said_bytes > 0)
        memcpy(all + sizeof heading + tokens, m->said, m->said_bytes);
    enum status status = put_file(m, "job", all, bytes, p);
    free(all);
    return status;
}

/* Tells those that came since. *heard: how many have heard, *at_work: how many of them are there.
 */
static enum status greet(struct meeting *m, uint32_t *heard, uint32_t *at_work, struct problem *p)
{
    bool news = false;
    *heard = *at_work = 1;
    for (uint32_t k = 1; k < m->rank.count; k++) {
        struct line l; /* stays when it is gone */
        bool there = is_there(m->folder, k, &l) && l.token != 0;
        *heard += l.job == m->job;
        *at_work += there && l.job == m->job;
        news |= there && l.token != m->heard[k];
        if (there)
            m->heard[k] = l.token;
    }
    return news ? write_said(m, p) : STATUS_OK;
}

enum status meeting_say(struct meeting *m, const void *word, size_t bytes, uint32_t *heard,
                        struct problem *p)
{
    uint64_t begin = clock_ns();
    uint32_t at_work;
    m->job = draw();
    m->said = malloc(bytes + 1);
    if (!m->said)
        return problem(p, STATUS_MEMORY, "%s: out of memory", m->folder);
    memcpy(m->said, word, bytes);
    m->said_bytes = bytes;
    const struct counter counter = {m->job, 0};
    put_line(m->place, (struct line){.token = m->token, .job = m->job});
    enum status status = put_file(m, "next", &counter, sizeof counter, p);
    if (status == STATUS_OK)
        status = greet(m, heard, &at_work, p);
    while (status == STATUS_OK && *heard < m->rank.count &&
           clock_ns() - begin < m->come_s * SECOND_NS) {
        status = pause_here(m, begin, p);
        if (status == STATUS_OK)
            status = greet(m, heard, &at_work, p);
    }
    return status;
}

/* Reads what is said, where it is said to us. */
static bool listen(struct meeting *m, void **word, size_t *bytes)
{
    struct stat facts;
    char *all = NULL;
    struct heading heading;
    int fd = open_in(m->folder, "job", O_RDONLY);
    bool good = fd >= 0 && fstat(fd, &facts) == 0 && (all = malloc((size_t)facts.st_size + 1)) &&
                read(fd, all, (size_t)facts.st_size) == facts.st_size &&
                (size_t)facts.st_size >= sizeof heading;
    if (fd >= 0)
        close(fd);
    if (good) {
        memcpy(&heading, all, sizeof heading);
        m->said_job = heading.job;
        m->said_count = heading.count;
    }
    size_t head = good ? sizeof heading + heading.count * sizeof(uint64_t) : 0;
    good = good && heading.count == m->rank.count && (size_t)facts.st_size >= head &&
           memcmp(all + sizeof heading + m->rank.index * sizeof(uint64_t), &m->token,
                  sizeof m->token) == 0;
    if (good) {
        m->job = heading.job;
        put_line(m->place, (struct line){.token = m->token, .job = m->job});
        *bytes = (size_t)facts.st_size - head;
        memmove(all, all + head, *bytes);
        *word = all;
    } else {
        free(all);
    }
    return good;
}

enum status meeting_hear(struct meeting *m, void **word, size_t *bytes, struct problem *p)
{
    uint64_t begin = clock_ns(), last = begin;
    enum status status = STATUS_OK;
    *word = NULL;
    while (status == STATUS_OK && !listen(m, word, bytes)) {
        struct line l;
        uint64_t now = clock_ns();
        bool there = is_there(m->folder, 0, &l);
        if (there)
            last = now;
        if (there && l.job != 0 && l.job == m->said_job && m->said_count != m->rank.count)
            return problem(p, STATUS_USAGE,
                           "%s: rank %u of %u found a rank 0 of %u: do all ranks say the same "
                           "number of them?",
                           m->folder, m->rank.index, m->rank.count, m->said_count);
        if (place_lost(m)) {
            close(m->place);
            status = take_place(m, p);
            if (status != STATUS_OK)
                return status;
        }
        if (now - last > 2 * m->come_s * SECOND_NS)
            return no_rank_0(m, p);
        status = pause_here(m, begin, p);
    }
    return status;
}

/* --- work --- */

enum status meeting_take(struct meeting *m, uint64_t *number, struct problem *p)
{
    struct line l;
    struct counter counter;
    if (m->rank.index > 0 && !is_there(m->folder, 0, &l))
        return problem(p, STATUS_INTERRUPTED, "rank %u of %u: rank 0 is gone", m->rank.index,
                       m->rank.count);
    int fd = open_in(m->folder, "next", O_RDWR);
    if (fd < 0)
        return failed(m, "a rank cannot open the file `next`", p);
    int locked;
    while ((locked = flock(fd, LOCK_EX)) != 0 && errno == EINTR) {
    }
    if (locked != 0 || pread(fd, &counter, sizeof counter, 0) != (ssize_t)sizeof counter) {
        failed(m, "a rank cannot read the file `next`", p);
    } else if (counter.job != m->job) {
        problem(p, STATUS_INTERRUPTED, "rank %u of %u: another job began", m->rank.index,
                m->rank.count);
    } else {
        *number = counter.next++;
        if (pwrite(fd, &counter, sizeof counter, 0) != (ssize_t)sizeof counter)
            failed(m, "a rank cannot write the file `next`", p);
    }
    close(fd);
    return p->status;
}

void meeting_tell(struct meeting *m, struct meeting_done done)
{
    uint64_t now = clock_ns();
    if (now - m->told_ns < SECOND_NS)
        return;
    m->told_ns = now;
    put_line(m->place, (struct line){m->token, m->job, done});
}

struct meeting_done meeting_told(struct meeting *m, struct meeting_done own)
{
    uint64_t now = clock_ns();
    uint32_t heard, at_work;
    struct problem ignored = {0};
    if (now - m->looked_ns >= SECOND_NS) {
        m->looked_ns = now;
        greet(m, &heard, &at_work, &ignored);
        m->others = (struct meeting_done){0};
        for (uint32_t k = 1; k < m->rank.count; k++) {
            struct line l;
            is_there(m->folder, k, &l);
            if (l.token == m->heard[k]) {
                m->others.cases += l.done.cases;
                m->others.runs += l.done.runs;
            }
        }
    }
    return (struct meeting_done){own.cases + m->others.cases, own.runs + m->others.runs};
}

static uint32_t count_at_work(const struct meeting *m)
{
    uint32_t count = 1;
    for (uint32_t k = 1; k < m->rank.count; k++) {
        struct line l;
        count += is_there(m->folder, k, &l) && l.job == m->job;
    }
    return count;
}

static void unsay(const struct meeting *m)
{
    char *path = path_of(m, "job");
    if (path)
        unlink(path);
    free(path);
}

enum status meeting_end(struct meeting *m, void (*wait)(void *context), void *context,
                        struct problem *p)
{
    uint32_t heard, at_work = 1;
    uint64_t begin = clock_ns();
    enum status status = STATUS_OK;
    if (m->rank.index > 0)
        return STATUS_OK;
    for (int i = 0; i < 2; i++) { /* then again for one that heard in the last moment */
        do {
            if (i == 0)
                status = greet(m, &heard, &at_work, p);
            else
                at_work = count_at_work(m);
            if (status == STATUS_OK && wait)
                wait(context);
            if (status == STATUS_OK)
                status = pause_here(m, begin, p);
        } while (status == STATUS_OK && at_work > 1);
        unsay(m);
    }
    return status;
}
