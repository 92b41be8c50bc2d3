import { createHmac, createSecretKey } from 'node:crypto';
import { PRESETS, type PresetName } from '../../../src/hooks/senders/presets.js';
import { isSignedBy } from '../../../src/hooks/senders/verify.js';

/** A request as the sender's own documents print it, with the signature that they give. */
export interface Vector {
  preset: PresetName;
  secret: string;
  headers: Record<string, string>;
  body: string;
  /** Milliseconds since 1970 of the signed time. */
  at?: number;
  url?: string;
}

export const check = ({ preset, secret, headers, body, at = 0, url }: Vector): boolean =>
  isSignedBy(PRESETS[preset], createSecretKey(Buffer.from(secret)), {
    headers,
    body: Buffer.from(body),
    url: url ?? null,
    now: at,
  });

const TWILIO_SECRET = '12345';
const TWILIO_URL = 'https://hooks.example.org/api/webhooks/twilio';

/** Whether a form passes that Twilio has signed as this text. */
export const isFormSigned = (body: string, signed: string): boolean => {
  const signature = createHmac('sha1', TWILIO_SECRET)
    .update(`${TWILIO_URL}${signed}`)
    .digest('base64');
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-twilio-signature': signature,
  };
  return check({ preset: 'twilio', secret: TWILIO_SECRET, url: TWILIO_URL, body, headers });
};
