import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createKeyPair, idpUser } from '../../harness/idp.js';
import {
  answer,
  begin,
  configure,
  formOf,
  lastResult,
  logIn,
  makeOrg,
  openStage,
  post,
  rightFor,
  type Stage,
  send,
} from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

const MINUTE_MS = 60_000;

describe('a hostile response', () => {
  let stage: Stage;
  let users: number;
  const countUsers = async () => {
    const { body } = await stage.app.call('GET', '/api/admin/users?limit=200', {
      token: stage.admin.token,
    });
    return body.users.length;
  };
  before(async () => {
    stage = await openStage();
    await logIn(stage);
    users = await countUsers();
  });
  after(() => stage.stop());
  afterEach(async () => {
    expect(await countUsers()).to.equal(users);
  });

  /** The same reply to the browser whatever the reason, but for the code. */
  const expectRefused = async (reply: { status: number; body: unknown }, code: string) => {
    const { requestId: _, ...body } = Object(reply.body);
    expect(body).to.equal({
      statusCode: 401,
      error: 'Unauthorized',
      message:
        'The login with single sign-on was refused. Start it again, or ask an admin of your organization',
      code,
    });
    expect((await lastResult(stage)).code).to.equal(code);
  };

  it('is refused a second time', async () => {
    const started = await begin(stage.app);
    const form = await answer(started);
    expect((await post(stage.app, form, started.cookie)).status).to.equal(303);
    const again = await post(stage.app, form, started.cookie);
    await expectRefused(again, 'saml_in_response_to');
    const other = await begin(stage.app);
    const moved = { ...form, RelayState: other.relayState };
    await expectRefused(await post(stage.app, moved, other.cookie), 'saml_in_response_to');
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
    await expectRefused(await post(stage.app, form, undefined), 'saml_cookie');
    const other = await begin(stage.app);
    await expectRefused(await post(stage.app, form, other.cookie), 'saml_cookie');
    expect((await post(stage.app, form, started.cookie)).status).to.equal(303);
  });

  it('is refused for a login that has expired', async () => {
    const started = await begin(stage.app);
    const form = await answer(started);
    stage.clock.shift(10 * MINUTE_MS);
    const late = await post(stage.app, form, started.cookie);
    stage.clock.shift(-10 * MINUTE_MS);
    await expectRefused(late, 'saml_in_response_to');
  });

  it('is refused for another audience, recipient or issuer', async () => {
    const { app } = stage;
    const evil = 'https://other.example/api/saml';
    await expectRefused(await send(stage, { audience: `${evil}/metadata` }), 'saml_audience');
    await expectRefused(await send(stage, { acs: `${evil}/acs` }), 'saml_recipient');
    const second = (xml: string) =>
      xml.replace('</saml:Audience>', '</saml:Audience><saml:Audience>x</saml:Audience>');
    await expectRefused(await send(stage, { edit: second }), 'saml_malformed');
    const issuer = (xml: string) => xml.replaceAll('idp.acme.example', 'idp.other.example');
    await expectRefused(await send(stage, { edit: issuer }), 'saml_issuer');
    const longer = `${app.url}/api/saml/metadata?org=acme2`;
    await expectRefused(await send(stage, { audience: longer }), 'saml_audience');
  });

  it('is refused outside of its time, by more than a minute', async () => {
    stage.clock.shift(Date.now() - stage.clock.now());
    const late = await send(stage, { lifetimeInSeconds: -61 });
    await expectRefused(late, 'saml_expired');
    expect((await send(stage, { lifetimeInSeconds: -20 })).status).to.equal(303);
    const started = await begin(stage.app);
    const form = await answer(started);
    stage.clock.shift(-5 * MINUTE_MS);
    const early = await post(stage.app, form, started.cookie);
    stage.clock.shift(5 * MINUTE_MS);
    await expectRefused(early, 'saml_not_yet_valid');
    const ended = (xml: string) =>
      xml.replace(
        '<saml:AuthnStatement ',
        '<saml:AuthnStatement SessionNotOnOrAfter="2020-01-01T00:00:00Z" ',
      );
    await expectRefused(await send(stage, { edit: ended }), 'saml_expired');
  });

  it('is refused without a signature of the identity provider', async () => {
    await expectRefused(await send(stage, { signs: [] }), 'saml_unsigned');
    const keys = createKeyPair();
    await expectRefused(await send(stage, { keys }), 'saml_signature');
    const stripped = (xml: string) => xml.replace(/<Signature .*<\/Signature>/s, '');
    await expectRefused(await send(stage, {}, stripped), 'saml_unsigned');
    const changed = (xml: string) => xml.replace('>grace</saml:NameID>', '>admin</saml:NameID>');
    await expectRefused(await send(stage, {}, changed), 'saml_signature');
    const empty = (xml: string) =>
      xml.replace(/<SignatureValue>.*<\/SignatureValue>/s, '<SignatureValue/>');
    await expectRefused(await send(stage, {}, empty), 'saml_signature');
  });

  it('is refused if one of two signatures is wrong', async () => {
    const signs: ('Assertion' | 'Response')[] = ['Assertion', 'Response'];
    expect((await send(stage, { signs })).status).to.equal(303);
    expect((await send(stage, { signs: ['Response'] })).status).to.equal(303);
    const changed = (xml: string) => xml.replace(' Destination="', ' Destination="x');
    await expectRefused(await send(stage, { signs }, changed), 'saml_signature');
  });

  it('is refused with SHA-1, HMAC or an unknown algorithm', async () => {
    await expectRefused(await send(stage, { algorithm: 'sha1' }), 'saml_algorithm');
    for (const [from, to] of [
      ['2001/04/xmldsig-more#rsa-sha256', '2000/09/xmldsig#hmac-sha1'],
      ['2001/04/xmldsig-more#rsa-sha256', '2001/04/xmldsig-more#hmac-sha256'],
      ['2001/04/xmlenc#sha256', '2000/09/xmldsig#sha1'],
      ['2001/10/xml-exc-c14n#', '2001/10/xml-exc-c14n#WithComments'],
      ['2001/10/xml-exc-c14n#', 'TR/1999/REC-xslt-19991116'],
    ] as const) {
      const swapped = (xml: string) => xml.replace(from, to);
      await expectRefused(await send(stage, {}, swapped), 'saml_algorithm');
    }
  });

  it('is refused with a document type, comments, CDATA or instructions', async () => {
    const doctype = (xml: string) => `<!DOCTYPE x [<!ENTITY e "admin">]>${xml}`;
    await expectRefused(await send(stage, {}, doctype), 'saml_doctype');
    const lower = (xml: string) => `<!doctype x>${xml}`;
    await expectRefused(await send(stage, {}, lower), 'saml_doctype');
    for (const inside of ['<!-- -->', '<![CDATA[]]>', '<?x y?>']) {
      const cut = (xml: string) => xml.replace('>grace<', `>grace${inside}.evil<`);
      await expectRefused(await send(stage, {}, cut), 'saml_markup');
      // Canonical XML drops comments: the signature stays valid.
      const user = idpUser('admin.evil');
      const split = (xml: string) => xml.replace('>admin.evil<', `>admin${inside}.evil<`);
      await expectRefused(await send(stage, { user }, split), 'saml_markup');
    }
  });

  it('is refused encrypted, too large, empty, or of another kind', async () => {
    const encrypted = (xml: string) =>
      xml.replace(
        '</samlp:Response>',
        '<saml:EncryptedAssertion xmlns:saml="urn:x"/></samlp:Response>',
      );
    await expectRefused(await send(stage, {}, encrypted), 'saml_encrypted');
    const large = (xml: string) => xml.replace('>grace<', `>${'g'.repeat(256 * 1024)}<`);
    await expectRefused(await send(stage, {}, large), 'saml_too_large');
    await expectRefused(await send(stage, {}, () => 'no XML'), 'saml_malformed');
    await expectRefused(await send(stage, {}, () => '<a/>'), 'saml_malformed');
    const logout = (xml: string) => xml.replaceAll('samlp:Response', 'samlp:LogoutResponse');
    await expectRefused(await send(stage, {}, logout), 'saml_malformed');
    const started = await begin(stage.app);
    const bytes = { SAMLResponse: '/////w==', RelayState: started.relayState };
    await expectRefused(await post(stage.app, bytes, started.cookie), 'saml_malformed');
  });

  it('is refused with a failure of the identity provider', async () => {
    const failed = (xml: string) =>
      xml
        .replace('status:Success', 'status:Requester')
        .replace(/<saml:Assertion .*<\/saml:Assertion>/s, '');
    await expectRefused(await send(stage, { signs: [] }, failed), 'saml_status');
  });

  it('is refused with a transient, empty or missing NameID', async () => {
    const transient = (xml: string) =>
      xml.replace('1.1:nameid-format:unspecified', '2.0:nameid-format:transient');
    await expectRefused(await send(stage, { edit: transient }), 'saml_name_id');
    const without = (xml: string) => xml.replace(/<saml:NameID.*<\/saml:NameID>/, '');
    await expectRefused(await send(stage, { edit: without }), 'saml_malformed');
    const blank = (xml: string) => xml.replace('>grace</saml:NameID>', '> </saml:NameID>');
    await expectRefused(await send(stage, { edit: blank }), 'saml_name_id');
  });

  it('is refused without a bearer confirmation that has an end', async () => {
    const holder = (xml: string) => xml.replace('cm:bearer', 'cm:holder-of-key');
    await expectRefused(await send(stage, { edit: holder }), 'saml_subject');
    const endless = (xml: string) =>
      xml.replace(/(<saml:SubjectConfirmationData[^>]*?) NotOnOrAfter="[^"]*"/, '$1');
    await expectRefused(await send(stage, { edit: endless }), 'saml_malformed');
    const bare = (xml: string) => xml.replace(/<saml:AuthnStatement.*<\/saml:AuthnStatement>/, '');
    await expectRefused(await send(stage, { edit: bare }), 'saml_subject');
  });

  for (const [name, wrap] of Object.entries(wrappings())) {
    it(`is refused with a wrapped signature (${name})`, async () => {
      const reply = await send(
        stage,
        { signs: name < 'XSW 3' ? ['Response'] : ['Assertion'] },
        wrap,
      );
      const { code } = await lastResult(stage);
      expect(code).to.be.a.string();
      await expectRefused(reply, code);
    });
  }

  it('of one organization logs nobody into another', async () => {
    const { app, ada, idp, keys } = stage;
    const orgId = await makeOrg(stage, 'other');
    const { startIdp } = await import('../../harness/idp.js');
    const otherKeys = createKeyPair();
    const other = await startIdp('https://idp.other.example/metadata', otherKeys);
    await configure({ app, ada, idp: other, orgId }, {});
    // The other organization's assertion, with the RelayState of acme.
    const toOther = await begin(app, 'other');
    const toAcme = await begin(app, 'acme', undefined);
    const form = await answer(toOther);
    const crossed = await post(app, { ...form, RelayState: toAcme.relayState }, toAcme.cookie);
    await expectRefused(crossed, 'saml_signature');
    // Signed by the other identity provider, with all the values of acme.
    const forged = await idp.respond({ ...rightFor(app, toAcme), keys: otherKeys });
    const reply = await post(app, formOf(forged, toAcme.relayState), toAcme.cookie);
    await expectRefused(reply, 'saml_signature');
    // Two organizations behind one identity provider are told apart by the audience.
    await configure({ app, ada, idp, orgId }, {});
    const started = await begin(app, 'other');
    const own = await idp.respond(rightFor(app, started));
    const refused = await post(app, formOf(own, started.relayState), started.cookie);
    expect(refused.body.code).to.equal('saml_audience');
    expect(keys.certificate).not.to.equal(otherKeys.certificate);
    await other.stop();
  });
});

/**
 * The eight ways to move the signed element aside and put a forged one where it is read (Somorovsky
 * et al., "On Breaking SAML", 2012), and some that use node-saml's way of reading.
 */
function wrappings(): Record<string, (xml: string) => string> {
  const assertionOf = (xml: string) => /<saml:Assertion .*<\/saml:Assertion>/s.exec(xml)?.[0] ?? '';
  const signatureOf = (xml: string) => /<Signature .*?<\/Signature>/s.exec(xml)?.[0] ?? '';
  const forge = (element: string) =>
    element
      .replace(/<Signature .*?<\/Signature>/s, '')
      .replace(/ ID="[^"]+"/, ' ID="_forged"')
      .replace('>grace<', '>admin<');
  const inSignature = (xml: string, content: string) =>
    xml.replace('</Signature>', `<Object>${content}</Object></Signature>`);
  const beforeEnd = (xml: string, content: string) =>
    xml.replace('</samlp:Response>', `${content}</samlp:Response>`);
  const bare = (xml: string) => xml.replace(signatureOf(xml), '');
  return {
    'XSW 1': (xml) => {
      const evil = forge(xml);
      return evil.replace(
        /(<saml:Issuer>.*?<\/saml:Issuer>)/,
        `$1${inSignature(signatureOf(xml), bare(xml))}`,
      );
    },
    'XSW 2': (xml) => {
      const evil = forge(xml);
      return evil.replace(/(<saml:Issuer>.*?<\/saml:Issuer>)/, `$1${bare(xml)}${signatureOf(xml)}`);
    },
    'XSW 3': (xml) => xml.replace('<saml:Assertion ', `${forge(assertionOf(xml))}<saml:Assertion `),
    'XSW 4': (xml) => {
      const own = assertionOf(xml);
      const evil = forge(own).replace('</saml:Assertion>', `${own}</saml:Assertion>`);
      return xml.replace(own, evil);
    },
    'XSW 5': (xml) => {
      const own = assertionOf(xml);
      const evil = forge(own).replace('</saml:Issuer>', `</saml:Issuer>${signatureOf(xml)}`);
      return beforeEnd(xml.replace(own, evil), bare(own));
    },
    'XSW 6': (xml) => {
      const own = assertionOf(xml);
      const signature = inSignature(signatureOf(xml), bare(own));
      return xml.replace(own, forge(own).replace('</saml:Issuer>', `</saml:Issuer>${signature}`));
    },
    'XSW 7': (xml) => {
      const own = assertionOf(xml);
      return xml.replace(own, `<samlp:Extensions>${forge(own)}</samlp:Extensions>${own}`);
    },
    'XSW 8': (xml) => {
      const own = assertionOf(xml);
      const signature = inSignature(signatureOf(xml), bare(own));
      return xml.replace(
        own,
        own.replace(signatureOf(xml), signature).replace('>grace<', '>admin<'),
      );
    },
    'XSW, same ID': (xml) => {
      const own = assertionOf(xml);
      return beforeEnd(xml, forge(own).replace('_forged', /ID="([^"]+)"/.exec(own)?.[1] ?? ''));
    },
    'XSW, other prefix': (xml) =>
      beforeEnd(
        xml,
        forge(assertionOf(xml)).replaceAll('saml:', 'evil:').replace('xmlns:evil:', 'xmlns:'),
      ),
    'XSW, default namespace': (xml) =>
      beforeEnd(
        xml,
        forge(assertionOf(xml)).replaceAll('saml:', '').replace('xmlns:saml=', 'xmlns='),
      ),
    'XSW, in the status': (xml) =>
      xml.replace('</samlp:Status>', `${forge(assertionOf(xml))}</samlp:Status>`),
    'XSW, around the response': (xml) => `<x>${xml}</x>`,
    'XSW, reference to the document': (xml) => xml.replace(/ URI="#[^"]+"/, ' URI=""'),
    'XSW, second reference': (xml) => {
      const reference = /<Reference .*<\/Reference>/s.exec(xml)?.[0] ?? '';
      return xml.replace(reference, `${reference}${reference}`);
    },
  };
}
