/** Does what a page says: writes its files, runs its commands and programs in one folder, with a scripted model. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { vocabulary } from '../src/catalog.ts';
import { loadAgent } from '../src/compose/load/agent.ts';
import { bin } from './docs-commands.ts';
import type { Fence } from './docs-fences.ts';
import { type ScriptedProvider, type Step, scriptedProvider } from './scripted-provider.ts';

/** What the scripted model answers, whatever it is asked. */
const answer = 'There is one folder, parts.';

interface Desk {
  readonly folder: string;
  readonly env: Record<string, string>;
  readonly provider: ScriptedProvider;
}

/** Runs the fences of one page in order, in a folder of their own. Rejects with the place of the first that fails. */
export async function runPage(fences: readonly Fence[]): Promise<void> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'writ-docs-')));
  const provider = await scriptedProvider(reply);
  try {
    const folder = join(base, 'page');
    await mkdir(join(folder, 'node_modules'), { recursive: true });
    await mkdir(join(base, 'bin'));
    await symlink(bin, join(base, 'bin/writ'));
    await symlink(resolve('examples'), join(folder, 'examples'));
    for (const [name, to] of [
      ['writ', '.'],
      ['zod', 'node_modules/zod'],
    ] as const) {
      await symlink(resolve(to), join(folder, 'node_modules', name));
    }
    const env = {
      // Nothing of the surroundings but the way to programs: no key, no state folder, no settings.
      PATH: [join(base, 'bin'), dirname(process.execPath), process.env.PATH ?? ''].join(delimiter),
      HOME: base,
      MODEL_URL: provider.url,
    };
    for (const fence of fences) await perform(fence, { folder, env, provider });
  } finally {
    await provider.close();
    await rm(base, { recursive: true, force: true });
  }
}

/** Looks into the folder once if it can, then answers. */
function reply({ json }: { readonly json: ScriptedProvider['requests'][number]['json'] }): Step {
  const looked = json.messages.at(-1)?.role === 'tool';
  const canLook = json.tools?.some((tool: typeof json) => tool.function.name === 'project_read');
  if (looked || !canLook) return { text: answer };
  return { calls: [{ id: 'call-1', name: 'project_read', arguments: '{"path":"."}' }] };
}

async function perform(fence: Fence, desk: Desk): Promise<void> {
  if (fence.title !== undefined) await place(fence, fence.title, desk.folder);
  else if (fence.language === 'yaml') await loadPart(fence, desk.folder);
  else if (fence.run && fence.language === 'sh') await runLines(fence, desk);
  else if (fence.run) await runProgram(fence, desk);
}

async function place(fence: Fence, title: string, folder: string): Promise<void> {
  const path = join(folder, title);
  if (relative(folder, path).startsWith('..'))
    throw new Error(`${fence.page}:${fence.line}: title=${title} leads out of the page's folder`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, fence.code);
}

/** A part of an agent.yaml must be right in an agent that has otherwise only what each must have. */
async function loadPart(fence: Fence, folder: string): Promise<void> {
  const agent = await mkdtemp(join(folder, 'part-'));
  const needed = [/^key:/m.test(fence.code) ? '' : 'key: part\n'];
  needed.push(/^profiles:/m.test(fence.code) ? '' : 'profiles: { default: [] }\n');
  await writeFile(join(agent, 'agent.yaml'), fence.code + needed.join(''));
  await loadAgent(agent, vocabulary).catch((cause: unknown) => {
    throw new Error(`${fence.page}:${fence.line}: ${cause instanceof Error ? cause.message : cause}`);
  });
}

/** Line by line, so that each must succeed; what is exported holds for the lines below. */
async function runLines({ code, page, line }: Fence, { folder, env }: Desk): Promise<void> {
  let exports = '';
  for (const [i, text] of code.split('\n').entries()) {
    if (text.startsWith('export ')) exports += `${text}\n`;
    else if (text.trim() !== '')
      await execute(`${page}:${line + i}`, 'sh', ['-c', exports + text], { cwd: folder, env });
  }
}

/** The types are cut off, and the built package stands where an installed one would. */
async function runProgram({ code, page, line }: Fence, { folder, env, provider }: Desk): Promise<void> {
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
  const file = join(folder, `program-${line}.mjs`);
  await writeFile(file, ts.transpileModule(code, { compilerOptions: options }).outputText);
  const before = provider.requests.length;
  const stdout = await execute(`${page}:${line}`, process.execPath, [file], { cwd: folder, env });
  // A program that asks the model and prints something else was told of a failure instead.
  if (provider.requests.length > before && !stdout.includes(answer))
    throw new Error(`${page}:${line}: the model's answer was expected on stdout, found: ${stdout}`);
}

function execute(
  place: string,
  program: string,
  words: readonly string[],
  options: { readonly cwd: string; readonly env: Record<string, string> },
): Promise<string> {
  return new Promise((done, fail) => {
    const child = execFile(program, words, { ...options, timeout: 20_000 }, (fault, stdout, stderr) => {
      if (fault === null) done(stdout);
      else fail(new Error(`${place}: ended with ${fault.signal ?? `exit code ${fault.code}`}\n${stderr}`));
    });
    // Nobody types: a program that waits for input must see its end instead.
    child.stdin?.end();
  });
}
