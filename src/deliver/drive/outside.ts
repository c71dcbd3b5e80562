/** Any agent program as a harness: its delivery is planned before anything is touched, and a whole run of it is one effect. */
import { stat } from 'node:fs/promises';
import { jsonDigest } from '../../digest.ts';
import type { Harness, Session, TaskInput } from '../../harness.ts';
import type { BudgetCounter } from '../../protocol/budget.ts';
import type { DeliveryPlan, SessionBinding } from '../../protocol/delivery.ts';
import type { RunEvent } from '../../protocol/events.ts';
import { authModeOf } from '../adapter.ts';
import { lookAround } from '../ambient.ts';
import { DeliverError } from '../errors.ts';
import { mustBeMeterable } from '../meter/meterable.ts';
import { planDelivery } from '../plan-delivery.ts';
import { homeOf } from './home.ts';
import type { OutsideOptions } from './options.ts';
import { openOutsideSession } from './session.ts';

export type { OutsideOptions } from './options.ts';

/** What a meter keeps, together with our own timer. Calls and what they print are the program's, and are seen afterwards. */
const meteredLimits: readonly BudgetCounter[] = ['wallTimeMs', 'turns', 'modelCalls', 'tokens'];

/** Limits that are kept whatever a program reports: by our own timer, and by what was read of it. */
const ownCounters: readonly BudgetCounter[] = ['wallTimeMs', 'turns', 'toolCalls', 'outputBytes'];

/**
 * The harness of an adapter. Its runs are refused, with a `deliver.*` code, before a session exists. Nothing of a program
 * is left when a run ends; what is left of one whose Writ was killed is ended by the next look at its session.
 */
export function outside(options: OutsideOptions): Harness {
  const { adapter, meter, dimensions = {} } = options;
  return {
    name: adapter.name,
    declares: meter === undefined ? adapter.declares : { ...adapter.declares, budget: 'enforced' },
    model: dimensions.model ?? null,
    project: async () => ({ tools: [], text: '' }),
    unkeepable(limits) {
      const told = [...ownCounters, ...(adapter.reports ?? [])];
      const priced = meter?.tariff === undefined ? [] : (['costUsd'] as const);
      const kept = meter === undefined ? told : [...meteredLimits, ...priced];
      return limits
        .filter((counter) => !kept.includes(counter))
        .map((counter) => ({
          counter,
          reason:
            meter === undefined
              ? `${adapter.name} does not tell it while it works`
              : `${meteredReason(counter)} of ${adapter.name}`,
          next: `Leave ${counter} out of the budget (--budget ${counter}=none), or choose another harness.`,
        }));
    },
    async admit(session, { task, earlier }) {
      const plan = planRun(options, session, task, earlier);
      await lookAround(plan);
      await mustBeThere(plan, vendorSession(earlier));
    },
    open: async (session, host) =>
      openOutsideSession(session, host, {
        options,
        binding: bindingOf(options),
        plan: ({ task, earlier, run }, baseUrl) =>
          planRun(
            options,
            session,
            task,
            earlier.filter((event) => event.run !== run),
            baseUrl,
          ),
      }),
  };
}

/** What has to stay alike in all runs of a session. */
function bindingOf({ intent, fidelity, dimensions = {} }: OutsideOptions): SessionBinding {
  return { intent, fidelity, dimensions: jsonDigest(dimensions) };
}

/** The plan of one run. Throws a refusal; then nothing was touched. */
function planRun(
  options: OutsideOptions,
  session: Session,
  task: string,
  earlier: TaskInput['earlier'],
  baseUrl = options.meter?.upstream ?? options.baseUrl ?? null,
): DeliveryPlan {
  if (options.meter !== undefined) mustBeMeterable(options.adapter);
  const { adapter, adapters, dimensions, env, intent, fidelity, version, workspace, homes } = options;
  const resume = vendorSession(earlier);
  if (resume !== null) mustBeAlike(adapter.name, bindingOf(options), resume.binding);
  return planDelivery(
    adapter.name,
    {
      ...dimensions,
      intent,
      fidelity,
      text: session.composition.text,
      task,
      version,
      authMode: authModeOf(adapter, env),
      home: homeOf(homes, session.id),
      workspace,
      platform: process.platform,
      resume: resume?.id ?? null,
      baseUrl,
    },
    { measured: options.measured ?? [], unmeasured: options.unmeasured ?? 'refuse', adapters },
  );
}

function meteredReason(counter: BudgetCounter): string {
  return counter === 'costUsd'
    ? 'nobody knows the price of the models'
    : 'no meter sees it before it is spent';
}

type BoundSession = Extract<RunEvent, { type: 'vendor-session' }>;

/**
 * The vendor's session that the next run goes on with; null for the first. Throws `deliver.session-lost` where a program
 * was started before and never named one: a new session would silently know nothing of what was said.
 */
function vendorSession(earlier: readonly RunEvent[]): BoundSession | null {
  const bound = earlier.findLast((event): event is BoundSession => event.type === 'vendor-session');
  if (bound !== undefined) return bound;
  const started = earlier.find((event) => event.type === 'delivery-receipt');
  if (started === undefined) return null;
  throw new DeliverError(
    'deliver.session-lost',
    `Run ${started.run} of this session ended before the program named its own session, so nothing can be continued.`,
    { next: 'Start the task in a new session.', details: { run: started.run } },
  );
}

function mustBeAlike(harness: string, asked: SessionBinding, bound: SessionBinding): void {
  const names = ['intent', 'fidelity', 'dimensions'] as const;
  const changed = names.filter((name) => asked[name] !== bound[name]);
  if (changed.length === 0) return;
  throw new DeliverError(
    'deliver.session-bound',
    `The session of ${harness} began with ${said(bound)}; asked for ${said(asked)}.`,
    {
      next: `Ask for the same ${changed.join(' and ')}, or start a new session.`,
      details: { changed, bound, asked },
    },
  );
}

const said = ({ intent, fidelity, dimensions }: SessionBinding) =>
  `${intent}, ${fidelity}, dimensions ${dimensions.slice(0, 12)}`;

/** A continued session is in its home; without that the program would begin another. */
async function mustBeThere({ home, harness }: DeliveryPlan, resume: BoundSession | null): Promise<void> {
  if (resume === null) return;
  const found = await stat(home).catch(() => null);
  if (found?.isDirectory() === true) return;
  throw new DeliverError(
    'deliver.session-lost',
    `The session ${resume.id} of ${harness} was kept in ${home}, and that is no longer there.`,
    { next: 'Start the task in a new session.', details: { home } },
  );
}
