import { EventEmitter, on } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { WebSocket } from 'ws';
import type { Cancel, Clock } from '../kernel/clock.js';
import { reviverFor } from '../kernel/exactjson.js';
import { pauseAfter } from './backoff.js';
import { ApiError, Unreachable } from './errors.js';
import { protocolMismatch } from './exchange.js';
import { NOT_ADJUTANT } from './requireadjutant.js';

export interface LiveOptions {
  url: string;
  token: string | undefined;
  channels: string[];
  signal: AbortSignal;
  /** A jump of its time means that the machine slept. */
  clock: Clock;
}

/**
 * `connected`: subscribed; poll for earlier events, later ones are buffered. `lost`: reconnecting
 * until `connected`.
 */
export type LiveNote =
  | { type: 'connected' }
  | { type: 'event'; channel: string; data: unknown }
  | { type: 'lost'; reason: string };

export interface ChannelSource {
  channels(): string[];
  onChange(tell: () => void): () => void;
}

export interface ConnectionOptions extends Omit<LiveOptions, 'channels'> {
  wanted: ChannelSource;
  /** Whether to skip a refused topic. Otherwise a refusal ends the stream. */
  isLenient?: boolean;
}

const SILENCE_MS = 40_000;
const JUMP_MS = 30_000;
const LOOK_MS = 1_000;
const HANDSHAKE_MS = 10_000;
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/**
 * Live events from `/ws` (PROTOCOL.md, plain frames), with reconnection. Throws Unreachable if the
 * first connection fails, and ApiError if the daemon refuses or the session ends (401).
 */
export async function* live(options: LiveOptions): AsyncGenerator<LiveNote, void, undefined> {
  const { channels, ...rest } = options;
  const wanted = { channels: () => channels, onChange: () => () => {} };
  let failures = 0;
  let wasConnected = false;
  for (;;) {
    const loss = yield* connection({ ...rest, wanted }, () => {
      failures = 0;
      wasConnected = true;
    });
    if (!wasConnected) throw new Unreachable(options.url, loss.reason);
    if (failures === 0) yield { type: 'lost', reason: loss.reason };
    const ms = pauseAfter(options.url, failures);
    await options.clock.wait(ms, options.signal);
    failures++;
  }
}

export interface ConnectionLoss {
  reason: string;
}

export async function* connection(
  options: ConnectionOptions,
  connected: () => void,
): AsyncGenerator<LiveNote, ConnectionLoss, undefined> {
  const { wanted, signal, isLenient = false } = options;
  signal.throwIfAborted();
  const notes = new EventEmitter();
  const socket = await open(options, notes);
  const stopWatchdog = startWatchdog(socket, options);
  const subscribe = subscriber(socket, wanted);
  const stop = wanted.onChange(subscribe);
  try {
    for await (const [note] of on(notes, 'note', { signal })) {
      if (note.type === 'open') subscribe();
      else if (note.type === 'connected' || (note.isPartial && isLenient)) {
        connected();
        yield { type: 'connected' };
      } else if (note.type === 'end') {
        if (note.refusal) throw note.refusal;
        return { reason: note.reason };
      } else if (note.type === 'event') yield note;
    }
    return { reason: 'the stream ended' };
  } finally {
    stop();
    stopWatchdog();
    socket.terminate();
  }
}

const subscriber = (socket: WebSocket, { channels }: ChannelSource): (() => void) => {
  let sent: string[] = [];
  const ask = (type: string, names: string[]): void => {
    if (names.length > 0) socket.send(JSON.stringify({ type, channels: names }));
  };
  return () => {
    if (socket.readyState !== socket.OPEN) return;
    const next = channels();
    ask(
      'subscribe',
      next.filter((name) => !sent.includes(name)),
    );
    ask(
      'unsubscribe',
      sent.filter((name) => !next.includes(name)),
    );
    sent = next;
  };
};

const open = async (
  { url, token }: Pick<LiveOptions, 'url' | 'token'>,
  notes: EventEmitter,
): Promise<WebSocket> => {
  // Loaded late because most commands open no socket.
  const { WebSocket } = await import('ws');
  const tell = (note: object) => notes.emit('note', note);
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, {
    headers: token ? { authorization: `Bearer ${token}` } : {},
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: MAX_FRAME_BYTES,
  });
  socket.on('open', () => tell({ type: 'open' }));
  socket.on('message', (frame) => {
    const text = frame.toString();
    tell(toSocketNote(JSON.parse(text, reviverFor(text))));
  });
  socket.on('unexpected-response', (_request, response) => {
    const elsewhere = response.headers['x-request-id'] === undefined;
    if (elsewhere && (response.statusCode ?? 0) < 500) tell({ type: 'end', reason: NOT_ADJUTANT });
    else void readRefusal(response).then((end) => tell({ type: 'end', ...end }));
  });
  socket.on('error', (error) => tell({ type: 'end', reason: formatConnectionError(error, url) }));
  socket.on('close', (code, text) => tell({ type: 'end', ...closing(code, text.toString()) }));
  return socket;
};

/** Ends a silent connection, or one that was open while the machine slept. */
const startWatchdog = (socket: WebSocket, { clock }: Pick<LiveOptions, 'clock'>): Cancel => {
  let heardAt = clock.now();
  let lookedAt = clock.now();
  const hear = () => {
    heardAt = clock.now();
  };
  socket.on('message', hear).on('ping', hear);
  return clock.every(LOOK_MS, () => {
    const at = clock.now();
    if (at - heardAt > SILENCE_MS || Math.abs(at - lookedAt) > JUMP_MS) socket.terminate();
    lookedAt = at;
  });
};

interface ClientFrame {
  type: string;
  channels?: string[];
  errors?: { status: number; message: string }[];
  status?: number;
  message?: string;
  data?: unknown;
}

const toSocketNote = (frame: ClientFrame): object => {
  const { type, errors, status, message = 'The subscription was refused' } = frame;
  if (type === 'subscribed') {
    const [error] = errors ?? [];
    if (!error) return { type: 'connected' };
    // The other topics are subscribed nevertheless.
    return { type: 'end', isPartial: true, refusal: refused(error.status, error.message) };
  }
  if (type === 'error') return { type: 'end', refusal: refused(status ?? 500, message) };
  if (type === 'unsubscribed') return { type: 'quiet' };
  return { type: 'event', channel: type, data: frame.data };
};

const refused = (statusCode: number, message: string): ApiError =>
  new ApiError({ statusCode, error: 'Refused', message });

/** A refusal before the 101 is final, except 429 and 5xx. */
const readRefusal = async (
  response: IncomingMessage,
): Promise<{ reason: string; refusal?: ApiError }> => {
  const status = response.statusCode ?? 0;
  const body = await text(response);
  const reason = `the server replied with status ${status}`;
  if (status === 429 || status >= 500) return { reason };
  return { reason, refusal: new ApiError(problemIn(body, status)) };
};

const problemIn = (body: string, statusCode: number) => {
  try {
    return JSON.parse(body);
  } catch {
    return {
      statusCode,
      error: 'Refused',
      message: `The server refused the WebSocket with status ${statusCode}`,
    };
  }
};

const SIGNED_OUT = 4401;
const GOING_AWAY = 1001;

const closing = (code: number, text: string): { reason: string; refusal?: ApiError } => {
  if (code === SIGNED_OUT)
    return { reason: 'signed out', refusal: refused(401, 'The session has ended') };
  const isGiven = code === GOING_AWAY && text !== '';
  return {
    reason: isGiven ? text[0]?.toLowerCase() + text.slice(1) : `the connection closed (${code})`,
  };
};

const formatConnectionError = (error: Error, url: string): string => {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ECONNREFUSED') return 'connection refused';
  return protocolMismatch(url, code, error) ?? error.message;
};
