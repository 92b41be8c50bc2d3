import { createHmac } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { createKeyPair, idpUser, type ResponseOptions } from '../../harness/idp.js';

/** A response that must be refused with the code. */
export interface Attack {
  code: string;
  /** What the identity provider signs. */
  options?: Partial<ResponseOptions>;
  /** What the attacker changes afterwards. */
  tamper?: (xml: string) => string | Buffer;
}

export type Attacks = Record<string, Attack>;

const edited = (code: string, edit: (xml: string) => string): Attack => ({
  code,
  options: { edit },
});
const tampered = (
  code: string,
  tamper: NonNullable<Attack['tamper']>,
  options: Partial<ResponseOptions> = {},
): Attack => ({ code, tamper, options });

const XML_DSIG = 'http://www.w3.org/2000/09/xmldsig#';
const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const attacker = createKeyPair();

const assertionOf = (xml: string) => /<saml:Assertion .*<\/saml:Assertion>/s.exec(xml)?.[0] ?? '';
const signatureOf = (xml: string) => /<Signature .*?<\/Signature>/s.exec(xml)?.[0] ?? '';
const referenceOf = (xml: string) => /<Reference .*<\/Reference>/s.exec(xml)?.[0] ?? '';
const bare = (xml: string) => xml.replace(signatureOf(xml), '');
const asAdmin = (xml: string) => xml.replace('>grace</saml:NameID>', '>admin</saml:NameID>');
const forge = (xml: string) => asAdmin(bare(xml)).replace(/ ID="[^"]+"/, ' ID="_forged"');
const beforeEnd = (xml: string, content: string) =>
  xml.replace('</samlp:Response>', `${content}</samlp:Response>`);
const inSignature = (xml: string, content: string) =>
  xml.replace('</Signature>', `<Object>${content}</Object></Signature>`);
const nameId = (text: string) => (xml: string) =>
  xml.replace('>grace</saml:NameID>', `>${text}</saml:NameID>`);
const algorithm = (from: string, to: string) => (xml: string) => xml.replace(from, to);

/**
 * The eight ways to move the signed element aside and put a forged one where it is read (Somorovsky
 * et al., "On Breaking SAML", 2012), and relatives.
 */
export const wrappings: Attacks = {
  'XSW 1': tampered(
    'saml_assertions',
    (xml) =>
      forge(xml).replace(
        /(<saml:Issuer[^>]*>.*?<\/saml:Issuer>)/,
        `$1${inSignature(signatureOf(xml), bare(xml))}`,
      ),
    { signs: ['Response'] },
  ),
  'XSW 2': tampered(
    'saml_assertions',
    (xml) =>
      forge(xml).replace(
        /(<saml:Issuer[^>]*>.*?<\/saml:Issuer>)/,
        `$1${bare(xml)}${signatureOf(xml)}`,
      ),
    { signs: ['Response'] },
  ),
  'XSW 3': tampered('saml_assertions', (xml) =>
    xml.replace('<saml:Assertion ', `${forge(assertionOf(xml))}<saml:Assertion `),
  ),
  'XSW 4': tampered('saml_assertions', (xml) => {
    const own = assertionOf(xml);
    return xml.replace(own, forge(own).replace('</saml:Assertion>', `${own}</saml:Assertion>`));
  }),
  'XSW 5': tampered('saml_assertions', (xml) => {
    const own = assertionOf(xml);
    const evil = forge(own).replace('</saml:Issuer>', `</saml:Issuer>${signatureOf(xml)}`);
    return beforeEnd(xml.replace(own, evil), bare(own));
  }),
  'XSW 6': tampered('saml_assertions', (xml) => {
    const own = assertionOf(xml);
    const signature = inSignature(signatureOf(xml), bare(own));
    return xml.replace(own, forge(own).replace('</saml:Issuer>', `</saml:Issuer>${signature}`));
  }),
  'XSW 7': tampered('saml_assertions', (xml) => {
    const own = assertionOf(xml);
    return xml.replace(own, `<samlp:Extensions>${forge(own)}</samlp:Extensions>${own}`);
  }),
  'XSW 8': tampered('saml_assertions', (xml) => {
    const own = assertionOf(xml);
    const signature = inSignature(signatureOf(xml), bare(own));
    return xml.replace(own, asAdmin(own.replace(signatureOf(xml), signature)));
  }),
  'a forged assertion of the same ID': tampered('saml_assertions', (xml) => {
    const own = assertionOf(xml);
    return beforeEnd(xml, forge(own).replace('_forged', /ID="([^"]+)"/.exec(own)?.[1] ?? ''));
  }),
  'a forged assertion with another prefix': tampered('saml_assertions', (xml) =>
    beforeEnd(
      xml,
      forge(assertionOf(xml)).replaceAll('saml:', 'evil:').replace('xmlns:evil:', 'xmlns:'),
    ),
  ),
  'a forged assertion in the default namespace': tampered('saml_assertions', (xml) =>
    beforeEnd(
      xml,
      forge(assertionOf(xml)).replaceAll('saml:', '').replace('xmlns:saml=', 'xmlns='),
    ),
  ),
  'a forged assertion in the status': tampered('saml_assertions', (xml) =>
    xml.replace('</samlp:Status>', `${forge(assertionOf(xml))}</samlp:Status>`),
  ),
  'an element around the response': tampered('saml_malformed', (xml) => `<x>${xml}</x>`),
  'a response around the response': tampered('saml_assertions', (xml) => {
    const outer = /^<samlp:Response [^>]*>/.exec(xml)?.[0] ?? '';
    return `${outer.replace(/ ID="/, ' ID="_x')}${xml}</samlp:Response>`;
  }),
  'the signed assertion twice': tampered('saml_assertions', (xml) =>
    beforeEnd(xml, assertionOf(xml)),
  ),
  'an unsigned assertion in a response that was signed': tampered(
    'saml_signature',
    (xml) => xml.replace(assertionOf(xml), forge(assertionOf(xml))),
    { signs: ['Response'] },
  ),
  'the signature of the assertion as that of the response': tampered('saml_signature', (xml) => {
    const signature = signatureOf(xml);
    return asAdmin(bare(xml)).replace('</saml:Issuer>', `</saml:Issuer>${signature}`);
  }),
};

/** Signatures that sign nothing, something else, or with another key. */
export const signatures: Attacks = {
  'no signature': { code: 'saml_unsigned', options: { signs: [] } },
  'a removed signature': tampered('saml_unsigned', bare),
  'a changed name': tampered('saml_signature', asAdmin),
  'a signature of an unknown key, with its certificate (KeyInfo)': {
    code: 'saml_signature',
    options: { keys: attacker },
  },
  'an empty SignatureValue': tampered('saml_signature', (xml) =>
    xml.replace(/<SignatureValue>.*<\/SignatureValue>/s, '<SignatureValue/>'),
  ),
  'a Signature without content': tampered('saml_signatures', (xml) =>
    xml.replace(signatureOf(xml), `<Signature xmlns="${XML_DSIG}"/>`),
  ),
  'a Signature of another namespace': tampered('saml_signature', (xml) =>
    xml.replace(XML_DSIG, 'urn:evil'),
  ),
  'a wrong one of two signatures': tampered(
    'saml_signature',
    (xml) => xml.replace(' IssueInstant="', ' IssueInstant="1'),
    { signs: ['Assertion', 'Response'] },
  ),
  'a wrong DigestValue': tampered('saml_signature', (xml) =>
    xml.replace(/<DigestValue>/, '<DigestValue>AAAA'),
  ),
  // CVE-2025-29775
  'a comment in the DigestValue': tampered('saml_markup', (xml) =>
    asAdmin(xml).replace('<DigestValue>', '<DigestValue><!--AAAA-->'),
  ),
  'two DigestValues': tampered('saml_signature', (xml) =>
    xml.replace('<DigestValue>', '<DigestValue>AAAA</DigestValue><DigestValue>'),
  ),
  // CVE-2025-29774
  'two SignedInfos': tampered('saml_signatures', (xml) =>
    xml.replace('<SignedInfo>', `<SignedInfo>${referenceOf(xml)}</SignedInfo><SignedInfo>`),
  ),
  'a second SignedInfo without a reference': tampered('saml_signature', (xml) =>
    xml.replace('<SignedInfo>', '<SignedInfo></SignedInfo><SignedInfo>'),
  ),
  'two references': tampered('saml_signatures', (xml) =>
    xml.replace(referenceOf(xml), referenceOf(xml).repeat(2)),
  ),
  'a reference to the document': tampered('saml_signature', (xml) =>
    xml.replace(/ URI="#[^"]+"/, ' URI=""'),
  ),
  'a reference to an address': tampered('saml_signature', (xml) =>
    xml.replace(/ URI="#[^"]+"/, ' URI="http://127.0.0.1:9/evil"'),
  ),
  'a reference to an ID of another namespace': tampered('saml_signature', (xml) =>
    xml.replace(/ ID="([^"]+)" IssueInstant/, ' x:ID="$1" xmlns:x="urn:evil" ID="_y" IssueInstant'),
  ),
  'two elements with one ID': tampered('saml_duplicate_id', (xml) =>
    xml.replace('<samlp:Status>', `<samlp:Status Id="${/#(\w+)"/.exec(xml)?.[1]}">`),
  ),
  'two attributes ID': tampered('saml_malformed', (xml) =>
    xml.replace('<saml:Assertion ', '<saml:Assertion ID="_evil" '),
  ),
};

/** Algorithms that sign less than they seem to, or with a key that is known to everybody. */
export const algorithms: Attacks = {
  'SHA-1': { code: 'saml_algorithm', options: { algorithm: 'sha1' } },
  'SHA-1 in an attribute with a prefix': tampered(
    'saml_algorithm',
    (xml) =>
      xml
        .replaceAll(' Algorithm="', ' d:Algorithm="')
        .replace(`xmlns="${XML_DSIG}"`, `xmlns="${XML_DSIG}" xmlns:d="${XML_DSIG}"`),
    { algorithm: 'sha1' },
  ),
  'the digest SHA-1': tampered(
    'saml_algorithm',
    algorithm('http://www.w3.org/2001/04/xmlenc#sha256', `${XML_DSIG}sha1`),
  ),
  'an HMAC with the certificate as its key': tampered('saml_algorithm', (xml) => {
    const swapped = xml.replace(RSA_SHA256, `${XML_DSIG}hmac-sha1`);
    const signed = (/<SignedInfo>.*<\/SignedInfo>/s.exec(swapped)?.[0] ?? '')
      .replace('<SignedInfo>', `<SignedInfo xmlns="${XML_DSIG}">`)
      .replace(/<(\w+)([^<>]*)\/>/g, '<$1$2></$1>');
    const base64 = /<X509Certificate>(.*)<\/X509Certificate>/.exec(xml)?.[1] ?? '';
    const lines = base64.replace(/(.{64})/g, '$1\n').trim();
    const key = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
    const value = createHmac('sha1', key).update(signed).digest('base64');
    return swapped.replace(/(<SignatureValue>).*(<\/SignatureValue>)/s, `$1${value}$2`);
  }),
  'HMAC-SHA256': tampered(
    'saml_algorithm',
    algorithm(RSA_SHA256, 'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256'),
  ),
  ECDSA: tampered(
    'saml_algorithm',
    algorithm(RSA_SHA256, 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256'),
  ),
  DSA: tampered('saml_algorithm', algorithm(RSA_SHA256, `${XML_DSIG}dsa-sha1`)),
  'the algorithm none': tampered('saml_algorithm', (xml) =>
    algorithm(RSA_SHA256, 'none')(xml).replace(/(<SignatureValue>).*(<\/SignatureValue>)/s, '$1$2'),
  ),
  'an empty algorithm': tampered('saml_algorithm', algorithm(RSA_SHA256, '')),
  'a transform by XSLT': tampered(
    'saml_algorithm',
    algorithm(`${XML_DSIG}enveloped-signature`, 'http://www.w3.org/TR/1999/REC-xslt-19991116'),
  ),
  'a transform by XPath': tampered(
    'saml_algorithm',
    algorithm(`${XML_DSIG}enveloped-signature`, 'http://www.w3.org/TR/1999/REC-xpath-19991116'),
  ),
  'a transform by XPath Filter 2': tampered(
    'saml_algorithm',
    algorithm(`${XML_DSIG}enveloped-signature`, 'http://www.w3.org/2002/06/xmldsig-filter2'),
  ),
  'canonical XML with comments': tampered(
    'saml_algorithm',
    algorithm('xml-exc-c14n#', 'xml-exc-c14n#WithComments'),
  ),
  'three transforms': tampered('saml_signature', (xml) =>
    xml.replace(/(<Transform [^>]*exc-c14n#"\/>)/, '$1$1'),
  ),
};

/** Texts that two parsers may read as two documents. */
export const parsers: Attacks = {
  'an entity in a DOCTYPE': tampered(
    'saml_doctype',
    (xml) => `<!DOCTYPE x [<!ENTITY e "admin">]>${nameId('&e;')(xml)}`,
  ),
  'an external entity': tampered(
    'saml_doctype',
    (xml) => `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${nameId('&e;')(xml)}`,
  ),
  'a billion laughs': tampered('saml_doctype', (xml) => {
    const levels = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(
      (at) => `<!ENTITY e${at} "${`&e${at - 1};`.repeat(10)}">`,
    );
    return `<!DOCTYPE x [<!ENTITY e0 "ha">${levels.join('')}]>${nameId('&e9;')(xml)}`;
  }),
  'a DOCTYPE in lower case': tampered('saml_doctype', (xml) => `<!doctype x>${xml}`),
  'an undefined entity': tampered('saml_malformed', nameId('&evil;')),
  // Canonical XML drops comments, so that these signatures are valid (CVE-2017-11427 and others).
  'a comment that cuts the NameID': tampered(
    'saml_markup',
    (xml) => xml.replaceAll('>admin.evil<', '>admin<!-- -->.evil<'),
    { user: idpUser('admin.evil') },
  ),
  'a comment that cuts an attribute': tampered(
    'saml_markup',
    (xml) => xml.replace('>admin@acme.example.evil<', '>admin@acme.example<!---->.evil<'),
    { user: idpUser('grace', { emails: [{ value: 'admin@acme.example.evil' }] }) },
  ),
  'a CDATA section in the NameID': tampered('saml_markup', nameId('<![CDATA[grace]]>')),
  'a processing instruction in the NameID': edited('saml_markup', nameId('admin<?x y?>.evil')),
  'a processing instruction before the response': tampered(
    'saml_markup',
    (xml) => `<?xml-stylesheet href="x"?>${xml}`,
  ),
  'two XML declarations': tampered(
    'saml_markup',
    (xml) => `<?xml version="1.0"?><?xml version="1.0"?>${xml}`,
  ),
  'an element in the NameID': edited('saml_name_id', nameId('admin<x/>.evil')),
  'two NameIDs': edited('saml_malformed', (xml) =>
    xml.replace('<saml:NameID', '<e:NameID xmlns:e="urn:evil">admin</e:NameID><saml:NameID'),
  ),
  'two subjects': edited('saml_malformed', (xml) =>
    xml.replace('<saml:Subject>', '<saml:Subject/><saml:Subject>'),
  ),
  'an attribute without quotes': tampered('saml_malformed', (xml) =>
    xml.replace('<samlp:Status>', '<samlp:Status ID=_evil>'),
  ),
  'attributes without a space between': tampered('saml_malformed', (xml) =>
    xml.replace('<samlp:Status>', '<samlp:Status a="b"ID="_evil">'),
  ),
  'a control character after the name of a tag': tampered('saml_malformed', (xml) =>
    beforeEnd(xml, forge(assertionOf(xml)).replace('<saml:Assertion ', '<saml:Assertion\u0001 ')),
  ),
  'a name with two prefixes': tampered('saml_malformed', (xml) =>
    beforeEnd(xml, forge(assertionOf(xml)).replaceAll('saml:Assertion', 'saml:x:Assertion')),
  ),
  'an element that does not end': tampered('saml_malformed', (xml) =>
    xml.replace('</samlp:Status>', ''),
  ),
  'text after the response': tampered('saml_malformed', (xml) => `${xml}<x/>`),
  // The parser takes minutes for these, and a login for none.
  '30,000 elements, one in another': tampered('saml_too_large', (xml) =>
    xml.replace(
      '</samlp:Status>',
      `${'<a>'.repeat(30_000)}${'</a>'.repeat(30_000)}</samlp:Status>`,
    ),
  ),
  '50,000 elements, one after another': tampered('saml_too_large', (xml) =>
    xml.replace('</samlp:Status>', `${'<a/>'.repeat(50_000)}</samlp:Status>`),
  ),
  'UTF-16': tampered('saml_malformed', (xml) => Buffer.from(`\ufeff${xml}`, 'utf16le')),
  'UTF-16 without a byte order mark': tampered('saml_malformed', (xml) =>
    Buffer.from(xml, 'utf16le'),
  ),
  'UTF-7': tampered('saml_malformed', (xml) =>
    `<?xml version="1.0" encoding="UTF-7"?>${xml}`.replace(
      '<samlp:Response',
      '+ADw-samlp:Response',
    ),
  ),
  'bytes that are not UTF-8': tampered('saml_malformed', (xml) =>
    Buffer.concat([Buffer.from(xml), Buffer.from([0xff])]),
  ),
};

/** Messages that are not a response, or not one that can be read. */
export const messages: Attacks = {
  'no text': tampered('saml_malformed', () => ''),
  'no XML': tampered('saml_malformed', () => 'SAML'),
  'another document': tampered('saml_malformed', () => '<a/>'),
  'a response of logout': tampered('saml_malformed', (xml) =>
    xml.replaceAll('samlp:Response', 'samlp:LogoutResponse'),
  ),
  'an assertion without a response': tampered('saml_malformed', assertionOf),
  'a compressed response (HTTP-Redirect)': tampered('saml_malformed', (xml) => deflateRawSync(xml)),
  'a small response that inflates to 64 MiB': tampered('saml_malformed', () =>
    deflateRawSync(Buffer.alloc(64 * 1024 * 1024)),
  ),
  'a response of more than 256 KiB': tampered('saml_too_large', nameId('g'.repeat(256 * 1024))),
  'an encrypted assertion': tampered('saml_encrypted', (xml) =>
    xml.replaceAll('saml:Assertion', 'saml:EncryptedAssertion'),
  ),
  'an encrypted assertion beside a signed one': tampered('saml_encrypted', (xml) =>
    beforeEnd(xml, '<saml:EncryptedAssertion xmlns:saml="urn:x"/>'),
  ),
  'an encrypted NameID': edited('saml_encrypted', (xml) =>
    xml.replaceAll('saml:NameID', 'saml:EncryptedID'),
  ),
  'no assertion': tampered('saml_assertions', (xml) => xml.replace(assertionOf(xml), '')),
  'a failure': tampered(
    'saml_status',
    (xml) => xml.replace('status:Success', 'status:Requester').replace(assertionOf(xml), ''),
    { signs: [] },
  ),
  'a failure beside a signed assertion': edited('saml_status', (xml) =>
    xml.replace('status:Success', 'status:Responder'),
  ),
  'a failure that contains a success': edited('saml_status', (xml) =>
    xml.replace(
      /<samlp:StatusCode [^>]*>/,
      (code) =>
        `${code.replace('Success', 'AuthnFailed').replace('/>', '>')}${code}</samlp:StatusCode>`,
    ),
  ),
  'no status': edited('saml_status', (xml) => xml.replace(/<samlp:Status>.*<\/samlp:Status>/s, '')),
};

const OTHER = 'https://other.example/api/saml';

/** Valid signatures of the identity provider over what is not for this daemon, user or moment. */
export const contents: Attacks = {
  'another audience': { code: 'saml_audience', options: { audience: `${OTHER}/metadata` } },
  'a second audience': edited('saml_malformed', (xml) =>
    xml.replace('</saml:Audience>', '</saml:Audience><saml:Audience>x</saml:Audience>'),
  ),
  'a second audience restriction': edited('saml_malformed', (xml) =>
    xml.replace(/(<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>)/, '$1$1'),
  ),
  'no audience': edited('saml_malformed', (xml) =>
    xml.replace(/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, ''),
  ),
  'another recipient': { code: 'saml_recipient', options: { acs: `${OTHER}/acs` } },
  'another destination': edited('saml_destination', (xml) =>
    xml.replace(/ Destination="[^"]*"/, ` Destination="${OTHER}/acs?org=acme"`),
  ),
  'another issuer': edited('saml_issuer', (xml) =>
    xml.replaceAll('idp.acme.example', 'idp.other.example'),
  ),
  'no issuer': edited('saml_issuer', (xml) =>
    xml.replace(/(<saml:Assertion [^>]*><saml:Issuer>)[^<]*/, '$1'),
  ),
  'the ID of another request': {
    code: 'saml_in_response_to',
    options: { inResponseTo: '_0123456789' },
  },
  'the ID of another request in the response': edited('saml_in_response_to', (xml) =>
    xml.replace(/ InResponseTo="[^"]*"/, ' InResponseTo="_0123456789"'),
  ),
  'no request in the assertion': edited('saml_in_response_to', (xml) =>
    xml.replaceAll(/ InResponseTo="[^"]*"/g, ''),
  ),
  'no conditions': edited('saml_malformed', (xml) =>
    xml.replace(/<saml:Conditions .*<\/saml:Conditions>/, ''),
  ),
  'an assertion that has expired': { code: 'saml_expired', options: { lifetimeInSeconds: -61 } },
  'an assertion of tomorrow': edited('saml_not_yet_valid', (xml) =>
    xml.replace(
      / NotBefore="[^"]*"/,
      ` NotBefore="${new Date(Date.now() + 86_400_000).toISOString()}"`,
    ),
  ),
  'a time that is none': edited('saml_malformed', (xml) =>
    xml.replaceAll(/ NotOnOrAfter="[^"]*"/g, ' NotOnOrAfter="never"'),
  ),
  'a session that has ended': edited('saml_expired', (xml) =>
    xml.replace(
      '<saml:AuthnStatement ',
      '<saml:AuthnStatement SessionNotOnOrAfter="2020-01-01T00:00:00Z" ',
    ),
  ),
  'no authentication statement': edited('saml_subject', (xml) =>
    xml.replace(/<saml:AuthnStatement.*<\/saml:AuthnStatement>/, ''),
  ),
  'no subject confirmation': edited('saml_malformed', (xml) =>
    xml.replace(/<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/, ''),
  ),
  'a subject confirmation of another method': edited('saml_subject', (xml) =>
    xml.replace('cm:bearer', 'cm:holder-of-key'),
  ),
  'two subject confirmations': edited('saml_malformed', (xml) =>
    xml.replace(/(<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>)/, '$1$1'),
  ),
  'a subject confirmation without an end': edited('saml_malformed', (xml) =>
    xml.replace(/(<saml:SubjectConfirmationData [^>]*?)NotOnOrAfter="[^"]*" /, '$1'),
  ),
  'no NameID': edited('saml_malformed', (xml) => xml.replace(/<saml:NameID.*<\/saml:NameID>/, '')),
  'an empty NameID': edited('saml_name_id', nameId(' ')),
  'a transient NameID': edited('saml_name_id', (xml) =>
    xml.replace('1.1:nameid-format:unspecified', '2.0:nameid-format:transient'),
  ),
  'a NameID of more than 254 characters': edited('saml_name_id', nameId('g'.repeat(255))),
  'a NameID with NUL': edited('saml_name_id', nameId('grace\u0000')),
  'a NameID with a reference to NUL': edited('saml_name_id', nameId('grace&#0;')),
  'a NameID with a line break': edited('saml_name_id', nameId('grace&#10;admin')),
  'a NameID that ends in a space that XML does not ignore': edited(
    'saml_name_id',
    nameId('grace\u00a0'),
  ),
  'a NameID with an invisible character': edited('saml_name_id', nameId('grace\u200b')),
};
