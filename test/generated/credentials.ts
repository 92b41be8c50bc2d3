import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { expect } from '@hapi/code';
import type { Endpoint } from '../../src/kernel/contract/endpoint.js';
import { loadMasterKey } from '../../src/secrets/master.js';
import { PASSWORD, type Reply, type TestApp } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { makeToken } from '../harness/token.js';
import { fill, type guarded, NOBODYS } from './routes.js';

interface Key {
  id: string;
  secret: Buffer;
}

export const CREDENTIALS = [
  'no header',
  'Bearer without a token',
  'Basic',
  'garbage',
  'an unknown scheme',
  'expired',
  'alg none',
  'HS384',
  'HS512',
  'RS256',
  'RS256 signed with the secret',
  'no exp',
  'another issuer',
  'another audience',
  'an unknown kid',
  'another key',
  'a critical extension',
  'an unknown session',
  'the session of somebody else',
  'a deleted user',
  'an ended session',
  'a revoked personal token',
  'an expired personal token',
  'a token signed with a retired key',
];

/** Errors of SCIM have a form of their own. */
const statusIn = ({ scim }: Endpoint, body: Reply['body']): number =>
  scim ? Number(body?.status) : body?.statusCode;

/** Expects that the routes refuse the header. */
export const expectRefused = async (
  app: TestApp,
  routes: typeof guarded,
  authorization: string | undefined,
): Promise<void> => {
  const wrong: string[] = [];
  for (const { name, endpoint } of routes) {
    const { status, body } = await app.call(
      endpoint.method,
      fill(endpoint.path, () => NOBODYS),
      authorization === undefined ? {} : { headers: { authorization } },
    );
    if (status !== 401 || statusIn(endpoint, body) !== 401) wrong.push(`${name}: ${status}`);
  }
  expect(wrong).to.equal([]);
};

/** Of each kind the value of `Authorization`, made with the daemon's own key where it takes one. */
export const badCredentials = async (app: TestApp): Promise<Record<string, string | undefined>> => {
  const retired = await retiredKey(app);
  const { id, token } = await app.register('ada');
  const key = await keyOf(app);
  const now = Math.floor(Date.now() / 1000);
  const right = part(token, 1);
  const other = await app.register('other');
  const header = { alg: 'HS256', typ: 'JWT', kid: key.id };
  const forge = (head: object, claims: object, hash = 'sha256', secret = key.secret): string => {
    const unsigned = `${encode({ ...header, ...head })}.${encode({ ...right, ...claims })}`;
    const mac = createHmac(hash, secret).update(unsigned).digest('base64url');
    return `Bearer ${unsigned}.${mac}`;
  };
  const unsigned = (head: object): string => `${encode({ ...header, ...head })}.${encode(right)}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const rs256 = unsigned({ alg: 'RS256' });
  return {
    'no header': undefined,
    'Bearer without a token': 'Bearer',
    Basic: `Basic ${Buffer.from(`ada:${PASSWORD}`).toString('base64')}`,
    garbage: 'Bearer garbage',
    'an unknown scheme': `Token ${token}`,
    expired: forge({}, { iat: now - 7200, exp: now - 1 }),
    'alg none': `Bearer ${unsigned({ alg: 'none' })}.`,
    HS384: forge({ alg: 'HS384' }, {}, 'sha384'),
    HS512: forge({ alg: 'HS512' }, {}, 'sha512'),
    RS256: `Bearer ${rs256}.${sign('sha256', Buffer.from(rs256), privateKey).toString('base64url')}`,
    'RS256 signed with the secret': forge({ alg: 'RS256' }, {}),
    'no exp': forge({}, { exp: undefined }),
    'another issuer': forge({}, { iss: 'other' }),
    'another audience': forge({}, { aud: 'other' }),
    'an unknown kid': forge({ kid: 'key_other' }, {}),
    'another key': forge({}, {}, 'sha256', randomBytes(32)),
    'a critical extension': forge({ crit: ['exp'] }, {}),
    'an unknown session': forge({}, { jti: 'login_01jcx2kq7m8f3k2a9v5ztw4e6r' }),
    'the session of somebody else': forge({}, { sub: other.id, jti: right.jti }),
    'a deleted user': `Bearer ${await deletedUser(app)}`,
    'an ended session': `Bearer ${await endedSession(app, id)}`,
    'a revoked personal token': `Bearer ${await revokedToken(app, token)}`,
    'an expired personal token': forge({}, { jti: await expiredToken(app, token) }),
    'a token signed with a retired key': forge({ kid: retired.id }, {}, 'sha256', retired.secret),
  };
};

const keyOf = async ({ app, home }: TestApp): Promise<Key> => {
  const { id, sealed } = await app.store.db
    .selectFrom('signing_keys')
    .select(['id', 'sealed'])
    .executeTakeFirstOrThrow();
  const { keyring } = loadMasterKey(home, null);
  return { id, secret: keyring.unseal(`signing_keys:${id}`, sealed) };
};

const deletedUser = async (app: TestApp): Promise<string> => {
  const { id, token } = await app.register('gone');
  await app.app.store.db.deleteFrom('users').where('id', '=', id).execute();
  return token;
};

const endedSession = async (app: TestApp, userId: string): Promise<string> => {
  const body = { username: 'ada', password: PASSWORD };
  const login = await app.call('POST', '/api/auth/login', { body });
  expect(login.body.user.id).to.equal(userId);
  await app.call('POST', '/api/auth/logout', { token: login.body.token });
  return login.body.token;
};

/** Rotated away, and its time is over. */
const retiredKey = async (app: TestApp): Promise<Key> => {
  const { token } = await app.register('first');
  const key = await keyOf(app);
  await app.call('POST', '/api/admin/keys/rotate', { token });
  const { store } = app.app;
  const retire = store.db.updateTable('signing_keys').set({ retired_at: '2020-01-01' });
  await retire.where('id', '=', key.id).execute();
  await inside(app.app).retention.prune();
  expect((await app.call('GET', '/api/auth/me', { token })).status).to.equal(401);
  return key;
};

const revokedToken = async (app: TestApp, session: string): Promise<string> => {
  const { id, token } = await makeToken(app, session);
  await app.call('DELETE', `/api/auth/tokens/${id}`, { token: session });
  return token;
};

/** The id of one that is over; what is signed for it says otherwise. */
const expiredToken = async (app: TestApp, session: string): Promise<string> => {
  const { id } = await makeToken(app, session);
  const { db } = app.app.store;
  const end = db.updateTable('access_tokens').set({ expires_at: '2020-01-01T00:00:00.000Z' });
  await end.where('id', '=', id).execute();
  return id;
};

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const part = (token: string, at: number) =>
  JSON.parse(Buffer.from(token.split('.')[at] ?? '', 'base64url').toString());
