import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { generate } from 'otplib';
import { PASSWORD } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import { inside } from '../../harness/inside.js';
import { seedPasskey } from '../../harness/passkey.js';
import { openForSuite } from '../../harness/suite.js';
import { makeToken } from '../../harness/token.js';
import { type Member, openStage, type Stage, withOthers } from './stage.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

const REASON = 'ticket 41: a lost phone';

describe('the second factors of others', () => {
  const opened = openForSuite(lab, openStage);
  /** With an admin and a user of the case's own. */
  let stage: Stage;
  beforeEach(async () => {
    stage = await withOthers(opened);
  });

  const enableTotp = async (who: Member): Promise<void> => {
    const { body } = await stage.as(who, 'POST', '/api/auth/totp/setup', {});
    const code = await generate({
      secret: body.secret,
      epoch: Math.floor(stage.clock.now() / 1000),
    });
    const reply = await stage.as(who, 'POST', '/api/auth/totp/enable', { code });
    if (reply.status !== 200) throw new Error(reply.text);
  };
  const totpOf = ({ id }: Member) => `/api/admin/users/${id}/totp`;
  const passkeysOf = ({ id }: Member) => `/api/admin/users/${id}/passkeys`;
  const remove = (path: string, body: object = { reason: REASON }) =>
    stage.ask('DELETE', path, body);
  const outcome = async (asked: Promise<{ status: number; body: { code?: string } | null }>) => {
    const { status, body } = await asked;
    return [status, body?.code];
  };
  const me = async (who: Member) => (await stage.as(who, 'GET', '/api/auth/me')).status;
  /** What the user is told, in the app; and how many notices wait for the channels. */
  const told = async (userId: string) => {
    const { db } = stage.app.app.store;
    return db
      .selectFrom('notifications')
      .select(['kind', 'title', 'body'])
      .where('user_id', '=', userId)
      .where('kind', '=', 'factor.removed')
      .execute();
  };

  it('are an authenticator app, whose removal ends all sessions and is told with the reason', async () => {
    await enableTotp(stage.bob);
    expect((await stage.login(stage.bob.username)).body.code).to.equal('totp_required');
    expect(await outcome(remove(totpOf(stage.bob)))).to.equal([204, undefined]);
    expect(await me(stage.bob)).to.equal(401);
    const { status, body } = await stage.login(stage.bob.username);
    expect([status, body.user.totpEnabled, body.user.recoveryCodesLeft]).to.equal([200, false, 0]);
    const notices = await told(stage.bob.id);
    expect(notices.map(({ title }) => title)).to.equal([
      'Your authenticator app was removed by an admin',
    ]);
    expect(notices[0]?.body)
      .to.contain(`Removed by ${stage.admin.username}.`)
      .and.to.contain(REASON);
    const log = await stage.audited('users.totp-remove');
    expect(log.filter(({ target }) => target === stage.bob.id)).to.equal([
      {
        actor_id: stage.admin.id,
        impersonator_id: null,
        target: stage.bob.id,
        outcome: 'ok',
        data: { what: 'Your authenticator app', reason: REASON },
      },
    ]);
  });

  it('are passkeys, which are listed, and removed one by one', async () => {
    const id = await seedPasskey(stage.app, stage.bob.id, 'Bob’s phone');
    const listed = await stage.ask('GET', passkeysOf(stage.bob));
    const shown = {
      id,
      name: 'Bob’s phone',
      relyingParty: 'localhost',
      createdAt: '2026-03-01T12:00:00.000Z',
      lastUsedAt: null,
    };
    expect(listed.body).to.equal({ passkeys: [shown], nextCursor: null });
    const path = `${passkeysOf(stage.bob)}/${id}`;
    expect(await outcome(remove(path))).to.equal([204, undefined]);
    expect(await outcome(remove(path))).to.equal([404, undefined]);
    expect((await stage.ask('GET', passkeysOf(stage.bob))).body.passkeys).to.equal([]);
    expect(await me(stage.bob)).to.equal(401);
    const [notice] = await told(stage.bob.id);
    expect(notice?.title).to.equal('Your passkey "Bob’s phone" was removed by an admin');
  });

  it('are removed with the notice for every channel already written', async () => {
    // A daemon of its own, whose notices nobody takes.
    stage = await openStage();
    try {
      await linkChannel(stage.app, stage.bob.id);
      await enableTotp(stage.bob);
      await inside(stage.app.app).outgoing.stop(0);
      await remove(totpOf(stage.bob));
      const { db } = stage.app.app.store;
      const waiting = await db
        .selectFrom('jobs')
        .innerJoin('notifications', 'notifications.id', 'jobs.ref')
        .select(['jobs.kind', 'jobs.lane'])
        .where('notifications.kind', '=', 'factor.removed')
        .execute();
      expect(waiting).to.equal([{ kind: 'notice', lane: `owner_${stage.bob.id}` }]);
    } finally {
      await stage.stop();
    }
  });

  it('of an admin are removed by nobody here, not by that admin either', async () => {
    const key = await seedPasskey(stage.app, stage.admin.id);
    await stage.ask('PATCH', `/api/admin/users/${stage.bob.id}`, { role: 'admin' });
    await enableTotp(stage.bob);
    expect(await outcome(remove(totpOf(stage.bob)))).to.equal([403, 'admin_account']);
    expect(await outcome(remove(`${passkeysOf(stage.admin)}/${key}`))).to.equal([
      403,
      'admin_account',
    ]);
    expect((await stage.login(stage.bob.username)).body.code).to.equal('totp_required');
    expect(await told(stage.bob.id)).to.equal([]);
  });

  it('take a reason, a fresh login or the password, and a person', async () => {
    await enableTotp(stage.bob);
    const path = totpOf(stage.bob);
    for (const body of [{}, { reason: ' ' }, { reason: '' }]) {
      expect(await outcome(remove(path, body))).to.equal([400, undefined]);
    }
    const token = await makeToken(stage.app, stage.admin.token, { scopes: ['admin:write'] });
    const asProgram = stage.as(token, 'DELETE', path, { reason: REASON, password: PASSWORD });
    expect(await outcome(asProgram)).to.equal([403, 'personal_only']);
    stage.clock.forward(10 * 60_000 + 1);
    expect(await outcome(remove(path))).to.equal([403, 'password_required']);
    const body = { reason: REASON, password: PASSWORD };
    expect(await outcome(remove(path, body))).to.equal([204, undefined]);
  });

  it('that are not there are 404, and another’s passkey too', async () => {
    const key = await seedPasskey(stage.app, stage.admin.id);
    expect(await outcome(remove(totpOf(stage.bob)))).to.equal([404, undefined]);
    expect(await outcome(remove(`${passkeysOf(stage.bob)}/${key}`))).to.equal([404, undefined]);
    expect((await stage.ask('GET', '/api/admin/users/user_nobody/passkeys')).status).to.equal(404);
    expect(await me(stage.bob)).to.equal(200);
  });

  it('are removed once where two admins do it at once', async () => {
    await enableTotp(stage.bob);
    const all = await Promise.all(Array.from({ length: 5 }, () => remove(totpOf(stage.bob))));
    expect(all.filter(({ status }) => status === 204).length).to.equal(1);
    expect((await told(stage.bob.id)).length).to.equal(1);
  });
});
