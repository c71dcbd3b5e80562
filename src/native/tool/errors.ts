/** Every code of the tool folder: misuse that is thrown at definition, and failures that a model reads. */
import { type ErrorExtra, type ErrorTable, WritError } from '../../errors.ts';

export const toolErrors = {
  'tool.bad-name': { kind: 'input', about: 'A tool name is not 1 to 64 letters, digits, _ or -.' },
  'tool.bad-description': { kind: 'input', about: 'A tool has no description for the model to choose by.' },
  'tool.bad-schema': { kind: 'input', about: 'The parameters are no usable schema of type object.' },
  'tool.bad-access': { kind: 'input', about: 'Access and repeat are missing or contradict each other.' },
  'tool.bad-definition': { kind: 'input', about: 'Another field of a tool definition is wrong or unknown.' },
  'tool.bad-option': { kind: 'input', about: 'An option of a built-in tool is missing, wrong or unknown.' },
  'tool.async-check': { kind: 'input', about: 'The parameters can only be checked asynchronously.' },
  'tool.no-child': { kind: 'failed', about: 'The program of the query process is not where it was built.' },
  'tool.arguments-unreadable': { kind: 'input', about: 'The text a model wrote is not one JSON object.' },
  'tool.arguments-invalid': { kind: 'input', about: 'The arguments do not fit the parameters of the tool.' },
  'tool.result-not-json': { kind: 'failed', about: 'A tool returned something that has no JSON form.' },
  'tool.path-refused': { kind: 'refused', about: 'A path leaves the workspace, or names what is not read.' },
  'tool.not-found': { kind: 'input', about: 'There is no such file, folder or line.' },
  'tool.not-readable': { kind: 'input', about: 'A file cannot be read: its kind, size, rights or encoding.' },
  'tool.sql-refused': { kind: 'refused', about: 'A statement does more than read, or is not one statement.' },
  'tool.sql-error': { kind: 'input', about: 'SQLite reports an error in a query.' },
  'tool.stopped': {
    kind: 'failed',
    about: 'A call was cancelled or ran out of time, and its process was killed.',
  },
  'tool.child-ended': { kind: 'failed', about: 'The query process ended before it answered.' },
} as const satisfies ErrorTable;

export type ToolErrorCode = keyof typeof toolErrors;

/** Thrown for misuse of a tool's definition or options; a call that fails returns its code instead. */
export class ToolError extends WritError<ToolErrorCode> {
  constructor(code: ToolErrorCode, message: string, extra: ErrorExtra = {}) {
    super(toolErrors, code, message, extra);
  }
}
