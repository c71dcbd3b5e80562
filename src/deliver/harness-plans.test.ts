/** What each harness is told, word for word: the flags, files and variables of its controls. */
import { describe, expect, test } from 'vitest';
import { sha256 } from '../digest.ts';
import type { DeliveryPlan } from '../protocol/delivery.ts';
import { cellFor, requestFor } from './conformance.cases.ts';
import { adapter as acp } from './harnesses/acp/acp.ts';
import { adapter as claude } from './harnesses/claude-code/claude-code.ts';
import { adapter as codex } from './harnesses/codex/codex.ts';
import { adapter as gemini } from './harnesses/gemini/gemini.ts';
import { adapter as opencode } from './harnesses/opencode/opencode.ts';
import { adapter as pi } from './harnesses/pi/pi.ts';
import { adapter as qwen } from './harnesses/qwen-code/qwen-code.ts';
import { planDelivery } from './plan-delivery.ts';
import type { DeliveryRequest } from './request.ts';

type Harness = typeof claude;

function planOf(adapter: Harness, changes: Partial<DeliveryRequest> = {}): DeliveryPlan {
  const request = requestFor(adapter, changes);
  const measured = [cellFor(adapter, request)];
  return planDelivery(adapter.name, request, { adapters: [adapter], measured, unmeasured: 'refuse' });
}

/** What stands behind a flag, each time it is given. */
const given = ({ argv }: DeliveryPlan, flag: string) =>
  argv.flatMap((word, i) => (word === flag ? [argv[i + 1]] : []));
const fileText = ({ files }: DeliveryPlan, path: string) => files.find((file) => file.path === path)?.text;
const text = 'You are the canary.';

describe('claude-code', () => {
  test('replace and append each have their own flag and file, and the other is not there', () => {
    const replace = planOf(claude, { intent: 'replace' });
    expect([given(replace, '--system-prompt-file'), given(replace, '--append-system-prompt-file')]).toEqual([
      ['/nowhere/home/prompt.md'],
      [],
    ]);
    const append = planOf(claude, { intent: 'append' });
    expect([given(append, '--system-prompt-file'), given(append, '--append-system-prompt-file')]).toEqual([
      [],
      ['/nowhere/home/prompt.md'],
    ]);
    expect([fileText(replace, 'prompt.md'), fileText(append, 'prompt.md')]).toEqual([text, text]);
  });

  test('append with a schema and permissions is still one flag, and the file holds our text alone', () => {
    const plan = planOf(claude, { intent: 'append', json: true, permissions: 'edit' });
    expect(given(plan, '--append-system-prompt-file')).toHaveLength(1);
    expect(fileText(plan, 'prompt.md')).toBe(text);
    expect(given(plan, '--json-schema')).toEqual(['{"type":"object"}']);
    expect(given(plan, '--permission-mode')).toEqual(['acceptEdits']);
  });

  test("settings of the workspace stay out; the home's own are read only where something is in it", () => {
    expect(given(planOf(claude), '--setting-sources')).toEqual(['']);
    expect(given(planOf(claude, { intent: 'context' }), '--setting-sources')).toEqual(['user']);
    expect(planOf(claude).argv).toContain('--strict-mcp-config');
    expect(planOf(claude).env).toMatchObject({ CLAUDE_CONFIG_DIR: '/nowhere/home/claude' });
  });

  test('a secret of an MCP server is a reference that claude fills in', () => {
    const mcpServers = {
      files: { command: 'files', envFrom: ['FILES_KEY'] },
      web: { url: 'https://example.com/mcp', keyEnv: 'WEB_KEY' },
    };
    const plan = planOf(claude, { mcpServers });
    expect(JSON.parse(fileText(plan, 'mcp.json') ?? '')).toEqual({
      mcpServers: {
        files: { type: 'stdio', command: 'files', args: [], env: { FILES_KEY: `\${FILES_KEY}` } },
        web: {
          type: 'http',
          url: 'https://example.com/mcp',
          headers: { Authorization: `Bearer \${WEB_KEY}` },
        },
      },
    });
    expect(plan.inherit).toEqual(expect.arrayContaining(['FILES_KEY', 'WEB_KEY']));
  });
});

describe('codex', () => {
  test('replace: the configuration holds the text, the task and the arguments none of it', () => {
    const plan = planOf(codex);
    expect(fileText(plan, 'codex/config.toml')).toContain('instructions = "You are the canary."\n');
    expect([plan.stdin, plan.argv.at(-1)]).toEqual(['Say hello.', '-']);
    expect(plan.argv.join(' ')).not.toContain('canary');
  });

  test('a continued session is told nothing again, and keeps its settings', () => {
    const plan = planOf(codex, { resume: 'abc', model: 'gpt-5.2' });
    expect(plan.argv).toEqual(['exec', 'resume', '--json', '--skip-git-repo-check', 'abc', '-']);
    expect(plan.files.map(({ path }) => path)).toEqual(['codex/config.toml']);
    expect(fileText(plan, 'codex/config.toml')).not.toContain('canary');
    expect(fileText(plan, 'codex/config.toml')).toContain('model = "gpt-5.2"\n');
  });

  test('project files beyond what codex reads are refused with both sizes, whichever of them is the longer', () => {
    const contextFiles = [
      { name: 'root', text: 'a'.repeat(30 * 1024) },
      { name: 'nested', text: `${'b'.repeat(4 * 1024)}é` },
    ];
    expect(() => planOf(codex, { intent: 'developer', contextFiles })).toThrow(/34820 bytes.*32768; 2052/);
    expect(planOf(codex, { intent: 'developer', contextFiles: contextFiles.slice(0, 1) })).toBeTruthy();
  });

  test('any JSON object, and a server whose name it would drop, are refused', () => {
    expect(() => planOf(codex, { json: true })).toThrow(/schema/);
    expect(() => planOf(codex, { mcpServers: { 'a.b': { command: 'x' } } })).toThrow(/a\.b/);
  });

  test('its configuration is TOML whatever the values hold', () => {
    const plan = planOf(codex, { intent: 'developer', text: 'a"\\\n\u007F\0é' });
    expect(fileText(plan, 'codex/config.toml')).toContain(
      'developer_instructions = "a\\"\\\\\\n\\u007F\\u0000é"\n',
    );
  });
});

describe('gemini', () => {
  test('replace: the variable names the file, which is exact, and nothing else carries the text', () => {
    const plan = planOf(gemini);
    expect(plan.env).toMatchObject({
      GEMINI_SYSTEM_MD: '/nowhere/home/prompt.md',
      GEMINI_CLI_HOME: '/nowhere/home',
    });
    expect(plan.files.filter((file) => file.text.includes('canary'))).toEqual([
      { path: 'prompt.md', text, until: 'run' },
    ]);
    expect(plan.stdin).toBe('Say hello.');
  });

  test('context: the variable is set all the same, so that the workspace cannot set it', () => {
    const plan = planOf(gemini, { intent: 'context' });
    expect(plan.env).toMatchObject({ GEMINI_SYSTEM_MD: '0' });
    expect(fileText(plan, '.gemini/GEMINI.md')).toBe(text);
  });

  test('append is refused, and the memory file is named as the only addition', () => {
    expect(() => planOf(gemini, { intent: 'append' })).toThrow(/memory file is the only text it adds/);
  });

  test.each(['a\n', '\uFEFFa', ' a', 'a\n\n\nb', `use \${AvailableTools}`, `call \${write_file_ToolName}`])(
    'a prompt that it would change is refused: %j',
    (prompt) => {
      expect(() => planOf(gemini, { text: prompt })).toThrow(/GEMINI_SYSTEM_MD: it /);
      expect(planOf(gemini, { text: `a\r\n\nb \${HOME} \0` })).toBeTruthy();
    },
  );

  test('skills are told of in the prompt that replace takes away, so the two together are refused', () => {
    const skills = [{ name: 'sing', description: 'When.', text: 'La.' }];
    expect(() => planOf(gemini, { skills })).toThrow(/skills/);
    expect(fileText(planOf(gemini, { intent: 'context', skills }), '.gemini/skills/sing/SKILL.md')).toBe(
      '---\nname: "sing"\ndescription: "When."\n---\n\nLa.',
    );
  });

  test('a word that its memory would take for an import is refused', () => {
    expect(() => planOf(gemini, { intent: 'context', text: 'see @notes.md' })).toThrow(/import/);
    expect(planOf(gemini, { text: 'see @notes.md' })).toBeTruthy();
  });
});

describe('opencode', () => {
  test("what it takes for the user's home is its own, so that agents and skills of the user's stay out", () => {
    const { env, home } = planOf(opencode);
    expect(env.OPENCODE_TEST_HOME).toBe(home);
  });

  test('append stands before the project instructions, each in its file', () => {
    const contextFiles = [{ name: 'project', text: 'Project.\n' }];
    const plan = planOf(opencode, { intent: 'append', contextFiles });
    const config = JSON.parse(fileText(plan, 'config/opencode/opencode.json') ?? '');
    expect(config.instructions).toEqual(['/nowhere/home/prompt.md', '/nowhere/home/instructions/project.md']);
    expect(config.agent.build).toEqual({});
    expect(fileText(plan, 'prompt.md')).toBe(text);
    expect(fileText(plan, 'instructions/project.md')).toBe('Project.\n');
  });

  test('replace is a prompt of its configuration, in which opencode finds nothing to fill in', () => {
    const hostile = 'a {env:HOME} {file:/etc/passwd} "\\ud800OPENAI_API_KEY" {x}';
    const written = fileText(planOf(opencode, { text: hostile }), 'config/opencode/opencode.json') ?? '';
    expect(written).not.toMatch(/\{(env|file):/);
    expect(JSON.parse(written).agent.build.prompt).toBe(hostile);
  });

  test('what opencode is to fill in itself it finds', () => {
    const mcpServers = {
      files: { command: 'files', args: ['-x'], envFrom: ['FILES_KEY'] },
      web: { url: 'https://example.com/mcp', keyEnv: 'WEB_KEY' },
    };
    const plan = planOf(opencode, { mcpServers, baseUrl: 'http://127.0.0.1:1/v1', model: 'm' });
    const config = JSON.parse(fileText(plan, 'config/opencode/opencode.json') ?? '');
    expect(config.mcp).toEqual({
      files: { type: 'local', command: ['files', '-x'], environment: { FILES_KEY: '{env:FILES_KEY}' } },
      web: {
        type: 'remote',
        url: 'https://example.com/mcp',
        headers: { Authorization: 'Bearer {env:WEB_KEY}' },
      },
    });
    expect(config.provider.writ.options).toEqual({
      baseURL: 'http://127.0.0.1:1/v1',
      apiKey: '{env:OPENAI_API_KEY}',
    });
  });
});

describe('pi', () => {
  test('replace goes by the path of a file; the addition is given as empty, so that no other is taken', () => {
    const plan = planOf(pi);
    expect(given(plan, '--system-prompt')).toEqual(['/nowhere/home/prompt.md']);
    expect(given(plan, '--append-system-prompt')).toEqual(['']);
    expect(fileText(plan, 'prompt.md')).toBe(text);
  });

  test('append goes by its own flag, and a system prompt of the workspace would refuse the run', () => {
    const plan = planOf(pi, { intent: 'append' });
    expect([given(plan, '--system-prompt'), given(plan, '--append-system-prompt')]).toEqual([
      [],
      ['/nowhere/home/prompt.md'],
    ]);
    expect(plan.ambient).toContainEqual({ path: '.pi/SYSTEM.md', where: 'workspace', touches: 'system' });
  });

  test.each([
    ['- list the files', 'stdin'],
    ['--version', 'stdin'],
    ['@a say', 'stdin'],
    ['  blanks \n', 'argv'],
  ])('the task %j goes by %s, as it is', (task, transport) => {
    const plan = planOf(pi, { task });
    expect(plan.controls[1]).toMatchObject({ wish: 'task', transport, sha256: sha256(task) });
    expect(transport === 'stdin' ? plan.stdin : plan.argv.at(-1)).toBe(task);
    expect([plan.stdin, plan.argv.at(-1)].filter((one) => one === task)).toHaveLength(1);
  });

  test('a task that neither way carries is refused', () => {
    expect(() => planOf(pi, { task: '- blanks \n' })).toThrow(/stdin: .*; the last argument: /);
  });
});

describe('qwen-code', () => {
  test('replace goes by a file, append joined to its flag, so that a dash is no option', () => {
    const replace = planOf(qwen);
    expect(replace.env).toMatchObject({ QWEN_SYSTEM_MD: '/nowhere/home/prompt.md' });
    const append = planOf(qwen, { intent: 'append', text: '--yolo' });
    expect(append.argv).toContain('--append-system-prompt=--yolo');
    expect(append.env).toMatchObject({ QWEN_SYSTEM_MD: '0' });
    expect([replace.argv, append.argv].every((argv) => argv[0] === '--bare')).toBe(true);
  });

  test('an addition of 130 KiB or with a NUL is refused; a replacement of both is not', () => {
    const large = 'x'.repeat(130 * 1024);
    expect(() => planOf(qwen, { intent: 'append', text: large })).toThrow(/133120 bytes.*131071/);
    expect(() => planOf(qwen, { intent: 'append', text: 'a\0b' })).toThrow(/NUL/);
    expect(fileText(planOf(qwen, { text: `${large}\0` }), 'prompt.md')).toBe(`${large}\0`);
  });
});

describe('acp', () => {
  test('the text is a parameter of the session, the task the prompt; the command is the one of the request', () => {
    const plan = planOf(acp, { intent: 'append', agent: ['gemini', '--acp'] });
    expect([plan.program, plan.argv]).toEqual(['gemini', ['--acp']]);
    expect(plan.acp).toEqual({
      session: {
        cwd: '/nowhere/workspace',
        mcpServers: [],
        _meta: { systemPrompt: { append: text } },
      },
      prompt: 'Say hello.',
    });
    expect(planOf(acp).acp?.session).toMatchObject({ _meta: { systemPrompt: text } });
  });

  test('without a command nothing is known of it, and a secret is not written into a message', () => {
    const { agent: _, ...without } = requestFor(acp);
    const rules = { adapters: [acp], measured: [cellFor(acp, without)], unmeasured: 'refuse' } as const;
    expect(() => planDelivery('acp', without, rules)).toThrow(/^Nobody measured replace base on acp/);
    const mcpServers = { files: { command: 'files', envFrom: ['FILES_KEY'] } };
    expect(() => planOf(acp, { mcpServers })).toThrow(/FILES_KEY/);
  });
});

test.each([claude, qwen])(
  '$name runs what begins with a slash as its own command, so such a task is refused',
  (one) => {
    expect(() => planOf(one, { task: '/help' })).toThrow(/slash/);
    for (const task of [
      '- list the files',
      '--version',
      '--',
      ' /help',
      `"q" \${x}`,
      'a\0b',
      '\uFEFFx',
      'x'.repeat(3e5),
    ])
      expect(JSON.parse(planOf(one, { task }).stdin ?? '').message.content).toBe(task);
  },
);

test.each([codex, opencode])(
  '$name drops a byte-order mark at the start of a task, so such a task is refused',
  (one) => {
    expect(() => planOf(one, { task: '\uFEFFx' })).toThrow(/byte-order mark/);
    for (const task of ['- list the files', '--version', '--', '/help', ' a \r\n', 'a\0b', 'x'.repeat(3e5)])
      expect(planOf(one, { task }).stdin).toBe(task);
  },
);

test.each([claude, gemini, qwen])('$name is said to read what a task names behind an at sign', (one) => {
  expect(planOf(one, { task: 'read @a.txt' }).notices.join()).toContain('at sign');
  expect(planOf(one, { task: 'mail a@b.c' }).notices.join()).not.toContain('at sign');
});

test.each([claude, codex, gemini, opencode, pi, qwen])(
  '$name: a login is copied only where the caller gives no key',
  (one) => {
    const intent = one.controls.replace === undefined ? 'append' : 'replace';
    expect(planOf(one, { intent }).seeds).toEqual([]);
    const { seeds } = planOf(one, { intent, authMode: 'login' });
    expect(seeds.length).toBeGreaterThan(0);
    for (const { to } of seeds) expect(to).toMatch(/^(?!.*\.\.)[^/]/);
  },
);

test.each([claude, codex, gemini, opencode, pi, qwen])(
  '$name can be pointed at a server of the caller',
  (one) => {
    const baseUrl = 'http://127.0.0.1:4321/v1';
    const { env, files, argv } = planOf(one, { baseUrl, model: 'm1' });
    expect(JSON.stringify([env, files, argv])).toContain(baseUrl);
  },
);

test('what whoever runs the machine sets for all is looked for where each vendor has it', () => {
  const machineOf = (one: typeof claude, platform: NodeJS.Platform) =>
    planOf(one, { intent: one === codex ? 'developer' : 'replace', platform })
      .ambient.filter(({ where }) => where === 'machine')
      .map(({ path, touches }) => `${touches} ${path}`);
  expect(machineOf(claude, 'linux')).toEqual([
    'system /etc/claude-code/managed-settings.json',
    'system /etc/claude-code/managed-settings.d',
    'beside /etc/claude-code/CLAUDE.md',
  ]);
  expect(machineOf(codex, 'darwin')).toEqual([
    'system /etc/codex/managed_config.toml',
    'system /etc/codex/config.toml',
  ]);
  expect(machineOf(opencode, 'win32')).toEqual([
    'system C:\\ProgramData\\opencode\\opencode.json',
    'system C:\\ProgramData\\opencode\\opencode.jsonc',
  ]);
  expect(machineOf(gemini, 'darwin')).toEqual([
    'beside /Library/Application Support/GeminiCli/settings.json',
    'beside /Library/Application Support/GeminiCli/system-defaults.json',
  ]);
  for (const one of [pi, qwen]) expect(machineOf(one, 'linux')).toEqual([]);
});
