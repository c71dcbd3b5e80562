/** TLS over real connections, with a certificate made for the test. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openaiChat } from '../../wire/openai-chat.ts';
import { httpModel } from './http-model.ts';
import { answerChunks, failed, never, stream } from './loopback.cases.ts';

const folder = mkdtempSync(join(tmpdir(), 'writ-tls-'));
const made = spawnSync(
  'openssl',
  ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    .concat(['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1'])
    .concat(['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')]),
);

describe.skipIf(made.status !== 0)('a server with a certificate of its own', () => {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const requests: string[] = [];
  const server = createServer({}, (request, response) => {
    requests.push(request.url ?? '');
    if (request.url?.includes('reset')) request.socket.destroy();
    else response.end(stream(...answerChunks('safe')));
  });
  let port = 0;
  beforeAll(async () => {
    server.setSecureContext({ key: read('key.pem'), cert: read('cert.pem') });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  });

  const modelAt = (path: string, ca?: string) =>
    httpModel({
      id: 'local/m',
      name: 'm',
      wire: openaiChat(),
      baseUrl: `https://127.0.0.1:${port}/${path}`,
      key: { name: 'KEY', value: 'sk-0123456789' },
      price: null,
      ...(ca === undefined ? {} : { ca }),
    });

  test('answers where the certificate is trusted, again over the same connection', async () => {
    const model = modelAt('v1', read('cert.pem'));
    expect(await model.send('{}', { signal: never })).toMatchObject({ ok: true, message: { text: 'safe' } });
    expect(await model.send('{}', { signal: never })).toMatchObject({ ok: true });
    await model.close();
  });

  test('gets nothing where it is not', async () => {
    requests.length = 0;
    const model = modelAt('v1');
    const reply = failed(await model.send('{}', { signal: never }));
    expect(reply).toMatchObject({ dispatched: 'no', retryable: false, error: { code: 'model.tls' } });
    expect(reply.error.message).toContain('self-signed certificate');
    expect(requests).toEqual([]);
    await model.close();
  });

  test('that breaks after the handshake leaves the outcome unknown', async () => {
    const model = modelAt('reset', read('cert.pem'));
    expect(await model.send('{}', { signal: never })).toMatchObject({
      dispatched: 'unknown',
      error: { code: 'model.connection-lost' },
    });
    await model.close();
  });
});
