import { inPieces } from '../../kernel/pieces.js';
import type { Assertion, Attestation } from './contract.js';
import type { RelyingParty } from './rules.js';

/** How long the browser may take, and how long a challenge counts. */
export const CHALLENGE_MS = 5 * 60 * 1000;
const NAME = 'Adjutant';

/**
 * Loaded on first use: with all that they bring they take long, and most logins need none of it. In
 * one piece they hold the event loop for 75 ms, so for 30 at most.
 */
const library = inPieces({
  library: '@simplewebauthn/server',
  pieces: [
    'reflect-metadata',
    'asn1js',
    '@peculiar/asn1-schema',
    '@peculiar/asn1-x509',
    '@peculiar/asn1-cms',
    '@peculiar/asn1-rsa',
    '@peculiar/asn1-pkcs9',
    '@peculiar/asn1-csr',
    'tsyringe',
    '@peculiar/x509',
  ],
  load: () => import('@simplewebauthn/server'),
});
const parts = () => import('@simplewebauthn/server/helpers');

export interface PasskeyCredential {
  id: string;
  /** COSE, base64url. */
  publicKey: string;
  counter: number;
  transports: string[];
}

/** What the browser needs to make a passkey: one that it finds without a name, and that asks who. */
export const creationOptions = async (of: {
  relyingParty: RelyingParty;
  user: { id: string; name: string };
  known: Pick<PasskeyCredential, 'id' | 'transports'>[];
}) =>
  (await library()).generateRegistrationOptions({
    rpName: NAME,
    rpID: of.relyingParty.id,
    userName: of.user.name,
    userID: new Uint8Array(Buffer.from(of.user.id)),
    timeout: CHALLENGE_MS,
    attestationType: 'none',
    excludeCredentials: of.known,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });

/** What the browser needs to log in. No passkey is named, so nobody learns who has one. */
export const requestOptions = async (relyingParty: RelyingParty) =>
  (await library()).generateAuthenticationOptions({
    rpID: relyingParty.id,
    timeout: CHALLENGE_MS,
    userVerification: 'required',
  });

interface Expected {
  relyingParty: RelyingParty;
  challenge: string;
}

/** The new credential, or null where the response is not what was asked for. */
export const verifyCreation = async (
  response: Attestation,
  expected: Expected,
): Promise<PasskeyCredential | null> => {
  const { verifyRegistrationResponse } = await library();
  const verified = await orNull(async () => {
    if (!(await isUnattested(response))) return null;
    return verifyRegistrationResponse({
      response: { ...response, clientExtensionResults: {} },
      ...expectations(expected),
    });
  });
  if (!verified?.verified) return null;
  const { id, publicKey, counter } = verified.registrationInfo.credential;
  return {
    id,
    publicKey: Buffer.from(publicKey).toString('base64url'),
    counter,
    transports: response.response.transports ?? [],
  };
};

/** The new counter, or null where the response is not what was asked for. */
export const verifyRequest = async (
  response: Assertion,
  { credential, ...expected }: Expected & { credential: PasskeyCredential },
): Promise<{ counter: number } | null> => {
  const { verifyAuthenticationResponse } = await library();
  const verified = await orNull(() =>
    verifyAuthenticationResponse({
      response: { ...response, clientExtensionResults: {} },
      ...expectations(expected),
      credential: {
        ...credential,
        publicKey: new Uint8Array(Buffer.from(credential.publicKey, 'base64url')),
      },
    }),
  );
  return verified?.verified ? { counter: verified.authenticationInfo.newCounter } : null;
};

const expectations = ({ relyingParty, challenge }: Expected) => ({
  expectedChallenge: challenge,
  expectedOrigin: relyingParty.origin,
  expectedRPID: relyingParty.id,
  requireUserVerification: true,
});

/** Certificates are neither asked for nor looked at: the library would fetch what they point to. */
const isUnattested = async ({ response }: Attestation): Promise<boolean> => {
  const { decodeAttestationObject, isoBase64URL } = await parts();
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
  const statement = attestation.get('attStmt');
  return ['none', 'packed'].includes(attestation.get('fmt')) && statement.get('x5c') === undefined;
};

/** Whatever a stranger's bytes make the library throw means one thing: they do not verify. */
const orNull = async <T>(verify: () => Promise<T>): Promise<T | null> => {
  try {
    return await verify();
  } catch {
    return null;
  }
};
