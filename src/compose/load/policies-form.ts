/** The form of `policies` in agent.yaml and in a session's record: apart from the policies, so that whoever only names one loads no checker. */
import { z } from 'zod';

const some = z.int().min(1, 'a whole number above zero').optional();
const any = z.int().min(0, 'a whole number of zero or more').optional();

const mode = z
  .enum(['armed', 'annotate'])
  .optional()
  .describe(
    'armed unless given; annotate only records what it would have said. Always so in interactive sessions.',
  );

/** The form of `policies` in agent.yaml, and of a session's record of them. */
export const policiesForm = z.strictObject({
  completion: z
    .strictObject({
      token: z
        .string()
        .regex(/^\S(?:.*\S)?$/, 'one line without white space at its ends')
        .optional()
        .describe('The line that an answer ends with; DONE unless given.'),
      challenges: any.describe('How often an answer without it is questioned; 1 unless given.'),
    })
    .optional()
    .describe('An answer is the end only if its last line is the token. Not in interactive sessions.'),
  starvation: z
    .strictObject({ mode, turns: some.describe('12 unless given.') })
    .optional()
    .describe('Speaks after so many turns in which no write succeeded and nothing in the workspace changed.'),
  repetition: z
    .strictObject({
      mode,
      nudge: some.describe('Equal calls in a row until it speaks; 3 unless given.'),
      check: some.describe('Until it asks for a check; 6 unless given.'),
      stop: some.describe('Until the run fails; 9 unless given.'),
      polling: z
        .array(z.string())
        .optional()
        .describe('Tools that may be asked five times as often; those that wait for commands unless given.'),
    })
    .optional()
    .describe('Ends the same call with the same arguments again and again.'),
  'budget-reminder': z
    .strictObject({ left: some.describe('3 unless given.') })
    .optional()
    .describe('Says once that at most so many turns, or requests, are left in the budget.'),
  're-read': z
    .strictObject({
      generated: z
        .array(z.string().regex(/^[^/]+\/?$/, 'a folder as name/, or the ending of a name'))
        .optional()
        .describe(
          'Folders and endings of what builds write, which it passes over; a list of its own unless given.',
        ),
    })
    .optional()
    .describe('Notes below a result that the same read gave it before. Not in interactive sessions.'),
  'result-cap': z
    .strictObject({
      bytes: any.describe('Goes before the others; 0 is no cap.'),
      contextTokens: some.describe('What the model can take; 65,536 unless given.'),
      fraction: z
        .number()
        .optional()
        .describe('The part of it that a conversation may fill; 0.65 unless given.'),
    })
    .optional()
    .describe('The most that one result puts before the model: its beginning and its end.'),
  'stall-recovery': z
    .strictObject({
      retries: any.describe('1 unless given.'),
      firstByteMs: some.describe('Until an answer begins; 300,000 unless given.'),
      idleMs: some.describe('Between two parts of an answer; 120,000 unless given.'),
    })
    .optional()
    .describe('Sends a request again whose answer did not begin or stood still.'),
  'idle-done': z
    .strictObject({
      verify: z
        .string()
        .min(1)
        .optional()
        .describe(
          'The beginning of the command that checks the work; any that is no mere look unless given.',
        ),
      compactions: any.describe('2 unless given.'),
      turns: some.describe('Turns in a row of text alone; 3 unless given.'),
    })
    .optional()
    .describe(
      'Asks a run once to confirm that it is finished, when its work is changed, checked and only talked of.',
    ),
});
