import type { KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';

export interface SigningKey {
  id: string;
  /**
   * At least 32 random bytes. An object, because jsonwebtoken tries to parse bytes as a public key
   * first, which takes 0.4 ms per request.
   */
  secret: KeyObject;
}

export interface Claims {
  userId: string;
  sessionId: string;
  issuedAt: number;
  expiresAt: number;
  /** The impersonating user (`act`, RFC 8693). Readers must rely on the session record instead. */
  actorId?: string;
}

const ISSUER = 'adjutant';
const AUDIENCE = 'api';
const MAX_LENGTH = 4096;
/** Lets scanners recognize a leaked token. */
const ACCESS_PREFIX = 'adj_';
const ACCESS_ID = 'token_';

/** JWT (RFC 7519), HS256. `kid` is the key, `jti` the session, which is checked on every use. */
export const signToken = (key: SigningKey, claims: Claims): string => {
  const { issuedAt: iat, expiresAt: exp, actorId } = claims;
  const payload = { iat, exp, ...(actorId !== undefined && { act: { sub: actorId } }) };
  return jwt.sign(payload, key.secret, {
    algorithm: 'HS256',
    issuer: ISSUER,
    audience: AUDIENCE,
    subject: claims.userId,
    jwtid: claims.sessionId,
    keyid: key.id,
  });
};

export const formatAccessToken = (signed: string): string => `${ACCESS_PREFIX}${signed}`;

/** Accepts only tokens of signToken, plain or as personal access token. `now` in milliseconds. */
export const readToken = (
  keys: ReadonlyMap<string, SigningKey>,
  given: string,
  now: number,
): Claims | null => {
  if (given.length > MAX_LENGTH) return null;
  const isAccess = given.startsWith(ACCESS_PREFIX);
  const token = isAccess ? given.slice(ACCESS_PREFIX.length) : given;
  try {
    const header = jwt.decode(token, { complete: true })?.header;
    const key = header?.kid === undefined ? undefined : keys.get(header.kid);
    if (!header || !key || header.crit !== undefined) return null;
    const claims = jwt.verify(token, key.secret, {
      algorithms: ['HS256'],
      issuer: ISSUER,
      audience: AUDIENCE,
      clockTimestamp: Math.floor(now / 1000),
    });
    if (typeof claims === 'string') return null;
    const { sub, jti, iat, exp } = claims;
    if (!sub || !jti || iat === undefined || exp === undefined) return null;
    if (isAccess && !jti.startsWith(ACCESS_ID)) return null;
    return { userId: sub, sessionId: jti, issuedAt: iat, expiresAt: exp };
  } catch {
    return null;
  }
};
