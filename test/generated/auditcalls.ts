import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { generate } from 'otplib';
import { PASSWORD, until } from '../harness/app.js';
import { placeCapability } from '../harness/capability.js';
import { ADA, linkChannel } from '../harness/channel.js';
import { seedGrant } from '../harness/grant.js';
import { inside } from '../harness/inside.js';
import { seedMailAccount } from '../harness/mail/account.js';
import { seedLostMessage, seedLostReply } from '../harness/messages.js';
import { seedPasskey } from '../harness/passkey.js';
import { seedWebhook } from '../harness/webhook.js';
import type { Kitchen, Recipe, Trial } from './kitchen.js';
import { ORG_RECIPES } from './orgcalls.js';
import { SCIM_RECIPES } from './scimcalls.js';

const SINCE = '2026-01-01T00:00:00.000Z';
const PUSH = '/api/push/subscriptions';
/** The subscription of a browser, of its own for each user. */
const subscriptionOf = (userId: string) => ({
  endpoint: `https://push.example.org/${userId}`,
  keys: {
    p256dh:
      'BLaZz_boeSXcbHly-OQQgNpiCM8Ov6f3GeyH9FtqV5HTjrGNKsaw8dDtRPUYBcsy_r_g1OqEcHYekuIoRkfby_w',
    auth: 'tBHItJI5svbpez7KI4CCXg',
  },
});
const VERIFIER = 'v'.repeat(43);
/** An address that no name server knows. */
const WEBHOOK_CHANNEL = { kind: 'webhook', url: 'https://hooks.invalid/in' };
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

const post = async ({ app }: Kitchen, path: string, token: string | undefined, body: unknown) =>
  (await app.call('POST', path, { token, body })).body;

const totpCode = ({ clock }: Kitchen, secret: string): Promise<string> =>
  generate({ secret, epoch: Math.floor(clock.now() / 1000) });

/** The code with which it was enabled. */
const enableTotp = async (kitchen: Kitchen, token: string): Promise<string> => {
  const { secret } = await post(kitchen, '/api/auth/totp/setup', token, {});
  const code = await totpCode(kitchen, secret);
  await post(kitchen, '/api/auth/totp/enable', token, { code });
  return code;
};

/** A right call of every audited endpoint that needs more than the admin's token. */
export const RECIPES: Record<string, Recipe> = {
  ...ORG_RECIPES,
  ...SCIM_RECIPES,
  'POST /api/auth/register': async () => ({
    token: null,
    body: { username: `newcomer-${++newcomers}`, password: PASSWORD },
  }),
  'POST /api/auth/login': async ({ guest }) => {
    const { username } = await guest();
    return { token: null, body: { username, password: PASSWORD } };
  },
  'POST /api/auth/password': async ({ guest }) => {
    const { token } = await guest();
    return { token, body: { current: PASSWORD, next: 'another good password' } };
  },
  'POST /api/auth/totp/enable': async (kitchen) => {
    const { token } = await kitchen.guest();
    const { secret } = await post(kitchen, '/api/auth/totp/setup', token, {});
    return { token, body: { code: await totpCode(kitchen, secret) } };
  },
  'POST /api/auth/totp/disable': async (kitchen) => {
    const { token } = await kitchen.guest();
    return { token, body: { code: await enableTotp(kitchen, token) } };
  },
  'POST /api/auth/totp/recovery-codes': async (kitchen) => {
    const { token } = await kitchen.guest();
    await enableTotp(kitchen, token);
    return { token, body: {} };
  },
  'POST /api/auth/passkey/register': async ({ guest }) => ({
    token: (await guest()).token,
    body: {},
  }),
  'DELETE /api/auth/passkeys/{id}': async ({ app, guest }) => {
    const { id, token } = await guest();
    return { token, path: { id: await seedPasskey(app, id) } };
  },
  'POST /api/auth/passkey/grant': async ({ guest }) => ({
    token: (await guest()).token,
    body: { challenge: CHALLENGE },
  }),
  'POST /api/auth/passkey/redeem': async (kitchen) => {
    const { token } = await kitchen.guest();
    const { code } = await post(kitchen, '/api/auth/passkey/grant', token, {
      challenge: CHALLENGE,
    });
    return { token: null, body: { code, verifier: VERIFIER } };
  },
  'DELETE /api/auth/sessions/{id}': async (kitchen) => {
    const { username, token } = await kitchen.guest();
    await post(kitchen, '/api/auth/login', undefined, { username, password: PASSWORD });
    const { body } = await kitchen.app.call('GET', '/api/auth/sessions', { token });
    const other = body.sessions.find(({ current }: { current: boolean }) => !current);
    return { token, path: { id: other.id } };
  },
  'POST /api/auth/tokens': async ({ guest }) => ({
    token: (await guest()).token,
    body: { name: 'a program' },
  }),
  'DELETE /api/auth/tokens/{id}': async (kitchen) => {
    const { token } = await kitchen.guest();
    const { id } = await post(kitchen, '/api/auth/tokens', token, { name: 'a program' });
    return { token, path: { id } };
  },
  'POST /api/channels/codes': async ({ guest }) => ({ token: (await guest()).token }),
  'POST /api/auth/link': async ({ app, guest }) => {
    const { id, token } = await guest();
    const { code } = await inside(app.app).links.makeCode({ ...ADA, id });
    return { token, body: { code } };
  },
  'POST /api/channels': async ({ guest }) => ({
    token: (await guest()).token,
    body: WEBHOOK_CHANNEL,
  }),
  'POST /api/channels/{id}/verify': async (kitchen) => {
    const { id: userId, token } = await kitchen.guest();
    const { channel } = await post(kitchen, '/api/channels', token, WEBHOOK_CHANNEL);
    const { content } = await kitchen.app.app.store.db
      .selectFrom('sendings')
      .select('content')
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
    return { token, path: { id: channel.id }, body: { code: JSON.parse(content).code } };
  },
  'PUT /api/admin/platforms/{kind}': async () => ({
    path: { kind: 'slack' },
    body: { values: { botToken: 'xoxb-1' } },
  }),
  'DELETE /api/admin/platforms/{kind}': async ({ app, admin: { token } }) => {
    const body = { baseUrl: null };
    await app.call('PUT', '/api/admin/platforms/teams', { token, body });
    return { path: { kind: 'teams' } };
  },
  'POST /api/admin/platforms/{kind}/test': async () => ({ path: { kind: 'telegram' } }),
  'POST /api/admin/platforms/{kind}/install': async () => ({ path: { kind: 'telegram' } }),
  'POST /api/push/subscriptions': async ({ guest }) => {
    const { id, token } = await guest();
    return { token, body: subscriptionOf(id) };
  },
  'DELETE /api/push/subscriptions/{id}': async (kitchen) => {
    const { id: userId, token } = await kitchen.guest();
    const { id } = await post(kitchen, PUSH, token, subscriptionOf(userId));
    return { token, path: { id } };
  },
  'DELETE /api/channels/{id}': async ({ app, guest }) => {
    const { id, token } = await guest();
    return { token, path: { id: (await linkChannel(app, id, { ...ADA, id })).id } };
  },
  'POST /api/admin/outbox/{id}/resend': async ({ app, guest }) => {
    const { id } = await guest();
    const { id: channel } = await linkChannel(app, id, { ...ADA, id });
    return { path: { id: await seedLostMessage(app, { userId: id, channel }) } };
  },
  'POST /api/hooks/{id}/rotate-secret': async (kitchen) => {
    const { token } = await kitchen.guest();
    const { id } = await post(kitchen, '/api/hooks', token, {
      name: 'in',
      trigger: 'webhook',
      triggerConfig: { webhookPath: 'in' },
      action: 'notify',
      actionConfig: { notifyMessage: 'It came' },
    });
    return { token, path: { id }, body: {} };
  },
  'POST /api/hooks/{id}/replies/{replyId}/resend': async (kitchen) => {
    const { token } = await kitchen.guest();
    const { id } = await post(kitchen, '/api/hooks', token, {
      ...{ name: 'in', trigger: 'webhook', triggerConfig: { webhookPath: 'in' } },
      ...{ action: 'spawn_agent', actionConfig: { agentPrompt: 'x' } },
    });
    const ran = await post(kitchen, `/api/hooks/${id}/test`, token, { payload: {} });
    const replyId = await seedLostReply(kitchen.app, { hookId: id, executionId: ran.id });
    return { token, path: { id, replyId } };
  },
  'POST /api/email/process': async ({ guest }) => ({
    token: (await guest()).token,
    body: { folder: 'INBOX' },
  }),
  'POST /api/email/send': async (kitchen) => {
    const { token } = kitchen.admin;
    const { id: accountId } = await seedMailAccount(kitchen.app, token);
    const letter = { to: ['bob@mail.invalid'], subject: 'Hi', text: 'Hello' };
    return { token, body: { accountId, ...letter } };
  },
  'POST /api/email/sent/{id}/cancel': async (kitchen) => {
    const { token } = kitchen.admin;
    const { id: accountId } = await seedMailAccount(kitchen.app, token);
    const letter = { to: ['bob@mail.invalid'], subject: 'Hi', text: 'Hello' };
    const { id } = await post(kitchen, '/api/email/send', token, { accountId, ...letter });
    return { token, path: { id } };
  },
  'POST /api/email/drafts': async ({ guest }) => ({
    token: (await guest()).token,
    body: { subject: 'Half' },
  }),
  'PATCH /api/email/drafts/{id}': async (kitchen) => ({
    ...(await mailDraft(kitchen)),
    body: { text: 'More' },
  }),
  'DELETE /api/email/drafts/{id}': (kitchen) => mailDraft(kitchen),
  'POST /api/email/drafts/{id}/send': async (kitchen) => {
    const { token } = kitchen.admin;
    const { id: accountId } = await seedMailAccount(kitchen.app, token);
    const body = { accountId, to: ['bob@mail.invalid'], subject: 'Hi', text: 'Hello' };
    const { id } = await post(kitchen, '/api/email/drafts', token, body);
    return { token, path: { id } };
  },
  'POST /api/email/accounts': async (kitchen) => {
    const { token } = await kitchen.guest();
    const { credentialId, imap, smtp } = await seedMailAccount(kitchen.app, token);
    return { token, body: { address: 'other@mail.invalid', credentialId, imap, smtp } };
  },
  'PATCH /api/email/accounts/{id}': async (kitchen) => ({
    ...(await mailAccount(kitchen)),
    body: { name: 'Ada' },
  }),
  'DELETE /api/email/accounts/{id}': (kitchen) => mailAccount(kitchen),
  'POST /api/vault': async ({ guest }) => ({
    token: (await guest()).token,
    body: { name: `github-${++credentials}`, value: 'a value' },
  }),
  'PATCH /api/vault/{id}': async (kitchen) => ({
    ...(await storeCredential(kitchen)),
    body: { description: 'for issues' },
  }),
  'DELETE /api/vault/{id}': (kitchen) => storeCredential(kitchen),
  'POST /api/vault/{id}/rotate': async (kitchen) => ({
    ...(await storeCredential(kitchen)),
    body: { generate: true },
  }),
  'POST /api/vault/{id}/restore': async (kitchen) => {
    const trial = await storeCredential(kitchen);
    const path = `/api/vault/${trial.path?.id}/rotate`;
    await post(kitchen, path, trial.token ?? '', { generate: true });
    return { ...trial, body: {} };
  },
  'POST /api/vault/{id}/reveal': async (kitchen) => ({
    ...(await storeCredential(kitchen)),
    body: { password: PASSWORD },
  }),
  'POST /api/hooks/executions/replay': async ({ guest }) => ({
    token: (await guest()).token,
    body: { since: SINCE },
  }),
  'POST /api/webhooks/deliveries/resend': async ({ guest }) => ({
    token: (await guest()).token,
    body: { since: SINCE },
  }),
  'POST /api/admin/outbox/resend': async () => ({ body: { since: SINCE } }),
  'POST /api/webhooks': async ({ guest }) => ({
    token: (await guest()).token,
    body: { name: 'app', url: 'https://app.example.org/', events: ['*'] },
  }),
  'PATCH /api/webhooks/{id}': async (kitchen) => ({
    ...(await makeWebhook(kitchen)),
    body: { name: 'other' },
  }),
  'DELETE /api/webhooks/{id}': (kitchen) => makeWebhook(kitchen),
  'POST /api/webhooks/{id}/rotate-secret': async (kitchen) => ({
    ...(await makeWebhook(kitchen)),
    body: {},
  }),
  'POST /api/admin/backups': async (kitchen) => {
    await backupsEnded(kitchen);
    return { body: { passphrase: PASSPHRASE } };
  },
  'POST /api/admin/backups/verify': async (kitchen) => ({
    body: { id: await makeBackup(kitchen), passphrase: PASSPHRASE },
  }),
  'GET /api/admin/backups/{id}': async (kitchen) => ({ path: { id: await makeBackup(kitchen) } }),
  'PATCH /api/admin/users/{id}': async ({ guest }) => ({
    path: { id: (await guest()).id },
    body: { limits: { dailyCostUsd: 3 } },
  }),
  'POST /api/admin/users/{id}/invite': async ({ guest }) => ({
    path: { id: (await guest()).id },
    body: {},
  }),
  'POST /api/admin/users/{id}/impersonate': async ({ guest }) => ({
    path: { id: (await guest()).id },
    body: { reason: 'to see what they see' },
  }),
  'DELETE /api/admin/users/{id}/totp': async (kitchen) => {
    const { id, token } = await kitchen.guest();
    await enableTotp(kitchen, token);
    return { path: { id }, body: { reason: 'the phone was lost' } };
  },
  'GET /api/admin/users/{id}/passkeys': async ({ guest }) => ({
    path: { id: (await guest()).id },
  }),
  'DELETE /api/admin/users/{id}/passkeys/{passkeyId}': async ({ app, guest }) => {
    const { id } = await guest();
    const passkeyId = await seedPasskey(app, id);
    return { path: { id, passkeyId }, body: { reason: 'the phone was lost' } };
  },
  'POST /api/auth/reset': async (kitchen) => {
    const { id } = await kitchen.guest();
    const path = `/api/admin/users/${id}/invite`;
    const { inviteToken } = await post(kitchen, path, kitchen.admin.token, {});
    return { token: null, body: { inviteToken, password: 'another good password' } };
  },
  'POST /api/models': async () => ({ body: newModel() }),
  'PATCH /api/models/{name}': async (kitchen) => ({
    path: { name: await addModel(kitchen) },
    body: { modelId: 'newer' },
  }),
  'DELETE /api/models/{name}': async (kitchen) => ({ path: { name: await addModel(kitchen) } }),
  'POST /api/models/{name}/default': async (kitchen) => ({
    path: { name: await addModel(kitchen) },
  }),
  'POST /api/models/{name}/test': async () => ({ path: { name: 'digest' } }),
  'POST /api/capabilities/install': async () => ({
    body: { id: `tesseract:${LANGUAGES[capabilities++ % LANGUAGES.length]}` },
  }),
  'POST /api/capabilities/measure': async (kitchen) => ({
    body: { model: await addModel(kitchen, 'ollama') },
  }),
  'DELETE /api/capabilities/{slug}': async ({ app }) => ({
    path: { slug: await placeCapability(app.home, `thing-${++capabilities}`) },
  }),
  'POST /api/models/test': async () => {
    const { name: _, ...model } = newModel();
    return { body: model };
  },
  'PUT /api/models/routing': async (kitchen) => ({
    body: { topics: [{ topic: 'code', primary: await addModel(kitchen) }] },
  }),
  'POST /api/tasks/feed': async ({ guest }) => ({ token: (await guest()).token }),
  'DELETE /api/tasks/feed': async (kitchen) => {
    const { token } = await kitchen.guest();
    await post(kitchen, '/api/tasks/feed', token, undefined);
    return { token };
  },
  'PUT /api/notifications/preferences': async ({ guest }) => ({
    token: (await guest()).token,
    body: { digest: { enabled: true } },
  }),
  'PUT /api/skills/permissions': async ({ guest }) => ({
    token: (await guest()).token,
    body: ASKING,
  }),
  'DELETE /api/skills/permissions/{skillId}/{action}': async (kitchen) => {
    const { token } = await kitchen.guest();
    await kitchen.app.call('PUT', '/api/skills/permissions', { token, body: ASKING });
    return { token, path: ASKING };
  },
  'PUT /api/tunnel': async () => ({ body: PROXY }),
  'POST /api/tunnel/start': (kitchen) => setUpTunnel(kitchen),
  'POST /api/tunnel/stop': (kitchen) => setUpTunnel(kitchen),
  'DELETE /api/tunnel/address': (kitchen) => setUpTunnel(kitchen),
  'POST /api/tunnel/check': (kitchen) => setUpTunnel(kitchen),
  'DELETE /api/skills/grants/{id}': async ({ app, admin }) => ({
    path: { id: await seedGrant(app, admin.id) },
  }),
  'POST /api/chat/approve': async (kitchen) => {
    const { token } = await kitchen.guest();
    await kitchen.app.call('PUT', '/api/skills/permissions', { token, body: ASKING });
    const call = '/api/skills/time/tools/now/execute';
    const { approval } = await post(kitchen, call, token, { arguments: {} });
    return { token, body: { approvalId: approval.id, approved: true } };
  },
  'POST /api/pipelines/{id}/stages/{key}/approve': (kitchen) => waitInStage(kitchen, 'approval'),
  'POST /api/pipelines/{id}/stages/{key}/reject': (kitchen) => waitInStage(kitchen, 'approval'),
  'POST /api/pipelines/{id}/stages/{key}/input': (kitchen) => waitInStage(kitchen, 'input'),
};

/** Starts a run whose only stage asks, and answers that. */
const waitInStage = async (kitchen: Kitchen, kind: 'approval' | 'input'): Promise<Trial> => {
  const { token } = await kitchen.guest();
  const asked = { key: 'a', label: 'A', type: 'string' };
  const config = { message: 'Now?', ...(kind === 'input' && { fields: [asked] }) };
  const stages = [{ key: 'ask', kind, config }];
  const template = await post(kitchen, '/api/pipelines/templates', token, { name: 'T', stages });
  const run = await post(kitchen, '/api/pipelines', token, { templateId: template.id });
  const [{ digest }] = run.stages;
  const body = { digest, ...(kind === 'input' && { values: { a: 'x' } }) };
  return { token, path: { id: run.id, key: 'ask' }, body };
};

/** A draft of somebody new. */
const mailDraft = async (kitchen: Kitchen): Promise<Trial> => {
  const { token } = await kitchen.guest();
  const { id } = await post(kitchen, '/api/email/drafts', token, { subject: 'Half' });
  return { token, path: { id } };
};

/** A mail account of somebody new. */
const mailAccount = async ({ app, guest }: Kitchen): Promise<Trial> => {
  const { token } = await guest();
  return { token, path: { id: (await seedMailAccount(app, token)).id } };
};

const storeCredential = async (kitchen: Kitchen): Promise<Trial> => {
  const { token } = await kitchen.guest();
  const { id } = await post(kitchen, '/api/vault', token, { name: 'github', value: 'a value' });
  return { token, path: { id } };
};

const makeWebhook = async ({ app, guest }: Kitchen): Promise<Trial> => {
  const { token } = await guest();
  return { token, path: { id: (await seedWebhook(app, token)).id } };
};

const PASSPHRASE = 'a passphrase for keys';

const backupsEnded = async ({ app, admin }: Kitchen): Promise<void> => {
  const path = '/api/admin/backups?limit=1';
  const newest = async () => (await app.call('GET', path, { token: admin.token })).body.backups[0];
  await until(newest, (backup) => backup?.status !== 'running');
};

const makeBackup = async (kitchen: Kitchen): Promise<string> => {
  await backupsEnded(kitchen);
  const body = { passphrase: PASSPHRASE, folder: join(kitchen.app.home, `backups-${++backups}`) };
  const { id } = await post(kitchen, '/api/admin/backups', kitchen.admin.token, body);
  await backupsEnded(kitchen);
  return id;
};

/** Nothing answers there. */
const PROXY = { provider: 'proxy', publicUrl: 'http://127.0.0.1:9' };
const setUpTunnel = async ({ app, admin }: Kitchen): Promise<Trial> => {
  await app.call('PUT', '/api/tunnel', { token: admin.token, body: PROXY });
  return {};
};

const ASKING = { skillId: 'time', action: 'now', level: 'ask' };

let newcomers = 0;
/** Languages of Tesseract that do not come with the daemon. */
const LANGUAGES = ['ita', 'pol', 'por', 'swe', 'fin', 'ell', 'hun', 'nld', 'ces', 'dan'];
let capabilities = 0;
let models = 0;
let credentials = 0;
let backups = 0;
const newModel = (provider = 'openai-compatible') => ({
  name: `model-${++models}`,
  provider,
  modelId: 'one',
  baseUrl: 'http://127.0.0.1:9/v1',
});

const addModel = async (kitchen: Kitchen, provider?: string): Promise<string> =>
  (await post(kitchen, '/api/models', kitchen.admin.token, newModel(provider))).name;
