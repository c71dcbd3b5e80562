/** Says in our own codes what went wrong with a request: from the HTTP status, from the connection, from the stream. */
import { errorGraph } from '../../error-graph.ts';
import { messageOf, systemCode } from '../../errors.ts';
import type { WireEnd } from '../../wire/wire.ts';
import { ModelError, type ModelErrorCode } from './errors.ts';
import type { Exchange, Head } from './exchange.ts';

/** What a message may name. Never the key itself. */
export interface Asked {
  readonly id: string;
  readonly url: string;
  /** What the protocol puts behind a base URL; null where nobody chose one. */
  readonly path: string | null;
  /** The variable that held the key; null where no key was sent. */
  readonly keyEnv: string | null;
}

export interface Fault {
  readonly error: ModelError;
  readonly retryable: boolean;
}

interface Said {
  readonly code: string | null;
  readonly message: string;
}

interface Verdict {
  readonly code: ModelErrorCode;
  readonly what: string;
  readonly next: string;
  readonly retryable?: boolean;
}

/** An answer whose status is no success. */
export function statusFault(asked: Asked, head: Head, said: Said): Fault {
  const { status } = head;
  const verdict = verdictOf(asked, head, said);
  const page = isPage(head) ? 'an HTML page' : said.message;
  return {
    error: new ModelError(verdict.code, `${verdict.what} (HTTP ${status} from ${asked.url}): ${page}`, {
      next: verdict.next,
      details: { model: asked.id, httpStatus: status, providerCode: said.code },
    }),
    retryable: verdict.retryable ?? false,
  };
}

function verdictOf(asked: Asked, head: Head, said: Said): Verdict {
  const { status } = head;
  const key = asked.keyEnv ?? 'no key';
  if (status < 200) {
    return {
      code: 'model.bad-response',
      what: `The server of ${asked.id} switched to another protocol instead of answering`,
      next: 'Check the base URL: it leads to a server that does not speak plain HTTP there.',
    };
  }
  if (status < 400) return redirected(asked, head);
  // OpenAI answers 429 for a spent account too, where waiting does not help.
  if (status === 402 || said.code === 'insufficient_quota') {
    return {
      code: 'model.no-credit',
      what: `The account of ${key} has no credit left for ${asked.id}`,
      next: "Add credit or raise the limit in the provider's account, or use another model.",
    };
  }
  if (status === 408 || status >= 500) {
    return {
      code: 'model.server-error',
      what: `The server of ${asked.id} failed`,
      next: 'Try again later, or use another model.',
      retryable: true,
    };
  }
  return rejections(asked, key)[status] ?? rejections(asked, key).other;
}

function rejections(
  asked: Asked,
  key: string,
): { readonly [status: number]: Verdict; readonly other: Verdict } {
  return {
    401: {
      code: 'model.unauthorized',
      what: `The server did not accept ${asked.keyEnv === null ? 'a request without a key' : `the key in ${key}`}`,
      next: asked.keyEnv === null ? 'Name the variable that holds the key.' : `Put a valid key into ${key}.`,
    },
    403: {
      code: 'model.forbidden',
      what: `The server does not let ${key} use ${asked.id}`,
      next: "Check the key's permissions and the provider's rules for this model.",
    },
    404: {
      code: 'model.not-found',
      what: `The server knows no model or no path for ${asked.id}`,
      next:
        asked.path === null
          ? "Check the model's name."
          : `Check the model's name, and that the base URL ends just before ${asked.path}.`,
    },
    413: {
      code: 'model.request-too-large',
      what: `The request for ${asked.id} has too many bytes for the server`,
      next: 'Send less: a shorter conversation, smaller tool results or fewer tools.',
    },
    429: {
      code: 'model.rate-limited',
      what: `${asked.id} has had too many requests`,
      next: 'Wait, or lower the concurrency.',
      retryable: true,
    },
    other: {
      code: 'model.rejected',
      what: `The server refused the request for ${asked.id}`,
      next: 'Change what its message names: a parameter, a tool schema or the length of the conversation.',
    },
  };
}

function redirected(asked: Asked, head: Head): Verdict {
  const location = String(head.headers.location ?? '');
  const to = URL.canParse(location, asked.url) ? new URL(location, asked.url).origin : 'nowhere';
  return {
    code: 'model.redirected',
    what: `The server of ${asked.id} points to ${to}, and a redirect is not followed`,
    next: 'Give the base URL of the place where the model is served.',
  };
}

/** True where a server turned a request away (3xx, 4xx) and did not work on it; 408 and 5xx may come after work. */
export function turnedAway(status: number): boolean {
  return status >= 300 && status < 500 && status !== 408;
}

/** A success whose content type already says that no model answered; null for what a wire can read. */
export function contentFault(asked: Asked, head: Head): Fault | null {
  const encoding = head.headers['content-encoding'] ?? 'identity';
  if (isPage(head)) {
    return fault(
      'model.not-an-api',
      asked,
      `Expected a model's answer from ${asked.url}; found an HTML page.`,
      {
        next: 'Check the base URL: it looks like the address of a web site, not of an API.',
      },
    );
  }
  if (encoding.trim().toLowerCase() === 'identity') return null;
  return fault(
    'model.bad-response',
    asked,
    `Expected the bytes of ${asked.url} as they are; found content-encoding ${JSON.stringify(encoding)}.`,
    { next: 'Turn off compression in the server or the gateway before it.' },
  );
}

function isPage(head: Head): boolean {
  return /^(text\/html|application\/xhtml)/i.test(head.headers['content-type'] ?? '');
}

/** An exchange that did not come to its end. `limits` are named in the message. */
export function exchangeFault(
  asked: Asked,
  done: Exchange,
  limits: {
    readonly firstByteTimeoutMs: number;
    readonly idleTimeoutMs: number;
    readonly responseBytesMax: number;
  },
): Fault {
  switch (done.end.how) {
    case 'cancelled':
      return fault('model.cancelled', asked, `The request to ${asked.id} was cancelled.`, {
        next: 'Start the task again, or give the session another task.',
      });
    case 'no-answer':
      return fault(
        'model.no-answer',
        asked,
        `Expected ${asked.id} to begin its answer within ${limits.firstByteTimeoutMs} ms; nothing came.`,
        { next: 'Try again, choose a faster model, or allow more time.' },
      );
    case 'stalled':
      return fault(
        'model.stalled',
        asked,
        `${asked.id} sent ${done.raw.length} bytes and then nothing for ${limits.idleTimeoutMs} ms.`,
        { next: 'Try again, or allow more time between two parts of an answer.' },
      );
    case 'oversized':
      return fault(
        'model.response-too-large',
        asked,
        `Expected at most ${limits.responseBytesMax} bytes from ${asked.id}; more came.`,
        { next: 'Lower the output limit, or check that the base URL leads to a model server.' },
      );
    case 'broken':
      return connectionFault(asked, done, done.end.error);
    case 'whole':
      throw new TypeError('An exchange that came to its end has no fault of its own.');
  }
}

const tlsCode = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_OSSL|EPROTO|HOSTNAME_MISMATCH)/;

function connectionFault(asked: Asked, done: Exchange, error: Error): Fault {
  const code = systemCode(error) ?? '';
  const found = describe(error);
  if (done.dispatched === 'no' && tlsCode.test(code)) {
    return fault('model.tls', asked, `No safe connection to ${asked.url}: ${found}.`, {
      next: 'Check the base URL, its certificate, and NODE_EXTRA_CA_CERTS for an authority of your own.',
      cause: error,
    });
  }
  if (done.dispatched === 'no') {
    const next = 'Check the base URL, that the server runs, and the network.';
    return fault('model.unreachable', asked, `No connection to ${asked.url}: ${found}.`, { next }, true);
  }
  if (code.startsWith('HPE_')) {
    return fault(
      'model.bad-response',
      asked,
      `Expected HTTP from ${asked.url}; found something else: ${found}.`,
      {
        next: 'Check the base URL and its port.',
        cause: error,
      },
    );
  }
  if (done.raw.length > 0) {
    return fault(
      'model.cut',
      asked,
      `The connection to ${asked.id} broke after ${done.raw.length} bytes of the answer: ${found}.`,
      { next: 'Send the task again; the part that came is kept in the record.' },
    );
  }
  const message = `The connection to ${asked.url} broke after the request was sent and before an answer came: ${found}.`;
  return fault('model.connection-lost', asked, message, { next: 'Try again.', cause: error }, true);
}

/** A response that came to its end but holds no whole answer. */
export function answerFault(asked: Asked, end: Exclude<WireEnd, { kind: 'message' }>): Fault {
  if (end.kind === 'cut') {
    return fault('model.cut', asked, `${asked.id} did not finish: ${end.message}`, {
      next: 'Send the task again; the part that came is kept in the record.',
    });
  }
  if (end.passing === true) {
    return fault(
      'model.server-error',
      asked,
      `The server of ${asked.id} failed before it answered: ${end.message}`,
      { next: 'Try again later, or use another model.' },
      true,
    );
  }
  if (end.code?.startsWith('wire.')) {
    return fault(
      'model.bad-response',
      asked,
      `${asked.id} sent an answer that cannot be used. ${end.message}`,
      {
        next: 'Check that the base URL leads to a server of this protocol, or use another model.',
      },
    );
  }
  const error = new ModelError('model.provider-error', `${asked.id} reported an error: ${end.message}`, {
    next: 'Try again, or act on what the message names.',
    details: { model: asked.id, providerCode: end.code },
  });
  return { error, retryable: false };
}

function fault(
  code: ModelErrorCode,
  asked: Asked,
  message: string,
  extra: { readonly next: string; readonly cause?: unknown },
  retryable = false,
): Fault {
  return { error: new ModelError(code, message, { ...extra, details: { model: asked.id } }), retryable };
}

// An attempt over several addresses fails with an AggregateError that has no message of its own.
function describe(error: Error): string {
  const parts = messageOf(error) === '' ? errorGraph(error).leaves : [error];
  return parts.map(messageOf).join('; ');
}
