/** Where commands can run here: the local sandbox, which confines nothing, and bubblewrap, tried by a real command. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toErrorJson } from '../../errors.ts';
import { probeReadiness } from '../../sandbox/probe.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { bubblewrap } from '../../sandbox/sandboxes/bubblewrap/bubblewrap.ts';
import { local } from '../../sandbox/sandboxes/local/local.ts';
import type { Context } from '../context.ts';
import type { Check } from './checks.ts';

const probeMs = 10_000;

/** Runs one command that does nothing in each of them, in an empty folder of its own. */
export async function checkSandboxes(context: Context): Promise<readonly Check[]> {
  const base = mkdtempSync(join(tmpdir(), 'writ-doctor-'));
  const { env } = context;
  const places = { workspace: join(base, 'workspace'), folder: join(base, 'commands'), env };
  mkdirSync(places.workspace);
  try {
    return [
      await check(context, 'local', () => local(places), localWorks(process.platform)),
      await check(
        context,
        'bubblewrap',
        () => bubblewrap(places),
        'works: a command changes its workspace alone, without network',
      ),
    ];
  } finally {
    rmSync(base, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** What `local` is good for on a platform. */
export function localWorks(platform: NodeJS.Platform): string {
  const works = 'works, and confines nothing: commands may do all that you may';
  // Only there can the system be asked what belongs to a command.
  if (platform === 'linux') return works;
  return `${works}; off Linux only the process group of a command can be ended, and what leaves it is not seen`;
}

async function check(context: Context, kind: string, open: () => Sandbox, works: string): Promise<Check> {
  const name = `sandbox ${kind}`;
  const result = (status: Check['status'], found: string, next: string | null): Check => ({
    name,
    status,
    found,
    next,
    needed: false,
  });
  let sandbox: Sandbox;
  try {
    sandbox = open();
  } catch (thrown) {
    const { code, message, next = null } = toErrorJson(thrown);
    return result(code === 'sandbox.unavailable' ? 'missing' : 'problem', message, next);
  }
  try {
    const options = { signal: context.interrupts(), clock: context.clock, budgetMs: probeMs };
    const readiness = await probeReadiness(sandbox, context.clock.id('probe'), options);
    return readiness.ready
      ? result('ok', works, null)
      : result(
          'problem',
          readiness.message,
          'Run writ doctor again; if it stays so, no command can run in it.',
        );
  } finally {
    await sandbox.close();
  }
}
