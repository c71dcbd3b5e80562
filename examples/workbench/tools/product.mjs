/** A tool of the product that the agent is built into: the state of an order, which stands nowhere else. */
import { defineTool, failed } from 'writ';

const orders = { 1042: 'waiting for payment', 1043: 'sent' };

export default function product() {
  return defineTool({
    name: 'product_order',
    description: 'The state of an order by its number.',
    parameters: {
      type: 'object',
      properties: { order: { type: 'integer' } },
      required: ['order'],
      additionalProperties: false,
    },
    capability: 'product',
    access: 'read',
    async execute({ order }) {
      const state = orders[order];
      return state === undefined ? failed('no-order', `There is no order ${order}.`) : { order, state };
    },
  });
}
