"""Functions of PyTorch and Triton that are called in ways of their own, as the operations that they are instances of:
python:ulpscope.calls.embedding_bag@torch.

Those of scatter take elements, the bin of each, and the number of bins. They sort keys where the library takes segments; the
sort is stable, and of whole numbers.
"""


def scatter_reduce(x, keys, bins):
    import torch
    return torch.zeros(bins, dtype=x.dtype, device=x.device).scatter_reduce(0, keys, x, "sum")


def segment_reduce(x, keys, bins):
    import torch
    order = torch.argsort(keys, stable=True)
    return torch.segment_reduce(x[order], "sum", lengths=torch.bincount(keys, minlength=bins))


def embedding_bag(x, keys, bins):
    """Each element is an embedding of one dimension, each bin a bag."""
    import torch
    order = torch.argsort(keys, stable=True)
    counts = torch.bincount(keys, minlength=bins)
    return torch.nn.functional.embedding_bag(order, x[:, None], torch.cumsum(counts, 0) - counts, mode="sum")[:, 0]


def histogram(x, keys, bins):
    """Weighted; on the CPU alone."""
    import torch
    return torch.histogram(keys.to(x.dtype) + 0.5, bins=bins, range=(0.0, float(bins)), weight=x).hist


def logcumsumexp(x, dim):
    """The last of each row: the logsumexp of it."""
    import torch
    return torch.logcumsumexp(x, dim=dim).select(dim, -1)


BLOCK = 1024


def triton_sums(x, atomic):
    """A kernel of one program a block: sums to an array of their own, or added to one number as they come."""
    import torch
    import triton
    key = "atomic" if atomic else "blocks"
    out = torch.zeros(1 if atomic else max(1, triton.cdiv(x.numel(), BLOCK)), dtype=x.dtype, device=x.device)
    if x.numel() > 0:
        triton_kernels()[key][(triton.cdiv(x.numel(), BLOCK),)](x, out, x.numel(), BLOCK=BLOCK)
    return out


def triton_kernels(made={}):
    if not made:
        import triton
        import triton.language as tl
        globals()["tl"] = tl

        @triton.jit
        def blocks(x, out, n, BLOCK: tl.constexpr):
            at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(out + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n, other=0.0), axis=0))

        @triton.jit
        def atomic(x, out, n, BLOCK: tl.constexpr):
            at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.atomic_add(out, tl.sum(tl.load(x + at, mask=at < n, other=0.0), axis=0))

        made.update(blocks=blocks, atomic=atomic)
    return made


def triton_sum(x):
    """tl.sum of blocks, level by level."""
    while True:
        x = triton_sums(x, False)
        if x.numel() <= 1:
            return x


def triton_atomic_sum(x):
    """tl.sum of blocks, added up by tl.atomic_add."""
    return triton_sums(x, True)
