import { type PagePlace, pageLink } from '../../src/kernel/pagepath.js';
import { call } from '../agents/stage.js';
import { type Reply, sign, until } from '../harness/app.js';
import { askApproval } from '../harness/approval.js';
import { notice, SECRET } from '../harness/hooks.js';
import { says } from '../harness/openai.js';
import { waitingOperation } from '../harness/operation.js';
import { openMailbox } from './mailbox.js';
import type { TalkStage } from './talk.js';

/** Address of a view, and a text that it shows once loaded. */
export interface Visit {
  path: string;
  shows: string;
}

/** Texts that take the most room: one without a space, and one with many lines. */
const UNBROKEN = `https://files.example.org/${'a1b2c3d4'.repeat(40)}`;
const LINES = 'One of many lines, each as long as a sentence is.\n'.repeat(12);

/**
 * Creates data for every place of the page. Resolves to a visit of each. The compiler refuses a new
 * place without one.
 */
export const fillPage = async (stage: TalkStage): Promise<Record<PagePlace, Visit>> => {
  const approvalId = await askApproval(stage.app, stage.userId, {
    url: `${stage.canary.url}?${UNBROKEN}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ environment: 'production', note: LINES }),
  });
  const chatId = await talk(stage);
  const agentId = await work(stage);
  const executionId = await deliver(stage);
  const operationId = await waitingOperation(stage.app, stage.userId);
  const sourceId = await index(stage);
  const taskId = await note(stage);
  const runId = await start(stage);
  return {
    home: { path: pageLink('home'), shows: 'Renew the certificate' },
    login: { path: pageLink('login'), shows: 'Log in with a passkey' },
    approvals: { path: pageLink('approvals'), shows: 'http: request' },
    approval: { path: pageLink('approval', approvalId), shows: 'environment' },
    chats: { path: pageLink('chats'), shows: 'Compare the releases' },
    chat: { path: pageLink('chat', chatId), shows: 'Nothing else differs.' },
    agents: { path: pageLink('agents'), shows: 'watch the releases' },
    agent: { path: pageLink('agent', agentId), shows: 'All is well.' },
    executions: { path: pageLink('executions'), shows: 'deploys' },
    execution: { path: pageLink('execution', executionId), shows: 'v1.4.2' },
    notifications: { path: pageLink('notifications'), shows: 'Deployed v1.4.2' },
    operations: { path: pageLink('operations'), shows: '1 of 2 steps' },
    operation: { path: pageLink('operation', operationId), shows: '1 of 2 steps' },
    knowledge: { path: `${pageLink('knowledge')}?q=krypton`, shows: 'krypton' },
    source: { path: pageLink('source', sourceId), shows: 'The spare is krypton' },
    tasks: { path: pageLink('tasks'), shows: 'Write to https' },
    task: { path: pageLink('task', taskId), shows: 'Ask the registrar first.' },
    pipelines: { path: pageLink('pipelines'), shows: 'release of the week' },
    run: { path: pageLink('run', runId), shows: 'Shall it go out?' },
    ...(await fillRecurring(stage)),
    ...(await fillMail(stage)),
    ...(await fillMemories(stage)),
    more: { path: pageLink('more'), shows: 'Knowledge' },
    device: { path: pageLink('device'), shows: 'current' },
  };
};

const made = async ({ ask }: TalkStage, path: string, body: object): Promise<Reply['body']> => {
  const reply = await ask('POST', path, body);
  if (reply.status >= 400) throw new Error(`${path}: ${reply.text}`);
  return reply.body;
};

const fillMail = async (stage: TalkStage) => {
  await made(stage, '/api/vault', { name: 'box', type: 'password', value: 'sample' });
  const mailbox = await openMailbox(stage.app, stage.userId);
  const id = await mailbox.message(`Minutes ${UNBROKEN}`, `All agreed. ${UNBROKEN}`);
  await made(stage, '/api/email/drafts', {
    ...{ to: ['bob@example.org'], subject: 'Agenda', text: `${UNBROKEN}\n${LINES}` },
  });
  return {
    mail: { path: `${pageLink('mail')}?show=drafts`, shows: 'Agenda' },
    message: { path: pageLink('message', id), shows: 'All agreed.' },
  };
};

/** A conversation with a call and a long answer. Resolves to its id. */
const talk = async (stage: TalkStage): Promise<string> => {
  stage.model.script(
    says({ text: 'I compare them.', toolCalls: [call('time_now', { zone: UNBROKEN })] }),
    says({ text: `${UNBROKEN}\n${LINES}Nothing else differs.` }),
  );
  const message = `Compare the releases at ${UNBROKEN}`;
  return (await made(stage, '/api/chat', { message })).sessionId;
};

/** A completed agent. Resolves to its id. */
const work = async (stage: TalkStage): Promise<string> => {
  stage.model.script(
    says({ text: LINES, toolCalls: [call('time_now', { zone: 'UTC' })] }),
    says({ text: `All is well. ${UNBROKEN}` }),
  );
  const { id } = await stage.spawn({ prompt: 'Look at them', name: 'watch the releases' });
  await stage.reaches(id, 'completed');
  return id;
};

const deliver = async (stage: TalkStage): Promise<string> => {
  const { app, ask } = stage;
  const actionConfig = { notifyMessage: `Deployed {{webhook.body.ref}} ${UNBROKEN}` };
  await made(stage, '/api/hooks', notice({ name: 'deploys', actionConfig }));
  const body = JSON.stringify({ ref: 'v1.4.2', by: 'grace', log: UNBROKEN, notes: LINES });
  const headers = { 'x-hub-signature-256': sign(SECRET, body), 'x-github-event': 'push' };
  const reply = await app.call('POST', '/api/webhooks/issues', { body, headers });
  await until(
    async () => (await ask('GET', '/api/notifications')).body.notifications,
    (all) => all.some(({ kind }: { kind: string }) => kind === 'hook_notice'),
  );
  return reply.body.executions[0];
};

const index = async (stage: TalkStage): Promise<string> => {
  const text = `The spare is krypton. ${UNBROKEN}\n${LINES}`;
  const title = `Servers ${UNBROKEN.slice(0, 200)}`;
  const { id } = await made(stage, '/api/knowledge', { title, text });
  await until(
    async () => (await stage.ask('GET', `/api/knowledge/${id}`)).body.status,
    (status) => status === 'ready',
  );
  return id;
};

/** An overdue task with subtasks. Resolves to its id. */
const note = async (stage: TalkStage): Promise<string> => {
  const { id } = await made(stage, '/api/tasks', {
    title: 'Renew the certificate of staging',
    notes: `Ask the registrar first. ${UNBROKEN}`,
    tags: ['servers', 'staging'],
    priority: 3,
    dueAt: '2026-01-01T09:00:00Z',
  });
  await made(stage, '/api/tasks', { title: `Write to ${UNBROKEN.slice(0, 180)}`, parentId: id });
  return id;
};

/** A run with a stage that waits for approval and one that waits for input. Resolves to its id. */
const start = async (stage: TalkStage): Promise<string> => {
  const fields = [
    { key: 'title', label: 'Title', type: 'string', required: true },
    { key: 'size', label: 'Size', type: 'choice', options: ['small', 'large'] },
  ];
  const stages = [
    { key: 'now', kind: 'tool', config: { toolId: 'time', toolAction: 'now' } },
    { key: 'go', kind: 'approval', config: { message: `Shall it go out? ${UNBROKEN}` } },
    { key: 'form', kind: 'input', config: { message: 'What is it called?', fields } },
  ];
  const name = 'release of the week';
  const { id: templateId } = await made(stage, '/api/pipelines/templates', { name, stages });
  const { id } = await made(stage, '/api/pipelines', { templateId });
  await until(
    async () => (await stage.ask('GET', `/api/pipelines/${id}`)).body.status,
    (status) => status === 'waiting',
  );
  return id;
};

/** A recurring task that has run. */
const fillRecurring = async (stage: TalkStage) => {
  const { id } = await made(stage, '/api/recurring-tasks', {
    title: `weekly report ${UNBROKEN}`,
    schedule: { rrule: 'FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=16;BYMINUTE=0', timezone: 'Asia/Tokyo' },
    action: 'notify',
    actionConfig: { notifyMessage: `${UNBROKEN}\n${LINES}` },
  });
  await made(stage, `/api/recurring-tasks/${id}/run`, {});
  return {
    recurringTasks: { path: pageLink('recurringTasks'), shows: 'weekly report' },
    recurringTask: { path: pageLink('recurringTask', id), shows: 'manual' },
  };
};

/** An unconfirmed memory beside a confirmed one. */
const fillMemories = async (stage: TalkStage) => {
  await made(stage, '/api/memories', { text: 'Answers in German.', pinned: true });
  const { id } = await made(stage, '/api/memories', { text: `The mirror is at ${UNBROKEN}` });
  const { db } = stage.app.app.store;
  await db.updateTable('memories').set({ confirmed: 0 }).where('id', '=', id).execute();
  return {
    memories: { path: pageLink('memories'), shows: 'The mirror is at' },
    memory: { path: pageLink('memory', id), shows: 'until you confirm it' },
  };
};
