import type { ServerResponse } from 'node:http';
import { HttpFailure } from '../../src/kernel/failure.js';
import { createHttp, type Outgoing } from '../../src/kernel/http.js';
import { listen } from './listen.js';

/** A server whose replies are encoded, and a client that decodes them. */
export const openEncodedSite = async () => {
  const server = await listen((_request, response) => site.reply(response));
  const http = createHttp({ allow: [server.entry] });
  const site = {
    server,
    reply: (response: ServerResponse): unknown => response.end(),
    ask: (more: Partial<Outgoing> = {}) =>
      http.request({ method: 'GET', url: server.origin, isDecoded: true, ...more }),
    replyWith: (encoding: string, body: Buffer | string, status = 200): void => {
      site.reply = (response) =>
        response.writeHead(status, { 'content-encoding': encoding }).end(body);
    },
    textOf: async (encoding: string, body: Buffer | string): Promise<string> => {
      site.replyWith(encoding, body);
      return (await site.ask()).body.toString();
    },
    failureOf: async (encoding: string, body: Buffer, more = {}) => {
      site.replyWith(encoding, body);
      const error = await site.ask(more).then(
        () => null,
        (reason: unknown) => reason,
      );
      if (!(error instanceof HttpFailure)) throw new Error('It did not fail as HTTP');
      return [error.kind, error.message, error.effectBegan];
    },
    close: async (): Promise<void> => {
      await http.close();
      await server.close();
    },
  };
  return site;
};

export type EncodedSite = Awaited<ReturnType<typeof openEncodedSite>>;
