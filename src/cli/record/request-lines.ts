/** One recorded exchange as lines for a person: what was asked, and each text that the model got with its place. */
import type { Exchange } from '../../deliver/recorder/exchange.ts';
import type { InputPart, ReadRequest } from '../../deliver/recorder/model-request.ts';
import { visibleLine } from '../view/visible.ts';

const headCells = 60;
const pathCells = 160;

/** Ends with a line feed. What came over the wire is shown without control characters. */
export function exchangeLines(exchange: Exchange, reading: ReadRequest): string {
  const { number, method, path, response, fault } = exchange;
  const end = fault === null ? `${response?.status ?? 'no answer'}` : fault.what;
  const lines = [`\n${number} ${method} ${visibleLine(path, pathCells)} → ${end}`];
  if (reading.kind === 'unreadable')
    lines.push(`  not readable as ${reading.protocol}: ${visibleLine(reading.reason, pathCells)}`);
  if (reading.kind === 'model') {
    const { protocol, model, parts, tools, bytes } = reading.request;
    lines.push(`  ${protocol} · model ${visibleLine(model ?? 'not named', headCells)} · ${bytes} bytes`);
    lines.push(...parts.map(partLine));
    const size = tools.reduce((sum, tool) => sum + tool.bytes, 0);
    const names = tools.map(({ name }) => visibleLine(name, headCells)).join(', ');
    if (tools.length > 0) lines.push(`  ${tools.length} tools, ${size} bytes: ${names}`);
  }
  return `${lines.join('\n')}\n`;
}

function partLine({ field, index, part, role, kind, bytes, sha256, text }: InputPart): string {
  const place = `${field}[${index}]${part === 0 ? '' : `.${part}`}`;
  const what = kind === 'text' ? role : `${role} ${kind}`;
  const head = visibleLine(text, headCells);
  return `  ${place.padEnd(20)} ${what.padEnd(20)} ${String(bytes).padStart(7)} B  ${sha256.slice(0, 12)}  ${head}`;
}
