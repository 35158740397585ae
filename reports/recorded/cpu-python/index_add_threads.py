import torch, collections, sys
torch.manual_seed(1)
det = len(sys.argv) > 1
torch.use_deterministic_algorithms(det)
n, bins = 65536, 10
x, k = torch.randn(n), torch.randint(0, bins, (n,))
f = torch.compile(torch.index_add, fullgraph=True)
e = torch.index_add
for name, g in (("compiled", f), ("eager", e)):
    seen = collections.Counter()
    for _ in range(200):
        out = g(torch.zeros(bins), 0, k, x)
        seen[out.numpy().tobytes()] += 1
    print(torch.__version__, "deterministic" if det else "", name, torch.get_num_threads(), "threads:", len(seen), "results", sorted(seen.values(), reverse=True)[:6])
