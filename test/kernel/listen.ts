import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';

/** One request as a server got it. */
export interface Got {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A real server on loopback, and all that came to it. */
export interface Listening {
  port: number;
  origin: string;
  /** host:port, an entry of the allow list. */
  entry: string;
  server: Server;
  sockets: Socket[];
  got: Got[];
  /** Resolves when no connection is left open, whoever ends it. */
  emptied(): Promise<void>;
  close(): Promise<void>;
}

/** Collects each request, and then answers it. */
export const listen = (
  answer: RequestListener = (_request, response) => void response.end('ok'),
) => {
  const got: Got[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { method = '', url: path = '', headers } = request;
    got.push({ method, path, headers, body: Buffer.concat(pieces).toString() });
    answer(request, response);
  });
  return listening(server, got, '127.0.0.1');
};

/** A server of bare connections. */
export const listenTcp = (greet: (socket: Socket) => void, host = '127.0.0.1') =>
  listening(createTcpServer(greet), [], host);

const listening = async (server: Server, got: Got[], host: string): Promise<Listening> => {
  const sockets: Socket[] = [];
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const entry = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  const emptied = async () => {
    await Promise.all(sockets.map(closing));
  };
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return { port, origin: `http://${entry}`, entry, server, sockets, got, emptied, close };
};

/** Not by once() of node:events, which fails on the error that may come first. */
const closing = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
