"""The same two analyses in NumPy, vectorised: python3 statistics.py SUMS RESAMPLES ROUNDS. Exits with 77 without NumPy."""
import json
import sys
from time import perf_counter

try:
    import numpy
except ImportError:
    sys.exit(77)

path, resamples, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
control, treatment = numpy.loadtxt(path, delimiter=",", unpack=True)
n = len(control)
taken = []
for round in range(rounds + 2):
    random = numpy.random.default_rng(round)
    began = perf_counter()
    parts = (treatment - control) / (5 * n)
    signs = random.integers(0, 2, size=(resamples, n), dtype=numpy.int8) * 2.0 - 1.0
    p = (1 + (numpy.abs(signs @ parts) >= abs(parts.sum()) - 1e-12).sum()) / (resamples + 1)
    drawn = perf_counter()
    at = random.integers(0, n, size=(resamples, n), dtype=numpy.int32)
    differences = parts[at].sum(axis=1)
    low, high = numpy.percentile(differences, [2.5, 97.5])
    ended = perf_counter()
    if round >= 2:
        taken.append({"permutationMs": (drawn - began) * 1000, "bootstrapMs": (ended - drawn) * 1000})
print(json.dumps({"program": f"NumPy {numpy.__version__}", "taken": taken, "p": p, "low": low, "high": high}))
