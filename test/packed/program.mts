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
