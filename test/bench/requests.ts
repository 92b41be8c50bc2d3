import { createHmac } from 'node:crypto';

export interface Wanted {
  path: string;
  secret: string;
  count: number;
  /** Makes the deliveries of one measurement differ from those of all others. */
  seed: string;
}

const BODY_BYTES = 1024;

/** Signed deliveries of 1 KiB as they go over the wire, each with an id and a body of its own. */
export const signedRequests = ({ path, secret, count, seed }: Wanted): Buffer[] =>
  Array.from({ length: count }, (_, n) => {
    const id = `${seed}-${n}`;
    const opening = `{"action":"opened","delivery":"${id}","padding":"`;
    const body = `${opening}${'x'.repeat(BODY_BYTES - opening.length - 2)}"}`;
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    return Buffer.from(
      `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n` +
        `content-length: ${BODY_BYTES}\r\nx-github-event: issues\r\nx-github-delivery: ${id}\r\n` +
        `x-hub-signature-256: sha256=${signature}\r\n\r\n${body}`,
    );
  });

/** A plain request without a body. */
export const getRequest = (path: string): Buffer =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nhost: bench\r\n\r\n`);
