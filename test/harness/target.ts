import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { untilAtLeast } from './app.js';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Target {
  url: string;
  /** Value for `egressAllow`. */
  address: string;
  received: Received[];
  /** Next replies. Defaults to 200 `fine`. */
  answer: (response: ServerResponse, nth: number) => void;
  /** Received requests, once there are that many. */
  got(count: number): Promise<Received[]>;
  close(): void;
}

export const openTarget = async (): Promise<Target> => {
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    target.received.push({ method, path: url, headers, body: await text(request) });
    target.answer(response, target.received.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const listening = server.address();
  if (typeof listening === 'string' || !listening) throw new Error('No address');
  const address = `127.0.0.1:${listening.port}`;
  const target: Target = {
    url: `http://${address}`,
    address,
    received: [],
    answer: (response) => response.end('fine'),
    got: (count) => untilAtLeast(async () => target.received, count),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return target;
};
