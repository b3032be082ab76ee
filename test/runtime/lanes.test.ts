/** After an error, statements on other connections end, and no further one begins. */

import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/runtime/database.ts';
import { inLanes, openLanes } from '../../src/runtime/lanes.ts';

it('throws the error after the statements that began have ended, and begins no further one', async () => {
  const database = await openDatabase(':memory:');
  const steps: string[] = [];
  const working = inLanes(await openLanes(database, 2), ['broken', 'slow', 'later'], async (_, item) => {
    steps.push(`${item} begins`);
    if (item === 'broken') throw new Error(item);
    await setImmediate();
    steps.push(`${item} ends`);
  });
  await expect(working).rejects.toThrow('broken');
  expect(steps).toEqual(['broken begins', 'slow begins', 'slow ends']);
  database.close();
});
