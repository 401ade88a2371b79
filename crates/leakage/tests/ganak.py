"""Counts the models of DIMACS formulas on standard input with Ganak, one "count N" line each.

Formulas follow on each other, each starting with its "p cnf" line; "c p show ... 0" names the
variables that count. Variables that are named but occur in no clause count too. The binding has no
switch for exact hashing, so every formula is counted with two seeds, which must agree: a hash
collision in the cache would have to happen twice, with the same effect.
"""

import sys

import pyganak


def count(variables, shown, clauses):
    if any(not clause for clause in clauses):
        return 0
    if not clauses:
        return 2 ** len(shown)
    results = set()
    for seed in (1, 2):
        counter = pyganak.Counter(seed=seed)
        counter.new_vars(variables)
        counter.add_clauses(clauses)
        counter.set_sampling_set(shown)
        results.add(counter.count())
    if len(results) != 1:
        sys.exit(f"two seeds give different counts: {sorted(results)}")
    return results.pop()


def formulas(lines):
    variables, shown, clauses = None, [], []
    for line in lines:
        words = line.split()
        if words[:2] == ["p", "cnf"]:
            if variables is not None:
                yield variables, shown, clauses
            variables, shown, clauses = int(words[2]), [], []
        elif words[:3] == ["c", "p", "show"]:
            shown = [int(word) for word in words[3:-1]]
        elif words:
            clauses.append([int(word) for word in words[:-1]])
    if variables is not None:
        yield variables, shown, clauses


for formula in formulas(sys.stdin):
    # Ganak writes remarks of its own to standard output, so the answers are marked.
    print(f"count {count(*formula)}", flush=True)
