import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock, startApp, type TestApp } from '../../harness/app.js';
import { command } from '../../harness/mattermost.js';
import { signed as bySlack } from '../../harness/slack.js';
import { said } from '../../harness/teams.js';
import { notification } from '../../harness/whatsapp.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MINUTE = 60_000;
const CHALLENGE = JSON.stringify({ type: 'url_verification', challenge: 'abc' });
const base64 = (text: string): string => Buffer.from(text.repeat(4)).toString('base64');

interface Knock {
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** What a platform sends that was told this secret. */
const doors: { kind: string; field: string; secret?: (n: number) => string; knock: Knocker }[] = [
  {
    kind: 'slack',
    field: 'signingSecret',
    knock: (secret, now) => ({ path: 'teamchat', ...bySlack(CHALLENGE, now, secret) }),
  },
  {
    kind: 'teams',
    field: 'securityToken',
    secret: (n) => base64(`secret ${n}`),
    knock: (token, now) => ({ path: 'teamchat', ...said('hello', now, { token, id: `${now}` }) }),
  },
  {
    kind: 'mattermost',
    field: 'commandTokens',
    knock: (token) => ({ path: 'teamchat', ...command('help', '', { token }) }),
  },
  {
    kind: 'telegram',
    field: 'webhookSecret',
    knock: (secret) => ({
      path: 'messenger',
      headers: { 'x-telegram-bot-api-secret-token': secret },
      body: '{"update_id":1}',
    }),
  },
  {
    kind: 'whatsapp',
    field: 'appSecret',
    knock: (secret) => ({ path: 'messenger', ...notification({ statuses: [] }, secret) }),
  },
  {
    kind: 'whatsapp',
    field: 'verifyToken',
    knock: (token) => ({
      path: `messenger-webhook?hub.mode=subscribe&hub.challenge=1&hub.verify_token=${token}`,
      method: 'GET',
    }),
  },
];
type Knocker = (secret: string, now: number) => Knock;

describe('the secret of a platform that lies in the vault', () => {
  let clock: FrozenClock;
  let test: TestApp;
  let token: string;
  before(async () => {
    clock = frozenClock();
    test = await startApp({ clock, config: { tokenHours: 720 } });
    ({ token } = await test.register('admin'));
  });
  after(() => test.stop());

  const ask = (method: string, path: string, body: object) =>
    test.call(method, path, { token, body });
  const statusOf = async ({ path, method = 'POST', headers, body }: Knock): Promise<number> => {
    const url = path.includes('?') ? `/api/${path}` : `/api/${path}-webhook`;
    const asked = { headers: headers ?? {}, ...(body !== undefined && { body }), type: null };
    return (await test.call(method, url, asked)).status;
  };

  for (const {
    kind,
    field,
    secret = (n: number) => `secret-number-${n}-of-ours`,
    knock,
  } of doors) {
    it(`is believed of ${kind} (${field}) with the one before it, until the overlap ends`, async () => {
      const name = `${kind}-${field}`;
      const { id } = (await ask('POST', '/api/vault', { name, value: secret(1) })).body;
      const values = { [field]: `$credential(${name})` };
      expect((await ask('PUT', `/api/admin/platforms/${kind}`, { values })).status).to.equal(200);
      const rotate = (n: number, overlapMinutes: number) =>
        ask('POST', `/api/vault/${id}/rotate`, { value: secret(n), overlapMinutes });
      const heard = async () => {
        const statuses: number[] = [];
        for (const n of [1, 2, 3]) statuses.push(await statusOf(knock(secret(n), clock.now())));
        return statuses;
      };
      expect(await heard()).to.equal([200, 401, 401]);
      await rotate(2, 10);
      expect(await heard()).to.equal([200, 200, 401]);
      clock.forward(4 * MINUTE);
      await rotate(3, 60);
      await test.restart();
      clock.forward(6 * MINUTE - 1);
      expect(await heard()).to.equal([200, 200, 200]);
      clock.forward(1);
      expect(await heard()).to.equal([401, 200, 200]);
      clock.forward(54 * MINUTE);
      expect(await heard()).to.equal([401, 401, 200]);
      await rotate(2, 0);
      expect(await heard()).to.equal([401, 200, 401]);
      const expiresAt = new Date(clock.now() + MINUTE).toISOString();
      await ask('PATCH', `/api/vault/${id}`, { expiresAt });
      clock.forward(MINUTE);
      expect(await heard()).to.equal([401, 401, 401]);
    });
  }
});
