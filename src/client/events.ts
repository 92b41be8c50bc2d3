import { parseExact } from '../kernel/exactjson.js';
import { computeReconnectPauses } from './backoff.js';
import { Unreachable } from './errors.js';
import { type Connection, read, unreachable } from './exchange.js';

export interface ServerEvent {
  event: string;
  data: unknown;
}

export type EventStreamConnection = Pick<Connection, 'url' | 'token' | 'signal' | 'clock'>;

export interface EventStreamRequest {
  path: string;
  body?: object;
  /** Path to continue after a lost connection, from the first event. Null if impossible. */
  resumeAt(first: unknown): string | null;
  last: string;
  lost(reason: string): void;
}

/**
 * Reconnects and continues after the last event number. Throws ApiError, and Unreachable if the
 * stream did not start or come back.
 */
export async function* followEvents(
  to: EventStreamConnection,
  of: EventStreamRequest,
): AsyncGenerator<ServerEvent, void, undefined> {
  let lastId: string | undefined;
  let path: string | null = null;
  for (let failures = 0; ; failures++) {
    try {
      const isFirst = path === null;
      const asked = isFirst ? { path: of.path, body: of.body } : { path: path ?? '', lastId };
      for await (const { id, ...received } of open(to, asked)) {
        lastId = id ?? lastId;
        path ??= of.resumeAt(received.data);
        failures = 0;
        if (isFirst || received.event !== 'chat') yield received;
        if (received.event === of.last) return;
      }
      throw new Unreachable(to.url, 'the stream ended early', true);
    } catch (error) {
      to.signal?.throwIfAborted();
      const wait = computeReconnectPauses(to.url)[failures];
      if (!(error instanceof Unreachable) || path === null || wait === undefined) throw error;
      of.lost(error.message);
      await to.clock.wait(wait, to.signal);
    }
  }
}

interface NumberedEvent extends ServerEvent {
  id?: string;
}

async function* open(
  to: Pick<EventStreamConnection, 'url' | 'token' | 'signal'>,
  { path, body, lastId }: { path: string; body?: object; lastId?: string },
): AsyncGenerator<NumberedEvent> {
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
      const received = eventIn(frame);
      if (received) yield received;
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

/** Null for a comment, which only keeps the connection open. */
const eventIn = (frame: string): NumberedEvent | null => {
  const fields = new Map(
    frame.split('\n').map((line): [string, string] => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 1).trimStart()];
    }),
  );
  const event = fields.get('event');
  if (event === undefined) return null;
  return { id: fields.get('id'), event, data: parseExact(fields.get('data') ?? 'null') };
};
