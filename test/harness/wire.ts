import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface Asked<B> {
  path: string;
  headers: IncomingHttpHeaders;
  body: B;
  /** Resolves when the connection's reply has ended, to true if the client went away first. */
  gone: Promise<boolean>;
}

/** What a model says, in no provider's form. */
export interface Said {
  text?: string;
  /** `arguments` as the model wrote them: JSON, or not. */
  toolCalls?: { id: string; name: string; arguments: string }[];
  /** Left out of the reply where null. */
  usage?: { input: number; output: number } | null;
  finish?: string;
}

/** Answers one request, in whatever way. */
export type WireReply<B> = (response: ServerResponse, request: B) => void;

/** How one provider's models speak on the wire. */
export interface Dialect {
  provider: 'openai' | 'anthropic' | 'google' | 'ollama' | 'openai-compatible';
  /** What the base URL has behind host and port. */
  path: string;
  contentType: string;
  says(said: Said): WireReply<Record<string, unknown>>;
  /** How a streamed answer begins, up to and with its first text. */
  opening(text: string): string;
  /** A further piece of text. */
  piece(text: string): string;
}

/**
 * A server on the loopback that answers as its script says. Replies are used up in order; a request
 * beyond the script is answered 500.
 */
export const startWire = async <B>(path: string, script: WireReply<B>[]) => {
  const asked: Asked<B>[] = [];
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = (await json(request)) as B;
    const gone = once(response, 'close').then(() => !response.writableFinished);
    asked.push({ path: request.url ?? '', headers: request.headers, body, gone });
    server.emit('asked');
    const reply = script.shift() ?? unscripted;
    reply(response, body);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}${path}`,
    /** Every request so far, oldest first. */
    asked,
    /** Adds replies to the script. */
    script: (...more: WireReply<B>[]) => void script.push(...more),
    /** Leaves it with no request and no reply, as it was opened. */
    forget: () => {
      asked.length = 0;
      script.length = 0;
    },
    /** Resolves at the next request. */
    nextAsked: () => once(server, 'asked'),
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

export type Wire = Awaited<ReturnType<typeof startWire<Record<string, unknown>>>>;

export const startDialect = (
  { path }: Dialect,
  ...script: WireReply<Record<string, unknown>>[]
): Promise<Wire> => startWire(path, script);

export const send = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};

export const wordsOf = (text = ''): string[] => text.match(/\S+\s*/g) ?? [];

const unscripted = (response: ServerResponse): void =>
  send(response, 500, { error: { message: 'nothing scripted', type: 'error' } });
