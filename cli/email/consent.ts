import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Reply } from '../../src/client/index.js';
import { valueAt } from '../columns.js';
import type { Context } from '../command.js';
import { failed } from '../exit.js';
import { oneLine } from '../text.js';

/** OAuth2 endpoints of a mail provider. */
export type Consent = NonNullable<Reply<'mailaccounts', 'servers'>['oauth2']>;

/** Client that the user registered at the provider. */
interface OwnClient {
  clientId: string;
  clientSecret?: string;
  /** Mail address to consent for. */
  address: string;
}

const credentialValue = (consent: Consent, own: OwnClient, token: unknown): string => {
  const refreshToken = valueAt(token, 'refresh_token');
  if (typeof refreshToken !== 'string') {
    throw failed(
      'The provider returned no refresh token.',
      'Try again, and consent to offline access',
    );
  }
  const { clientId, clientSecret } = own;
  const { tokenEndpoint, scope } = consent;
  return JSON.stringify({ clientId, clientSecret, refreshToken, tokenEndpoint, scope });
};

const post = async (
  context: Context,
  url: string,
  form: Record<string, string>,
): Promise<{ status: number; body: unknown }> => {
  const { signal } = context;
  const reply = await fetch(url, { method: 'POST', body: new URLSearchParams(form), signal });
  const body: unknown = await reply.json().catch(() => null);
  return { status: reply.status, body };
};

const refusal = (body: unknown, status: number) => {
  const why = valueAt(body, 'error_description') ?? valueAt(body, 'error') ?? `status ${status}`;
  return failed(`The provider refused the request: ${oneLine(String(why))}`);
};

/**
 * Asks for consent in a browser (RFC 6749, 4.1, with PKCE of RFC 7636), which is redirected to an
 * address of this machine (RFC 8252, 7.3). Resolves to the value of a credential.
 */
export const consentInBrowser = async (
  context: Context,
  consent: Consent,
  own: OwnClient,
): Promise<string> => {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const { server, redirectUri, code } = await listen(context, state);
  try {
    context.out.note('Open this address in a browser on this machine, and give consent there:');
    context.out.note(consentUrl(consent, own, { redirectUri, state, verifier }));
    const { clientId, clientSecret } = own;
    const { status, body } = await post(context, consent.tokenEndpoint, {
      grant_type: 'authorization_code',
      code: await code,
      redirect_uri: redirectUri,
      client_id: clientId,
      code_verifier: verifier,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
    });
    if (status !== 200) throw refusal(body, status);
    return credentialValue(consent, own, body);
  } finally {
    server.close();
    server.closeAllConnections();
  }
};

interface ConsentRequest {
  redirectUri: string;
  state: string;
  verifier: string;
}

const consentUrl = (
  consent: Consent,
  own: OwnClient,
  { redirectUri, state, verifier }: ConsentRequest,
): string => {
  const url = new URL(consent.authorizationEndpoint);
  const query = {
    response_type: 'code',
    client_id: own.clientId,
    redirect_uri: redirectUri,
    scope: consent.scope,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    login_hint: own.address,
    // Google requires it for a refresh token.
    access_type: 'offline',
    prompt: 'consent',
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
};

interface ConsentListener {
  server: Server;
  redirectUri: string;
  /** Code that the browser sends. */
  code: Promise<string>;
}

/** Only a redirect with the right state counts. */
const listen = async ({ signal }: Context, state: string): Promise<ConsentListener> => {
  const server = createServer();
  const code = new Promise<string>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    server.on('request', (request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
      if (searchParams.get('state') !== state) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
      response.end('You can close this window and return to the terminal.\n');
      const input = searchParams.get('code');
      if (input !== null) resolve(input);
      else reject(failed(`Consent failed: ${oneLine(searchParams.get('error') ?? 'no code')}`));
    });
  });
  // Awaited later, so an earlier rejection must not crash the process.
  code.catch(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { server, redirectUri: `http://127.0.0.1:${port}/`, code };
};

const SECOND_MS = 1000;
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Asks for consent on another device (RFC 8628). Resolves to the value of a credential. */
export const consentOnDevice = async (
  context: Context,
  consent: Consent & { deviceEndpoint: string },
  own: OwnClient,
): Promise<string> => {
  const { deviceEndpoint, tokenEndpoint, scope } = consent;
  const client_id = own.clientId;
  const begun = await post(context, deviceEndpoint, { client_id, scope });
  const text = (name: string): string => String(valueAt(begun.body, name) ?? '');
  if (begun.status !== 200) throw refusal(begun.body, begun.status);
  context.out.note(`Open ${oneLine(text('verification_uri'))} on any device, and enter:`);
  context.out.note(oneLine(text('user_code')));
  let seconds = Number(text('interval')) || 5;
  for (;;) {
    await context.clock.wait(seconds * SECOND_MS, context.signal);
    const form = { grant_type: DEVICE_GRANT, client_id, device_code: text('device_code') };
    const { status, body } = await post(context, tokenEndpoint, form);
    if (status === 200) return credentialValue(consent, own, body);
    const error = valueAt(body, 'error');
    if (error === 'slow_down') seconds += 5;
    else if (error !== 'authorization_pending') throw refusal(body, status);
  }
};
