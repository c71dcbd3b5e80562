/** Checks the address of a model server before anything is sent to it. */
import { ModelError } from './errors.ts';

export interface BaseUrl {
  /** Without a slash at its end. */
  readonly text: string;
  readonly loopback: boolean;
}

/**
 * Throws `model.bad-base-url`. Plain http is for this machine only unless `plainHttp` allows it, because the key and the
 * whole conversation would be readable on the way. Credentials in the address are never repeated in the message.
 */
export function checkBaseUrl(given: string, options: { readonly plainHttp: boolean }): BaseUrl {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw bad(`Expected an http or https URL; found ${shown(given)}.`, 'Write it like https://host/v1.');
  }
  if (url.username !== '' || url.password !== '') {
    throw bad(
      `Expected a base URL without credentials; found some before ${url.host}.`,
      'Take them out of the URL and name the variable that holds the key.',
    );
  }
  if (given.includes('?') || given.includes('#')) {
    throw bad(
      `Expected a base URL without query or fragment; found one behind ${url.origin}.`,
      'Give only the address and path.',
    );
  }
  const path = url.pathname.replace(/\/+$/, '');
  const whole = ['/chat/completions', '/v1/messages'].find((end) => path.endsWith(end));
  if (whole !== undefined) {
    throw bad(
      `Expected the address before ${whole}; found ${url.origin}${path}.`,
      `Use ${url.origin}${path.slice(0, -whole.length)}.`,
    );
  }
  const loopback = isLoopback(url.hostname);
  if (url.protocol === 'http:' && !loopback && !options.plainHttp) {
    throw bad(
      `Expected https for ${url.host}, which is not this machine; found http.`,
      'Use https, or allow plain http for this server.',
    );
  }
  return { text: url.origin + path, loopback };
}

/** True for the names and addresses of this machine. */
export function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true;
  return /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function bad(message: string, next: string): ModelError {
  return new ModelError('model.bad-base-url', message, { next });
}

function shown(given: string): string {
  return given.includes('@') ? 'a text with an @ in it' : JSON.stringify(given.slice(0, 120));
}
