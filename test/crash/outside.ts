/** The outside of the crash campaign: a server that counts what really reached it, and a model that asks for an effect of each class in a turn. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Script } from '../scripted-provider.ts';

export const classes = ['safe', 'idempotent', 'once', 'asked', 'command_start', 'driven__write'] as const;
export type EffectClass = (typeof classes)[number];

function argumentsOf(name: EffectClass, n: number): object {
  if (name === 'command_start') return { command: `echo ran >> command-${n}; cat command-${n}` };
  return name === 'driven__write' ? { line: `${n}` } : { n };
}

/** Asks for one effect of each class in each turn, then tells the results it has read. */
export function modelOf(turns: number): Script {
  return ({ json }) => {
    const results = json.messages.filter((message: { role: string }) => message.role === 'tool');
    const n = results.length / classes.length + 1;
    if (n > turns) return { text: JSON.stringify(results.map(contentOf)) };
    const calls = classes.map((name, i) => {
      return { id: `call-${n}-${i + 1}`, name, arguments: JSON.stringify(argumentsOf(name, n)) };
    });
    return { calls };
  };
}

const contentOf = (message: { content: string }) => message.content;

export interface Desk {
  readonly url: string;
  /** Requests by class and number, and the keys that they bore. */
  requests(name: string, n: number): { readonly count: number; readonly keys: number };
  forget(): void;
  close(): Promise<void>;
}

export async function openDesk(): Promise<Desk> {
  const seen = new Map<string, string[]>();
  const byKey = new Map<string, string>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    if (request.method === 'GET') {
      response.end(byKey.get(path.slice('/seen/'.length)) ?? 'never');
      return;
    }
    const key = String(request.headers['idempotency-key']);
    seen.set(path, [...(seen.get(path) ?? []), key]);
    const text = `did ${path.slice(1)}`;
    byKey.set(key, text);
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests(name, n) {
      const keys = seen.get(`/${name}/${n}`) ?? [];
      return { count: keys.length, keys: new Set(keys).size };
    },
    forget() {
      seen.clear();
      byKey.clear();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
