import type { ServerResponse } from 'node:http';
import { refuses } from './openai.js';
import type { Dialect, WireReply } from './wire.js';

type Reply = WireReply<unknown>;
type Misbehaviour = (dialect: Dialect) => Reply;

const begin = (response: ServerResponse, { contentType }: Dialect): void => {
  response.writeHead(200, { 'content-type': contentType });
};

/** Repeats until the client disconnects. */
const forever = (response: ServerResponse, everyMs: number, bytes: string): void => {
  const timer = setInterval(() => response.write(bytes), everyMs);
  response.once('close', () => clearInterval(timer));
};

const stream =
  (after: (response: ServerResponse, dialect: Dialect) => void): Misbehaviour =>
  (dialect) =>
  (response) => {
    begin(response, dialect);
    after(response, dialect);
  };

const text = (body: string, type = 'text/html'): Misbehaviour => {
  return () => (response) => response.writeHead(200, { 'content-type': type }).end(body);
};

/** Ways in which an endpoint fails to answer. A closed port is arranged by the test. */
export const misbehaviours: Record<string, Misbehaviour> = {
  'a rate limit': () => refuses(429, {}, { 'retry-after': '30' }),
  'a rate limit without a time': () => refuses(429),
  'an error of its own': () => refuses(500),
  'an overload': () => refuses(529, { type: 'overloaded_error' }),
  'a pause for repairs': () => refuses(503, {}, { 'retry-after': '7' }),
  'a wrong key': () => refuses(401),
  'an unknown model': () => refuses(404),
  'a redirect to another host': () => refuses(307, {}, { location: 'http://127.0.0.2:9/' }),
  'a cut before the headers': () => (response) => response.destroy(),
  'what is not HTTP': () => (response) => response.socket?.end('SSH-2.0-fake\r\n\r\n'),
  'a hang before the headers': () => () => {},
  'a hang behind the headers': stream((response) => response.flushHeaders()),
  'signs of life and no token': stream((response) => forever(response, 20, ': alive\n\n')),
  'a hang in mid-stream': stream((response, { opening }) => response.write(opening('Rain '))),
  'a cut in mid-stream': stream((response, { opening }) => {
    response.write(opening('Rain '), () => response.destroy());
  }),
  'an end in mid-stream': stream((response, { opening }) => response.end(opening('Rain '))),
  'garbage in mid-stream': stream((response, { opening }) => {
    response.end(`${opening('Rain ')}data: {"choi\n\n{]\n`);
  }),
  'endless tokens': stream((response, { opening, piece }) => {
    response.write(opening('Rain '));
    forever(response, 5, piece('and rain '));
  }),
  'a line without end': stream((response) => forever(response, 5, 'data: {"a":"'.padEnd(999, 'x'))),
  'a page': text('<h1>It works!</h1>'),
  'JSON of another kind': text('{"hello":["world"]}', 'application/json'),
  nothing: text('', 'application/json'),
};
