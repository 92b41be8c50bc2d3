/** The usual limits of the sockets. Figures are per socket unless they say otherwise. */
export const defaults = {
  /** Sockets in all, including those whose session is still being read. */
  maxConnections: 20_000,
  maxPerUser: 10_000,
  /**
   * Bytes of a frame; a longer one closes with 1009. It is enough for a message of 65,536
   * characters in any script.
   */
  maxFrameBytes: 256 * 1024,
  /** Bytes that may wait for a reader; with more, the reader is dropped. */
  maxBacklogBytes: 1024 * 1024,
  /** Publications that may wait for one user's sockets; with more, they close with 4408. */
  maxWaiting: 10_000,
  /** Frames per second; a frame counts as one, and as one more for each 8 KiB. */
  framesPerSecond: 50,
  frameBurst: 100,
  /** Frames that may wait for a reply; further ones are refused with 429. */
  maxPending: 32,
  /** Time between two heartbeats; a client that has not answered by the next one is dropped. */
  heartbeatMs: 15_000,
  /** Time for the read of the session row before the reply is 503. */
  identifyMs: 2_000,
  /** Time for the client's part of the closing handshake. */
  closeMs: 1_000,
};

export type SocketLimits = typeof defaults;
