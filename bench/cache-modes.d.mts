/** Types of the measurement of prompt caches, which a benchmark and a test share. */
export interface CacheRow {
  readonly wire: 'openai-chat' | 'anthropic';
  readonly caches: string;
  readonly mode: 'compiled' | 'all_tools';
  /** Sessions after the first, and how many of them found something cached. */
  readonly warm: number;
  readonly hits: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly costUsd: number;
  /** The server's own count, a request each. */
  readonly asked: readonly { readonly prompt: number; readonly cached: number; readonly written: number }[];
}

export const sessions: number;
export function cacheModes(writ: typeof import('../src/index.ts')): Promise<CacheRow[]>;
