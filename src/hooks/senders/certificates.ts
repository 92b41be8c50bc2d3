import { X509Certificate } from 'node:crypto';
import type { Clock } from '../../kernel/clock.js';
import { EgressRefused } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import type { Http } from '../../kernel/http.js';
import { isSnsUrl } from './sns.js';

const DAY_MS = 24 * 3600 * 1000;
/** Ours: the time until a certificate that could not be read is asked for again. */
const AGAIN_MS = 60_000;
/** Ours: SNS has one certificate in each region. */
const MOST_KEPT = 32;
const LONGEST_BYTES = 64 * 1024;

/** The certificates of SNS, by their addresses. */
export interface Certificates {
  /** Returns the certificate (PEM) at an address of SNS; null if it is no such address, or none. */
  at(url: string | undefined): Promise<string | null>;
}

interface KeptCertificate {
  pem: Promise<string | null>;
  until: number;
}

/** Creates the cache of certificates: each is read once a day, however many requests name it. */
export const createCertificates = ({
  http,
  clock,
}: {
  http: Pick<Http, 'request'>;
  clock: Clock;
}): Certificates => {
  const kept = new Map<string, KeptCertificate>();

  const read = async (url: string): Promise<string | null> => {
    try {
      const limits = { redirects: 0, maxBytes: LONGEST_BYTES, totalMs: 10_000 };
      const { status, body } = await http.request({ method: 'GET', url, ...limits });
      const text = body.toString('latin1');
      return status === 200 && isCertificate(text) ? text : null;
    } catch (error) {
      if (error instanceof HttpFailure || error instanceof EgressRefused) return null;
      throw error;
    }
  };

  return {
    at: async (url) => {
      if (!isSnsUrl(url)) return null;
      const now = clock.now();
      const known = kept.get(url);
      if (known && known.until > now) return known.pem;
      const [oldest] = kept.keys();
      if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
      const one = { pem: read(url), until: now + DAY_MS };
      kept.set(url, one);
      const pem = await one.pem;
      if (pem === null) one.until = now + AGAIN_MS;
      return pem;
    },
  };
};

const isCertificate = (text: string): boolean => {
  try {
    return new X509Certificate(text).publicKey.asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
};
