import { Readable } from 'node:stream';
import type { Endpoint, EventStream, ServerSentEvent, Streaming } from './contract/endpoint.js';

/** Prevents buffering and caching on the way. */
export const STREAMED = {
  'content-type': 'text/event-stream',
  'content-encoding': 'identity',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

export const parseStreamRequest = (
  { streams }: Endpoint,
  { headers }: { headers: Record<string, unknown> },
): Streaming | null => {
  if (!streams || !/\btext\/event-stream\b/.test(String(headers.accept ?? ''))) return null;
  const last = headers['last-event-id'];
  return { lastEventId: typeof last === 'string' ? last : null };
};

export const createEventReadable = ({ events }: EventStream): Readable =>
  Readable.from(texts(events), { objectMode: false });

async function* texts(events: AsyncIterable<ServerSentEvent>): AsyncGenerator<string> {
  for await (const event of events) yield formatEventFrame(event);
}

/** JSON contains no line break, so one `data` line is enough. */
const formatEventFrame = ({ id, event, data }: ServerSentEvent): string => {
  if (event === undefined) return ': still here\n\n';
  const lines = [...(id === undefined ? [] : [`id: ${id}`]), `event: ${event}`];
  return `${[...lines, `data: ${JSON.stringify(data ?? null)}`].join('\n')}\n\n`;
};
