/** A receipt says what was delivered and on which evidence, and holds nothing of it. */
import { expect, test } from 'vitest';
import { jsonDigest, sha256 } from '../digest.ts';
import { cellFor, requestFor } from './conformance.cases.ts';
import { adapter } from './harnesses/codex/codex.ts';
import { planDelivery } from './plan-delivery.ts';
import { receiptOf } from './receipt.ts';

test('control, transport, bytes, digest, version, cell, role and residue', () => {
  const request = requestFor(adapter, { env: { CANARY: 'value-of-canary' }, text: 'The secret song.' });
  const cell = cellFor(adapter, request, {
    position: { field: 'input', role: 'developer', index: 1 },
    residue: { bytes: 62, firstWords: 'Vendor words' },
  });
  const plan = planDelivery('codex', request, {
    adapters: [adapter],
    measured: [cell],
    unmeasured: 'refuse',
  });
  const receipt = receiptOf(plan, '1.0.0');
  expect(receipt).toMatchObject({
    harness: 'codex',
    version: '1.0.0',
    intent: 'replace',
    control: 'instructions',
    transport: 'file',
    bytes: 16,
    sha256: sha256('The secret song.'),
    role: 'developer',
    cell,
    residue: [expect.stringContaining('62 bytes'), expect.stringContaining('developer messages')],
    plan: jsonDigest(plan),
  });
  expect(JSON.stringify(receipt)).not.toMatch(/secret song|value-of-canary|Say hello/);
});
