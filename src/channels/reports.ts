import type { Queue } from '../jobs/module.js';
import { reportUndelivered, requeueUndelivered, type UndeliveredDeps } from '../outbound/module.js';
import type { UndeliveredEvent } from '../providers/chat/platform.js';
import { outboundPlatforms } from '../providers/chat/platforms.js';
import type { ChannelKind } from '../store/tables/channels.js';
import { recordWindowClosed } from './freetext.js';
import type { Links } from './links.js';
import type { PlatformSettingsCache } from './settings.js';

export interface PlatformReportsDeps extends UndeliveredDeps {
  queue: Pick<Queue, 'added'>;
  links: Pick<Links, 'channelOf'>;
  settings: Pick<PlatformSettingsCache, 'of'>;
}

/**
 * If free text came too late, the message is resent with the template. Everything else is reported
 * to the owner.
 */
export const createUndelivered =
  (deps: PlatformReportsDeps) =>
  async (kind: ChannelKind, { to, isLate, ...event }: UndeliveredEvent): Promise<void> => {
    const channel = await deps.links.channelOf({ kind, id: to });
    if (!channel) return;
    const failed = { ...event, channelId: channel.id, target: kind };
    const before = isLate ? await recordWindowClosed(deps, channel) : null;
    const isSentAgain =
      before !== null &&
      hasOtherWay(deps, kind) &&
      (await requeueUndelivered(deps, failed, before));
    if (isSentAgain) deps.queue.added(channel.id);
    else await reportUndelivered(deps, failed);
  };

const hasOtherWay = ({ settings }: PlatformReportsDeps, kind: ChannelKind): boolean => {
  const platform = outboundPlatforms.find((one) => one.kind === kind);
  const set = platform && settings.of(platform.kind);
  return Boolean(set && platform.late?.(set));
};
