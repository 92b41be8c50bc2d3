import type { PlatformKind } from '../providers/chat/platform.js';
import { platforms } from '../providers/chat/platforms.js';
import type { Store } from '../store/store.js';
import type { PlatformSettingsCache } from './settings.js';

/** A platform that channels are linked on, and that lacks what it takes to send or to hear. */
export interface Unset {
  kind: PlatformKind;
  channels: number;
  /** The names of the fields that are not set. */
  missing: string[];
}

/** Whatever is sent to these channels ends as failed, or what is written there is refused. */
export const findUnset = async (
  { db }: Store,
  settings: Pick<PlatformSettingsCache, 'of'>,
): Promise<Unset[]> => {
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
