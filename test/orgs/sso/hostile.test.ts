import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Reply } from '../../harness/app.js';
import { createKeyPair, idpUser, startIdp } from '../../harness/idp.js';
import {
  type Attacks,
  algorithms,
  contents,
  messages,
  parsers,
  signatures,
  wrappings,
} from './attacks.js';
import {
  answer,
  begin,
  codeOf,
  configure,
  formOf,
  lastResult,
  logIn,
  makeOrg,
  openStage,
  post,
  redeem,
  rightFor,
  type Stage,
  send,
  syncClock,
} from './stage.js';

export const lab = Lab.script();
const { describe, it, before, beforeEach, after } = lab;

const MINUTE_MS = 60_000;

/** Tables that a login writes to. */
const TABLES = [
  'users',
  'org_members',
  'org_identities',
  'saml_assertions',
  'saml_logins',
  'auth_sessions',
] as const;

describe('a hostile response', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
    await logIn(stage);
  });
  after(() => stage.stop());
  beforeEach(() => syncClock(stage));

  const countRows = async () => {
    const { db } = stage.app.app.store;
    const counts = TABLES.map(async (table) => {
      const { count } = await db
        .selectFrom(table)
        .select((select) => select.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      return [table, Number(count)] as const;
    });
    return Object.fromEntries(await Promise.all(counts));
  };

  /** The same reply to the browser whatever the reason, but for the code. */
  const expectRefused = async (
    code: string,
    work: () => Promise<Reply>,
    org: Pick<Stage, 'app' | 'ada' | 'orgId'> = stage,
  ) => {
    const rows = await countRows();
    const { status, headers, body } = await work();
    const { requestId: _, ...rest } = Object(body);
    expect(rest).to.equal({
      statusCode: 401,
      error: 'Unauthorized',
      message:
        'The login with single sign-on was refused. Start it again, or ask an admin of your organization',
      code,
    });
    expect([status, headers['set-cookie'], headers.location]).to.equal([401, undefined, undefined]);
    expect((await lastResult(org)).code).to.equal(code);
    expect(await countRows()).to.equal(rows);
  };

  const groups: Record<string, Attacks> = {
    'a wrapped signature': wrappings,
    'a signature': signatures,
    'an algorithm': algorithms,
    'a text': parsers,
    'a message': messages,
    'a content': contents,
  };
  for (const [group, attacks] of Object.entries(groups)) {
    for (const [name, { code, options = {}, tamper }] of Object.entries(attacks)) {
      it(`with ${name} is refused (${group}: ${code})`, () =>
        expectRefused(code, () => send(stage, options, tamper)));
    }
  }

  it('is accepted if nothing is wrong, signed in every way', async () => {
    for (const signs of [['Assertion'], ['Response'], ['Assertion', 'Response']] as const) {
      expect((await send(stage, { signs: [...signs] })).status).to.equal(303);
    }
    const declared = (xml: string) => `<?xml version="1.0" encoding="UTF-8"?>\n${xml}`;
    expect((await send(stage, {}, declared)).status).to.equal(303);
    const padded = (xml: string) =>
      xml.replace('>grace</saml:NameID>', '>\n  grace\n</saml:NameID>');
    expect((await send(stage, { edit: padded })).status).to.equal(303);
    expect((await send(stage, { lifetimeInSeconds: -20 })).status).to.equal(303);
  });

  it('with as many elements as are allowed delays no other request', async () => {
    const { app, idp } = stage;
    const attribute =
      '<saml:Attribute Name="a"><saml:AttributeValue>b</saml:AttributeValue></saml:Attribute>';
    const edit = (xml: string) =>
      xml.replace('</saml:AttributeStatement>', `${attribute.repeat(950)}$&`);
    const started = await begin(app);
    const xml = await idp.respond({ ...rightFor(app, started), edit });
    let isVerified = false;
    const verifying = post(app, formOf(xml, started.relayState), started.cookie).finally(() => {
      isVerified = true;
    });
    let others = 0;
    while (!isVerified) {
      expect((await app.call('GET', '/health/live')).status).to.equal(200);
      others++;
    }
    expect((await verifying).status).to.equal(303);
    // On the event loop, at most those that come before the response is read.
    expect(others).to.be.above(10);
  });

  it('is refused a second time', async () => {
    const started = await begin(stage.app);
    const form = await answer(started);
    expect((await post(stage.app, form, started.cookie)).status).to.equal(303);
    const again = () => post(stage.app, form, started.cookie);
    await expectRefused('saml_in_response_to', again);
    const other = await begin(stage.app);
    const moved = { ...form, RelayState: other.relayState };
    await expectRefused('saml_in_response_to', () => post(stage.app, moved, other.cookie));
  });

  it('is refused a second time in another response, also if nobody asked for it', async () => {
    const { app } = stage;
    await configure(stage, { allowIdpInitiated: true });
    const xml = await stage.idp.respond(rightFor(app, null));
    expect((await post(app, formOf(xml), undefined)).status).to.equal(303);
    const other = xml.replace(/ ID="[^"]+"/, ' ID="_other"');
    await expectRefused('saml_replayed', () => post(app, formOf(xml), undefined));
    await expectRefused('saml_replayed', () => post(app, formOf(other), undefined));
    await configure(stage, { allowIdpInitiated: false });
    const unasked = await stage.idp.respond(rightFor(app, null));
    await expectRefused('saml_unsolicited', () => post(app, formOf(unasked), undefined));
  });

  it('is accepted once of many at the same time', async () => {
    const started = await begin(stage.app);
    const form = await answer(started);
    const replies = await Promise.all(
      [1, 2, 3, 4].map(() => post(stage.app, form, started.cookie)),
    );
    expect(replies.map(({ status }) => status).sort()).to.equal([303, 401, 401, 401]);
  });

  it('is refused in another browser, and without a cookie', async () => {
    const started = await begin(stage.app);
    const form = await answer(started);
    await expectRefused('saml_cookie', () => post(stage.app, form, undefined));
    const other = await begin(stage.app);
    await expectRefused('saml_cookie', () => post(stage.app, form, other.cookie));
    expect((await post(stage.app, form, started.cookie)).status).to.equal(303);
  });

  it('of an attacker logs nobody in who has a login under way', async () => {
    const { app, idp } = stage;
    const [attacker, victim] = [await begin(app), await begin(app)];
    idp.logIn(idpUser('mallory'));
    const form = await answer(attacker);
    idp.logIn(idpUser('grace'));
    await expectRefused('saml_cookie', () => post(app, form, victim.cookie));
    const moved = { ...form, RelayState: victim.relayState };
    await expectRefused('saml_in_response_to', () => post(app, moved, victim.cookie));
    // The attacker completes the login: its code is of no use in the browser of the victim.
    const code = codeOf(await post(app, form, attacker.cookie));
    const rows = await countRows();
    const planted = await redeem(app, { code, cookie: victim.cookie });
    expect([planted.status, planted.headers['set-cookie']]).to.equal([401, undefined]);
    expect(await countRows()).to.equal(rows);
  });

  it('is refused for a login that has expired', async () => {
    const started = await begin(stage.app);
    const form = await answer(started);
    stage.clock.shift(10 * MINUTE_MS);
    await expectRefused('saml_in_response_to', () => post(stage.app, form, started.cookie));
    stage.clock.shift(-10 * MINUTE_MS);
  });

  it('is refused before its time, by more than a minute', async () => {
    const started = await begin(stage.app);
    const form = await answer(started);
    stage.clock.shift(-5 * MINUTE_MS);
    await expectRefused('saml_not_yet_valid', () => post(stage.app, form, started.cookie));
    stage.clock.shift(5 * MINUTE_MS);
  });

  it('is refused by another binding, and sent twice in one form', async () => {
    const started = await begin(stage.app);
    const form = await answer(started);
    const rows = await countRows();
    const query = new URLSearchParams({ ...form });
    const headers = { cookie: started.cookie };
    const acs = '/api/saml/acs';
    const replies = [
      await stage.app.call('GET', `${acs}?${query}`, { headers }),
      await stage.app.call('POST', acs, { body: form, headers }),
      await stage.app.call('POST', `${acs}?${query}`, {
        type: 'application/x-www-form-urlencoded',
        body: 'SAMLart=AAQAAMh48',
        headers,
      }),
      await stage.app.call('POST', acs, {
        type: 'application/x-www-form-urlencoded',
        body: `${query}&${query}`,
        headers,
      }),
    ];
    expect(replies.map(({ status }) => status)).to.equal([405, 415, 400, 400]);
    expect(await countRows()).to.equal(rows);
  });

  it('of one organization logs nobody into another', async () => {
    const { app, ada, idp, keys } = stage;
    const orgId = await makeOrg(stage, 'other');
    const otherKeys = createKeyPair();
    const other = await startIdp('https://idp.other.example/metadata', otherKeys);
    await configure({ app, ada, idp: other, orgId }, {});
    // The other organization's assertion, with the RelayState of acme.
    const toOther = await begin(app, 'other');
    const toAcme = await begin(app);
    const form = { ...(await answer(toOther)), RelayState: toAcme.relayState };
    await expectRefused('saml_signature', () => post(app, form, toAcme.cookie));
    // Signed by the other identity provider, with all the values of acme.
    const forged = await idp.respond({ ...rightFor(app, toAcme), keys: otherKeys });
    const sent = formOf(forged, toAcme.relayState);
    await expectRefused('saml_signature', () => post(app, sent, toAcme.cookie));
    expect(keys.certificate).not.to.equal(otherKeys.certificate);
    await other.stop();
  });

  it('of one of two organizations behind one identity provider is refused by the other', async () => {
    const { app, ada, idp } = stage;
    const orgId = await makeOrg(stage, 'twin');
    const twin = { app, ada, idp, orgId };
    await configure(twin, { allowIdpInitiated: true });
    const started = await begin(app, 'twin');
    const ofAcme = await idp.respond(rightFor(app, started));
    const sent = formOf(ofAcme, started.relayState);
    await expectRefused('saml_audience', () => post(app, sent, started.cookie), twin);
    const audience = `${app.url}/api/saml/metadata?org=twin`;
    // A right response for the twin, with the RelayState of acme, and without any.
    const acme = await begin(app);
    const ofTwin = await idp.respond({ ...rightFor(app, acme), audience });
    const moved = formOf(ofTwin, acme.relayState);
    await expectRefused('saml_audience', () => post(app, moved, acme.cookie));
    await expectRefused('saml_in_response_to', () => post(app, formOf(ofTwin), acme.cookie), twin);
  });
});
