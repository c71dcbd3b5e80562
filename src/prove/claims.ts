/** What may be said: a closed list of claims, each derived from the registered analysis, and their words. */
import type { Analysis, MetricAnalysis } from './analysis.ts';
import { nameOf } from './metric.ts';
import { armsDifferIn, type Registration } from './registration.ts';
import type { Interval } from './statistics/bootstrap.ts';
import type { MarginAnswer } from './statistics/margin.ts';

/** `confirmatory` was the registered question; `secondary` stands under Holm's correction; `exploratory` decides nothing. */
export type Standing = 'confirmatory' | 'secondary' | 'exploratory';

interface OfMetric {
  readonly metric: string;
  readonly unit: string;
  readonly standing: Standing;
}

interface Measured extends OfMetric {
  readonly control: number | null;
  readonly treatment: number | null;
  readonly difference: number | null;
  readonly relative: number | null;
  readonly interval: Interval;
  /** Of the sign-flip test, corrected where the metric is secondary. */
  readonly p: number | null;
}

/** All that a report can say. There is no other sentence about what was found. */
export type Claim =
  /** The treatment did not act, so there is no verdict about it. */
  | { readonly kind: 'void'; readonly reason: 'did-not-act' | 'leaked' | 'unknown'; readonly calls: string }
  | {
      readonly kind: 'inconclusive';
      readonly reason: 'incomplete' | 'lost-pairs' | 'no-answers';
      readonly lost: number;
      readonly of: number;
      readonly limit: number;
    }
  | (Measured & { readonly kind: 'better' | 'worse' | 'no-effect-detected' })
  | (OfMetric & { readonly kind: 'unknown'; readonly reason: string })
  | (OfMetric & {
      readonly kind: 'not-worse' | 'equivalent' | 'margin-not-shown';
      readonly question: MarginAnswer['question'];
      readonly margin: number;
      readonly interval: Interval;
    })
  /** Calls that the treated text orders: none in the one arm, so many in the other. Nothing else is attributed to a text. */
  | {
      readonly kind: 'exactly-zero';
      readonly calls: string;
      readonly zeroIn: 'control' | 'treatment';
      readonly other: number;
      readonly trials: number;
      /** In what else than their text the arms differ: then it is not known to be the text's doing. */
      readonly besides: readonly string[];
      readonly standing: Standing;
    };

/** What of an arm can change what it calls and is none of its text. Two folders may differ in their tools. */
const notText = ['model', 'harness', 'capabilities', 'folderDigest'] as const;

/** The claims of an analysis, the registered question first. `exploratory` is true after any deviation. */
export function claimsOf(registration: Registration, analysis: Analysis, exploratory: boolean): Claim[] {
  const { lost, manipulation } = analysis;
  const standing = (own: Standing): Standing => (exploratory ? 'exploratory' : own);
  if (!analysis.complete) return [inconclusive('incomplete', analysis)];
  if (lost.share <= lost.limit && !isAnyAnswered(analysis)) return [inconclusive('no-answers', analysis)];
  // Whether the text acted at all comes before what it did.
  if (manipulation !== null && manipulation.verdict !== 'acted') {
    return [{ kind: 'void', reason: manipulation.verdict, calls: registration.manipulation?.calls ?? '' }];
  }
  if (lost.share > lost.limit) return [inconclusive('lost-pairs', analysis)];
  const claims = analysis.metrics.flatMap((one): Claim[] => {
    const own = standing(one.role === 'primary' ? 'confirmatory' : 'secondary');
    if ('reason' in one) {
      const { unit, reason } = one;
      return [{ kind: 'unknown', metric: nameOf(one), unit, standing: own, reason }];
    }
    return metricClaims(one, own, registration);
  });
  if (manipulation !== null && registration.manipulation !== null) {
    const { zeroIn, totals } = manipulation;
    const other = totals[zeroIn === 'control' ? 'treatment' : 'control'];
    claims.push({
      kind: 'exactly-zero',
      calls: registration.manipulation.calls,
      zeroIn,
      other: other.known,
      trials: totals[zeroIn].trials,
      besides: armsDifferIn(registration.arms, notText),
      standing: standing('confirmatory'),
    });
  }
  return claims;
}

// Two arms that fail alike in every trial are not alike in what they do: nothing of it was seen.
function isAnyAnswered({ arms }: Analysis): boolean {
  return arms.control.outcomes.answered + arms.treatment.outcomes.answered > 0;
}

function inconclusive(reason: (Claim & { kind: 'inconclusive' })['reason'], { lost }: Analysis): Claim {
  return { kind: 'inconclusive', reason, lost: lost.pairs, of: lost.of, limit: lost.limit };
}

function metricClaims(one: MetricAnalysis, standing: Standing, { alpha, primary }: Registration): Claim[] {
  const { estimate, bootstrap, signFlip, superiority, margin, unit, role, adjustedP } = one;
  const p = role === 'primary' ? signFlip.p : adjustedP;
  const head = { metric: nameOf(one), unit, standing };
  const interval = superiority.interval;
  const measured: Measured = {
    ...head,
    control: estimate.control,
    treatment: estimate.treatment,
    difference: bootstrap.estimate,
    relative: estimate.relative,
    interval,
    p,
  };
  const asked = primary?.question ?? 'difference';
  const claims: Claim[] = [];
  if (superiority.verdict === 'unknown' || p === null) {
    claims.push({ kind: 'unknown', ...head, reason: 'its interval or its p is not known' });
  } else {
    // Both must say so: an interval off zero with a p above alpha is no effect, and the other way round.
    const shown = p <= alpha && superiority.verdict !== 'no-effect-detected';
    claims.push({ kind: shown ? superiority.verdict : 'no-effect-detected', ...measured });
  }
  // A margin of a secondary metric stands under no correction, and so decides nothing.
  if (margin !== null && role === 'primary') {
    const kind =
      margin.verdict !== 'shown'
        ? 'margin-not-shown'
        : margin.question === 'equivalence'
          ? 'equivalent'
          : 'not-worse';
    const { question } = margin;
    const claim: Claim = { kind, question, ...head, margin: margin.margin, interval: margin.interval };
    if (asked === 'difference') claims.push(claim);
    else claims.unshift(claim);
  }
  return claims;
}

// What costs less for each point costs less as well.
const lessEffort: Readonly<Record<string, string>> = { costUsd: 'cheaper', timeMs: 'faster' };

/** A claim as a sentence. */
export function claimText(claim: Claim): string {
  switch (claim.kind) {
    case 'void':
      return `No verdict: ${voidReasons[claim.reason]} (${claim.calls}).`;
    case 'inconclusive':
      return `Inconclusive: ${inconclusiveText(claim)}.`;
    case 'unknown':
      return `${prefix(claim)}${claim.metric}: nothing can be said, because ${claim.reason}.`;
    case 'no-effect-detected':
      return `${prefix(claim)}${claim.metric}: no effect detected (${numbers(claim)}). This is no proof that there is none.`;
    case 'better':
    case 'worse': {
      const word =
        claim.kind === 'better' ? (lessEffort[claim.metric.replace(/ per .*/, '')] ?? 'better') : 'worse';
      return `${prefix(claim)}${claim.metric}: the treatment is ${word} by ${by(claim)} (${numbers(claim)}).`;
    }
    case 'not-worse':
      return `${prefix(claim)}${claim.metric}: not worse by ${amount(claim.margin, claim.unit)} or more (${intervalText(claim.interval)}).`;
    case 'equivalent':
      return `${prefix(claim)}${claim.metric}: equal within ${amount(claim.margin, claim.unit)} (${intervalText(claim.interval)}).`;
    case 'margin-not-shown':
      return `${prefix(claim)}${claim.metric}: that the treatment is ${claim.question === 'equivalence' ? 'equal within' : 'not worse by'} ${amount(claim.margin, claim.unit)}${claim.question === 'equivalence' ? '' : ' or more'} is not shown (${intervalText(claim.interval)}).`;
    case 'exactly-zero':
      return `${prefix(claim)}calls of ${claim.calls}: exactly 0 in all ${amount(claim.trials, 'trials')} of the ${claim.zeroIn} arm, ${claim.other} in the other. ${attribution(claim.besides)}`;
  }
}

function inconclusiveText({ reason, lost, of, limit }: Claim & { kind: 'inconclusive' }): string {
  switch (reason) {
    case 'incomplete':
      return 'not all registered trials have an outcome and a grade';
    case 'lost-pairs':
      return `${lost} of ${amount(of, 'pairs')} were lost, above the registered limit of ${percent(limit)}`;
    case 'no-answers':
      return 'no trial of either arm was answered, so that there is nothing to compare';
  }
}

function attribution(besides: readonly string[]): string {
  return besides.length === 0
    ? "Of all effects this one alone is the text's own."
    : `The arms differ in more than their text (${besides.join(', ')}), so that it need not be the text's own.`;
}

const voidReasons = {
  'did-not-act': 'the treated text did not act, for the arm that has it hardly did what it orders',
  leaked: 'what the treated text orders was done in the arm that is without it',
  unknown: 'whether the treated text acted is not known',
};

function prefix({ standing }: { readonly standing: Standing }): string {
  return standing === 'confirmatory' ? '' : standing === 'secondary' ? 'Secondary. ' : 'Exploratory. ';
}

function by({ difference, relative, unit }: Measured): string {
  const share = relative === null ? '' : `, ${percent(Math.abs(relative))}`;
  const much = difference === null ? `an unknown number of ${unit}` : amount(Math.abs(difference), unit);
  return `${much}${share}`;
}

function numbers({ control, treatment, interval, p }: Measured): string {
  const arms = `${control === null ? '?' : figure(control)} → ${treatment === null ? '?' : figure(treatment)}`;
  return `${arms}, ${intervalText(interval)}, p = ${p === null ? '?' : figure(p)}`;
}

function intervalText({ level, low, high }: Interval): string {
  const end = (value: number | null) => (value === null ? '?' : figure(value));
  return `${percent(level)} interval of the difference ${end(low)} to ${end(high)}`;
}

/** At most four digits that count, as `0.03704` and `12,340`. */
export function figure(value: number): string {
  if (value !== 0 && Math.abs(value) < 1e-6) return value.toExponential(2);
  return value.toLocaleString('en-US', { maximumSignificantDigits: 4 });
}

/** A number and what it counts, by its plural: `1 call`, `2.5 calls`, `1 US dollar`. */
export function amount(value: number, unit: string): string {
  const shown = figure(value);
  return `${shown} ${shown === '1' && unit !== 'ms' ? unit.replace(/s$/, '') : unit}`;
}

/** At most one digit behind the point, as `92.5 %`. */
export function percent(share: number): string {
  return `${(100 * share).toLocaleString('en-US', { maximumFractionDigits: 1 })} %`;
}
