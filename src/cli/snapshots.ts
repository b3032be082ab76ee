/** rekap snapshots: list, show, verify, roll back, unpin and prune. */

import { declareCommand } from './options/option.ts';
import { jsonOption, keepOptions, readKeepOptions, warehouseOption } from './options/shared.ts';

const options = { ...warehouseOption, ...jsonOption } as const;

const words = { id: 'id of a snapshot [default: the current one]' } as const;

export const listCommand = declareCommand({
  options,
  async run({ warehouse, json }) {
    const [{ listSnapshots, renderList }, { printJson }] = await Promise.all([
      import('./print/list-snapshots.ts'),
      import('./print/terminal.ts'),
    ]);
    const snapshots = await listSnapshots(warehouse);
    if (json) return printJson(snapshots);
    process.stdout.write(
      snapshots.length === 0 ? `The warehouse ${warehouse} holds no snapshot yet.\n` : renderList(snapshots),
    );
  },
});

export const showCommand = declareCommand({
  words,
  options,
  async run({ warehouse, json }, [id]) {
    const [{ readSnapshot, requireCurrent, requireNoLog }, { renderSnapshot }, { printJson }] = await Promise.all([
      import('../warehouse/warehouse.ts'),
      import('./print/show-snapshot.ts'),
      import('./print/terminal.ts'),
    ]);
    const snapshot = id === undefined ? await requireCurrent(warehouse) : await readSnapshot(warehouse, id);
    await requireNoLog(snapshot);
    if (json) printJson(snapshot.manifest);
    else process.stdout.write(renderSnapshot(snapshot));
  },
});

export const verifyCommand = declareCommand({
  words,
  options,
  async run({ warehouse, json }, [id]) {
    const [
      { readCurrentId, requireCurrent },
      { damagedError, verifyPublished },
      { loadProject },
      { printJson },
      { complete },
    ] = await Promise.all([
      import('../warehouse/warehouse.ts'),
      import('../snapshots/manage-snapshots.ts'),
      import('../../pipelines/index.ts'),
      import('./print/terminal.ts'),
      import('./print/terminal.ts'),
    ]);
    const snapshot = id ?? (await readCurrentId(warehouse)) ?? (await requireCurrent(warehouse)).id;
    const { files, answers, next, ...found } = await verifyPublished(warehouse, snapshot, loadProject());
    const problems = [...found.problems, ...found.answerProblems];
    if (json) printJson({ snapshot, intact: problems.length === 0, answers, problems, next: complete(next) });
    const what =
      found.problems.length > 0
        ? `Snapshot ${snapshot} is damaged:`
        : `The answers of snapshot ${snapshot} are damaged:`;
    if (problems.length > 0) throw damagedError(what, problems, next);
    if (!json)
      process.stdout.write(
        `Snapshot ${snapshot} is whole: ${files} files, their hashes, rows and sums agree with the manifest.\n${answers === 'kept' ? 'Its answers are those that it was made of.' : 'Its answers are no longer kept, so it could not be compared with them.'}\n`,
      );
  },
});

export const rollbackCommand = declareCommand({
  words: { id: 'id of the snapshot' },
  options,
  async run({ warehouse, json }, [id = '']) {
    const [{ rollBack }, { loadProject }, { complete, printJson, warningText }] = await Promise.all([
      import('../snapshots/manage-snapshots.ts'),
      import('../../pipelines/index.ts'),
      import('./print/terminal.ts'),
    ]);
    const { answerProblems, next, endsHistoryOf } = await rollBack(loadProject(), warehouse, id);
    if (answerProblems.length > 0)
      process.stderr.write(warningText(`${answerProblems.join('; ')}. ${next}`, process.stderr));
    if (endsHistoryOf !== null)
      process.stderr.write(
        warningText(
          `the figures of this snapshot are made up, and the next sync from ${endsHistoryOf} begins its history anew; roll back to one of its snapshots to go on from there`,
          process.stderr,
        ),
      );
    if (json) printJson({ current: id, pinned: id, answer_problems: answerProblems, ends_history_of: endsHistoryOf });
    else
      process.stdout.write(
        `Snapshot ${id} is current now, and pinned: it stays current until ${complete('"rekap snapshots unpin"')}.\n`,
      );
  },
});

export const unpinCommand = declareCommand({
  options,
  async run({ warehouse, json }) {
    const [{ unpin }, { printJson }] = await Promise.all([
      import('../snapshots/manage-snapshots.ts'),
      import('./print/terminal.ts'),
    ]);
    const unpinned = await unpin(warehouse);
    if (json) printJson({ unpinned });
    else
      process.stdout.write(
        unpinned === null
          ? 'No snapshot is pinned.\n'
          : `Snapshot ${unpinned} is no longer pinned. The next sync can replace it.\n`,
      );
  },
});

export const pruneCommand = declareCommand({
  options: { ...options, ...keepOptions },
  async run({ warehouse, json, ...keeping }) {
    const [{ prune }, { printJson }] = await Promise.all([
      import('../snapshots/manage-snapshots.ts'),
      import('./print/terminal.ts'),
    ]);
    const pruned = await prune({ warehouse, ...readKeepOptions(keeping) });
    if (json) return printJson(pruned);
    const { removed, landings } = pruned;
    const lines = [
      removed.length === 0 ? '' : `Removed ${removed.length === 1 ? 'snapshot' : 'snapshots'} ${removed.join(', ')}.\n`,
      landings.length === 0 ? '' : `Removed the answers of ${landings.join(', ')}.\n`,
    ].join('');
    process.stdout.write(lines === '' ? 'Nothing to remove.\n' : lines);
  },
});
