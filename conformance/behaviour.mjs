// How a program ends a turn: a tool call, each failure of its provider, a cut stream, and a cancel. Observed, not judged,
// but for what must never be: a process that outlives its turn, and a file of ours that stays behind.
import { readdir, readFile } from 'node:fs/promises';
import { openStage } from '../dist/deliver/verify/stage.js';
import { plain } from '../dist/deliver/verify/traps.js';

const toolCalls = {
  'claude-code': { name: 'Bash', arguments: '{"command":"echo conformance","description":"say it"}' },
  codex: { name: 'exec_command', arguments: '{"cmd":"echo conformance"}' },
  gemini: { name: 'list_directory', arguments: '{"dir_path":"."}' },
  opencode: { name: 'bash', arguments: '{"command":"echo conformance","description":"say it"}' },
  pi: { name: 'bash', arguments: '{"command":"echo conformance"}' },
  'qwen-code': { name: 'read_file', arguments: '{"absolute_path":"/nothing-there"}' },
};

// Some ask again and again for minutes; that they still do is all that is wanted. A turn that ends by itself may take its
// time on a machine under load.
const failingMs = 20_000;
const wholeMs = 90_000;

/** `quick` leaves out what a program may retry for as long as it is let. */
export async function behaviour(options, quick) {
  const results = {};
  const intent = 'control' in options.adapter.controls.replace ? 'replace' : 'append';
  const scripts = {
    'tool call': (ask) =>
      ask.messages.some(({ role }) => role === 'tool')
        ? { text: 'It answered.' }
        : { text: 'I call a tool.', call: toolCalls[options.adapter.name] },
    401: () => ({ status: 401 }),
    429: () => ({ status: 429 }),
    500: () => ({ status: 500 }),
    'cut stream': () => ({ cut: 'This text is long enough to be cut somewhere in its middle, and it is.' }),
  };
  const chosen = quick ? { 'tool call': scripts['tool call'] } : scripts;
  for (const [name, script] of Object.entries(chosen))
    results[name] = await oneTurn(options, intent, script, name === 'tool call' ? wholeMs : failingMs);
  const stop = new AbortController();
  const cancelling = () => {
    setTimeout(() => stop.abort('conformance'), 20);
    return { text: 'word '.repeat(20_000) };
  };
  const signal = AbortSignal.any([stop.signal, options.signal]);
  results.cancel = await oneTurn({ ...options, signal }, intent, cancelling, wholeMs);
  return results;
}

async function oneTurn(options, intent, script, timeoutMs) {
  const stage = await openStage({ ...options, timeoutMs });
  try {
    stage.answer(script);
    const from = performance.now();
    const seen = await stage.turn({ intent, text: plain.text });
    const ms = Math.round(performance.now() - from);
    const last = seen.main.at(-1);
    return {
      exitCode: seen.end.exitCode,
      stopped: seen.end.stopped,
      ms,
      requests: seen.main.length,
      toolResults: last?.parts.filter(({ kind }) => kind === 'tool-result').length ?? 0,
      // Ours must stand in every request of a turn, not in the first alone.
      textInEveryRequest: seen.main.every(({ parts }) => parts.some(({ text }) => text.includes(plain.text))),
      leftProcesses: await processesOf(stage.user),
      leftInWorkspace: (await readdir(stage.workspace)).filter((name) => name !== 'canary-of-a-file'),
    };
  } finally {
    await stage.close();
  }
}

/** Processes whose environment names a folder, wherever they moved themselves; null where the system does not tell. */
async function processesOf(folder) {
  if (process.platform !== 'linux') return null;
  // What was just killed needs a moment to be gone.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const left = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const [environment, command] = await Promise.all(
      ['environ', 'cmdline'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')),
    );
    if (environment.includes(folder) && command !== '') left.push(command.replaceAll('\0', ' ').trim());
  }
  return left;
}
