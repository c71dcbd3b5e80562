/** Commands as processes of this user, in a group of their own. They are kept track of and ended, and kept from nothing. */
import type { Sandbox } from '../../sandbox.ts';
import { supervised } from '../../supervisor/supervised.ts';

export interface LocalOptions {
  readonly workspace: string;
  /** Where the state and output of commands are kept; private to this user. */
  readonly folder: string;
  /** The environment of which only the variables below reach a command. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a command gets of the environment. No key stands in one of these. */
const passedVariables = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
];

/** The sandbox that confines nothing but where a command begins and what it inherits. */
export function local({ workspace, folder, env }: LocalOptions): Sandbox {
  const passed = Object.fromEntries(
    passedVariables.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
  return supervised({
    name: 'local',
    confines: { files: false, network: false, processes: false },
    workspace,
    folder,
    wrap: ({ argv, env: own }, cwd) => ({ argv, cwd, env: { ...passed, ...own }, wrapper: null }),
  });
}
