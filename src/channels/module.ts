import type { Agents } from '../agents/module.js';
import type { Decide } from '../approvals/module.js';
import type { Base } from '../base.js';
import type { DocumentIntake } from '../documents/module.js';
import type { Resource } from '../kernel/route.js';
import type { Operations } from '../operations/module.js';
import type { Outbound } from '../outbound/module.js';
import type { RecentRuns, StageQuestions } from '../pipelines/module.js';
import { outboundPlatforms } from '../providers/chat/platforms.js';
import type { DueSource } from '../schedule/module.js';
import type { Secrets } from '../secrets/module.js';
import type { ChannelKind } from '../store/tables/channels.js';
import type { VaultModule } from '../vault/module.js';
import type { VoiceMessages } from '../voice/module.js';
import { createTakeFiles, filesOperation } from './files.js';
import { createMessageHandler } from './handle.js';
import { createPlatformReceiver, type PlatformReceiver } from './inbound.js';
import { findIncompletePlatforms, type IncompletePlatform } from './incompleteplatforms.js';
import { createLinks, type Links } from './links.js';
import { createChatPace } from './pace.js';
import { createMessageParts } from './parts.js';
import { platformsStore } from './platforms/queries.js';
import { platformsResource } from './platforms/routes.js';
import { pushStore } from './push/queries.js';
import { pushResource } from './push/routes.js';
import { createPushTransport } from './push/transport.js';
import { channelsStore } from './queries.js';
import { platformReceiversResource } from './receivers/routes.js';
import { createUndelivered } from './reports.js';
import { channelResults } from './results.js';
import { channelsResource } from './routes.js';
import type { LinkingDeps } from './service.js';
import {
  createSettings,
  isConfiguredFor,
  type PlatformSettingsCache,
  platformUses,
} from './settings.js';
import { createPlatformTransport } from './transport.js';
import { createWebhookTransport, webhookProver } from './webhook.js';

export type { UnreadMessages } from './inbound.js';
export type { IncompletePlatform } from './incompleteplatforms.js';

export interface Channels {
  links: Links;
  receiver: PlatformReceiver;
  due: DueSource;
  unset(): Promise<IncompletePlatform[]>;
  load(): Promise<void>;
  resources(deps: ChannelsResourcesDeps): {
    channels: Resource;
    push: Resource;
    platforms: Resource[];
  };
}

export interface ChannelsModuleDeps {
  secrets: Secrets;
  vault: VaultModule;
  outbound: Outbound;
  agents: Agents;
  operations: Pick<Operations, 'register'>;
  files: { arrivals: DocumentIntake; voice: VoiceMessages };
  decisions: { decide: Decide; stages: StageQuestions; runs: RecentRuns };
}

interface ChannelsResourcesDeps {
  accounts: LinkingDeps['accounts'];
  publicUrl(): string | null;
  pageAddress(): string | null;
  port(): number;
}

export const openChannels = (base: Base, deps: ChannelsModuleDeps): Channels => {
  const { store, clock, log, http } = base;
  const { agents } = deps;
  const { decide, stages, runs } = deps.decisions;
  const { vault } = deps.vault;
  const { outbox, queue, transports } = deps.outbound;
  const { digestCode, sealers } = deps.secrets;
  const { openChannelSecret, sealChannelSecret, sealPlatform, unsealPlatform } = sealers.channels;
  const links = createLinks({ store, clock, outbox, digestCode });
  const settings = createSettings({ store, clock, vault, unsealPlatform });
  const conversing = { store, clock, chat: agents.chat };
  const { arrivals, voice } = deps.files;
  const fetches = deps.operations.register(
    filesOperation({ ...conversing, http, settings, arrivals, voice, links, queue }),
  );
  const parts = createMessageParts({ ...conversing, links });
  let addressOfPage = (): string | null => null;
  const texts = { store, stages, pageAddress: () => addressOfPage() };
  const webhooks = { ...texts, clock, http, openChannelSecret };
  const receiver = createPlatformReceiver({
    clock,
    log,
    http,
    settings,
    handle: createMessageHandler({
      ...conversing,
      links,
      takeFiles: createTakeFiles(conversing, fetches),
      parts,
      decide,
      stages,
      runs,
      canSend: (kind) => canSendTo(settings, kind),
    }),
    proveWebhook: webhookProver(webhooks),
    moved: (kind, { from, to }) => links.move({ kind, id: from }, to),
    undelivered: createUndelivered({ store, clock, outbox, queue, links, settings }),
  });
  const pace = createChatPace(clock);
  for (const platform of outboundPlatforms) {
    const transport = createPlatformTransport({ ...texts, clock, http, settings, pace }, platform);
    transports.put(platform.kind, transport);
  }
  transports.put('webhook', createWebhookTransport(webhooks));
  const push = pushStore(store);
  const { unsealChannelSecret } = sealers.channels;
  const keyPair = deps.secrets.pushKey;
  let contact = (): string => DEFAULT_CONTACT;
  transports.put(
    'push',
    createPushTransport({
      push,
      http,
      unsealChannelSecret,
      keyPair,
      contact: () => contact(),
    }),
  );
  agents.followers.onEnd(channelResults({ store, clock, queue }));
  deps.vault.platformsUse(platformUses(sealers.channels));
  deps.vault.onChange(settings.refresh);
  return {
    links,
    receiver,
    due: parts.due,
    unset: () => findIncompletePlatforms(store, settings),
    load: settings.refresh,
    resources: ({ accounts, publicUrl, pageAddress, port }) => {
      addressOfPage = pageAddress;
      settings.reachedAt(() => publicUrl() ?? `http://127.0.0.1:${port()}`);
      contact = () => publicUrl() ?? DEFAULT_CONTACT;
      const channels = channelsStore(store);
      return {
        channels: channelsResource({
          store,
          clock,
          http,
          platformSettings: settings,
          outbox,
          outgoing: queue,
          channelSecrets: { digestCode, sealChannelSecret },
          channels,
          links,
          accounts,
        }),
        push: pushResource({
          push,
          channels,
          clock,
          http,
          sealChannelSecret,
          publicKey: async () => (await keyPair()).publicKey,
        }),
        platforms: [
          platformReceiversResource({ receiver }),
          platformsResource({
            platforms: platformsStore(store),
            platformSettings: settings,
            http,
            clock,
            vault,
            sealPlatform,
            unsealPlatform,
            publicUrl,
          }),
        ],
      };
    },
  };
};

/** Contact for push services if the daemon has no address (RFC 8292, section 2.1). */
const DEFAULT_CONTACT = 'mailto:adjutant@localhost.invalid';

const canSendTo = (settings: PlatformSettingsCache, kind: ChannelKind): boolean => {
  const platform = outboundPlatforms.find((one) => one.kind === kind);
  return !platform || isConfiguredFor('send', platform, settings.of(platform.kind));
};
