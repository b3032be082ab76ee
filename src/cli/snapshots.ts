/** rekap snapshots: list, show, verify and roll back. */

import { declareCommand } from './options/option.ts';
import { pick } from './options/all-options.ts';
import { renderSnapshot } from './print/show-snapshot.ts';
import { complete, printWarning } from './print/terminal.ts';
import { withSignals } from './signals.ts';
import { readCurrentId, readSnapshot, requireCurrent, requireNoLog } from '../warehouse/warehouse.ts';

const options = pick('warehouse', 'json');

/** Loads what help doesn't need. */
const manage = () => import('../snapshots/manage-snapshots.ts');

export const snapshotsCommand = declareCommand({
  positionals: { id: 'ID of a snapshot; current for the current one [default: list all]' },
  options,
  examples: [
    ['rekap snapshots', 'list all snapshots, newest last'],
    ['rekap snapshots current', 'show the current one'],
  ],
  async run({ warehouse }, [id]) {
    if (id === undefined) return (await import('./print/list-snapshots.ts')).listSnapshots(warehouse);
    const snapshot = id === 'current' ? await requireCurrent(warehouse) : await readSnapshot(warehouse, id);
    await requireNoLog(snapshot);
    return snapshot;
  },
  toJson: (found) => ('manifest' in found ? found.manifest : found),
  async print(found, { warehouse }) {
    if ('manifest' in found) return renderSnapshot(found);
    if (found.length === 0) return `The warehouse ${warehouse} does not contain any snapshots yet.\n`;
    return (await import('./print/list-snapshots.ts')).renderList(found);
  },
});

export const verifyCommand = declareCommand({
  positionals: { id: 'ID of a snapshot [default: the current snapshot]' },
  options: pick('warehouse', 'json', 'max-duration'),
  async run({ warehouse, 'max-duration': seconds }, [id]) {
    const snapshot = id ?? (await readCurrentId(warehouse)) ?? (await requireCurrent(warehouse)).id;
    const { verifyPublished } = await manage();
    const found = await withSignals({ what: 'verification', seconds }, (signal) =>
      verifyPublished(warehouse, snapshot, signal),
    );
    return { snapshot, ...found };
  },
  toJson({ snapshot, responses, problems, responseProblems, next }) {
    const all = [...problems, ...responseProblems];
    return { snapshot, intact: all.length === 0, responses, problems: all, next: complete(next) };
  },
  print({ snapshot, files, responses, problems, responseProblems }) {
    if (problems.length + responseProblems.length > 0) return '';
    return `Snapshot ${snapshot} is intact: the hashes, rows and sums of ${files} files match the manifest.
${responses === 'kept' ? 'The stored responses of its run are the ones that it was built from.' : 'The responses that it was built from are no longer stored, so they were not checked.'}\n`;
  },
  async finish({ snapshot, problems, responseProblems, next }) {
    if (problems.length + responseProblems.length === 0) return;
    const { damagedError } = await manage();
    const what = problems.length > 0 ? `Snapshot ${snapshot} is` : `The stored responses of snapshot ${snapshot} are`;
    throw damagedError(`${what} damaged:`, [...problems, ...responseProblems], next);
  },
});

export const rollbackCommand = declareCommand({
  positionals: { id: 'ID of a snapshot' },
  options,
  async run({ warehouse }, [id = '']) {
    const { rollBack } = await manage();
    const { responseProblems, next, endsHistoryOf } = await rollBack(warehouse, id);
    if (responseProblems.length > 0) printWarning(`${responseProblems.join('; ')}. ${next}`);
    if (endsHistoryOf !== null)
      printWarning(
        `This snapshot has figures of the sample. The next sync from ${endsHistoryOf} starts a new history. To continue the old history, roll back to a snapshot from ${endsHistoryOf}.`,
      );
    return { current: id, pinned: id, response_problems: responseProblems, ends_history_of: endsHistoryOf };
  },
  print: ({ current }) =>
    `Snapshot ${current} is now current and pinned. It stays current until you run ${complete('"rekap sync --unpin"')}.\n`,
});
