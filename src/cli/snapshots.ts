/** rekap snapshots: list, show, verify and roll back. */

import { declareCommand } from './options/option.ts';
import { pick } from './options/all-options.ts';

const options = pick('warehouse', 'json');

const positionals = { id: 'ID of a snapshot [default: the current snapshot]' } as const;

export const snapshotsCommand = declareCommand({
  positionals: { id: 'ID of a snapshot; current for the current one [default: list all]' },
  options,
  examples: [
    ['rekap snapshots', 'list all snapshots, newest last'],
    ['rekap snapshots current', 'show the current one'],
  ],
  async run({ warehouse, json }, [id]) {
    const { printJson } = await import('./print/terminal.ts');
    if (id === undefined) {
      const { listSnapshots, renderList } = await import('./print/list-snapshots.ts');
      const snapshots = await listSnapshots(warehouse);
      if (json) return printJson(snapshots);
      const none = `The warehouse ${warehouse} does not contain any snapshots yet.\n`;
      return void process.stdout.write(snapshots.length === 0 ? none : renderList(snapshots));
    }
    const [{ readSnapshot, requireCurrent, requireNoLog }, { renderSnapshot }] = await Promise.all([
      import('../warehouse/warehouse.ts'),
      import('./print/show-snapshot.ts'),
    ]);
    const snapshot = id === 'current' ? await requireCurrent(warehouse) : await readSnapshot(warehouse, id);
    await requireNoLog(snapshot);
    if (json) printJson(snapshot.manifest);
    else process.stdout.write(renderSnapshot(snapshot));
  },
});

export const verifyCommand = declareCommand({
  positionals,
  options: pick('warehouse', 'json', 'max-duration'),
  async run({ warehouse, json, 'max-duration': seconds }, [id]) {
    const [
      { readCurrentId, requireCurrent },
      { damagedError, verifyPublished },
      { complete, printJson },
      { withSignals },
    ] = await Promise.all([
      import('../warehouse/warehouse.ts'),
      import('../snapshots/manage-snapshots.ts'),
      import('./print/terminal.ts'),
      import('./signals.ts'),
    ]);
    const snapshot = id ?? (await readCurrentId(warehouse)) ?? (await requireCurrent(warehouse)).id;
    const { files, responses, next, ...found } = await withSignals({ what: 'verification', seconds }, (signal) =>
      verifyPublished(warehouse, snapshot, signal),
    );
    const problems = [...found.problems, ...found.responseProblems];
    if (json) printJson({ snapshot, intact: problems.length === 0, responses, problems, next: complete(next) });
    const what =
      found.problems.length > 0
        ? `Snapshot ${snapshot} is damaged:`
        : `The stored responses of snapshot ${snapshot} are damaged:`;
    if (problems.length > 0) throw damagedError(what, problems, next);
    if (!json)
      process.stdout.write(
        `Snapshot ${snapshot} is intact: the hashes, rows and sums of ${files} files match the manifest.\n${responses === 'kept' ? 'The stored responses are the ones that it was built from.' : 'The responses that it was built from are no longer stored, so they were not checked.'}\n`,
      );
  },
});

export const rollbackCommand = declareCommand({
  positionals: { id: 'ID of a snapshot' },
  options,
  async run({ warehouse, json }, [id = '']) {
    const [{ rollBack }, { complete, printJson, warningText }] = await Promise.all([
      import('../snapshots/manage-snapshots.ts'),
      import('./print/terminal.ts'),
    ]);
    const { responseProblems, next, endsHistoryOf } = await rollBack(warehouse, id);
    if (responseProblems.length > 0)
      process.stderr.write(warningText(`${responseProblems.join('; ')}. ${next}`, process.stderr));
    if (endsHistoryOf !== null)
      process.stderr.write(
        warningText(
          `This snapshot has figures of the sample. The next sync from ${endsHistoryOf} starts a new history. To continue the old history, roll back to a snapshot from ${endsHistoryOf}.`,
          process.stderr,
        ),
      );
    if (json)
      printJson({ current: id, pinned: id, response_problems: responseProblems, ends_history_of: endsHistoryOf });
    else
      process.stdout.write(
        `Snapshot ${id} is now current and pinned. It stays current until you run ${complete('"rekap sync --unpin"')}.\n`,
      );
  },
});
