"""Follows an input through a program with angr, to where it crashes, and prints how many conditions
the path has. Usage: follow.py PROGRAM INPUT; the program reads standard input.

The input is symbolic, and preconstrained to what it is: the engine follows one path, as the others
that it is compared with, and never asks the solver which of two ways can be gone.
"""

import logging
import sys

import angr
import claripy

logging.getLogger().setLevel(logging.CRITICAL)
program, file = sys.argv[1:]
with open(file, "rb") as opened:
    content = opened.read()

project = angr.Project(program, auto_load_libs=False)
symbols = [claripy.BVS(f"in{offset}", 8, explicit_name=True) for offset in range(len(content))]
stdin = angr.SimFileStream(name="stdin", content=claripy.Concat(*symbols), has_end=True)
state = project.factory.full_init_state(
    args=[program],
    stdin=stdin,
    add_options={
        angr.options.REPLACEMENT_SOLVER,
        angr.options.STRICT_PAGE_ACCESS,
        angr.options.ZERO_FILL_UNCONSTRAINED_MEMORY,
        angr.options.ZERO_FILL_UNCONSTRAINED_REGISTERS,
    },
)
for symbol, byte in zip(symbols, content):
    state.preconstrainer.preconstrain(byte, symbol)
given = len(state.solver.constraints)
manager = project.factory.simulation_manager(state, save_unconstrained=True)
last = state
while manager.active and not manager.unconstrained:
    last = manager.active[0]
    manager.step()
    if len(manager.active) > 1:
        sys.exit("more than one path is left: the input does not determine the run")

if manager.unconstrained:
    last, how = manager.unconstrained[0], "the input decides where control goes"
elif manager.errored:
    last, how = manager.errored[0].state, str(manager.errored[0].error)
else:
    how = "the program ended"
print(f"{len(last.solver.constraints) - given} conditions; {how}")
