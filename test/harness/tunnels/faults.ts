import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Certificate } from './tls.js';

/** Changes of a proxy to a request. Omitted parts are passed on unchanged. */
export interface Breakage {
  /** Answers itself and passes nothing on. */
  answer?(request: IncomingMessage, response: ServerResponse): boolean;
  headers?(headers: IncomingMessage['headers']): void;
  body?(body: Buffer): Buffer;
  /** Changes the reply. */
  reply?(status: number, body: Buffer): { status: number; body: Buffer };
  /** Cuts each connection after that time. */
  cutMs?: number;
}

export interface BreakingProxy {
  /** Takes effect with the next request. */
  breakBy(breakage: Breakage): void;
  stop(): Promise<void>;
}

/** Proxy that can break one thing at a time. Uses TLS if it has a certificate. */
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
      // Kept-alive connections use the old behaviour.
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
