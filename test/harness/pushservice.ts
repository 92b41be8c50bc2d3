import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  hkdfSync,
  randomBytes,
  verify,
} from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received push, decrypted like in a browser. */
export interface ArrivedPush {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  /** Verified claims of the sender's token (RFC 8292). */
  claims: { aud: string; exp: number; sub: string };
  sender: string;
  text: string;
}

/** The private half of a subscription. */
export interface PushBrowser {
  /** JSON of `PushSubscription.toJSON()`. */
  subscription: { endpoint: string; keys: { p256dh: string; auth: string } };
}

export interface FakePushService {
  origin: string;
  pushes: ArrivedPush[];
  refused: string[];
  /** Creates a subscription at this service. */
  subscribe(): PushBrowser;
  /** Sets the reply to pushes of that subscription. `null` restores the default. */
  replyTo(
    browser: PushBrowser,
    reply: { status: number; headers?: Record<string, string> } | null,
  ): void;
  stop(): Promise<void>;
}

/**
 * Push service (RFC 8030) on loopback with its own verification and decryption. It refuses what a
 * real one refuses.
 */
export const startPushService = async (): Promise<FakePushService> => {
  const keys = new Map<string, { ecdh: ReturnType<typeof createECDH>; auth: Buffer }>();
  const replies = new Map<string, { status: number; headers?: Record<string, string> }>();
  const pushes: ArrivedPush[] = [];
  const refused: string[] = [];
  const take = async (request: IncomingMessage, origin: string): Promise<number> => {
    const path = request.url ?? '';
    const key = keys.get(path);
    if (request.method !== 'POST' || !key) return 404;
    const body = await bodyOf(request);
    const { authorization = '', ttl, topic = '', urgency = 'normal' } = request.headers;
    const { claims, sender } = claimsOf(authorization, origin);
    if (!/^\d+$/.test(String(ttl))) throw new Error('TTL is missing');
    if (!/^[\w-]{0,32}$/.test(String(topic))) throw new Error('The topic is no token of 32');
    if (!/^(very-low|low|normal|high)$/.test(String(urgency))) throw new Error('Unknown urgency');
    if (body.length > 4096) return 413;
    const text = decrypt(body, key);
    pushes.push({ path, headers: request.headers, claims, sender, text });
    return 201;
  };
  const server = createServer((request, response) => {
    const planned = replies.get(request.url ?? '');
    if (planned) {
      request.resume();
      response.writeHead(planned.status, planned.headers).end();
      return;
    }
    take(request, origin).then(
      (status) => response.writeHead(status).end(),
      (error: Error) => {
        refused.push(error.message);
        response.writeHead(400).end(error.message);
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    pushes,
    refused,
    subscribe: () => {
      const ecdh = createECDH('prime256v1');
      const p256dh = ecdh.generateKeys().toString('base64url');
      const auth = randomBytes(16);
      const path = `/push/${randomBytes(12).toString('base64url')}`;
      keys.set(path, { ecdh, auth });
      const endpoint = `${origin}${path}`;
      return { subscription: { endpoint, keys: { p256dh, auth: auth.toString('base64url') } } };
    },
    replyTo: ({ subscription }, reply) => {
      const { pathname } = new URL(subscription.endpoint);
      if (reply) replies.set(pathname, reply);
      else replies.delete(pathname);
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/**
 * RFC 8292, sections 2 and 3: `vapid t=<JWT>, k=<public key>` for this origin, for a day at most.
 */
const claimsOf = (authorization: string, origin: string) => {
  const [, token = '', sender = ''] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? [];
  const [header = '', payload = '', signature = ''] = token.split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  if (sender === '' || read(header).alg !== 'ES256') throw new Error('No token of VAPID');
  const point = Buffer.from(sender, 'base64url');
  const key = createPublicKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    },
  });
  const isRight = verify(
    'sha256',
    Buffer.from(`${header}.${payload}`),
    { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  if (!isRight) throw new Error('The signature is wrong');
  const claims = read(payload);
  const seconds = claims.exp - Date.now() / 1000;
  if (claims.aud !== origin) throw new Error('The token is for another service');
  if (seconds <= 0 || seconds > 24 * 3600) throw new Error('The token ends at a wrong time');
  if (!/^(mailto:|https:)/.test(claims.sub)) throw new Error('The token has no contact');
  return { claims, sender };
};

const decrypt = (
  body: Buffer,
  { ecdh, auth }: { ecdh: ReturnType<typeof createECDH>; auth: Buffer },
): string => {
  const salt = body.subarray(0, 16);
  const length = body[20] ?? 0;
  const sender = body.subarray(21, 21 + length);
  const sealed = body.subarray(21 + length);
  const shared = ecdh.computeSecret(sender);
  const about = Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), sender]);
  const material = Buffer.from(hkdfSync('sha256', shared, auth, about, 32));
  const derived = (info: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', material, salt, `Content-Encoding: ${info}\0`, bytes));
  const cipher = createDecipheriv('aes-128-gcm', derived('aes128gcm', 16), derived('nonce', 12));
  cipher.setAuthTag(sealed.subarray(-16));
  const plain = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
  const end = plain.lastIndexOf(2);
  return plain.subarray(0, end).toString();
};
