/** The ways to a harness: what each can carry on each platform, and the choice of the first that carries a text whole. */
import { sha256 } from '../digest.ts';
import type { DeliveryPlan, RefusalDetails, Transport, UsedControl } from '../protocol/delivery.ts';
import { DeliverError } from './errors.ts';

/** Why a text does not fit: too large for the way, or of a content that the way changes. */
export interface Fault {
  readonly kind: 'size' | 'content';
  readonly why: string;
  /** The text that would do, where it can be said. */
  readonly instead?: string;
}

/** What a harness takes that cuts off blanks and line ends at both ends of a text. */
export const trimmedText =
  'a text without blanks or line ends at its ends, as `join: bare` in agent.yaml makes one';

/** A way that a text could travel. */
export interface Way {
  readonly control: string;
  readonly transport: Transport;
  /** Why this way would not carry the text byte for byte; null if it does. */
  readonly fault?: (text: string) => Fault | null;
}

/** Linux gives one argument or variable 32 pages, its final NUL included. */
const linuxStringBytesMax = 131_071;
/** All arguments and variables together. What the child inherits shares it, so a part is left for that. */
const totalBytesMax: { readonly [platform: string]: number } = {
  linux: 2_097_152 - 131_072,
  darwin: 1_048_576 - 131_072,
};
/** The command line of `cmd.exe`, through which npm's commands start on Windows. */
const windowsLineMax = 8_191;
const windowsVariableMax = 32_767;

/**
 * The first way that carries the text whole; files stand first in every adapter's list. Throws
 * `deliver.not-transportable` or, where only its size stands against it, `deliver.too-large`.
 */
export function firstWay<W extends Way>(
  harness: string,
  field: RefusalDetails['field'],
  text: string,
  ways: readonly W[],
): W {
  const faults: Fault[] = [];
  for (const way of ways) {
    const fault = way.fault?.(text) ?? null;
    if (fault === null) return way;
    faults.push({ ...fault, why: `${way.control}: ${fault.why}` });
  }
  throw untransportable(harness, field, faults);
}

/** Why a text cannot be one argument of a command; null if it can. */
export function argumentFault(text: string, platform: NodeJS.Platform): Fault | null {
  if (text.includes('\0')) return { kind: 'content', why: 'it holds a NUL, which ends an argument' };
  if (platform === 'win32') {
    if (/[\r\n%!^"&|<>]/.test(text))
      return { kind: 'content', why: 'it holds what the command shell of Windows changes' };
    return tooLong(text.length, windowsLineMax, 'characters', 'a command line');
  }
  return platform === 'linux'
    ? tooLong(Buffer.byteLength(text), linuxStringBytesMax, 'bytes', 'one argument')
    : null;
}

function variableFault(assignment: string, platform: NodeJS.Platform): Fault | null {
  if (platform !== 'win32') return argumentFault(assignment, platform);
  if (assignment.includes('\0')) return { kind: 'content', why: 'it holds a NUL, which ends a variable' };
  return tooLong(assignment.length, windowsVariableMax, 'characters', 'a variable');
}

function tooLong(found: number, most: number, unit: string, what: string): Fault | null {
  if (found <= most) return null;
  return { kind: 'size', why: `${found} ${unit}, and ${what} holds at most ${most}` };
}

/** Throws for arguments or variables that the system would not start a program with. */
export function holdLimits(
  { harness, argv, env }: Pick<DeliveryPlan, 'harness' | 'argv' | 'env'>,
  platform: NodeJS.Platform,
): void {
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const all = [...argv, ...assignments].reduce((sum, text) => sum + Buffer.byteLength(text) + 9, 0);
  const line = argv.reduce((sum, text) => sum + text.length + 3, 0);
  const most = totalBytesMax[platform];
  const faults = [
    ...argv.map((text, i) => named(`argument ${i + 1}`, argumentFault(text, platform))),
    // A variable's value may be private; its name is not.
    ...Object.keys(env).map((name, i) => named(name, variableFault(assignments[i] ?? '', platform))),
    platform === 'win32' ? tooLong(line, windowsLineMax, 'characters', 'a command line') : null,
    most === undefined ? null : tooLong(all, most, 'bytes', 'all arguments and variables together'),
  ].filter((fault) => fault !== null);
  if (faults.length > 0) throw untransportable(harness, 'text', faults);
}

function named(what: string, fault: Fault | null): Fault | null {
  return fault === null ? null : { kind: fault.kind, why: `${what}: ${fault.why}` };
}

function untransportable(
  harness: string,
  field: RefusalDetails['field'],
  faults: readonly Fault[],
): DeliverError {
  const instead = faults.find((fault) => fault.instead !== undefined)?.instead;
  const alternative = instead ?? `a shorter or plainer ${field}, or a harness that takes it as a file`;
  return new DeliverError(
    faults.every(({ kind }) => kind === 'size') ? 'deliver.too-large' : 'deliver.not-transportable',
    `${harness} cannot be given this ${field} byte for byte: ${faults.map(({ why }) => why).join('; ')}.`,
    {
      next: `Choose ${alternative}.`,
      details: {
        harness,
        field,
        requirement: 'every byte as it is',
        alternative,
        able: [],
      } satisfies RefusalDetails,
    },
  );
}

/** How a wish was honoured, with the size and digest of its text where it is one. */
export function usedControl(
  wish: UsedControl['wish'],
  { control, transport }: Pick<Way, 'control' | 'transport'>,
  text: string | null,
): UsedControl {
  return {
    wish,
    control,
    transport,
    bytes: text === null ? null : Buffer.byteLength(text),
    sha256: text === null ? null : sha256(text),
  };
}
