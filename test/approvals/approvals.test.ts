import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Reply, startApp, type TestApp } from '../harness/app.js';
import { askApproval } from '../harness/approval.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('approvals over HTTP', () => {
  let app: TestApp;
  let owner: { id: string; token: string };
  before(async () => {
    app = await startApp();
    owner = await app.register('owner');
  });
  after(() => app.stop());

  const ask = (method: string, path: string, body?: object, token = owner.token): Promise<Reply> =>
    app.call(method, path, { token, ...(body && { body }) });
  const answer = (approvalId: string, token?: string) =>
    ask('POST', '/api/chat/approve', { approvalId, approved: true }, token);
  const made = async (body: object): Promise<string> =>
    (await ask('POST', '/api/auth/tokens', { name: 'ci', ...body })).body.token;

  it('are listed in pages, newest first, by status', async () => {
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await askApproval(app, owner.id));
    await answer(ids[1] ?? '');
    const list = async (query: string) => (await ask('GET', `/api/chat/approvals${query}`)).body;
    const idsOf = ({ approvals }: { approvals: { id: string }[] }) => approvals.map(({ id }) => id);
    expect(idsOf(await list(''))).to.equal([...ids].reverse());
    expect(idsOf(await list('?status=approved'))).to.equal([ids[1]]);
    expect(idsOf(await list('?agentId=agent_none'))).to.equal([]);
    const first = await list('?limit=2');
    expect(idsOf(await list(`?limit=2&cursor=${first.nextCursor}`))).to.equal([ids[0]]);
    expect((await ask('GET', '/api/chat/approvals?status=maybe')).status).to.equal(400);
  });

  it('read the notification of a call that has no agent', async () => {
    const id = await askApproval(app, owner.id);
    const unread = async () =>
      (await ask('GET', '/api/notifications?unread=true')).body.notifications.filter(
        ({ link }: { link: string }) => link === `/approvals/${id}`,
      ).length;
    expect(await unread()).to.equal(1);
    await answer(id);
    expect(await unread()).to.equal(0);
  });

  it('are answered by a token only if it names that right', async () => {
    const id = await askApproval(app, owner.id);
    const all = await made({});
    const chat = await made({ scopes: ['chat:write'] });
    for (const token of [all, chat]) {
      const { status, body } = await answer(id, token);
      expect([status, body.code]).to.equal([403, 'scope_missing']);
    }
    const approver = await made({ scopes: ['approvals:write'] });
    expect((await answer(id, approver)).body.status).to.equal('approved');
  });

  it('are never answered by an admin who acts as their owner', async () => {
    const bob = await app.register('bob');
    const id = await askApproval(app, bob.id);
    const acting = await ask('POST', `/api/admin/users/${bob.id}/impersonate`, { reason: 'Help' });
    const { status, body } = await answer(id, acting.body.token);
    expect([status, body.code]).to.equal([403, 'personal_only']);
    expect((await answer(id, bob.token)).body.decidedBy).to.equal(bob.id);
  });

  it('leave one row in the audit log, in the transaction of the answer', async () => {
    const id = await askApproval(app, owner.id);
    const all = await Promise.all(Array.from({ length: 5 }, () => answer(id)));
    expect(all.filter(({ status }) => status === 200).length).to.equal(1);
    const { entries } = (await ask('GET', '/api/admin/audit?action=approvals.approve')).body;
    const rows = entries.filter(({ target }: { target: string }) => target === id);
    expect(rows.map(({ outcome, data }: Reply['body']) => [outcome, data.approved])).to.equal([
      ['ok', true],
    ]);
  });
});
