import type { PlatformKind } from '../providers/chat/platform.js';
import { platforms } from '../providers/chat/platforms.js';
import type { Store } from '../store/store.js';
import type { PlatformSettingsCache } from './settings.js';

/** A platform that has linked channels but lacks settings to send or to receive. */
export interface IncompletePlatform {
  kind: PlatformKind;
  channels: number;
  /** Names of the fields that are not set. */
  missing: string[];
}

/** Finds such platforms. Messages to their channels fail, or messages from there are refused. */
export const findUnset = async (
  { db }: Store,
  settings: Pick<PlatformSettingsCache, 'of'>,
): Promise<IncompletePlatform[]> => {
  const linked = await db
    .selectFrom('channels')
    .select((of) => ['kind', of.fn.countAll<number>().as('count')])
    .where('verified_at', 'is not', null)
    .groupBy('kind')
    .execute();
  return platforms.flatMap(({ kind, fields }) => {
    const channels = linked.find((one) => one.kind === kind)?.count ?? 0;
    const set = settings.of(kind);
    const missing = fields
      .filter(({ name, neededTo }) => neededTo && !set?.secrets[name] && !set?.values[name])
      .map(({ name }) => name);
    return channels > 0 && missing.length > 0 ? [{ kind, channels, missing }] : [];
  });
};
