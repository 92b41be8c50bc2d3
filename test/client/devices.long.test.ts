import { stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/client.js';
import { logInFromDevice, readDeviceToken } from '../../src/client/devices.js';
import { dropSession, saveSession, sessionFile } from '../../src/client/session.js';
import { createTokenHolder, logInToDaemon as logInAtDesk } from '../../tui/state/login.js';
import { openConfig } from '../cli/config.js';
import { adjutant } from '../cli/harness.js';
import { type FrozenClock, frozenClock, PASSWORD, startApp, type TestApp } from '../harness/app.js';
import { type Guarded, registerGuarded, WRONG_CODE } from '../harness/factor.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('devices', () => {
  let config: Awaited<ReturnType<typeof openConfig>>;
  let app: TestApp;
  let clock: FrozenClock;
  let ada: Guarded;
  beforeEach(async () => {
    config = await openConfig();
    clock = frozenClock();
    app = await startApp({ clock });
    ada = await registerGuarded(app, clock, 'Ada');
  });
  afterEach(async () => {
    await app.stop();
    await config.close();
  });

  const file = (): string => join(dirname(sessionFile()), 'devices.json');
  const logIn = (username: string, totpCode: string) =>
    logInFromDevice(createClient({ url: app.url }), { username, password: PASSWORD, totpCode });

  it('are known again by the token of a login with a code, whatever the spelling of the name', async () => {
    const { deviceToken } = await logIn('ADA', await ada.code());
    expect(deviceToken).to.match(/^[\w-]{43}$/);
    expect([readDeviceToken(app.url, 'ada'), readDeviceToken(`${app.url}/`)]).to.equal([
      deviceToken,
      deviceToken,
    ]);
    expect([
      readDeviceToken(app.url, 'bob'),
      readDeviceToken('http://localhost:1', 'ada'),
    ]).to.equal([undefined, undefined]);
    clock.forward(60_000);
    expect((await logIn('ada', await ada.code())).deviceToken).to.equal(deviceToken);
  });

  it('stay known over a logout, in a file of their owner’s alone', async () => {
    const { token, deviceToken, expiresAt } = await logIn('ada', await ada.code());
    saveSession(app.url, { token, expiresAt, username: 'ada' });
    dropSession(app.url);
    expect(readDeviceToken(app.url, 'ada')).to.equal(deviceToken);
    expect((await stat(file())).mode & 0o777).to.equal(0o600);
  });

  it('are unknown where the file cannot be read, and known again after the next login', async () => {
    await logIn('ada', await ada.code());
    for (const text of ['{"half', '[1]', '{"x":1}']) {
      await writeFile(file(), text);
      expect(readDeviceToken(app.url, 'ada')).to.be.undefined();
    }
    clock.forward(60_000);
    const { deviceToken } = await logIn('ada', await ada.code());
    expect(readDeviceToken(app.url, 'ada')).to.equal(deviceToken);
  });

  it('are one for the command line and the desk, which keep the token and send it', async () => {
    const password = join(config.folder, 'password');
    await writeFile(password, PASSWORD);
    const words = ['login', 'ada', '--password-file', password, '--server', app.url, '--totp'];
    const { code } = await adjutant([...words, await ada.code()]);
    const kept = readDeviceToken(app.url, 'ada');
    expect([code, typeof kept]).to.equal([0, 'string']);
    clock.forward(60_000);
    const given = { username: 'ada', password: PASSWORD, totpCode: await ada.code() };
    const outcome = await logInAtDesk(
      createClient({ url: app.url }),
      createTokenHolder(undefined),
      given,
    );
    expect([outcome.is, readDeviceToken(app.url, 'ada')]).to.equal(['in', kept]);
    const { db } = app.app.store;
    expect((await db.selectFrom('device_tokens').select('digest').execute()).length).to.equal(1);
  });

  it('are known after a registration at the command line, which has no second factor', async () => {
    await app.app.store.db.deleteFrom('device_tokens').execute();
    const password = join(config.folder, 'password');
    await writeFile(password, PASSWORD);
    const words = ['bob', '--password-file', password, '--server', app.url];
    const { code } = await adjutant(['register', ...words]);
    const kept = readDeviceToken(app.url, 'bob');
    expect([code, typeof kept]).to.equal([0, 'string']);
    expect((await adjutant(['login', ...words])).code).to.equal(0);
    expect(readDeviceToken(app.url, 'bob')).to.equal(kept);
    const { db } = app.app.store;
    expect((await db.selectFrom('device_tokens').select('digest').execute()).length).to.equal(1);
  });

  it('keep nothing of a login that failed', async () => {
    await expect(logIn('ada', WRONG_CODE)).to.reject();
    expect(readDeviceToken(app.url, 'ada')).to.be.undefined();
  });
});
