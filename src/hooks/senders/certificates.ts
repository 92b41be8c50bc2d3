import { X509Certificate } from 'node:crypto';
import type { Clock } from '../../kernel/clock.js';
import { EgressRefused } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import type { Http } from '../../kernel/http.js';

const DAY_MS = 24 * 3600 * 1000;
/** Delay before a failed certificate is requested again, in milliseconds. */
const AGAIN_MS = 60_000;
/** SNS has one certificate per region. */
const MAX_KEPT = 32;
/** Maximum concurrent reads of new URLs. */
const MAX_NEW_READS = 4;
const MAX_BYTES = 64 * 1024;

export interface Certificates {
  /** PEM. Null if the certificate is not available now. */
  at(url: string): Promise<string | null>;
}

interface KeptCertificate {
  pem: string | null;
  until: number;
}

export const createCertificates = ({
  http,
  clock,
}: {
  http: Pick<Http, 'request'>;
  clock: Clock;
}): Certificates => {
  const kept = new Map<string, KeptCertificate>();
  const reading = new Map<string, Promise<string | null>>();

  const read = async (url: string): Promise<string | null> => {
    try {
      const limits = { redirects: 0, maxBytes: MAX_BYTES, totalMs: 10_000 };
      const { status, body } = await http.request({ method: 'GET', url, ...limits });
      const text = body.toString('latin1');
      return status === 200 && isCertificate(text) ? text : null;
    } catch (error) {
      if (error instanceof HttpFailure || error instanceof EgressRefused) return null;
      throw error;
    }
  };

  const keep = (url: string, pem: string | null): void => {
    kept.delete(url);
    if (kept.size >= MAX_KEPT) kept.delete(leastUseful(kept));
    kept.set(url, { pem, until: clock.now() + (pem === null ? AGAIN_MS : DAY_MS) });
  };

  const readAndKeep = async (url: string): Promise<string | null> => {
    try {
      const pem = await read(url);
      keep(url, pem);
      return pem;
    } finally {
      reading.delete(url);
    }
  };

  return {
    at: async (url) => {
      const known = kept.get(url);
      if (known && known.until > clock.now()) return known.pem;
      const underWay = reading.get(url);
      if (underWay) return underWay;
      if (!known?.pem && reading.size >= MAX_NEW_READS) return null;
      const pem = readAndKeep(url);
      reading.set(url, pem);
      return pem;
    },
  };
};

/** Prefers a URL without a certificate, otherwise the oldest. */
const leastUseful = (kept: Map<string, KeptCertificate>): string => {
  const [oldest = ''] = kept.keys();
  return [...kept].find(([, { pem }]) => pem === null)?.[0] ?? oldest;
};

const isCertificate = (text: string): boolean => {
  try {
    return new X509Certificate(text).publicKey.asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
};
