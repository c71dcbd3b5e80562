/** The life of one start: how it is ended, what of it is never left, and what a session goes on with. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type DriveRig, openDriveRig, prints, recorded, straysOf } from './drive.cases.ts';

let rig: DriveRig;
let good: string;
beforeAll(async () => {
  good = prints(await recorded('pi', 'usage'));
});
afterEach(() => rig.close());

async function open(body: string, name = 'pi', env: Readonly<Record<string, string>> = {}) {
  rig = await openDriveRig(name, body, { OPENAI_API_KEY: 'k', ...env });
  return rig;
}

async function untilStarted(): Promise<void> {
  for (let i = 0; i < 400 && (await rig.starts()).length === 0; i += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
}

const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);";
const family = `spawn(process.execPath, ['-e', "process.on('SIGTERM',()=>{});setInterval(()=>{},1000)"], { detached: true, stdio: 'inherit' });`;

describe('ending it', () => {
  test.each([
    ['a program that ends when asked', 'setInterval(() => {}, 1000);'],
    ['one that does not, with a child in a group of its own', family + stubborn],
  ])('a cancel ends %s within two seconds, and nothing is left', async (_what, body) => {
    await open(body);
    const cancel = new AbortController();
    const running = rig.run('x', { signal: cancel.signal });
    await untilStarted();
    await new Promise((resolve) => setTimeout(resolve, 150));
    const from = performance.now();
    cancel.abort('enough');
    const result = await running;
    expect(performance.now() - from).toBeLessThan(2_500);
    expect(result).toMatchObject({ status: 'cancelled', error: { code: 'run.cancelled' } });
    expect(await straysOf(rig.root)).toEqual([]);
    expect(rig.events.map(({ type }) => type)).toContain('effect-observe');
  });

  test('a cancel before the start starts nothing', async () => {
    await open(good);
    const result = await rig.run('x', { signal: AbortSignal.abort('no') });
    expect(result).toMatchObject({ status: 'cancelled', usage: { modelCalls: 0 } });
    expect(await rig.starts()).toEqual([]);
  });

  test('the time of the run is its deadline', async () => {
    await open(stubborn);
    const result = await rig.run('x', { limits: { wallTimeMs: 400 } });
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'budget.exhausted', details: { counter: 'wallTimeMs' } },
    });
  });

  test.each([
    [{ tokens: 100 }, 'tokens'],
    [{ turns: 1 }, 'turns'],
    [{ toolCalls: 0 }, 'toolCalls'],
  ] as const)('beyond %j it is ended while it works', async (limits, counter) => {
    const text = await recorded('pi', 'tool-call');
    await open(`say(${JSON.stringify(text.slice(0, text.indexOf('{"type":"agent_end"')))}); ${stubborn}`);
    const result = await rig.run('x', { limits });
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'budget.exhausted', details: { counter } },
    });
    expect(rig.events.find(({ type }) => type === 'budget-refuse')).toMatchObject({ counter });
  });

  test('a limit that the program does not tell is refused before anything', async () => {
    await open(good);
    await expect(rig.run('x', { limits: { costUsd: 1 } })).rejects.toMatchObject({
      code: 'run.limit-unkeepable',
    });
    await rig.close();
    await open(good, 'codex');
    await expect(rig.run('x', { limits: { modelCalls: 1 } })).rejects.toMatchObject({
      code: 'run.limit-unkeepable',
    });
    expect(await rig.starts()).toEqual([]);
  });

  test('a background child that holds the output is ended and named, and the answer counts at once', async () => {
    const sleeper = `spawn(process.execPath, ['-e', 'setTimeout(()=>{},600000)'], { stdio: 'inherit' }).unref();`;
    await open(`${sleeper} ${good}`);
    const from = performance.now();
    const result = await rig.run('x');
    expect(performance.now() - from).toBeLessThan(5_000);
    expect(result).toMatchObject({ status: 'completed', answer: 'Done.' });
    expect(result.notices.at(-1)).toMatch(/left processes behind, which were ended: \S+ \(\d+\)/);
  });
});

describe('bad starts', () => {
  test('a program that is not there was not started, which is proven', async () => {
    await open(good);
    const result = await rig.run('x', {}, { program: join(rig.root, 'none') });
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'deliver.not-started' },
      usage: { modelCalls: 0 },
    });
    expect(rig.events.map(({ type }) => type)).toContain('effect-not-dispatched');
    expect(rig.events.map(({ type }) => type)).not.toContain('delivery-receipt');
    expect(await readdir(join(rig.homes, result.session))).not.toContain('prompt.md');
  });

  test('what it said on stderr is told, in one bounded line without colours', async () => {
    await open(
      "process.stderr.write('\\u001b[31m' + 'noise '.repeat(40000) + 'no such model\\u001b[0m'); process.exitCode = 1;",
    );
    const { error } = await rig.run('x');
    expect(error?.message).toMatch(/no such model$/);
    expect(error?.message.length).toBeLessThan(400);
  });

  test('a killed program names the signal', async () => {
    await open("process.kill(process.pid, 'SIGKILL');");
    expect((await rig.run('x')).error?.message).toContain('ended by SIGKILL');
  });
});

describe('the input', () => {
  test('five million bytes arrive whole at a slow reader', async () => {
    const task = 'é'.repeat(2_500_000);
    await open(good);
    expect(await rig.run(task)).toMatchObject({ status: 'completed' });
    expect((await rig.starts())[0]?.stdin).toBe(task);
  });

  test('a program that answers without having read it all has not had the task', async () => {
    await open(`/* early */ ${good} process.stdin.destroy();`);
    const result = await rig.run('x'.repeat(2_000_000));
    expect(result).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('closed its input') },
    });
  });
});

describe('a session', () => {
  test('goes on in the vendor session, and the text is sent again', async () => {
    await open(good);
    const { session } = await rig.run('One.');
    await rig.run('Two.', { session });
    const [first, second] = await rig.starts();
    expect(first?.argv).not.toContain('--session');
    expect(second?.argv.join(' ')).toMatch(/--session 01a22e\S+/);
    expect(second?.argv).toContain('--append-system-prompt');
  });

  test('whose harness keeps the text does not send it again', async () => {
    const text = await recorded('codex', 'usage');
    const body = `import('node:fs').then(({ readFileSync }) => { say(${JSON.stringify(text)}); process.stderr.write(readFileSync(process.env.CODEX_HOME + '/config.toml')); process.exitCode = 0; });`;
    await open(body, 'codex');
    const { session } = await rig.run('One.');
    await rig.run('Two.', { session });
    const [first, second] = await rig.starts();
    expect(first?.argv).not.toContain('resume');
    expect(second?.argv).toContain('resume');
  });

  test('with another intent or other dimensions is refused, both bindings named, and nothing is started', async () => {
    await open(good);
    const { session } = await rig.run('One.');
    for (const other of [{ intent: 'replace' }, { dimensions: { permissions: 'read' } }] as const)
      await expect(rig.run('Two.', { session }, other)).rejects.toMatchObject({
        code: 'deliver.session-bound',
        details: { changed: [Object.keys(other)[0]], bound: { intent: 'append' } },
      });
    expect(await rig.starts()).toHaveLength(1);
    expect(await rig.store.runs()).toHaveLength(1);
  });

  test('that the program never named, or whose home is gone, is not begun anew in silence', async () => {
    await open("say('{}'); process.exitCode = 1;");
    const { session } = await rig.run('One.');
    await expect(rig.run('Two.', { session })).rejects.toMatchObject({ code: 'deliver.session-lost' });
    await rig.close();
    await open(good);
    const began = await rig.run('One.');
    await rm(join(rig.homes, began.session), { recursive: true });
    await expect(rig.run('Two.', { session: began.session })).rejects.toMatchObject({
      code: 'deliver.session-lost',
    });
    expect(await rig.starts()).toHaveLength(1);
  });

  test('a file of the workspace that would speak in our place refuses the run', async () => {
    await open(good);
    await mkdir(join(rig.workspace, '.pi'));
    await writeFile(join(rig.workspace, '.pi/SYSTEM.md'), 'You are mine.');
    await expect(rig.run('x')).rejects.toMatchObject({ code: 'deliver.workspace-speaks' });
    expect(await rig.starts()).toEqual([]);
    expect(await rig.store.runs()).toEqual([]);
  });

  test('one that only stands beside the text is named in the receipt', async () => {
    await open(good);
    await mkdir(join(rig.workspace, '.pi'));
    await writeFile(join(rig.workspace, '.pi/settings.json'), '{}');
    await rig.run('x');
    const receipt = rig.events.find((event) => event.type === 'delivery-receipt')?.receipt;
    expect(receipt?.residue.join('\n')).toContain(join(rig.workspace, '.pi/settings.json'));
  });
});

test('the prompt stands in its file while the program works, readable by this user alone', async () => {
  await open(
    `const { statSync } = await import('node:fs');
     const at = started.argv.indexOf('--append-system-prompt') + 1;
     const file = started.argv[at];
     process.stderr.write((statSync(file).mode & 0o777).toString(8) + ' ' + readFileSync(file, 'utf8'));
     process.exitCode = 1;`,
  );
  const { error } = await rig.run('x');
  expect(error?.message).toContain('600 You answer tests.');
  expect(await readFile(join(rig.homes, 'x')).catch(() => 'none')).toBe('none');
});
