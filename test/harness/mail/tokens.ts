import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createPlain } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Server as NetServer } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Certificate } from '../tunnels/tls.js';

/** A service that issues and identifies access tokens. */
export interface TokenService {
  /** Token endpoint with https. */
  endpoint: string;
  /** Introspection endpoint for mail servers. */
  introspection: string;
  requests: Record<string, string>[];
  /** Reply to a form. `issue` replies with a new access token. */
  answer: (form: Record<string, string>) => TokenAnswer | Promise<TokenAnswer>;
  issue(user: string): string;
  revoke(token: string): void;
  close(): void;
}

interface TokenAnswer {
  status?: number;
  body: object;
}

const portOf = (server: NetServer): number => {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
};

export const startTokens = async ({ certificate, key }: Certificate): Promise<TokenService> => {
  const owners = new Map<string, string>();
  let count = 0;
  const tls = { key: readFileSync(key), cert: readFileSync(certificate) };
  const issuer: Server = createServer(tls, async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    service.requests.push(form);
    const { status = 200, body } = await service.answer(form);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const introspection = createPlain(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    const username = owners.get(form.get('token') ?? '');
    const body = username === undefined ? { active: 'false' } : { active: 'true', username };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  issuer.listen(0, '127.0.0.1');
  introspection.listen(0, '127.0.0.1');
  await Promise.all([once(issuer, 'listening'), once(introspection, 'listening')]);
  const service: TokenService = {
    endpoint: `https://localhost:${portOf(issuer)}/token`,
    introspection: `http://127.0.0.1:${portOf(introspection)}/`,
    requests: [],
    answer: () => ({ status: 400, body: { error: 'invalid_grant' } }),
    issue: (user) => {
      const token = `access-${++count}`;
      owners.set(token, user);
      return token;
    },
    revoke: (token) => owners.delete(token),
    close: () => {
      for (const server of [issuer, introspection]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
  return service;
};
