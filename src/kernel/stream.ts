import { Readable } from 'node:stream';
import type { Endpoint, EventStream, ServerSentEvent, Streaming } from './contract/endpoint.js';

/**
 * The headers of a stream. Each event is sent when it comes, so nothing on the way may buffer or
 * store them.
 */
export const STREAMED = {
  'content-type': 'text/event-stream',
  'content-encoding': 'identity',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

/**
 * Returns the stream's start position if the request to a streaming endpoint asks for a stream,
 * otherwise null.
 */
export const streamingOf = (
  { streams }: Endpoint,
  { headers }: { headers: Record<string, unknown> },
): Streaming | null => {
  if (!streams || !/\btext\/event-stream\b/.test(String(headers.accept ?? ''))) return null;
  const last = headers['last-event-id'];
  return { lastEventId: typeof last === 'string' ? last : null };
};

/** Returns the stream as text. The source of the events is closed when the reader disconnects. */
export const framesOf = ({ events }: EventStream): Readable =>
  Readable.from(texts(events), { objectMode: false });

async function* texts(events: AsyncIterable<ServerSentEvent>): AsyncGenerator<string> {
  for await (const event of events) yield frameOf(event);
}

/** Returns one event as text. JSON contains no line break, so one `data` line is enough. */
const frameOf = ({ id, event, data }: ServerSentEvent): string => {
  if (event === undefined) return ': still here\n\n';
  const lines = [...(id === undefined ? [] : [`id: ${id}`]), `event: ${event}`];
  return `${[...lines, `data: ${JSON.stringify(data ?? null)}`].join('\n')}\n\n`;
};
