import { setTimeout as pause } from 'node:timers/promises';
import { pausesOf } from './backoff.js';
import { Unreachable } from './errors.js';
import { type Connection, read, unreachable } from './exchange.js';

/** One server-sent event. */
export interface ServerEvent {
  event: string;
  data: unknown;
}

export interface EventStreamRequest {
  /** What begins it: a POST with a body, or a GET. */
  path: string;
  body?: object;
  /** Where it goes on when the connection is lost, by what came first; null: nowhere. */
  resumeAt(first: unknown): string | null;
  /** The name of the event after which nothing comes. */
  last: string;
  /** Told when the connection is lost, before it is tried again. */
  lost(reason: string): void;
}

/**
 * A stream of events to its last one, through lost connections: it goes on behind the last number
 * that it had. ApiError: refused. Unreachable: it did not begin, or did not come back.
 */
export async function* followEvents(
  to: Pick<Connection, 'url' | 'token' | 'signal'>,
  of: EventStreamRequest,
): AsyncGenerator<ServerEvent, void, undefined> {
  let lastId: string | undefined;
  let path: string | null = null;
  for (let failures = 0; ; failures++) {
    try {
      const isFirst = path === null;
      const asked = isFirst ? { path: of.path, body: of.body } : { path: path ?? '', lastId };
      for await (const { id, ...told } of open(to, asked)) {
        lastId = id ?? lastId;
        path ??= of.resumeAt(told.data);
        failures = 0;
        if (isFirst || told.event !== 'chat') yield told;
        if (told.event === of.last) return;
      }
      throw new Unreachable(to.url, 'the stream ended early', true);
    } catch (error) {
      to.signal?.throwIfAborted();
      const wait = pausesOf(to.url)[failures];
      if (!(error instanceof Unreachable) || path === null || wait === undefined) throw error;
      of.lost(error.message);
      await pause(wait, undefined, { signal: to.signal });
    }
  }
}

interface Numbered extends ServerEvent {
  id?: string;
}

async function* open(
  to: Pick<Connection, 'url' | 'token' | 'signal'>,
  { path, body, lastId }: { path: string; body?: object; lastId?: string },
): AsyncGenerator<Numbered> {
  const response = await orUnreachable(to.url, () =>
    fetch(`${to.url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        accept: 'text/event-stream',
        ...(to.token && { authorization: `Bearer ${to.token}` }),
        ...(body && { 'content-type': 'application/json' }),
        ...(lastId !== undefined && { 'last-event-id': lastId }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: to.signal ?? null,
    }),
  );
  if (!response.ok) read(response, await response.text());
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const piece = await orUnreachable(to.url, async () => reader?.read());
    if (!piece || piece.done) return;
    const frames = (rest + piece.value).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const told = toldBy(frame);
      if (told) yield told;
    }
  }
}

const orUnreachable = async <T>(url: string, act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    throw unreachable(url, error);
  }
};

/** A comment alone keeps the connection and says nothing. */
const toldBy = (frame: string): Numbered | null => {
  const fields = new Map(
    frame.split('\n').map((line): [string, string] => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 1).trimStart()];
    }),
  );
  const event = fields.get('event');
  if (event === undefined) return null;
  return { id: fields.get('id'), event, data: JSON.parse(fields.get('data') ?? 'null') };
};
