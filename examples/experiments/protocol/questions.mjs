// What can be asked of a region, in words and in SQL: the items, the warehouse and the scripted model agree on it.
export const regions = ['north', 'south', 'east', 'west', 'coast', 'hills'];

export const questions = [
  { kind: 'orders', ask: 'how many orders were placed', sql: 'COUNT(*)' },
  { kind: 'revenue', ask: 'what do the amounts add up to', sql: 'ROUND(SUM(amount), 2)' },
  {
    kind: 'average',
    ask: 'what is the mean amount of an order, to two decimals',
    sql: 'ROUND(AVG(amount), 2)',
  },
  { kind: 'largest', ask: 'what is the largest amount', sql: 'MAX(amount)' },
  { kind: 'smallest', ask: 'what is the smallest amount', sql: 'MIN(amount)' },
  { kind: 'customers', ask: 'how many different customers ordered', sql: 'COUNT(DISTINCT customer)' },
  { kind: 'units', ask: 'how many units were ordered', sql: 'SUM(units)' },
  { kind: 'large', ask: 'how many orders were above 100', sql: 'SUM(amount > 100)' },
  { kind: 'days', ask: 'on how many different days was something ordered', sql: 'COUNT(DISTINCT day)' },
];

/** The task of an item. */
export const taskOf = (region, { ask }) =>
  `In the region ${region}, ${ask}? Cancelled orders do not count. Answer with the number.`;

/** The statement that answers a question; without the filter it is the usual mistake. */
export const statementOf = (region, { sql }, filtered = true) =>
  `SELECT ${sql} AS answer FROM orders WHERE region = '${region}'${filtered ? " AND status <> 'cancelled'" : ''}`;
