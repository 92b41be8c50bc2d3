import { requireIncrementally } from '../../kernel/pieces.js';
import type { Assertion, Attestation } from './contract.js';
import type { RelyingParty } from './rules.js';

/** Timeout of the browser and lifetime of a challenge, in milliseconds. */
export const CHALLENGE_MS = 5 * 60 * 1000;
const NAME = 'Adjutant';

/**
 * Most logins do not need the library, which loads slowly. At once it blocks the event loop for 75 ms;
 * in pieces, for 30 ms at most.
 */
const library = requireIncrementally({
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
  /** COSE key as base64url. */
  publicKey: string;
  counter: number;
  transports: string[];
}

/** A passkey that is found without a username and that verifies the user. */
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

/** The options name no passkey, so that nobody learns who has one. */
export const requestOptions = async (relyingParty: RelyingParty) =>
  (await library()).generateAuthenticationOptions({
    rpID: relyingParty.id,
    timeout: CHALLENGE_MS,
    userVerification: 'required',
  });

interface ExpectedResponse {
  relyingParty: RelyingParty;
  challenge: string;
}

/** Returns null if the response is not valid. */
export const verifyCreation = async (
  response: Attestation,
  expected: ExpectedResponse,
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

/** Returns the new counter, or null if the response is not valid. */
export const verifyRequest = async (
  response: Assertion,
  { credential, ...expected }: ExpectedResponse & { credential: PasskeyCredential },
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

const expectations = ({ relyingParty, challenge }: ExpectedResponse) => ({
  expectedChallenge: challenge,
  expectedOrigin: relyingParty.origin,
  expectedRPID: relyingParty.id,
  requireUserVerification: true,
});

/** Certificates are neither requested nor checked: the library would fetch the addresses in them. */
const isUnattested = async ({ response }: Attestation): Promise<boolean> => {
  const { decodeAttestationObject, isoBase64URL } = await parts();
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
  const statement = attestation.get('attStmt');
  return ['none', 'packed'].includes(attestation.get('fmt')) && statement.get('x5c') === undefined;
};

/** Input of an unauthenticated client may make the library throw any error. */
const orNull = async <T>(verify: () => Promise<T>): Promise<T | null> => {
  try {
    return await verify();
  } catch {
    return null;
  }
};
