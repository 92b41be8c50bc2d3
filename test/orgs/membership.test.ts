import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { WebSocket } from 'ws';
import { ApprovalNotFound } from '../../src/approvals/approval.js';
import { openStream } from '../agents/chat/stream.js';
import { type Agent, call, enterAs, type Stage } from '../agents/stage.js';
import { type Desk, DONE, openDesk } from '../approvals/stage.js';
import { until, untilMatches } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { dictated, hangs, says } from '../harness/openai.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const SECRET = 'a secret of the tests';
const WATCH_MS = 500;

describe('membership of an organization', () => {
  let desk: Desk;
  let bob: Stage;
  let cleo: Stage;
  let eve: Stage;
  let org: string;

  before(async () => {
    // An admin of the installation, the owner, a plain member, and a stranger.
    desk = await openDesk();
    bob = await enterAs(desk, 'bob');
    cleo = await enterAs(desk, 'cleo');
    eve = await enterAs(desk, 'eve');
    org = (await bob.ask('POST', '/api/orgs', { slug: 'acme', name: 'Acme' })).body.id;
    await approve(true);
  });
  after(() => desk.stop());
  beforeEach(() => {
    desk.model.forget();
    return join();
  });

  const approve = (approved: boolean) => desk.ask('PATCH', `/api/admin/orgs/${org}`, { approved });
  const join = () => bob.ask('POST', `/api/orgs/${org}/members`, { username: 'cleo' });
  const leave = async () => {
    const reply = await bob.ask('DELETE', `/api/orgs/${org}/members/${cleo.userId}`);
    expect(reply.status).to.equal(204);
  };
  const spawn = (by: Stage, prompt = 'Do it'): Promise<Agent> => by.spawn({ prompt, orgId: org });
  const follow = async ({ url, token }: Stage, ...channels: string[]) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws?token=${token}`);
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'subscribe', channels }));
    await once(socket, 'message');
    const heard: { type: string; data: { text?: string } }[] = [];
    socket.on('message', (text) => heard.push(JSON.parse(text.toString())));
    const text = () => heard.map(({ data }) => data.text ?? '').join('');
    const closed = once(socket, 'close').then(([code, text]) => [code, text.toString()]);
    return { heard, text, closed, close: () => socket.close() };
  };

  it('does not let a plain member decide, neither by message nor in the chat', async () => {
    desk.model.script(says({ toolCalls: [desk.post()] }), DONE);
    const sockets = await Promise.all(
      [bob, cleo, eve].map((who) => follow(who, 'approval', 'agent.status')),
    );
    const { id, sessionId } = await spawn(cleo);
    await bob.reaches(id, 'waiting_approval');
    const pending = () => bob.ask('GET', `/api/chat/approvals?status=pending&orgId=${org}`);
    const { digest } = (await pending()).body.approvals[0];
    const content = `approve ${digest}`;
    for (const refused of [
      await cleo.ask('POST', `/api/agents/${id}/message`, { content }),
      await cleo.ask('POST', '/api/chat', { message: content, sessionId }),
    ]) {
      expect([refused.status, refused.body.code]).to.equal([403, 'org_role']);
    }
    expect((await pending()).body.approvals.length).to.equal(1);
    expect((await cleo.ask('GET', '/api/chat/approvals')).body.approvals).to.equal([]);
    await bob.ask('POST', `/api/agents/${id}/message`, { content });
    await bob.reaches(id);
    expect(desk.canary.heard.length).to.equal(1);
    const { approvals } = (await bob.ask('GET', `/api/chat/approvals?orgId=${org}`)).body;
    expect([approvals[0].status, approvals[0].decidedBy]).to.equal(['approved', bob.userId]);
    desk.model.script(says({ toolCalls: [desk.post()] }), DONE);
    const again = await spawn(cleo);
    await bob.reaches(again.id, 'waiting_approval');
    const approvalId = (await pending()).body.approvals[0].id;
    const denied = await bob.ask('POST', '/api/chat/approve', { approvalId, approved: false });
    expect(denied.body.decidedBy).to.equal(bob.userId);
    await bob.reaches(again.id);
    await until(
      async () => sockets.map(({ heard }) => [...new Set(heard.map(({ type }) => type))].sort()),
      ([ofBob = [], ofCleo = []]) => ofBob.length === 2 && ofCleo.length > 0,
    );
    expect(sockets[1]?.heard.filter(({ type }) => type === 'approval')).to.equal([]);
    expect(sockets[2]?.heard).to.equal([]);
    for (const { close } of sockets) close();
  });

  it('lets nobody decide whose role ended between the request and the decision', async () => {
    desk.model.script(says({ toolCalls: [desk.post()] }), DONE);
    const { id } = await spawn(cleo);
    await bob.reaches(id, 'waiting_approval');
    const path = `/api/chat/approvals?status=pending&orgId=${org}`;
    const [pending] = (await bob.ask('GET', path)).body.approvals;
    // As a button in a channel calls it, after it has found the approval.
    const { decide } = inside(desk.app).approvals;
    const late = decide(org, pending.id, { approved: true, by: cleo.userId });
    await expect(late).to.reject(ApprovalNotFound);
    expect((await bob.ask('GET', path)).body.approvals.length).to.equal(1);
    await decide(org, pending.id, { approved: false, by: bob.userId });
    await bob.reaches(id);
  });

  it('ends the replies to a member who leaves, within a second', async () => {
    desk.model.script(hangs);
    const { id } = await spawn(bob);
    await bob.reaches(id, 'running');
    const { lastId } = (await cleo.ask('GET', `/api/agents/${id}/events`)).body;
    const isWatched = () => desk.clock.starting(WATCH_MS);
    const isPolling = isWatched();
    const poll = cleo.ask('GET', `/api/agents/${id}/events?after=${lastId}&wait=30`);
    await isPolling;
    const isStreaming = isWatched();
    const opening = openStream(`${desk.url}/api/chat/${id}`, { token: cleo.token });
    await isStreaming;
    await leave();
    desk.clock.forward(WATCH_MS);
    expect((await poll).body.events).to.equal([]);
    await (await opening).until();
    expect((await cleo.ask('GET', `/api/agents/${id}`)).status).to.equal(404);
    await bob.ask('DELETE', `/api/agents/${id}`);
  });

  it('shows a member who leaves no further text of an agent', async () => {
    const [ofBob, ofCleo] = [await follow(bob, 'agent.delta'), await follow(cleo, 'agent.delta')];
    const spoken = dictated();
    desk.model.script(spoken.reply);
    const { id } = await spawn(bob);
    await bob.reaches(id, 'running');
    await spoken.say('Before.');
    const hears = async (who: typeof ofBob, words: string) => {
      await until(
        async () => {
          desk.clock.forward(250);
          return who.text();
        },
        (text) => text.includes(words),
      );
    };
    await hears(ofBob, 'Before.');
    await hears(ofCleo, 'Before.');
    await leave();
    desk.clock.forward(1000);
    // Answered after the members were read again.
    await bob.ask('GET', `/api/orgs/${org}/members`);
    await spoken.say('After.');
    await hears(ofBob, 'After.');
    expect(ofCleo.text()).not.to.include('After.');
    await spoken.end();
    await bob.reaches(id);
    for (const { close } of [ofBob, ofCleo]) close();
  });

  it('closes the sockets of a member who leaves, who then connects and reads again', async () => {
    const [ofBob, ofCleo] = [await follow(bob, 'agent.status'), await follow(cleo, 'agent.status')];
    await leave();
    expect(await ofCleo.closed).to.equal([1001, 'A membership has ended']);
    const again = await follow(cleo, 'agent.status');
    desk.model.script(DONE);
    const { id } = await spawn(bob);
    await bob.reaches(id);
    await until(
      async () => ofBob.heard.length,
      (count) => count > 0,
    );
    expect(again.heard).to.equal([]);
    for (const { close } of [ofBob, again]) close();
  });

  it('does not repeat a stored reply to a member who has left', async () => {
    const task = { title: 'A task of Acme', orgId: org };
    const { id } = (await bob.ask('POST', '/api/tasks', task)).body;
    const complete = () =>
      desk.call('POST', `/api/tasks/${id}/complete`, {
        token: cleo.token,
        headers: { 'idempotency-key': 'once' },
      });
    expect((await complete()).body.title).to.equal('A task of Acme');
    expect((await complete()).headers['idempotent-replayed']).to.equal('true');
    await leave();
    const refused = await complete();
    expect(refused.status).to.equal(404);
    expect(refused.text).not.to.include('Acme');
  });

  it('does not go on with a conversation after leaving', async () => {
    desk.model.script(DONE);
    const { id, sessionId } = await spawn(cleo);
    await bob.reaches(id);
    await leave();
    for (const [path, body] of [
      ['/api/chat', { message: 'And then?', sessionId }],
      ['/api/agents', { prompt: 'And then?', sessionId }],
      [`/api/agents/${id}/message`, { content: 'And then?' }],
    ] as const) {
      expect((await cleo.ask('POST', path, body)).status).to.equal(404);
    }
    expect(desk.model.asked.length).to.equal(1);
  });

  it('gives agents the knowledge and memories of the organization alone', async () => {
    const note = (by: Stage, text: string, orgId?: string) =>
      by.ask('POST', '/api/knowledge', { text, ...(orgId && { orgId }) });
    await note(bob, 'The walrus of Bob is called Otto.');
    await note(bob, 'The walrus of Acme is called Wilma.', org);
    await note(eve, 'The walrus of Eve is called Rosa.');
    for (const [by, query, count] of [
      [bob, '?orgId=personal', 1],
      [bob, `?orgId=${org}`, 1],
      [eve, '', 1],
    ] as const) {
      await until(
        async () => (await by.ask('GET', `/api/knowledge${query}`)).body.entries,
        (entries) =>
          entries.length === count && entries.every(({ status }: Agent) => status === 'ready'),
      );
    }
    const toldTo = async (by: Stage, orgId?: string) => {
      const search = call('knowledge_search', { query: 'walrus' }, 'one');
      desk.model.script(says({ toolCalls: [search] }), DONE);
      const { id } = await by.spawn({ prompt: 'Who?', ...(orgId && { orgId }) });
      await by.reaches(id);
      return ['Otto', 'Wilma', 'Rosa'].filter((name) => desk.told().at(-1)?.includes(name));
    };
    expect(await toldTo(bob, org)).to.equal(['Wilma']);
    expect(await toldTo(cleo, org)).to.equal(['Wilma']);
    expect(await toldTo(bob)).to.equal(['Otto']);
    expect(await toldTo(eve)).to.equal(['Rosa']);
    const found = async (by: Stage, orgId?: string) => {
      const body = { query: 'walrus', ...(orgId && { orgId }) };
      const { results } = (await by.ask('POST', '/api/knowledge/search', body)).body;
      return results.map(({ snippet }: { snippet: string }) => snippet.match(/\w+(?=\.)/)?.[0]);
    };
    expect(await found(cleo, org)).to.equal(['Wilma']);
    expect(await found(cleo)).to.equal([]);
    expect(await found(eve)).to.equal(['Rosa']);
  });

  it('shows impersonation in the log of the organization, without the rights of a login', async () => {
    const token = await desk.impersonate(desk.token, bob.userId);
    const ask = (method: string, path: string, body?: object) =>
      desk.call(method, path, { token, ...(body && { body }) });
    const credential = { name: 'by-an-admin', value: 'the value', orgId: org };
    const { body, text } = await ask('POST', '/api/vault', credential);
    expect(body.orgId, text).to.equal(org);
    const [entry] = (await bob.ask('GET', `/api/orgs/${org}/audit`)).body.entries;
    expect([entry.action, entry.actorName, entry.impersonatorName]).to.equal([
      ...['vault.create', 'bob', 'owner'],
    ]);
    const value = await ask('POST', `/api/vault/${body.id}/reveal`, { password: 'unknown' });
    expect([value.status, value.body.code]).to.equal([403, 'personal_only']);
  });

  it('gives the organization no account of a person', async () => {
    const of = `/api/admin/users/${org}`;
    for (const [method, path, body] of [
      ['GET', of, undefined],
      ['PATCH', of, { role: 'admin' }],
      ['DELETE', of, undefined],
      ['POST', `${of}/impersonate`, { reason: 'a test' }],
      ['POST', `${of}/reset-link`, {}],
    ] as const) {
      expect((await desk.ask(method, path, body)).status, `${method} ${path}`).to.equal(404);
    }
    const { users } = (await desk.ask('GET', '/api/admin/users')).body;
    expect(users.map(({ id }: { id: string }) => id)).not.to.include(org);
    const members = await bob.ask('POST', `/api/orgs/${org}/members`, { username: 'ORG:acme' });
    expect(members.status).to.be.within(400, 404);
  });

  it('stops the work of an organization whose approval is withdrawn', async () => {
    const hook = {
      ...{ name: 'shared', trigger: 'webhook', action: 'spawn_agent', orgId: org },
      triggerConfig: { webhookPath: 'shared', webhookSecret: SECRET },
      actionConfig: { agentPrompt: 'Do it' },
    };
    const { id } = (await bob.ask('POST', '/api/hooks', hook)).body;
    desk.model.script(hangs);
    const agent = await spawn(bob);
    await bob.reaches(agent.id, 'running');
    await approve(false);
    expect((await bob.agent(agent.id)).status).to.equal('stopped');
    const sent = await desk.call('POST', `/api/hooks/incoming/${id}`, {
      headers: { 'x-webhook-secret': SECRET },
      body: {},
    });
    expect(sent.status).not.to.equal(202);
    for (const [method, path, body] of [
      ['PUT', `/api/hooks/${id}`, { description: 'ours' }],
      ['DELETE', `/api/hooks/${id}`, undefined],
      ['POST', '/api/agents', { prompt: 'Do it', orgId: org }],
      ['POST', `/api/agents/${agent.id}/message`, { content: 'Do it' }],
    ] as const) {
      const refused = await bob.ask(method, path, body);
      expect([refused.status, refused.body.code]).to.equal([409, 'org_not_approved']);
    }
    const executions = await untilMatches(() => bob.ask('GET', `/api/hooks/${id}/executions`), {
      status: 200,
    });
    expect(executions.body.executions).to.equal([]);
    expect(desk.model.asked.length).to.equal(1);
    await approve(true);
  });
});
