import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp, until } from '../../harness/app.js';
import { openTarget, type Target } from '../../harness/target.js';
import { crawl } from './crawl.js';
import { filesUnder, leaksIn, type Place } from './leaks.js';
import { deliverAll, echoes, hooksOf } from './life.js';
import { mistake } from './mistakes.js';
import {
  type Ask,
  Garden,
  plantAccount,
  plantCredentials,
  plantHooks,
  plantModels,
  plantPlatforms,
  plantWebhooks,
  rotateCredential,
} from './plant.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const CONTROL = 'c0ntrol0f0ne0app';

describe('secrets that were planted', () => {
  const garden = new Garden();
  const places: Place[] = [];
  let app: TestApp;
  let target: Target;

  before(async () => {
    target = await openTarget();
    target.answer = echoes(target);
    app = await startApp({ config: { egressAllow: ['127.0.0.1'] } });
    const { token } = await app.register('owner');
    for (const path of ['register', 'login']) {
      const body = { username: 'guest', password: garden.plant(`password at ${path}`) };
      await app.call('POST', `/api/auth/${path}`, { body });
    }
    const ask: Ask = (method, path, body) => app.call(method, path, { token, body });
    const stage = { garden, target, control: CONTROL, url: app.url };
    await plantCredentials(garden, ask, target.address);
    await plantModels(garden, ask, `${target.url}/v1`);
    await plantWebhooks(garden, ask, `${target.url}/out`);
    await plantPlatforms(garden, ask, `${target.url}/platform`);
    await plantAccount(garden, ask);
    const hooks = hooksOf(stage).filter(({ action }) => action !== 'spawn_agent');
    await deliverAll(stage, await plantHooks(garden, ask, hooks));
    await rotateCredential(garden, ask, 'api_key');
    await until(
      async () => target.received.map(({ path }) => path),
      (paths) => ['/lent', '/out', '/passed'].every((path) => paths.includes(path)),
    );
    const { credentials } = (await ask('GET', '/api/vault')).body;
    places.push(...(await mistake(garden, ask, credentials[0].id)));
    places.push(...(await crawl(app.url, token)));
    const lines = app.recent.after(null).map(({ text }) => text);
    places.push({ where: 'log', held: Buffer.from(lines.join('\n')) });
    places.push(...(await filesUnder(app.home)));
  });
  after(async () => {
    await app.stop();
    target.close();
  });

  it('came through many doors, and were used', () => {
    expect(garden.canaries.length).to.be.above(60);
    const used = [{ where: 'use', held: Buffer.from(JSON.stringify(target.received)) }];
    expect(leaksIn(used, garden.canaries)).to.include('vault api_key in use');
  });

  it('are in no reply, no line of the log and no file', () => {
    expect(leaksIn(places, garden.canaries)).to.equal([]);
  });

  it('would be found there', () => {
    const found = leaksIn(places, [{ door: 'control', core: Buffer.from(CONTROL) }]);
    expect(found).to.include('control in GET /api/notifications');
    expect(found.some((leak) => leak.startsWith('control in adjutant.db'))).to.be.true();
    const paths = places.map(({ where }) => where);
    expect(paths).to.include(['log', 'GET /api/vault', 'reply to POST /api/vault']);
  });
});
