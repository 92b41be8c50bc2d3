import { type ChatDeps, createChat } from '../agents/chat.js';
import type { EndingDeps } from '../agents/end.js';
import { reportUndelivered } from '../outbound/failure.js';
import type { Transports } from '../outbound/transport.js';
import { platforms } from '../providers/chat/platforms.js';
import type { ChannelKind } from '../store/tables/channels.js';
import { type AddressesDeps, type ChannelAddresses, createAddresses } from './addresses.js';
import { type AnswersDeps, channelAnswers } from './answers.js';
import { createHandling, type HandlingDeps } from './handle.js';
import { createReception, type PlatformReceiver, type ReceptionDeps } from './inbound.js';
import { createLinks, type Links, type LinksDeps } from './links.js';
import { createChatPace } from './pace.js';
import {
  createSettings,
  isSetTo,
  type PlatformSettingsCache,
  type SettingsDeps,
} from './settings.js';
import { createPlatformTransport, type TransportDeps } from './transport.js';
import { createWebhookTransport, type WebhookDeps, webhookProver } from './webhook.js';

/** Functions that open the secrets of platforms and of channels. */
export type ChannelSecrets = Pick<SettingsDeps, 'unsealPlatform'> &
  Pick<WebhookDeps, 'openChannelSecret'> &
  Pick<AddressesDeps, 'sealChannelSecret'>;

export interface ChannelsDeps
  extends Omit<
      LinksDeps & TransportDeps & ReceptionDeps,
      'settings' | 'pace' | 'handle' | 'proveWebhook' | 'undelivered'
    >,
    ChatDeps {
  channelSecrets: ChannelSecrets;
  vault: SettingsDeps['vault'];
  approvals: Pick<HandlingDeps, 'decide'> & ChatDeps['approvals'];
  transports: Transports;
  outgoing: AnswersDeps['queue'];
}

/** The channels on which the owners talk with their agents, inbound and outbound. */
export interface Channels {
  links: Links;
  addresses: ChannelAddresses;
  platformSettings: PlatformSettingsCache;
  reception: PlatformReceiver;
  /** Adds to the consequences of an agent's end its reply to the channel of its conversation. */
  answering(consequences: EndingDeps['consequences']): EndingDeps['consequences'];
}

export const createChannels = (deps: ChannelsDeps): Channels => {
  const { store, clock, transports, channelSecrets: secrets } = deps;
  const links = createLinks(deps);
  const settings = createSettings({ ...deps, ...secrets });
  const webhooks = { ...deps, ...secrets };
  const canSend = (kind: ChannelKind): boolean => {
    const platform = platforms.find((one) => one.kind === kind);
    return !platform || isSetTo('send', platform, settings.of(platform.kind));
  };
  const chat = createChat(deps);
  const handle = createHandling({ ...deps, ...deps.approvals, links, chat, canSend });
  const toPlatforms = { ...deps, settings, pace: createChatPace() };
  for (const platform of platforms) {
    transports.put(platform.kind, createPlatformTransport(toPlatforms, platform));
  }
  transports.put('webhook', createWebhookTransport(webhooks));
  const answerOf = channelAnswers({ store, clock, queue: deps.outgoing });
  return {
    links,
    addresses: createAddresses({ ...deps, ...secrets }),
    platformSettings: settings,
    reception: createReception({
      ...{ ...deps, settings, handle },
      proveWebhook: webhookProver(webhooks),
      undelivered: async (kind, { to, ...event }) => {
        const channel = await links.channelOf({ kind, id: to });
        if (channel)
          await reportUndelivered(deps, { ...event, channelId: channel.id, target: kind });
      },
    }),
    answering: (consequences) => async (agent, outcome) => {
      const all = [await consequences(agent, outcome), await answerOf(agent, outcome)];
      return {
        statements: all.flatMap(({ statements }) => statements),
        committed: () => {
          for (const { committed } of all) committed();
        },
      };
    },
  };
};
