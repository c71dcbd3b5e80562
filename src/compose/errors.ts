/** Every error of composing, and the fault of a text whose file is not known yet. */
import { type ErrorExtra, type ErrorTable, WritError } from '../errors.ts';

export const composeErrors = {
  'compose.no-agent': { kind: 'input', about: 'The folder holds no agent that can be read.' },
  'compose.unreadable': { kind: 'input', about: 'A file of the agent cannot be read as UTF-8 text.' },
  'compose.yaml': { kind: 'input', about: 'A file or a header is not the plain YAML map it should be.' },
  'compose.unknown-key': { kind: 'input', about: 'A map holds a key that means nothing there.' },
  'compose.wrong-value': { kind: 'input', about: 'A value has another type or form than its key asks for.' },
  'compose.unknown-name': { kind: 'input', about: 'A name points to something that does not exist.' },
  'compose.repeated-name': { kind: 'input', about: 'A name that must stand once stands twice.' },
  'compose.no-header': { kind: 'input', about: 'A fragment begins like a header that is never closed.' },
  'compose.misplaced-fragment': {
    kind: 'input',
    about: 'A Markdown file below instructions/ is no fragment, by its ending or its place.',
  },
  'compose.condition': { kind: 'input', about: 'A condition cannot be read, checked or trusted.' },
  'compose.template': { kind: 'input', about: 'A template is not well formed.' },
  'compose.fact-value': { kind: 'input', about: 'A fact was given a value it cannot have.' },
  'compose.probe-options': { kind: 'input', about: 'A probe was declared with options it cannot use.' },
  'compose.no-fallback': { kind: 'input', about: 'An unknown fact stands in a template without a fallback.' },
  'compose.bad-fragment': { kind: 'input', about: 'A program defined a fragment that cannot be one.' },
  'compose.impure-render': {
    kind: 'input',
    about: 'A fragment that a program defined does not give one text for the same facts.',
  },
  'compose.unwritable': { kind: 'failed', about: 'A file of the agent cannot be written.' },
  'compose.bad-text': { kind: 'input', about: 'A text given for the session is not well-formed Unicode.' },
  'compose.layer-too-large': {
    kind: 'input',
    about: 'A layer has more tokens, or a given text more bytes, than it may have.',
  },
  'compose.capability-conflict': {
    kind: 'input',
    about: 'A capability was turned off that something else which was given needs.',
  },
  'compose.capability-unavailable': {
    kind: 'refused',
    about: 'A capability was turned on that a deployment or a workspace took away.',
  },
  'compose.capability-widening': {
    kind: 'refused',
    about: 'A child asked for a capability that its parent does not hold.',
  },
  'compose.bad-skill': { kind: 'input', about: 'A folder that should be a skill is none.' },
  'compose.skill-clash': { kind: 'input', about: 'Two sources have different skills under one name.' },
  'compose.bad-unit': {
    kind: 'input',
    about: 'A unit of a catalogue has a field of another form or size than allowed.',
  },
  'compose.unit-clash': { kind: 'input', about: 'Two different units were registered under one id.' },
  'compose.supersession-cycle': { kind: 'input', about: 'Units supersede each other in a circle.' },
  'compose.bad-surface-request': {
    kind: 'input',
    about: 'A search or a request for a surface is out of its limits.',
  },
  'compose.scope-widened': { kind: 'refused', about: 'A child asked to find more than its parent may find.' },
  'compose.surface-too-large': {
    kind: 'refused',
    about: 'Units that may not be left out do not fit the token budget.',
  },
} as const satisfies ErrorTable;

export type ComposeErrorCode = keyof typeof composeErrors;

/** An error of composing. One that stands in a file carries `{file, line, column}` in its details. */
export class ComposeError extends WritError<ComposeErrorCode> {
  constructor(code: ComposeErrorCode, message: string, extra: ErrorExtra = {}) {
    super(composeErrors, code, message, extra);
  }
}

/** A fault at an offset of a text; whoever knows the file turns it into a located ComposeError. */
export class TextFault extends Error {
  readonly offset: number;
  readonly next: string;

  constructor(offset: number, message: string, next: string) {
    super(message);
    this.offset = offset;
    this.next = next;
  }
}
