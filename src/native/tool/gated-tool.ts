/** A tool behind the gate of a workspace: a write waits while the workspace is captured, and is proven unsent if it waits in vain. */
import { messageOf } from '../../errors.ts';
import type { Gate } from '../../sandbox/gate.ts';
import type { Tool } from './tool.ts';

/** The same tool; one that only reads changes nothing and passes by. */
export function gatedTool(tool: Tool, gate: Gate): Tool {
  if (tool.access === 'read') return tool;
  return {
    ...tool,
    execute: async (value, context) => {
      let entered = false;
      const work = () => {
        entered = true;
        return tool.execute(value, context);
      };
      try {
        return await gate.operate(work, context.signal);
      } catch (thrown) {
        if (entered) throw thrown;
        const message = `It waited while the workspace was being captured. ${messageOf(thrown)}`;
        return {
          status: 'not-dispatched',
          nonDispatch: { proof: 'not-dispatched', reason: 'cancelled', message },
        };
      }
    },
  };
}
