import { defineConfig } from 'vitest/config';

/** These replace a module before it is loaded, so no other test may share their modules. */
const alone = [
  'test/end-to-end/memory-option.test.ts',
  'test/load/sealed.test.ts',
  'test/cli/notify.test.ts',
  'test/warehouse/forbidden.test.ts',
  'test/end-to-end/io-faults.test.ts',
  'test/end-to-end/open-files.test.ts',
  'test/pipelines/index.test.ts',
  'test/publish/lock.test.ts',
  'test/cli/unloadable.test.ts',
];

export default defineConfig({
  test: {
    // Whole syncs and servers run in some of them; a hang is a failure, not a reason to wait.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // By default one core stays idle for a watcher.
    maxWorkers: '100%',
    globalSetup: 'test/support/shared-folder.ts',
    restoreMocks: true,
    unstubEnvs: true,
    // `make fuzz` picks them out by it; test/support/properties.ts gives it to them.
    tags: [{ name: 'property', description: 'tried with many inputs that chance gives' }],
    projects: [
      { extends: true, test: { name: 'alone', include: alone } },
      // Loading everything anew for each file takes a fifth of the whole.
      {
        extends: true,
        test: { name: 'together', include: ['test/**/*.test.ts'], exclude: alone, isolate: false },
      },
    ],
  },
});
