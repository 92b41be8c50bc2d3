import { stat } from 'node:fs/promises';
import type { InstalledModels } from './installedmodels.js';
import type { CapabilitiesStore } from './queries.js';

/** Partial downloads of failed installations are kept for this long. */
const KEPT_MS = 24 * 3_600_000;

export const deletePartialInstalls = async (
  shelf: InstalledModels,
  store: CapabilitiesStore,
  now: number,
): Promise<void> => {
  const busy = new Set(await store.busy('capabilities.install'));
  for (const slug of await shelf.begun()) {
    if (busy.has(slug)) continue;
    const since = await stat(shelf.partial(slug)).then(
      ({ mtimeMs }) => now - mtimeMs,
      () => 0,
    );
    if (since > KEPT_MS) await shelf.discard(slug);
  }
};
