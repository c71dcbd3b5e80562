/** What tests of whole runs with commands share: a model's call, the word that lets it through, and what the model then read. */
import { readBanner } from '../src/sandbox/banner.ts';
import type { SeenRequest } from './scripted-provider.ts';

/** Somebody allows each call that is asked for. */
export const approved = {
  approve: 'ask' as const,
  ask: async () => ({ decision: 'approved' as const, by: 'ana', reason: '' }),
};

let calls = 0;
/** The answer of a model that calls one tool, each time under an id of its own. */
export const call = (name: string, args: object) => {
  calls += 1;
  return { calls: [{ id: `call-${calls}`, name, arguments: JSON.stringify(args) }] };
};

/** The newest message of a request: the result of the call before. */
export const last = ({ json }: SeenRequest): string => json.messages.at(-1).content;

/** The id in the head of a command's result. */
export const idIn = (request: SeenRequest) => {
  const banner = readBanner(last(request));
  return 'command' in banner ? banner.command : '';
};
