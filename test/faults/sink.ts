import { createServer } from 'node:http';

/** Where forwards arrive: counts each execution's by its `webhook-id`. */
export interface Sink {
  port: number;
  effects: Map<string, number>;
  close(): void;
}

export const startSink = async (): Promise<Sink> => {
  const effects = new Map<string, number>();
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    effects.set(id, (effects.get(id) ?? 0) + 1);
    request.resume().on('end', () => response.writeHead(200).end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    effects,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
