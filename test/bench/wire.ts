import { connect, type Socket } from 'node:net';

/** One keep-alive connection that speaks just enough HTTP/1.1: a request out, a status back. */
export interface Wire {
  ask(request: Buffer): Promise<number>;
  close(): void;
}

const HEAD_END = '\r\n\r\n';

export const openWire = async (url: string): Promise<Wire> => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return wireOn(socket);
};

const wireOn = (socket: Socket): Wire => {
  let asked: { resolve(status: number): void; reject(error: Error): void } | null = null;
  let pending = '';
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    pending += text;
    const status = answered(pending);
    if (status === null) return;
    pending = '';
    asked?.resolve(status);
  });
  socket.on('error', (error) => asked?.reject(error));
  socket.on('close', () => asked?.reject(new Error('The server closed the connection')));
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        asked = { resolve, reject };
        socket.write(request);
      }),
    close: () => {
      asked = null;
      socket.destroy();
    },
  };
};

/** The status once head and body are there. All servers measured here send a content-length. */
const answered = (text: string): number | null => {
  const headEnd = text.indexOf(HEAD_END);
  if (headEnd < 0) return null;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, headEnd))?.[1];
  if (text.length < headEnd + HEAD_END.length + Number(length ?? 0)) return null;
  return Number(text.slice(9, 12));
};
