import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Whole syncs and servers run in some of them; a hang is a failure, not a reason to wait.
    testTimeout: 30_000,
    // By default one core stays idle for a watcher.
    maxWorkers: '100%',
    restoreMocks: true,
    // `make fuzz` picks them out by it; test/support/properties.ts gives it to them.
    tags: [{ name: 'property', description: 'tried with many inputs that chance gives' }],
  },
});
