/** What an agent program gets of the caller's environment: a short list by name, what its plan names, and nothing else. */
import type { DeliveryPlan } from '../../protocol/delivery.ts';

/** Where programs are and who runs them, how texts are written, and the way to the network. No key stands in one of these. */
export const passedVariables = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['SystemRoot', 'ComSpec', 'PATHEXT', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'TEMP'],
] as const;

/** The variable that every process of one start bears. */
export const markVariable = 'WRIT_AGENT_PROGRAM';

/** The whole environment of a start. The plan's own values come last: nothing of the caller's changes a control. */
export function programEnvironment(
  plan: Pick<DeliveryPlan, 'env' | 'inherit' | 'workspace'>,
  env: Readonly<Record<string, string | undefined>>,
  mark: string,
): Record<string, string> {
  const given = [...passedVariables, ...plan.inherit].flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(given),
    NO_COLOR: '1',
    PWD: plan.workspace,
    ...plan.env,
    [markVariable]: mark,
  };
}

/** The caller's environment with another folder as the user's home. */
export function inHome(
  env: Readonly<Record<string, string | undefined>>,
  home: string | undefined,
): Readonly<Record<string, string | undefined>> {
  return home === undefined ? env : { ...env, HOME: home, USERPROFILE: home };
}

/** The caller's environment with this machine left out of what goes through a proxy: a recorder stands on it. */
export function pastProxies(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  const with127 = (list: string | undefined) => [list, '127.0.0.1'].filter(Boolean).join(',');
  return { ...env, NO_PROXY: with127(env.NO_PROXY), no_proxy: with127(env.no_proxy) };
}
