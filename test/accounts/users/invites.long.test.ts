import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openStage, type Stage } from './stage.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const HOUR_MS = 3600 * 1000;
const INVITE = '/api/admin/users/new/invite';

describe('an invite', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
    await stage.app.restart({ registration: 'invite' });
  });
  after(() => stage.stop());

  const refused = async (body: object): Promise<void> => {
    const reply = await stage.register(body);
    expect([reply.status, reply.body.code]).to.equal([403, 'invite_refused']);
  };

  it('says where and until when', async () => {
    const { status, body } = await stage.ask('POST', INVITE, {});
    expect([status, body.expiresAt]).to.equal([201, '2026-03-04T12:00:00.000Z']);
    expect(body.inviteToken).to.match(/^[\w-]{43}$/);
    expect(body.url).to.equal(`${stage.app.url}/invite#${body.inviteToken}`);
  });

  it('makes one account, with the role that is in it', async () => {
    const { inviteToken } = await stage.invite({ role: 'admin' });
    const reply = await stage.register({ username: 'carla', role: 'user', inviteToken });
    expect([reply.status, reply.body.user.role]).to.equal([201, 'admin']);
    await refused({ username: 'cesar', inviteToken });
    const plain = await stage.invite();
    const other = await stage.register({ username: 'dora', role: 'admin', ...plain });
    expect(other.body.user.role).to.equal('user');
  });

  it('gives the account its address, and takes no other', async () => {
    const { inviteToken } = await stage.invite({ email: 'Emil@example.org' });
    const wrong = await stage.register({
      username: 'emil',
      email: 'eve@example.org',
      inviteToken,
    });
    expect([wrong.status, wrong.body.details[0].path]).to.equal([400, 'email']);
    const right = await stage.register({ email: 'emil@EXAMPLE.org', inviteToken });
    expect([right.status, right.body.user.email]).to.equal([201, 'Emil@example.org']);
    expect(right.body.user.username).to.equal('Emil');
  });

  it('is not spent by a name that is taken', async () => {
    const { inviteToken } = await stage.invite();
    const taken = await stage.register({ username: 'BOB', inviteToken });
    expect([taken.status, taken.body.code]).to.equal([409, 'username_taken']);
    expect((await stage.register({ username: 'fritz', inviteToken })).status).to.equal(201);
  });

  it('is over after its time', async () => {
    const { inviteToken } = await stage.invite({ expiresInHours: 2 });
    const later = await stage.invite();
    stage.clock.forward(2 * HOUR_MS);
    await refused({ username: 'gina', inviteToken });
    expect((await stage.register({ username: 'gina', ...later })).status).to.equal(201);
  });

  it('makes one account when twenty race with it', async () => {
    const { inviteToken } = await stage.invite();
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => stage.register({ username: `racer${n}`, inviteToken })),
    );
    const made = replies.filter(({ status }) => status === 201);
    const others = replies.filter(({ status }) => status !== 201);
    expect(made.length).to.equal(1);
    // Who came when it was gone already has guessed wrong, and may have to wait.
    const codes = ['invite_refused', 'too_many_logins'];
    expect(others.every(({ body }) => codes.includes(body.code))).to.be.true();
  });

  it('is kept as a digest alone, and in no log', async () => {
    const { inviteToken, expiresAt } = await stage.invite();
    const rows = await stage.app.app.store.db.selectFrom('invites').selectAll().execute();
    const log = await stage.audited('users.invite');
    expect(JSON.stringify([rows, log])).to.not.contain(inviteToken);
    expect(log.at(-1)).to.equal({
      actor_id: stage.admin.id,
      impersonator_id: null,
      target: 'new',
      outcome: 'ok',
      data: { role: 'user', email: null, expiresAt },
    });
  });

  it('counts no more than who made it is an admin', async () => {
    stage.clock.forward(2 * HOUR_MS);
    // The race before has left so many that each further attempt waits.
    await stage.app.app.store.db.deleteFrom('login_failures').execute();
    const { inviteToken } = await stage.invite({ role: 'admin', password: PASSWORD });
    const users = stage.app.app.store.db.updateTable('users').where('username', '=', 'ada');
    await users.set({ role: 'user' }).execute();
    await refused({ username: 'helga', inviteToken });
    await users.set({ role: 'admin', disabled_at: '2026-01-01' }).execute();
    stage.clock.forward(HOUR_MS / 4);
    await refused({ username: 'helga', inviteToken });
    await users.set({ disabled_at: null }).execute();
    stage.clock.forward(HOUR_MS / 4);
    expect((await stage.register({ username: 'helga', inviteToken })).status).to.equal(201);
  });

  for (const [what, body] of [
    ['an unknown role', { role: 'root' }],
    ['no address', { email: 'nobody' }],
    ['no time', { expiresInHours: 0 }],
    ['more than 30 days', { expiresInHours: 721 }],
    ['an unknown key', { username: 'x' }],
  ] as const) {
    it(`is not made with ${what}`, async () => {
      expect((await stage.ask('POST', INVITE, body)).status).to.equal(400);
    });
  }

  it('is not made for an address that somebody has', async () => {
    const { inviteToken } = await stage.invite();
    await stage.register({ username: 'ida', email: 'ida@example.org', inviteToken });
    const { status, body } = await stage.ask('POST', INVITE, { email: 'IDA@example.org' });
    expect([status, body.code]).to.equal([409, 'email_taken']);
  });
});

describe('an invite under another setting', () => {
  const stage = openForSuite(lab, openStage);
  let names = 0;
  beforeEach(async () => {
    // Wrong links are counted by the address alone: those of other cases are forgotten.
    stage.clock.forward(60_000);
    await stage.app.app.store.db.deleteFrom('login_failures').execute();
  });

  /** Opens the daemon again with those settings, and registers with an invite. */
  const registered = async (config: Parameters<typeof openStage>[0], body: object) => {
    const { inviteToken } = await stage.invite({ role: 'admin' });
    await stage.app.restart(config);
    names += 1;
    const reply = await stage.register({ username: `carla${names}`, inviteToken, ...body });
    return [reply.status, reply.body.code ?? reply.body.user.role];
  };

  it('says the role where anybody may register', async () => {
    expect(await registered({ registration: 'open' }, {})).to.equal([201, 'admin']);
  });

  it('lets somebody in from elsewhere', async () => {
    const config = { publicUrl: 'https://hooks.example.org' };
    expect(await registered(config, {})).to.equal([201, 'admin']);
  });

  it('is refused where it is wrong, even from this machine', async () => {
    const body = { inviteToken: 'no' };
    expect(await registered({}, body)).to.equal([403, 'invite_refused']);
  });

  it('cannot be guessed for nothing', async () => {
    await stage.app.restart();
    const codes: string[] = [];
    for (let n = 0; n < 7; n++) {
      const guess = { username: 'mallory', inviteToken: 'x'.repeat(43) };
      codes.push((await stage.register(guess)).body.code);
    }
    const login = await stage.login('bob');
    expect(codes).to.equal([
      ...Array(5).fill('invite_refused'),
      ...Array(2).fill('too_many_logins'),
    ]);
    expect(login.status).to.equal(200);
  });

  it('is worth nothing where registration is closed, and is not made', async () => {
    const closed = { registration: 'closed' as const };
    const refusal = await registered(closed, {});
    const { status, body } = await stage.ask('POST', INVITE, {});
    // The next case makes an invite again.
    await stage.app.restart();
    expect(refusal).to.equal([403, 'registration_closed']);
    expect([status, body.code]).to.equal([409, 'registration_closed']);
  });

  it('leads to the public address where there is one', async () => {
    await stage.app.restart({ publicUrl: 'https://hooks.example.org/' });
    const { url, inviteToken } = await stage.invite();
    expect(url).to.equal(`https://hooks.example.org/invite#${inviteToken}`);
    expect(inviteToken.length).to.equal(43);
  });
});
