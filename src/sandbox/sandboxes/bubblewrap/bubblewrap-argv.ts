/** The words with which `bwrap` is called: what a command may see, change and reach. */

export interface Confinement {
  /** Resolved. The only folder that a command can change beside its own temporary one. */
  readonly workspace: string;
  /** Resolved, beneath the workspace. */
  readonly cwd: string;
  /** True to share the network of the machine; there is none otherwise. */
  readonly network: boolean;
  /** Folders of the workspace that are shown empty, relative to it. */
  readonly hidden: readonly string[];
  /** Names of the workspace that a command cannot take. Where nothing is yet, bwrap leaves an empty file. */
  readonly covered: readonly string[];
}

/** Programs and libraries, and what they need to find names, certificates and the time. No other file of /etc is there. */
const readable = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const readableOfEtc = [
  'alternatives',
  'ca-certificates',
  'group',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'nsswitch.conf',
  'passwd',
  'ssl/certs',
  'ssl/openssl.cnf',
];
const networkOfEtc = ['hosts', 'resolv.conf', 'services'];

// The command begins only after this: a byte on descriptor 3 says that the sandbox stands.
const shim = 'printf . >&3; exec 3>&-; exec "$@"';

/**
 * Everything before the command is fixed by the confinement alone. The environment is inherited and never stands here,
 * where every user of the machine could read it.
 */
export function bubblewrapArgv(
  program: string,
  confinement: Confinement,
  argv: readonly string[],
): readonly string[] {
  const { workspace, cwd, network, hidden, covered } = confinement;
  const etc = network ? [...readableOfEtc, ...networkOfEtc] : readableOfEtc;
  return [
    program,
    '--unshare-all',
    ...(network ? ['--share-net'] : []),
    // Whatever happens to the supervisor, nothing in the namespace outlives it.
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    ...readable.flatMap((path) => ['--ro-bind-try', path, path]),
    ...etc.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--tmpfs',
    '/tmp',
    '--bind',
    workspace,
    workspace,
    ...hidden.flatMap((name) => ['--tmpfs', `${workspace}/${name}`]),
    ...covered.flatMap((name) => ['--ro-bind', '/dev/null', `${workspace}/${name}`]),
    '--remount-ro',
    '/',
    '--chdir',
    cwd,
    '--',
    '/bin/sh',
    '-c',
    shim,
    'sh',
    ...argv,
  ];
}
