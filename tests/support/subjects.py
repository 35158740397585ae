"""Functions of Python under test, on arrays of the standard library (--array array)."""
import math

seen = []


def fsum(x):
    return math.fsum(x)


def cumsum(x):
    total, out = 0.0, []
    for element in x:
        total += element
        out.append(total)
    return out


def dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y))


def bins(x, keys, count):
    out = [0.0] * count
    for element, key in zip(x, keys):
        out[key] += element
    return out


def arrays(x):
    """How many different arrays it was given for runs of three elements or more."""
    if len(x) > 4 and not any(x is other for other in seen):
        seen.append(x)
    return float(len(seen))


def spoils(x):
    """Writes into its input."""
    total = math.fsum(x)
    x[0] = 1e300
    return total


def fails(x):
    if len(x) > 4:
        raise ValueError("no more\nthan four")
    return math.fsum(x)


def leaves(x):
    if len(x) > 4:
        raise SystemExit(0)
    return math.fsum(x)


def prints(x):
    print("this is no answer")
    return math.fsum(x)


def memory(x):
    if len(x) > 4:
        raise MemoryError("of the device")
    return math.fsum(x)


def product(a, b):
    return [[math.fsum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def product_onto(a, b, c):
    return [[math.fsum([d, *(x * y for x, y in zip(row, column))]) for d, column in zip(onto, zip(*b))]
            for row, onto in zip(a, c)]


def product_flipped(a, b):
    """The transpose of the product."""
    return list(zip(*product(a, b)))


def product_turned(a, b):
    """B's rows for its columns, where it is square."""
    return product(a, list(zip(*b)))


def text(x):
    return "a sum"
