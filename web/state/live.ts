import { useEffect, useRef } from 'preact/hooks';
import { ask, RequestError } from './api.js';
import { after, type CancelTimer, timeNow } from './clock.js';
import { createObservable } from './store.js';

/** `offline`: the last attempt failed, and the next one is scheduled. */
export type LiveState = 'off' | 'connecting' | 'online' | 'offline';
export const liveState = createObservable<LiveState>('off');
/** Time of the next attempt while offline, in milliseconds since 1970. */
export const nextConnectAt = createObservable<number | null>(null);

/** The token of the socket is no longer valid (src/http/socket/PROTOCOL.md). */
const SIGNED_OUT = 4401;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;
/** Scripts do not see the daemon's ping every 15 s, so the page sends its own after a sleep. */
const PROBE_AFTER_MS = 20_000;
const PROBE_MS = 5_000;

interface Listener {
  hear(data: unknown): void;
  /** Events may have been missed: data loaded before the subscription may be old. */
  resync(): void;
}
const listeners = new Map<string, Set<Listener>>();
/** Listeners without a topic, called after each connection except the first. */
const withoutTopic = new Set<Listener>();

let socket: WebSocket | null = null;
let pause = FIRST_PAUSE_MS;
let cancelRetry: CancelTimer | undefined;
let wasOnline = false;
let heardAt = 0;
let onSignedOut: () => void = () => {};

/** Connects and reconnects until `stopLive`. */
export const startLive = (signedOut: () => void): void => {
  onSignedOut = signedOut;
  wasOnline = false;
  pause = FIRST_PAUSE_MS;
  liveState.set('connecting');
  void connect();
};

export const stopLive = (): void => {
  liveState.set('off');
  cancelRetry?.();
  const old = socket;
  socket = null;
  old?.close();
};

/** Connects at once: the page is visible again, the network is back, or the user asks for it. */
export const reconnectNow = (): void => {
  if (liveState.get() === 'offline') {
    cancelRetry?.();
    void connect();
  } else if (liveState.get() === 'online' && timeNow() - heardAt > PROBE_AFTER_MS) probe();
};

/** The network is back: connects at once, however long the last pause was. */
export const onNetworkOnline = (): void => {
  pause = FIRST_PAUSE_MS;
  reconnectNow();
};

/**
 * The network is gone, which a socket notices only minutes later. Attempts continue, because a
 * daemon on this machine needs no network.
 */
export const onNetworkOffline = (): void => {
  const old = socket;
  socket = null;
  old?.close();
  retryLater();
};

/**
 * Hook: calls back for each event on those topics. Calls `resync` when events may be missing: after
 * the subscription, and so after each connection too.
 */
export const useTopics = (
  topics: readonly string[],
  hear: Listener['hear'],
  resync: () => void,
): void => {
  const latest = useRef({ hear, resync });
  latest.current = { hear, resync };
  const key = topics.join(' ');
  useEffect(() => {
    const names = key === '' ? [] : key.split(' ');
    const listener: Listener = {
      hear: (data) => latest.current.hear(data),
      resync: () => latest.current.resync(),
    };
    addListener(names, listener);
    return () => removeListener(names, listener);
  }, [key]);
};

const addListener = (topics: string[], listener: Listener): void => {
  if (topics.length === 0) withoutTopic.add(listener);
  const fresh = topics.filter((topic) => !listeners.has(topic));
  for (const topic of topics) {
    listeners.set(topic, (listeners.get(topic) ?? new Set()).add(listener));
  }
  if (fresh.length > 0) send({ type: 'subscribe', channels: fresh });
};

const removeListener = (topics: string[], listener: Listener): void => {
  withoutTopic.delete(listener);
  for (const topic of topics) listeners.get(topic)?.delete(listener);
  const unheard = topics.filter((topic) => listeners.get(topic)?.size === 0);
  for (const topic of unheard) listeners.delete(topic);
  if (unheard.length > 0) send({ type: 'unsubscribe', channels: unheard });
};

const send = (frame: object): void => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
};

const connect = async (): Promise<void> => {
  if (liveState.get() !== 'online') liveState.set('connecting');
  nextConnectAt.set(null);
  try {
    const { ticket } = await ask('POST', '/api/auth/ws-ticket');
    if (liveState.get() !== 'connecting') return;
    open(ticket);
  } catch (error) {
    const isOver = error instanceof RequestError && error.status === 401;
    if (!isOver) retryLater();
  }
};

const open = (ticket: string): void => {
  const url = new URL('/ws', location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  url.searchParams.set('token', ticket);
  const mine = new WebSocket(url);
  socket = mine;
  mine.onopen = () => {
    if (listeners.size > 0) send({ type: 'subscribe', channels: [...listeners.keys()] });
    heardAt = timeNow();
    pause = FIRST_PAUSE_MS;
    liveState.set('online');
    if (wasOnline) for (const one of withoutTopic) one.resync();
    wasOnline = true;
  };
  mine.onmessage = ({ data }) => receive(String(data));
  mine.onclose = ({ code }) => {
    if (socket !== mine) return;
    socket = null;
    if (code === SIGNED_OUT) onSignedOut();
    else retryLater();
  };
};

const receive = (text: string): void => {
  heardAt = timeNow();
  const frame: { type: string; data?: unknown; channels?: string[] } = JSON.parse(text);
  if (frame.type === 'subscribed') resyncAll(frame.channels ?? []);
  for (const { hear } of listeners.get(frame.type) ?? []) hear(frame.data);
};

const resyncAll = (topics: string[]): void => {
  const those = new Set(topics.flatMap((topic) => [...(listeners.get(topic) ?? [])]));
  for (const { resync } of those) resync();
};

/** After a sleep a dead socket can look open. Any reply within 5 s shows that it is alive. */
const probe = (): void => {
  const asked = timeNow();
  const mine = socket;
  send({ type: 'subscribe', channels: ['notification'] });
  after(PROBE_MS, () => {
    if (heardAt >= asked || socket !== mine || mine === null) return;
    socket = null;
    mine.close();
    liveState.set('offline');
    void connect();
  });
};

const retryLater = (): void => {
  if (liveState.get() === 'off') return;
  liveState.set('offline');
  cancelRetry?.();
  // Half of the pause is random, so that pages do not reconnect at the same moment.
  const wait = pause * (0.5 + Math.random() / 2);
  pause = Math.min(pause * 2, MAX_PAUSE_MS);
  nextConnectAt.set(timeNow() + wait);
  cancelRetry = after(wait, () => void connect());
};
