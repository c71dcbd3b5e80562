/** Which texts of an event may hold what was never to be stored: each event, and each member of it, has to decide. */
import type { ErrorJson } from '../errors.ts';
import type { EventBodies, EventType } from './events.ts';
import type { SessionRecord } from './record.ts';
import type { Ticket } from './ticket.ts';

/**
 * `own`: an id, a digest or a word of Writ's vocabulary; what reads the record depends on it, so it stays as it is.
 * `text`: written by a model, a provider, a tool or a person; a known secret in it is replaced.
 * `given`: what a person configured and a session is opened again with; it must stay, so a secret in it is refused.
 * `key`: compared with later ones; its digest stands for one that holds a secret.
 */
export type TextKind = 'own' | 'text' | 'given' | 'key' | { readonly [member: string]: TextKind };

/** A decision for each member that can hold text. What a table does not name counts as `text`. */
type TextKinds<Body> = {
  readonly [M in keyof Body as Body[M] extends number | boolean | null | undefined ? never : M]-?: TextKind;
};

export const errorTexts = {
  code: 'own',
  kind: 'own',
  message: 'text',
  next: 'text',
  details: 'text',
  cause: 'text',
} as const satisfies TextKinds<ErrorJson>;

export const ticketTexts = {
  id: 'own',
  tool: 'own',
  capability: 'own',
  arguments: 'text',
  fingerprint: 'own',
  files: 'text',
  digest: 'own',
} as const satisfies TextKinds<Ticket>;

export const sessionTexts = {
  id: 'own',
  agent: 'given',
  harness: 'given',
  model: 'given',
  prompt: 'own',
  composition: 'own',
  projection: 'own',
  capabilities: 'given',
  origin: 'given',
} as const satisfies TextKinds<SessionRecord>;

/** The names of tools and ids of calls are `text` where a model or a provider wrote them, and `own` once they were found. */
export const eventTexts: { readonly [T in EventType]: TextKinds<EventBodies[T]> } = {
  'run-start': {
    session: 'own',
    agent: 'given',
    harness: 'given',
    model: 'given',
    prompt: 'own',
    task: 'own',
    capabilities: 'given',
    budget: 'own',
    approve: 'own',
    origin: 'given',
  },
  'run-resume': { by: 'text', promptNow: 'own', budget: 'own' },
  'turn-start': { lane: 'own' },
  'model-request': {
    model: 'own',
    wire: 'own',
    url: 'text',
    add: 'own',
    tools: 'own',
    parameters: 'text',
    body: 'own',
    reserved: 'own',
  },
  'model-response': {
    response: 'own',
    finish: 'own',
    modelSeen: 'text',
    fingerprint: 'text',
    requestId: 'text',
    usage: 'own',
  },
  'model-fault': { error: errorTexts, response: 'own', dispatched: 'own', usage: 'own' },
  'message-finish': { message: 'own', text: 'own' },
  'tool-call': { callId: 'text', tool: 'text', arguments: 'text' },
  'tool-result': {
    callId: 'text',
    tool: 'text',
    status: 'own',
    code: 'text',
    counter: 'own',
    message: 'own',
    seen: { outcome: 'own', content: 'own' },
  },
  'effect-dispatch': {
    tool: 'own',
    access: 'own',
    repeat: 'own',
    key: 'key',
    fingerprint: 'own',
    call: 'own',
    lineage: 'own',
    ticket: 'own',
  },
  'effect-replay': { parent: 'own' },
  'effect-observe': { status: 'own', text: 'own' },
  'effect-not-dispatched': { reason: 'text' },
  'effect-unknown': { reason: 'text' },
  'effect-reconcile': { answer: 'own', by: 'text', reason: 'text' },
  'effect-resolve': { decision: 'own', by: 'text', reason: 'text' },
  'approval-request': { ticket: ticketTexts },
  'approval-answer': { ticket: 'own', digest: 'own', decision: 'own', by: 'text', reason: 'text' },
  'budget-refuse': { counter: 'own' },
  'budget-overrun': { counter: 'own' },
  'context-register': { alias: 'given', context: 'own', blob: 'own' },
  'context-read': { alias: 'own', operation: 'own' },
  'plan-accept': { plan: 'own', lane: 'own' },
  'plan-step': {
    lane: 'own',
    path: 'own',
    operation: 'own',
    status: 'own',
    value: 'own',
    error: errorTexts,
    label: 'text',
    counter: 'own',
  },
  'child-start': {
    child: 'own',
    session: 'own',
    key: 'own',
    reason: 'text',
    fingerprint: 'own',
    inherits: 'given',
    budget: 'own',
  },
  'child-finish': {
    child: 'own',
    key: 'own',
    status: 'own',
    answer: 'own',
    error: errorTexts,
    usage: 'own',
    spent: 'own',
  },
  'session-compact': { summary: 'own', context: 'own', lane: 'own' },
  'policy-speak': { policy: 'own', text: 'text' },
  'policy-note': { policy: 'own', would: 'own', text: 'text' },
  'workspace-change': { files: 'text' },
  'spec-freeze': { spec: 'own', subject: 'text', source: 'own' },
  'spec-verdict': { spec: 'own', results: 'text' },
  notice: { code: 'own', text: 'text' },
  'cancel-request': { by: 'text', reason: 'text' },
  'delivery-receipt': { receipt: 'text' },
  'vendor-session': { id: 'own', binding: 'own' },
  'usage-report': { modelSeen: 'text', usage: 'own' },
  'meter-open': { upstream: 'text' },
  'meter-admit': {
    lane: 'own',
    protocol: 'own',
    model: 'text',
    body: 'own',
    text: 'own',
    reserved: 'own',
  },
  'meter-answer': { modelSeen: 'text', fingerprint: 'text', usage: 'own', response: 'own', fault: 'text' },
  'meter-refuse': { error: errorTexts },
  'turn-finish': {},
  'run-pause': { ticket: 'own', error: errorTexts },
  'run-finish': { status: 'own', answer: 'own', error: errorTexts, usage: 'own', budget: 'own' },
};
