/** Bundles what `tsc` has compiled: a command starts in half the time from few files. The project's own pipelines are found by their names, so they stay files. */

import { readdirSync } from 'node:fs';

const folder = process.env.DIST ?? 'dist';
const pipelines = readdirSync('pipelines').filter((name) => name.endsWith('.ts'));
const entries = [
  ...['cli/main', 'index', 'testing/index', 'project/define'].map((name) => `src/${name}`),
  ...pipelines.map((name) => `pipelines/${name.slice(0, -'.ts'.length)}`),
];
/** Packages with native parts or loaded by `require`, and large ones that few commands use. */
const external =
  /^(?:@aws-sdk|@duckdb\/node-bindings|@fastify|apache-arrow|croner|fastify|jiti|light-my-request|write-excel-file)(?:\/|$)/;

export default {
  input: Object.fromEntries(entries.map((entry) => [entry, `${folder}/${entry}.js`])),
  platform: 'node',
  external,
  // The bundler follows only a `require` that nobody defines.
  plugins: [
    { name: 'see-requires', transform: (code) => code.replace('const require = createRequire(import.meta.url);', '') },
  ],
  output: {
    dir: folder,
    entryFileNames: '[name].js',
    // As deep as the sources, because some of them find files by their own place.
    chunkFileNames: 'src/chunks/[name].js',
  },
};
