import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unless, withChromium } from '../accounts/passkeys/browser.js';
import { PASSWORD, sign, until, untilMatches } from '../harness/app.js';
import { askApproval } from '../harness/approval.js';
import { notice, SECRET } from '../harness/hooks.js';
import { inside } from '../harness/inside.js';
import { seedOperation } from '../harness/operation.js';
import { hostileStrings } from './corpus.js';
import { openMailbox } from './mailbox.js';
import { openPageStage, type PageStage, type Visitor } from './stage.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

/** A host that must never be contacted. */
const HOST = 'http://127.0.0.1:9';
const STRINGS = hostileStrings(HOST);

/** Elements that no view contains. A text must not create one. */
const FOREIGN = [
  ...['script', 'img', 'iframe', 'object', 'embed', 'svg', 'math', 'video', 'audio', 'source'],
  ...['link', 'style', 'base', 'meta', 'template', 'marquee', 'b', 'x', 'noscript'],
  ...['[style]', '[onerror]', '[onload]', '[onclick]', '[onfocus]', '[srcset]', '[srcdoc]'],
];

describe('the page, with hostile texts in every field that others fill', () => {
  let stage: PageStage;
  let ada: { id: string; token: string };
  let visitor: Visitor;
  const asked: string[] = [];

  before(async () => {
    if (withChromium.skip) return;
    stage = await openPageStage();
    ada = await stage.app.register('ada');
    visitor = await stage.enter('ada');
    visitor.page.on('request', (request) => {
      if (!request.url().startsWith(stage.app.url)) asked.push(request.url());
    });
    visitor.page.on('dialog', (dialog) => {
      asked.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  });

  beforeEach(() => {
    asked.length = 0;
    if (visitor) visitor.complaints.length = 0;
  });

  after(() => stage?.stop());

  const ask = async (method: string, path: string, body?: object) => {
    const reply = await stage.app.call(method, path, { token: ada.token, ...(body && { body }) });
    if (reply.status >= 400) throw new Error(`${method} ${path}: ${reply.text.slice(0, 500)}`);
    return reply.body;
  };

  /** Changes a row directly, in fields that the API does not accept. */
  const change = async (table: ChangedTable, id: string, to: Record<string, unknown>) => {
    await stage.app.app.store.db.updateTable(table).set(to).where('id', '=', id).execute();
  };

  /** Resolves to the waiting stage of a run. */
  const waiting = async (id: string): Promise<{ digest: string }> => {
    const run = await until(
      () => ask('GET', `/api/pipelines/${id}`),
      ({ stages }) => stages.some(isAsking),
    );
    return run.stages.find(isAsking);
  };

  /** Opens a view, unfolds everything, and expects each string as text. */
  const expectText = async (path: string, strings: string[]): Promise<void> => {
    const { page, open, complaints } = visitor;
    await open(path);
    const missing = await until(
      async () => {
        await page.evaluate(UNFOLD);
        const text = wordsOf((await page.textContent('main')) ?? '');
        return strings.filter((each) => !text.includes(wordsOf(each)));
      },
      ({ length }) => length === 0,
    );
    expect([path, missing.length, missing[0]]).to.equal([path, 0, undefined]);
    const found: unknown = await page.evaluate(
      `[...document.querySelectorAll('main ${`:is(${FOREIGN.join(', ')})`}')].map(({ outerHTML }) => outerHTML.slice(0, 200))`,
    );
    expect([path, found]).to.equal([path, []]);
    const links: unknown = await page.evaluate(
      `[...document.querySelectorAll('main a')].map(({ href }) => href).filter((href) => !href.startsWith(location.origin + '/'))`,
    );
    expect([path, links]).to.equal([path, []]);
    expect([path, await page.evaluate('window.hostile ?? null')]).to.equal([path, null]);
    expect([path, asked]).to.equal([path, []]);
    expect([path, complaints]).to.equal([path, []]);
  };

  it('has 500 of them, all different', () => {
    expect([STRINGS.length, new Set(STRINGS).size]).to.equal([500, 500]);
  });

  it(`shows payloads of senders as text${unless}`, withChromium, async () => {
    const hook = { actionConfig: { notifyMessage: '{{webhook.body.text}}' } };
    await ask('POST', '/api/hooks', notice({ ...hook, name: STRINGS[9]?.slice(0, 100) }));
    const texts = groupsOf(STRINGS, 20);
    const ids: string[] = [];
    for (const strings of texts) {
      const body = JSON.stringify({
        list: strings,
        text: strings.join('\n'),
        [strings[0] ?? '']: 1,
      });
      const headers = { 'x-hub-signature-256': sign(SECRET, body) };
      const sent = await stage.app.call('POST', '/api/webhooks/issues', { body, headers });
      ids.push(sent.body.executions[0]);
    }
    await until(
      async () => (await ask('GET', '/api/notifications?limit=200')).notifications,
      ({ length }) => length >= texts.length,
    );
    for (const [number, strings] of texts.entries()) {
      await expectText(`/executions/${ids[number]}`, strings);
    }
    await expectText('/executions', []);
    await expectText('/notifications', []);
  });

  it(`shows the arguments of calls as text${unless}`, withChromium, async () => {
    for (const strings of groupsOf(STRINGS, 100)) {
      const id = await askApproval(stage.app, ada.id, { body: strings.join('\n') });
      await expectText(`/approvals/${id}`, strings);
    }
    await expectText('/', []);
    await expectText('/approvals', []);
  });

  it(`shows what is kept as text${unless}`, withChromium, async () => {
    for (const strings of groupsOf(STRINGS, 250)) {
      const title = strings.find((each) => each.includes('onerror'))?.slice(0, 290) ?? '';
      const { id } = await ask('POST', '/api/knowledge', { title, text: strings.join('\n\n') });
      await untilMatches(() => ask('GET', `/api/knowledge/${id}`), { status: 'ready' });
      const { chunks } = await ask('GET', `/api/knowledge/${id}`);
      for (let chunk = 0; chunk < Math.min(chunks, 5); chunk++) {
        await expectText(`/knowledge/${id}?chunk=${chunk}`, []);
      }
    }
    await expectText('/knowledge?q=onerror', []);
    await expectText('/knowledge?q=script', []);
  });

  it(`shows tasks, agents and chats as text${unless}`, withChromium, async () => {
    for (const strings of groupsOf(STRINGS, 100)) {
      const notes = strings.join('\n');
      const title = strings.find((each) => each.includes('<svg'))?.slice(0, 200);
      const task = await ask('POST', '/api/tasks', { title, notes });
      await expectText(`/tasks/${task.id}`, strings);
      // The built-in model repeats its input.
      const agent = await ask('POST', '/api/agents', { prompt: notes, topic: title });
      const { id, sessionId } = await until(
        () => ask('GET', `/api/agents/${agent.id}`),
        ({ status }) => status === 'completed',
      );
      await expectText(`/agents/${id}`, strings);
      await expectText(`/chat/${sessionId}`, strings);
    }
    for (const path of ['/tasks', '/agents', '/chat', '/', '/notifications']) {
      await expectText(path, []);
    }
  });

  it(`shows recurring tasks as text${unless}`, withChromium, async () => {
    const schedule = { cron: '0 9 * * *' };
    for (const strings of groupsOf(STRINGS, 100)) {
      const title = strings.find((each) => each.includes('<iframe'))?.slice(0, 500) ?? '';
      const actionConfig = { title, notes: strings.join('\n') };
      const task = { title, schedule, action: 'create_task', actionConfig };
      const { id } = await ask('POST', '/api/recurring-tasks', task);
      await change('recurring_tasks', id, { last_status: 'error', last_error: strings.join(' ') });
      await expectText(`/recurring/${id}`, [title, ...strings]);
    }
    await expectText('/recurring', STRINGS);
  });

  it(`shows mail as text${unless}`, withChromium, async () => {
    await ask('POST', '/api/vault', { name: 'box', type: 'password', value: 'sample' });
    const mailbox = await openMailbox(stage.app, (await ask('GET', '/api/auth/me')).id);
    for (const strings of groupsOf(STRINGS, 100)) {
      const subject = strings.find((each) => each.includes('onerror'))?.slice(0, 200) ?? '';
      const id = await mailbox.message(subject, shortOf(strings));
      await mailbox.sent(subject, strings.join(' ').slice(0, 1000));
      await expectText(`/mail/${id}`, [subject, shortOf(strings)]);
      const draft = { subject: 'x', to: ['bob@example.org'], text: strings.join('\n') };
      await ask('POST', '/api/email/drafts', draft);
    }
    await expectText('/mail?show=drafts', STRINGS);
    await expectText('/mail?show=sent', []);
    await expectText('/mail', []);
    await expectText('/', []);
  });

  it(`shows memories as text${unless}`, withChromium, async () => {
    for (const strings of groupsOf(STRINGS, 20)) {
      const text = strings.join('\n').slice(0, 1900);
      const { id } = await ask('POST', '/api/memories', { text });
      await change('memories', id, { confirmed: 0, created_by: shortOf(strings) });
      await expectText(`/memories/${id}`, [text, shortOf(strings)]);
    }
    await expectText('/memories', STRINGS.slice(-10));
    await expectText('/', []);
  });

  it(`shows the names of hooks as text${unless}`, withChromium, async () => {
    const triggerConfig = { webhookPath: 'named', webhookSecret: SECRET };
    const { id } = await ask('POST', '/api/hooks', notice({ name: 'named', triggerConfig }));
    await ask('POST', `/api/hooks/${id}/test`, { payload: { n: 1 } });
    for (const name of STRINGS.filter(({ length }) => length <= 200).slice(0, 40)) {
      await ask('PUT', `/api/hooks/${id}`, { name });
      await expectText(`/executions?hookId=${id}`, [name, name]);
    }
    const { executions } = await ask('GET', `/api/hooks/${id}/executions`);
    const { name } = await ask('GET', `/api/hooks/${id}`);
    await expectText(`/executions/${executions[0].id}`, [name]);
  });

  it(`shows errors of models as text${unless}`, withChromium, async () => {
    const { id, sessionId } = await ask('POST', '/api/agents', { prompt: 'Hello' });
    await untilMatches(() => ask('GET', `/api/agents/${id}`), { status: 'completed' });
    for (const strings of groupsOf(STRINGS, 100)) {
      await change('agents', id, { status: 'failed', error: strings.join('\n') });
      await expectText(`/agents/${id}`, strings);
      await expectText(`/chat/${sessionId}`, strings);
    }
    await expectText('/agents', STRINGS.slice(-100));
  });

  it(`shows pipelines as text${unless}`, withChromium, async () => {
    for (const [number, strings] of groupsOf(STRINGS, 50).entries()) {
      const all = strings.join('\n');
      const name = strings.find((each) => each.includes('onerror'))?.slice(0, 200) ?? '';
      const label = shortOf(strings);
      const field = { key: 'title', label, type: 'text' };
      const choice = { key: 'size', label: 'Size', type: 'choice', options: [label, name] };
      const form = { message: all, fields: [field, choice] };
      const go = { key: 'go', name, kind: 'approval', needs: ['form'], config: { message: all } };
      const stages = [{ key: 'form', name, kind: 'input', config: form }, go];
      const parameters = [{ key: 'topic', type: 'text' }];
      const template = { name: `Template ${number}`, parameters, stages };
      const { id: templateId } = await ask('POST', '/api/pipelines/templates', template);
      const run = { templateId, name, params: { topic: all } };
      const { id } = await ask('POST', '/api/pipelines', run);
      const asked = await waiting(id);
      await expectText(`/pipelines/${id}`, [name, label, ...strings]);
      const answer = { digest: asked.digest, values: { title: all } };
      await ask('POST', `/api/pipelines/${id}/stages/form/input`, answer);
      const { digest } = await waiting(id);
      await expectText(`/pipelines/${id}`, [name, ...strings]);
      const reason = all.slice(0, 2000);
      await ask('POST', `/api/pipelines/${id}/stages/go/reject`, { digest, reason });
      await change('pipeline_runs', id, { error: all });
      await expectText(`/pipelines/${id}`, [name, ...strings]);
    }
    await expectText('/pipelines', STRINGS);
    await expectText('/', []);
  });

  it(`shows operations as text${unless}`, withChromium, async () => {
    for (const strings of groupsOf(STRINGS, 50)) {
      const id = await seedOperation(stage.app, ada.id);
      const title = (strings[0] ?? '').slice(0, 200);
      const progress = { done: 1, total: 2, unit: 'files', note: strings.slice(0, 3).join(' ') };
      await change('operations', id, {
        ...{ title, error: strings.join('\n'), progress: JSON.stringify(progress) },
        result: JSON.stringify({ [title]: strings }),
      });
      await expectText(`/operations/${id}`, [title, ...strings]);
    }
    await expectText('/operations', STRINGS);
  });

  it(`shows what comes by channels as text${unless}`, withChromium, async () => {
    const { outbox } = inside(stage.app.app);
    const { sessionId } = await ask('POST', '/api/agents', { prompt: 'Hello' });
    for (const strings of groupsOf(STRINGS, 50)) {
      const sender = shortOf(strings);
      await outbox.send(ada.id, {
        kind: 'channel.linked',
        title: `${sender} on telegram was linked to your account`,
        body: strings.join('\n'),
        link: `javascript:window.hostile=1//${sender}`,
      });
      await expectText('/notifications', [sender, ...strings]);
      await change('sessions', sessionId, { title: sender, channel: sender.slice(0, 40) });
      await expectText('/chat?all', [sender]);
      await expectText(`/chat/${sessionId}`, [sender]);
    }
    await expectText('/notifications', []);
  });

  it(`shows the names of devices as text${unless}`, withChromium, async () => {
    for (const device of STRINGS.filter(({ length }) => length <= 100).slice(0, 40)) {
      const body = { username: 'ada', password: PASSWORD, device };
      await stage.app.call('POST', '/api/auth/login', { body });
    }
    await expectText('/device', []);
  });
});

/** The shortest string, for narrow places such as the name of a sender. */
const shortOf = ([first = '', ...rest]: string[]): string =>
  rest.reduce((short, each) => (each.length < short.length ? each : short), first);

const isAsking = ({ digest }: { digest: string | null }): boolean => digest !== null;

type ChangedTable =
  | 'recurring_tasks'
  | 'memories'
  | 'agents'
  | 'pipeline_runs'
  | 'operations'
  | 'sessions';

/** Text without codes of hidden characters, with single spaces. */
const wordsOf = (text: string): string =>
  text
    .replace(/[\u0000\u202e\u2066\ud800\ufffd]|⟦U\+\w+⟧/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/** Opens folded parts, and shows the rest of long texts. */
const UNFOLD = `for (const each of document.querySelectorAll('main details')) each.open = true;
for (const each of document.querySelectorAll('main button.link')) each.click();`;

const groupsOf = (strings: string[], size: number): string[][] =>
  Array.from({ length: Math.ceil(strings.length / size) }, (_, at) =>
    strings.slice(at * size, (at + 1) * size),
  );
