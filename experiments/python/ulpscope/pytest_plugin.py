"""For pytest, which finds it by its entry point.

    @pytest.mark.promise("run_to_run", my_sum, seconds=5)
    def test_my_sum(): ...                  # the promise is asserted before the body runs

    @pytest.mark.promise("gpu_to_gpu", n=1000)
    def test_others(promise):               # what the mark says holds for each call
        promise(my_sum)
        promise(my_norm, operation="norm", seconds=20)
"""
from __future__ import annotations

import pytest

from .gate import assert_promise


def pytest_configure(config):
    config.addinivalue_line("markers", "promise(rung, function=None, **members): what `ulpscope gate` holds a function to")


def said(mark):
    """The rung, the function if there is one, and the members of a mark."""
    if not 1 <= len(mark.args) <= 2:
        raise pytest.UsageError(f"mark promise: found {len(mark.args)} arguments, expected a rung, and maybe a function")
    return mark.args[0], mark.args[1] if len(mark.args) > 1 else None, mark.kwargs


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    __tracebackhide__ = True
    for mark in item.iter_markers("promise"):
        rung, function, members = said(mark)
        if function is not None:
            assert_promise(function, rung, **members)
        elif mark in item.own_markers and "promise" not in item.fixturenames:
            raise pytest.UsageError("mark promise: found no function, and a test without the fixture promise: expected one of "
                                    "them, else nothing is tried")


@pytest.fixture
def promise(request):
    """Asserts what the nearest mark `promise` says, of a function; keywords of the call stand above the mark's."""
    mark = request.node.get_closest_marker("promise")
    rung, _, members = said(mark) if mark else (None, None, {})

    def hold(function, promise=None, **more):
        __tracebackhide__ = True
        return assert_promise(function, promise or rung, **(members | more))
    return hold
