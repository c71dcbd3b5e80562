/** The one seam before anything is touched: whether a harness honours what is asked, by a control that was measured. */
import {
  type Cell,
  type Dimension,
  dimensions,
  type RefusalDetails,
  type TextTrait,
} from '../protocol/delivery.ts';
import type { Intent } from '../protocol/intent.ts';
import type { Adapter, Control, NoControl, Resolved } from './adapter.ts';
import { cellsOfAgent } from './agent-version.ts';
import { chooseCell } from './cells.ts';
import { DeliverError, type DeliverErrorCode } from './errors.ts';
import type { DeliveryRequest } from './request.ts';
import { traitsOf } from './traits.ts';
import { trimmedText } from './transport.ts';
import { unmeasured as unmeasuredRefusal } from './unmeasured.ts';

/** What decides beside the request itself. */
export interface DeliveryRules {
  /** The user's own measurements, which win over those that ship. */
  readonly measured: readonly Cell[];
  /** Whether a harness may be used in a state that nobody measured. */
  readonly unmeasured: 'refuse' | 'warn';
  /** Every harness there is, so that a refusal can name those that can. */
  readonly adapters: readonly Adapter[];
}

/** Lets a request through with the control and the cell that it rests on, or throws a refusal. Pure. */
export function permit(adapter: Adapter, request: DeliveryRequest, rules: DeliveryRules): Resolved {
  // What an agent lists stands against every intent, so it is told before an intent is.
  holdDimensions(adapter, request, rules);
  const control = controlOf(adapter, request, rules);
  if (request.resume !== null && adapter.resume === 'none') throw noResume(adapter, rules);
  return { request, control, cell: cellFor(adapter, request, control, rules) };
}

/** Narrows a row of the table: true for a control. */
export function isControl(row: Control | NoControl): row is Control {
  return 'control' in row;
}

/** The harnesses that have a control for an intent. One that may do nothing without a word is not counted among them. */
export function ableTo(intent: Intent, adapters: readonly Adapter[]): readonly string[] {
  const able = adapters.filter(({ controls }) => {
    const row = controls[intent];
    return isControl(row) && row.silent !== true;
  });
  return able.map(({ name }) => name);
}

/** The same for the whole of a request: also each of its dimensions has a way. A command of its own names one harness. */
function ableToAll(request: DeliveryRequest, adapters: readonly Adapter[]): readonly string[] {
  const wished = dimensions.filter((name) => name !== 'agent' && request[name] !== undefined);
  const reached = adapters.filter((one) => wished.every((name) => one.dimensions[name] !== undefined));
  return ableTo(request.intent, reached);
}

function controlOf(adapter: Adapter, request: DeliveryRequest, { adapters }: DeliveryRules): Control {
  const { intent, fidelity } = request;
  const row = adapter.controls[intent];
  const able = ableToAll(request, adapters);
  if (!isControl(row)) {
    const instead = Object.entries(adapter.controls).find(([, other]) => isControl(other))?.[0];
    const alternative = instead === undefined ? 'another harness' : `the ${instead} intent`;
    throw refusal('deliver.no-control', `${adapter.name} has no control for ${intent}: ${row.none}.`, {
      harness: adapter.name,
      field: 'intent',
      requirement: `a control of its own for ${intent}`,
      alternative,
      able,
    });
  }
  // Ours has no prompt of its own that could stay.
  if (fidelity === 'exact' && intent !== 'replace' && adapter.needsCell !== false)
    throw refusal(
      'deliver.residue',
      `${adapter.name} keeps its own prompt when it is asked to ${intent}, so nothing can be exact.`,
      {
        harness: adapter.name,
        field: 'fidelity',
        requirement: "that nothing of the vendor's text remains",
        alternative: 'fidelity base, or the replace intent',
        able: [],
      },
    );
  return row;
}

function holdDimensions(adapter: Adapter, request: DeliveryRequest, { adapters }: DeliveryRules): void {
  for (const dimension of dimensions) {
    if (request[dimension] === undefined || adapter.dimensions[dimension] !== undefined) continue;
    throw refusal(
      'deliver.dimension-unsupported',
      dimension === 'tools'
        ? `The agent lists tools (${request.tools?.join(', ')}), and ${adapter.name} has only its own: tools of Writ and of an agent folder work with native.`
        : `${adapter.name} has no native way to be given ${dimension}.`,
      {
        harness: adapter.name,
        field: dimension satisfies Dimension,
        requirement: 'a native way for everything that is asked for',
        alternative:
          dimension === 'tools'
            ? `an agent without \`tools:\` in its agent.yaml, such as \`writ init DIR --harness ${adapter.name}\` makes`
            : `a request without ${dimension}`,
        able: ableToAll(request, adapters),
      },
    );
  }
}

function cellFor(
  adapter: Adapter,
  request: DeliveryRequest,
  control: Control,
  { measured, unmeasured }: DeliveryRules,
): Cell | null {
  // Where nothing of a vendor's is started there is nothing to measure.
  if (adapter.needsCell === false) return null;
  const { intent, fidelity, version, authMode, model, agent } = request;
  const modelFamily = adapter.family(model ?? null);
  const own = cellsOfAgent(adapter, agent, measured);
  const shipped = cellsOfAgent(adapter, agent, adapter.cells);
  const found = chooseCell(
    { harness: adapter.name, intent, fidelity, version, authMode, modelFamily, control: control.control },
    own,
    shipped,
  );
  if (found !== undefined) return holdCell(adapter, request, found);
  const needed = control.silent === true || fidelity === 'exact';
  if (!needed && (intent !== 'replace' || unmeasured === 'warn')) return null;
  const near = [...own, ...shipped].filter(
    (cell) =>
      cell.harness === adapter.name &&
      cell.intent === intent &&
      cell.fidelity === fidelity &&
      cell.control === control.control &&
      cell.delivered,
  );
  throw unmeasuredRefusal(adapter, request, near, needed);
}

/** What a cell says against the request. A measured cell beats every table. */
function holdCell(adapter: Adapter, { intent, fidelity, text }: DeliveryRequest, cell: Cell): Cell {
  const measured = `measured on ${cell.version}, ${cell.date}`;
  const details = { harness: adapter.name, alternative: 'another harness or intent', able: [] };
  if (!cell.delivered)
    throw refusal(
      'deliver.not-delivered',
      `${cell.control} of ${adapter.name} did not deliver (${measured}).`,
      {
        ...details,
        field: 'intent',
        requirement: `a control that was seen to ${intent}`,
      },
    );
  if (fidelity === 'exact' && cell.residue.bytes > 0) {
    const residue = `${cell.residue.bytes} bytes ("${cell.residue.firstWords}")`;
    throw refusal('deliver.residue', `${adapter.name} keeps ${residue} beside the text (${measured}).`, {
      ...details,
      field: 'fidelity',
      requirement: "that nothing of the vendor's text remains",
      alternative: 'fidelity base, which names what remains',
    });
  }
  const hurt = cell.byteEquality ? alteredTraits(text, cell) : traitsOf(text);
  if (hurt.length > 0 || !cell.byteEquality)
    throw refusal(
      'deliver.text-altered',
      `${adapter.name} was seen to alter such a text: ${hurt.join(', ') || 'any'} (${measured}).`,
      {
        ...details,
        field: 'text',
        requirement: 'every byte as it is',
        ...(hurt.join() === 'blank-lines-around' ? { alternative: trimmedText } : {}),
      },
    );
  return cell;
}

function alteredTraits(text: string, cell: Cell): readonly TextTrait[] {
  return traitsOf(text).filter((trait) => cell.altered.includes(trait));
}

function noResume(adapter: Adapter, { adapters }: DeliveryRules): DeliverError {
  return refusal('deliver.no-resume', `${adapter.name} cannot continue a session.`, {
    harness: adapter.name,
    field: 'intent',
    requirement: 'a session that can be continued',
    alternative: 'a new session',
    able: adapters.filter(({ resume }) => resume !== 'none').map(({ name }) => name),
  });
}

/** A refusal whose next step names the alternative and the harnesses that can. */
export function refusal(code: DeliverErrorCode, message: string, details: RefusalDetails): DeliverError {
  const others = details.able.length === 0 ? '' : `, or one of: ${details.able.join(', ')}`;
  return new DeliverError(code, message, {
    next: `Use ${details.alternative}${others}.`,
    details: { ...details },
  });
}
