/** The durable name of one command: enough to look at it from any process, and no authority to start it again. */
import { SandboxError } from './errors.ts';

/** Where a remote provider keeps the command; a move of the box raises the epoch. */
export interface Route {
  readonly instance: string;
  readonly epoch: number;
}

/** Chosen by the caller before the start, so that a lost acknowledgement still leaves something to look at. */
export interface Locator {
  readonly sandbox: string;
  readonly id: string;
  readonly route?: Route;
}

/** The id is the name of a folder and a word of a command line: nothing that either could read otherwise. */
export const commandIdForm = '[a-z0-9][a-z0-9_-]{7,63}';
const locatorForm = new RegExp(
  `^([a-z][a-z0-9-]{0,31})/(${commandIdForm})(?:@([A-Za-z0-9][A-Za-z0-9._-]{0,63}):(0|[1-9][0-9]{0,14}))?$`,
);
const idOnly = new RegExp(`^${commandIdForm}$`);

/** True for what may stand as the id of a command. */
export function isCommandId(id: string): boolean {
  return idOnly.test(id);
}

/** `local/c_3f…`, or `remote/c_3f…@box-7:2` with its route. */
export function locatorText({ sandbox, id, route }: Locator): string {
  return `${sandbox}/${id}${route === undefined ? '' : `@${route.instance}:${route.epoch}`}`;
}

/** Reads what `locatorText` wrote. Throws `sandbox.bad-locator` for anything else. */
export function readLocator(text: string): Locator {
  const [, sandbox, id, instance, epoch] = locatorForm.exec(text) ?? [];
  if (sandbox === undefined || id === undefined) {
    throw new SandboxError(
      'sandbox.bad-locator',
      `Expected sandbox/id of a command, found ${JSON.stringify(text.slice(0, 100))}.`,
      { next: 'Give it as it was printed when the command started.' },
    );
  }
  if (instance === undefined) return { sandbox, id };
  return { sandbox, id, route: { instance, epoch: Number(epoch) } };
}
