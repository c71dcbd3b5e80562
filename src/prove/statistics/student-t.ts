/** Student's t distribution, from the logarithm of the gamma function and the incomplete beta function. */

// Lanczos' approximation with g = 7 and nine terms (Godfrey, 2001): relative error of gamma below 1e-14.
const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** The natural logarithm of gamma(x) for x of 0.5 and more. */
export function logGamma(x: number): number {
  const at = x - 1;
  const series = lanczos.reduce(
    (total, term, index) => total + (index === 0 ? term : term / (at + index)),
    0,
  );
  const base = at + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (at + 0.5) * Math.log(base) - base + Math.log(series);
}

/**
 * The regularised incomplete beta function I_x(a, b), by its continued fraction.
 * Source: Press et al., Numerical Recipes, 3rd ed. 2007, section 6.4 (Lentz's method).
 */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return x < (a + 1) / (a + b + 2)
    ? (front * betaFraction(x, a, b)) / a
    : 1 - (front * betaFraction(1 - x, b, a)) / b;
}

function betaFraction(x: number, a: number, b: number): number {
  const tiny = 1e-300;
  const apart = (value: number) => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / apart(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m <= 10_000; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / apart(1 + even * d);
    c = apart(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / apart(1 + odd * d);
    c = apart(1 + odd / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return fraction;
}

/** P(|T| >= |t|) for T of Student's distribution with `freedom` degrees; 0 for an infinite t. */
export function studentTwoSided(t: number, freedom: number): number {
  return incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

/** The t that |T| exceeds with probability `share`, by halving until two neighbouring numbers are left. */
export function studentCritical(share: number, freedom: number): number {
  let low = 0;
  let high = 1;
  while (studentTwoSided(high, freedom) > share) high *= 2;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    if (studentTwoSided(middle, freedom) > share) low = middle;
    else high = middle;
  }
}
