import { expect } from '@hapi/code';
import {
  type FrozenClock,
  frozenClock,
  type Reply,
  startApp,
  type TestApp,
} from '../../harness/app.js';
import {
  createKeyPair,
  type Idp,
  type IdpUser,
  idpUser,
  type KeyPair,
  type ResponseOptions,
  type SamlForm,
  startIdp,
} from '../../harness/idp.js';

const ENTITY = 'https://idp.acme.example/metadata';
export const EMAIL = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress';
export const GROUPS = 'http://schemas.passportjs.com/groups';

/** A daemon with an admin, and the organization acme of the user ada with an identity provider. */
export interface Stage {
  app: TestApp;
  clock: FrozenClock;
  keys: KeyPair;
  idp: Idp;
  admin: { id: string; token: string };
  ada: { id: string; token: string };
  orgId: string;
  stop(): Promise<void>;
}

export const openStage = async (): Promise<Stage> => {
  const clock = frozenClock(Date.now());
  const app = await startApp({ clock });
  // Responses go to localhost, and the cookie must be there.
  app.url = app.url.replace('127.0.0.1', 'localhost');
  const keys = createKeyPair();
  const idp = await startIdp(ENTITY, keys);
  const admin = await app.register('admin');
  const ada = await app.register('ada');
  const stage = { app, clock, keys, idp, admin, ada, orgId: '' };
  stage.orgId = await makeOrg(stage, 'acme');
  const done = await configure(stage, {});
  expect(done.status, done.text).to.equal(200);
  return {
    ...stage,
    stop: async () => {
      await idp.stop();
      await app.stop();
    },
  };
};

/** samlp writes the time of the machine into its responses. */
export const syncClock = ({ clock }: Pick<Stage, 'clock'>): void =>
  clock.shift(Date.now() - clock.now());

type Bare = Omit<Stage, 'stop'>;

export const makeOrg = async ({ app, admin, ada }: Bare, slug: string): Promise<string> => {
  const made = await app.call('POST', '/api/orgs', {
    token: ada.token,
    body: { slug, name: slug },
  });
  const path = `/api/admin/orgs/${made.body.id}`;
  await app.call('PATCH', path, { token: admin.token, body: { approved: true } });
  return made.body.id;
};

export const configure = (
  { app, ada, idp, orgId }: Pick<Stage, 'app' | 'ada' | 'idp' | 'orgId'>,
  changes: object,
): Promise<Reply> => {
  const { entityId, ssoUrl, certificate } = idp;
  const body = { enabled: true, entityId, ssoUrl, certificates: [certificate], ...changes };
  return app.call('PUT', `/api/orgs/${orgId}/sso`, { token: ada.token, body });
};

/** A login that a browser has started: its cookie, and the address at the identity provider. */
export interface Started {
  cookie: string;
  location: string;
  requestId: string;
  relayState: string;
}

export const begin = async (app: TestApp, org = 'acme', returnTo?: string): Promise<Started> => {
  const query = new URLSearchParams({ org, ...(returnTo !== undefined && { returnTo }) });
  const reply = await app.call('GET', `/api/saml/login?${query}`);
  expect(reply.status, reply.text).to.equal(302);
  return startedBy(reply.headers['set-cookie'] ?? '', reply.headers.location ?? '');
};

export const startedBy = async (setCookie: string, location: string): Promise<Started> => {
  const { inflateRawSync } = await import('node:zlib');
  const { searchParams } = new URL(location);
  const request = inflateRawSync(Buffer.from(searchParams.get('SAMLRequest') ?? '', 'base64'));
  return {
    cookie: setCookie.split(';')[0] ?? '',
    location,
    requestId: /\sID="([^"]+)"/.exec(request.toString())?.[1] ?? '',
    relayState: searchParams.get('RelayState') ?? '',
  };
};

/** The response of samlp over the wire. */
export const answer = async ({ location }: Started): Promise<SamlForm> =>
  (await (await fetch(location)).json()) as SamlForm;

export const post = (
  app: TestApp,
  form: Partial<SamlForm>,
  cookie: string | undefined,
): Promise<Reply> =>
  app.call('POST', '/api/saml/acs', {
    type: 'application/x-www-form-urlencoded',
    body: String(new URLSearchParams({ ...form })),
    ...(cookie !== undefined && { headers: { cookie } }),
  });

export const codeOf = ({ headers }: Reply): string =>
  /#code=([\w-]+)/.exec(headers.location ?? '')?.[1] ?? '';

export const redeem = (
  app: TestApp,
  { code, cookie, ...more }: { code: string; cookie: string; confirmed?: boolean },
): Promise<Reply> =>
  app.call('POST', '/api/saml/session', { body: { code, ...more }, headers: { cookie } });

/** Logs in by samlp, up to the session. */
export const logIn = async (
  { app, idp }: Pick<Stage, 'app' | 'idp'>,
  user: IdpUser = idpUser('grace'),
  org = 'acme',
): Promise<Reply> => {
  idp.logIn(user);
  const started = await begin(app, org);
  const accepted = await post(app, await answer(started), started.cookie);
  if (accepted.status !== 303) return accepted;
  return redeem(app, { code: codeOf(accepted), cookie: started.cookie });
};

/** Values that make a response right for acme. */
export const rightFor = (app: TestApp, started: Started | null): ResponseOptions => ({
  acs: `${app.url}/api/saml/acs`,
  audience: `${app.url}/api/saml/metadata?org=acme`,
  user: idpUser('grace'),
  ...(started && { inResponseTo: started.requestId }),
});

/** Sends a response of the given content in the browser that started the login. */
export const send = async (
  { app, idp }: Pick<Stage, 'app' | 'idp'>,
  options: Partial<ResponseOptions>,
  tamper: (xml: string) => string | Buffer = (xml) => xml,
): Promise<Reply> => {
  const started = await begin(app);
  const xml = tamper(await idp.respond({ ...rightFor(app, started), ...options }));
  return post(app, formOf(xml, started.relayState), started.cookie);
};

export const formOf = (xml: string | Buffer, RelayState = ''): SamlForm => ({
  SAMLResponse: Buffer.from(xml as string).toString('base64'),
  RelayState,
});

/** The code of the newest refusal, as an owner sees it; null for a login. */
export const lastResult = async ({ app, ada, orgId }: Pick<Stage, 'app' | 'ada' | 'orgId'>) => {
  const path = `/api/orgs/${orgId}/sso/test`;
  const { body } = await app.call('POST', path, { token: ada.token });
  return body.results[0];
};
