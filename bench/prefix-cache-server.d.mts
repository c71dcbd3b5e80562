/** Types of the server that caches prompt prefixes, which a benchmark and a test share. */
export interface PrefixCacheServer {
  /** A base URL for both protocols. */
  readonly url: string;
  /** What each answered request had and found, in tokens, in order. */
  readonly asked: readonly { readonly prompt: number; readonly cached: number; readonly written: number }[];
  close(): Promise<void>;
}

export const blockTokens: number;
export const cachedTokensMin: number;
export function prefixCacheServer(): Promise<PrefixCacheServer>;
