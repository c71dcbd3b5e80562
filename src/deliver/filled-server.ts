/** An MCP server in the configuration of a harness that fills in variables of its own environment, so that no secret stands in a file. */
import type { RequestedServer } from './request.ts';

export type FilledServer =
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    };

/** `fill` writes what the harness replaces by the value of the variable of that name. */
export function filledServer(server: RequestedServer, fill: (name: string) => string): FilledServer {
  if (!('command' in server)) {
    const key = server.keyEnv === undefined ? {} : { Authorization: `Bearer ${fill(server.keyEnv)}` };
    return { url: server.url, headers: { ...server.headers, ...key } };
  }
  const named = Object.fromEntries((server.envFrom ?? []).map((name) => [name, fill(name)]));
  return { command: server.command, args: server.args ?? [], env: { ...server.env, ...named } };
}

/** How a shell names a variable, and several harnesses. */
export const dollarBraces = (name: string) => `\${${name}}`;
