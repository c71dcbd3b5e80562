/** A run where its view is piped: one line an event, as it happens. */
import type { Output } from '../output.ts';
import { childLines } from './child-lines.ts';
import { asides, eventLines, type Progress } from './progress-lines.ts';

/** A piped line may be longer than a terminal's, but stays one that can be read. */
const pipedCells = 200;

/** One line an event, as it happens. */
export function plainLines(output: Output): Progress {
  const said = asides();
  const children = childLines();
  return {
    onChildEvents(events) {
      for (const event of events)
        for (const line of children.take(event, pipedCells)) output.write(`${line}\n`);
    },
    onEvents(events) {
      for (const event of events) {
        for (const line of said.take(event, pipedCells)) output.write(`${line}\n`);
        for (const line of eventLines(event, pipedCells)) output.write(`${line}\n`);
      }
    },
    onLive: said.hear,
    hold: () => () => {},
    close() {},
  };
}
