/** What a caller wants done with a harness's own system prompt, and how strictly. */

export const intents = ['replace', 'append', 'developer', 'context'] as const;
/** `replace` the vendor's prompt, `append` to it, add a `developer` message beside it, or use the lower `context` surface. */
export type Intent = (typeof intents)[number];

export const fidelities = ['exact', 'base'] as const;
/** `exact`: nothing of the vendor's text remains. `base`: its base prompt is gone, named residue may remain. */
export type Fidelity = (typeof fidelities)[number];
