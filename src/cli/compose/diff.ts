/** `writ diff`: how a composed text differs, sentence by sentence, from a file, another situation or another revision. */
import type { Composition } from '../../protocol/composition.ts';
import { type Context, printJson } from '../context.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { readTextFile } from '../text-file.ts';
import { visible } from '../view/visible.ts';
import {
  type Composed,
  composeAgent,
  composeFolder,
  type SituationFlags,
  withSituationFlags,
} from './situation-flags.ts';

type Flags = SituationFlags & { readonly workspace?: string | undefined };

export function diffCommand({ context, command, done }: NewCommand) {
  const flags = withSituationFlags(
    command('diff')
      .summary('the sentence-level difference to another text')
      .description(
        'Composes the agent and says which sentences were removed, added or moved since another text: a file, the same\nagent in another situation, or the agent at a git revision (the work tree stays as it is, and nothing is executed).',
      )
      .argument('<agent>', 'the agent folder', givenPath('AGENT')),
  )
    .requiredOption('--against <text>', 'the text before: file:FILE, situation:NAME or rev:REVISION')
    .option('--cache', 'also forecast what a prompt cache can reuse')
    .option('--json', 'print the difference as one JSON object');
  return withExamples(flags, [
    'writ diff agents/analyst --against rev:HEAD',
    'writ diff agents/analyst --situation headless-plain --against situation:interactive --cache',
    'writ diff agents/analyst --against file:old-prompt.md --json',
  ]).action(async (folder, options) => {
    const [{ diffLines, sentenceDiff }, { forecast, forecastLines }] = await Promise.all([
      import('../../compose/proof/sentence-diff.ts'),
      import('../../compose/proof/forecast.ts'),
    ]);
    const now = await composeFolder(context, folder, options);
    const before = await textBefore(context, now, options.against, options);
    const diff = sentenceDiff(before.composition.text, now.composition.text);
    const cache = options.cache
      ? forecast(before.composition, now.composition, await forecastContext(before, now))
      : undefined;
    if (options.json) {
      const side = ({ digest, bytes }: Composition) => ({ sha256: digest, bytes });
      printJson(context, {
        against: options.against,
        before: side(before.composition),
        after: side(now.composition),
        ...diff,
        ...(cache === undefined ? {} : { cache }),
      });
    } else {
      const lines = [...diffLines(diff), ...(cache === undefined ? [] : ['', ...forecastLines(cache)])];
      context.stdout.write(visible(`${lines.join('\n')}\n`));
    }
    done(exitCodes.completed);
  });
}

type Before = Pick<Composed, 'composition'> & Partial<Pick<Composed, 'agent' | 'situation'>>;

async function textBefore(context: Context, now: Composed, against: string, flags: Flags): Promise<Before> {
  const at = against.indexOf(':');
  const [kind, name] = [against.slice(0, at), against.slice(at + 1)];
  if (at > 0 && name !== '') {
    if (kind === 'file') {
      const { plainComposition } = await import('../../compose/plain.ts');
      return { composition: plainComposition(now.agent.key, await readTextFile(context, '--against', name)) };
    }
    if (kind === 'situation') return composeAgent(context, now.agent, { ...flags, situation: name });
    if (kind === 'rev') {
      const [{ loadRevision }, { vocabulary }] = await Promise.all([
        import('../../compose/load/revision.ts'),
        import('../../catalog.ts'),
      ]);
      const { agent } = await loadRevision(now.folder, name, vocabulary, context.env);
      return composeAgent(context, agent, flags);
    }
  }
  throw new CliError(
    'cli.bad-value',
    `--against expected file:FILE, situation:NAME or rev:REVISION, found ${JSON.stringify(against)}.`,
    { next: 'Write it like --against rev:HEAD.', details: { option: '--against' } },
  );
}

async function forecastContext(before: Before, now: Composed) {
  const [{ spansOf }, { volatileFacts }] = await Promise.all([
    import('../../compose/proof/spans.ts'),
    import('../../compose/proof/forecast.ts'),
  ]);
  const { agent, situation, composition } = before;
  const known = agent === undefined || situation === undefined ? undefined : { agent, situation };
  return {
    spansAfter: spansOf(now.agent, now.situation, now.composition),
    ...(known === undefined ? {} : { spansBefore: spansOf(known.agent, known.situation, composition) }),
    volatile: [
      ...volatileFacts(now.agent, now.situation.profile),
      ...(known === undefined ? [] : volatileFacts(known.agent, known.situation.profile)),
    ],
  };
}
