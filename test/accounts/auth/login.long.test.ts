import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, PASSWORD, startApp, type TestApp, untilMatches } from '../../harness/app.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

describe('login', () => {
  const clock = frozenClock();
  let app: TestApp;
  let cases = 0;
  /** The name of an account that is made for the case, in lower case. */
  let ada: string;
  /** A name that nobody has, and no case before has tried. */
  let nobody: string;
  const login = (body: object, headers: Record<string, string> = {}) =>
    app.call('POST', '/api/auth/login', { body, headers });
  const fail = (username: string, headers?: Record<string, string>) =>
    login({ username, password: 'wrong password' }, headers);
  const from = (address: string) => ({ 'x-forwarded-for': address });

  const capital = () => `A${ada.slice(1)}`;
  const iso = (ms: number) => new Date(ms).toISOString();

  before(async () => {
    const config = { registration: 'open' as const, trustedProxies: ['127.0.0.1'] };
    app = await startApp({ clock, config });
    await app.register('root');
  });
  beforeEach(async () => {
    cases += 1;
    // Tries are counted by the minute: each case begins with a whole one, a minute or more later.
    clock.forward(120_000 - (clock.now() % 60_000));
    ada = `ada${cases}`;
    nobody = `nobody${cases}`;
    const body = { username: capital(), email: `${ada}@example.org`, password: PASSWORD };
    expect((await app.call('POST', '/api/auth/register', { body })).status).to.equal(201);
  });
  after(() => app.stop());

  it('lasts thirty days on a device', async () => {
    const { body } = await login({ username: ada, password: PASSWORD, device: 'laptop' });
    expect(body.expiresAt).to.equal(iso(clock.now() + 30 * 24 * 3600_000));
    clock.forward(30 * 24 * 3600_000 - 1);
    expect((await app.call('GET', '/api/auth/me', { token: body.token })).status).to.equal(200);
  });

  it('ignores unknown keys', async () => {
    const { status, body } = await login({ username: ada, password: PASSWORD, role: 'admin' });
    expect({ status, id: body.user.id }).to.equal({ status: 200, id: body.user.id });
  });

  it('waits for unknown names alike', async () => {
    for (let n = 0; n < 5; n++) expect((await fail(nobody)).status).to.equal(401);
    expect((await fail(nobody)).status).to.equal(429);
  });

  it('counts the name and the e-mail address of an account as one', async () => {
    const mail = `${ada}@example.org`;
    for (const name of [ada, ada.toUpperCase(), mail, `${capital()}@Example.org`, ada])
      await fail(name);
    for (const name of [ada, mail]) expect((await fail(name)).status).to.equal(429);
  });

  it('refuses none of many names that nobody has', async () => {
    const names = Array.from({ length: 80 }, (_, n) => `${nobody}-${n}`);
    const all = await Promise.all(names.map((name, n) => fail(name, from(`192.0.2.${n}`))));
    expect(all.map(({ status }) => status)).to.equal(names.map(() => 401));
  });

  it('tries no more than thirty of what comes all at once', async () => {
    const all = await Promise.all(Array.from({ length: 45 }, () => fail(ada)));
    const refused = all.filter(({ body }) => body.code === 'too_many_logins');
    // One more is refused where the first thirty are judged before the last of all is read.
    expect(refused.length).to.be.at.least(15);
    expect(refused.map(({ headers }) => headers['retry-after'])).to.include('60');
  });

  it('refuses what would wait behind fifty', async () => {
    const names = Array.from({ length: 80 }, (_, n) => `person${n}`);
    for (const some of [names.slice(0, 40), names.slice(40)]) {
      await Promise.all(some.map((name) => app.register(name)));
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
    expect((await login({ username: ada, password: PASSWORD })).status).to.equal(200);
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
