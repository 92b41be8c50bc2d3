import { X509Certificate } from 'node:crypto';
import type { SamlProvider } from './saml.js';

const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const MIN_RSA_BITS = 2048;

interface Found {
  entityIds: string[];
  providers: number;
  ssoUrl: string;
  certificates: string[];
}

/** Metadata of one identity provider. Returns what is wrong, as text. */
export const parseIdpMetadata = async (xml: string): Promise<SamlProvider | string> => {
  if (/<!DOCTYPE/i.test(xml)) return 'must not have a document type (DOCTYPE)';
  const { Parser } = await import('htmlparser2');
  const found: Found = { entityIds: [], providers: 0, ssoUrl: '', certificates: [] };
  let isInProvider = false;
  let isSigning = false;
  let certificate: string | null = null;
  const parser = new Parser(
    {
      onopentag: (tag, attributes) => {
        const name = localName(tag);
        if (name === 'EntityDescriptor') found.entityIds.push(attributes.entityID ?? '');
        if (name === 'IDPSSODescriptor') {
          found.providers++;
          isInProvider = true;
        }
        if (!isInProvider) return;
        if (name === 'KeyDescriptor') isSigning = attributes.use !== 'encryption';
        if (name === 'X509Certificate' && isSigning) certificate = '';
        if (name === 'SingleSignOnService' && attributes.Binding === REDIRECT) {
          found.ssoUrl ||= attributes.Location ?? '';
        }
      },
      ontext: (text) => {
        if (certificate !== null) certificate += text;
      },
      onclosetag: (tag) => {
        const name = localName(tag);
        if (name === 'IDPSSODescriptor') isInProvider = false;
        if (name === 'KeyDescriptor') isSigning = false;
        if (name !== 'X509Certificate' || certificate === null) return;
        found.certificates.push(certificate);
        certificate = null;
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  const [entityId, ...others] = found.entityIds;
  if (!entityId || others.length > 0 || found.providers !== 1) {
    return 'must describe exactly one identity provider (IDPSSODescriptor)';
  }
  if (found.ssoUrl === '') return 'must have a SingleSignOnService with the HTTP-Redirect binding';
  const certificates = [...new Set(found.certificates.map((each) => each.replace(/\s/g, '')))];
  return { entityId, ssoUrl: found.ssoUrl, certificates };
};

const localName = (tag: string): string => tag.slice(tag.indexOf(':') + 1);

/** Accepts PEM and bare base64. Returns PEM, or null if it is no certificate that is strong enough. */
export const parseCertificate = (text: string): string | null => {
  const pem = text.includes('-----BEGIN')
    ? text
    : `-----BEGIN CERTIFICATE-----\n${text.replace(/\s/g, '')}\n-----END CERTIFICATE-----`;
  try {
    const certificate = new X509Certificate(pem);
    const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey;
    const isStrong = (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS;
    return asymmetricKeyType === 'rsa' && isStrong ? certificate.toString() : null;
  } catch {
    return null;
  }
};

export const certificateExpiry = (pem: string): number =>
  Date.parse(new X509Certificate(pem).validTo);
