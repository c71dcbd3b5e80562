/** The capabilities that plans need: one to have a plan carried out, and one for each form in it. None stands for another. */

/** To have a plan carried out at all; it covers `final`. */
export const planCapability = 'plan';

/** Each form that is not a tool; a tool step needs the capability of its tool. */
export const planCapabilities = {
  context: 'context',
  model: 'plan.model',
  recurse: 'plan.recurse',
  parallel: 'plan.parallel',
  retry: 'plan.retry',
  checkpoint: 'plan.checkpoint',
} as const;
