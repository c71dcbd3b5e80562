/** `writ record`: stands between a client and its model, and shows and keeps what exactly the model got. */
import { resolve } from 'node:path';
import type { Exchange } from '../../deliver/recorder/exchange.ts';
import type { ModelRequest, ReadRequest } from '../../deliver/recorder/model-request.ts';
import { type Context, printJson } from '../context.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import { givenPath, type NewCommand, withExamples } from '../program.ts';
import { exchangeLines } from './request-lines.ts';

interface RecordFlags {
  readonly upstream?: string | undefined;
  readonly scripted?: true | undefined;
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  readonly out?: string | undefined;
  readonly json?: true | undefined;
}

export function recordCommand({ context, command, done }: NewCommand) {
  const record = command('record')
    .summary('a recording proxy: what exactly did the model get')
    .description(
      [
        'Listens on this machine, hands every byte on to a model server and back, and says what the model was sent:',
        'each text with its field, role, place, size and digest, the tools, and requests beside the task.',
        'Point a client at the address that is shown. Ctrl-C ends the recording.',
      ].join(' '),
    )
    .option('--upstream <url>', "the base URL that the client had before, like 'https://api.openai.com'")
    .option('--scripted', 'a scripted model on this machine instead: no key, no network, always one answer')
    .option('--port <number>', 'the port to listen on; by default a free one', portOf)
    .option('--host <host>', 'the address to listen on; beyond loopback the base URL gets a secret token')
    .option('--out <folder>', 'keep the raw bytes of every exchange in a new folder', givenPath('--out'))
    .option('--json', 'print one JSON object at the end');
  return withExamples(record, [
    'writ record --scripted --port 8787',
    'writ record --upstream https://api.anthropic.com --out recording',
  ]).action(async (options) => done(await recordUntilStopped(context, options)));
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new CliError('cli.bad-value', `--port expected a number from 0 to 65535, found '${text}'.`, {
    next: 'Give a port, or leave it out for a free one.',
  });
}

async function recordUntilStopped(context: Context, flags: RecordFlags): Promise<number> {
  if ((flags.upstream === undefined) === (flags.scripted === undefined)) {
    throw new CliError('cli.missing-argument', 'Expected one of --upstream and --scripted.', {
      next: 'Name the model server by --upstream URL, or take --scripted.',
    });
  }
  const interrupted = context.interrupts();
  if (flags.upstream !== undefined) return standBefore(context, flags, flags.upstream, interrupted);
  const { startScriptedModel } = await import('../../deliver/recorder/scripted-model.ts');
  const model = await startScriptedModel(() => ({ text: 'This answer is scripted.' }));
  try {
    return await standBefore(context, flags, model.url, interrupted);
  } finally {
    await model.stop();
  }
}

async function standBefore(
  context: Context,
  flags: RecordFlags,
  upstream: string,
  interrupted: AbortSignal,
): Promise<number> {
  const { startRecorder } = await import('../../deliver/recorder/recorder.ts');
  const { readModelRequest } = await import('../../deliver/recorder/model-request.ts');
  const { openRecordingFolder } = await import('../../deliver/recorder/recording-folder.ts');
  const { conversations } = await import('../../deliver/recorder/conversations.ts');
  const seen: { readonly exchange: SeenExchange; readonly reading: ReadRequest }[] = [];
  const failed = new AbortController();
  let writing: Promise<void> = Promise.resolve();
  const folder =
    flags.out === undefined ? undefined : await openRecordingFolder(resolve(context.cwd, flags.out));
  const recorder = await startRecorder({
    upstream,
    clock: context.clock,
    ...(flags.port === undefined ? {} : { port: flags.port }),
    ...(flags.host === undefined ? {} : { host: flags.host }),
    take(exchange) {
      const reading = readModelRequest(exchange);
      seen.push({ exchange: withoutBodies(exchange), reading });
      if (!flags.json) context.stdout.write(exchangeLines(exchange, reading));
      if (folder === undefined) return;
      writing = writing.then(() => folder.keep(exchange, reading));
      // Looked at below; a recording that cannot be kept must not go on as if it were.
      writing.catch((error: unknown) => failed.abort(error));
    },
  });
  try {
    const where = flags.json ? context.stderr : context.stdout;
    where.write(`recording at ${recorder.url}   (Ctrl-C ends it)\n`);
    await aborted(AbortSignal.any([interrupted, failed.signal]));
  } finally {
    await recorder.close();
  }
  await writing;
  const requests = seen.flatMap(({ reading }) => (reading.kind === 'model' ? [reading.request] : []));
  const side = new Set(conversations(requests).flatMap((one) => (one.side ? one.requests : [])));
  const overview = {
    upstream: flags.scripted === undefined ? new URL(upstream).origin : 'scripted',
    exchanges: seen.map(({ exchange, reading }) => ({
      ...exchange,
      reading: reading.kind === 'model' ? { ...reading, side: side.has(reading.request) } : reading,
    })),
  };
  await folder?.finish(overview);
  if (flags.json) printJson(context, overview);
  else context.stdout.write(closingLine(seen.length, requests, side));
  return exitCodes.completed;
}

type SeenExchange = Pick<Exchange, 'number' | 'at' | 'durationMs' | 'method' | 'path' | 'fault'> & {
  readonly status: number | null;
};

// What is shown at the end must not hold every body in memory until then.
function withoutBodies({ number, at, durationMs, method, path, fault, response }: Exchange): SeenExchange {
  return { number, at, durationMs, method, path, status: response?.status ?? null, fault };
}

function closingLine(
  count: number,
  requests: readonly ModelRequest[],
  side: ReadonlySet<ModelRequest>,
): string {
  const beside = side.size === 0 ? '' : `, ${side.size} of them beside the task`;
  return `${count} exchanges, ${requests.length} requests to a model${beside}\n`;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
