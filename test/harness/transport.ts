import type { Transport } from '../../src/outbound/transport.js';
import type { ChannelKind, ChannelRow } from '../../src/store/tables/channels.js';
import type { TestApp } from './app.js';
import { ADA, linkChannel } from './channel.js';
import { inside } from './inside.js';

export interface Arrived {
  channelId: string;
  kind: string;
  title: string;
  body: string;
  link: string | null;
}

/** A platform that accepts everything, and its messages. */
export const recordingTransport = (): { transport: Transport; arrived: Arrived[] } => {
  const arrived: Arrived[] = [];
  return {
    arrived,
    transport: {
      isRepeatable: true,
      delaysMs: [],
      send: async ({ channel_id, kind, content }) => {
        arrived.push({ channelId: channel_id ?? '', kind, ...JSON.parse(content) });
        return { verdict: 'sent', receipt: null };
      },
    },
  };
};

/** Replaces the platforms of these kinds until the daemon restarts. */
export const putTransport = (
  { app }: TestApp,
  transport: Transport,
  kinds: ChannelKind[],
): void => {
  for (const kind of kinds) inside(app).transports.put(kind, transport);
};

/** A sender of that kind, linked to the user. */
export const linkOn = (app: TestApp, userId: string, kind: ChannelKind): Promise<ChannelRow> =>
  linkChannel(app, userId, { ...ADA, kind, id: `${kind}/${userId}` });
