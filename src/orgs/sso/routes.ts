import Boom from '@hapi/boom';
import { CustomReply, type RawBody } from '../../kernel/contract/endpoint.js';
import { badRequest, resource } from '../../kernel/route.js';
import { findManaged } from '../service.js';
import { consumeResponse } from './consume.js';
import { sso } from './contract.js';
import type { SsoDeps } from './deps.js';
import { addDomain, deleteDomain, verifyDomain, viewDomain } from './domains.js';
import { beginSsoSession, ssoCookie, startLinking, startLogin, unlinkAccount } from './login.js';
import { metadataOf, readSettings, testSettings, updateSettings } from './settings.js';

export const ssoResource = (deps: SsoDeps) =>
  resource('sso', sso, {
    get: ({ id }, { userId }) => readSettings(deps, id, userId),
    update: async ({ id, body }, by) => {
      await updateSettings(deps, { id, changes: body }, by);
      return readSettings(deps, id, by.userId);
    },
    test: ({ id }, { userId }) => testSettings(deps, id, userId),
    link: async ({ id, body: { password } }, by) => {
      const cookie = ssoCookie(undefined);
      const url = await startLinking(deps, { id, password, cookie: cookie.value }, by);
      return new CustomReply(200, { url }, { 'set-cookie': cookie.header });
    },
    unlink: ({ id }, by) => unlinkAccount(deps, id, by),
    domains: async ({ id }, { userId }) => {
      await findManaged(deps, id, userId);
      return { domains: (await deps.sso.domains(id)).map(viewDomain) };
    },
    'domain-add': async ({ id, body: { domain } }, by) =>
      viewDomain(await addDomain(deps, { id, domain }, by)),
    'domain-verify': async ({ id, domain }, by) =>
      viewDomain(await verifyDomain(deps, { id, domain }, by)),
    'domain-delete': ({ id, domain }, by) => deleteDomain(deps, { id, domain }, by),
    metadata: ({ query: { org } }) => metadataOf(deps, org),
    login: async ({ query: { org, returnTo = '/' }, cookie: existing }, { host }) => {
      const other = otherAddress(deps, host);
      if (other) return redirect(302, `${other}?${new URLSearchParams({ org, returnTo })}`, null);
      const cookie = ssoCookie(existing);
      const start = { cookie: cookie.value, returnTo, link: null };
      const location = await startLogin(deps, org, start);
      return redirect(302, location, cookie.header);
    },
    consume: async ({ raw, cookie }, by) => {
      const { response, relayState } = readForm(raw);
      const accepted = await consumeResponse(deps, { response, relayState, cookie }, by);
      return redirect(303, accepted.location, accepted.cookie);
    },
    begin: ({ body: { code, confirmed }, cookie }, by) =>
      beginSsoSession(deps, { code, confirmed, cookie }, by),
  });

/** Without a public address, responses go to localhost, where the cookie must be. */
const otherAddress = ({ baseUrl }: SsoDeps, host: string): string | null => {
  const base = baseUrl();
  const isOther = base?.startsWith('http://') && new URL(base).host !== host;
  return isOther ? `${base}${sso.login.path}` : null;
};

const redirect = (status: number, location: string, cookie: string | null) =>
  new CustomReply(status, undefined, {
    location,
    'cache-control': 'no-store',
    ...(cookie !== null && { 'set-cookie': cookie }),
  });

const FORM = /^application\/x-www-form-urlencoded(?:;|$)/i;

const readForm = ({ bytes, headers }: RawBody): { response: string; relayState: string } => {
  if (!FORM.test(headers['content-type'] ?? '')) {
    throw Boom.unsupportedMediaType('Send a form: application/x-www-form-urlencoded');
  }
  const form = new URLSearchParams(bytes.toString());
  const [response, ...others] = form.getAll('SAMLResponse');
  if (response === undefined || others.length > 0) {
    throw badRequest([{ path: 'SAMLResponse', message: 'is required, once' }]);
  }
  return { response, relayState: form.get('RelayState') ?? '' };
};
