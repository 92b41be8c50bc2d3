import type { PlatformKind } from '../providers/chat/platform.js';
import { outboundPlatforms } from '../providers/chat/platforms.js';
import type { Store } from '../store/store.js';
import type { PlatformSettingsCache } from './settings.js';

/** Linked channels exist, but settings for sending, receiving or late messages are missing. */
export interface IncompletePlatform {
  kind: PlatformKind;
  channels: number;
  missing: string[];
  isUnset: boolean;
  /** True if nothing is set for messages after the free-text window. */
  sendsNoneLate: boolean;
}

export const findIncompletePlatforms = async (
  { db }: Store,
  settings: Pick<PlatformSettingsCache, 'of'>,
): Promise<IncompletePlatform[]> => {
  const linked = await db
    .selectFrom('channels')
    .select((of) => ['kind', of.fn.countAll<number>().as('count')])
    .where('verified_at', 'is not', null)
    .groupBy('kind')
    .execute();
  return outboundPlatforms.flatMap(({ kind, fields, late }) => {
    const channels = linked.find((one) => one.kind === kind)?.count ?? 0;
    const set = settings.of(kind);
    const missing = fields
      .filter(({ name, requiredFor }) => requiredFor && !set?.secrets[name] && !set?.values[name])
      .map(({ name }) => name);
    const sendsNoneLate = Boolean(set && late && !late(set));
    const isUnset = set === null;
    if (channels === 0 || !(isUnset || missing.length > 0 || sendsNoneLate)) return [];
    return [{ kind, channels, missing, isUnset, sendsNoneLate }];
  });
};
