import type { SAML, SamlConfig } from '@node-saml/node-saml';

/** Message for the admins of the organization. It holds no secrets. */
export class SamlRefused extends Error {
  constructor(
    readonly code: string,
    message: string,
    /** Set once the signature was verified. */
    readonly nameId: string | null = null,
    /** The account, if there is one. */
    readonly userId: string | null = null,
  ) {
    super(message);
  }
}

export interface SamlProvider {
  entityId: string;
  ssoUrl: string;
  /** PEM. */
  certificates: string[];
}

export interface ServiceProvider {
  entityId: string;
  acsUrl: string;
}

export interface Verification {
  idp: SamlProvider;
  sp: ServiceProvider;
  /** Unix time in milliseconds. */
  now: number;
}

/** Read only from bytes that the identity provider signed. */
export interface SamlAssertion {
  id: string;
  nameId: string;
  /** ID of the request of this daemon. Null if the identity provider started the login. */
  inResponseTo: string | null;
  attributes: Map<string, string[]>;
  /** Unix time in milliseconds from which the assertion is refused. */
  expiresAt: number;
  /** Unix time in milliseconds; null if the identity provider sets no end. */
  sessionExpiresAt: number | null;
}

const MAX_BYTES = 256 * 1024;
const MAX_DEPTH = 50;
/** Enough for the groups of a user. The time of the parser grows with the square. */
const MAX_ELEMENTS = 2000;
const SKEW_MS = 60_000;
/** Remedy for what the settings of an identity provider usually do not cause. */
const UNUSUAL =
  'Start the login again. If the error repeats, report it to the vendor of the identity provider';
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';
const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
/** XML Signature algorithms of SHA-256 and longer digests, without key confusion (no HMAC). */
const ALGORITHMS = new Set([
  'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
  'http://www.w3.org/2001/10/xml-exc-c14n#',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
]);

const SPACE = '[ \\t\\r\\n]';
const NAME = String.raw`[\p{L}_][\p{L}\p{N}_.-]*(?::[\p{L}_][\p{L}\p{N}_.-]*)?`;
const ATTRIBUTE = `${SPACE}+${NAME}${SPACE}*=${SPACE}*(?:"[^"]*"|'[^']*')`;
const START_TAG = new RegExp(`^(${NAME})(?:${ATTRIBUTE})*${SPACE}*(/?)>`, 'u');
const END_TAG = new RegExp(`^/(${NAME})${SPACE}*>`, 'u');

/** Address at the identity provider to which the browser is sent. */
export const createLoginUrl = async (
  idp: SamlProvider,
  sp: ServiceProvider,
  { id, relayState }: { id: string; relayState: string },
): Promise<string> => {
  const saml = await openSaml(idp, sp, { generateUniqueId: () => id });
  return saml.getAuthorizeUrlAsync(relayState, undefined, {});
};

export const createMetadata = async (sp: ServiceProvider): Promise<string> => {
  const none = { entityId: '', ssoUrl: '', certificates: ['none'] };
  const saml = await openSaml(none, sp, { wantAssertionsSigned: true });
  return saml.generateServiceProviderMetadata(null);
};

/** Throws `SamlRefused`. */
export const decodeResponse = (encoded: string): string => {
  if (encoded.length > MAX_BYTES * 2) throw tooLarge();
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length > MAX_BYTES) throw tooLarge();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim();
  } catch {
    throw new SamlRefused('saml_malformed', `The response is not UTF-8 text. ${UNUSUAL}`);
  }
};

const tooLarge = (): SamlRefused =>
  new SamlRefused(
    'saml_too_large',
    `The response is larger than ${MAX_BYTES / 1024} KiB. Configure the identity provider to send fewer attributes and groups`,
  );

/** The audience that the response names, unverified: it only selects the settings to verify with. */
export const peekAudience = (xml: string): string | null =>
  /<(?:[^\s<>/:!?]+:)?Audience(?:\s[^<>]*)?>\s*([^\s<>]+)\s*</.exec(xml)?.[1] ?? null;

/**
 * For a response that `refuseByText` accepted: node-saml verifies the signature, and everything else is
 * read from the signed bytes. Throws `SamlRefused`.
 */
export const verifyXml = async (
  xml: string,
  { idp, sp, now }: Verification,
): Promise<SamlAssertion> => {
  const assertion = await verifySignature(xml, idp, sp);
  const nameId = readNameId(assertion);
  try {
    const read = readAssertion(assertion, nameId, { idp, sp, now });
    refuseEnvelope(xml, read, sp);
    return read;
  } catch (error) {
    if (!(error instanceof SamlRefused)) throw error;
    throw new SamlRefused(error.code, error.message, nameId);
  }
};

/**
 * Comes first, so that no difference between parsers matters: what remains has one response, one
 * assertion, no comments or document type, and only known algorithms. Throws `SamlRefused`.
 */
export const refuseByText = (xml: string): void => {
  if (/<!DOCTYPE/i.test(xml)) {
    throw new SamlRefused('saml_doctype', `The response has a document type (DOCTYPE). ${UNUSUAL}`);
  }
  if (/<!/.test(xml) || /<\?(?!xml\s)/.test(xml) || xml.lastIndexOf('<?') > 0) {
    throw new SamlRefused(
      'saml_markup',
      `The response has a comment, a CDATA section or a processing instruction. ${UNUSUAL}`,
    );
  }
  refuseTags(xml);
  if (countElements(xml, 'Encrypted(?:Assertion|ID|Attribute|Data|Key)') > 0) {
    throw new SamlRefused(
      'saml_encrypted',
      'The response is encrypted. Turn off the encryption of assertions at the identity provider',
    );
  }
  if (!/^(?:<\?xml[^<>]*\?>\s*)?<(?:[^\s<>/:!?]+:)?Response[\s>]/.test(xml)) {
    throw new SamlRefused(
      'saml_malformed',
      'The message is not a SAML response. Select SAML 2.0 with HTTP-POST for this application at the identity provider',
    );
  }
  const assertions = countElements(xml, 'Assertion');
  if (countElements(xml, 'Response') !== 1 || assertions > 1) {
    throw new SamlRefused(
      'saml_assertions',
      `The response has ${assertions} assertions instead of one. ${UNUSUAL}`,
    );
  }
  const signatures = countElements(xml, 'Signature');
  if (signatures === 0 && assertions === 1) {
    throw new SamlRefused(
      'saml_unsigned',
      'The response is not signed. Turn on the signing of assertions at the identity provider',
    );
  }
  if (signatures > 2 || countElements(xml, 'Reference') !== signatures) {
    throw new SamlRefused('saml_signatures', `The response has unexpected signatures. ${UNUSUAL}`);
  }
  for (const algorithm of readAttributes(xml, 'Algorithm')) {
    if (ALGORITHMS.has(algorithm)) continue;
    throw new SamlRefused(
      'saml_algorithm',
      `The signature uses ${algorithm.slice(0, 100)}. Use RSA with SHA-256 at the identity provider`,
    );
  }
  const ids = readAttributes(xml, '[Ii][Dd]');
  if (new Set(ids).size < ids.length) {
    throw new SamlRefused(
      'saml_duplicate_id',
      `Two elements of the response have the same ID. ${UNUSUAL}`,
    );
  }
};

/**
 * The parser of node-saml accepts tags that others refuse or read in another way, and takes minutes for
 * deep ones.
 */
const refuseTags = (xml: string): void => {
  const open: string[] = [];
  let elements = 0;
  const [, ...tags] = withoutDeclaration(xml).split('<');
  for (const tag of tags) {
    if (tag.startsWith('/')) {
      if (END_TAG.exec(tag)?.[1] !== open.pop()) throw notWellFormed();
      continue;
    }
    const [, name, slash] = START_TAG.exec(tag) ?? [];
    if (name === undefined) throw notWellFormed();
    if (open.length === MAX_DEPTH || elements++ === MAX_ELEMENTS) throw tooComplex();
    if (slash === '') open.push(name);
  }
  if (open.length > 0) throw notWellFormed();
};

const withoutDeclaration = (xml: string): string => xml.replace(/^<\?[^<>]*\?>/, '');

const notWellFormed = (): SamlRefused =>
  new SamlRefused('saml_malformed', 'The response is not well-formed XML');

const tooComplex = (): SamlRefused =>
  new SamlRefused(
    'saml_too_large',
    `The response has more than ${MAX_ELEMENTS} elements, or more than ${MAX_DEPTH} levels`,
  );

const countElements = (xml: string, name: string): number =>
  xml.match(new RegExp(`<(?:[^\\s<>/:!?]+:)?${name}(?=[\\s/>])`, 'g'))?.length ?? 0;

const readAttributes = (xml: string, name: string): string[] =>
  [
    ...xml.matchAll(
      new RegExp(`\\s(?:[^\\s<>=:"']+:)?${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'g'),
    ),
  ].map(([, double, single]) => double ?? single ?? '');

/** The response around the assertion need not be signed. What it has must not contradict the assertion. */
const refuseEnvelope = (
  xml: string,
  { inResponseTo }: SamlAssertion,
  { acsUrl }: ServiceProvider,
): void => {
  const [status] = readAttributes(/<[^<>]*StatusCode\s[^<>]*>/.exec(xml)?.[0] ?? '', 'Value');
  if (status !== SUCCESS) {
    throw new SamlRefused(
      'saml_status',
      `The status of the response is ${status?.slice(0, 100) ?? 'missing'}, not ${SUCCESS}`,
    );
  }
  const [, response = ''] = withoutDeclaration(xml).split('<', 2);
  for (const destination of readAttributes(response, 'Destination')) {
    if (destination === acsUrl) continue;
    throw new SamlRefused(
      'saml_destination',
      `The destination is ${destination.slice(0, 300)}, not ${acsUrl}`,
    );
  }
  for (const request of readAttributes(response, 'InResponseTo')) {
    if (request === inResponseTo) continue;
    throw new SamlRefused(
      'saml_in_response_to',
      'The response and its assertion answer different requests',
    );
  }
};

const verifySignature = async (
  xml: string,
  idp: SamlProvider,
  sp: ServiceProvider,
): Promise<Element> => {
  // Of two signatures, both must be valid. Of one, it does not matter which element it signs.
  const areBoth = countElements(xml, 'Signature') === 2;
  const wanted = { wantAssertionsSigned: areBoth, wantAuthnResponseSigned: areBoth };
  const saml = await openSaml(idp, sp, wanted);
  try {
    const SAMLResponse = Buffer.from(xml).toString('base64');
    const { profile } = await saml.validatePostResponseAsync({ SAMLResponse });
    return only(profile?.getAssertion?.(), 'Assertion');
  } catch (error) {
    if (error instanceof SamlRefused) throw error;
    throw translateFailure(error, xml);
  }
};

const translateFailure = (error: unknown, xml: string): SamlRefused => {
  const message = error instanceof Error ? error.message.slice(0, 300) : '';
  if (error instanceof Error && 'xmlStatus' in error)
    return new SamlRefused('saml_status', message);
  if (countElements(xml, 'Assertion') === 0) {
    return new SamlRefused('saml_assertions', `The response has no assertion. ${UNUSUAL}`);
  }
  return /signature/i.test(message)
    ? new SamlRefused(
        'saml_signature',
        'The signature is not valid for the certificates in the settings of the organization. Enter the current signing certificate of the identity provider there',
      )
    : new SamlRefused('saml_malformed', `The response cannot be read: ${message}. ${UNUSUAL}`);
};

/**
 * Times and audience are verified here, with the clock of the daemon. The library is loaded on first
 * use.
 */
const openSaml = async (
  { ssoUrl, certificates }: SamlProvider,
  { entityId, acsUrl }: ServiceProvider,
  more: Partial<SamlConfig>,
): Promise<SAML> => {
  const library = await import('@node-saml/node-saml');
  return new library.SAML({
    entryPoint: ssoUrl,
    idpCert: certificates,
    issuer: entityId,
    callbackUrl: acsUrl,
    audience: false,
    acceptedClockSkewMs: -1,
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    wantAssertionsSigned: false,
    wantAuthnResponseSigned: false,
    ...more,
  });
};

const readNameId = (assertion: Element): string => {
  const nameId = only(only(assertion, 'Subject'), 'NameID');
  const value = readText(nameId);
  if (readAttribute(nameId, 'Format') === TRANSIENT) {
    throw new SamlRefused(
      'saml_name_id',
      'The NameID is transient. Select a persistent NameID or the e-mail address at the identity provider',
    );
  }
  const isText = Object.keys(nameId).every((key) => key === '_' || key === '$');
  // All spaces but those of XML are part of the name, which must not look like another.
  const isVisible = !/[^\P{C}\t\r\n]|(?! )\p{Z}/u.test(String(nameId._)) && !/[\t\r\n]/.test(value);
  if (!isText || !isVisible || value === '' || value.length > 254) {
    throw new SamlRefused(
      'saml_name_id',
      'The NameID must be text of 1 to 254 characters without control or invisible characters. Select another attribute as NameID at the identity provider',
    );
  }
  return value;
};

const readAssertion = (
  assertion: Element,
  nameId: string,
  { idp, sp, now }: Verification,
): SamlAssertion => {
  const issuer = readText(only(assertion, 'Issuer'));
  if (issuer !== idp.entityId) {
    throw new SamlRefused(
      'saml_issuer',
      `The Issuer of the assertion is ${issuer}, not ${idp.entityId}. Correct entityId in the single sign-on settings of the organization`,
    );
  }
  const conditions = only(assertion, 'Conditions');
  const audience = readText(only(only(conditions, 'AudienceRestriction'), 'Audience'));
  if (audience !== sp.entityId) {
    throw new SamlRefused(
      'saml_audience',
      `The Audience of the assertion is ${audience}, not ${sp.entityId}. Enter ${sp.entityId} as audience (entity ID) at the identity provider`,
    );
  }
  refuseOutside(conditions, now);
  const confirmation = only(only(assertion, 'Subject'), 'SubjectConfirmation');
  if (readAttribute(confirmation, 'Method') !== BEARER) {
    throw new SamlRefused(
      'saml_subject',
      `The SubjectConfirmation of the assertion does not have the method bearer. ${UNUSUAL}`,
    );
  }
  const confirmed = only(confirmation, 'SubjectConfirmationData');
  const recipient = readAttribute(confirmed, 'Recipient');
  if (recipient !== sp.acsUrl) {
    throw new SamlRefused(
      'saml_recipient',
      `The Recipient of the assertion is ${recipient}, not ${sp.acsUrl}. Enter ${sp.acsUrl} as ACS URL at the identity provider`,
    );
  }
  if (readTime(confirmed, 'NotOnOrAfter') === null) {
    throw new SamlRefused(
      'saml_subject',
      `The SubjectConfirmation of the assertion has no expiry time (NotOnOrAfter). ${UNUSUAL}`,
    );
  }
  refuseOutside(confirmed, now);
  const ends = [confirmed, conditions].flatMap((each) => readTime(each, 'NotOnOrAfter') ?? []);
  const sessionEnds = childrenOf(assertion, 'AuthnStatement').map((each) =>
    readTime(each, 'SessionNotOnOrAfter'),
  );
  if (sessionEnds.length === 0) {
    throw new SamlRefused('saml_subject', `The assertion has no AuthnStatement. ${UNUSUAL}`);
  }
  const sessionExpiresAt = sessionEnds.filter((end) => end !== null);
  if (sessionExpiresAt.some((end) => end <= now)) {
    throw new SamlRefused(
      'saml_expired',
      'The session at the identity provider has ended. Log in to the identity provider again',
    );
  }
  return {
    id: requireAttribute(assertion, 'ID'),
    nameId,
    inResponseTo: readAttribute(confirmed, 'InResponseTo'),
    attributes: readStatements(assertion),
    expiresAt: Math.max(...ends) + SKEW_MS,
    sessionExpiresAt: sessionExpiresAt.length > 0 ? Math.min(...sessionExpiresAt) : null,
  };
};

const refuseOutside = (element: Element, now: number): void => {
  const from = readTime(element, 'NotBefore');
  const until = readTime(element, 'NotOnOrAfter');
  if (from !== null && now + SKEW_MS < from) {
    throw new SamlRefused(
      'saml_not_yet_valid',
      'The assertion is not valid yet. Set the clocks of the identity provider and of the daemon',
    );
  }
  if (until !== null && now - SKEW_MS >= until) {
    throw new SamlRefused(
      'saml_expired',
      'The assertion has expired. Set the clocks of the identity provider and of the daemon',
    );
  }
};

const readStatements = (assertion: Element): Map<string, string[]> => {
  const attributes = new Map<string, string[]>();
  for (const statement of childrenOf(assertion, 'AttributeStatement')) {
    for (const attribute of childrenOf(statement, 'Attribute')) {
      const name = requireAttribute(attribute, 'Name');
      const values = childrenOf(attribute, 'AttributeValue').map(readText);
      attributes.set(name, [...(attributes.get(name) ?? []), ...values]);
    }
  }
  return attributes;
};

/** As xml2js reads it: lists by child name, the text under `_`, attributes under `$`. */
type Element = Record<string, unknown>;

const isElement = (value: unknown): value is Element =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const childrenOf = (element: Element, name: string): Element[] => {
  const found = Object.hasOwn(element, name) ? element[name] : [];
  return (Array.isArray(found) ? found : [found]).map((each) =>
    isElement(each) ? each : { _: each },
  );
};

const only = (element: unknown, name: string): Element => {
  const [child, ...rest] = isElement(element) ? childrenOf(element, name) : [];
  if (child && rest.length === 0) return child;
  throw new SamlRefused(
    'saml_malformed',
    `The assertion must have exactly one ${name}. ${UNUSUAL}`,
  );
};

const readText = ({ _: text }: Element): string => (typeof text === 'string' ? text.trim() : '');

const readAttribute = ({ $: attributes }: Element, name: string): string | null => {
  const value = isElement(attributes) && Object.hasOwn(attributes, name) ? attributes[name] : null;
  return typeof value === 'string' ? value : null;
};

const requireAttribute = (element: Element, name: string): string => {
  const value = readAttribute(element, name);
  if (value !== null && value !== '') return value;
  throw new SamlRefused(
    'saml_malformed',
    `An element of the assertion lacks the attribute ${name}. ${UNUSUAL}`,
  );
};

const readTime = (element: Element, name: string): number | null => {
  const value = readAttribute(element, name);
  if (value === null) return null;
  const at = Date.parse(value);
  if (Number.isNaN(at))
    throw new SamlRefused(
      'saml_malformed',
      `The attribute ${name} of the assertion is not a time. ${UNUSUAL}`,
    );
  return at;
};
