/** What was done with the contexts of a session: the newest operations, in bounded memory. */

/** A successful operation. */
export interface ContextTrace {
  readonly id: string;
  readonly alias: string;
  readonly operation: string;
  /** Of this context, from 1. */
  readonly sequence: number;
  readonly bytesInspected: number;
  readonly bytesReturned: number;
  readonly truncated: boolean;
  readonly elapsedMs: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

const keptMax = 256;

/** A ring: adding takes the same time however many there were. */
export function openTrace() {
  const ring: ContextTrace[] = [];
  let added = 0;
  return {
    add(trace: ContextTrace): void {
      ring[added % keptMax] = trace;
      added += 1;
    },
    /** The newest `count`, oldest first. */
    newest(count: number): readonly ContextTrace[] {
      const oldest = added > keptMax ? added % keptMax : 0;
      const inOrder = [...ring.slice(oldest), ...ring.slice(0, oldest)];
      return count < inOrder.length ? inOrder.slice(inOrder.length - count) : inOrder;
    },
  };
}
