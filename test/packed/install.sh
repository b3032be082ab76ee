#!/usr/bin/env bash
# Packs rekap, installs the tarball in an empty project, creates a project of its own, and compiles and runs a strict program.
# Then installs the command as `make install` does, and runs and removes it.
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$root"
npm pack --silent --pack-destination "$folder" > /dev/null
cd "$folder"
npm init -y > /dev/null
npm install --silent --no-audit --no-fund --engine-strict ./rekap-*.tgz
npx --no-install rekap sync --sample 2> /dev/null | head -n 1
cat > program.mts << 'END'
/** A strict program that uses the installed package. */

import { isRekapError, openWarehouse, type Row, sync } from 'rekap';
import { manualClock, startSource } from 'rekap/testing';

const source = await startSource({ project: 'own', faults: { clamp: 5 } });
try {
  const { outcome } = await sync({
    project: 'own',
    baseUrl: source.url,
    apiKey: source.apiKey,
    warehouse: 'from-program',
    clock: manualClock(),
  });
  const rows: readonly Row[] = await (await openWarehouse('from-program')).query('SELECT count(*) AS n FROM stations');
  console.log(outcome, rows[0]?.['n']);
} catch (error) {
  console.error(isRekapError(error) ? error.message : error);
  process.exitCode = 1;
} finally {
  await source.close();
}
END
npx --no-install rekap new own > /dev/null
"$root/node_modules/.bin/tsc" --strict --module nodenext --target es2023 --skipLibCheck false --types node \
  --typeRoots "$root/node_modules/@types" program.mts
"$root/node_modules/.bin/tsc" --noEmit --strict --module nodenext --target es2023 --types node \
  --typeRoots "$root/node_modules/@types" own/rekap.project.ts own/report.ts own/pipelines/stations.ts
node program.mjs
(cd own && npx --no-install rekap check && npx --no-install rekap test --faults clamp 503 | tail -n 1)
make --silent -C "$root" install PREFIX="$folder/prefix"
"$folder/prefix/bin/rekap" sync --sample --warehouse "$folder/installed" 2> /dev/null | head -n 1
make --silent -C "$root" uninstall PREFIX="$folder/prefix" > /dev/null
[ ! -e "$folder/prefix/bin/rekap" ]
echo "The packed package installs with --engine-strict on Node $(node --version), runs, and has its types."
