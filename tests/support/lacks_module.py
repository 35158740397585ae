"""A subject whose file imports what is not installed."""
import no_such_module


def f(x):
    return no_such_module.sum(x)
