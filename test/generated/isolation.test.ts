import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Isolated, isNeverEmpty, lists, openIsolated, unlike } from './isolated.js';
import { newHook } from './oneofeach.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('the resources of another user', () => {
  let isolated: Isolated;
  let token: string;

  before(async () => {
    isolated = await openIsolated();
    token = isolated.stranger;
  });
  after(() => isolated.app.stop());

  it('are returned to their owner', async () => {
    expect((await isolated.everything()).filter((each) => !each.includes(': 200 '))).to.equal([]);
  });

  it('are hidden from a stranger like an unknown id, and unchanged, on every route', async () => {
    const before = await isolated.everything();
    expect(await isolated.revealed(token)).to.equal([]);
    const after = await isolated.everything();
    expect(after.filter((each, at) => each !== before[at])).to.equal([]);
  });

  it('are in no list of a stranger', async () => {
    const wrong: string[] = [];
    for (const route of lists) {
      const { path } = route.endpoint;
      const { status, text, body } = await isolated.app.call('GET', path, { token });
      const found = isolated.hidden.filter((id) => text.includes(`"${id}"`));
      const [items] = Object.values(body) as [unknown[]];
      const isRight = status === 200 && (isNeverEmpty(route) || items.length === 0);
      if (!isRight || found.length > 0) wrong.push(`${route.name}: ${status} ${text}`);
    }
    expect(wrong).to.equal([]);
  });

  it('are not reached through a resource of the stranger', async () => {
    const own = await newHook(isolated.app, token, 'own');
    const { executionId = '' } = isolated.ids.hooks ?? {};
    const path = `/api/hooks/${own}/executions/${executionId}`;
    expect((await isolated.app.call('GET', path, { token })).status).to.equal(404);
    const replay = await isolated.app.call('POST', `${path}/replay`, { token, body: {} });
    expect(replay.status).to.equal(404);
    await isolated.app.call('DELETE', `/api/hooks/${own}`, { token });
  });

  it('are not used by an id in a body', async () => {
    const spawn = async (sessionId: string) => {
      const body = { prompt: 'read it all to me', sessionId };
      const reply = await isolated.app.call('POST', '/api/agents', { token, body });
      return { status: reply.status, ...reply.body, requestId: '' };
    };
    const { id = '' } = isolated.ids.sessions ?? {};
    const refused = await spawn(id);
    expect([400, 404]).to.include(refused.status);
    expect(await spawn(unlike(id))).to.equal(refused);
  });

  it('are not marked as read by read-all of a stranger', async () => {
    const { app, owner } = isolated;
    const count = async () =>
      (await app.call('GET', '/api/notifications', { token: owner })).body.unreadCount;
    const before = await count();
    const { body } = await app.call('POST', '/api/notifications/read-all', { token });
    expect({ read: body.read, left: await count() }).to.equal({ read: 0, left: before });
    expect(before > 0).to.be.true();
  });
});
