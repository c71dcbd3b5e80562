/** The specification of a run: read from its file, judged before anything is sent, and frozen for the harness. */
import { compileSpec, type FrozenSpec } from '../../native/spec/compile-spec.ts';
import { SpecError } from '../../native/spec/errors.ts';
import type { GivenSpec } from '../../native/spec/run-spec.ts';
import { readSpec, readSpecText } from '../../native/spec/spec.ts';
import { standardAssertions } from '../../native/spec/standard-assertions.ts';
import type { Json } from '../../protocol/json.ts';
import type { Context } from '../context.ts';
import { readTextFile } from '../text-file.ts';

/** The specification of `--spec`, else of agent.yaml, as JSON that the session keeps. Throws a SpecError that names the file. */
export async function givenSpecFile(
  context: Context,
  flag: string | undefined,
  ofAgent: string | null,
): Promise<Json | undefined> {
  if (flag !== undefined) return specFile(context, '--spec', flag);
  return ofAgent === null ? undefined : specFile(context, 'spec in agent.yaml', ofAgent);
}

async function specFile(context: Context, option: string, file: string): Promise<Json> {
  const text = await readTextFile(context, option, file);
  try {
    readSpecText(text);
    const source: Json = JSON.parse(text);
    frozen(source);
    return source;
  } catch (thrown) {
    if (!(thrown instanceof SpecError)) throw thrown;
    const { code, message, next, details } = thrown;
    throw new SpecError(code, `${file}: ${message}`, {
      ...(next === undefined ? {} : { next }),
      details: { ...details, file },
      cause: thrown,
    });
  }
}

/** What the harness is given. A resumed run is given the same, or refused by its fingerprint. */
export function givenSpec(source: Json, workspace: string): GivenSpec {
  return {
    frozen: frozen(source),
    catalogue: (answer) => standardAssertions({ workspace, answer }),
  };
}

function frozen(source: Json): FrozenSpec {
  return compileSpec(readSpec(source), standardAssertions(), { series: 'run', version: 1 });
}
