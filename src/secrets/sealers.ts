import type { CredentialVersionRow } from '../store/tables/vault.js';
import type { Keyring } from './keyring.js';
import { Secret } from './secret.js';

/** Each value is bound to its owner. */
export const createSealers = (master: Keyring) => {
  const hooks = createSealer(master, (id: string) => `hooks:${id}:secret`);
  const webhooks = createSealer(master, (id: string) => `webhooks:${id}:secret`);
  const channels = createSealer(master, (id: string) => `channels:${id}:secret`);
  const platforms = createSealer(master, (kind: string) => `platforms:${kind}`);
  const models = createSealer(master, (id: string) => `models:${id}:key`);
  const vault = createSealer(master, buildBinding);
  return {
    hooks: { sealSecret: hooks.seal, openSecret: hooks.open },
    webhooks: {
      sealSecret: webhooks.seal,
      openSecret: webhooks.open,
      /** Headers of a webhook, as JSON. */
      headers: createSealer(master, (id: string) => `webhooks:${id}:headers`),
    },
    channels: {
      sealChannelSecret: channels.seal,
      openChannelSecret: channels.open,
      unsealChannelSecret: channels.unseal,
      sealPlatform: platforms.seal,
      unsealPlatform: platforms.unseal,
    },
    totp: createSealer(master, (userId: string) => `totp:${userId}`),
    /** Environments and headers of MCP servers. */
    mcp: createSealer(master, (server: string) => `mcp:${server}`),
    models: { sealKey: models.seal, unsealKey: models.unseal },
    vault: {
      sealVersion: vault.seal,
      openVersion: (of: Version & { sealed: string }) => vault.open(of, of.sealed),
    },
    tunnel: createSealer(master, (id: string) => `tunnel:${id}`),
  };
};

type Version = Pick<CredentialVersionRow, 'user_id' | 'credential_id' | 'version'>;
const buildBinding = ({ user_id, credential_id, version }: Version): string =>
  `vault:${user_id}:${credential_id}:${version}`;

const createSealer = <T>(master: Keyring, bound: (of: T) => string) => ({
  seal: (of: T, secret: string): string => master.seal(bound(of), Buffer.from(secret)),
  open: (of: T, sealed: string): Secret => new Secret(master.unseal(bound(of), sealed)),
  unseal: (of: T, sealed: string): string => master.unseal(bound(of), sealed).toString(),
});
