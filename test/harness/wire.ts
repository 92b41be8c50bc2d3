import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface RecordedRequest<B> {
  path: string;
  headers: IncomingHttpHeaders;
  body: B;
  /** Resolves when the reply has ended, to true if the client disconnected first. */
  gone: Promise<boolean>;
}

/** Model output, independent of the provider. */
export interface ModelOutput {
  text?: string;
  toolCalls?: { id: string; name: string; arguments: string }[];
  /** Omitted from the reply if `null`. */
  usage?: { input: number; output: number } | null;
  finish?: string;
}

/** Answers one request. */
export type WireReply<B> = (response: ServerResponse, request: B) => void;

/** Wire format of one provider. */
export interface Dialect {
  provider: 'openai' | 'anthropic' | 'google' | 'ollama' | 'openai-compatible';
  /** Path of the base URL. */
  path: string;
  contentType: string;
  says(said: ModelOutput): WireReply<Record<string, unknown>>;
  /** Start of a streamed answer, including its first text. */
  opening(text: string): string;
  /** Further text. */
  piece(text: string): string;
}

/** Loopback server with scripted replies, used in order. Further requests get 500. */
export const startWire = async <B>(path: string, script: WireReply<B>[]) => {
  const asked: RecordedRequest<B>[] = [];
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
    asked,
    /** Appends replies to the script. */
    script: (...more: WireReply<B>[]) => void script.push(...more),
    /** Clears requests and replies. */
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
