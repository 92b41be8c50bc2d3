import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createAccountOperations } from '../../../src/accounts/auth/account.js';
import { authStore } from '../../../src/accounts/auth/queries.js';
import { type AuthDeps, logInWithPassword } from '../../../src/accounts/auth/service.js';
import type { AuditRecord } from '../../../src/kernel/contract/audit.js';
import { mint } from '../../../src/kernel/ids.js';
import { createPace } from '../../../src/kernel/pace.js';
import { createRate } from '../../../src/kernel/rate.js';
import { PASSWORD } from '../../harness/app.js';
import { inside } from '../../harness/inside.js';
import { openForSuite } from '../../harness/suite.js';
import { openStage, type Stage, withAnotherBob } from '../users/stage.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

const NEXT = 'another good password';

describe('a login under way', () => {
  const opened = openForSuite(lab, openStage);
  let stage: Stage;
  beforeEach(async () => {
    stage = await withAnotherBob(opened);
  });

  const sessionsOf = async (userId: string): Promise<number> => {
    const { db } = stage.app.app.store;
    const rows = await db
      .selectFrom('auth_sessions')
      .select('id')
      .where('user_id', '=', userId)
      .where('ended_at', 'is', null)
      .execute();
    return rows.length;
  };

  /** The daemon's own store, and passwords that are found right once something has happened. */
  const depsWhile = (happen: () => Promise<void>): AuthDeps => {
    const { clock, app } = stage;
    const verify = async (): Promise<boolean> => {
      await happen();
      return true;
    };
    return {
      users: authStore(app.app.store),
      passwords: { hash: async () => '', verify },
      signer: { sign: () => 'token' },
      clock,
      outbox: inside(app.app).outbox,
      policy: {
        exposure: () => {
          throw new Error('Nobody registers');
        },
        tokenHours: 12,
      },
      checkCode: async () => 'not_needed',
      limits: {
        tries: createRate(0, clock),
        pace: createPace({ everyMs: 0, waiting: 0, wait: async () => undefined }),
        wait: async () => undefined,
      },
    };
  };
  const visit = {
    ...{ requestId: 'r', address: '192.0.2.1', isShared: false, userAgent: '', host: 'localhost' },
    ...{ isLocal: true, signal: new AbortController().signal },
    record: ({ actorId }: { actorId: string }) => ({ audit: entryOf(actorId) }),
  };
  const logInWhile = async (happen: () => Promise<void>): Promise<string> => {
    const given = { username: stage.bob.username, password: PASSWORD };
    try {
      await logInWithPassword(depsWhile(happen), given, visit);
      return 'in';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const disable = async (disabled = true): Promise<void> => {
    const path = `/api/admin/users/${stage.bob.id}`;
    expect((await stage.ask('PATCH', path, { disabled })).status).to.equal(200);
  };
  const disableAndEnable = async (): Promise<void> => {
    await disable();
    await disable(false);
  };
  const reset = async (): Promise<void> => {
    const { inviteToken } = await stage.invite({}, stage.bob.id);
    const body = { inviteToken, password: NEXT };
    const { status } = await stage.app.call('POST', '/api/auth/reset', { body });
    expect(status).to.equal(200);
  };

  it('goes on where nothing changed', async () => {
    expect(await logInWhile(async () => undefined)).to.equal('in');
    expect(await sessionsOf(stage.bob.id)).to.equal(2);
  });

  it('is refused once the password is another', async () => {
    expect(await logInWhile(reset)).to.equal('Wrong username or password');
    expect(await sessionsOf(stage.bob.id)).to.equal(0);
  });

  it('is refused once the account was disabled, and where it was enabled again', async () => {
    expect(await logInWhile(() => disable())).to.equal('Wrong username or password');
    await disable(false);
    expect(await logInWhile(disableAndEnable)).to.equal('Wrong username or password');
    expect(await sessionsOf(stage.bob.id)).to.equal(0);
  });

  it('is refused once a second factor is needed', async () => {
    const { db } = stage.app.app.store;
    const enable = async (): Promise<void> => {
      await db
        .insertInto('totp')
        .values({
          ...{ user_id: stage.bob.id, sealed: 'x', enabled_at: '2026-03-01T12:00:00.000Z' },
          ...{ enable_step: null, login_step: null, disable_step: null },
          created_at: '2026-03-01T12:00:00.000Z',
        })
        .execute();
    };
    expect(await logInWhile(enable)).to.equal('Wrong username or password');
    expect(await sessionsOf(stage.bob.id)).to.equal(1);
  });

  it('by another proof is refused too once the account was disabled and enabled', async () => {
    const accounts = createAccountOperations(depsWhile(async () => undefined));
    const entry = await accounts.entryOf(stage.bob.id);
    await disableAndEnable();
    const from = { by: visit, device: undefined, also: [] };
    expect(await entry?.begin(from)).to.be.null();
    const again = await accounts.entryOf(stage.bob.id);
    expect((await again?.begin(from))?.token).to.equal('token');
  });

  it('is over with a reset link, of fifty at once', async () => {
    const inviteFor = await stage.invite({}, stage.bob.id);
    const logins = Array.from({ length: 25 }, () => stage.login(stage.bob.username));
    const body = { inviteToken: inviteFor.inviteToken, password: NEXT };
    const [done, ...replies] = await Promise.all([
      stage.app.call('POST', '/api/auth/reset', { body }),
      ...logins,
      ...Array.from({ length: 25 }, () => stage.login(stage.bob.username)),
    ]);
    expect(done?.status).to.equal(200);
    const tokens = replies.flatMap(({ body: reply }) => (reply.token ? [reply.token] : []));
    const alive = await Promise.all(
      tokens.map((token) => stage.app.call('GET', '/api/auth/me', { token })),
    );
    expect(alive.filter(({ status }) => status !== 401).length).to.equal(0);
  });

  it('makes no token that outlives it', async () => {
    const accounts = createAccountOperations(depsWhile(async () => undefined));
    const { body } = await stage.login(stage.bob.username);
    const { id } = await stage.app.app.store.db
      .selectFrom('auth_sessions')
      .select('id')
      .where('user_id', '=', stage.bob.id)
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow();
    const made: string[] = [];
    const make = () =>
      accounts.withinSession(id, async () => {
        made.push('asked');
        return false;
      });
    expect(await make()).to.be.false();
    await stage.as(body, 'POST', '/api/auth/logout');
    await expect(make()).to.reject('Your login session has ended. Log in again');
    expect(made).to.equal(['asked', 'asked']);
  });
});

const entryOf = (actorId: string): AuditRecord => ({
  ...{ id: mint('audit', Date.now()), at: '2026-03-01T12:00:00.000Z', actorId },
  ...{ impersonatorId: null, action: 'auth.login', target: null, outcome: 'ok' },
  ...{ ip: '192.0.2.1', requestId: 'r', data: null },
});
