/** Why a plan is not accepted, as data in a fixed vocabulary: nothing of the rejected text is ever in it. */
import type { Misfit } from '../tool/tool.ts';
import { PlanError } from './errors.ts';

/** What may be wrong. */
export const planFaults = {
  not_one_object: 'The answer holds no single JSON object.',
  invalid_json_text: 'The text is not valid JSON.',
  text_too_long: 'The text is longer than any plan may be.',
  duplicate_key: 'An object has one key twice, or a key that no object may have.',
  half_character: 'A text holds half of a character, a \\u escape of D800 to DFFF alone.',
  nested_too_deep: 'The JSON is nested deeper than any plan may be.',
  empty_plan: 'A plan has no steps.',
  unknown_or_malformed_step: 'A step is not an object with a known "op".',
  missing_field: 'A field is missing.',
  unexpected_field: 'A field does not belong there.',
  invalid_field: 'A field has a value of the wrong type or range.',
  invalid_reference: 'A reference is not {"ref":"input"|"var"|"field"|"literal", …} with its own fields.',
  reserved_request_option: 'A request option belongs to the runtime.',
  unknown_request_option: 'A request option is not known.',
  unsupported_request_option:
    'The protocol of the model has no such request option, or not that value of it.',
  final_must_be_unique_and_last: 'Each plan has exactly one "final", as its last step.',
  duplicate_binding: 'A name is bound twice.',
  unbound_variable: 'A variable is used before it is bound.',
  unknown_input: 'An input is named that the plan is not given.',
  tool_result_envelope_field:
    'A step binds an object of the runtime; its result lies in one field of it, and the field asked for is another.',
  unknown_tool: 'A tool is named that is not here.',
  unknown_provider: 'A model is named that is not the one of the session.',
  unknown_context: 'A context is named that is not here.',
  invalid_tool_arguments: "The arguments do not fit the tool's parameters.",
  duplicate_recursive_call: 'Two recursions hold the same plan.',
  repeated_recursive_retry: 'A retry of more than one attempt holds a recursion.',
  invalid_direct_envelope_fields: 'A direct answer has exactly the fields "mode" and "answer".',
  direct_answer_must_be_nonempty_text: 'The "answer" of a direct answer is a text that is not empty.',
  unsupported_root_mode: 'The only "mode" is "direct".',
  answer_cut_off: 'The answer was cut off before its end.',
  native_call: 'The answer calls a tool instead of being a decision.',
} as const;

export type PlanFaultName = keyof typeof planFaults;

export interface PlanFault {
  readonly fault: PlanFaultName;
  /** The place of the step: `2`, `2/b0/1`; empty for the plan as a whole. */
  readonly path: string;
  /** A field or option of the form, in the form's own spelling; never a word of the rejected text. */
  readonly name?: string;
  /** For a wrong field of an envelope: the one that holds the result. */
  readonly hop?: string;
  /** For arguments that do not fit: where, in the words of the tool's schema. */
  readonly misfits?: readonly Misfit[];
}

/** Thrown inside the reader and the checker; outside they return it. */
export class Rejected extends Error {
  readonly fault: PlanFault;

  constructor(fault: PlanFaultName, path: string, more: Pick<PlanFault, 'name' | 'hop' | 'misfits'> = {}) {
    super(fault);
    this.fault = { fault, path, ...more };
  }
}

const charactersMax = 1024;

/** The fault in at most 1,024 characters, in words of the runtime alone. */
export function faultText({ fault, path, name, hop, misfits = [] }: PlanFault): string {
  const where = path === '' ? '' : ` Step: ${path}.`;
  const what = name === undefined ? '' : ` Name: ${name}.`;
  const how = hop === undefined ? '' : ` Write {"ref":"field","value":{"ref":"var",…},"key":"${hop}"} first.`;
  const places = misfits.slice(0, misfitsMax).map((misfit) => ` ${misfitText(misfit)}`);
  const more = misfits.length > misfitsMax ? ` There are ${misfits.length - misfitsMax} more.` : '';
  return `${fault}: ${planFaults[fault]}${where.slice(0, 300)}${what}${how}${places.join('')}${more}`.slice(
    0,
    charactersMax,
  );
}

const misfitsMax = 4;
const placeCharactersMax = 80;

function misfitText(misfit: Misfit): string {
  const place = misfit.place === '' ? 'the arguments' : misfit.place.slice(0, placeCharactersMax);
  switch (misfit.kind) {
    case 'missing':
      return `${place} is missing: expected ${misfit.expected.slice(0, placeCharactersMax)}.`;
    case 'wrong':
      return `${place} does not fit: expected ${misfit.expected.slice(0, placeCharactersMax)}.`;
    case 'unexpected':
      return `${place === 'the arguments' ? 'There' : `In ${place} there`} ${misfit.count === 1 ? 'is 1 field' : `are ${misfit.count} fields`} that the tool does not have.`;
  }
}

/** What the fault is as an error. */
export function faultError(fault: PlanFault): PlanError {
  const unread = ['not_one_object', 'invalid_json_text', 'text_too_long', 'duplicate_key', 'nested_too_deep'];
  const code = unread.includes(fault.fault) ? 'plan.unreadable' : 'plan.invalid';
  return new PlanError(code, `The plan was not accepted: ${faultText(fault)}`, {
    next: 'Mend the plan; schema/plan.schema.json and docs/plans.md say what one is.',
    details: { ...fault },
  });
}
