import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

interface Task {
  id: string;
  title: string;
  status: string;
  completedAt: string | null;
}

describe('completing a task', () => {
  let app: TestApp;
  let owner: { id: string; token: string };
  before(async () => {
    app = await startApp();
    owner = await app.register('ada');
    const body = { name: 'events', url: 'https://example.com/', events: ['task.completed'] };
    await ask('POST', '/api/webhooks', body);
  });
  after(() => app.stop());

  const ask = (method: string, path: string, body?: unknown) =>
    app.call(method, path, { token: owner.token, ...(body !== undefined && { body }) });
  const noted = async (title: string, more: object = {}): Promise<Task> =>
    (await ask('POST', '/api/tasks', { title, ...more })).body;
  const task = async (id: string): Promise<Task> => (await ask('GET', `/api/tasks/${id}`)).body;
  const complete = (id: string, query = '') => ask('POST', `/api/tasks/${id}/complete${query}`);
  const reopen = (id: string) => ask('POST', `/api/tasks/${id}/reopen`);
  const change = (id: string, body: object) => ask('PATCH', `/api/tasks/${id}`, body);
  /** The tasks of which an event was stored. */
  const told = async (): Promise<string[]> => {
    const rows = await app.app.store.db.selectFrom('outgoing_events').select('data').execute();
    return rows.map(({ data }) => JSON.parse(data).taskId);
  };

  it('sets the time, and again changes nothing', async () => {
    const { id } = await noted('Once');
    const first = await complete(id);
    expect([first.status, first.body.status]).to.equal([200, 'done']);
    expect(first.body.completedAt).to.be.a.string();
    expect((await complete(id)).body).to.equal(first.body);
    expect((await told()).filter((each) => each === id)).to.equal([id]);
  });

  it('happens once if it is asked twice at once', async () => {
    const { id } = await noted('Twice');
    const replies = await Promise.all(Array.from({ length: 8 }, () => complete(id)));
    expect(new Set(replies.map(({ body }) => JSON.stringify(body))).size).to.equal(1);
    expect((await told()).filter((each) => each === id)).to.equal([id]);
  });

  it('is refused while others must be done first, and names them', async () => {
    const blocker = await noted('Order the parts');
    const { id } = await noted('Build it', { blockedBy: [blocker.id] });
    for (const reply of [await complete(id), await change(id, { status: 'done' })]) {
      expect([reply.status, reply.body.code]).to.equal([409, 'task_blocked']);
      expect(reply.body.message).to.contain(`Order the parts (${blocker.id})`);
    }
    const free = await noted('Free');
    const both = await change(free.id, { status: 'done', blockedBy: [blocker.id] });
    expect([both.status, both.body.code]).to.equal([409, 'task_blocked']);
    await change(blocker.id, { status: 'archived' });
    expect((await complete(id)).body.status).to.equal('done');
  });

  it('is refused while parts are open, unless they are completed with it', async () => {
    const whole = await noted('Whole');
    const part = await noted('Part', { parentId: whole.id });
    const inner = await noted('Inner', { parentId: part.id, blockedBy: [] });
    const sibling = await noted('Sibling', { parentId: whole.id, blockedBy: [inner.id] });
    const refused = await complete(whole.id);
    expect([refused.status, refused.body.code]).to.equal([409, 'task_has_parts']);
    expect(refused.body.message).to.contain(inner.id);
    const way = `To complete them as well, use POST /api/tasks/${whole.id}/complete?cascade=true`;
    expect(refused.body.message).to.contain(way);
    expect((await change(whole.id, { status: 'done' })).body.message).to.contain(way);
    expect((await complete(whole.id, '?cascade=true')).body.status).to.equal('done');
    const all = [whole, part, inner, sibling].map(({ id }) => id);
    for (const id of all) expect((await task(id)).status).to.equal('done');
    expect((await told()).filter((id) => all.includes(id)).sort()).to.equal(all.sort());
  });

  it('is refused, cascade or not, where a part waits for something else', async () => {
    const other = await noted('Elsewhere');
    const whole = await noted('All');
    await noted('Some', { parentId: whole.id, blockedBy: [other.id] });
    const reply = await complete(whole.id, '?cascade=true');
    expect([reply.status, reply.body.code]).to.equal([409, 'task_blocked']);
    expect((await task(whole.id)).status).to.equal('open');
  });

  it('is undone by reopening, which happens once as well', async () => {
    const { id } = await noted('Undo');
    await complete(id);
    const [one, two] = await Promise.all([reopen(id), reopen(id)]);
    expect(one.body).to.equal(two.body);
    expect([one.body.status, one.body.completedAt]).to.equal(['open', null]);
    await change(id, { status: 'archived' });
    const archived = await complete(id);
    expect([archived.status, archived.body.code]).to.equal([409, 'task_archived']);
    expect((await change(id, { status: 'done' })).status).to.equal(409);
    await reopen(id);
    const patched = await change(id, { status: 'done', title: 'Undone' });
    expect([patched.body.status, patched.body.title]).to.equal(['done', 'Undone']);
    expect((await change(id, { status: 'in_progress' })).body.completedAt).to.be.null();
  });

  it('loses no part that is added at the same moment', async () => {
    for (let n = 0; n < 10; n++) {
      const { id } = await noted('Race');
      const [completed, added] = await Promise.all([
        complete(id),
        ask('POST', '/api/tasks', { title: 'New part', parentId: id }),
      ]);
      expect([200, 409]).to.include(completed.status);
      expect(added.status).to.equal(201);
      if (completed.status === 409) expect((await task(id)).status).to.equal('open');
    }
  });

  it('is heard on the socket', async () => {
    const heard: unknown[] = [];
    const stop = app.app.modules.hub.listen(owner.id, 'task.changed', (data) => heard.push(data));
    const { id } = await noted('Heard');
    const { body } = await complete(id);
    await ask('DELETE', `/api/tasks/${id}`);
    stop();
    expect(heard.slice(1)).to.equal([body, { id, deleted: true }]);
  });
});
