# Writes r.json: what R, its packages boot and survival, and base R compute from data.json.
library(boot)
library(survival)
library(jsonlite)

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)))
data <- fromJSON(file.path(folder, "data.json"), simplifyVector = FALSE)
numbers <- function(arm, name) lapply(data, function(item) as.numeric(unlist(item[[arm]][[name]])))
totals <- function(arm, name) sapply(numbers(arm, name), sum)
category <- factor(sapply(data, function(item) item$category))
horizon <- 900
resamples <- 100000
levels <- c(0.95, 0.9)

# Cluster bootstrap: one row an item, both arms and all repeats with it.
ends <- function(b) lapply(levels, function(level) {
  ends <- boot.ci(b, conf = level, type = "perc")$percent[4:5]
  list(level = level, low = ends[1], high = ends[2])
})
bootstrapped <- function(rows, statistic, strata = rep(1, nrow(rows))) {
  set.seed(20260822)
  b <- boot(rows, statistic, R = resamples, strata = strata)
  list(estimate = b$t0, standardError = sd(b$t[, 1]), intervals = ends(b))
}
passes <- cbind(totals("control", "passed"), totals("treatment", "passed"))
costs <- cbind(totals("control", "cost"), totals("treatment", "cost"))
sizes <- table(category)
micro <- function(rows, at) (sum(rows[at, 2]) - sum(rows[at, 1])) / (5 * nrow(rows))
macro <- function(rows, at) {
  by <- rowsum(rows[at, 2] - rows[at, 1], category[at])
  mean(by / (5 * as.vector(sizes[rownames(by)])))
}
relative <- function(rows, at) sum(rows[at, 2]) / sum(rows[at, 1]) - 1
perPass <- function(rows, at) sum(rows[at, 2]) / sum(rows[at, 4]) - sum(rows[at, 1]) / sum(rows[at, 3])

# The curves of the arms, and those of a small set with ties, early leavers and a last trial that leaves unfinished.
curve <- function(time, finished, tau = horizon) {
  fit <- survfit(Surv(time, finished) ~ 1)
  table <- summary(fit, rmean = tau)$table
  list(time = time, finished = finished, horizon = tau,
       steps = data.frame(time = fit$time, atRisk = fit$n.risk, finished = fit$n.event, censored = fit$n.censor,
                          survival = fit$surv, standardError = ifelse(fit$surv == 0, 0, fit$surv * fit$std.err)),
       mean = unname(table["rmean"]), standardError = unname(table["se(rmean)"]))
}
arm <- function(name) {
  whole <- curve(unlist(numbers(name, "seconds")), unlist(numbers(name, "finished")))
  whole[c("mean", "standardError")]
}
restricted <- function(rows, at) {
  mean(unlist(lapply(rows[at, 2], pmin, horizon))) - mean(unlist(lapply(rows[at, 1], pmin, horizon)))
}
seconds <- cbind(numbers("control", "seconds"), numbers("treatment", "seconds"))

# With trials that leave early the mean of min(T, horizon) is wrong, and each resample needs its own curve.
early <- function(arm) mapply(function(time, finished) {
  cut <- time > 500 & seq_along(time) == 1
  cbind(ifelse(cut, 500, time), ifelse(cut, 0, finished))
}, numbers(arm, "seconds"), numbers(arm, "finished"), SIMPLIFY = FALSE)
left <- cbind(early("control"), early("treatment"))
area <- function(list) {
  all <- do.call(rbind, list)
  fit <- survfit(Surv(all[, 1], all[, 2]) ~ 1, se.fit = FALSE)
  inside <- fit$time < horizon
  sum(c(1, fit$surv[inside]) * diff(c(0, fit$time[inside], horizon)))
}
leftEarly <- function(rows, at) area(rows[at, 2]) - area(rows[at, 1])
set.seed(1)
resamplesOfCurves <- 10000
curves <- boot(left, leftEarly, R = resamplesOfCurves)

meanCost <- function(name) sapply(numbers(name, "cost"), mean)
t <- t.test(meanCost("treatment"), meanCost("control"), paired = TRUE)
family <- c(0.03, 0.2, 0.004, 0.5, 0.03, 0.9, 0.011, 1, 0.0041, 0.6, 0.35, 0.049)

write_json(list(
  program = paste0(R.version.string, ", boot ", packageVersion("boot"), ", survival ", packageVersion("survival")),
  boot = list(
    resamples = resamples,
    micro = bootstrapped(passes, micro),
    macroByCategory = bootstrapped(passes, macro, category),
    relativeCost = bootstrapped(costs, relative),
    costPerPass = bootstrapped(cbind(costs, passes), perPass),
    restrictedMean = bootstrapped(seconds, restricted),
    restrictedMeanLeftEarly = list(estimate = curves$t0, standardError = sd(curves$t[, 1]), intervals = ends(curves))
  ),
  survival = list(
    control = arm("control"),
    treatment = arm("treatment"),
    curves = list(
      curve(c(6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35),
            c(1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0), 30),
      curve(c(1, 2, 2, 3, 5, 8), c(1, 1, 1, 0, 1, 1), 10),
      curve(c(2, 4, 4, 7), c(0, 1, 0, 1), 7)
    )
  ),
  pairedT = list(t = unname(t$statistic), p = t$p.value, low = t$conf.int[1], high = t$conf.int[2],
                 median = median(meanCost("treatment") - meanCost("control"))),
  studentTwoSided = do.call(rbind, lapply(c(1, 2, 5, 53, 1000), function(f) {
    at <- c(0.01, 0.7, 1.96, 4, 12)
    data.frame(freedom = f, t = at, p = 2 * pt(-at, f))
  })),
  studentCritical = data.frame(freedom = c(1, 2, 5, 53, 1000), share = 0.05, t = qt(0.975, c(1, 2, 5, 53, 1000))),
  holm = list(p = family, adjusted = p.adjust(family, "holm")),
  mcnemar = list(controlOnly = 3, treatmentOnly = 12, p = binom.test(3, 15)$p.value),
  powerOfT = list(items = 54, effect = 0.4, deviation = 1,
                  power = power.t.test(n = 54, delta = 0.4, sd = 1, type = "paired")$power)
), file.path(folder, "r.json"), auto_unbox = TRUE, digits = NA, pretty = TRUE)
