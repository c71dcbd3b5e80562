/** Our own harness in the control table: it brings no prompt of its own, and starts nothing. */
import type { Adapter, AdapterPlan } from '../../adapter.ts';
import { modelFamily } from '../../model-family.ts';

const system = {
  control: 'the system message',
  transport: 'request',
  lands: 'the first message, whole, with nothing beside it',
} as const;

/** The row of `native`. Its session is opened by the runtime; what a plan promises of it, its own tests hold. */
export const adapter: Adapter = {
  name: 'native',
  summary: 'A model of your choice, the tools of the agent, and the direct loop between them.',
  program: null,
  versionArgv: [],
  declares: {
    budget: 'enforced',
    approval: 'enforced',
    effects: 'enforced',
    resume: 'enforced',
    cancel: 'enforced',
  },
  controls: {
    replace: system,
    append: system,
    developer: { none: 'its text is the system message and stands nowhere else' },
    context: { none: 'it has no surface of project instructions' },
  },
  dimensions: {
    model: { control: '--model', transport: 'request' },
    tools: { control: 'the tool block', transport: 'request' },
    skills: { control: 'the skills layer and skill_read', transport: 'request' },
    mcpServers: { control: 'the tool block', transport: 'request' },
  },
  models: {},
  family: modelFamily,
  keyVariables: [],
  owns: /^$/,
  resume: 'kept',
  needsCell: false,
  cells: [],
  plan: (): AdapterPlan => ({ task: { control: 'the user message', transport: 'request' } }),
};
