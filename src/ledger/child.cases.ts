/** Real child processes for tests: programs beside the tests, compiled on their own so that no build has to come first. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

export interface ChildPrograms {
  /** `path` is of the source below src, for instance `ledger/stores/append.child.cases.ts`. */
  start(path: string, args: readonly string[], env?: Readonly<Record<string, string>>): Child;
  /** The same as words, for a test that starts it in surroundings of its own. */
  command(
    path: string,
    args: readonly string[],
  ): { readonly program: string; readonly words: readonly string[] };
  remove(): void;
}

export interface Child {
  readonly process: ChildProcess;
  /** Complete lines of its output so far. */
  lines(): readonly string[];
  /** Resolves when it has written this many lines; rejects if it ends before. */
  wrote(lines: number): Promise<void>;
  readonly ended: Promise<{
    readonly code: number | null;
    readonly signal: string | null;
    readonly stderr: string;
  }>;
}

/** Compiles what the ledger and effects need; bare imports resolve because the folder lies below node_modules. */
export function childPrograms(): ChildPrograms {
  mkdirSync('node_modules/.cache', { recursive: true });
  const root = mkdtempSync('node_modules/.cache/writ-child-');
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  for (const path of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    if (
      !/^(errors|error-graph|clock|digest|protocol\/.*|ledger\/.*|effects\/.*)\.ts$/.test(path) ||
      path.endsWith('.test.ts')
    )
      continue;
    const target = join(root, path.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, compiled(readFileSync(join('src', path), 'utf8')));
  }
  const command = (path: string, args: readonly string[]) => ({
    program: process.execPath,
    words: [join(root, path.replace(/\.ts$/, '.js')), ...args],
  });
  return {
    command,
    start(path, args, env = {}) {
      const { program, words } = command(path, args);
      return startChild(program, words, env);
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function compiled(source: string): string {
  return ts.transpileModule(source, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
  }).outputText;
}

function startChild(program: string, words: readonly string[], env: Readonly<Record<string, string>>): Child {
  const child = spawn(program, words, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const ended = new Promise<Awaited<Child['ended']>>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stderr }));
  });
  // The last line may be torn by a kill.
  const lines = () => output.split('\n').slice(0, -1);
  return {
    process: child,
    lines,
    ended,
    wrote: (count) =>
      new Promise((resolve, reject) => {
        const look = () => lines().length >= count && resolve();
        child.stdout.on('data', look);
        void ended.then(() => reject(new Error(`The child ended after ${lines().length} lines: ${stderr}`)));
        look();
      }),
  };
}
