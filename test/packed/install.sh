#!/usr/bin/env bash
# Packs rekap, installs the tarball into an empty project as a stranger would, runs it, and compiles a strict program against it.
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
/** A strict program of somebody else's, compiled against the package as it is installed. */

import { isRekapError, sync, type SyncResult } from 'rekap';

export async function nightly(baseUrl: string, apiKey: string): Promise<SyncResult['outcome']> {
  try {
    return (await sync({ baseUrl, apiKey, warehouse: 'data/warehouse' })).outcome;
  } catch (error) {
    if (isRekapError(error, 'gate')) return 'dry run';
    throw error;
  }
}
END
"$root/node_modules/.bin/tsc" --noEmit --strict --module nodenext --target es2023 --skipLibCheck false --types node \
  --typeRoots "$root/node_modules/@types" program.mts
mkdir -p own/pipelines
cat > own/rekap.project.ts << 'END'
import { defineProject } from 'rekap';

export default defineProject({ name: 'own', title: 'Own', paging: { by: 'page', page: 'page' }, records: '/items' });
END
cat > own/pipelines/items.ts << 'END'
import { count, definePipeline, text } from 'rekap';

export default definePipeline({
  table: 'items',
  title: 'Items',
  comment: 'Items of a shop.',
  path: '/items',
  columns: { code: text('code', 'Code.'), stock: count('stock', 'Pieces in stock.') },
  key: ['code'],
});
END
"$root/node_modules/.bin/tsc" --noEmit --strict --module nodenext --target es2023 --types node \
  --typeRoots "$root/node_modules/@types" own/rekap.project.ts own/pipelines/items.ts
(cd own && npx --no-install rekap check)
make --silent -C "$root" install PREFIX="$folder/prefix"
"$folder/prefix/bin/rekap" sync --sample --warehouse "$folder/installed" 2> /dev/null | head -n 1
make --silent -C "$root" uninstall PREFIX="$folder/prefix" > /dev/null
[ ! -e "$folder/prefix/bin/rekap" ]
echo "The packed package installs with --engine-strict on Node $(node --version), runs, and has its types."
