/** What the commands about plans share: the file of the plan and the inputs that it is given. */
import { readPair } from '../compose/situation-flags.ts';
import type { Context } from '../context.ts';
import { readStdin, readTextFile } from '../text-file.ts';

export interface InputFlags {
  readonly input?: readonly string[] | undefined;
  readonly inputFile?: readonly string[] | undefined;
}

/** The text of FILE, or of standard input for -. */
export function readPlanFile(context: Context, file: string): Promise<string> {
  return file === '-' ? readStdin(context, 'FILE') : readTextFile(context, 'FILE', file);
}

/** Each `name=text` and `name=file`, as texts by name; a later one beats an earlier one. */
export async function readInputs(
  context: Context,
  { input = [], inputFile = [] }: InputFlags,
): Promise<{ readonly [name: string]: string }> {
  const files = await Promise.all(
    inputFile.map(async (text) => {
      const [name, file] = readPair('--input-file', text, 'notes=notes.txt');
      return [name, await readTextFile(context, '--input-file', file)] as const;
    }),
  );
  const texts = input.map((text) => readPair('--input', text, 'question="Which one?"'));
  return Object.fromEntries([...files, ...texts]);
}
