/** What all plots share: a frame with axes, scales, a text in place of the picture, and the numbers as a table. */
import { figure } from '../claims.ts';
import { html, type Markup } from './html.ts';

export interface Scale {
  readonly low: number;
  readonly high: number;
  readonly at: (value: number) => number;
}

/** A straight scale; a range of one value is widened, because it would divide by 0. */
export function scale(values: readonly number[], from: number, to: number, withZero = false): Scale {
  const all = (withZero ? [...values, 0] : values).filter(Number.isFinite);
  let low = all.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
  let high = all.reduce((most, one) => Math.max(most, one), Number.NEGATIVE_INFINITY);
  if (!(low < high)) {
    const middle = Number.isFinite(low) ? low : 0;
    low = middle - 1;
    high = middle + 1;
  }
  return { low, high, at: (value) => round(from + ((value - low) / (high - low)) * (to - from)) };
}

/** Coordinates to a tenth of a pixel: more digits only make the page longer. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Some five round values over a scale. */
export function ticks({ low, high }: Scale): readonly number[] {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10) * power;
  const found: number[] = [];
  for (let at = Math.ceil(low / step); at * step <= high + step / 1e6; at += 1)
    found.push(Number((at * step).toPrecision(12)));
  return found;
}

export interface Plot {
  readonly id: string;
  readonly title: string;
  /** What the picture shows, for those who do not see it. */
  readonly description: string;
  readonly width: number;
  readonly height: number;
  readonly drawing: readonly Markup[];
  /** The numbers of the picture. */
  readonly table: {
    readonly head: readonly string[];
    readonly rows: readonly (readonly (string | number | null)[])[];
  };
}

/** The plot with its title, its description and its numbers below it. */
export function figureOf({ id, title, description, width, height, drawing, table }: Plot): Markup {
  return html`<figure>
<svg role="img" aria-labelledby="${id}-title ${id}-text" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title id="${id}-title">${title}</title><desc id="${id}-text">${description}</desc>
${drawing}
</svg>
<figcaption><b>${title}.</b> ${description}</figcaption>
<details><summary>The numbers</summary>${tableOf(table.head, table.rows)}</details>
</figure>`;
}

/** A table whose first column names the row. */
export function tableOf(
  head: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): Markup {
  const cell = (value: string | number | null) =>
    value === null ? 'unknown' : typeof value === 'number' ? figure(value) : value;
  return html`<div class="wide"><table><thead><tr>${head.map((one) => html`<th scope="col">${one}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([first = '', ...others]) =>
      html`<tr><th scope="row">${cell(first)}</th>${others.map((one) => html`<td>${cell(one)}</td>`)}</tr>`,
  )}</tbody></table></div>`;
}

/** A horizontal axis with its name below. */
export function axisBelow(x: Scale, y: number, name: string): Markup {
  const [left, right] = [x.at(x.low), x.at(x.high)];
  return html`<line class="axis" x1="${left}" y1="${y}" x2="${right}" y2="${y}"/>${ticks(x).map(
    (one) =>
      html`<line class="axis" x1="${x.at(one)}" y1="${y}" x2="${x.at(one)}" y2="${y + 5}"/><text class="tick" x="${x.at(one)}" y="${y + 18}" text-anchor="middle">${figure(one)}</text>`,
  )}<text x="${(left + right) / 2}" y="${y + 36}" text-anchor="middle">${name}</text>`;
}

/** A vertical axis with its name above. */
export function axisBeside(y: Scale, x: number, name: string): Markup {
  return html`<line class="axis" x1="${x}" y1="${y.at(y.low)}" x2="${x}" y2="${y.at(y.high)}"/>${ticks(y).map(
    (one) =>
      html`<line class="axis" x1="${x - 5}" y1="${y.at(one)}" x2="${x}" y2="${y.at(one)}"/><text class="tick" x="${x - 8}" y="${y.at(one) + 4}" text-anchor="end">${figure(one)}</text>`,
  )}<text x="${x - 40}" y="${y.at(y.high) - 10}">${name}</text>`;
}

/** Which mark is which arm: told apart by form and line, not by colour alone. */
export function legend(x: number, y: number, control: string, treatment: string): Markup {
  return html`${circle(x, y, 'control')}<text x="${x + 10}" y="${y + 4}">control: ${control}</text>${square(x, y + 18, 'treatment')}<text x="${x + 10}" y="${y + 22}">treatment: ${treatment}</text>`;
}

/** The mark of the control arm. */
export function circle(x: number, y: number, kind: string): Markup {
  return html`<circle class="${kind}" cx="${round(x)}" cy="${round(y)}" r="4.5"/>`;
}

/** The mark of the treatment arm. */
export function square(x: number, y: number, kind: string): Markup {
  return html`<rect class="${kind}" x="${round(x - 4.5)}" y="${round(y - 4.5)}" width="9" height="9"/>`;
}
