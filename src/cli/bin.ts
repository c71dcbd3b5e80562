#!/usr/bin/env node
/** The `writ` executable: answers `--version` with nothing loaded, and hands everything else to `main`. */
import { readFileSync } from 'node:fs';

const argv = process.argv.slice(2);
if (argv[0] === '--version' || argv[0] === '-V') {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  process.stdout.on('error', () => {});
  process.stdout.write(`${version}\n`);
} else {
  const [{ main }, { openInterrupts }] = await Promise.all([import('./main.ts'), import('./interrupts.ts')]);
  const code = await main(argv, process.env, process, currentFolder(), openInterrupts(process));
  // Everything was written and closed by now; a handle that a dependency left open must not keep the shell waiting.
  process.exit(code);
}

// A shell may stand in a folder that somebody has removed.
function currentFolder(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}
