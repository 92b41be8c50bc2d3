import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

export interface BrokenServer {
  url(name: BrokenReply): string;
  /** Bytes that it could write for each answer before the connection closed. */
  written: Map<string, number>;
  close(): void;
}

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = 'transfer-encoding: chunked\r\n\r\n';
const PIECE = 65_536;
const TRICKLE_MS = 250;

/** Repeats the text as long as the client reads. */
const trickle = (socket: Socket, text: string): void => {
  const timer = setInterval(() => socket.write(text), TRICKLE_MS);
  socket.once('close', () => clearInterval(timer));
};

const pour = (socket: Socket): void => {
  const more = (): void => {
    while (socket.writable && socket.write(Buffer.alloc(PIECE, 'x')));
  };
  socket.on('drain', more);
  more();
};

const ANSWERS = {
  'trickling body': (socket: Socket) => {
    socket.write(`${OK}${CHUNKED}`);
    trickle(socket, '1\r\nx\r\n');
  },
  'trickling head': (socket: Socket) => {
    socket.write(`${OK}x: `);
    trickle(socket, 'x');
  },
  'trickling refusal': (socket: Socket) => {
    socket.write(`HTTP/1.1 503 Busy\r\nretry-after: 7200\r\n${CHUNKED}`);
    trickle(socket, '1\r\nx\r\n');
  },
  'a gigabyte': (socket: Socket) => {
    socket.write(`${OK}content-length: ${1024 ** 3}\r\n\r\n`);
    pour(socket);
  },
  'an endless head': (socket: Socket) => {
    socket.write(`${OK}x: `);
    pour(socket);
  },
  'half a body': (socket: Socket) => socket.end(`${OK}content-length: 100\r\n\r\nhalf of it`),
  'half of the chunks': (socket: Socket) => socket.end(`${OK}${CHUNKED}5\r\nhello\r\n`),
  'a broken chunk': (socket: Socket) =>
    socket.write(`${OK}${CHUNKED}5\r\nhello\r\nzz\r\nworld\r\n`),
  'another protocol': (socket: Socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
  nothing: (socket: Socket) => socket.end(),
  'hints first': (socket: Socket) =>
    socket.end(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${OK}content-length: 2\r\n\r\nok`),
  'no content': (socket: Socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'),
};

export type BrokenReply = keyof typeof ANSWERS;

const isAnswer = (name: string): name is BrokenReply => Object.hasOwn(ANSWERS, name);

export const openBrokenServer = async (): Promise<BrokenServer> => {
  const written: BrokenServer['written'] = new Map();
  const server = createServer((socket) => {
    // Clients disconnect.
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => {
      const name = decodeURIComponent(/ \/(\S*) /.exec(String(bytes))?.[1] ?? '');
      socket.once('close', () => written.set(name, socket.bytesWritten));
      // It also answers a TLS greeting in plain text.
      ANSWERS[isAnswer(name) ? name : 'another protocol'](socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: (name) => `http://127.0.0.1:${port}/${encodeURIComponent(name)}`,
    written,
    close: () => server.close(),
  };
};
