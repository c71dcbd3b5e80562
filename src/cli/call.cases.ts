/** What tests of the command line share: one call with captured streams, and an agent folder to call it on. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { main } from './main.ts';

export interface Called {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CallOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
  readonly signal?: AbortSignal;
}

/** Calls `main` and collects what it wrote. HOME lies inside `cwd`, so that nothing outside is read or made. */
export async function call(argv: readonly string[], options: CallOptions): Promise<Called> {
  const { cwd, env = {}, stdin = '', signal } = options;
  const [input, out, err] = [new PassThrough(), new PassThrough(), new PassThrough()];
  input.end(stdin);
  const read = (stream: PassThrough) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    return () => Buffer.concat(chunks).toString('utf8');
  };
  const [stdout, stderr] = [read(out), read(err)];
  const code = await main(
    argv,
    { HOME: cwd, ...env },
    { stdin: input, stdout: out, stderr: err },
    cwd,
    signal === undefined ? undefined : () => signal,
  );
  return { code, stdout: stdout(), stderr: stderr() };
}

/** A new folder with an agent `a`, and a `.writ` for the record. */
export async function agentFolder(agentYaml = ''): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'writ-cli-'));
  await mkdir(join(folder, '.writ'));
  await writeFiles(folder, {
    'a/agent.yaml': [
      'key: tester',
      'profiles: { default: [base, alone], short: [base] }',
      'facts: { lamp: { type: bool } }',
      'situations: { lit: { lamp: true } }',
      'capabilities: { from: none, project: true }',
      'tools: [project_read]',
      agentYaml,
    ].join('\n'),
    'a/instructions/base.md': 'You answer tests.\n',
    'a/instructions/alone.md':
      '---\nwhen: mode == "headless" && lamp\nunknown: drop\n---\nNobody is there.\n',
    'notes.txt': 'the lamp is green',
  });
  return folder;
}

export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
