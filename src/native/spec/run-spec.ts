/** The specification of a run: after each answer the world is looked at, and what is not met is asked for again, a few times. */
import { blobOf } from '../../digest.ts';
import type { ErrorJson } from '../../errors.ts';
import type { Host, TaskInput } from '../../harness.ts';
import type { EventBodies } from '../../protocol/events.ts';
import type { HarnessOutcome } from '../../protocol/outcome.ts';
import type { RequirementResult } from '../../protocol/spec.ts';
import type { AssertionCatalogue } from './catalogue.ts';
import { type FrozenSpec, mustBeWhole } from './compile-spec.ts';
import { SpecError } from './errors.ts';
import { claimOf, observeSpec } from './observe-spec.ts';
import { verifySpec } from './verify-spec.ts';

export interface GivenSpec {
  readonly frozen: FrozenSpec;
  /** What can be seen once there is this answer. */
  catalogue(answer: string): AssertionCatalogue;
  /** Answers after the first that was not accepted; 2 unless given. */
  readonly repairs?: number;
}

export type Closed =
  | { readonly do: 'complete'; readonly answer: string }
  | { readonly do: 'speak'; readonly text: string; readonly event: undefined }
  | { readonly do: 'stop'; readonly error: ErrorJson };

export interface RunSpec {
  /** What the model is told of it, behind the task. */
  readonly terms: string;
  /** Judges the world after the answer of a turn. One that the record has as judged is not judged again. */
  closing(answer: string, turn: number): Promise<Closed>;
  /** The same for work that is not taken up again, such as a plan's. */
  settle(outcome: HarnessOutcome): Promise<HarnessOutcome>;
}

/**
 * Opens the specification of this run and notes it in the record. Throws `spec.altered` if it is not what was frozen, or not
 * the one that the run began with.
 */
export function openRunSpec(
  { frozen, catalogue, repairs = 2 }: GivenSpec,
  { run, earlier }: Pick<TaskInput, 'run' | 'earlier'>,
  host: Pick<Host, 'clock' | 'signal' | 'note' | 'record'>,
): RunSpec {
  mustBeWhole(frozen);
  const own = earlier.filter((event) => event.run === run);
  const begun = own.find((event) => event.type === 'spec-freeze');
  if (begun?.type === 'spec-freeze' && begun.spec !== frozen.fingerprint) throw anotherSpec();
  if (begun === undefined) {
    const source = blobOf(JSON.stringify(frozen));
    const { fingerprint: spec, subject } = frozen;
    host.note([{ type: 'spec-freeze', spec, subject, source: source.digest }], [source]);
  }
  const verdicts: EventBodies['spec-verdict'][] = own.flatMap((event) =>
    event.type === 'spec-verdict' ? [event] : [],
  );

  async function judged(answer: string, turn: number): Promise<EventBodies['spec-verdict']> {
    const before = verdicts.find((one) => one.turn === turn);
    if (before !== undefined) return before;
    const attempt = verdicts.length + 1;
    const state = { ref: run, revision: `attempt-${attempt}` };
    const assertions = catalogue(answer);
    const { clock, signal } = host;
    const seen = await observeSpec(frozen, assertions, { state, clock, signal });
    // To end is to say that all of it holds: that stands beside the evidence and counts for nothing.
    const claims = frozen.requirements.map((one) => claimOf(frozen, one, answer, state, clock.now()));
    const { spec, accepted, results } = verifySpec(frozen, assertions, [...claims, ...seen], state);
    const verdict = { turn, spec, attempt, accepted, results };
    verdicts.push(verdict);
    await host.record([{ type: 'spec-verdict', ...verdict }]);
    return verdict;
  }

  return {
    terms: termsOf(frozen, catalogue('')),
    async closing(answer, turn) {
      const { accepted, attempt, results } = await judged(answer, turn);
      if (accepted) return { do: 'complete', answer };
      const missing = unmet(results);
      if (attempt > repairs || host.signal.aborted) return { do: 'stop', error: notMet(missing, attempt) };
      return { do: 'speak', text: repairText(missing), event: undefined };
    },
    async settle(outcome) {
      if (outcome.status !== 'completed') return outcome;
      const { accepted, attempt, results } = await judged(outcome.answer, 0);
      return accepted ? outcome : { status: 'failed', error: notMet(unmet(results), attempt) };
    },
  };
}

function unmet(results: readonly RequirementResult[]): readonly RequirementResult[] {
  return results.filter(({ severity, status }) => severity === 'required' && status !== 'passed');
}

function termsOf({ subject, requirements }: FrozenSpec, catalogue: AssertionCatalogue): string {
  const lines = requirements.map(({ id, severity, assertion: { kind, version, args } }) => {
    const { description } = catalogue.find(kind, version);
    return `- ${id}${severity === 'optional' ? ' (if possible)' : ''}: ${description} ${JSON.stringify(args)}`;
  });
  return `When you answer, this is looked after (${subject}). What you say of it counts for nothing:\n${lines.join('\n')}`;
}

function repairText(missing: readonly RequirementResult[]): string {
  const lines = missing.map(({ id, status, reason }) => `- ${id}: ${status}. ${reason}`);
  return `It was looked after, and this is not met:\n${lines.join('\n')}\nMend it, then answer again.`;
}

function notMet(missing: readonly RequirementResult[], attempts: number): ErrorJson {
  const named = missing.map(({ id, status, reason }) => `${id} (${status}: ${reason})`).join(', ');
  return new SpecError(
    'spec.not-met',
    `After ${attempts} ${attempts === 1 ? 'answer' : 'answers'} the specification is not met: ${named}`,
    {
      next: 'Look at what is there, then give the session another task or change the specification.',
      details: { attempts, missing },
    },
  ).toJSON();
}

function anotherSpec(): SpecError {
  return new SpecError(
    'spec.altered',
    'The run began under another specification than the one it is given.',
    {
      next: 'Resume it with the specification that it began with.',
    },
  );
}
