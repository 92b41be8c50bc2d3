import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Certificate } from './tls.js';

/** What a proxy between does to a request; whatever is left out it passes on as it came. */
export interface Breakage {
  /** Answers itself, and passes nothing on. */
  answer?(request: IncomingMessage, response: ServerResponse): boolean;
  headers?(headers: IncomingMessage['headers']): void;
  body?(body: Buffer): Buffer;
  /** Changes what comes back. */
  reply?(status: number, body: Buffer): { status: number; body: Buffer };
  /** Cuts each connection so long after it was made. */
  cutMs?: number;
}

export interface BreakingProxy {
  /** From the next request on. */
  breakBy(breakage: Breakage): void;
  stop(): Promise<void>;
}

/** A proxy that can break one thing at a time; with TLS where it has a certificate. */
export const startBreaking = async ({
  port,
  to,
  certificate,
}: {
  port: number;
  to: string;
  certificate: Certificate | null;
}): Promise<BreakingProxy> => {
  let breakage: Breakage = {};
  const sockets = new Set<Socket>();
  const handle = (asked: IncomingMessage, response: ServerResponse): void => {
    if (breakage.answer?.(asked, response)) return;
    pass(asked, response, { to, ...breakage }).catch(() => response.destroy());
  };
  const server = certificate
    ? createTlsServer(
        { cert: readFileSync(certificate.certificate), key: readFileSync(certificate.key) },
        handle,
      )
    : createServer(handle);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    if (breakage.cutMs !== undefined) setTimeout(() => socket.destroy(), breakage.cutMs);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    breakBy: (next) => {
      breakage = next;
      // Kept connections were made under what was before.
      for (const socket of sockets) socket.destroy();
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const pass = async (
  asked: IncomingMessage,
  response: ServerResponse,
  { to, headers: change, body: write, reply }: Breakage & { to: string },
): Promise<void> => {
  const sent = await buffer(asked);
  const body = write?.(sent) ?? sent;
  const peer = asked.socket.remoteAddress ?? '';
  const headers: IncomingMessage['headers'] = { ...asked.headers, 'x-forwarded-for': peer };
  change?.(headers);
  headers['content-length'] = String(body.length);
  const onward = request(`${to}${asked.url}`, { method: asked.method, headers }, (answer) => {
    buffer(answer)
      .then((got) => {
        const { status, body: back } = reply?.(answer.statusCode ?? 0, got) ?? {
          status: answer.statusCode ?? 0,
          body: got,
        };
        const { 'content-length': _, 'transfer-encoding': __, ...rest } = answer.headers;
        response.writeHead(status, { ...rest, 'content-length': back.length }).end(back);
      })
      .catch(() => response.destroy());
  });
  onward.on('error', () => response.writeHead(502, { server: 'Breaking' }).end());
  onward.end(body);
};
