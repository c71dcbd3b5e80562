/** The family that a model's name belongs to: vendors change their prompts by it, so a measurement holds for one only. */

const families: readonly (readonly [family: string, name: RegExp])[] = [
  ['opus', /opus/],
  ['sonnet', /sonnet/],
  ['haiku', /haiku/],
  ['gpt', /^(gpt|o\d|codex)/],
  ['gemini-flash', /^gemini.*flash/],
  ['gemini', /^gemini/],
  ['qwen', /qwen/],
];

/** `default` where the harness chooses, `other` for a name that none of the families knows. */
export function modelFamily(model: string | null): string {
  if (model === null) return 'default';
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return families.find(([, pattern]) => pattern.test(name))?.[0] ?? 'other';
}
