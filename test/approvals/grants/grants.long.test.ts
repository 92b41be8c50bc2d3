import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { call, enterAs } from '../../agents/stage.js';
import { sign, until, untilMatches } from '../../harness/app.js';
import { seedGrant } from '../../harness/grant.js';
import { inside } from '../../harness/inside.js';
import { says } from '../../harness/openai.js';
import { openForSuite } from '../../harness/suite.js';
import { openTarget } from '../../harness/target.js';
import { type Approval, DONE, openDesk, theOne } from '../stage.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

const SECRET = 'a secret of some length';

describe('a grant', () => {
  const desk = openForSuite(lab, openDesk);
  afterEach(async () => {
    await desk.clear();
    desk.canary.heard.length = 0;
    await desk.app.store.db.deleteFrom('approval_grants').execute();
  });

  const at = (path: string): string => `${desk.canary.url}${path}`;
  const request = (method: string, path: string, more: object = {}) =>
    call('http_request', { method, url: at(path), ...more }, `${method}_${path}`);
  const heard = (): string[] => desk.canary.heard.map(({ method, url }) => `${method} ${url}`);
  const grants = async (query = '') => (await desk.ask('GET', `/api/skills/grants${query}`)).body;
  const approve = async (scope: string, one?: Approval) => {
    const { id, digest } = one ?? (await theOne(desk));
    return desk.answer(id, true, { digest, scope });
  };

  const makeHook = async (name: string): Promise<string> => {
    const hook = {
      name,
      trigger: 'webhook',
      triggerConfig: { webhookPath: name, webhookSecret: SECRET },
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Look at this' },
    };
    return (await desk.ask('POST', '/api/hooks', hook)).body.id;
  };
  /** An untrusted agent, which reads the payload of a hook and makes these calls, one by one. */
  const fire = async (name: string, ...calls: ReturnType<typeof call>[]): Promise<string> => {
    desk.model.script(...calls.map((one) => says({ toolCalls: [one] })), DONE);
    const body = JSON.stringify({ say: 'something' });
    const headers = { 'x-hub-signature-256': sign(SECRET, body) };
    const { body: reply } = await desk.call('POST', `/api/webhooks/${name}`, { body, headers });
    const { body: found } = await until(
      () => desk.ask('GET', `/api/agents?executionId=${reply.executions[0]}`),
      ({ body: { agents } }) => agents.length === 1,
    );
    return found.agents[0].id;
  };

  it('for a conversation lets later calls of the tool to the origin run, and is named with each', async () => {
    const { id, sessionId } = await desk.asking(request('POST', 'in'));
    const decided = await approve('conversation');
    expect([decided.status, decided.body.status]).to.equal([200, 'approved']);
    await desk.reaches(id);
    desk.model.script(says({ toolCalls: [request('POST', 'other')] }), DONE);
    await desk.ask('POST', `/api/agents/${id}/message`, { content: 'Once more' });
    await untilMatches(async () => heard(), { length: 2 });
    await desk.reaches(id);
    expect(heard()).to.equal(['POST /in', 'POST /other']);
    const {
      grants: [grant],
      nextCursor,
    } = await grants();
    expect(grant).to.equal({
      ...{ id: grant.id, orgId: null, scope: 'conversation', tool: 'http', action: 'request' },
      ...{ origin: new URL(desk.canary.url).origin, method: 'POST', pathPrefix: '/in' },
      ...{ hookId: null, sessionId, boundTo: 'Do it', agentId: id, approvalId: decided.body.id },
      ...{ createdAt: '2026-03-01T12:00:00.000Z', expiresAt: '2026-03-31T12:00:00.000Z' },
      ...{ lastUsedAt: '2026-03-01T12:00:00.000Z', uses: 1 },
    });
    expect(nextCursor).to.be.null();
    const calls = (await desk.events(id)).filter(({ data }) => data.phase === 'call');
    expect(calls.map(({ data }) => data.grantId)).to.equal([undefined, grant.id]);
    desk.model.script(says({ toolCalls: [request('POST', 'in')] }), DONE);
    const other = await desk.spawn({ prompt: 'Another conversation' });
    await desk.reaches(other.id, 'waiting_approval');
    const audit = (await desk.ask('GET', '/api/admin/audit?action=approvals.approve')).body;
    expect(audit.entries[0].data.scope).to.equal('conversation');
  });

  it('for a host lets a payload send nothing with a query string there', async () => {
    const hookId = await makeHook('payload');
    const first = await fire('payload', request('POST', 'in', { body: 'a' }));
    const asked = await theOne(desk);
    expect([asked.untrusted, asked.scopes]).to.equal([true, ['once', 'conversation', 'host']]);
    await approve('host', asked);
    await desk.reaches(first);
    const second = await fire(
      'payload',
      request('POST', 'in/5', { body: 'b' }),
      request('GET', 'any/where'),
      request('GET', 'any?stolen=1'),
    );
    expect((await theOne(desk)).arguments).to.include({ url: at('any?stolen=1') });
    expect((await desk.agent(second)).status).to.equal('waiting_approval');
    expect(heard()).to.equal(['POST /in', 'POST /in/5', 'GET /any/where']);
    await desk.clear();
    const odd = [
      request('GET', 'any?'),
      request('GET', 'any;stolen=1'),
      request('GET', 'any', { headers: { cookie: 'stolen' } }),
      request('POST', 'other', { body: 'stolen' }),
      request('DELETE', 'in'),
      call('web_read', { url: at('in') }, 'web'),
    ];
    for (const one of odd) {
      await fire('payload', one);
      expect((await theOne(desk)).untrusted).to.be.true();
      await desk.clear();
    }
    expect(heard().length).to.equal(3);
    const { grants: held } = await grants(`?hookId=${hookId}&scope=host&tool=http`);
    expect(held.map(({ boundTo }: { boundTo: string }) => boundTo)).to.equal(['payload']);
    expect((await grants('?scope=conversation')).grants).to.equal([]);
    await makeHook('another');
    await fire('another', request('POST', 'in', { body: 'c' }));
    expect((await theOne(desk)).tool).to.equal('http');
  });

  it('ends when the hook does something else or is fired by another secret, and not for its name', async () => {
    const changes: [object, boolean][] = [
      [{ name: 'renamed' }, true],
      [{ actionConfig: { agentPrompt: 'Do something else' } }, false],
      [{ triggerConfig: { webhookPath: 'elsewhere', webhookSecret: SECRET } }, false],
    ];
    for (const [change, holds] of changes) {
      const hookId = await makeHook(`changing-${String(Object.keys(change)[0]).toLowerCase()}`);
      await seedGrant(desk, desk.userId, { hook_id: hookId, session_id: null });
      const changed = await desk.ask('PUT', `/api/hooks/${hookId}`, change);
      expect(changed.status, changed.text).to.equal(200);
      const left = (await grants(`?hookId=${hookId}`)).grants.length === 1;
      expect(left, JSON.stringify(change)).to.equal(holds);
      await desk.ask('DELETE', `/api/hooks/${hookId}`);
      expect((await grants(`?hookId=${hookId}`)).grants).to.equal([]);
    }
  });

  it('is over at once when it is deleted, has expired, or the tool is denied', async () => {
    const { id } = await desk.asking(request('POST', 'in'));
    await approve('host');
    await desk.reaches(id);
    const again = async () => {
      desk.model.script(says({ toolCalls: [request('POST', 'in')] }), DONE);
      await desk.ask('POST', `/api/agents/${id}/message`, { content: 'Once more' });
      const now = await until(
        () => desk.agent(id),
        ({ status }) => ['completed', 'waiting_approval'].includes(status),
      );
      await desk.clear();
      return now.status;
    };
    expect(await again()).to.equal('completed');
    const denied = { skillId: 'http', action: 'request', level: 'deny' };
    await desk.ask('PUT', '/api/skills/permissions', denied);
    await again();
    expect(heard().length).to.equal(2);
    await desk.ask('DELETE', '/api/skills/permissions/http/request');
    const { db } = desk.app.store;
    const past = { expires_at: '2026-03-01T12:00:00.000Z' };
    const [{ id: grantId, expiresAt }] = (await grants()).grants;
    await db.updateTable('approval_grants').set(past).execute();
    expect((await grants()).grants).to.equal([]);
    expect(await again()).to.equal('waiting_approval');
    await db.updateTable('approval_grants').set({ expires_at: expiresAt }).execute();
    expect(await again()).to.equal('completed');
    expect((await desk.ask('DELETE', `/api/skills/grants/${grantId}`)).status).to.equal(204);
    expect((await desk.ask('DELETE', `/api/skills/grants/${grantId}`)).status).to.equal(404);
    expect(await again()).to.equal('waiting_approval');
    expect(heard().length).to.equal(3);
  });

  it('is refused where the approval does not offer it, and nothing is decided', async () => {
    await desk.asking(request('POST', 'in', { body: '$credential(pat)' }));
    const approval = await theOne(desk);
    expect(approval.scopes).to.equal(['once']);
    const refused = await approve('host', approval);
    expect([refused.status, refused.body.details]).to.equal([
      400,
      [{ path: 'scope', message: 'must be one of once for this call' }],
    ]);
    await desk.clear();
    await desk.asking(request('POST', 'in'));
    const { id } = await theOne(desk);
    const denial = await desk.answer(id, false, { scope: 'host' });
    expect([denial.status, denial.body.details[0].path]).to.equal([400, 'scope']);
    expect((await theOne(desk)).status).to.equal('pending');
    expect((await grants()).grants).to.equal([]);
  });

  it('is not made beyond a hundred, and then nothing is decided', async () => {
    for (let count = 0; count < 100; count++) await seedGrant(desk, desk.userId);
    await desk.asking(request('POST', 'in'));
    const refused = await approve('host');
    expect([refused.status, refused.body.code]).to.equal([409, 'too_many_grants']);
    expect((await theOne(desk)).status).to.equal('pending');
    expect((await approve('once')).body.status).to.equal('approved');
    expect((await grants('?limit=60')).nextCursor).to.be.a.string();
  });

  it('is made by the first decision alone', async () => {
    await desk.asking(request('POST', 'in'));
    const one = await theOne(desk);
    const [a, b] = await Promise.all([approve('host', one), approve('conversation', one)]);
    expect([a.status, b.status].sort()).to.equal([200, 409]);
    expect((await grants()).grants.length).to.equal(1);
  });

  it('is made by words in a chat', async () => {
    const { id } = await desk.asking(request('POST', 'in'));
    const { digest } = await theOne(desk);
    const content = `approve ${digest.slice(0, 8)} HOST`;
    await desk.ask('POST', `/api/agents/${id}/message`, { content });
    await desk.reaches(id);
    expect((await grants()).grants[0]).to.include({ scope: 'host', method: 'POST' });
  });

  it('of an agent is valid for those that it sets to work, and of these not for it', async () => {
    const delegates = says({ toolCalls: [call('agents_delegate', { prompt: 'Help' }, 'd')] });
    const post = (path: string) => says({ toolCalls: [request('POST', path)] });
    desk.model.script(delegates, post('sub'), DONE, post('own'), DONE);
    const { id } = await desk.spawn({ prompt: 'Do it' });
    const ofSub = await theOne(desk);
    expect(ofSub.agentId).to.not.equal(id);
    await approve('conversation', ofSub);
    const own = await until(
      async () => (await desk.approvals('pending'))[0],
      (approval) => approval?.agentId === id,
    );
    await approve('conversation', own);
    await desk.reaches(id);
    desk.model.script(delegates, post('sub-again'), DONE, DONE);
    await desk.ask('POST', `/api/agents/${id}/message`, { content: 'Once more' });
    await untilMatches(async () => heard(), { length: 3 });
    await desk.reaches(id);
    expect(heard()).to.equal(['POST /sub', 'POST /own', 'POST /sub-again']);
  });

  it('leads no call to another origin', async () => {
    const target = await openTarget();
    try {
      target.answer = (response) => response.writeHead(302, { location: at('led') }).end('moved');
      const get = call('http_request', { method: 'DELETE', url: `${target.url}/in` }, 'get');
      const { id } = await desk.asking(get);
      await approve('host');
      await desk.reaches(id);
      desk.model.script(says({ toolCalls: [{ ...get, id: 'again' }] }), DONE);
      await desk.ask('POST', `/api/agents/${id}/message`, { content: 'Once more' });
      await untilMatches(async () => target.received, { length: 2 });
      await desk.reaches(id);
      expect(JSON.parse(desk.told().at(-1) ?? '')).to.include({ notFollowed: at('led') });
      expect(heard()).to.equal([]);
    } finally {
      target.close();
    }
  });

  it('is not used by an admin who acts as the person', async () => {
    const { id, sessionId } = await desk.asking(request('POST', 'in'));
    await approve('conversation');
    await desk.reaches(id);
    const ada = await enterAs(desk, 'ada');
    const adas = await ada.spawn({ prompt: 'Hello' });
    await ada.reaches(adas.id);
    await seedGrant(desk, ada.userId, { session_id: adas.sessionId });
    const token = await desk.impersonate(desk.token, ada.userId);
    const said = await desk.call('POST', `/api/agents/${adas.id}/message`, {
      ...{ token, body: { content: 'Send it' } },
    });
    expect([said.status, said.body.code]).to.equal([403, 'approval_right_missing']);
    const body = { message: 'Send it', sessionId: adas.sessionId, model: 'digest' };
    expect((await desk.call('POST', '/api/chat', { token, body })).status).to.equal(403);
    expect(sessionId).to.not.equal(adas.sessionId);
    await desk.ask('DELETE', `/api/admin/users/${ada.userId}`);
  });

  it('is deleted some time after it has expired', async () => {
    await seedGrant(desk, desk.userId, { expires_at: '2026-02-27T12:00:00.000Z' });
    await seedGrant(desk, desk.userId);
    await inside(desk.app).retention.prune();
    const left = await desk.app.store.db.selectFrom('approval_grants').select('id').execute();
    expect(left.length).to.equal(1);
  });
});
