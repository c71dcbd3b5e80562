/** The proof of an import: the folder is loaded and composed, and its digest is that of the prompt. */
import { compose } from '../compose.ts';
import { ProofError } from '../proof/errors.ts';
import { settle } from '../settle.ts';
import { loadAgent } from './agent.ts';

/** Throws `proof.not-identical`, or the error of loading. An imported agent names no tool, capability or probe. */
export async function proveIdentical(folder: string, digest: string): Promise<void> {
  const agent = await loadAgent(folder, { tools: [], capabilities: [], probes: [] });
  const composition = compose(agent, await settle(agent, {}, []));
  if (composition.digest === digest) return;
  throw new ProofError(
    'proof.not-identical',
    `The fragments should compose to ${digest} and compose to ${composition.digest}; nothing was kept.`,
    { next: 'Report the prompt: any UTF-8 text should come out as it went in.' },
  );
}
