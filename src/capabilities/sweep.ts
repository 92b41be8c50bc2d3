import { stat } from 'node:fs/promises';
import type { CapabilitiesStore } from './queries.js';
import type { Shelf } from './shelf.js';

/** Partial downloads of failed installations are kept for this long. */
const KEPT_MS = 24 * 3_600_000;

export const sweepPartial = async (
  shelf: Shelf,
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
