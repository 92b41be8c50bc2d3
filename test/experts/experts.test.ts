import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, startApp, type TestApp } from '../harness/app.js';
import { inside } from '../harness/inside.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const NOW = '2026-03-01T12:00:00.000Z';
const BOOKKEEPER = {
  name: 'bookkeeper',
  description: 'Books invoices',
  instructions: 'Check every sum twice.',
};
const SHIPPED = ['triage', 'engineer', 'operations', 'writer', 'researcher', 'analyst'];

describe('experts', () => {
  let test: TestApp;
  let ann: { id: string; token: string };
  let bob: { id: string; token: string };
  before(async () => {
    test = await startApp({ clock: frozenClock() });
    ann = await test.register('ann');
    await test.call('POST', '/api/admin/users/new/invite', { token: ann.token, body: {} });
    const { body } = await test.call('POST', '/api/admin/users/new/invite', {
      token: ann.token,
      body: {},
    });
    const made = await test.call('POST', '/api/auth/register', {
      body: { username: 'bob', password: 'correct horse battery', inviteToken: body.inviteToken },
    });
    bob = { id: made.body.user.id, token: made.body.token };
  });
  after(() => test.stop());
  beforeEach(() => test.app.store.db.deleteFrom('experts').execute());

  const as =
    ({ token }: { token: string }) =>
    (method: string, path: string, body?: unknown) =>
      test.call(method, path, { token, ...(body !== undefined && { body }) });
  const ask = (method: string, path: string, body?: unknown) => as(ann)(method, path, body);
  const create = async (given: object = {}) => {
    const { body, status, text } = await ask('POST', '/api/experts', { ...BOOKKEEPER, ...given });
    if (status !== 201) throw new Error(text);
    return body;
  };
  const names = async (query = ''): Promise<string[]> =>
    (await ask('GET', `/api/experts${query}`)).body.experts.map(
      ({ name }: { name: string }) => name,
    );

  it('lists those that ship, and shows one', async () => {
    const { status, body } = await ask('GET', '/api/experts');
    expect([status, body.nextCursor]).to.equal([200, null]);
    expect(body.experts.map(({ id }: { id: string }) => id)).to.equal(SHIPPED);
    const engineer = await ask('GET', '/api/experts/engineer');
    expect(engineer.body).to.equal(body.experts[1]);
    expect(engineer.body).to.include({ source: 'system', topic: 'engineer', createdAt: null });
    expect(engineer.body.tools).to.contain(['files', 'shell', 'http', 'mcp']);
  });

  it('creates one', async () => {
    const given = {
      ...BOOKKEEPER,
      keywords: ['Invoice', ' tax return ', 'invoice'],
      tools: ['time.now', 'http', 'mcp'],
      topic: 'money',
      model: 'digest',
    };
    const { status, body } = await ask('POST', '/api/experts', given);
    expect(status).to.equal(201);
    expect(body).to.equal({
      ...given,
      id: body.id,
      orgId: null,
      source: 'custom',
      keywords: ['invoice', 'tax return'],
      createdAt: NOW,
      updatedAt: NOW,
    });
    expect((await ask('GET', `/api/experts/${body.id}`)).body).to.equal(body);
  });

  it('changes what it is given and keeps the rest', async () => {
    const made = await create({ tools: ['http'], topic: 'money' });
    const { status, body } = await ask('PATCH', `/api/experts/${made.id}`, {
      ...made,
      tools: null,
      keywords: ['Sum'],
    });
    expect(status).to.equal(200);
    expect(body).to.equal({ ...made, tools: null, keywords: ['sum'] });
  });

  it('deletes one', async () => {
    const { id } = await create();
    expect((await ask('DELETE', `/api/experts/${id}`)).status).to.equal(204);
    expect((await ask('DELETE', `/api/experts/${id}`)).status).to.equal(404);
    expect(await names()).to.equal(SHIPPED);
  });

  it('lists page by page, its user’s own first, the newest foremost', async () => {
    for (const name of ['a', 'b', 'c']) await create({ name });
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await ask('GET', `/api/experts?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.experts.map(({ name }: { name: string }) => name));
      cursor = body.nextCursor;
    } while (cursor);
    expect(seen).to.equal(['c', 'b', 'a', ...SHIPPED]);
    expect(await names('?source=custom')).to.equal(['c', 'b', 'a']);
    expect(await names('?source=system&limit=1')).to.equal(['triage']);
    expect((await ask('GET', '/api/experts?source=mine')).status).to.equal(400);
  });

  it('leaves those that ship as they are', async () => {
    for (const [method, body] of [['PATCH', { topic: 'x' }], ['DELETE']] as const) {
      const refused = await ask(method, '/api/experts/writer', body);
      expect([refused.status, refused.body.code]).to.equal([409, 'system_expert']);
    }
  });

  it('refuses a name that is taken, of its own or of one that ships, on its way in and later', async () => {
    const { id } = await create();
    const other = await create({ name: 'other' });
    for (const name of ['bookkeeper', 'triage']) {
      const made = await ask('POST', '/api/experts', { ...BOOKKEEPER, name });
      const changed = await ask('PATCH', `/api/experts/${other.id}`, { name });
      for (const { status, body } of [made, changed]) {
        expect([status, body.code]).to.equal([409, 'name_taken']);
      }
    }
    expect((await ask('PATCH', `/api/experts/${id}`, { name: 'bookkeeper' })).status).to.equal(200);
    expect((await as(bob)('POST', '/api/experts', BOOKKEEPER)).status).to.equal(201);
  });

  const BAD: [string, object, string][] = [
    ['a name with capitals', { name: 'Book' }, 'name'],
    ['a name that could be a path', { name: '../x' }, 'name'],
    ['no instructions', { instructions: '' }, 'instructions'],
    ['a long description', { description: 'x'.repeat(301) }, 'description'],
    ['a tool that is not there', { tools: ['http', 'hammer'] }, 'tools.1'],
    ['a model that is not there', { model: 'gpt-99' }, 'model'],
    ['an unknown key', { userId: 'user_1' }, 'userId'],
  ];
  for (const [what, given, path] of BAD) {
    it(`refuses ${what}`, async () => {
      const { status, body } = await ask('POST', '/api/experts', { ...BOOKKEEPER, ...given });
      expect([status, body.details?.[0]?.path]).to.equal([400, path]);
      expect(await names('?source=custom')).to.equal([]);
    });
  }

  it('has room for a hundred, however many come at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 110 }, (_, n) =>
        ask('POST', '/api/experts', { ...BOOKKEEPER, name: `e${n}` }),
      ),
    );
    const refused = made.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body.code])).to.equal(
      Array.from({ length: 10 }, () => [409, 'too_many']),
    );
  });

  it('hides them from others, and from those who are not logged in', async () => {
    const { id } = await create();
    const path = `/api/experts/${id}`;
    const stranger = as(bob);
    const missing = await stranger('GET', '/api/experts/expert_0');
    for (const [method, body] of [['GET'], ['PATCH', { topic: 'x' }], ['DELETE']] as const) {
      const { status, body: said } = await stranger(method, path, body);
      expect([status, said.message]).to.equal([404, missing.body.message]);
    }
    const { body } = await stranger('GET', '/api/experts');
    expect(body.experts.length).to.equal(SHIPPED.length);
    expect((await test.call('GET', '/api/experts')).status).to.equal(401);
  });
});

describe('an agent with an expert', () => {
  let test: TestApp;
  let token: string;
  before(async () => {
    test = await startApp();
    ({ token } = await test.register('ann'));
  });
  after(() => test.stop());
  const ask = (method: string, path: string, body?: unknown) =>
    test.call(method, path, { token, ...(body !== undefined && { body }) });

  it('plays its part as it was then: role, topic, words and tools', async () => {
    const { body: expert } = await ask('POST', '/api/experts', {
      ...BOOKKEEPER,
      tools: ['time'],
      topic: 'money',
      model: 'digest',
    });
    const { status, body } = await ask('POST', '/api/agents', {
      prompt: 'Book it',
      expertId: expert.id,
    });
    expect(status).to.equal(201);
    expect(body).to.include({ role: 'bookkeeper', topic: 'money', model: 'digest' });
    expect(body.name).to.match(/^bookkeeper-/);
    await ask('DELETE', `/api/experts/${expert.id}`);
    const row = await inside(test.app).rows.byId(body.id);
    const { id, name, instructions } = expert;
    expect(JSON.parse(row?.expert ?? '')).to.equal({ id, name, instructions, tools: ['time'] });
    const mine = await ask('POST', '/api/agents', {
      ...{ prompt: 'x', topic: 'other', expertId: 'writer' },
    });
    expect(mine.body).to.include({ role: 'writer', topic: 'other' });
  });

  it('is refused where there is none of that id, or it is another’s', async () => {
    for (const path of ['/api/agents', '/api/chat']) {
      const said = path === '/api/chat' ? { message: 'x' } : { prompt: 'x' };
      const { status, body } = await ask('POST', path, { ...said, expertId: 'plumber' });
      expect([status, body.details[0].path]).to.equal([400, 'expertId']);
    }
  });

  it('answers in a chat, and goes on there until another is wished for', async () => {
    const first = await ask('POST', '/api/chat', { message: 'Hi', expertId: 'writer' });
    expect(first.status).to.equal(200);
    const { sessionId, agentId } = first.body;
    const next = await ask('POST', '/api/chat', { message: 'And?', sessionId });
    expect(next.body.agentId).to.equal(agentId);
    const other = await ask('POST', '/api/chat', {
      message: 'Sum',
      sessionId,
      expertId: 'analyst',
    });
    expect(other.body.agentId).to.not.equal(agentId);
    expect((await ask('GET', `/api/agents/${other.body.agentId}`)).body.role).to.equal('analyst');
  });
});
