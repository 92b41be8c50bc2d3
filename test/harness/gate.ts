import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Gate {
  url: string;
  /**
   * Cuts all connections and refuses that many new ones. Resolves to the time when connections work
   * again.
   */
  refuse(count: number): Promise<number>;
  close(): void;
}

export const openGate = async (url: string): Promise<Gate> => {
  const open = new Set<Socket>();
  let left = 0;
  let opened: (at: number) => void = () => {};
  const server = createServer((socket) => {
    if (left > 0) {
      socket.destroy();
      if (--left === 0) opened(Date.now());
      return;
    }
    open.add(socket);
    const daemon = connect(Number(new URL(url).port), '127.0.0.1');
    for (const one of [socket, daemon]) one.on('error', () => one.destroy());
    socket.pipe(daemon).pipe(socket);
    socket.on('close', () => daemon.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address === 'string' || !address) throw new Error('No address');
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    refuse: (count) => {
      left = count;
      cut();
      return new Promise((resolve) => {
        opened = resolve;
      });
    },
    close: () => {
      cut();
      server.close();
    },
  };
};
