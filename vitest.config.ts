import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

/** Files that put a module of their own in the place of another: they need a process in which nothing is loaded yet. */
const replacing = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path}`)
  .filter((path) => path.endsWith('.test.ts') && readFileSync(path, 'utf8').includes('vi.mock('));

const common = {
  // Whole syncs and servers run in some of them; a hang is a failure, not a reason to wait.
  testTimeout: 30_000,
  restoreMocks: true,
  unstubEnvs: true,
  // `make fuzz` picks them out by it; test/support/properties.ts gives it to them.
  tags: [{ name: 'property', description: 'tried with many inputs that chance gives' }],
};

export default defineConfig({
  test: {
    // By default one core stays idle for a watcher.
    maxWorkers: '100%',
    projects: [
      // What one file has loaded, the next one in the same process has too: a sixth of the whole time.
      { test: { ...common, name: 'together', include: ['test/**/*.test.ts'], exclude: replacing, isolate: false } },
      { test: { ...common, name: 'apart', include: replacing } },
    ],
  },
});
