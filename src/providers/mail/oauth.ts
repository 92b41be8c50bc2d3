import { NamedError } from '../../kernel/failure.js';
import type { Http } from '../../kernel/http.js';
import { isRecord } from '../../kernel/jsonvalue.js';
import { sanitizeServerText } from './fault.js';

/** JSON value of the vault credential for OAuth2. */
export interface MailGrant {
  clientId: string;
  clientSecret?: string;
  refreshToken: string;
  tokenEndpoint: string;
  scope?: string;
}

export interface MailToken {
  accessToken: string;
  lifeMs: number;
  /** Replacement of the refresh token; null if it stays. */
  rotated: string | null;
}

/** The token endpoint issued no token. */
export class TokenRefused extends NamedError {
  constructor(
    /** RFC 6749, 5.2, such as `invalid_grant`; '' if absent. */
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const HOUR_SECONDS = 3600;
const MAX_TOKEN_LENGTH = 16_384;

/** null: not a grant, or its token endpoint is not HTTPS. */
export const parseMailGrant = (text: string): MailGrant | null => {
  const value = parsed(text);
  if (!isRecord(value)) return null;
  const { clientId, clientSecret, refreshToken, tokenEndpoint, scope } = value;
  if (typeof clientId !== 'string' || typeof refreshToken !== 'string') return null;
  if (typeof tokenEndpoint !== 'string' || !URL.canParse(tokenEndpoint)) return null;
  if (new URL(tokenEndpoint).protocol !== 'https:') return null;
  return {
    clientId,
    refreshToken,
    tokenEndpoint,
    ...(typeof clientSecret === 'string' && { clientSecret }),
    ...(typeof scope === 'string' && { scope }),
  };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** RFC 6749, 6. Throws TokenRefused, or the errors of `http.request`. */
export const refreshMailToken = async (
  http: Pick<Http, 'request'>,
  grant: MailGrant,
  signal: AbortSignal,
): Promise<MailToken> => {
  const { clientId, clientSecret, refreshToken, tokenEndpoint, scope } = grant;
  const form = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...(scope !== undefined && { scope }),
  });
  const reply = await http.request({
    method: 'POST',
    url: tokenEndpoint,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: form.toString(),
    isExact: true,
    maxBytes: 256 * 1024,
    signal,
  });
  const body = parsed(reply.body.toString());
  const fields = isRecord(body) ? body : {};
  if (reply.status !== 200) throw createTokenRefused(reply.status, fields);
  const { access_token, expires_in, refresh_token } = fields;
  if (typeof access_token !== 'string' || access_token.length > MAX_TOKEN_LENGTH) {
    throw new TokenRefused('', 'The token endpoint returned no token');
  }
  const seconds = Number(expires_in);
  return {
    accessToken: access_token,
    lifeMs: (seconds > 0 && Number.isFinite(seconds) ? seconds : HOUR_SECONDS) * 1000,
    rotated:
      typeof refresh_token === 'string' && refresh_token !== refreshToken ? refresh_token : null,
  };
};

const createTokenRefused = (
  status: number,
  { error, error_description }: Record<string, unknown>,
) => {
  const code = sanitizeServerText(error);
  const why = sanitizeServerText(error_description) || code || `status ${status}`;
  return new TokenRefused(code, `The token endpoint rejected the request: ${why}`);
};
