// The pinned agent programs: which package each is, where it stands once installed, and the models it is measured with.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Of this folder. */
export const here = fileURLToPath(new URL('.', import.meta.url));

// Of programs that any vendor's model can be named to.
const servers = ['m1', 'gpt-5.2', 'claude-sonnet-5', 'claude-opus-4-8', 'gemini-2.5-pro', 'qwen3-coder-plus'];

const platform = `${process.platform}-${process.arch}`;

// Two come as a platform's own binary: their install scripts would only copy it. Each model stands for a family of which
// the program makes a prompt of its own, null for the program's own choice. The first is measured wholly; `login` is
// measured with the program's own choice.
const programs = {
  'claude-code': {
    package: '@anthropic-ai/claude-code',
    paths: [`@anthropic-ai/claude-code-${platform}/claude`],
    models: [null, 'claude-opus-4-8', 'claude-sonnet-5', 'claude-haiku-4-5', 'm1'],
    login: true,
  },
  codex: { package: '@openai/codex', paths: ['.bin/codex'], models: [null, 'gpt-5.2', 'm1'], login: true },
  gemini: {
    package: '@google/gemini-cli',
    paths: ['.bin/gemini'],
    models: ['gemini-2.5-pro', 'gemini-2.5-flash', 'm1', null],
  },
  opencode: {
    package: 'opencode-ai',
    paths: [`opencode-${platform}/bin/opencode`, `opencode-${platform}-baseline/bin/opencode`],
    models: [...servers, null],
  },
  pi: {
    package: '@mariozechner/pi-coding-agent',
    paths: ['.bin/pi'],
    models: [...servers, null],
  },
  'qwen-code': {
    package: '@qwen-code/qwen-code',
    paths: ['.bin/qwen'],
    models: [null, 'm1', 'qwen3-coder-plus', 'gpt-5.2'],
  },
};

/** Those that speak the Agent Client Protocol as well, with the words that make them. */
export const acpAgents = { gemini: ['--acp'], 'qwen-code': ['--acp', '--auth-type', 'openai'] };

/** The names of all that are pinned. */
export const pinned = Object.keys(programs);

/** What a program is measured in: each model with a key, and one state with a login. The first is measured wholly. */
export function statesOf(name) {
  const { models, login = false } = programs[name];
  const withKey = models.map((model) => ({ model, authMode: 'api-key' }));
  return login ? [...withKey, { model: null, authMode: 'login' }] : withKey;
}

/** Package → version, of some of them, as package.json pins them. */
export async function packagesOf(names) {
  const { dependencies } = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'));
  return Object.fromEntries(
    names.map((name) => [programs[name].package, dependencies[programs[name].package]]),
  );
}

/** The path of a program below a folder, in the version that is pinned; undefined where it is not there. */
export async function programIn(folder, name) {
  const modules = join(folder, 'node_modules');
  const [[packageName, version]] = Object.entries(await packagesOf([name]));
  const manifest = await readFile(join(modules, packageName, 'package.json'), 'utf8').catch(() => '{}');
  if (JSON.parse(manifest).version !== version) return undefined;
  return programs[name].paths.map((path) => join(modules, path)).find(existsSync);
}
