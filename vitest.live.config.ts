import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/live/*.live.ts'],
    globalSetup: './test/no-process-left.ts',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 60_000,
    reporters: ['verbose', './test/closing-line.ts'],
  },
});
