/* The bytes of a file: read in place where it is a regular file, held whole where it is not. */
#include "experiments/data/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/system/memory.h"

/* Files of other formats, by their first bytes: read as raw numbers, their headers would be summed.
 */

struct signature {
    const char *what, *advice;
    size_t at, size; /* the place and the number of the bytes */
    const char *bytes;
};

#define SAVE_NPY   "save the array as .npy (numpy.save)"
#define DECOMPRESS "decompress it first"
#define SIGNATURE(what, advice, at, bytes)                                                         \
    {                                                                                              \
        what, advice, at, sizeof bytes - 1, bytes                                                  \
    }

static const struct signature signatures[] = {
    SIGNATURE("an HDF5 file", SAVE_NPY, 0, "\x89HDF\r\n\x1a\n"),
    SIGNATURE("an HDF5 file", SAVE_NPY, 512, "\x89HDF\r\n\x1a\n"),
    SIGNATURE("an HDF5 file", SAVE_NPY, 1024, "\x89HDF\r\n\x1a\n"),
    SIGNATURE("an HDF5 file", SAVE_NPY, 2048, "\x89HDF\r\n\x1a\n"),
    SIGNATURE("a zip file (.npz, .pt)", SAVE_NPY, 0, "PK\3\4"),
    SIGNATURE("an empty zip file", SAVE_NPY, 0, "PK\5\6"),
    SIGNATURE("a gzip file", DECOMPRESS, 0, "\x1f\x8b\x08"),
    SIGNATURE("a zstd file", DECOMPRESS, 0, "\x28\xb5\x2f\xfd"),
    SIGNATURE("an xz file", DECOMPRESS, 0,
              "\xfd"
              "7zXZ\0"),
    SIGNATURE("a 7z file", DECOMPRESS, 0, "7z\xbc\xaf\x27\x1c"),
    SIGNATURE("an lz4 file", DECOMPRESS, 0, "\x04\x22\x4d\x18"),
    SIGNATURE("a PNG picture", SAVE_NPY, 0, "\x89PNG\r\n\x1a\n"),
    SIGNATURE("a JPEG picture", SAVE_NPY, 0, "\xff\xd8\xff\xe0"),
    SIGNATURE("a JPEG picture", SAVE_NPY, 0, "\xff\xd8\xff\xe1"),
    SIGNATURE("a JPEG picture", SAVE_NPY, 0, "\xff\xd8\xff\xdb"),
    SIGNATURE("a TIFF picture", SAVE_NPY, 0, "II*\0"),
    SIGNATURE("a TIFF picture", SAVE_NPY, 0, "MM\0*"),
    SIGNATURE("a RIFF file (WAV, AVI)", SAVE_NPY, 0, "RIFF"),
    SIGNATURE("a Parquet file", SAVE_NPY, 0, "PAR1"),
    SIGNATURE("an Arrow file", SAVE_NPY, 0, "ARROW1"),
    SIGNATURE("a NetCDF file", SAVE_NPY, 0, "CDF\1"),
    SIGNATURE("a NetCDF file", SAVE_NPY, 0, "CDF\2"),
    SIGNATURE("a FITS file", SAVE_NPY, 0, "SIMPLE  ="),
    SIGNATURE("a MATLAB file", SAVE_NPY, 0, "MATLAB 5.0 MAT-file"),
    SIGNATURE("a GGUF file", SAVE_NPY, 0, "GGUF"),
    SIGNATURE("an ELF program or object", "name a file of numbers", 0,
              "\x7f"
              "ELF"),
    SIGNATURE("a PDF file", "name a file of numbers", 0, "%PDF-"),
    SIGNATURE("a pickle file of PyTorch", SAVE_NPY, 0, "\x80\2\x8a\x0a"),
};

static bool begins(const unsigned char *head, size_t size, size_t at, const char *bytes,
                   size_t count)
{
    return size >= at + count && memcmp(head + at, bytes, count) == 0;
}

/* Protocols 4 and 5 begin with a frame, whose length lies within the file; 2 and 3 with an object.
 */
static bool is_pickle(const unsigned char *head, size_t size, size_t whole)
{
    uint64_t frame;
    if (size < 12 || head[0] != 0x80)
        return false;
    memcpy(&frame, head + 3, sizeof frame);
    return head[1] < 4 ? (head[1] == 2 || head[1] == 3) && strchr("}]()cXK", head[2]) && head[2]
                       : head[1] < 6 && head[2] == 0x95 && frame < whole;
}

/* bzip2: a block's size, then pi. */
static bool is_bzip2(const unsigned char *head, size_t size)
{
    return begins(head, size, 0, "BZh", 3) && begins(head, size, 4, "1AY&SY", 6);
}

static enum status looks_like(const char *path, const char *what, const char *advice,
                              struct problem *p)
{
    return problem(p, STATUS_DATA,
                   "%s: looks like %s, expected numbers: %s, or add --raw if its bytes are raw "
                   "numbers from the first on",
                   path, what, advice);
}

enum status data_foreign(const char *path, const unsigned char *head, size_t size, size_t whole,
                         struct problem *p)
{
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const struct signature *s = &signatures[i];
        if (begins(head, size, s->at, s->bytes, s->size))
            return looks_like(path, s->what, s->advice, p);
    }
    if (is_bzip2(head, size))
        return looks_like(path, "a bzip2 file", DECOMPRESS, p);
    if (is_pickle(head, size, whole))
        return looks_like(path, "a pickle file", SAVE_NPY, p);
    return STATUS_OK;
}

enum { FIRST_CAPACITY = 1 << 16 };

static enum status unreadable(const struct data_file *file, struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: could not be read: %s", file->path, strerror(errno));
}

static enum status grow(struct data_file *file, size_t *capacity, struct problem *p)
{
    size_t wanted = *capacity ? 2 * *capacity : FIRST_CAPACITY;
    unsigned char *grown = memory_has(wanted - *capacity) ? realloc(file->bytes, wanted) : NULL;
    if (!grown)
        return problem(p, STATUS_MEMORY, "%s: out of memory after %zu bytes, and it goes on",
                       file->path, file->size);
    file->bytes = grown;
    *capacity = wanted;
    return STATUS_OK;
}

static enum status read_to_end(struct data_file *file, struct problem *p)
{
    size_t capacity = 0;
    for (;;) {
        if (file->size == capacity) {
            enum status status = grow(file, &capacity, p);
            if (status != STATUS_OK)
                return status;
        }
        ssize_t got = read(file->fd, file->bytes + file->size, capacity - file->size);
        if (got == 0)
            return STATUS_OK;
        if (got > 0)
            file->size += (size_t)got;
        else if (errno != EINTR)
            return unreadable(file, p);
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static enum status open_path(struct data_file *file, struct problem *p)
{
    struct stat facts;
    file->fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0)
        return problem(p, STATUS_DATA, "%s: could not be opened: %s", file->path, strerror(errno));
    if (fstat(file->fd, &facts) != 0)
        return unreadable(file, p);
    /* Files of /proc are regular and say that they are empty. */
    if (S_ISREG(facts.st_mode) && facts.st_size > 0) {
        file->size = (size_t)facts.st_size;
        return STATUS_OK;
    }
    return read_to_end(file, p);
}

enum status data_file_open(struct data_file *file, const char *path, struct problem *p)
{
    *file = (struct data_file){.path = path, .name = base_name(path), .fd = -1};
    if (strcmp(path, "-") != 0)
        return open_path(file, p);
    file->path = "standard input";
    file->fd = STDIN_FILENO;
    return read_to_end(file, p);
}

void data_file_close(struct data_file *file)
{
    if (file->fd > STDIN_FILENO)
        close(file->fd);
    free(file->bytes);
    file->bytes = NULL;
}

enum status data_file_read(const struct data_file *file, size_t offset, size_t size, void *to,
                           struct problem *p)
{
    if (file->source)
        return file->source(file->state, offset, size, to, p);
    if (file->bytes) {
        memcpy(to, file->bytes + offset, size);
        return STATUS_OK;
    }
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(file->fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (got == 0)
            return problem(p, STATUS_DATA, "%s: ended at byte %zu while it was read, expected %zu",
                           file->path, offset + done, file->size);
        if (got > 0)
            done += (size_t)got;
        else if (errno != EINTR)
            return unreadable(file, p);
    }
    return STATUS_OK;
}
