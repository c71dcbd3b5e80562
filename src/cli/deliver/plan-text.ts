/** A delivery plan as a person reads it: what is done, by which controls, on which evidence. */
import type { DeliveryPlan } from '../../protocol/delivery.ts';
import { visibleLine } from '../view/visible.ts';

const shown = 100;

/** Long texts are named by their size, never cut in the middle without saying so. Ends with a line feed. */
export function planText(plan: DeliveryPlan): string {
  const { harness, intent, fidelity, program, argv, env, cell } = plan;
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ['controls', plan.controls.map(controlLine)],
    ['command', program === null ? [] : [program, ...argv].map(word)],
    ['variables', Object.entries(env).map(([name, value]) => `${name}=${word(value)}`)],
    ['taken from your environment if set', plan.inherit],
    [
      `files below ${plan.home}`,
      plan.files.map(({ path, text, until }) => `${path}  ${size(text)}, until the ${until} ends`),
    ],
    ['login copied', plan.seeds.map(({ from, to }) => `~/${from} to ${to}`)],
    ['standard input', plan.stdin === null ? [] : [size(plan.stdin)]],
    ['stays beside the text', plan.residue.map((text) => visibleLine(text, 200))],
    [
      'read if it is there',
      plan.ambient.map(({ path, touches }) => (touches === 'system' ? `${path} (refuses the run)` : path)),
    ],
    [
      'measured',
      cell === null ? [] : [`${cell.version}, ${cell.modelFamily}, ${cell.authMode}, ${cell.date}`],
    ],
    ['note', plan.notices],
  ];
  const body = sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `\n${title}\n${lines.map((line) => `  ${line}\n`).join('')}`);
  return `${harness}: ${intent}, ${fidelity}\n${body.join('')}`;
}

function controlLine({ wish, control, transport, bytes, sha256 }: DeliveryPlan['controls'][number]): string {
  const digest = sha256 === null ? '' : `, ${bytes} bytes, sha256 ${sha256.slice(0, 12)}`;
  return `${wish}: ${control} (${transport}${digest})`;
}

function word(text: string): string {
  if (text.length > shown) return `(${size(text)})`;
  return /^[\w./:=,@+-]+$/.test(text) ? text : JSON.stringify(text);
}

function size(text: string): string {
  return `${Buffer.byteLength(text)} bytes`;
}
