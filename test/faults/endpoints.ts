import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';

/** How an endpoint takes what is sent to it. */
export type Manner = 'good' | 'broken' | 'hanging' | 'refusing';

/** Endpoints of outgoing webhooks: one port for all, and one at which nobody listens. */
export interface Endpoints {
  /** What `egressAllow` must name for them. */
  addresses: string[];
  url(manner: Manner, name: string): string;
  /** When each message came to an endpoint that took it, since 1970, as often as it came. */
  arrivals: Map<string, number[]>;
  /** Requests at all endpoints but the good ones. */
  wasted(): number;
  close(): void;
}

/** `buildHitKey` finds in the body what a message is known by. */
export const openEndpoints = async (keyOf: (body: string) => string): Promise<Endpoints> => {
  const arrivals: Endpoints['arrivals'] = new Map();
  let wasted = 0;
  const take = (key: string): void => {
    arrivals.set(key, [...(arrivals.get(key) ?? []), Date.now()]);
  };
  const answer = (manner: string, body: string, response: ServerResponse): void => {
    if (manner === 'good') take(keyOf(body));
    else wasted++;
    if (manner !== 'hanging') response.writeHead(manner === 'good' ? 200 : 500).end('{}');
  };
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    const manner = request.url?.split('/')[1] ?? '';
    request
      .on('data', (piece) => pieces.push(piece))
      .on('end', () => answer(manner, Buffer.concat(pieces).toString('utf8'), response));
  });
  const nobody = createServer();
  const [port, closed] = [await listen(server), await listen(nobody)];
  nobody.close();
  return {
    addresses: [`127.0.0.1:${port}`, `127.0.0.1:${closed}`],
    url: (manner, name) =>
      `http://127.0.0.1:${manner === 'refusing' ? closed : port}/${manner}/${name}`,
    arrivals,
    wasted: () => wasted,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const listen = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
};
