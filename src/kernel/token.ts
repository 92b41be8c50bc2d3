import jwt from 'jsonwebtoken';

export interface SigningKey {
  /** The `kid` of its tokens. */
  id: string;
  /** At least 32 random bytes. */
  secret: Buffer;
}

/** What a token says and its signature proves. */
export interface Claims {
  userId: string;
  sessionId: string;
  /** Seconds since 1970. */
  issuedAt: number;
  expiresAt: number;
  /** Who acts as the user (`act`, RFC 8693); whoever reads it goes by the session's own record. */
  actorId?: string;
}

const ISSUER = 'adjutant';
const AUDIENCE = 'api';
const LONGEST = 4096;
/** Lets a scanner of repositories or logs know one that leaked. */
const ACCESS_PREFIX = 'adj_';
/** Of the ids that personal access tokens have; a login's is another. */
const ACCESS_ID = 'token_';

/** A JWT (RFC 7519), HS256, `kid` naming its key, `jti` the session that is looked at on every use. */
export const signToken = (key: SigningKey, claims: Claims): string =>
  jwt.sign(payloadOf(claims), key.secret, {
    algorithm: 'HS256',
    issuer: ISSUER,
    audience: AUDIENCE,
    subject: claims.userId,
    jwtid: claims.sessionId,
    keyid: key.id,
  });

/** A JWT as a personal access token: `adj_<jwt>`. */
export const accessTokenOf = (signed: string): string => `${ACCESS_PREFIX}${signed}`;

const payloadOf = ({ issuedAt, expiresAt, actorId }: Claims) => ({
  iat: issuedAt,
  exp: expiresAt,
  ...(actorId !== undefined && { act: { sub: actorId } }),
});

/**
 * The claims, or null. `now` in milliseconds. Only what signToken makes is taken, as it is or as a
 * personal access token.
 */
export const readToken = (
  keys: ReadonlyMap<string, SigningKey>,
  given: string,
  now: number,
): Claims | null => {
  if (given.length > LONGEST) return null;
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
