import { createHmac, createSecretKey } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PRESETS, type PresetName } from '../../../src/hooks/senders/presets.js';
import { isSignedBy } from '../../../src/hooks/senders/verify.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** A request as the sender's own documents print it, with the signature that they give. */
interface Vector {
  preset: PresetName;
  secret: string;
  headers: Record<string, string>;
  body: string;
  /** Milliseconds since 1970 of the signed time. */
  at?: number;
  url?: string;
}

const check = ({ preset, secret, headers, body, at = 0, url }: Vector): boolean =>
  isSignedBy(PRESETS[preset], createSecretKey(Buffer.from(secret)), {
    headers,
    body: Buffer.from(body),
    url: url ?? null,
    now: at,
  });

describe('a preset', () => {
  it('reads a form in a time that grows with its length, and no form of too many fields', () => {
    const secret = '12345';
    const url = 'https://hooks.example.org/api/webhooks/twilio';
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const of = (body: string, signed: string): boolean => {
      const signature = createHmac('sha1', secret).update(`${url}${signed}`).digest('base64');
      const all = { ...headers, 'x-twilio-signature': signature };
      return check({ preset: 'twilio', secret, url, body, headers: all });
    };
    const values = Array.from({ length: 1000 }, (_, at) => String(at).padStart(4, '0'));
    const form = values.map((each) => `a=${each}`).join('&');
    const signed = values.map((each) => `a${each}`).join('');
    expect(of(form, signed)).to.be.true();
    expect(of(`${form}&a=0000`, signed)).to.be.false();
    const since = performance.now();
    expect(of('a&'.repeat(60_000), 'a')).to.be.false();
    expect(of(Array.from({ length: 15_000 }, (_, at) => `a=${at}`).join('&'), '')).to.be.false();
    expect(performance.now() - since).to.be.below(500);
  });
});
