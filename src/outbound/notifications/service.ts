import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { throwIfFaults } from '../../kernel/route.js';
import { retryUntilWritten } from '../../store/updateif.js';
import type { Preferences } from '../preferences.js';
import type { PreferenceChanges } from './contract.js';
import type { NotificationsStore } from './queries.js';
import { changed, preferenceFaults } from './rules.js';

export interface NotificationsDeps {
  notifications: NotificationsStore;
  clock: Clock;
}

/**
 * Throws 400 with each wrong field, also for a channel of another user or one unlinked meanwhile.
 */
export const setPreferences = async (
  { notifications, clock }: NotificationsDeps,
  input: PreferenceChanges,
  by: Caller & Recorder,
): Promise<Preferences> => {
  await retryUntilWritten(async () => {
    const [before, channelIds] = await Promise.all([
      notifications.preferences(by.userId),
      notifications.channelIds(by.userId),
    ]);
    throwIfFaults(preferenceFaults(input, { channelIds, hours: before.quietHours }));
    const parts = changed(before, input);
    const at = iso(clock.now());
    const recorded = by.record({ data: { ...input } });
    return (await notifications.prefer(by.userId, { parts, at }, recorded)) || null;
  });
  return notifications.preferences(by.userId);
};
