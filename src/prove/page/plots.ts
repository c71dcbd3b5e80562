/** The plots of a report: items, effects, the permutation distribution, time, and cost against score. */
import type { MetricAnalysis } from '../analysis.ts';
import { figure } from '../claims.ts';
import { metricValue, nameOf } from '../metric.ts';
import type { Report } from '../report.ts';
import type { Interval } from '../statistics/bootstrap.ts';
import { html, type Markup } from './html.ts';
import { axisBelow, axisBeside, circle, figureOf, legend, round, scale, square } from './plot.ts';

/** All plots that the numbers allow. */
export function plotsOf(report: Report): readonly Markup[] {
  const { analysis, registration } = report;
  const labels = { control: registration.arms.control.label, treatment: registration.arms.treatment.label };
  const first = analysis.metrics[0];
  const shown = first !== undefined && !('reason' in first) ? first : undefined;
  const known = analysis.metrics.filter((one): one is MetricAnalysis => !('reason' in one));
  return [
    ...(analysis.items.length === 0 ? [] : [pairedPlot(report, labels)]),
    ...forestPlots(report, known),
    ...(shown === undefined || shown.signFlip.histogram === null ? [] : [permutationPlot(shown)]),
    ...(analysis.survival === null ? [] : [survivalPlot(report, labels)]),
    ...costPlots(report, labels),
  ];
}

interface Labels {
  readonly control: string;
  readonly treatment: string;
}

/** Items by their difference: a circle for control, a square for treatment, and the way between them. */
function pairedPlot({ analysis, registration }: Report, labels: Labels): Markup {
  const name = registration.primary ?? registration.secondary[0];
  const metric = name === undefined ? 'score' : nameOf(name);
  const items = [...analysis.items].sort(
    (a, b) => (a.difference ?? 0) - (b.difference ?? 0) || (a.item < b.item ? -1 : 1),
  );
  const [width, top, step] = [760, 60, 16];
  const bottom = top + items.length * step;
  const values = items.flatMap(({ control, treatment }) => [control ?? 0, treatment ?? 0]);
  const x = scale(values, 230, width - 30, true);
  const rows = items.map(({ item, control, treatment }, at) => {
    const y = top + at * step + step / 2;
    if (control === null || treatment === null)
      return html`<text class="tick" x="220" y="${y + 4}" text-anchor="end">${cut(item)}: unknown</text>`;
    // One mark must not hide the other where they fall together.
    const apart = Math.abs(x.at(control) - x.at(treatment)) < markWidth ? 3 : 0;
    return html`<text class="tick" x="220" y="${y + 4}" text-anchor="end">${cut(item)}</text><line class="pair" x1="${x.at(control)}" y1="${y}" x2="${x.at(treatment)}" y2="${y}"/>${square(x.at(treatment), y + apart, 'treatment')}${circle(x.at(control), y - apart, 'control')}`;
  });
  return figureOf({
    id: 'items',
    title: `${metric} by item`,
    description: `Each row is an item, from the largest loss of the treatment to its largest gain. A circle is the control arm, a square the treatment arm, each the mean over the repeats.`,
    width,
    height: bottom + 50,
    drawing: [legend(240, 18, labels.control, labels.treatment), ...rows, axisBelow(x, bottom, metric)],
    table: {
      head: ['item', 'pairs', 'control', 'treatment', 'difference'],
      rows: items.map((one) => [one.item, one.pairs, one.control, one.treatment, one.difference]),
    },
  });
}

const markWidth = 9;

function cut(text: string): string {
  return text.length > 30 ? `${text.slice(0, 29)}…` : text;
}

/** The effect in each group of each grouping, and over all. */
function forestPlots(
  { analysis, registration }: Report,
  known: readonly MetricAnalysis[],
): readonly Markup[] {
  const first = known[0];
  const name = first === undefined ? 'score' : nameOf(first);
  const forests = Object.entries(analysis.forests).map(([grouping, rows], at) =>
    forestPlot(
      `forest-${at}`,
      `Difference in ${name} by ${grouping}`,
      `Treatment minus control in each group, with its interval, and over all items in the last row. The groups describe; none of them was the registered question.`,
      rows.map((row) => ({
        name: `${row.group ?? 'all items'} (${row.items})`,
        value: row.difference,
        interval: row.interval,
      })),
      `difference in ${name}`,
    ),
  );
  if (forests.length > 0 || first === undefined) return forests;
  return [
    forestPlot(
      'forest',
      `Difference in ${name}`,
      `Treatment minus control over all ${registration.items.length} items, with its interval.`,
      [{ name: 'all items', value: first.bootstrap.estimate, interval: first.superiority.interval }],
      `difference in ${name}`,
    ),
  ];
}

interface ForestLine {
  readonly name: string;
  readonly value: number | null;
  readonly interval: Interval;
}

function forestPlot(
  id: string,
  title: string,
  description: string,
  lines: readonly ForestLine[],
  axis: string,
): Markup {
  const [width, top, step] = [760, 20, 26];
  const bottom = top + lines.length * step;
  const ends = lines.flatMap(({ value, interval }) => [value ?? 0, interval.low ?? 0, interval.high ?? 0]);
  // An interval that ends at the frame would look cut off.
  const x = scale(ends.concat(ends.map((one) => one * 1.06)), 230, width - 30, true);
  const rows = lines.map(({ name, value, interval: { low, high } }, at) => {
    const y = top + at * step + step / 2;
    const bar =
      low === null || high === null
        ? html``
        : html`<line class="interval" x1="${x.at(low)}" y1="${y}" x2="${x.at(high)}" y2="${y}"/>`;
    const mark = value === null ? html`` : square(x.at(value), y, 'effect');
    return html`<text class="tick" x="220" y="${y + 4}" text-anchor="end">${cut(name)}</text>${bar}${mark}`;
  });
  const zero = html`<line class="zero" x1="${x.at(0)}" y1="${top}" x2="${x.at(0)}" y2="${bottom}"/>`;
  return figureOf({
    id,
    title,
    description,
    width,
    height: bottom + 50,
    drawing: [zero, ...rows, axisBelow(x, bottom, axis)],
    table: {
      head: ['group', 'difference', 'low', 'high'],
      rows: lines.map(({ name, value, interval }) => [name, value, interval.low, interval.high]),
    },
  });
}

/** What the difference would be if the arms were exchanged at random, and what it was. */
function permutationPlot(one: MetricAnalysis): Markup {
  const { histogram, p, resamples, method } = one.signFlip;
  const edges = histogram?.edges ?? [];
  const counts = histogram?.counts ?? [];
  const observed = histogram?.observed ?? 0;
  const [width, height] = [760, 280];
  const x = scale(edges, 70, width - 30);
  const y = scale([0, ...counts.map((amount) => amount * 1.05)], height - 50, 30);
  const bars = counts.map((amount, at) => {
    const [left, right] = [x.at(edges[at] ?? 0), x.at(edges[at + 1] ?? 0)];
    return html`<rect class="bar" x="${left}" y="${y.at(amount)}" width="${round(Math.max(0, right - left - 0.5))}" height="${round(height - 50 - y.at(amount))}"/>`;
  });
  const line = (value: number, kind: string) =>
    html`<line class="${kind}" x1="${x.at(value)}" y1="30" x2="${x.at(value)}" y2="${height - 50}"/>`;
  return figureOf({
    id: 'permutation',
    title: `Permutation distribution of the difference in ${nameOf(one)}`,
    description: `${method === 'exact' ? `All ${resamples}` : `${resamples} random`} exchanges of the arms within items. The solid line is the observed difference ${figure(observed)}, the dashed one its mirror; p = ${p === null ? 'unknown' : figure(p)}.`,
    width,
    height,
    drawing: [
      ...bars,
      line(observed, 'observed'),
      line(-observed, 'mirror'),
      axisBelow(x, height - 50, `difference in ${nameOf(one)}`),
      axisBeside(y, 70, 'exchanges'),
    ],
    table: {
      head: ['from', 'to', 'exchanges'],
      rows: counts.map((amount, at) => [edges[at] ?? 0, edges[at + 1] ?? 0, amount]),
    },
  });
}

/** The share of trials not yet finished: a solid line for control, a dashed one for treatment. */
function survivalPlot({ analysis }: Report, labels: Labels): Markup {
  const survival = analysis.survival;
  if (survival === null) return html``;
  const { arms, horizon } = survival;
  const [width, height] = [760, 300];
  const last = Math.max(
    ...[arms.control, arms.treatment].flatMap(({ steps }) => steps.map(({ time }) => time)),
    1,
  );
  const x = scale([0, Math.min(last * 1.05, Math.max(horizon, 1))], 70, width - 30);
  const y = scale([0, 1], height - 50, 50);
  const curve = (side: 'control' | 'treatment') => {
    let path = `M${x.at(0)} ${y.at(1)}`;
    for (const { time, survival: left } of arms[side].steps)
      path += ` H${x.at(Math.min(time, x.high))} V${y.at(left)}`;
    return html`<path class="curve ${side}" d="${path}"/>`;
  };
  return figureOf({
    id: 'survival',
    title: 'Share of trials not yet finished',
    description: `Kaplan-Meier curves. The solid line is the control arm (${arms.control.finished} of ${arms.control.trials} finished), the dashed one the treatment arm (${arms.treatment.finished} of ${arms.treatment.trials}).`,
    width,
    height,
    drawing: [
      legend(400, 14, labels.control, labels.treatment),
      curve('control'),
      curve('treatment'),
      axisBelow(x, height - 50, 'milliseconds'),
      axisBeside(y, 70, 'not finished'),
    ],
    table: {
      head: ['arm', 'trials', 'finished', 'restricted mean (ms)', 'median (ms)'],
      rows: (['control', 'treatment'] as const).map((side) => {
        const { trials, finished, restricted, median } = arms[side];
        return [side, trials, finished, restricted.mean, median];
      }),
    },
  });
}

/** Mean cost of an item against its mean score, where both are known; tokens where no price is. */
function costPlots({ trials, registration }: Report, labels: Labels): readonly Markup[] {
  const priced = trials.some((row) => (metricValue(row, 'costUsd') ?? 0) > 0);
  const [effort, unit] = priced ? ['costUsd', 'US dollars a trial'] : ['tokens', 'tokens a trial'];
  const points = registration.items.flatMap(({ id }) =>
    (['control', 'treatment'] as const).flatMap((side) => {
      const own = trials.filter((row) => row.item === id && row.side === side);
      const pairs = own.flatMap((row) => {
        const [cost, score] = [metricValue(row, effort), metricValue(row, 'score')];
        return cost === null || score === null ? [] : [{ cost, score }];
      });
      if (pairs.length === 0) return [];
      const mean = (pick: (one: { cost: number; score: number }) => number) =>
        pairs.reduce((total, one) => total + pick(one), 0) / pairs.length;
      return [{ id, side, cost: mean((one) => one.cost), score: mean((one) => one.score) }];
    }),
  );
  if (points.length === 0) return [];
  const [width, height] = [760, 320];
  const x = scale(
    points.map(({ cost }) => cost),
    70,
    width - 30,
    true,
  );
  const y = scale([0, 1], height - 50, 60);
  const marks = points.map(({ side, cost, score }) =>
    side === 'control'
      ? circle(x.at(cost), y.at(score), 'control open')
      : square(x.at(cost), y.at(score), 'treatment open'),
  );
  return [
    figureOf({
      id: 'cost',
      title: `${priced ? 'Cost' : 'Tokens'} against score`,
      description:
        'Each mark is an item in one arm, the mean over its repeats: a circle in the control arm, a square in the treatment arm. Further up is better, further left takes less.',
      width,
      height,
      drawing: [
        legend(240, 14, labels.control, labels.treatment),
        ...marks,
        axisBelow(x, height - 50, unit),
        axisBeside(y, 70, 'score'),
      ],
      table: {
        head: ['item', 'arm', unit, 'score'],
        rows: points.map(({ id, side, cost, score }) => [id, side, cost, score]),
      },
    }),
  ];
}
