import { describe, expect, test } from 'vitest';
import type { Declarations, Harness } from '../harness.ts';
import { checkGuarantees } from './guarantees.ts';

const full: Declarations = {
  budget: 'enforced',
  approval: 'enforced',
  effects: 'enforced',
  resume: 'enforced',
  cancel: 'enforced',
};

function harness(
  declares: Partial<Declarations>,
  unkeepable: ReturnType<Harness['unkeepable']> = [],
): Harness {
  return {
    name: 'some-cli',
    declares: { ...full, ...declares },
    model: null,
    project: async () => ({ tools: [], text: '' }),
    unkeepable: () => unkeepable,
    open: () => Promise.reject(new Error('not opened here')),
  };
}

describe('what a run needs of its harness', () => {
  test('is met where everything is enforced', () => {
    expect(checkGuarantees(harness({}), { turns: 3 }, {})).toEqual([]);
  });

  test.each(['budget', 'approval', 'effects', 'resume', 'cancel'] as const)('%s must be enforced', (name) => {
    const refused = () => checkGuarantees(harness({ [name]: 'observed' }), { turns: 3 }, {});
    expect(refused).toThrow(expect.objectContaining({ code: 'run.guarantee-missing', kind: 'refused' }));
  });

  test('a budget without a limit asks nothing of the harness', () => {
    expect(checkGuarantees(harness({ budget: 'none' }), {}, {})).toEqual([]);
  });

  test('may be lowered on purpose, and then says so', () => {
    expect(
      checkGuarantees(
        harness({ resume: 'none', cancel: 'observed' }),
        {},
        { resume: 'none', cancel: 'observed' },
      ),
    ).toEqual(['some-cli does not keep resume.', 'some-cli only observes cancel.']);
    expect(() => checkGuarantees(harness({ resume: 'none' }), {}, { resume: 'observed' })).toThrow(
      /needs resume observed/,
    );
  });

  test('a limit that it cannot keep is refused with the reason', () => {
    const why = [{ counter: 'costUsd' as const, reason: 'no price is known', next: 'Give one.' }];
    expect(() => checkGuarantees(harness({}, why), { costUsd: 1 }, {})).toThrow(
      expect.objectContaining({
        code: 'run.limit-unkeepable',
        message: 'The budget limits costUsd, but no price is known.',
        next: 'Give one.',
      }),
    );
  });
});
