/** What a spent budget says, and amounts as people read them. */
import { expect, test } from 'vitest';
import { amountText, budgetExhausted } from './budget.ts';

test.each([
  [0, '0'],
  [1_234_567, '1,234,567'],
  [0.0001, '0.0001'],
  [0.1 + 0.2, '0.3'],
  [12.5, '12.5'],
])('%d is %s', (amount, text) => {
  expect(amountText(amount)).toBe(text);
});

test('the message holds for any amount', () => {
  const { message } = budgetExhausted({ counter: 'tokens', limit: 12_000, left: 1, wanted: 4096 });
  expect(message).toBe(
    'The budget allows 12,000 tokens (tokens of prompts and answers together); left: 1, wanted: 4,096.',
  );
});
