import { createHmac } from 'node:crypto';

export interface Wanted {
  path: string;
  secret: string;
  count: number;
  /** Makes the deliveries of one measurement differ from those of all others. */
  seed: string;
}

const BODY_BYTES = 1024;

/** A request before it has become bytes. */
export interface Ask {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Signed deliveries of 1 KiB, each with an id and a body of its own. */
export const signedRequests = ({ path, secret, count, seed }: Wanted): Ask[] =>
  Array.from({ length: count }, (_, n) => {
    const id = `${seed}-${n}`;
    const opening = `{"action":"opened","delivery":"${id}","padding":"`;
    const body = `${opening}${'x'.repeat(BODY_BYTES - opening.length - 2)}"}`;
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'content-length': String(BODY_BYTES),
      'x-github-event': 'issues',
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${signature}`,
    };
    return { method: 'POST', path, headers, body };
  });

/** A plain request without a body. */
export const getRequest = (path: string): Ask => ({ method: 'GET', path, headers: {}, body: '' });

/** A request as it goes over the wire. */
export const bytesOf = ({ method, path, headers, body }: Ask): Buffer => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: bench\r\n${lines.join('')}\r\n${body}`);
};
