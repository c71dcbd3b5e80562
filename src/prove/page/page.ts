/** The report as one HTML page that needs nothing else: no script, no font, no picture from elsewhere. */
import { amount, figure, percent } from '../claims.ts';
import { powerText } from '../design.ts';
import { nameOf } from '../metric.ts';
import { buildText, type Report } from '../report.ts';
import { html, type Markup } from './html.ts';
import { tableOf } from './plot.ts';
import { plotsOf } from './plots.ts';

// Blue and vermilion of Okabe and Ito's palette (2008), which people with any colour vision tell apart; form and line say
// the same once more.
const style = `
:root{color-scheme:light;--control:#0072b2;--treatment:#d55e00;--line:#767676}
body{font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;max-width:62rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2.5rem}
code{font:0.9em ui-monospace,monospace;overflow-wrap:anywhere}
figure{margin:2rem 0;overflow-x:auto}svg{max-width:100%;min-width:600px;height:auto}figcaption{font-size:0.9rem}
.claim{border-left:4px solid var(--control);padding:0.2rem 0.8rem;margin:0.8rem 0}
.warning{border:2px solid #1a1a1a;padding:0.5rem 0.8rem;font-weight:bold}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:0.85rem}
th,td{padding:0.15rem 0.6rem;border-bottom:1px solid #d0d0d0;text-align:right}th:first-child{text-align:left}th[scope=row]{font-weight:normal}
text{font:12px system-ui,sans-serif;fill:#1a1a1a}.tick{font-size:11px}
.axis{stroke:#1a1a1a}.zero{stroke:var(--line);stroke-dasharray:2 3}.pair{stroke:var(--line);stroke-width:1.5}
.control{fill:var(--control);stroke:var(--control)}.treatment{fill:var(--treatment);stroke:var(--treatment)}
.open{fill-opacity:0.25}.effect{fill:#1a1a1a}.interval{stroke:#1a1a1a;stroke-width:2}.bar{fill:#8a8a8a}
.observed{stroke:var(--treatment);stroke-width:2.5}.mirror{stroke:var(--treatment);stroke-width:1.5;stroke-dasharray:5 4}
.curve{fill:none;stroke-width:2.5}.curve.treatment{stroke-dasharray:7 4}
`;

/** The whole page. Every text in it is escaped, and its policy allows nothing to be loaded or run. */
export function reportPage(report: Report): string {
  const { registration } = report;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${registration.question}</title>
<style>${{ markup: style }}</style>
</head>
<body>
<main>
<h1>${registration.question}</h1>
${report.exploratory ? html`<p class="warning">Exploratory: the experiment was not run as it was registered.</p>` : html``}
<h2>What may be said</h2>
${report.claims.map(({ text }) => html`<p class="claim">${text}</p>`)}
<h2>The measured cell</h2>
${listOf(report.scope)}
<h2>What was not verified</h2>
${listOf(report.notVerified)}
${deviationsOf(report)}
<h2>The numbers</h2>
${metricsTable(report)}
${pairedTable(report)}
${callsTable(report)}
${trialsTable(report)}
<h2>The pictures</h2>
${plotsOf(report)}
<h2>How it was measured</h2>
${methodOf(report)}
</main>
</body>
</html>
`;
  return page.markup;
}

function listOf(lines: readonly string[]): Markup {
  return lines.length === 0
    ? html`<p>Nothing is listed.</p>`
    : html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}

function deviationsOf({ deviations, drift }: Report): Markup {
  const changed = [
    ...(drift.known ? [] : ['The experiment could not be resolved: nothing but the program was compared.']),
    ...drift.paths.map((path) => `${path} is another one now than the one that was measured.`),
  ];
  const moments = deviations.map(
    ({ kind, at, trials, paths, reason }) =>
      `${new Date(at).toISOString()}, after ${amount(trials, 'trials')}: ${kind}${paths.length === 0 ? '' : ` (${paths.join(', ')})`}. ${reason}`,
  );
  return html`${moments.length === 0 ? html`` : html`<h2>Deviations</h2>${listOf(moments)}`}
<h2>Since then</h2>
${changed.length === 0 ? html`<p>What is there now is what was measured.</p>` : listOf(changed)}`;
}

function metricsTable({ analysis, registration }: Report): Markup {
  const table = tableOf(
    ['metric', 'control', 'treatment', 'difference', 'low', 'high', 'p', 'better', 'worse', 'ties', 'pairs'],
    analysis.metrics.map((one) => {
      if ('reason' in one) return [`${nameOf(one)}: ${one.reason}`];
      const { estimate, bootstrap, superiority, signFlip, adjustedP, signTest, missing, role } = one;
      return [
        `${nameOf(one)}, ${role}`,
        estimate.control,
        estimate.treatment,
        bootstrap.estimate,
        superiority.interval.low,
        superiority.interval.high,
        role === 'primary' ? signFlip.p : adjustedP,
        signTest?.better ?? null,
        signTest?.worse ?? null,
        signTest?.ties ?? null,
        missing.control.trials - missing.pairsLeft,
      ];
    }),
  );
  return html`${table}<p>difference: treatment minus control. low and high: its percentile interval of ${percent(1 - registration.alpha)} by the cluster bootstrap, which draws items with both arms and all repeats. p: two-sided, by the sign-flip test that exchanges the arms within items; of secondary metrics after Holm's correction over all of them. better, worse, ties: items.</p>`;
}

function pairedTable({ analysis, registration }: Report): Markup {
  const rows = analysis.metrics.flatMap((one) => {
    if ('reason' in one || one.paired === null) return [];
    const { items, mean, median, deviation, standardError, t, freedom, p, intervals } = one.paired;
    const [wide] = intervals;
    const ends = [wide?.low ?? null, wide?.high ?? null];
    return [[nameOf(one), items, mean, median, deviation, standardError, ...ends, t, freedom, p]];
  });
  if (rows.length === 0) return html``;
  const head = [
    'metric',
    'items',
    'mean',
    'median',
    'deviation',
    'standard error',
    'low',
    'high',
    't',
    'df',
    'p',
  ];
  return html`<h3>Differences of items</h3>${tableOf(head, rows)}
<p>Each item has one difference, treatment minus control, and weighs the same. low and high: the t interval of ${percent(1 - registration.alpha)}; p: the two-sided paired t test. They decide nothing by themselves, but a margin has to hold the t interval of ${percent(1 - 2 * registration.alpha)} too.</p>`;
}

function callsTable({ analysis }: Report): Markup {
  const rows = Object.entries(analysis.calls).map(([tool, { control, treatment, difference }]) => [
    tool,
    control.total,
    treatment.total,
    difference,
  ]);
  return rows.length === 0
    ? html``
    : html`<h3>Calls in all trials</h3>${tableOf(['tool', 'control', 'treatment', 'difference'], rows)}`;
}

function trialsTable({ analysis }: Report): Markup {
  const { arms, lost } = analysis;
  const names = Object.keys(arms.control.outcomes) as (keyof typeof arms.control.outcomes)[];
  return html`<h3>Trials</h3>${tableOf(
    ['arm', 'planned', ...names, 'timed out', 'begun anew', 'nothing sent'],
    (['control', 'treatment'] as const).map((side) => {
      const { planned, outcomes, timeouts, interrupted, unsent } = arms[side];
      return [side, planned, ...names.map((name) => outcomes[name]), timeouts, interrupted, unsent];
    }),
  )}<p>${lost.pairs} of ${lost.of} pairs were lost.</p>
${reasonsTable(analysis)}`;
}

function reasonsTable({ arms }: Report['analysis']): Markup {
  const rows = (['control', 'treatment'] as const).flatMap((side) => [
    ...arms[side].reasons.map(({ outcome, reason, trials }) => [side, outcome, reason, trials]),
    ...Object.entries(arms[side].callCodes).map(([code, trials]) => [side, 'a call failed', code, trials]),
  ]);
  return rows.length === 0
    ? html``
    : html`<h3>What went wrong in trials</h3>${tableOf(['arm', 'what', 'why', 'trials'], rows)}`;
}

function methodOf(report: Report): Markup {
  const { registration, registrationDigest, tableDigest, digest } = report;
  const { arms, repeats, seed, alpha, resamples, grader, build, errors, design } = registration;
  const arm = (side: 'control' | 'treatment') => {
    const { label, agent, model, harness, prompt, overrides } = arms[side];
    const by = harness === undefined ? '' : ` by ${harness.name}, ${harness.intent} ${harness.fidelity}`;
    const changed = Object.entries(overrides).map(([id, presence]) => `, ${id} ${presence}`);
    return html`<li>${side}: ${label} (${agent} on ${model}${by}${changed}), text <code>${prompt}</code></li>`;
  };
  return html`<ul>
${arm('control')}${arm('treatment')}
<li>${registration.items.length} items, each ${repeats} times in both arms, in an order drawn from the seed <code>${String(seed)}</code></li>
<li>alpha ${alpha}; ${resamples} resamples; the smallest p that the design can give is ${figure(design.smallestP)}</li>
<li>power at registration: ${powerText(design.power, registration.assume)}</li>
<li>graded by ${grader.kind} <code>${grader.digest}</code></li>
<li>outages by the rules <code>${errors.outage.join(' ')}</code></li>
<li>${answeredBy(report)}</li>
<li>${buildText(build)}</li>
<li>registered ${new Date(report.registeredAt).toISOString()}, digest <code>${registrationDigest}</code></li>
<li>table of trials <code>${tableDigest}</code></li>
<li>report <code>${digest}</code></li>
</ul>
<p>All numbers can be computed again from <code>report.json</code>: <code>writ experiment verify report.json</code></p>`;
}

function answeredBy({ analysis: { arms } }: Report): string {
  const names = (part: 'modelsSeen' | 'fingerprintsSeen') =>
    [...new Set([...arms.control[part], ...arms.treatment[part]])].sort().join(', ');
  const states = names('fingerprintsSeen');
  const service = states === '' ? '' : `, the state of its service (system_fingerprint) ${states}`;
  return `answered by ${names('modelsSeen') || 'a model that gave no name'}${service}`;
}
