import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock, startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MINUTE = 60_000;
const PASSWORD = 'correct horse battery';

describe('versions of a credential', () => {
  let app: TestApp;
  let clock: FrozenClock;
  let token: string;
  let count = 0;
  before(async () => {
    clock = frozenClock();
    app = await startApp({ clock });
    ({ token } = await app.register('ada'));
  });
  after(() => app.stop());

  const ask = (method: string, path: string, body?: unknown, by = token) =>
    app.call(method, `/api/vault${path}`, { token: by, ...(body !== undefined && { body }) });
  const store = async (more: object = {}): Promise<string> =>
    (await ask('POST', '', { name: `pat-${++count}`, value: 'first value', ...more })).body.id;
  const reveal = async (id: string): Promise<string> =>
    (await ask('POST', `/${id}/reveal`, { password: PASSWORD })).body.value;
  const at = (ms: number): string => new Date(clock.now() + ms).toISOString();

  it('are not made of a value that somebody else issued, unless that is asked for', async () => {
    const id = await store({ type: 'api_key' });
    for (const body of [{}, { generate: false }, { overlapMinutes: 0 }]) {
      const refused = await ask('POST', `/${id}/rotate`, body);
      expect([refused.status, refused.body.code]).to.equal([400, 'value_required']);
    }
    const both = await ask('POST', `/${id}/rotate`, { value: 'x', generate: true });
    expect([both.status, both.body.details]).to.equal([
      400,
      [{ path: 'generate', message: 'cannot be combined with value. Send only one of them' }],
    ]);
    expect(await reveal(id)).to.equal('first value');
    const made = await ask('POST', `/${id}/rotate`, { generate: true });
    expect(made.body.value).to.match(/^[\w-]{43}$/);
    expect(await reveal(id)).to.equal(made.body.value);
  });

  it('are made of a webhook_secret without a value', async () => {
    const id = await store({ type: 'webhook_secret' });
    const made = await ask('POST', `/${id}/rotate`, {});
    expect([made.status, made.body.value === (await reveal(id))]).to.equal([200, true]);
    const refused = await ask('POST', `/${id}/rotate`, { generate: false });
    expect([refused.status, refused.body.code]).to.equal([400, 'value_required']);
  });

  it('are listed while they are good, the newest first, and without their values', async () => {
    const id = await store();
    const made = at(0);
    await ask('POST', `/${id}/rotate`, { value: 'second value', overlapMinutes: 10 });
    const { status, body } = await ask('GET', `/${id}/versions`);
    expect([status, body]).to.equal([
      200,
      {
        versions: [
          { version: 2, createdAt: made, validUntil: null },
          { version: 1, createdAt: made, validUntil: at(10 * MINUTE) },
        ],
      },
    ]);
    clock.forward(10 * MINUTE);
    const { versions } = (await ask('GET', `/${id}/versions`)).body;
    expect(versions).to.equal([{ version: 2, createdAt: made, validUntil: null }]);
  });

  it('are restored within the overlap, and not after it', async () => {
    const id = await store();
    await ask('POST', `/${id}/rotate`, { value: 'wrong value', overlapMinutes: 10 });
    const restored = await ask('POST', `/${id}/restore`, { overlapMinutes: 0 });
    expect([restored.status, restored.body.version]).to.equal([200, 3]);
    expect(await reveal(id)).to.equal('first value');
    const { versions } = (await ask('GET', `/${id}/versions`)).body;
    expect(versions.map(({ version }: { version: number }) => version)).to.equal([3]);
    await ask('POST', `/${id}/rotate`, { value: 'newer value', overlapMinutes: 10 });
    clock.forward(10 * MINUTE);
    for (const body of [{}, { version: 3 }, { version: 4 }, { version: 99 }]) {
      const over = await ask('POST', `/${id}/restore`, body);
      expect([over.status, over.body.code]).to.equal([409, 'version_over']);
    }
    expect(await reveal(id)).to.equal('newer value');
  });

  it('are restored by their number, once where two ask at once', async () => {
    const id = await store();
    for (const value of ['second value', 'third value']) {
      await ask('POST', `/${id}/rotate`, { value });
    }
    const both = await Promise.all(
      [1, 1].map((version) => ask('POST', `/${id}/restore`, { version })),
    );
    expect(both.map(({ body }) => body.version).toSorted()).to.equal([4, 5]);
    expect(await reveal(id)).to.equal('first value');
  });

  it('are nobody else’s', async () => {
    const id = await store();
    await ask('POST', `/${id}/rotate`, { value: 'second value' });
    const bob = (await app.register('bob')).token;
    expect((await ask('GET', `/${id}/versions`, undefined, bob)).status).to.equal(404);
    expect((await ask('POST', `/${id}/restore`, {}, bob)).status).to.equal(404);
  });

  it('are revealed to the right password more than thirty times a minute', async () => {
    const id = await store();
    for (let n = 0; n < 31; n++) expect(await reveal(id)).to.equal('first value');
    const login = { username: 'ada', password: PASSWORD };
    expect((await app.call('POST', '/api/auth/login', { body: login })).status).to.equal(200);
  });
});
