import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock, startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('tasks', () => {
  let app: TestApp;
  let clock: FrozenClock;
  let token: string;
  before(async () => {
    clock = frozenClock();
    app = await startApp({ clock });
    ({ token } = await app.register('ada'));
  });
  after(() => app.stop());

  const ask = (method: string, path: string, body?: unknown, by = token) =>
    app.call(method, path, { token: by, ...(body !== undefined && { body }) });
  const noted = async (title: string, more: object = {}, by = token) => {
    const reply = await ask('POST', '/api/tasks', { title, ...more }, by);
    expect(reply.status, JSON.stringify(reply.body)).to.equal(201);
    return reply.body;
  };
  const change = (id: string, body: object, by = token) =>
    ask('PATCH', `/api/tasks/${id}`, body, by);
  const complete = (id: string, query = '') => ask('POST', `/api/tasks/${id}/complete${query}`);
  const titles = async (query: string, by = token): Promise<string[]> =>
    (await ask('GET', `/api/tasks?${query}`, undefined, by)).body.tasks.map(
      ({ title }: { title: string }) => title,
    );
  const faults = async (body: object) => {
    const reply = await ask('POST', '/api/tasks', { title: 'No', ...body });
    return [reply.status, ...(reply.body.details ?? []).map(({ path }: { path: string }) => path)];
  };

  it('have the fields that were given, and defaults for all others', async () => {
    const task = await noted('  Renew the\ncertificate ');
    expect(task).to.equal({
      id: task.id,
      orgId: null,
      title: 'Renew the certificate',
      notes: null,
      status: 'open',
      priority: 0,
      due: null,
      dueAt: null,
      timezone: 'UTC',
      reminderMinutes: 15,
      tags: [],
      parentId: null,
      blockedBy: [],
      assignee: 'me',
      untrusted: false,
      source: { kind: 'person', id: null },
      recurringTaskId: null,
      completedAt: null,
      createdAt: '2026-03-01T12:00:00.000Z',
      updatedAt: '2026-03-01T12:00:00.000Z',
    });
    expect((await ask('GET', `/api/tasks/${task.id}`)).body).to.equal(task);
  });

  it('take back what they show', async () => {
    const first = await noted('First');
    const task = await noted('Whole', {
      notes: 'All of it',
      priority: 3,
      dueAt: '2026-04-01T09:00+02:00',
      timezone: 'Europe/Berlin',
      reminderMinutes: null,
      tags: ['servers', 'tls'],
      blockedBy: [first.id],
    });
    expect(task.dueAt).to.equal('2026-04-01T07:00:00.000Z');
    clock.forward(1000);
    const { updatedAt, ...same } = task;
    const { updatedAt: later, ...shown } = (await change(task.id, task)).body;
    expect(shown).to.equal(same);
    expect(later > updatedAt).to.be.true();
  });

  it('are due on a day or at a time; one takes the place of the other', async () => {
    expect(await faults({ due: '2026-04-01', dueAt: '2026-04-01T09:00Z' })).to.equal([
      400,
      'dueAt',
    ]);
    const { id } = await noted('Due', { due: '2026-04-01' });
    const timed = (await change(id, { dueAt: '2026-04-02T09:00', timezone: 'Asia/Tokyo' })).body;
    expect([timed.due, timed.dueAt]).to.equal([null, '2026-04-02T00:00:00.000Z']);
    const dated = (await change(id, { due: '2026-04-03' })).body;
    expect([dated.due, dated.dueAt]).to.equal(['2026-04-03', null]);
    const free = (await change(id, { due: null })).body;
    expect([free.due, free.dueAt]).to.equal([null, null]);
  });

  it('name the field of what they cannot be', async () => {
    expect(await faults({ title: ' \n' })).to.equal([400, 'title']);
    expect(await faults({ title: 'x'.repeat(501) })).to.equal([400, 'title']);
    expect(await faults({ notes: 'x'.repeat(10_001) })).to.equal([400, 'notes']);
    expect(await faults({ due: '2026-02-30' })).to.equal([400, 'due']);
    expect(await faults({ dueAt: '2026-02-30T09:00' })).to.equal([400, 'dueAt']);
    expect(await faults({ dueAt: '2026-02-03T25:00' })).to.equal([400, 'dueAt']);
    expect(await faults({ dueAt: '2026-02-03' })).to.equal([400, 'dueAt']);
    expect(await faults({ timezone: 'Mars/Base' })).to.equal([400, 'timezone']);
    expect(await faults({ priority: 4 })).to.equal([400, 'priority']);
    expect(await faults({ tags: ['a', 'a'] })).to.equal([400, 'tags.1']);
    expect(await faults({ parentId: 'task_none' })).to.equal([400, 'parentId']);
    const { id } = await noted('Known');
    expect(await faults({ blockedBy: [id, 'task_none'] })).to.equal([400, 'blockedBy.1']);
    expect(await faults({ urgency: 1 })).to.equal([400, 'urgency']);
    const given = await change(id, { assignee: 'agent_none' });
    expect([given.status, given.body.details[0].path]).to.equal([400, 'assignee']);
  });

  it('are found by their words, tags, states and parents', async () => {
    const parent = await noted('Move the office', { tags: ['office'] });
    await noted('Pack the servers', { parentId: parent.id, tags: ['office', 'servers'] });
    const done = await noted('Cancel the lease', { notes: 'Ask Grace', parentId: parent.id });
    await complete(done.id);
    expect(await titles(`parentId=${parent.id}`)).to.equal([
      'Cancel the lease',
      'Pack the servers',
    ]);
    expect(await titles(`parentId=${parent.id}&status=done`)).to.equal(['Cancel the lease']);
    expect(await titles('tag=office')).to.equal(['Pack the servers', 'Move the office']);
    expect(await titles('q=grace')).to.equal(['Cancel the lease']);
    expect(await titles('q=server&tag=office')).to.equal(['Pack the servers']);
    await change(done.id, { notes: 'Ask Linus', tags: ['office'] });
    expect(await titles('q=grace')).to.equal([]);
    expect(await titles('q=linus&tag=office')).to.equal(['Cancel the lease']);
  });

  it('come in pages, newest first or by due', async () => {
    const { token: by } = await app.register('pager');
    for (const n of [3, 1, 2]) await noted(`Due ${n}`, { due: `2026-03-0${n}` }, by);
    await noted('Some time', {}, by);
    const pages = async (query: string) => {
      const found: string[] = [];
      for (let cursor = ''; ; ) {
        const path = `/api/tasks?${query}&limit=2${cursor}`;
        const { body } = await ask('GET', path, undefined, by);
        found.push(...body.tasks.map(({ title }: { title: string }) => title));
        if (body.nextCursor === null) return found;
        cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
      }
    };
    expect(await pages('')).to.equal(['Some time', 'Due 2', 'Due 1', 'Due 3']);
    expect(await pages('view=next')).to.equal(['Due 1', 'Due 2', 'Due 3', 'Some time']);
    expect(await pages('due=week')).to.equal(['Due 1', 'Due 2', 'Due 3']);
  });

  it('are next by due, then by priority, and only if nothing blocks them', async () => {
    const { token: by } = await app.register('planner');
    const first = await noted('First', { priority: 1 }, by);
    await noted('Later', { due: '2026-05-01' }, by);
    await noted('Urgent', { due: '2026-05-01', priority: 3 }, by);
    await noted('Blocked', { due: '2026-03-02', blockedBy: [first.id] }, by);
    expect(await titles('view=next', by)).to.equal(['Urgent', 'Later', 'First']);
    await ask('POST', `/api/tasks/${first.id}/complete`, undefined, by);
    expect(await titles('view=next', by)).to.equal(['Blocked', 'Urgent', 'Later']);
  });

  it('are not next while a part at any depth is open; their parts are', async () => {
    const { token: by } = await app.register('splitter');
    const whole = await noted('Whole', { due: '2026-05-01' }, by);
    const part = await noted('Part', { parentId: whole.id }, by);
    const inner = await noted('Inner', { parentId: part.id }, by);
    expect(await titles('view=next', by)).to.equal(['Inner']);
    const to = (id: string, status: string) =>
      ask('PATCH', `/api/tasks/${id}`, { status }, by).then((reply) => reply.status);
    // What is archived blocks nothing, but what is below it must be done all the same.
    expect(await to(part.id, 'archived')).to.equal(200);
    expect(await titles('view=next', by)).to.equal(['Inner']);
    expect(await to(inner.id, 'done')).to.equal(200);
    expect(await titles('view=next', by)).to.equal(['Whole']);
  });

  it('refuse links that close a loop', async () => {
    const a = await noted('A');
    const b = await noted('B', { parentId: a.id });
    const c = await noted('C', { blockedBy: [b.id] });
    const loop = async (id: string, body: object) => {
      const reply = await change(id, body);
      return [reply.status, reply.body.details?.[0].path];
    };
    expect(await loop(a.id, { parentId: b.id })).to.equal([400, 'parentId']);
    expect(await loop(a.id, { parentId: a.id })).to.equal([400, 'parentId']);
    expect(await loop(b.id, { blockedBy: [c.id] })).to.equal([400, 'blockedBy']);
    expect(await loop(b.id, { blockedBy: [b.id] })).to.equal([400, 'blockedBy']);
    // A part that waits for the whole would never be done.
    expect(await loop(b.id, { blockedBy: [a.id] })).to.equal([400, 'blockedBy']);
    expect((await ask('GET', `/api/tasks/${b.id}`)).body.blockedBy).to.equal([]);
  });

  it('close no loop by two changes at once', async () => {
    const a = await noted('One way');
    const b = await noted('Other way');
    const replies = await Promise.all([
      change(a.id, { blockedBy: [b.id] }),
      change(b.id, { blockedBy: [a.id] }),
    ]);
    expect(replies.map(({ status }) => status).sort()).to.equal([200, 400]);
  });

  it('keep both of two changes at once', async () => {
    const { id } = await noted('Both');
    await Promise.all([change(id, { priority: 2 }), change(id, { notes: 'Kept' })]);
    const { body } = await ask('GET', `/api/tasks/${id}`);
    expect([body.priority, body.notes]).to.equal([2, 'Kept']);
  });

  it('are deleted alone, or with their parts, and block nothing more', async () => {
    const a = await noted('Whole');
    const b = await noted('Part', { parentId: a.id });
    await noted('Part of the part', { parentId: b.id });
    const waits = await noted('Waits', { blockedBy: [b.id] });
    const refused = await ask('DELETE', `/api/tasks/${a.id}`);
    expect([refused.status, refused.body.code]).to.equal([409, 'task_has_parts']);
    expect((await ask('DELETE', `/api/tasks/${a.id}?cascade=true`)).status).to.equal(204);
    expect(await titles('q=part')).to.equal([]);
    expect((await ask('GET', `/api/tasks/${waits.id}`)).body.blockedBy).to.equal([]);
    expect((await ask('DELETE', `/api/tasks/${a.id}`)).status).to.equal(404);
  });

  it('may lie 1,200 levels deep, and go with their account all the same', async () => {
    const deep = await app.register('deep');
    const { db } = app.app.store;
    const { id, ...top } = await db
      .selectFrom('tasks')
      .selectAll()
      .where('id', '=', (await noted('Top', {}, deep.token)).id)
      .executeTakeFirstOrThrow();
    const idOf = (n: number) => (n === 0 ? id : `${id}${n}`);
    const rows = Array.from({ length: 1200 }, (_, n) => {
      return { ...top, id: idOf(n + 1), parent_id: idOf(n) };
    });
    for (let at = 0; at < rows.length; at += 300) {
      await db
        .insertInto('tasks')
        .values(rows.slice(at, at + 300))
        .execute();
    }
    const closed = await change(id, { parentId: idOf(1200) }, deep.token);
    expect([closed.status, closed.body.details[0].path]).to.equal([400, 'parentId']);
    await db.deleteFrom('users').where('id', '=', deep.id).execute();
    const left = await db.selectFrom('tasks').select('id').where('user_id', '=', deep.id).execute();
    expect(left).to.equal([]);
  });

  it('are those of one person alone', async () => {
    const bob = await app.register('bob');
    const mine = await noted('Secret plan', { tags: ['secret'] });
    expect(await titles('q=secret', bob.token)).to.equal([]);
    expect(await titles('tag=secret', bob.token)).to.equal([]);
    expect((await change(mine.id, { title: 'x' }, bob.token)).status).to.equal(404);
    for (const body of [{ parentId: mine.id }, { blockedBy: [mine.id] }]) {
      const reply = await ask('POST', '/api/tasks', { title: 'Theirs', ...body }, bob.token);
      expect(reply.status).to.equal(400);
    }
  });
});
