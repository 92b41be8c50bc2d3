import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { listen } from '../kernel/listen.js';

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** How a mirror answers a request for its file. */
export interface MirrorHabits {
  /** The connection breaks after so many bytes, once for each number. */
  breaksAfter?: number[];
  /** Stays silent after so many bytes, until `release`. */
  stallsAfter?: number;
  /** It ignores Range. */
  isWhole?: boolean;
  /** A part comes under this status in place of 206. */
  partStatus?: number;
  /** A part begins so many bytes further on than was asked for, and says so. */
  shiftedBy?: number;
  /** A part names no place. */
  isPlaceless?: boolean;
  /** The validator of the file. */
  etag?: string;
  status?: number;
  /** The first requests are answered with these in place of the file, whatever their method. */
  busy?: { status: number; retryAfter?: string }[];
  /** It redirects there. */
  leadsTo?: string;
  /** It breaks the connection of every HEAD request. */
  breaksHead?: boolean;
  /** Tells checksum and size of the file in its head, as Hugging Face does. */
  tellsSum?: boolean;
}

/** A server with one file, on the loopback. */
export const startMirror = async (file: Buffer, habits: MirrorHabits = {}) => {
  const breaks = [...(habits.breaksAfter ?? [])];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const ranges: (string | undefined)[] = [];
  const busy = [...(habits.busy ?? [])];
  const server = await listen((request, response) => {
    const refusal = busy.shift();
    if (refusal) {
      const { status, retryAfter } = refusal;
      return void response
        .writeHead(status, { ...(retryAfter && { 'retry-after': retryAfter }) })
        .end();
    }
    if (request.method === 'HEAD' && habits.breaksHead) return void request.socket.destroy();
    if (request.method === 'HEAD') return answerHead(response, file, habits);
    ranges.push(request.headers.range);
    if (habits.status) {
      const range = habits.status === 416 && { 'content-range': 'bytes */0' };
      return void response.writeHead(habits.status, { ...range }).end();
    }
    if (habits.leadsTo) return void response.writeHead(302, { location: habits.leadsTo }).end();
    const [, begin] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
    const asked = habits.isWhole ? 0 : Number(begin ?? 0);
    const from = asked > 0 ? asked + (habits.shiftedBy ?? 0) : 0;
    const rest = file.subarray(from);
    const range = `bytes ${from}-${file.length - 1}/${file.length}`;
    response.writeHead(from > 0 ? (habits.partStatus ?? 206) : 200, {
      etag: habits.etag ?? '"v1"',
      'content-length': rest.length,
      ...(from > 0 && !habits.isPlaceless && { 'content-range': range }),
    });
    const stop = breaks.shift();
    if (stop !== undefined) {
      response.write(rest.subarray(0, stop - from), () => response.destroy());
    } else if (habits.stallsAfter !== undefined) {
      response.write(rest.subarray(0, habits.stallsAfter));
      void released.then(() => response.end(rest.subarray(habits.stallsAfter)));
    } else response.end(rest);
  });
  return { ...server, url: `${server.origin}/model.gguf`, ranges, release };
};

const answerHead = (response: ServerResponse, file: Buffer, { tellsSum }: MirrorHabits): void => {
  const told = { 'x-linked-etag': `"${sha256Of(file)}"`, 'x-linked-size': String(file.length) };
  response.writeHead(302, { location: '/elsewhere', ...(tellsSum && told) }).end();
};
