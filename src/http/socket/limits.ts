/** Per socket unless stated otherwise. */
export const defaults = {
  /** In total, including sockets whose session is being read. */
  maxConnections: 20_000,
  maxPerUser: 10_000,
  /** A longer frame closes with 1009. Enough for a message of 65,536 characters in any script. */
  maxFrameBytes: 256 * 1024,
  /** Bytes waiting for a reader, above which the reader is dropped. */
  maxBacklogBytes: 1024 * 1024,
  /** Publications waiting for a user's sockets, above which they close with 4408. */
  maxWaiting: 10_000,
  /** Each 8 KiB counts as a further frame. */
  framesPerSecond: 50,
  frameBurst: 100,
  /** Frames waiting for a reply. Further ones get 429. */
  maxPending: 32,
  /** Heartbeat interval. A client that has not answered by the next one is dropped. */
  heartbeatMs: 15_000,
  identifyMs: 2_000,
  closeMs: 1_000,
};

export type SocketLimits = typeof defaults;
