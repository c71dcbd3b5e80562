import base from '../../vitest.config.ts';

// The real set-up, with one test that is none of the suite's.
export default { ...base, test: { ...base.test, include: ['test/children/planted.ts'] } };
