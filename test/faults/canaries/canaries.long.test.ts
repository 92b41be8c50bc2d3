import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { migrations } from '../../../migrations/all.js';
import { deriveAuditKeys } from '../../../src/secrets/auditmac.js';
import { loadMasterKey } from '../../../src/secrets/master.js';
import { openStore } from '../../../src/store/store.js';
import { type Daemon, startDaemon } from '../../harness/daemon.js';
import { type Openai, startOpenai } from '../../harness/openai.js';
import { openTarget, type Target } from '../../harness/target.js';
import { crawl } from './crawl.js';
import { filesUnder, leaksIn, type Place } from './leaks.js';
import { echoes, type Follower, follow, live, obedient } from './life.js';
import { mistake } from './mistakes.js';
import { Garden, signatureOf } from './plant.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** What went where it may go, and came back from there. */
const LENT = [
  ...['api_key', 'oauth_token', 'password', 'ssh_key', 'certificate', 'other'].map(
    (type) => `vault ${type}`,
  ),
  'vault rotation, made',
];
const LATER = { version: 99_999, name: 'later', sql: 'CREATE TABLE later (a TEXT) STRICT' };

describe('canaries', () => {
  const garden = new Garden();
  /** It is no secret: whatever does not find it finds nothing. */
  const control = {
    door: 'control',
    core: Buffer.from(`c0ntrol${randomBytes(8).toString('hex')}`),
  };
  const places: Place[] = [];
  let home: string;
  let daemon: Daemon;
  let target: Target;
  let model: Openai;
  let env: Record<string, string>;
  let owner: string;
  let guest: string;
  let followers: Follower[];

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-canaries-'));
    [target, model] = [await openTarget(), await startOpenai()];
    target.answer = echoes(target);
    model.script(...Array.from({ length: 500 }, () => obedient(target)));
    env = {
      ADJUTANT_LOG_LEVEL: 'debug',
      ADJUTANT_EGRESS_ALLOW: '127.0.0.1',
      ADJUTANT_ADMIN_USERNAME: 'owner',
      ADJUTANT_ADMIN_PASSWORD: garden.plant('password of the settings'),
      ADJUTANT_MODEL_URL: model.baseUrl,
      ADJUTANT_MODEL_NAME: 'fake',
      ADJUTANT_MODEL_KEY: garden.plant('model key of the settings'),
    };
    daemon = await startDaemon({ home, env });
  });
  after(async () => {
    await daemon.end('SIGKILL');
    await model.stop();
    target.close();
    await rm(home, { recursive: true });
  });

  const call = async (
    method: string,
    path: string,
    ask: { token?: string; body?: unknown } = {},
  ) => {
    const { token, body } = ask;
    const response = await fetch(`${daemon.url}${path}`, {
      method,
      headers: {
        'x-request-id': control.core.toString(),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: {}, text, body: text && JSON.parse(text) };
  };
  const login = async (username: string, password: string): Promise<string> => {
    const { body } = await call('POST', '/api/auth/login', { body: { username, password } });
    garden.made(`session of ${username}`, signatureOf(body.token));
    return body.token;
  };
  const add = (found: Place[], when: string): void => {
    for (const { where, held } of found) places.push({ where: `${where}, ${when}`, held });
  };

  it('are planted through every door', async () => {
    const password = garden.plant('password of a user');
    const wrong = { username: 'owner', password: garden.plant('password that is wrong') };
    await call('POST', '/api/auth/login', { body: wrong });
    await call('POST', '/api/auth/register', { body: { username: 'guest', password } });
    owner = await login('owner', env.ADJUTANT_ADMIN_PASSWORD ?? '');
    guest = await login('guest', password);
    followers = [owner, guest].map((token) => follow(daemon.url, token));
    const ask = (method: string, path: string, body?: unknown) =>
      call(method, path, { token: owner, body });
    const stage = { garden, ask, target, model, control: control.core.toString() };
    await live({ ...stage, url: daemon.url, password: env.ADJUTANT_ADMIN_PASSWORD ?? '' });
    const { credentials } = (await ask('GET', '/api/vault')).body;
    add(await mistake(garden, ask, credentials[0].id), 'refused');
    expect(garden.canaries.length).to.be.above(60);
  });

  it('are nowhere in what is read, kept and logged, after a crash and a restart too', async () => {
    for (const token of [owner, guest]) add(await crawl(daemon.url, token), 'alive');
    add(await filesUnder(home), 'alive');
    const crash = await daemon.end('SIGABRT');
    add([{ where: 'log', held: Buffer.from(crash.stderr + crash.stdout) }], 'crashed');
    add(await filesUnder(home), 'crashed');
    for (const { frames, stop } of followers) {
      add([{ where: 'frames', held: Buffer.from(frames.join('\n')) }], 'alive');
      await stop();
    }
    const prompts = model.asked.map(({ body }) => JSON.stringify(body)).join('\n');
    add([{ where: 'prompts', held: Buffer.from(prompts) }], 'alive');

    daemon = await startDaemon({ home, env });
    add(await crawl(daemon.url, owner), 'again');
    const end = await daemon.end('SIGTERM');
    add([{ where: 'log', held: Buffer.from(end.stderr + end.stdout) }], 'again');
    await snapshot();
    add(await filesUnder(home), 'afterwards');
    const served = Buffer.from(JSON.stringify(target.received));
    const lent = leaksIn([{ where: 'use', held: served }], garden.canaries);
    expect(lent).to.include(LENT.map((door) => `${door} in use`));
    expect(leaksIn(places, garden.canaries)).to.equal([]);
  });

  it('would be found wherever they were', () => {
    const found = leaksIn(places, [control]).map((leak) => leak.replace('control in ', ''));
    for (const where of [
      /^GET \/api\/hooks, alive$/,
      /^GET \/api\/agents\/agent_\w+\/events, alive$/,
      /^GET \/api\/sessions\/session_\w+\/messages, again$/,
      /^GET \/api\/notifications, alive$/,
      /^GET \/api\/chat\/approvals, alive$/,
      /^GET \/api\/vault\/credential_\w+, again$/,
      /^GET \/api\/admin\/audit, alive$/,
      /^frames, alive$/,
      /^prompts, alive$/,
      /^log, crashed$/,
      /^reply to POST \/api\/vault\?value=, refused$/,
      /^adjutant\.db-wal, alive$/,
      /^adjutant\.db, afterwards$/,
      /^snapshots\/.*, afterwards$/,
      /^backups\/.*\.tar, alive$/,
    ]) {
      expect(found.filter((each) => where.test(each)).length, String(where)).to.be.above(0);
    }
    const text = control.core.toString();
    for (const encoded of [
      Buffer.from(`ab${text}`).toString('base64'),
      Buffer.from(`user:${text}!`).toString('base64url'),
      Buffer.from(text).toString('hex'),
      encodeURIComponent(`<${text}>`),
      JSON.stringify(JSON.stringify({ text })),
    ]) {
      const place = { where: 'here', held: Buffer.from(`x ${encoded} y`) };
      expect(leaksIn([place], [control]), encoded).to.equal(['control in here']);
    }
  });

  /** As a later version makes it before it changes the schema. */
  const snapshot = async (): Promise<void> => {
    const keys = deriveAuditKeys(loadMasterKey(home, null).keyring);
    const options = { home, migrations: [...migrations, LATER], ...keys };
    const store = await openStore(options, { lost: () => undefined, audited: () => undefined });
    expect(store.opened.snapshot).to.not.equal(null);
    await store.close();
  };
});
