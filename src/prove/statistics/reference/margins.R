# Writes margins.json: two one-sided t tests of data.json by base R, and the power of designs by its distributions.
library(jsonlite)

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)))
data <- fromJSON(file.path(folder, "data.json"), simplifyVector = FALSE)
means <- function(arm, name) sapply(data, function(item) mean(as.numeric(unlist(item[[arm]][[name]]))))
alpha <- 0.05

# P values of "the difference is not above -margin" and "not below margin"; both are two one-sided tests, one is non-inferiority.
above <- function(d, margin) t.test(d, mu = -margin, alternative = "greater")$p.value
below <- function(d, margin) t.test(d, mu = margin, alternative = "less")$p.value
both <- function(d, margin) max(above(d, margin), below(d, margin))
# The margin at which p is alpha: every larger one is shown, no smaller one is. Below 0 every margin is shown.
least <- function(p, d) uniroot(function(margin) p(d, margin) - alpha, c(-20, 20), tol = 1e-16, maxiter = 1e4)$root
tost <- function(name) {
  d <- means("treatment", name) - means("control", name)
  interval <- t.test(d, conf.level = 1 - 2 * alpha)$conf.int
  list(metric = name, low = interval[1], high = interval[2], equivalence = least(both, d),
       noLess = least(above, d), noMore = least(below, d))
}

# One-sided and two one-sided t tests of n normal differences: the second by the chi distribution of their deviation.
noWorse <- function(n, effect, deviation, margin)
  power.t.test(n = n, delta = effect + margin, sd = deviation, sig.level = alpha, type = "one.sample",
               alternative = "one.sided")$power
equal <- function(n, effect, deviation, margin) {
  f <- n - 1
  error <- deviation / sqrt(n)
  at <- function(u) {
    reach <- qt(1 - alpha, f) * error * sqrt(u / f)
    inside <- pnorm((margin - reach - effect) / error) - pnorm((reach - margin - effect) / error)
    pmax(0, inside) * dchisq(u, f)
  }
  integrate(at, 0, f + 40 * sqrt(2 * f), subdivisions = 2000, rel.tol = 1e-10)$value
}
# The exact test of n pairs that disagree by these chances, over all tables.
mcnemar <- function(n, better, worse) {
  sum(sapply(0:n, function(m) {
    k <- 0:m
    p <- pmin(1, 2 * pbinom(pmin(k, m - k), m, 0.5))
    dbinom(m, n, better + worse) * sum(dbinom(k, m, better / (better + worse))[p <= alpha])
  }))
}
# What n items of r repeats have as the deviation of an item's difference, where the effect is nothing.
passes <- function(rate, deviation, repeats) sqrt(2 * (rate * (1 - rate) - deviation^2) / repeats)

control <- 0.5
treatment <- 0.75
write_json(list(
  program = R.version.string,
  alpha = alpha,
  tost = list(tost("cost"), tost("passed"), tost("generations")),
  power = list(
    nonInferiority = lapply(list(c(100, 0, 1, 0.25), c(60, -0.1, 1, 0.5), c(25, 0.1, 1, 0.4)), function(d)
      list(items = d[1], effect = d[2], deviation = d[3], margin = d[4], power = noWorse(d[1], d[2], d[3], d[4]))),
    equivalence = lapply(list(c(100, 0, 1, 0.3), c(60, 0.1, 1, 0.5), c(25, 0, 1, 0.6)), function(d)
      list(items = d[1], effect = d[2], deviation = d[3], margin = d[4], power = equal(d[1], d[2], d[3], d[4]))),
    passesNoWorse = list(items = 100, repeats = 5, rate = 0.7, deviation = 0.2, margin = 0.08,
                         power = noWorse(100, 0, passes(0.7, 0.2, 5), 0.08)),
    mcnemar = list(items = 60, rate = control, effect = treatment - control,
                   power = mcnemar(60, treatment * (1 - control), control * (1 - treatment)))
  )
), file.path(folder, "margins.json"), auto_unbox = TRUE, digits = NA, pretty = TRUE)
