import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { WebSocket } from 'ws';
import { type Reply, startApp, type TestApp } from '../harness/app.js';
import { makeToken } from '../harness/token.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const CODE = 'approval_right_missing';
const refusal = (names: string): string =>
  `An admin who impersonates a user may not use ${names}, which the user granted`;

const hookOf = (action: string, actionConfig: object) => ({
  ...{ name: action, trigger: 'webhook', action, actionConfig },
  triggerConfig: { webhookPath: action, webhookSecret: 'the person’s own secret' },
});
const CALL = {
  ...{ toolId: 'http', toolAction: 'request' },
  toolParams: { method: 'POST', url: 'http://127.0.0.1:9/{{webhook.body.to}}' },
};

describe('an admin who acts as a user', () => {
  let app: TestApp;
  let bob: { id: string; token: string };
  let acting: string;
  let token: string;
  before(async () => {
    app = await startApp();
    const admin = await app.register('ada');
    bob = await app.register('bob');
    acting = await app.impersonate(admin.token, bob.id);
    const scopes = ['hooks:write', 'agents:write', 'chat:write', 'webhooks:write'];
    token = (await makeToken(app, bob.token, { scopes })).token;
  });
  after(() => app.stop());

  const post = (by: string, path: string, body: object = {}): Promise<Reply> =>
    app.call('POST', path, { token: by, body });
  const made = async (path: string, body: object): Promise<string> =>
    (await post(bob.token, path, body)).body.id;
  const said = ({ status, body }: Reply) => [status, body?.code, body?.message];

  const overSocket = async (by: string, frame: object) => {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/ws?token=${by}`);
    socket.on('open', () => socket.send(JSON.stringify(frame)));
    const [text] = await once(socket, 'message');
    socket.close();
    return JSON.parse(text.toString());
  };

  it('fires no hook that was granted tools, with a payload or again', async () => {
    const calling = await made('/api/hooks', hookOf('execute_tool', CALL));
    const spawning = await made(
      '/api/hooks',
      hookOf('spawn_agent', { agentPrompt: 'Work', agentTools: ['http', 'time'] }),
    );
    for (const id of [calling, spawning]) {
      const test = `/api/hooks/${id}/test`;
      const wanted = [403, CODE, refusal('http.request')];
      expect(said(await post(acting, test, { payload: { to: 'x' } }))).to.equal(wanted);
      const run = await post(token, test, { payload: { to: 'x' } });
      expect(run.status).to.equal(202);
      const replay = `/api/hooks/${id}/executions/${run.body.id}/replay`;
      expect(said(await post(acting, replay, { force: true }))).to.equal(wanted);
      expect((await post(token, replay, { force: true })).body?.code).to.not.equal(CODE);
      const { body } = await app.call('GET', `/api/hooks/${id}/executions`, { token: bob.token });
      expect([1, 2]).to.include(body.executions.length);
    }
  });

  it('sees what such a hook would do, and fires those that grant nothing that acts', async () => {
    const calling = await made('/api/hooks', hookOf('execute_tool', CALL));
    const dry = { payload: { to: 'x' }, dryRun: true };
    expect((await post(acting, `/api/hooks/${calling}/test`, dry)).status).to.equal(200);
    const telling = await made('/api/hooks', hookOf('notify', { notifyMessage: 'Well' }));
    const { status } = await post(acting, `/api/hooks/${telling}/test`, { payload: {} });
    expect(status).to.equal(202);
  });

  it('is shown no new secret of a hook or an outgoing webhook, which a token may make', async () => {
    const hook = await made('/api/hooks', hookOf('notify', { notifyMessage: 'Well' }));
    const outgoing = await made('/api/webhooks', {
      ...{ name: 'app', url: 'https://example.invalid/in', events: ['agent.failed'] },
    });
    for (const path of [`/api/hooks/${hook}`, `/api/webhooks/${outgoing}`]) {
      const { status, body } = await post(acting, `${path}/rotate-secret`);
      expect([path, status, body.code]).to.equal([path, 403, 'personal_only']);
      expect((await post(token, `${path}/rotate-secret`)).status).to.equal(200);
    }
  });

  it('tells nothing to an agent that was granted tools, which a token may', async () => {
    const { body: agent } = await post(bob.token, '/api/agents', {
      ...{ prompt: 'Work', tools: ['http', 'time'], model: 'digest' },
    });
    const wanted = [403, CODE, refusal('http.request')];
    const message = `/api/agents/${agent.id}/message`;
    const chat = { message: 'Send it', sessionId: agent.sessionId };
    expect(said(await post(acting, message, { content: 'Send it' }))).to.equal(wanted);
    expect(said(await post(acting, '/api/chat?wait=0', chat))).to.equal(wanted);
    const frame = { type: 'message', content: 'Send it', sessionId: agent.sessionId };
    expect(await overSocket(acting, frame)).to.include({ type: 'error', status: 403 });
    expect((await post(token, message, { content: 'Go on' })).status).to.equal(202);
    expect((await overSocket(bob.token, frame)).type).to.equal('message');
    const { status, body } = await post(token, '/api/chat?wait=0', chat);
    expect([status < 300, body.agentId]).to.equal([true, agent.id]);
  });

  it('tells an agent without such tools what it likes', async () => {
    const { body: agent } = await post(bob.token, '/api/agents', {
      ...{ prompt: 'Work', tools: ['time'], model: 'digest' },
    });
    const message = `/api/agents/${agent.id}/message`;
    expect((await post(acting, message, { content: 'Go on' })).status).to.equal(202);
  });
});
