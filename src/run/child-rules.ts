/** Whether a child may begin: it has nothing that its parent has not, and it is not work that is done already or leads nowhere. */
import type { ChildRequest, Session } from '../harness.ts';
import type { ChildRecord } from './child-record.ts';
import { RunError } from './errors.ts';

/** So many children of one run in a row without an answer, and it makes no more. */
export const fruitlessMax = 3;

/** Why a child may not begin; undefined where it may. `above` are the fingerprints of the run itself and all above it. */
export function mayBegin(
  request: ChildRequest,
  fingerprint: string,
  session: Session,
  above: ReadonlySet<string>,
  earlier: readonly ChildRecord[],
): RunError | undefined {
  return (
    widened('capability', request.capabilities, session.capabilities) ??
    widened('tool', request.tools, session.projection.tools) ??
    repeated(request.key, fingerprint, above, earlier) ??
    fruitless(earlier)
  );
}

function widened(
  what: 'capability' | 'tool',
  wanted: readonly string[],
  held: readonly string[],
): RunError | undefined {
  const excess = wanted.filter((name) => !held.includes(name));
  if (excess.length === 0) return undefined;
  return new RunError(
    'run.child-widens',
    `A child may have what its parent has and no more; the parent has no ${what} ${excess.map((name) => `'${name}'`).join(', ')}. It has: ${held.length === 0 ? 'none' : held.join(', ')}.`,
    { next: `Ask for less, or give the agent the ${what}.`, details: { what, excess } },
  );
}

function repeated(
  key: string,
  fingerprint: string,
  above: ReadonlySet<string>,
  earlier: readonly ChildRecord[],
): RunError | undefined {
  if (above.has(fingerprint)) {
    return new RunError(
      'run.child-duplicate',
      'The task is that of the run itself, or of one above it, under the same instructions: it would go on without end.',
      { next: 'Do the work in this run, or give the child a part of it.' },
    );
  }
  // One that failed may be tried again; the guard below ends that.
  const same = earlier.find(
    ({ start, finish }) =>
      start.key !== key &&
      start.fingerprint === fingerprint &&
      (finish === undefined || finish.status === 'completed'),
  );
  if (same === undefined) return undefined;
  const { child } = same.start;
  return new RunError(
    'run.child-duplicate',
    `Run ${child} ${same.finish === undefined ? 'is at work on' : 'has answered'} this very task, as a child of the same run.`,
    { next: 'Use that answer, or ask for something else.', details: { child } },
  );
}

function fruitless(earlier: readonly ChildRecord[]): RunError | undefined {
  const ended = earlier.flatMap(({ finish }) => (finish === undefined ? [] : [finish]));
  const last = ended.slice(-fruitlessMax);
  if (last.length < fruitlessMax || last.some(({ status }) => status === 'completed')) return undefined;
  return new RunError(
    'run.child-no-progress',
    `The last ${fruitlessMax} children of this run ended without an answer: ${last.map(({ status, error }) => error?.code ?? status).join(', ')}.`,
    { next: 'Do the work in this run, or say plainly what stands in the way.' },
  );
}
