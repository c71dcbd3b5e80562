"""Makes data.json, and scipy.json with what NumPy and SciPy compute from it: python3 reference.py, then Rscript reference.R.

The trials are made up. Their totals are those of a published experiment whose trials were never published: 54 items, 5
repeats, 2 arms; 183 and 193 passes of 270; 16 items better, 11 worse, 27 tied; 27 and 16 timeouts at 900 s; restricted
means of 440.9 and 319.4 s; 3,213 and 2,322 generations; the tool calls below. Whatever is compared here is recomputed.
"""
import itertools
import json
import platform
from fractions import Fraction
from pathlib import Path

import numpy
import scipy
from scipy import stats

here = Path(__file__).parent
random = numpy.random.default_rng(20260822)
ITEMS, REPEATS, TIMEOUT = 54, 5, 900.0
CATEGORIES = [("aggregates", 14), ("dates", 6), ("joins", 20), ("nulls", 3), ("windows", 11)]
TOTALS = {"validate": (1476, 0), "analyze": (1329, 0), "execute": (1716, 2554), "generations": (3213, 2322)}


def pass_counts():
    """Passes of 5 by item and arm: draws until the totals are met; one pass is moved at a time to reach them."""
    while True:
        change = numpy.concatenate([random.integers(1, 4, 16), -random.integers(1, 4, 11), numpy.zeros(27, int)])
        if change.sum() != 10:
            continue
        random.shuffle(change)
        least, most = numpy.maximum(0, -change), REPEATS - numpy.maximum(0, change)
        control = numpy.clip(random.binomial(REPEATS, random.beta(2.0, 1.0, ITEMS)), least, most)
        for at in random.integers(ITEMS, size=500):
            step = numpy.sign(183 - control.sum())
            if least[at] <= control[at] + step <= most[at]:
                control[at] += step
        if control.sum() == 183:
            return control, control + change


def times(mean, timeouts):
    """Seconds by item and repeat with so many timeouts, the mean of all as given to the millisecond."""
    trials = ITEMS * REPEATS
    finished = numpy.ones(trials, bool)
    finished[random.choice(trials, timeouts, replace=False)] = False
    wanted = round((mean * trials - TIMEOUT * timeouts) * 1000)
    while True:
        raw = random.beta(2.0, 2.6, trials - timeouts)
        millis = numpy.round(raw * wanted / raw.sum()).astype(int)
        millis[0] += wanted - millis.sum()
        if 0 < millis.min() and millis.max() < TIMEOUT * 1000:
            break
    seconds = numpy.full(trials, TIMEOUT)
    seconds[finished] = millis / 1000
    return seconds.reshape(ITEMS, REPEATS), finished.reshape(ITEMS, REPEATS)


def spread(total):
    return random.multinomial(total, numpy.full(ITEMS * REPEATS, 1 / (ITEMS * REPEATS))).reshape(ITEMS, REPEATS)


def make():
    passes = pass_counts()
    categories = [name for name, size in CATEGORIES for _ in range(size)]
    columns = {name: [spread(total) for total in pair] for name, pair in TOTALS.items()}
    timed = [times(440.9, 27), times(319.4, 16)]
    costs = [numpy.round(random.lognormal(-3.0, 0.6, (ITEMS, REPEATS)) * scale, 6) for scale in (1.0, 0.72)]
    items = []
    for q in range(ITEMS):
        item = {"item": f"q{q + 1:02d}", "category": categories[q]}
        for arm, side in enumerate(("control", "treatment")):
            passed = numpy.zeros(REPEATS, int)
            passed[random.choice(REPEATS, passes[arm][q], replace=False)] = 1
            item[side] = {
                "passed": passed.tolist(),
                "seconds": timed[arm][0][q].tolist(),
                "finished": timed[arm][1][q].astype(int).tolist(),
                "cost": costs[arm][q].tolist(),
                **{name: column[arm][q].tolist() for name, column in columns.items()},
            }
        items.append(item)
    return items


def exact_flip(parts):
    """Two-sided p over all sign flips, in fractions."""
    parts = [Fraction(part) for part in parts if part != 0]
    observed = abs(sum(parts))
    counts = {Fraction(0): 1}
    for part in parts:
        after = {}
        for total, ways in counts.items():
            for value in (total + part, total - part):
                after[value] = after.get(value, 0) + ways
        counts = after
    return float(Fraction(sum(ways for total, ways in counts.items() if abs(total) >= observed), 2 ** len(parts)))


def swap_p(items, groups, effect):
    """Two-sided p over all swaps of whole items, the difference computed anew each time."""
    observed = abs(effect(items, groups))
    extreme = 0
    for flips in itertools.product((False, True), repeat=len(items)):
        swapped = [pair[::-1] if flip else pair for pair, flip in zip(items, flips)]
        extreme += abs(effect(swapped, groups)) >= observed - 1e-12
    return extreme / 2 ** len(items)


def difference_of_ratios(items, _groups):
    (c, cd), (t, td) = (numpy.sum([pair[arm] for pair in items], axis=0) for arm in (0, 1))
    return t / td - c / cd


def references(items):
    fifths = [sum(i["treatment"]["passed"]) - sum(i["control"]["passed"]) for i in items]
    cost = [numpy.mean(i["treatment"]["cost"]) - numpy.mean(i["control"]["cost"]) for i in items]
    ratio = [((sum(i["control"]["cost"]), sum(i["control"]["passed"])),
              (sum(i["treatment"]["cost"]), sum(i["treatment"]["passed"]))) for i in items]
    sizes = dict(CATEGORIES)
    by_category = [Fraction(d, REPEATS * sizes[i["category"]] * len(sizes)) for i, d in zip(items, fifths)]
    small = [c for c in cost[:16]]
    pass_ratio = [r for r in ratio if r[0][1] > 0 and r[1][1] > 0][:10]
    coins = [(0, 0), (0, 1), (0, 8), (4, 8), (11, 27), (3, 12), (40, 100), (480, 1000), (2400, 5000)]
    test = scipy.stats.permutation_test(
        (numpy.array(small), numpy.zeros(16)), lambda x, y, axis: numpy.mean(x - y, axis=axis),
        permutation_type="samples", vectorized=True, n_resamples=numpy.inf)
    paired = stats.ttest_rel([numpy.mean(i["treatment"]["cost"]) for i in items],
                             [numpy.mean(i["control"]["cost"]) for i in items])
    interval = paired.confidence_interval(0.95)
    return {
        "program": f"Python {platform.python_version()}, NumPy {numpy.__version__}, SciPy {scipy.__version__}",
        "twoSidedCoin": [{"fewer": k, "trials": n,
                          "p": stats.binomtest(k, n, 0.5).pvalue if n else 1.0} for k, n in coins],
        "signFlip": {
            "costOfFirst16": {"p": test.pvalue},
            "passesExact": {"p": exact_flip(fifths)},
            "passesByCategoryExact": {"p": exact_flip(by_category)},
            "costPerPassOf10": {"items": [items[ratio.index(r)]["item"] for r in pass_ratio],
                                "p": swap_p(pass_ratio, None, difference_of_ratios)},
        },
        "pairedT": {"t": paired.statistic, "p": paired.pvalue, "low": interval.low, "high": interval.high},
        "logGamma": [{"x": x, "value": float(scipy.special.gammaln(x))} for x in (0.5, 1, 1.5, 2.5, 10, 27, 270.5, 1e5)],
        "incompleteBeta": [{"x": x, "a": a, "b": b, "value": float(scipy.special.betainc(a, b, x))}
                           for a, b in ((0.5, 0.5), (2.5, 0.5), (26.5, 0.5), (500, 0.5), (3, 7))
                           for x in (0.001, 0.2, 0.5, 0.9, 0.999)],
    }


def write(name, value):
    (here / name).write_text(json.dumps(value, indent=1) + "\n")


if __name__ == "__main__":
    data = make()
    write("data.json", data)
    write("scipy.json", references(data))
