import { type TestApp, until } from '../harness/app.js';
import { askApproval } from '../harness/approval.js';
import { linkChannel } from '../harness/channel.js';
import { seedEntry } from '../harness/entry.js';
import { seedFolder } from '../harness/folder.js';
import { seedGrant } from '../harness/grant.js';
import { seedMail, seedMailAccount, seedSentMail } from '../harness/mail/account.js';
import { seedLostReply } from '../harness/messages.js';
import { seedOperation } from '../harness/operation.js';
import { seedPasskey } from '../harness/passkey.js';
import { provision } from '../harness/scim.js';
import { silentWav } from '../harness/speech.js';
import { seedRun, seedTemplate } from '../harness/template.js';
import { makeToken } from '../harness/token.js';
import { upload } from '../harness/upload.js';
import { seedWebhook } from '../harness/webhook.js';

/** The ids of one of each kind, by the area whose paths hold them. */
export type Ids = Record<string, Record<string, string>>;

const SECRET = 'open sesame';

export const oneOfEach = async (app: TestApp, token: string): Promise<Ids> => {
  const get = (path: string) => app.call('GET', path, { token });
  const shared = await oneOfShared(app, token);
  const notifications = await until(
    () => get('/api/notifications'),
    ({ body }) => body.notifications.length > 0,
  );
  const me = await get('/api/auth/me');
  return {
    ...shared,
    permissions: await denyTool(app, token),
    notifications: { id: notifications.body.notifications[0].id },
    outbox: { id: notifications.body.notifications[0].id },
    logins: { id: (await get('/api/auth/sessions')).body.sessions[0].id },
    tokens: { id: (await makeToken(app, token)).id },
    passkeys: { id: await seedPasskey(app, me.body.id) },
    channels: { id: (await linkChannel(app, me.body.id)).id },
    ...(await seedOrg(app, token)),
    sso: await addDomain(app, token),
    mailaccounts: { id: (await seedMailAccount(app, token)).id },
    sentmail: { id: await keptSentMail(app, token) },
    maildrafts: { id: await keepDraft(app, token) },
    mail: await keptMail(app, token),
    voice: { id: await keepTranscription(app, token) },
  };
};

/**
 * One of each kind that may belong to an organization: a hook that was fired, its execution, the
 * agent and conversation that came of it, and others.
 */
export const oneOfShared = async (app: TestApp, token: string): Promise<Ids> => {
  const hook = await newHook(app, token, 'theirs');
  await app.call('POST', `/api/hooks/incoming/${hook}`, {
    headers: { 'x-webhook-secret': SECRET },
    body: { text: 'private' },
  });
  const get = (path: string) => app.call('GET', path, { token });
  const executions = await until(
    () => get(`/api/hooks/${hook}/executions`),
    ({ body }) => body.executions[0]?.status === 'success',
  );
  const { agentId, id: executionId } = executions.body.executions[0];
  const { sessionId } = (await get(`/api/agents/${agentId}`)).body;
  const me = await get('/api/auth/me');
  return {
    hooks: {
      id: hook,
      executionId,
      replyId: await seedLostReply(app, { hookId: hook, executionId }),
    },
    executions: { id: executionId },
    agents: { id: agentId },
    chat: { agentId },
    approvals: { id: await askApproval(app, me.body.id) },
    grants: { id: await seedGrant(app, me.body.id) },
    sessions: { id: sessionId },
    vault: { id: await storeCredential(app, token) },
    webhooks: await seedWebhook(app, token),
    operations: { id: await seedOperation(app, me.body.id) },
    folders: { id: await seedFolder(app, me.body.id) },
    ...(await libraryOf(app, token)),
  };
};

/** An organization with an invite, and a user and a group of its identity provider. */
const seedOrg = async (app: TestApp, token: string): Promise<Ids> => {
  const { id: userId } = (await app.call('GET', '/api/auth/me', { token })).body;
  const { orgId: id, create, ask } = await provision(app, 'private', { id: userId, token });
  const invite = await app.call('POST', `/api/orgs/${id}/invites`, { token, body: {} });
  const user = await create('private@example.org');
  const group = await ask('POST', '/Groups', { displayName: 'A private group' });
  return {
    orgs: { id, userId, inviteId: invite.body.id },
    audit: { id },
    scim: { id, userId: user.id, groupId: group.body.id },
  };
};

/** An organization with a domain. */
const addDomain = async (app: TestApp, token: string): Promise<Record<string, string>> => {
  const org = { slug: 'private-sso', name: 'A private organization' };
  const { id } = (await app.call('POST', '/api/orgs', { token, body: org })).body;
  const body = { domain: 'private-domain.example' };
  await app.call('POST', `/api/orgs/${id}/domains`, { token, body });
  return { id, domain: body.domain };
};

/** A recurring task; resolves to its id. */
const keepRecurring = async (app: TestApp, token: string): Promise<string> => {
  const actionConfig = { notifyMessage: 'A private text' };
  const body = {
    title: 'private',
    schedule: { cron: '0 9 * * 1' },
    action: 'notify',
    actionConfig,
  };
  return (await app.call('POST', '/api/recurring-tasks', { token, body })).body.id;
};

/** An e-mail with a file, and the account whose folders are listed. */
const keptMail = async (app: TestApp, token: string): Promise<Record<string, string>> => {
  const { id: userId } = (await app.call('GET', '/api/auth/me', { token })).body;
  return { id: await seedMail(app, { id: userId, token }), number: '0' };
};

/** A draft of an e-mail; resolves to its id. */
const keepDraft = async (app: TestApp, token: string): Promise<string> => {
  const body = { subject: 'A private subject', text: 'A private text' };
  return (await app.call('POST', '/api/email/drafts', { token, body })).body.id;
};

/** An e-mail that was sent; resolves to its id. */
const keptSentMail = async (app: TestApp, token: string): Promise<string> => {
  const { id: userId } = (await app.call('GET', '/api/auth/me', { token })).body;
  return seedSentMail(app, { id: userId, token });
};

const keepMemory = async (app: TestApp, token: string): Promise<string> => {
  const body = { text: 'A private memory' };
  return (await app.call('POST', '/api/memories', { token, body })).body.id;
};

/** A task on a day; resolves to its id. */
const noteTask = async (app: TestApp, token: string): Promise<string> => {
  const body = { title: 'A private task', due: '2026-01-31', tags: ['private'] };
  return (await app.call('POST', '/api/tasks', { token, body })).body.id;
};

/** An entry, a task, a document, the reading of a page, a question, a template and an expert. */
const libraryOf = async (app: TestApp, token: string): Promise<Ids> => ({
  knowledge: { id: await seedEntry(app, token, 'A private text'), n: '0' },
  tasks: { id: await noteTask(app, token) },
  memories: { id: await keepMemory(app, token) },
  recurring: { id: await keepRecurring(app, token) },
  documents: { id: await keepDocument(app, token), number: '1' },
  reader: { id: await keepReading(app, token) },
  research: { id: await keepResearch(app, token) },
  templates: { id: await seedTemplate(app, token, 'private') },
  experts: { id: await makeExpert(app, token) },
  pipelines: await seedRun(app, token, 'private'),
});

/** The reading of a page that cannot be reached. */
const keepReading = async (app: TestApp, token: string): Promise<string> => {
  const body = { url: 'http://nowhere.invalid/' };
  return (await app.call('POST', '/api/reader/read', { token, body })).body.id;
};

/** A transcription of silence. */
const keepTranscription = async (app: TestApp, token: string): Promise<string> => {
  const body = { audio: silentWav().toString('base64') };
  return (await app.call('POST', '/api/voice/transcribe', { token, body })).body.id;
};

/** A question to knowledge that has no answer. */
const keepResearch = async (app: TestApp, token: string): Promise<string> => {
  const body = { question: 'A private question?', sources: ['knowledge'] };
  const { id } = (await app.call('POST', '/api/research/start', { token, body })).body;
  await until(
    () => app.call('GET', `/api/research/jobs/${id}`, { token }),
    ({ body: job }) => job.status === 'completed',
  );
  return id;
};

/** Uploads a document that is read; resolves to its id. */
const keepDocument = async (app: TestApp, token: string): Promise<string> => {
  const { body } = await upload(app, token, [{ name: 'theirs.txt', content: 'private text' }]);
  const id = body.documents[0]?.id ?? '';
  await until(
    () => app.call('GET', `/api/documents/${id}`, { token }),
    ({ body: document }) => document.status === 'completed',
  );
  return id;
};

const makeExpert = async (app: TestApp, token: string): Promise<string> => {
  const body = { name: 'mine', description: 'Mine', instructions: 'Be mine.' };
  return (await app.call('POST', '/api/experts', { token, body })).body.id;
};

const storeCredential = async (app: TestApp, token: string): Promise<string> => {
  const body = { name: 'theirs', value: 'a value of thirty characters', type: 'webhook_secret' };
  return (await app.call('POST', '/api/vault', { token, body })).body.id;
};

/** Denies a tool. The id of a permission is the name of its tool, which everybody knows. */
const denyTool = async (app: TestApp, token: string): Promise<Record<string, string>> => {
  const named = { skillId: 'http', action: 'request' };
  const body = { ...named, level: 'deny' };
  await app.call('PUT', '/api/skills/permissions', { token, body });
  return named;
};

/** A hook that spawns an agent; resolves to its id. */
export const newHook = async (app: TestApp, token: string, name: string): Promise<string> => {
  const { body } = await app.call('POST', '/api/hooks', {
    token,
    body: {
      name,
      trigger: 'webhook',
      triggerConfig: { webhookPath: name, webhookSecret: SECRET },
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'say it', notifyOwner: true },
    },
  });
  return body.id;
};
