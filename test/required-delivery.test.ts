/** What a delivery leaves alone: other people's servers, files and settings, a session's binding, and every secret. */
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { agentFolder, call, writeFiles } from '../src/cli/call.cases.ts';
import { plainComposition } from '../src/compose/plain.ts';
import { type DriveRig, openDriveRig, prints, recorded } from '../src/deliver/drive/drive.cases.ts';
import { sha256 } from '../src/digest.ts';

const key = { OPENAI_API_KEY: 'canary-7f3a/9c1e-55d0' };
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function rigOf(name: string, body: string): Promise<DriveRig> {
  const rig = await openDriveRig(name, body, key);
  closers.push(() => rig.close());
  return rig;
}

/** A folder with an agent `plain`, and a program in the place of pi. */
async function folderOf(body: string): Promise<string> {
  const cwd = await agentFolder();
  closers.push(() => rm(cwd, { recursive: true, force: true }));
  const version = "if (process.argv[2] === '--version') { console.log('0.73.1'); process.exit(0); }";
  await writeFiles(cwd, {
    'plain/agent.yaml': 'key: plain\nprofiles: { default: [base] }\n',
    'plain/instructions/base.md': 'You are the canary.\n',
    'pi.mjs': `#!${process.execPath}\n${version}\n${body}`,
  });
  await chmod(join(cwd, 'pi.mjs'), 0o755);
  return cwd;
}

const withPi = ['--harness', 'pi', '--bin', './pi.mjs', '--unmeasured', 'warn', '--lower', 'all'];
const run = (cwd: string, ...argv: string[]) =>
  call(['run', 'plain', ...withPi, ...argv], { cwd, env: { ...key, PATH: process.env.PATH } });

/** A server that counts who comes. */
async function listening(): Promise<{ readonly url: string; readonly came: () => number }> {
  let came = 0;
  const server: Server = createServer((socket) => {
    came += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, came: () => came };
}

test.each([
  ['--intent', 'developer'],
  ['--max-tokens', '9'],
  ['--fidelity', 'exact'],
])('a refused request (%s %s) connects to nobody, with a meter and without', async (...flags) => {
  const cwd = await folderOf('');
  const server = await listening();
  for (const metered of [[], ['--metered']]) {
    const { code } = await run(cwd, ...metered, '--base-url', server.url, ...flags, '--', 'x');
    expect([code, server.came()]).toEqual([3, 0]);
  }
  // The way there is open: what is not refused comes.
  await writeFile(
    join(cwd, 'pi.mjs'),
    `${await readFile(join(cwd, 'pi.mjs'), 'utf8')}\nawait fetch('${server.url}').catch(() => {});`,
  );
  await run(cwd, '--base-url', server.url, '--', 'x');
  expect(server.came()).toBe(1);
});

describe('files of the user', () => {
  test('in the workspace are never written: what the program makes of them stands when its session goes on', async () => {
    const good = JSON.stringify(await recorded('pi', 'tool-call'));
    const edit = "appendFileSync('AGENTS.md', 'Remember ' + nth + '.\\n'); appendFileSync('CLAUDE.md', 'x');";
    const rig = await rigOf('pi', `${edit} say(${good});`);
    await writeFile(join(rig.workspace, 'AGENTS.md'), 'Mine.\r\n');
    const { session } = await rig.run('One.');
    expect((await rig.run('Two.', { session })).status).toBe('completed');
    expect(await readFile(join(rig.workspace, 'AGENTS.md'), 'utf8')).toBe(
      'Mine.\r\nRemember 1.\nRemember 2.\n',
    );
    expect((await readdir(rig.workspace)).sort()).toEqual(['AGENTS.md', 'CLAUDE.md']);
  });

  test('a replacing key in the own configuration of codex is neither obeyed nor written over', async () => {
    const rig = await rigOf('codex', prints(await recorded('codex', 'tool-call')));
    const own = 'model_instructions_file = "/mine.md"\ninstructions = "I replace all."\n';
    await mkdir(join(rig.root, '.codex'));
    await writeFile(join(rig.root, '.codex/config.toml'), own);
    const { session } = await rig.run('x', {}, { intent: 'developer' });
    const [start] = await rig.starts();
    expect(start?.env.CODEX_HOME).toBe(join(rig.homes, session, 'codex'));
    expect(await readdir(join(rig.homes, session, 'codex'))).toEqual([]);
    expect(await readFile(join(rig.root, '.codex/config.toml'), 'utf8')).toBe(own);
  });
});

// One program is given its text again, the other keeps the first: both would be wrong about a new one.
test.each(['pi', 'codex'])(
  'a session of %s whose agent was changed goes on with the text that it began with, and says so',
  async (name) => {
    const rig = await rigOf(name, prints(await recorded(name, 'tool-call')));
    const { session } = await rig.run('One.');
    const composition = plainComposition('tester', 'You are another.');
    const { notices } = await rig.run('Two.', { session, composition });
    expect(notices.join()).toContain(`session ${session} keeps the text it began with`);
    const receipts = rig.events.flatMap((event) =>
      event.type === 'delivery-receipt' ? [event.receipt.sha256] : [],
    );
    expect(receipts).toEqual(Array(2).fill(sha256('You answer tests.')));
  },
);

test('of a program that fails the receipt is recorded before its end', async () => {
  const rig = await rigOf('pi', prints(await recorded('pi', 'refused'), 1));
  expect(await rig.run('x')).toMatchObject({ status: 'failed' });
  const types = rig.events.map(({ type }) => type);
  expect(types.indexOf('delivery-receipt')).toBeGreaterThan(0);
  expect(types.indexOf('delivery-receipt')).toBeLessThan(types.indexOf('run-finish'));
});

test('where its model is may change between two tasks of a session: only the text and what is asked for bind', async () => {
  const rig = await rigOf('pi', prints(await recorded('pi', 'tool-call')));
  const { session } = await rig.run(
    'One.',
    {},
    { baseUrl: 'http://127.0.0.1:1/v1', dimensions: { model: 'm' } },
  );
  const next = await rig.run(
    'Two.',
    { session },
    { baseUrl: 'http://127.0.0.1:2/v1', dimensions: { model: 'm' } },
  );
  expect([next.status, next.session]).toEqual(['completed', session]);
  expect((await rig.starts())[1]?.argv).toContain('--session');
});

describe('a secret that a program prints', () => {
  const fails = "process.stderr.write('401 ' + process.env.OPENAI_API_KEY); process.exitCode = 1;";

  test.each([[[]], [['--json']]])(
    'in arguments, a result, its answer and an error is in no stream and no record: %j',
    async (flags) => {
      const text = JSON.stringify(await recorded('pi', 'tool-call'));
      const said = `process.stdout.write(${text}.replaceAll(/canary-of-a-file|intruder/g, process.env.OPENAI_API_KEY));`;
      for (const [body, exit] of [
        [said, 0],
        [fails, 1],
      ] as const) {
        const cwd = await folderOf(body);
        const { code, stdout, stderr } = await run(cwd, ...flags, '--', 'Read it.');
        expect(code).toBe(exit);
        const calls = await call(['runs', 'show', 'last', '--calls'], { cwd });
        const shown = [stdout, stderr, calls.stdout].join('\n');
        expect(shown).not.toContain(key.OPENAI_API_KEY);
        // The program had it, so that it had something to print.
        expect(shown).toContain('[secret OPENAI_API_KEY]');
        // A journal of the store may go while it is being looked for.
        for (const file of await readdir(join(cwd, '.writ')))
          expect(await readFile(join(cwd, '.writ', file), 'latin1').catch(() => '')).not.toContain(
            key.OPENAI_API_KEY,
          );
      }
    },
  );
});
