/** Which recorded requests belong to the task itself, and which a client sends beside it: titles, routers, memory. */
import { jsonDigest } from '../../digest.ts';
import { isAbove, type ModelRequest } from './model-request.ts';

/** The requests of one kind, in the order in which they came. */
export interface Conversation {
  readonly requests: readonly ModelRequest[];
  /** True for what the client asks beside the task. */
  readonly side: boolean;
}

/**
 * Sorts requests by the prompt above their conversation and by their tools: a side request has a prompt and tools of its
 * own. The task's conversation is the one with the most tools, and among equals the one that began first: an agent
 * works with tools, and what names a session or chooses a model has none or few.
 */
export function conversations(requests: readonly ModelRequest[]): readonly Conversation[] {
  const groups = new Map<string, ModelRequest[]>();
  for (const request of requests) {
    const key = kindOf(request);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [request]);
    else group.push(request);
  }
  const all = [...groups.values()];
  const most = Math.max(...all.map(toolCount));
  const main = all.findIndex((group) => toolCount(group) === most);
  return all.map((group, i) => ({ requests: group, side: i !== main }));
}

const toolCount = (group: readonly ModelRequest[]) => group[0]?.tools.length ?? 0;

/** Alike for the requests of one conversation: they have the same tools and begin alike. */
export function kindOf({ protocol, parts, tools }: ModelRequest): string {
  // Only the beginning of the first text: what follows may carry the time, the folder, or what was said since.
  const first = parts.find(isAbove)?.text.slice(0, 40);
  return jsonDigest([protocol, tools.map(({ name }) => name), first ?? null]);
}
