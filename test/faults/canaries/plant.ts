import { randomBytes } from 'node:crypto';
import type { PlatformReply } from '../../../src/client/index.js';
import type { Reply } from '../../harness/app.js';
import type { Canary } from './leaks.js';

export type Ask = (method: string, path: string, body?: unknown) => Promise<Reply>;

/** What was planted, by its door. */
export class Garden {
  readonly canaries: Canary[] = [];

  /** A new core, for a secret that is planted through that door. */
  plant(door: string): string {
    const core = `c4nary${randomBytes(12).toString('hex')}`;
    this.canaries.push({ door, core: Buffer.from(core) });
    return core;
  }

  /** A secret that the daemon made; a part of it that is letters and digits alone. */
  made(door: string, secret: string): string {
    const core = secret.match(/[A-Za-z0-9]+/g)?.reduce((a, b) => (b.length > a.length ? b : a));
    if (core === undefined || core.length < 10) throw new Error(`${door}: ${secret} is too short`);
    this.canaries.push({ door, core: Buffer.from(core) });
    return secret;
  }
}

/** A reply that is what was asked for; else the test has planted nothing. */
const right = async (asked: Promise<Reply>): Promise<Reply['body']> => {
  const { status, body, text } = await asked;
  if (status >= 300) throw new Error(`Not planted: ${status} ${text}`);
  return body;
};

const TYPES = ['api_key', 'oauth_token', 'password', 'ssh_key', 'certificate', 'other'] as const;

/** Of values that span lines, hold quotes, or are not ASCII. */
const shapes: Partial<Record<(typeof TYPES)[number], (core: string) => string>> = {
  ssh_key: (core) => `-----BEGIN OPENSSH PRIVATE KEY-----\n${core}\n-----END-----\n`,
  certificate: (core) => `-----BEGIN CERTIFICATE-----\r\n${core}\r\n-----END-----`,
  other: (core) => `"ü${core}\\\n\t'<&>%`,
};

/** Credentials of every type, each lent to `http.request` at that host; one of them rotated. */
export const plantCredentials = async (garden: Garden, ask: Ask, host: string): Promise<void> => {
  for (const type of TYPES) {
    const core = garden.plant(`vault ${type}`);
    const value = shapes[type]?.(core) ?? core;
    const lent = { allowedTools: ['http.request'], allowedHosts: [host] };
    await right(ask('POST', '/api/vault', { name: type, type, value, ...lent }));
  }
};

/** New values for a credential, given and made; what was before stays in its overlap. */
export const rotateCredential = async (garden: Garden, ask: Ask, name: string): Promise<void> => {
  const { credentials } = await right(ask('GET', '/api/vault?limit=200'));
  const { id } = credentials.find((one: { name: string }) => one.name === name);
  const value = garden.plant('vault rotation, given');
  await right(ask('POST', `/api/vault/${id}/rotate`, { value }));
  const made = await right(ask('POST', `/api/vault/${id}/rotate`, { generate: true }));
  garden.made('vault rotation, made', made.value);
};

/** Hooks with a secret each; the secret of one is rotated, that of another lies in the vault. */
export const plantHooks = async (
  garden: Garden,
  ask: Ask,
  hooks: { name: string; action: string; actionConfig: object }[],
): Promise<Map<string, string>> => {
  const secrets = new Map<string, string>();
  for (const hook of hooks) {
    const webhookSecret = garden.plant(`hook secret of ${hook.name}`);
    secrets.set(hook.name, webhookSecret);
    const triggerConfig = { webhookPath: hook.name, webhookSecret };
    const { id } = await right(
      ask('POST', '/api/hooks', { ...hook, trigger: 'webhook', triggerConfig }),
    );
    if (hook.name !== 'tell') continue;
    const rotated = await right(ask('POST', `/api/hooks/${id}/rotate-secret`, {}));
    garden.made('hook secret, rotated', rotated.secret);
  }
  for (const [path, value] of await plantedInVault(garden, ask)) secrets.set(path, value);
  return secrets;
};

/** A hook that verifies with a vault entry, before and after a rotation that overlaps. */
const plantedInVault = async (garden: Garden, ask: Ask): Promise<[string, string][]> => {
  const value = garden.plant('vault entry of a hook');
  const { id } = await right(ask('POST', '/api/vault', { name: 'of-hook', value }));
  const newer = garden.plant('vault entry of a hook, rotated');
  await right(
    ask('POST', '/api/hooks', {
      ...{ name: 'of the vault', trigger: 'webhook', action: 'notify' },
      triggerConfig: { webhookPath: 'of-vault', webhookCredentialId: id },
      actionConfig: { notifyMessage: '{{webhook.headers}} {{webhook.body}}' },
    }),
  );
  await right(ask('POST', `/api/vault/${id}/rotate`, { value: newer }));
  return [['of-vault', value]];
};

/** The keys of models and servers of tools, which an admin gives. */
export const plantModels = async (garden: Garden, ask: Ask, baseUrl: string): Promise<void> => {
  const spec = { provider: 'openai-compatible', modelId: 'one', baseUrl };
  await right(
    ask('POST', '/api/models', { ...spec, name: 'keyed', apiKey: garden.plant('model key') }),
  );
  const value = garden.plant('vault entry of a model');
  const { id } = await right(ask('POST', '/api/vault', { name: 'of-model', value }));
  await right(ask('POST', '/api/models', { ...spec, name: 'lent', credentialId: id }));
  const env = { TOKEN: garden.plant('environment of an MCP server') };
  await ask('POST', '/api/skills/mcp', { name: 'piped', command: 'false', args: [], env });
  const headers = { authorization: `Bearer ${garden.plant('header of an MCP server')}` };
  await right(ask('POST', '/api/skills/mcp', { name: 'far', url: 'http://127.0.0.1:9/', headers }));
};

/** Outgoing webhooks: secrets given, rotated, and of the vault; and a channel that is an address. */
export const plantWebhooks = async (garden: Garden, ask: Ask, url: string): Promise<void> => {
  const secret = (door: string) => {
    const bytes = randomBytes(32);
    garden.canaries.push({ door: `${door}, its bytes`, core: bytes });
    return garden.made(door, `whsec_${bytes.toString('base64')}`);
  };
  const hook = { name: 'out', url, events: ['*'], secret: secret('outgoing webhook') };
  const { id } = await right(ask('POST', '/api/webhooks', hook));
  await right(
    ask('POST', `/api/webhooks/${id}/rotate-secret`, { secret: secret('outgoing, rotated') }),
  );
  const value = secret('vault webhook_secret');
  const credential = await right(
    ask('POST', '/api/vault', { name: 'signs', type: 'webhook_secret', value }),
  );
  const { secret: _, ...rest } = hook;
  await right(ask('POST', '/api/webhooks', { ...rest, name: 'two', credentialId: credential.id }));
  const channel = await right(ask('POST', '/api/channels', { kind: 'webhook', url }));
  garden.made('channel that is an address', channel.secret);
};

/** Every secret of every chat platform; resolves to how many there were. */
export const plantPlatforms = async (
  garden: Garden,
  ask: Ask,
  baseUrl: string,
): Promise<number> => {
  const { platforms }: { platforms: PlatformReply[] } = await right(
    ask('GET', '/api/admin/platforms'),
  );
  let planted = 0;
  for (const { kind, fields } of platforms) {
    for (const { name, isSecret } of fields) {
      if (!isSecret) continue;
      const core = garden.plant(`${kind} ${name}`);
      const body = { baseUrl, fields: { [name]: core.padEnd(40, '0') } };
      const { status } = await ask('PUT', `/api/admin/platforms/${kind}`, body);
      if (status === 200) planted++;
    }
  }
  return planted;
};

/** Of a token: the rest of it is no secret. */
export const signatureOf = (token: string): string => token.split('.').at(-1) ?? token;

/** What an account proves itself with, as far as the daemon makes it. */
export const plantAccount = async (garden: Garden, ask: Ask): Promise<string> => {
  const setup = await right(ask('POST', '/api/auth/totp/setup', {}));
  garden.made('TOTP secret', setup.secret);
  const token = await right(ask('POST', '/api/auth/tokens', { name: 'a program' }));
  const invite = await right(ask('POST', '/api/admin/users/new/invite', {}));
  garden.made('invite', invite.inviteToken);
  garden.made('personal access token', signatureOf(token.token));
  return token.token;
};
