# The same two analyses with R: Rscript statistics.R SUMS RESAMPLES ROUNDS. Exits with 77 without the package boot.
if (!requireNamespace("boot", quietly = TRUE)) quit(status = 77)
library(boot)
words <- commandArgs(TRUE)
rows <- as.matrix(read.csv(words[1], header = FALSE))
resamples <- as.integer(words[2])
n <- nrow(rows)
now <- function() proc.time()[["elapsed"]] * 1000
statistic <- function(parts, at) sum(parts[at])
flip <- function(parts, signs) sum(parts * signs)
taken <- lapply(seq_len(as.integer(words[3]) + 2), function(round) {
  set.seed(round)
  began <- now()
  parts <- (rows[, 2] - rows[, 1]) / (5 * n)
  flipped <- boot(parts, flip, R = resamples, sim = "parametric",
                  ran.gen = function(parts, ...) sample(c(-1, 1), n, replace = TRUE) * parts,
                  mle = NULL, signs = 1)
  p <- (1 + sum(abs(flipped$t) >= abs(sum(parts)) - 1e-12)) / (resamples + 1)
  drawn <- now()
  ends <- boot.ci(boot(parts, statistic, R = resamples), type = "perc")$percent[4:5]
  list(permutationMs = drawn - began, bootstrapMs = now() - drawn, p = p, low = ends[1], high = ends[2])
})
last <- taken[[length(taken)]]
row <- function(one) sprintf('{"permutationMs":%f,"bootstrapMs":%f}', one$permutationMs, one$bootstrapMs)
cat(sprintf('{"program":"%s, boot %s","taken":[%s],"p":%f,"low":%f,"high":%f}\n', R.version.string,
            packageVersion("boot"), paste(sapply(taken[-(1:2)], row), collapse = ","), last$p, last$low, last$high))
