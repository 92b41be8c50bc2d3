import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { computeNameSkeleton } from '../../../src/accounts/auth/register.js';
import { PASSWORD, startApp, type TestApp } from '../../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const CYRILLIC_A = '\u0430';

describe('skeletonOf', () => {
  it('is one for names that look alike, and another for others', async () => {
    const skeletons = (names: string[]) => Promise.all(names.map(computeNameSkeleton));
    const alike = ['paypal', `p${CYRILLIC_A}ypal`, 'PaypaI', 'paypa1', 'PAYPAl', 'paypa\u3164l'];
    expect(new Set(await skeletons(alike)).size).to.equal(1);
    expect(new Set(await skeletons(['modern', 'modem', 'rnodern'])).size).to.equal(1);
    const others = ['paypal', 'paypol', 'pàypal', 'user1', 'user2', 'user12'];
    expect(new Set(await skeletons(others)).size).to.equal(others.length);
  });
});

describe('a username that looks like one that is taken', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
    await app.register('paypal');
  });
  after(() => app.stop());

  const register = async (body: object) => {
    const reply = await app.call('POST', '/api/auth/register', {
      body: { password: PASSWORD, ...body },
    });
    return [reply.status, reply.body.code ?? reply.body.user.username];
  };

  it('is refused, and one that is the same is taken as before', async () => {
    for (const username of [`p${CYRILLIC_A}ypal`, 'PaypaI', 'paypa1']) {
      expect(await register({ username }), username).to.equal([409, 'username_confusable']);
    }
    expect(await register({ username: 'PAYPAL' })).to.equal([409, 'username_taken']);
  });

  it('is numbered where it is made from an e-mail address', async () => {
    const email = 'paypa1@example.org';
    expect(await register({ email })).to.equal([201, 'paypa1-2']);
  });

  it('is made once where two lookalikes register at once', async () => {
    const all = await Promise.all(
      ['bob', 'b0b', 'b\u043Eb', 'bOb', 'B0b'].map((username) => register({ username })),
    );
    expect(all.filter(([status]) => status === 201).length).to.equal(1);
    expect(all.filter(([status]) => status === 409).length).to.equal(4);
  });

  it('is held against accounts from before too, which keep their names', async () => {
    const { db } = app.app.store;
    await register({ username: 'before', email: 'older@example.org' });
    const set = { username: 'older', username_key: 'older', username_skeleton: null };
    await db.updateTable('users').set(set).where('email', '=', 'older@example.org').execute();
    expect(await register({ username: 'o1der' })).to.equal([409, 'username_confusable']);
    expect(await register({ username: 'Older' })).to.equal([409, 'username_taken']);
    const login = await app.call('POST', '/api/auth/login', {
      body: { username: 'older', password: PASSWORD },
    });
    expect(login.status).to.equal(200);
  });
});
