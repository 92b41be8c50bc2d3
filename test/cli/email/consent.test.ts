import { createHash } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Context } from '../../../cli/command.js';
import { consentInBrowser, consentOnDevice } from '../../../cli/email/consent.js';
import { type FrozenClock, frozenClock, until } from '../../harness/app.js';
import { type Listening, listen } from '../../kernel/listen.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const OWN = { clientId: 'own-client', clientSecret: 'own-secret', address: 'ada@example.org' };

describe('the consent to the use of a mailbox', () => {
  let service: Listening;
  let forms: Record<string, string>[];
  let answers: { status: number; body: object }[];
  let notes: string[];
  let stop: AbortController;
  let context: Context;
  let clock: FrozenClock;
  beforeEach(async () => {
    [forms, answers, notes, stop] = [[], [], [], new AbortController()];
    service = await listen((_request, response) => {
      forms.push(Object.fromEntries(new URLSearchParams(service.got.at(-1)?.body)));
      const { status, body } = answers.shift() ?? { status: 500, body: {} };
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
    const out = { note: (line: string) => notes.push(line) };
    clock = frozenClock();
    context = { signal: stop.signal, out, clock } as unknown as Context;
  });
  afterEach(() => service.close());

  const consent = () => ({
    authorizationEndpoint: 'https://login.example.org/authorize',
    tokenEndpoint: `${service.origin}/token`,
    deviceEndpoint: `${service.origin}/device`,
    scope: 'mail offline_access',
  });
  /** The address that the person is told to open. */
  const opened = async (): Promise<URLSearchParams> => {
    const line = await until(
      async () => notes.find((each) => each.startsWith('https://login.example.org/authorize?')),
      Boolean,
    );
    return new URL(line ?? '').searchParams;
  };
  const granted = { refresh_token: 'refresh-1', access_token: 'access-1' };
  const credential = () => ({
    ...{ clientId: 'own-client', clientSecret: 'own-secret', refreshToken: 'refresh-1' },
    ...{ tokenEndpoint: consent().tokenEndpoint, scope: 'mail offline_access' },
  });

  it('in a browser is bound to this request, and to this machine', async () => {
    answers.push({ status: 200, body: granted });
    const value = consentInBrowser(context, consent(), OWN);
    const asked = await opened();
    expect(Object.fromEntries(asked)).to.include({
      ...{ response_type: 'code', client_id: 'own-client', scope: 'mail offline_access' },
      ...{ code_challenge_method: 'S256', login_hint: 'ada@example.org' },
    });
    const redirect = asked.get('redirect_uri') ?? '';
    expect(redirect).to.match(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    // Somebody else who finds the port has not the state.
    expect((await fetch(`${redirect}?code=evil&state=guessed`)).status).to.equal(404);
    const state = encodeURIComponent(asked.get('state') ?? '');
    expect((await fetch(`${redirect}?code=the-code&state=${state}`)).status).to.equal(200);
    expect(JSON.parse(await value)).to.equal(credential());
    const [form = {}] = forms;
    expect(form).to.include({
      ...{ grant_type: 'authorization_code', code: 'the-code', redirect_uri: redirect },
      ...{ client_id: 'own-client', client_secret: 'own-secret' },
    });
    const challenge = createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url');
    expect(asked.get('code_challenge')).to.equal(challenge);
    await expect(fetch(redirect)).to.reject();
  });

  it('that is refused, or gives no lasting grant, says why', async () => {
    const refused = consentInBrowser(context, consent(), OWN);
    // It is looked at below; a refusal before that is no crash.
    refused.catch(() => undefined);
    const asked = await opened();
    const back = `${asked.get('redirect_uri')}?error=access_denied&state=${asked.get('state')}`;
    await fetch(back);
    await expect(refused).to.reject('Consent failed: access_denied');
    for (const [answer, why] of [
      [
        { status: 400, body: { error_description: 'Wrong client' } },
        'refused the request: Wrong client',
      ],
      [{ status: 200, body: { access_token: 'x' } }, 'returned no refresh token'],
    ] as const) {
      notes.length = 0;
      answers.push(answer);
      const value = consentInBrowser(context, consent(), OWN);
      value.catch(() => undefined);
      const { redirect_uri, state } = Object.fromEntries(await opened());
      await fetch(`${redirect_uri}?code=x&state=${state}`);
      await expect(value).to.reject(Error, new RegExp(why));
    }
  });

  const pass = async (seconds: number): Promise<void> => {
    await clock.waiting(seconds * 1000);
    clock.forward(seconds * 1000);
  };

  it('on another device is waited for, and ends with the command', async () => {
    const device = { device_code: 'd-1', user_code: 'WDJB-MJHT', interval: 60 };
    const begun = { ...device, verification_uri: 'https://login.example.org/device' };
    answers.push({ status: 200, body: begun });
    answers.push({ status: 400, body: { error: 'authorization_pending' } });
    answers.push({ status: 400, body: { error: 'slow_down' } });
    answers.push({ status: 200, body: granted });
    const value = consentOnDevice(context, consent(), OWN);
    for (const seconds of [60, 60, 65]) await pass(seconds);
    expect(JSON.parse(await value)).to.equal(credential());
    expect(notes).to.equal([
      'Open https://login.example.org/device on any device, and enter:',
      'WDJB-MJHT',
    ]);
    expect(forms.map(({ device_code }) => device_code)).to.equal([undefined, 'd-1', 'd-1', 'd-1']);
    answers.push({ status: 200, body: begun }, { status: 400, body: { error: 'expired_token' } });
    const refused = consentOnDevice(context, consent(), OWN);
    refused.catch(() => undefined);
    await pass(60);
    await expect(refused).to.reject('The provider refused the request: expired_token');
    answers.push({ status: 200, body: begun });
    const waiting = consentOnDevice(context, consent(), OWN);
    waiting.catch(() => undefined);
    await clock.waiting(60_000);
    stop.abort(new Error('stopped'));
    await expect(waiting).to.reject();
  });
});
