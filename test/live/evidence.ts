/** What counts as live evidence, and the file it is written to: only answers of a model on another machine count. */
import { lookup } from 'node:dns/promises';
import { mkdir, writeFile } from 'node:fs/promises';
import { BlockList, isIPv6 } from 'node:net';
import { join } from 'node:path';
import { isLoopback } from '../../src/native/model/base-url.ts';
import type { Usage } from '../../src/protocol/usage.ts';

/** How one lane ended. Health is whether the parts worked; quality is what the model made of it. */
export interface LaneResult {
  readonly lane: string;
  readonly health: 'ok' | 'failed';
  /** 1: as asked. 0.5: usable. 0: nothing that can be used. */
  readonly quality: 0 | 0.5 | 1;
  /** What was wrong, in one line; null for nothing. */
  readonly fault: string | null;
  readonly modelSeen: string | null;
  readonly usage: Usage;
  readonly elapsedMs: number;
}

/** Addresses of this machine and of networks that no public provider answers from. */
const notPublic = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  notPublic.addSubnet(network, bits);
for (const [network, bits] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  notPublic.addSubnet(network, bits, 'ipv6');

type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>;

const systemLookup: Lookup = (host) => lookup(host, { all: true });

/** Throws for the address of a server that may be a script: one on this machine or in a private network, by any name. */
export async function mustBeLive(url: string, find: Lookup = systemLookup): Promise<void> {
  const { hostname } = new URL(url);
  const refuse = (why: string) =>
    new Error(`${url} is no live model: ${why}. Its answers are no live evidence.`);
  if (isLoopback(hostname)) throw refuse('it is this machine');
  const host = hostname.replace(/^\[|\]$/g, '');
  for (const { address } of await find(host)) {
    if (notPublic.check(address, isIPv6(address) ? 'ipv6' : 'ipv4'))
      throw refuse(`${host} leads to ${address}`);
  }
}

export interface Evidence {
  readonly model: string;
  readonly url: string;
  /** When the lanes began, as an ISO date and time. */
  readonly date: string;
  readonly lanes: readonly LaneResult[];
}

/** Writes `FOLDER/DATE-MODEL.json` and returns its path. Throws for a server that is no live model. */
export async function writeEvidence(folder: string, evidence: Evidence, find?: Lookup): Promise<string> {
  await mustBeLive(evidence.url, find);
  await mkdir(folder, { recursive: true });
  const name = `${evidence.date.replaceAll(/[:.]/g, '-')}-${evidence.model.replaceAll(/[^\w.-]+/g, '_')}.json`;
  const path = join(folder, name);
  await writeFile(path, `${JSON.stringify({ node: process.versions.node, ...evidence }, null, 2)}\n`);
  return path;
}
