import { call, type Stage, startStage } from '../agents/stage.js';
import { sign, until } from '../harness/app.js';
import { placeCapability } from '../harness/capability.js';
import { SECRET } from '../harness/hooks.js';
import { says } from '../harness/openai.js';

const SOON_MS = 3 * 24 * 3_600_000;

/** A daemon with content for every screen, logged in as `owner`. */
export const startSample = async (): Promise<Stage> => {
  const stage = await startStage();
  await keepSecrets(stage);
  await makeHooks(stage);
  await runAgents(stage);
  await beReached(stage);
  await knowSomething(stage);
  await haveTasks(stage);
  await haveRuns(stage);
  await make(stage, 'POST', '/api/email/drafts', {
    ...{ to: ['bob@example.org'], subject: 'The report', text: 'It is nearly done.' },
  });
  await placeCapability(stage.home, 'house');
  return stage;
};

/** Expects 200 or 201, else throws with the reply. */
const make = async (stage: Stage, method: string, path: string, body: unknown) => {
  const reply = await stage.ask(method, path, body);
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.text}`);
  return reply.body;
};

const keepSecrets = async (stage: Stage): Promise<void> => {
  const expiresAt = new Date(Date.now() + SOON_MS).toISOString();
  for (const body of [
    { name: 'github-pat', type: 'api_key', value: 'sample', expiresAt },
    { name: 'openai', type: 'api_key', value: 'sample' },
    { name: 'smtp', type: 'password', value: 'sample' },
  ]) {
    await make(stage, 'POST', '/api/vault', body);
  }
};

const makeHooks = async (stage: Stage): Promise<void> => {
  const hook = (name: string, path: string, more: object) =>
    make(stage, 'POST', '/api/hooks', {
      name,
      trigger: 'webhook',
      triggerConfig: { webhookPath: path, webhookSecret: SECRET },
      ...more,
    });
  await hook('deploy-notify', 'deploy', {
    action: 'notify',
    actionConfig: { notifyMessage: 'Deployed {{webhook.body.ref}}' },
  });
  await hook('github-issues', 'issues', {
    action: 'spawn_agent',
    actionConfig: {
      agentPrompt: 'Triage the issue below. Ask before you run anything.',
    },
    conditions: [{ field: 'webhook.body.action', operator: 'equals', value: 'opened' }],
  });
  const { id } = await hook('stripe-refunds', 'stripe', {
    action: 'notify',
    actionConfig: { notifyMessage: 'Refunded' },
  });
  await make(stage, 'POST', `/api/hooks/${id}/disable`, {});
};

const deliver = async (stage: Stage, path: string, event: string, body: object) => {
  const text = JSON.stringify(body);
  const headers = { 'x-hub-signature-256': sign(SECRET, text), 'x-github-event': event };
  const reply = await stage.call('POST', `/api/webhooks/${path}`, { body: text, headers });
  if (reply.status !== 202) throw new Error(reply.text);
};

/** One completed agent, and one that waits for an approval. */
const runAgents = async (stage: Stage): Promise<void> => {
  await deliver(stage, 'deploy', 'push', { ref: 'main' });
  stage.model.script(says({ text: 'Duplicate of 398: labelled it, asked for the log.' }));
  const done = await stage.spawn({ name: 'reviewer', prompt: 'Look through the open issues' });
  await stage.reaches(done.id, 'completed');
  stage.model.script(
    says({
      text: 'Two similar issues, both closed by 1.4.2. I want to run the test of the login loop.',
      toolCalls: [call('shell_run', { argv: ['npm', 'test', '--', 'login'] })],
    }),
  );
  await deliver(stage, 'issues', 'issues', { action: 'opened', title: 'Login loops' });
  await until(
    async () => (await stage.ask('GET', '/api/chat/approvals')).body.approvals.length,
    (count) => count === 1,
  );
  await deliver(stage, 'issues', 'issues', { action: 'edited', title: 'Login loops' });
  await until(
    async () => (await stage.ask('GET', '/api/overview')).body.queue,
    ({ waiting }) => waiting === 0,
  );
};

/** A task without a due date, which the overview does not show, and a subtask. */
const haveTasks = async (stage: Stage): Promise<void> => {
  const { body } = await stage.ask('POST', '/api/tasks', {
    ...{ title: 'Renew the certificate', notes: 'The one of argon.', tags: ['servers'] },
    priority: 2,
  });
  await make(stage, 'POST', '/api/tasks', { title: 'Rotate the key', parentId: body.id });
};

/** A run that waits for approval and input, and a stopped one. */
const haveRuns = async (stage: Stage): Promise<void> => {
  const now = { kind: 'tool', config: { toolId: 'time', toolAction: 'now' } };
  const { id: templateId } = await make(stage, 'POST', '/api/pipelines/templates', {
    name: 'Release',
    stages: [
      { key: 'changes', ...now },
      { key: 'draft', ...now, needs: ['changes'] },
      {
        ...{ key: 'approve', name: 'Publish', kind: 'approval', needs: ['draft'] },
        config: { message: 'Publish version 2.1?\n\nSearch is faster, and logins no longer loop.' },
      },
      {
        ...{ key: 'title', kind: 'input', needs: ['changes'] },
        config: {
          message: 'What is it called?',
          fields: [{ key: 'title', label: 'Title', type: 'string', required: true }],
        },
      },
      { key: 'publish', kind: 'wait', config: { seconds: 0 }, needs: ['approve', 'title'] },
    ],
  });
  const start = (name: string) => make(stage, 'POST', '/api/pipelines', { templateId, name });
  const asking = (id: string) =>
    until(
      async () => (await stage.ask('GET', `/api/pipelines/${id}`)).body.stages,
      (stages) =>
        stages.filter(({ status }: { status: string }) => status.startsWith('waiting')).length ===
        2,
    );
  const { id } = await start('Release 2.0');
  await asking(id);
  await make(stage, 'POST', `/api/pipelines/${id}/stop`, {});
  await asking((await start('Release 2.1')).id);
};

/** Two indexed notes. */
const knowSomething = async (stage: Stage): Promise<void> => {
  for (const body of [
    { text: 'The staging server is argon.\nDeployments go there first, on Fridays.' },
    { title: 'Invoices', text: 'Grace looks after the invoices.', tags: ['finance'] },
  ]) {
    await make(stage, 'POST', '/api/knowledge', body);
    await until(
      async () => (await stage.ask('GET', '/api/operations')).body.operations,
      (all) => all.every(({ status }: { status: string }) => status === 'completed'),
    );
  }
};

/** Behind a local proxy, through which the daemon reaches itself. */
const beReached = async (stage: Stage): Promise<void> => {
  await make(stage, 'PUT', '/api/tunnel', { provider: 'proxy', publicUrl: stage.url });
  await make(stage, 'POST', '/api/tunnel/start', {});
  await make(stage, 'POST', '/api/tunnel/check', {});
};
