#include "kernels/transpose/tile.h"

#include "kernels/method/matrix.h"
#include "kernels/scatter/bins.h"
#include "kernels/method/team.h"

enum { PITCH_MOST = TRANSPOSE_TILE + 1 };

struct work {
    const struct task *task;
    unsigned pitch;
    size_t rows, columns;
};

static size_t tiles_of(size_t length)
{
    return length / TRANSPOSE_TILE + (length % TRANSPOSE_TILE != 0);
}

static size_t present(size_t length, size_t first)
{
    return length - first < TRANSPOSE_TILE ? length - first : TRANSPOSE_TILE;
}

static void move_tile(const struct work *w, size_t row, size_t column)
{
    const struct array *in = &w->task->of->in, *out = &w->task->out;
    uint64_t tile[TRANSPOSE_TILE * PITCH_MOST];
    size_t rows = present(w->rows, row), columns = present(w->columns, column);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            tile[r * w->pitch + c] = array_bits(in, (row + r) * w->columns + column + c);
    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < rows; r++)
            array_set_bits(out, (column + c) * w->rows + row + r, tile[r * w->pitch + c]);
}

static void move_share(void *context, unsigned thread)
{
    const struct work *w = context;
    size_t across = tiles_of(w->columns);
    struct scatter_share share =
        scatter_share(0, tiles_of(w->rows) * across, thread, w->task->shape.threads);
    for (size_t i = share.begin; i < share.end; i++)
        move_tile(w, i / across * TRANSPOSE_TILE, i % across * TRANSPOSE_TILE);
}

enum status transpose_tiles(const struct task *t, unsigned pitch, struct problem *p)
{
    struct work w = {t, pitch, t->of->bins, matrix_length(t->of->in.n, t->of->bins)};
    return team_run(t->shape.threads, move_share, &w, p);
}
