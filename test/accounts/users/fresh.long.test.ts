import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD } from '../../harness/app.js';
import { inside } from '../../harness/inside.js';
import { makeToken } from '../../harness/token.js';
import { openStage, type Stage } from './stage.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const TEN_MINUTES_MS = 10 * 60_000;

interface Act {
  method: string;
  path(stage: Stage): string;
  body: object;
  status: number;
}

const about = (stage: Stage, rest = ''): string => `/api/admin/users/${stage.bob.id}${rest}`;
const fixed = (path: string) => (): string => path;

/** What gives rights or lets somebody in, and so is for somebody who has just logged in. */
const ACTS: Record<string, Act> = {
  'changes a role': { method: 'PATCH', path: about, body: { role: 'admin' }, status: 200 },
  'gives a permission': {
    method: 'PATCH',
    path: about,
    body: { permissions: { shell: true } },
    status: 200,
  },
  'asks in an admin': {
    method: 'POST',
    path: fixed('/api/admin/users/new/invite'),
    body: { role: 'admin' },
    status: 201,
  },
  'gives a reset link': {
    method: 'POST',
    path: (stage) => about(stage, '/invite'),
    body: {},
    status: 201,
  },
  'acts as another': {
    method: 'POST',
    path: (stage) => about(stage, '/impersonate'),
    body: { reason: 'ticket 41' },
    status: 200,
  },
  'makes a code that links a channel': {
    method: 'POST',
    path: fixed('/api/channels/codes'),
    body: {},
    status: 201,
  },
  'makes an address a channel': {
    method: 'POST',
    path: fixed('/api/channels'),
    body: { kind: 'webhook', url: 'https://hooks.invalid/in' },
    status: 201,
  },
};
/** What waits for nothing, or gives no right. */
const ALWAYS: Record<string, Act> = {
  'shuts a user out': { method: 'PATCH', path: about, body: { disabled: true }, status: 200 },
  'sets limits': { method: 'PATCH', path: about, body: { limits: { dailySteps: 3 } }, status: 200 },
  'asks in a user': {
    method: 'POST',
    path: fixed('/api/admin/users/new/invite'),
    body: {},
    status: 201,
  },
};

describe('an admin whose login is over ten minutes old', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
  });
  afterEach(() => stage.stop());

  const act = async ({ method, path, body }: Act, more: object = {}) => {
    const reply = await stage.ask(method, path(stage), { ...body, ...more });
    return [reply.status, reply.status < 400 ? undefined : reply.body.code];
  };

  for (const [does, each] of Object.entries(ACTS)) {
    it(`${does} with the password alone`, async () => {
      stage.clock.forward(TEN_MINUTES_MS + 1);
      expect(await act(each)).to.equal([403, 'password_required']);
      expect(await act(each, { password: 'wrong horse battery' })).to.equal([
        401,
        'wrong_password',
      ]);
      expect(await act(each, { password: PASSWORD })).to.equal([each.status, undefined]);
    });

    it(`${does} without it until then`, async () => {
      stage.clock.forward(TEN_MINUTES_MS);
      expect((await act(each))[0]).to.equal(each.status);
    });
  }

  for (const [does, each] of Object.entries(ALWAYS)) {
    it(`${does} all the same`, async () => {
      stage.clock.forward(TEN_MINUTES_MS + 1);
      expect((await act(each))[0]).to.equal(each.status);
    });
  }

  it('leaves no password in the audit log', async () => {
    await stage.ask('PATCH', about(stage), { role: 'admin', password: PASSWORD });
    const entries = await stage.audited('users.update');
    expect(entries.map(({ data }) => data)).to.equal([{ role: 'admin' }]);
  });

  it('needs it with a token too, which has no login', async () => {
    const made = await makeToken(stage.app, stage.admin.token, { scopes: ['admin:write'] });
    const patch = async (body: object) =>
      (await stage.as(made, 'PATCH', about(stage), body)).status;
    expect(await patch({ role: 'admin' })).to.equal(403);
    expect(await patch({ limits: { dailySteps: 3 } })).to.equal(200);
    expect(await patch({ role: 'admin', password: PASSWORD })).to.equal(200);
  });

  it('links a channel with the password alone, and the code is not spent before', async () => {
    const sender = { kind: 'slack' as const, id: 'T1/U1', name: 'Ada' };
    const { code } = await inside(stage.app.app).links.makeCode(sender);
    const { db } = stage.app.app.store;
    await db
      .updateTable('auth_sessions')
      .set({ created_at: '2026-03-01T11:49:59.999Z' })
      .where('user_id', '=', stage.admin.id)
      .execute();
    const late = await stage.ask('POST', '/api/auth/link', { code });
    expect([late.status, late.body.code]).to.equal([403, 'password_required']);
    const linked = await stage.ask('POST', '/api/auth/link', { code, password: PASSWORD });
    expect([linked.status, linked.body.name]).to.equal([201, 'Ada']);
  });
});
