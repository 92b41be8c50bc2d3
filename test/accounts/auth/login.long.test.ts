import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD, untilMatches } from '../../harness/app.js';
import { createLogins } from './logins.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

describe('login', () => {
  const logins = createLogins();
  const { clock, login, fail, from, capital } = logins;
  const iso = (ms: number) => new Date(ms).toISOString();

  before(() => logins.open());
  beforeEach(() => logins.addAccount());
  after(() => logins.app.stop());

  it('lasts thirty days on a device', async () => {
    const { body } = await login({ username: logins.ada, password: PASSWORD, device: 'laptop' });
    expect(body.expiresAt).to.equal(iso(clock.now() + 30 * 24 * 3600_000));
    clock.forward(30 * 24 * 3600_000 - 1);
    expect((await logins.app.call('GET', '/api/auth/me', { token: body.token })).status).to.equal(
      200,
    );
  });

  it('ignores unknown keys', async () => {
    const { status, body } = await login({
      username: logins.ada,
      password: PASSWORD,
      role: 'admin',
    });
    expect({ status, id: body.user.id }).to.equal({ status: 200, id: body.user.id });
  });

  it('waits for unknown names alike', async () => {
    for (let n = 0; n < 5; n++) expect((await fail(logins.nobody)).status).to.equal(401);
    expect((await fail(logins.nobody)).status).to.equal(429);
  });

  it('counts the name and the e-mail address of an account as one', async () => {
    const mail = `${logins.ada}@example.org`;
    for (const name of [
      logins.ada,
      logins.ada.toUpperCase(),
      mail,
      `${capital()}@Example.org`,
      logins.ada,
    ])
      await fail(name);
    for (const name of [logins.ada, mail]) expect((await fail(name)).status).to.equal(429);
  });

  it('refuses none of many names that nobody has', async () => {
    const names = Array.from({ length: 80 }, (_, n) => `${logins.nobody}-${n}`);
    const all = await Promise.all(names.map((name, n) => fail(name, from(`192.0.2.${n}`))));
    expect(all.map(({ status }) => status)).to.equal(names.map(() => 401));
  });

  it('tries no more than thirty of what comes all at once', async () => {
    const all = await Promise.all(Array.from({ length: 45 }, () => fail(logins.ada)));
    const refused = all.filter(({ body }) => body.code === 'too_many_logins');
    // One more is refused where the first thirty are judged before the last of all is read.
    expect(refused.length).to.be.at.least(15);
    expect(refused.map(({ headers }) => headers['retry-after'])).to.include('60');
  });

  it('refuses what would wait behind fifty', async () => {
    const names = Array.from({ length: 80 }, (_, n) => `person${n}`);
    for (const some of [names.slice(0, 40), names.slice(40)]) {
      await Promise.all(some.map((name) => logins.app.register(name)));
    }
    const release = holdThreadPool();
    const early: Awaited<ReturnType<typeof fail>>[] = [];
    const all = names.map(async (name, n) => {
      const reply = await fail(name, from(`192.0.2.${n}`));
      early.push(reply);
      return reply.status;
    });
    await untilMatches(async () => early.length, 28);
    expect(early.every(({ status }) => status === 429)).to.be.true();
    expect(early[0]?.headers['retry-after']).to.equal('2');
    await release();
    const statuses = await Promise.all(all);
    expect(statuses.filter((status) => status === 401).length).to.equal(52);
    expect((await login({ username: logins.ada, password: PASSWORD })).status).to.equal(200);
  });
});

/** Occupies the threads that hash passwords. Returns a function that frees them. */
const holdThreadPool = (): (() => Promise<void>) => {
  const path = join(tmpdir(), 'held');
  execFileSync('mkfifo', [path]);
  // Each blocks one of the four threads until the pipe has a writer.
  const readers = Array.from({ length: 4 }, () => open(path, 'r'));
  return async () => {
    const writer = openSync(path, 'r+');
    for (const reader of readers) await (await reader).close();
    closeSync(writer);
    rmSync(path);
  };
};
