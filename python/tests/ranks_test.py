"""Processes that are ranks of one another: every program of a process meets the others, whoever says which rank it is."""
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import assembled, compiled

GOLDEN = pathlib.Path(__file__).parents[2] / "tests" / "golden" / "hal" / "ranks.bvmasm"
MEAN = """
util.func private @collective.all_reduce(%x: tensor<2xf32>, %reduction: i32) -> tensor<2xf32> attributes {iree.abi.streamable}
func.func @total(%x: tensor<2xf32>) -> tensor<2xf32> {
  %sum = arith.constant 1 : i32
  %all = util.call @collective.all_reduce(%x, %sum) : (tensor<2xf32>, i32) -> tensor<2xf32>
  return %all : tensor<2xf32>
}
"""
BEGIN = """
import os, sys
import numpy as np
import baton
channels, collectives, rank, store = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
ones = np.ones(4, np.int32)
"""
JOIN = "baton.join_ranks(rank=rank, ranks=2, store=store or None, timeout=60)\n"
# Two programs of each kind, alive at once, and one more when two are gone.
CALLS = """
first, second = baton.load(channels, device="local-task"), baton.load(channels, device="local-sync")
assert first.sum(ones * rank) == (rank, 2, 1), first.sum(ones * rank)
assert second.sum(ones * 2) == (rank, 2, 4)
third, fourth = baton.load(collectives), baton.load(collectives)
for program in (third, fourth, third):
    assert np.asarray(program.total(np.float32([rank, 2]))).tolist() == [1, 4]
del first, second, third, fourth
assert baton.load(channels).sum(ones * 3) == (rank, 2, 6)
"""


@pytest.fixture(scope="module")
def programs(folder):
    return assembled(folder, "ranks", GOLDEN.read_text()), compiled(folder, "total", MEAN)


def start(programs, rank, store, script, **environment):
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("BATON_RANK", "BATON_STORE", "OMPI_", "PMI_", "SLURM_"))}
    return subprocess.Popen([sys.executable, "-c", BEGIN + script, *map(str, programs), str(rank), store],
                            env={**clean, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ends(ranks):
    """(exit code, standard error) of each."""
    words = [one.communicate(timeout=120)[1] for one in ranks]
    return [(one.returncode, word) for one, word in zip(ranks, words)]


def test_all_programs_of_a_process_are_its_rank(programs, tmp_path):
    said = {"BATON_RANKS": "2", "BATON_STORE": f"file:{tmp_path}/store", "BATON_RANK_TIMEOUT": "60"}
    ranks = [start(programs, rank, "", CALLS, BATON_RANK=str(rank), **said) for rank in range(2)]
    assert ends(ranks) == [(0, "")] * 2


@pytest.mark.parametrize("named", [True, False])
def test_a_script_says_its_rank(programs, tmp_path, named):
    store = f"file:{tmp_path}/store" if named else ""
    assert ends([start(programs, rank, store, JOIN + CALLS) for rank in range(2)]) == [(0, "")] * 2


def test_a_rank_that_fails_ends_the_others(programs, tmp_path):
    # Both have met, so that the other one knows rank 1 when it is gone.
    fails = JOIN + """
program = baton.load(channels)
program.sum(ones)
if rank == 1:
    raise ValueError("rank 1 has no more data")
program.sum(ones)
"""
    (code, heard), (other, said) = ends([start(programs, rank, f"file:{tmp_path}/store", fails) for rank in range(2)])
    assert code == other == 1
    assert "ValueError: rank 1 has no more data" in said
    assert "baton.UnavailableError" in heard or "UnavailableError" in heard
    assert "Rank 1 is gone" in heard


def test_without_ranks_a_channel_has_one(programs):
    alone = """
program = baton.load(channels)
assert program.sum(ones) == (0, 1, 1)
baton.join_ranks(rank=0, ranks=1)
try:
    baton.join_ranks(rank=1, ranks=2, store=store)
except baton.FailedPreconditionError as error:
    assert "This process is rank 0 of 1; it can't become rank 1 of 2." in str(error), error
else:
    sys.exit("a second rank was taken")
"""
    assert ends([start(programs, 0, "file:/nowhere/at/all", alone)]) == [(0, "")]


def test_what_no_rank_can_be_is_refused(programs):
    refused = """
for rank, ranks, timeout in ((2, 2, None), (-1, 2, None), (0, 2, 0)):
    try:
        baton.join_ranks(rank=rank, ranks=ranks, store=store, timeout=timeout)
    except ValueError:
        continue
    sys.exit("taken")
try:
    baton.join_ranks(rank=0, ranks=2, store="somewhere")
except baton.InvalidArgumentError as error:
    assert "'somewhere' is no store of ranks" in str(error), error
# What failed left nothing behind.
baton.join_ranks(rank=0, ranks=1)
assert baton.load(channels).sum(ones) == (0, 1, 1)
"""
    assert ends([start(programs, 0, "file:/nowhere", refused)]) == [(0, "")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_is_no_rank(programs, tmp_path):
    forks = JOIN + """
child = os.fork()
if child == 0:
    try:
        baton.load(channels).sum(ones)
    except baton.FailedPreconditionError as error:
        sys.exit(0 if f"Rank {rank} of 2 is the process that forked this one" in str(error) else 3)
    sys.exit(4)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert baton.load(channels).sum(ones) == (rank, 2, 2)
"""
    assert ends([start(programs, rank, f"file:{tmp_path}/store", forks) for rank in range(2)]) == [(0, "")] * 2
